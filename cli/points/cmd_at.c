/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel at: values of spherical-harmonic coefficients, or of maps, at the positions of a catalogue. */
#include <math.h>
#include <stdlib.h>
#include <kugel/healpix.h>
#include <kugel/points.h>
#include "alm/alms.h"
#include "commands.h"
#include "common/outputs.h"
#include "common/progress.h"
#include "fft/ndarray.h"
#include "points/positions.h"

#define AT_OPTIONS(X)                                                                                        \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, 1,                                                              \
    "coefficients: T, or T, E, B; or HEALPix maps, which are interpolated (FITS)")                           \
  X(points, 0, ARG_OPERAND, "POINTS", NULL, 1, 1,                                                            \
    "catalogue: FITS table or map, or text (.csv, .tsv, .txt), with columns RA and DEC, LON and LAT, GLON "  \
    "and GLAT, in degrees, or THETA and PHI; or N x 2, colatitude and longitude in radians (NPY)")           \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1,                                                            \
    "values to write: N, or with E and B 3 x N, T, Q, U (NPY); or a table of lon, lat, T, Q, U (.csv, "      \
    ".tsv, .txt)")                                                                                           \
  X(columns, 0, ARG_TEXT, "LON,LAT", NULL, 0, 0, "names, or numbers from 0, of the columns of POINTS")       \
  X(lonlat, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                   \
    "POINTS holds longitude and latitude, in degrees (NPY, text without names)")                             \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6, "highest multipole to use; the file's when not given")            \
  X(eps, 'e', ARG_REAL, "TOLERANCE", "1e-9", 1e-13, 0.1,                                                     \
    "root mean square of errors, relative to the field's")                                                   \
  X(no_pol, 0, ARG_FLAG, NULL, NULL, 0, 0, "the first component only")

OPTIONS(at, AT_OPTIONS);

typedef struct task {
  const at_args *o;
  alms a;
  positions x;
  ndarray out;
  kugel_sht_points_plan *plan;
  kugel_sht_points *at;
  kugel_fits *maps; /* NULL: coefficients */
  double *map, *theta;
} task;

static void task_close(task *t)
{
  alms_close(&t->a);
  positions_close(&t->x);
  ndarray_close(&t->out);
  kugel_sht_points_destroy(t->at);
  kugel_sht_points_plan_destroy(t->plan);
  kugel_fits_close(t->maps);
  free(t->map);
  free(t->theta);
}

static int make_plan(task *t)
{
  kugel_sht_points_opts o = {.size = sizeof o,
                             .lmax = t->a.lmax,
                             .mmax = mmax_argument(t->a.mmax),
                             .mode = t->a.n == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR,
                             .tolerance = t->o->eps.x};
  LIB(kugel_sht_points_plan_create(NULL, &o, &t->plan));
  return EXIT_DONE;
}

static int estimate(const task *t)
{
  kugel_sht_points_info info = {.size = sizeof info};
  LIB(kugel_sht_points_get_info(t->plan, &info));
  double n = (double)t->x.n, sets = (double)t->a.n;
  return report_plan((double)info.bytes + n * (70 + 24 * sets) + BASE_MEMORY,
                     sets * (3e-7 * n + 1e-10 * (double)t->a.count * (double)info.ntheta));
}

static int sum_at_points(task *t, stopwatch *watch)
{
  kugel_array out = ndarray_view(&t->out);
  progress_part(0, 0.2, "sorting points");
  LIB(kugel_sht_points_create(t->plan, KUGEL_ARRAY(t->x.angles, KUGEL_F64, t->x.n, 2), &t->at));
  stopwatch_lap(watch, "points");
  progress_part(0.2, 1, "synthesis");
  LIB(kugel_sht_points_synthesis(t->at, KUGEL_ARRAY(t->a.data, KUGEL_C128, t->a.n, t->a.count), &out, NULL));
  stopwatch_lap(watch, "synthesis");
  return EXIT_DONE;
}

/* ---- maps ---- */

static int open_input(task *t)
{
  kugel_fits *f;
  LIB(kugel_fits_open(NULL, t->o->input.s, NULL, &f));
  if (kugel_fits_get_info(f)->kind == KUGEL_FITS_MAP) {
    t->maps = f;
    return t->o->lmax.given || t->o->eps.given
               ? fail("%s holds maps, which are interpolated: --lmax and --eps are of coefficients",
                      t->o->input.s)
               : EXIT_DONE;
  }
  kugel_fits_close(f);
  return alms_open(&t->a, t->o->input.s, t->o->lmax.given ? t->o->lmax.n : -1, !t->o->no_pol.given);
}

/* Bad pixels become NaN, and so do values next to them. */
static int interpolate(task *t, stopwatch *watch)
{
  const kugel_fits_info *info = kugel_fits_get_info(t->maps);
  const int64_t npix = info->npix, n = t->x.n;
  t->map = malloc((size_t)npix * sizeof *t->map);
  t->theta = malloc((size_t)(n > 0 ? n : 1) * 2 * sizeof *t->theta);
  if (!t->map || !t->theta)
    return fail("%s: no memory for a map of %lld pixels", t->o->input.s, (long long)npix);
  double *phi = t->theta + n;
  for (int64_t i = 0; i < n; i++) {
    t->theta[i] = t->x.angles[2 * i];
    phi[i] = t->x.angles[2 * i + 1];
  }
  for (int64_t k = 0; k < (t->out.ndim == 2 ? 3 : 1); k++) {
    LIB(kugel_fits_read_maps(t->maps, 1, &k, KUGEL_ORDER_RING, KUGEL_ARRAY(t->map, KUGEL_F64, 1, npix)));
    for (int64_t i = 0; i < npix; i++)
      t->map[i] = t->map[i] < -1.6e30 ? NAN : t->map[i];
    LIB(kugel_healpix_interpolate(NULL, info->nside, KUGEL_ORDER_RING, KUGEL_ARRAY(t->map, KUGEL_F64, npix),
                                  n, t->theta, phi,
                                  KUGEL_ARRAY((double *)t->out.data + k * n, KUGEL_F64, n)));
  }
  stopwatch_lap(watch, "interpolate");
  return EXIT_DONE;
}

static int at(const void *args)
{
  const at_args *o = args;
  stopwatch watch = stopwatch_start();
  __attribute__((cleanup(task_close))) task t = {.o = o};
  STEP(open_input(&t));
  STEP(positions_read(&t.x, o->points.s, o->columns.given ? o->columns.s : NULL, o->lonlat.given));
  const bool three = t.maps ? kugel_fits_get_info(t.maps)->ncolumns >= 3 && !o->no_pol.given : t.a.n == 3;
  t.out = (ndarray){.ndim = three ? 2 : 1, .shape = {three ? 3 : t.x.n, t.x.n}};
  report_title(o->input.s, o->output.s);
  if (!t.maps)
    alms_report(&t.a);
  json_int("points", t.x.n);
  fact("points", "%lld", (long long)t.x.n);
  if (!t.maps)
    STEP(make_plan(&t));
  if (run.dry_run)
    return t.maps ? report_plan(BASE_MEMORY + 8.0 * (double)kugel_fits_get_info(t.maps)->npix +
                                    70.0 * (double)t.x.n,
                                1e-8 * (double)kugel_fits_get_info(t.maps)->npix + 3e-7 * (double)t.x.n)
                  : estimate(&t);
  STEP(check_output(o->output.s));
  if (!t.maps)
    STEP(alms_read(&t.a));
  STEP(ndarray_make(&t.out));
  stopwatch_lap(&watch, "read");
  STEP(t.maps ? interpolate(&t, &watch) : sum_at_points(&t, &watch));
  if (is_text_table(o->output.s))
    STEP(positions_write(&t.x, o->output.s, three ? 3 : 1, t.out.data));
  else
    STEP(ndarray_write(&t.out, o->output.s));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_at = {
    .name = "at",
    .summary = "values of coefficients or maps at the positions of a catalogue",
    .about =
        "Sums a_lm at the positions of a list: T, or T, Q, U from T, E, B. Nothing is interpolated: errors "
        "are below "
        "--eps. Maps are interpolated between the four pixels about a position, each map as it is; positions "
        "next to bad pixels become NaN. For exact values of a map, convert it by map2alm first. Positions "
        "are in the coordinates of INPUT: nothing is rotated.",
    .examples = "kugel at alm.fits catalogue.fits values.csv\n"
                "kugel at map.fits sources.csv values.csv --columns RA,DEC\n"
                "kugel at alm.fits positions.npy values.npy --lonlat --eps 1e-6",
    .options = at_options,
    .n_options = sizeof at_options / sizeof at_options[0],
    .run = at,
};
