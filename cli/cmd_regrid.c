/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel regrid: from one grid to another through a_lm. */
#include <math.h>
#include "commands.h"
#include "skyops.h"
#include "target.h"

#define REGRID_OPTIONS(X)                                                                                    \
  TARGET_OPTIONS(X)                                                                                          \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, 1, "HEALPix map (FITS), or rows of latitude (NPY)")             \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "HEALPix map (FITS), or rows of latitude (NPY)")           \
  X(from_grid, 0, ARG_CHOICE, GRID_WORDS, "fejer1", 0, 0, "NPY input: the grid of its rows")                 \
  X(column, 'c', ARG_TEXT, "NAME", "0", 0, 0, "FITS input: column by name or number")                        \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6,                                                                   \
    "highest multipole; when not given what the input's quadrature takes exactly, 2 nside for HEALPix")      \
  X(iter, 'i', ARG_INT, "N", "3", 0, 1000, "FITS input: refinements of the analysis")                        \
  X(fwhm, 'f', ARG_ANGLE, "ANGLE", NULL, 0, M_PI, "smooth by a Gaussian beam on the way")                    \
  X(name, 0, ARG_TEXT, "TEXT", NULL, 0, 0, "FITS output: name of the column; the input's when not given")    \
  X(unit, 'u', ARG_TEXT, "TEXT", NULL, 0, 0, "FITS output: unit of the map; the input's when not given")

OPTIONS(regrid, REGRID_OPTIONS);

static int analyse(const kugel_grid *grid, const kugel_array *map, int64_t lmax, int iterations, alms *a)
{
  SHT kugel_sht *plan = NULL;
  LIB(kugel_sht_create(run.ctx,
                       &(kugel_sht_opts){.size = sizeof(kugel_sht_opts),
                                         .grid = grid,
                                         .lmax = lmax,
                                         .iterations = iterations,
                                         .bad_pixels = KUGEL_BAD_ZERO},
                       &plan));
  STEP(alms_make(a, 1, lmax, lmax));
  progress_part(0, 1, "analysis");
  LIB(kugel_sht_analysis(plan, map, KUGEL_ARRAY(a->data, KUGEL_C128, 1, a->count), NULL));
  return EXIT_DONE;
}

/* Plans in a dry run; else reads and analyses. */
static int from_npy(const regrid_args *o, alms *a, stopwatch *watch)
{
  LATLON latlon map = {0};
  GRID kugel_grid *grid = NULL;
  STEP(latlon_open(&map, o->input.s, (kugel_grid_kind)(o->from_grid.n + KUGEL_GRID_GAUSS)));
  int64_t lmax = o->lmax.given ? o->lmax.n : latlon_lmax(&map);
  json_int("lmax", lmax);
  fact("transform", "grid %s, lmax %lld", o->from_grid.s, (long long)lmax);
  a->lmax = a->mmax = lmax;
  if (run.dry_run)
    return EXIT_DONE;
  STEP(check_output(o->output.s));
  STEP(latlon_read(&map));
  stopwatch_lap(watch, "read");
  STEP(latlon_grid(&map, &grid));
  STEP(analyse(grid, KUGEL_ARRAY(map.map, KUGEL_F64, 1, map.ntheta * map.nphi), lmax, 0, a));
  stopwatch_lap(watch, "analysis");
  return EXIT_DONE;
}

static int from_fits(const regrid_args *o, sky *s, alms *a, stopwatch *watch)
{
  GRID kugel_grid *grid = NULL;
  STEP(sky_open(s, o->input.s, o->column.s, false));
  report_sky(s);
  int64_t lmax = o->lmax.given ? o->lmax.n : 2 * s->nside;
  json_int("lmax", lmax);
  fact("transform", "lmax %lld, %lld iterations", (long long)lmax, (long long)o->iter.n);
  a->lmax = a->mmax = lmax;
  if (run.dry_run)
    return EXIT_DONE;
  STEP(check_output(o->output.s));
  STEP(sky_read(s, KUGEL_ORDER_RING, false));
  stopwatch_lap(watch, "read");
  STEP(healpix_grid(s->nside, &grid));
  STEP(analyse(grid, KUGEL_ARRAY(s->maps, s->dtype, 1, s->npix), lmax, (int)o->iter.n, a));
  stopwatch_lap(watch, "analysis");
  return EXIT_DONE;
}

static int regrid(const void *args)
{
  const regrid_args *o = args;
  SKY s = {0};
  ALMS a = {0};
  TARGET t = {0};
  output out = {0};
  char text[40];
  bool npy = path_ends_with(o->input.s, ".npy");
  stopwatch watch = stopwatch_start();
  report_title(o->input.s, o->output.s);
  STEP(target_open(&t, args, o->output.s));
  STEP(npy ? from_npy(o, &a, &watch) : from_fits(o, &s, &a, &watch));
  if (o->fwhm.given)
    fact("beam", "Gaussian, fwhm %s", angle_text(o->fwhm.x, text, sizeof text));
  if (run.dry_run) {
    double seconds;
    STEP(sht_seconds(t.npy ? t.rows.ntheta / 4 + 1 : t.nside, a.lmax, a.mmax, KUGEL_SHT_SCALAR, 2, &seconds));
    return report_plan(
        8 * (double)(t.npix + s.npix) + 16 * (double)kugel_alm_count(a.lmax, a.mmax) + BASE_MEMORY, seconds);
  }
  if (o->fwhm.given)
    STEP(alms_smooth(&a, o->fwhm.x));
  out.info = s.info;
  out.names[0] = o->name.given ? o->name.s : s.info ? s.described[0].name : NULL;
  out.units[0] = o->unit.given ? o->unit.s : s.info ? s.described[0].unit : NULL;
  STEP(target_synthesise(&t, &a, KUGEL_SHT_SCALAR, &out, &watch));
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_regrid = {
    .name = "regrid",
    .summary = "from one grid to another through a_lm",
    .about = "Analyses a map on one grid and synthesises it on another: HEALPix of any nside, or rows of "
             "latitude (Gauss-Legendre, Clenshaw-Curtis, Fejer 1 and 2, Driscoll-Healy, McEwen-Wiaux) as "
             "NPY arrays.",
    .examples = "kugel regrid relief.npy relief.fits --from-grid fejer1 --nside 256 --unit m\n"
                "kugel regrid sky.fits sky2.fits --nside 100 --fwhm 1deg\n"
                "kugel regrid sky.fits rows.npy --to-grid gauss --rows 512",
    .options = regrid_options,
    .n_options = sizeof regrid_options / sizeof regrid_options[0],
    .run = regrid,
};
