/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel at: values of spherical-harmonic coefficients at the positions of a list. */
#include <math.h>
#include <kugel/points.h>
#include "alm/alms.h"
#include "commands.h"
#include "common/outputs.h"
#include "common/progress.h"
#include "fft/ndarray.h"

#define AT_OPTIONS(X)                                                                                        \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, 1, "coefficients: T, or T, E, B (FITS)")                        \
  X(points, 0, ARG_OPERAND, "POINTS", NULL, 1, 1, "N x 2: colatitude and longitude, radians (NPY)")          \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1,                                                            \
    "values to write: N, or with E and B 3 x N, T, Q, U (NPY)")                                              \
  X(lonlat, 0, ARG_FLAG, NULL, NULL, 0, 0, "POINTS holds longitude and latitude, in degrees")                \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6, "highest multipole to use; the file's when not given")            \
  X(eps, 'e', ARG_REAL, "TOLERANCE", "1e-9", 1e-13, 0.1,                                                     \
    "root mean square of errors, relative to the field's")                                                   \
  X(no_pol, 0, ARG_FLAG, NULL, NULL, 0, 0, "the first component only")

OPTIONS(at, AT_OPTIONS);

typedef struct task {
  const at_args *o;
  alms a;
  ndarray x, out;
  kugel_sht_points_plan *plan;
  kugel_sht_points *at;
} task;

static void task_close(task *t)
{
  alms_close(&t->a);
  ndarray_close(&t->x);
  ndarray_close(&t->out);
  kugel_sht_points_destroy(t->at);
  kugel_sht_points_plan_destroy(t->plan);
}

static int open_points(task *t)
{
  STEP(ndarray_open(&t->x, t->o->points.s));
  if (t->x.is_complex || t->x.number != NUMBER_PLAIN || t->x.ndim != 2 || t->x.shape[1] != 2)
    return fail("%s: points must be reals, in an array of one row of two columns for each", t->x.path);
  int64_t n = t->x.shape[0];
  t->out = (ndarray){.ndim = t->a.n == 3 ? 2 : 1, .shape = {t->a.n == 3 ? 3 : n, n}};
  return EXIT_DONE;
}

/* Longitude and latitude in degrees to theta and phi. */
static int convert(task *t)
{
  for (int64_t i = 0; i < t->x.shape[0]; i++) {
    float *f = (float *)t->x.data + 2 * i;
    double *d = (double *)t->x.data + 2 * i;
    double lon = t->x.single ? (double)f[0] : d[0], lat = t->x.single ? (double)f[1] : d[1];
    if (!(fabs(lat) <= 90))
      return fail("%s: the latitude of point %lld is %g, must be -90 to 90", t->x.path, (long long)i, lat);
    double theta = fmin(fmax((90 - lat) * (M_PI / 180), 0), M_PI), phi = lon * (M_PI / 180);
    if (t->x.single) {
      f[0] = (float)theta;
      f[1] = (float)phi;
    } else {
      d[0] = theta;
      d[1] = phi;
    }
  }
  return EXIT_DONE;
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
  double n = (double)t->x.shape[0], sets = (double)t->a.n;
  return report_plan((double)info.bytes + n * (70 + 24 * sets) + BASE_MEMORY,
                     sets * (3e-7 * n + 1e-10 * (double)t->a.count * (double)info.ntheta));
}

static int sum_at_points(task *t, stopwatch *watch)
{
  kugel_array x = ndarray_view(&t->x), out = ndarray_view(&t->out);
  progress_part(0, 0.2, "sorting points");
  LIB(kugel_sht_points_create(t->plan, &x, &t->at));
  stopwatch_lap(watch, "points");
  progress_part(0.2, 1, "synthesis");
  LIB(kugel_sht_points_synthesis(t->at, KUGEL_ARRAY(t->a.data, KUGEL_C128, t->a.n, t->a.count), &out, NULL));
  stopwatch_lap(watch, "synthesis");
  return EXIT_DONE;
}

static int at(const void *args)
{
  const at_args *o = args;
  stopwatch watch = stopwatch_start();
  __attribute__((cleanup(task_close))) task t = {.o = o};
  STEP(alms_open(&t.a, o->input.s, o->lmax.given ? o->lmax.n : -1, !o->no_pol.given));
  STEP(open_points(&t));
  report_title(o->input.s, o->output.s);
  alms_report(&t.a);
  json_int("points", t.x.shape[0]);
  fact("points", "%lld", (long long)t.x.shape[0]);
  STEP(make_plan(&t));
  if (run.dry_run)
    return estimate(&t);
  STEP(check_output(o->output.s));
  STEP(alms_read(&t.a));
  STEP(ndarray_read(&t.x));
  if (o->lonlat.given)
    STEP(convert(&t));
  STEP(ndarray_make(&t.out));
  stopwatch_lap(&watch, "read");
  STEP(sum_at_points(&t, &watch));
  STEP(ndarray_write(&t.out, o->output.s));
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_at = {
    .name = "at",
    .summary = "values of spherical-harmonic coefficients at points anywhere",
    .about = "Sums a_lm at the positions of a list: T, or T, Q, U from T, E, B. Nothing is interpolated: "
             "errors are "
             "below --eps.",
    .examples = "kugel at alm.fits points.npy values.npy\n"
                "kugel at alm.fits positions.npy values.npy --lonlat --eps 1e-6",
    .options = at_options,
    .n_options = sizeof at_options / sizeof at_options[0],
    .run = at,
};
