/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel regrid: from one grid to another through a_lm. */
#include <math.h>
#include <stdlib.h>
#include "batch/each.h"
#include "commands.h"
#include "map/skyops.h"
#include "map/target.h"

#define REGRID_OPTIONS(X)                                                                                    \
  TARGET_OPTIONS(X)                                                                                          \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix maps (FITS, NPY), or rows of latitude (NPY)")    \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "HEALPix maps (FITS, NPY), or rows of latitude (NPY)")     \
  X(from_grid, 0, ARG_CHOICE, GRID_WORDS, "fejer1", 0, 0, "NPY input: the grid of its rows")                 \
  LATLON_OPTIONS(X)                                                                                          \
  X(columns, 'c', ARG_TEXT, "LIST", "0", 0, 0, "HEALPix input: columns by name or number, commas between")   \
  X(winds, 'w', ARG_FLAG, NULL, NULL, 0, 0,                                                                  \
    "two maps are a vector: (u eastward, v northward), or its parts along theta and phi")                    \
  X(lmax, 'l', ARG_INT, "N", NULL, 1, 1e6,                                                                   \
    "highest multipole; when not given what both grids are made for, 2 nside for HEALPix")                   \
  X(iter, 'i', ARG_INT, "N", "3", 0, 1000, "HEALPix input: refinements of the analysis")                     \
  X(fwhm, 'f', ARG_ANGLE, "ANGLE", NULL, 0, M_PI, "smooth by a Gaussian beam on the way")                    \
  X(force, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                    \
    "also beyond the multipoles to which the analysis on the input's grid is exact")                         \
  X(least_good, 0, ARG_REAL, "X", "0.5", 0, 1,                                                               \
    "bad pixels count as zero; the result has none where the part of good ones about is below this")         \
  X(name, 0, ARG_TEXT, "TEXT", NULL, 0, 0, "FITS output: name of the column; the input's when not given")    \
  X(unit, 'u', ARG_TEXT, "TEXT", NULL, 0, 0, "FITS output: unit of the map; the input's when not given")     \
  EACH_OPTIONS(X, NULL)

OPTIONS(regrid, REGRID_OPTIONS);

/* Where the maps come from: either kind of file. */
typedef struct source {
  bool npy;
  sky sky;
  latlon rows;
  kugel_grid *grid;
  int64_t n, npix;
} source;

static void source_close(source *s)
{
  kugel_grid_destroy(s->grid);
  latlon_close(&s->rows);
  sky_close(&s->sky);
}

static void plan_close(kugel_regrid **plan)
{
  kugel_regrid_destroy(*plan);
}

static int source_open(source *s, const regrid_args *o)
{
  s->npy = path_ends_with(o->input.s, ".npy") && (o->from_grid.given || !npymap_is(o->input.s));
  if (s->npy) {
    if (o->columns.given || o->iter.given)
      return fail_usage("--columns and --iter are for HEALPix maps; %s has rows of latitude", o->input.s);
    STEP(latlon_open(&s->rows, o->input.s, latlon_kind(o->from_grid.n), true));
    STEP(latlon_orient(&s->rows, &o->south_first, &o->lon0));
    s->n = s->rows.n;
    s->npix = s->rows.npix;
    STEP(latlon_grid(&s->rows, &s->grid));
  } else {
    STEP(sky_open(&s->sky, o->input.s, o->columns.s, false));
    report_sky(&s->sky);
    s->n = s->sky.n;
    s->npix = s->sky.npix;
    STEP(healpix_grid(s->sky.nside, &s->grid));
  }
  if (o->winds.given && s->n != 2)
    return fail_usage("--winds needs two maps, %s has %lld%s", o->input.s, (long long)s->n,
                      s->npy ? "" : " in use: give --columns");
  return s->n >= 1 && s->n <= MAX_COLUMNS
             ? EXIT_DONE
             : fail("%s has %lld maps, must be 1 to %d", o->input.s, (long long)s->n, MAX_COLUMNS);
}

static int source_read(source *s)
{
  if (s->npy)
    return latlon_read(&s->rows);
  STEP(sky_read(&s->sky, KUGEL_ORDER_RING, false));
  return sky_observed(&s->sky);
}

static int make_plan(const regrid_args *o, const source *s, const target *t, kugel_regrid **plan)
{
  LIB(kugel_regrid_create(run.ctx,
                          &(kugel_regrid_opts){.size = sizeof(kugel_regrid_opts),
                                               .from = s->grid,
                                               .to = t->grid,
                                               .lmax = o->lmax.n,
                                               .spin = o->winds.given,
                                               .fwhm = o->fwhm.given ? o->fwhm.x : 0,
                                               .iterations = s->npy ? 0 : (int)o->iter.n,
                                               .bad_pixels = KUGEL_BAD_ZERO,
                                               .beyond_band_limit = o->force.given,
                                               .least_good = o->least_good.x},
                          plan));
  return EXIT_DONE;
}

/* In NPY files bad pixels are NaN. */
static void mark_bad(sky *s)
{
  for (int64_t i = 0; i < s->n * s->npix; i++)
    if (s->dtype.bits == 32 && ((float *)s->maps)[i] == (float)KUGEL_UNSEEN)
      ((float *)s->maps)[i] = NAN;
    else if (s->dtype.bits == 64 && ((double *)s->maps)[i] == KUGEL_UNSEEN)
      ((double *)s->maps)[i] = NAN;
}

static void describe(const regrid_args *o, const source *s, output *out)
{
  out->info = s->sky.info;
  for (int64_t i = 0; i < s->n; i++) {
    out->names[i] = o->name.given ? o->name.s : s->npy ? NULL : s->sky.described[i].name;
    out->units[i] = o->unit.given ? o->unit.s : s->npy ? NULL : s->sky.described[i].unit;
  }
}

static int dry_run(const source *s, const target *t, int64_t lmax)
{
  double seconds;
  STEP(sht_seconds(t->latlon ? t->rows.ntheta / 4 + 1 : t->nside, lmax, lmax, KUGEL_SHT_SCALAR,
                   2 * (double)s->n, &seconds));
  return report_plan((double)s->n *
                             (8 * (double)(t->npix + s->npix) + 16 * (double)kugel_alm_count(lmax, lmax)) +
                         BASE_MEMORY,
                     seconds);
}

static int regrid(const void *args)
{
  const regrid_args *o = args;
  __attribute__((cleanup(source_close))) source s = {0};
  __attribute__((cleanup(plan_close))) kugel_regrid *plan = NULL;
  TARGET t = {0};
  SKY maps = {0};
  output out = {0};
  kugel_regrid_info info = {.size = sizeof info};
  char text[40];
  stopwatch watch = stopwatch_start();
  report_title(o->input.s, o->output.s);
  STEP(target_open(&t, args, o->output.s));
  STEP(source_open(&s, o));
  STEP(make_plan(o, &s, &t, &plan));
  LIB(kugel_regrid_get_info(plan, &info));
  int64_t lmax = info.lmax;
  json_int("lmax", lmax);
  json_int("maps", s.n);
  fact("transform", "%s, lmax %lld",
       o->winds.given ? "winds"
       : s.n == 1     ? "one map"
                      : "maps each by itself",
       (long long)lmax);
  if (o->fwhm.given)
    fact("beam", "Gaussian, fwhm %s", angle_text(o->fwhm.x, text, sizeof text));
  if (run.dry_run)
    return dry_run(&s, &t, lmax);
  STEP(check_output(o->output.s));
  int64_t passes = s.npy ? 1 : 1 + 2 * o->iter.n;
  progress_costs(COST_READ * (double)(s.n * s.npix),
                 (double)s.n *
                     ((double)passes * sht_cost((double)s.npix, lmax, lmax, false) +
                      sht_cost((double)t.npix, lmax, lmax, false)) /
                     kugel_get_num_threads(),
                 COST_WRITE * (double)(s.n * t.npix));
  STEP(source_read(&s));
  stopwatch_lap(&watch, "read");
  STEP(target_room(&t, s.n, &maps));
  progress_part(0, 1, "regrid");
  const kugel_array *in = s.npy ? KUGEL_ARRAY(s.rows.map, KUGEL_F64, s.n, s.npix)
                                : KUGEL_ARRAY(s.sky.maps, s.sky.dtype, s.n, s.npix);
  LIB(kugel_regrid_execute(plan, in, KUGEL_ARRAY(maps.maps, maps.dtype, s.n, t.npix), NULL));
  stopwatch_lap(&watch, "regrid");
  if (t.latlon)
    mark_bad(&maps);
  describe(o, &s, &out);
  STEP(target_write(&t, &maps, &out, &watch));
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_regrid = {
    .name = "regrid",
    .summary = "from one grid to another through a_lm",
    .about =
        "Analyses maps on one grid and synthesises them on another: HEALPix of any nside, or rows of "
        "latitude from the north (Gauss-Legendre, Clenshaw-Curtis, Fejer 1 and 2, Driscoll-Healy, "
        "McEwen-Wiaux, Gauss-Lobatto) as NPY arrays [rows, columns] or [maps, rows, columns], or ECMWF's "
        "octahedral "
        "grids, [pixels]. What is finer than both grids can hold is left out; places and directions stay.",
    .examples = "kugel regrid relief.npy relief.fits --from-grid fejer1 --nside 256 --unit m\n"
                "kugel regrid sky.fits sky2.fits --nside 100 --fwhm 1deg\n"
                "kugel regrid sky.fits rows.npy --to-grid gauss --rows 512\n"
                "kugel regrid uv.npy uv_o320.npy --from-grid cc --winds --to-grid octahedral --rows 640",
    .options = regrid_options,
    .n_options = sizeof regrid_options / sizeof regrid_options[0],
    .run = regrid,
};
