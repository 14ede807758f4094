/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel lens: maps of a sky seen through a lensing potential. */
#include <math.h>
#include <stdlib.h>
#include <kugel/points.h>
#include "commands.h"
#include "common/outputs.h"
#include "common/progress.h"
#include "map/missing.h"
#include "map/skyops.h"

#define LENS_OPTIONS(X)                                                                                      \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, 1,                                                              \
    "coefficients of the sky: T, or T, E, B (FITS); with --adjoint HEALPix maps")                            \
  X(potential, 0, ARG_OPERAND, "POTENTIAL", NULL, 1, 1, "coefficients of the lensing potential (FITS)")      \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1,                                                            \
    "HEALPix map in RING order: T, or T, Q, U (FITS, NPY); with --adjoint coefficients (FITS)")              \
  X(nside, 'N', ARG_INT, "N", NULL, 1, 16384, "resolution of the map; required, but with --adjoint INPUT's") \
  X(adjoint, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                  \
    "the transpose: a_lm = sum over pixels of their values times conj(Y_lm) where their light comes from")   \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6,                                                                   \
    "highest multipole of the sky to use; the file's, or with --adjoint 3 nside - 1, when not given")        \
  X(eps, 'e', ARG_REAL, "TOLERANCE", "1e-9", 1e-13, 0.1,                                                     \
    "root mean square of errors, relative to the map's")                                                     \
  X(no_pol, 0, ARG_FLAG, NULL, NULL, 0, 0, "the first component only")                                       \
  DEVICE_OPTION(X)

OPTIONS(lens, LENS_OPTIONS);

typedef struct task {
  const lens_args *o;
  alms a, potential;
  sky s; /* with --adjoint */
  int64_t nside, npix;
  double *points, *slope; /* [npix][2], [2][npix] in one block */
  double *maps;
  kugel_grid *grid;
  kugel_sht *gradient;
  kugel_sht_points_plan *plan;
  kugel_lens *lens;
} task;

static void task_close(task *t)
{
  alms_close(&t->a);
  alms_close(&t->potential);
  free(t->points);
  free(t->maps);
  kugel_sht_destroy(t->gradient);
  kugel_grid_destroy(t->grid);
  sky_close(&t->s);
  kugel_lens_destroy(t->lens);
  kugel_sht_points_plan_destroy(t->plan);
}

static int make_room(task *t)
{
  size_t n = (size_t)t->npix;
  t->points = malloc(n * 4 * sizeof *t->points);
  t->maps = t->o->adjoint.given ? NULL : malloc(n * (size_t)t->a.n * sizeof *t->maps);
  if (!t->points || (!t->maps && !t->o->adjoint.given))
    return fail("no memory for maps of nside %lld", (long long)t->nside);
  t->slope = t->points + 2 * n;
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
    LIB(kugel_healpix_pix2ang(NULL, t->nside, KUGEL_ORDER_RING, n, pixel, theta, phi));
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
  STEP(healpix_grid(t->nside, &t->grid));
  o.grid = t->grid;
  LIB(kugel_sht_create(run.ctx, &o, &t->gradient));
  progress_part(0, 0.2, "gradient of the potential");
  LIB(kugel_sht_synthesis(t->gradient, KUGEL_ARRAY(t->potential.data, KUGEL_C128, t->potential.count),
                          KUGEL_ARRAY(t->slope, KUGEL_F64, 2, t->npix), NULL));
  STEP(fill_points(t));
  progress_part(0.2, 0.35, "deflection");
  LIB(kugel_lens_create(t->plan, KUGEL_ARRAY(t->points, KUGEL_F64, t->npix, 2),
                        KUGEL_ARRAY(t->slope, KUGEL_F64, 2, t->npix), &t->lens));
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
  LIB(kugel_sht_points_plan_create(run.ctx, &o, &t->plan));
  return EXIT_DONE;
}

static int sum(task *t, stopwatch *watch)
{
  const kugel_array *alm = KUGEL_ARRAY(t->a.data, KUGEL_C128, t->a.n, t->a.count);
  if (t->o->adjoint.given) {
    progress_part(0.35, 1, "adjoint");
    double *map = t->s.maps;
    for (int64_t i = 0; i < t->a.n * t->npix; i++)
      map[i] = isfinite(map[i]) && map[i] > -1.6e30 ? map[i] : 0;
    LIB(kugel_lens_adjoint(t->lens, KUGEL_ARRAY(map, KUGEL_F64, t->a.n, t->npix), alm, NULL));
    stopwatch_lap(watch, "adjoint");
    return EXIT_DONE;
  }
  progress_part(0.35, 1, "synthesis");
  LIB(kugel_lens_synthesis(t->lens, alm, KUGEL_ARRAY(t->maps, KUGEL_F64, t->a.n, t->npix), NULL));
  stopwatch_lap(watch, "synthesis");
  return EXIT_DONE;
}

static int write_maps(task *t, stopwatch *watch)
{
  kugel_fits_column column;
  if (t->o->adjoint.given) {
    STEP(alms_write(t->o->output.s, &t->a, t->s.info, NULL, NULL, false));
    stopwatch_lap(watch, "write");
    return EXIT_DONE;
  }
  LIB(kugel_fits_get_column(t->a.file, 1, &column));
  output out = {.order = KUGEL_ORDER_RING,
                .nside = t->nside,
                .n = t->a.n,
                .dtype = KUGEL_F64,
                .maps = t->maps,
                .info = t->a.info,
                .units = {column.unit, column.unit, column.unit}};
  STEP(output_write(t->o->output.s, &out));
  stopwatch_lap(watch, "write");
  return EXIT_DONE;
}

/* The sky, of coefficients or of maps, and what is made of it. */
static int open_sky(task *t)
{
  const lens_args *o = t->o;
  if (!o->adjoint.given) {
    if (!o->nside.given)
      return fail_usage("--nside is required");
    t->nside = o->nside.n;
    return alms_open(&t->a, o->input.s, o->lmax.given ? o->lmax.n : -1, !o->no_pol.given);
  }
  STEP(sky_open(&t->s, o->input.s, NULL, !o->no_pol.given));
  t->s.n = t->s.polarised ? t->s.n : 1;
  t->nside = t->s.nside;
  if (o->nside.given && o->nside.n != t->nside)
    return fail("%s has nside %lld, --nside is %lld: leave it out", o->input.s, (long long)t->nside,
                (long long)o->nside.n);
  const int64_t lmax = o->lmax.given ? o->lmax.n : 3 * t->nside - 1;
  t->a.lmax = t->a.mmax = lmax;
  t->a.n = t->s.n;
  t->a.count = kugel_alm_count(lmax, mmax_argument(lmax));
  return EXIT_DONE;
}

static int read_sky(task *t)
{
  if (!t->o->adjoint.given)
    return alms_read(&t->a);
  const int64_t lmax = t->a.lmax;
  STEP(sky_read(&t->s, KUGEL_ORDER_RING, true));
  report_missing(&t->s, "they count as zero");
  return alms_make(&t->a, t->s.n, lmax, lmax);
}

static int lens(const void *args)
{
  const lens_args *o = args;
  stopwatch watch = stopwatch_start();
  __attribute__((cleanup(task_close))) task t = {.o = o};
  STEP(open_sky(&t));
  t.npix = 12 * t.nside * t.nside;
  STEP(alms_open(&t.potential, o->potential.s, -1, false));
  report_title(o->input.s, o->output.s);
  if (o->adjoint.given)
    report_sky(&t.s);
  else
    alms_report(&t.a);
  STEP(session_device(&o->device, NULL));
  STEP(make_plan(&t));
  if (run.dry_run) {
    kugel_sht_points_info info = {.size = sizeof info};
    double seconds = 0;
    LIB(kugel_sht_points_get_info(t.plan, &info));
    STEP(
        sht_seconds(t.nside, t.a.lmax, t.a.mmax, t.a.n == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR, 1, &seconds));
    return report_plan((double)info.bytes + (double)t.npix * (120 + 24 * (double)t.a.n) + BASE_MEMORY,
                       2 * seconds + 3e-7 * (double)(t.npix * t.a.n));
  }
  stopwatch_lap(&watch, "plan");
  STEP(check_output(o->output.s));
  STEP(read_sky(&t));
  STEP(alms_read(&t.potential));
  stopwatch_lap(&watch, "read");
  STEP(make_room(&t));
  STEP(deflect(&t, &watch));
  STEP(sum(&t, &watch));
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
                "kugel lens alm.fits potential.fits lensed.fits --nside 512 --no-pol --eps 1e-5\n"
                "kugel lens maps.fits potential.fits alm.fits --adjoint --lmax 2000",
    .options = lens_options,
    .n_options = sizeof lens_options / sizeof lens_options[0],
    .run = lens,
};
