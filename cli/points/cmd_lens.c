/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel lens: maps of a sky seen through a lensing potential. */
#include <math.h>
#include <stdlib.h>
#include <kugel/points.h>
#include "commands.h"
#include "common/outputs.h"
#include "common/progress.h"
#include "map/skyops.h"

#define LENS_OPTIONS(X)                                                                                      \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, 1, "coefficients of the sky: T, or T, E, B (FITS)")             \
  X(potential, 0, ARG_OPERAND, "POTENTIAL", NULL, 1, 1, "coefficients of the lensing potential (FITS)")      \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "HEALPix map in RING order: T, or T, Q, U (FITS, NPY)")    \
  X(nside, 'N', ARG_INT, "N", NULL, 1, 16384, "resolution of the map; required")                             \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6, "highest multipole of the sky to use; the file's when not given") \
  X(eps, 'e', ARG_REAL, "TOLERANCE", "1e-9", 1e-13, 0.1,                                                     \
    "root mean square of errors, relative to the map's")                                                     \
  X(no_pol, 0, ARG_FLAG, NULL, NULL, 0, 0, "the first component only")

OPTIONS(lens, LENS_OPTIONS);

typedef struct task {
  const lens_args *o;
  alms a, potential;
  int64_t npix;
  double *points, *moved, *slope, *turn; /* [npix][2], the same, [2][npix], [npix] in one block */
  double *maps;
  kugel_grid *grid;
  kugel_sht *gradient;
  kugel_sht_points_plan *plan;
  kugel_sht_points *at;
} task;

static void task_close(task *t)
{
  alms_close(&t->a);
  alms_close(&t->potential);
  free(t->points);
  free(t->maps);
  kugel_sht_destroy(t->gradient);
  kugel_grid_destroy(t->grid);
  kugel_sht_points_destroy(t->at);
  kugel_sht_points_plan_destroy(t->plan);
}

static int make_room(task *t)
{
  size_t n = (size_t)t->npix;
  t->points = malloc(n * 7 * sizeof *t->points);
  t->maps = malloc(n * (size_t)t->a.n * sizeof *t->maps);
  if (!t->points || !t->maps)
    return fail("no memory for maps of nside %lld", (long long)t->o->nside.n);
  t->moved = t->points + 2 * n;
  t->slope = t->moved + 2 * n;
  t->turn = t->slope + 2 * n;
  return EXIT_DONE;
}

static int fill_points(task *t)
{
  enum { PART = 4096 };
  int64_t pixel[PART];
  double theta[PART], phi[PART];
  for (int64_t first = 0; first < t->npix; first += PART) {
    int64_t n = t->npix - first < PART ? t->npix - first : PART;
    for (int64_t i = 0; i < n; i++)
      pixel[i] = first + i;
    LIB(kugel_healpix_pix2ang(NULL, t->o->nside.n, KUGEL_ORDER_RING, n, pixel, theta, phi));
    for (int64_t i = 0; i < n; i++) {
      t->points[2 * (first + i)] = theta[i];
      t->points[2 * (first + i) + 1] = phi[i];
    }
  }
  return EXIT_DONE;
}

/* Where the light of each pixel comes from. */
static int deflect(task *t, stopwatch *watch)
{
  kugel_sht_opts o = {.size = sizeof o,
                      .lmax = t->potential.lmax,
                      .mmax = mmax_argument(t->potential.mmax),
                      .mode = KUGEL_SHT_GRAD};
  STEP(healpix_grid(t->o->nside.n, &t->grid));
  o.grid = t->grid;
  LIB(kugel_sht_create(NULL, &o, &t->gradient));
  progress_part(0, 0.2, "gradient of the potential");
  LIB(kugel_sht_synthesis(t->gradient, KUGEL_ARRAY(t->potential.data, KUGEL_C128, t->potential.count),
                          KUGEL_ARRAY(t->slope, KUGEL_F64, 2, t->npix), NULL));
  STEP(fill_points(t));
  progress_part(0.2, 0.25, "deflection");
  LIB(kugel_points_deflect(
      NULL, KUGEL_ARRAY(t->points, KUGEL_F64, t->npix, 2), KUGEL_ARRAY(t->slope, KUGEL_F64, 2, t->npix),
      KUGEL_ARRAY(t->moved, KUGEL_F64, t->npix, 2), KUGEL_ARRAY(t->turn, KUGEL_F64, t->npix)));
  stopwatch_lap(watch, "deflection");
  double sum = 0;
  for (int64_t i = 0; i < 2 * t->npix; i++)
    sum += t->slope[i] * t->slope[i];
  double rms = sqrt(sum / (double)t->npix);
  json_number("deflection_rms", rms);
  fact("deflection", "%.4g arcmin, root mean square", rms * 180 * 60 / M_PI);
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

static int sum_at_points(task *t, stopwatch *watch)
{
  progress_part(0.25, 0.35, "sorting points");
  LIB(kugel_sht_points_create(t->plan, KUGEL_ARRAY(t->moved, KUGEL_F64, t->npix, 2), &t->at));
  progress_part(0.35, 1, "synthesis");
  LIB(kugel_sht_points_synthesis(t->at, KUGEL_ARRAY(t->a.data, KUGEL_C128, t->a.n, t->a.count),
                                 KUGEL_ARRAY(t->maps, KUGEL_F64, t->a.n, t->npix), NULL));
  double *q = t->maps + t->npix, *u = q + t->npix;
  for (int64_t i = 0; t->a.n == 3 && i < t->npix; i++) {
    double c = cos(2 * t->turn[i]), s = sin(2 * t->turn[i]), x = q[i];
    q[i] = c * x - s * u[i];
    u[i] = s * x + c * u[i];
  }
  stopwatch_lap(watch, "synthesis");
  return EXIT_DONE;
}

static int write_maps(task *t, stopwatch *watch)
{
  kugel_fits_column column;
  LIB(kugel_fits_get_column(t->a.file, 1, &column));
  output out = {.order = KUGEL_ORDER_RING,
                .nside = t->o->nside.n,
                .n = t->a.n,
                .dtype = KUGEL_F64,
                .maps = t->maps,
                .info = t->a.info,
                .units = {column.unit, column.unit, column.unit}};
  STEP(output_write(t->o->output.s, &out));
  stopwatch_lap(watch, "write");
  return EXIT_DONE;
}

static int lens(const void *args)
{
  const lens_args *o = args;
  stopwatch watch = stopwatch_start();
  __attribute__((cleanup(task_close))) task t = {.o = o};
  if (!o->nside.given)
    return fail_usage("--nside is required");
  t.npix = 12 * o->nside.n * o->nside.n;
  STEP(alms_open(&t.a, o->input.s, o->lmax.given ? o->lmax.n : -1, !o->no_pol.given));
  STEP(alms_open(&t.potential, o->potential.s, -1, false));
  report_title(o->input.s, o->output.s);
  alms_report(&t.a);
  STEP(make_plan(&t));
  if (run.dry_run) {
    kugel_sht_points_info info = {.size = sizeof info};
    double seconds = 0;
    LIB(kugel_sht_points_get_info(t.plan, &info));
    STEP(sht_seconds(o->nside.n, t.a.lmax, t.a.mmax, t.a.n == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR, 1,
                     &seconds));
    return report_plan((double)info.bytes + (double)t.npix * (120 + 24 * (double)t.a.n) + BASE_MEMORY,
                       2 * seconds + 3e-7 * (double)(t.npix * t.a.n));
  }
  STEP(check_output(o->output.s));
  STEP(alms_read(&t.a));
  STEP(alms_read(&t.potential));
  stopwatch_lap(&watch, "read");
  STEP(make_room(&t));
  STEP(deflect(&t, &watch));
  STEP(sum_at_points(&t, &watch));
  STEP(write_maps(&t, &watch));
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_lens = {
    .name = "lens",
    .summary = "maps of a sky seen through a lensing potential",
    .about =
        "Sums the harmonics of a sky where the gradient of the potential leads from each pixel along a great "
        "circle, and turns polarisation back. Nothing is interpolated: errors are below --eps. T, or T, Q, U "
        "from "
        "T, E, B.",
    .examples = "kugel lens alm.fits potential.fits lensed.fits --nside 1024\n"
                "kugel lens alm.fits potential.fits lensed.fits --nside 512 --no-pol --eps 1e-5",
    .options = lens_options,
    .n_options = sizeof lens_options / sizeof lens_options[0],
    .run = lens,
};
