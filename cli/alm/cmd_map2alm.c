/* SPDX-License-Identifier: BSD-3-Clause */
/* kugel map2alm: analysis. */
#include <math.h>
#include <string.h>
#include "alm/alms.h"
#include "batch/each.h"
#include "commands.h"
#include "map/latlon.h"
#include "map/missing.h"
#include "map/npymap.h"
#include "map/skyops.h"

#define MAP2ALM_OPTIONS(X)                                                                                   \
  X(input, 0, ARG_OPERAND, "INPUT", NULL, 1, MANY, "HEALPix map (FITS, NPY), or rows of latitude (NPY)")     \
  X(output, 0, ARG_OPERAND, "OUTPUT", NULL, 1, 1, "coefficients (FITS)")                                     \
  X(lmax, 'l', ARG_INT, "N", NULL, 0, 1e6, "highest multipole; 3 nside - 1 when not given")                  \
  X(mmax, 'm', ARG_INT, "N", NULL, 0, 1e6, "highest m; lmax when not given")                                 \
  X(iter, 'i', ARG_INT, "N", "3", 0, 1000, "refinements of the analysis")                                    \
  X(tolerance, 0, ARG_REAL, "X", NULL, 1e-15, 0.5,                                                           \
    "refine until a refinement changes the coefficients by no more than this share, instead of --iter "      \
    "times")                                                                                                 \
  X(weights, 'w', ARG_CHOICE, "equal|ring|pixel", "equal", 0, 0, "quadrature weights")                       \
  X(lsq, 0, ARG_REAL, "TOLERANCE", NULL, 1e-15, 0.5,                                                         \
    "least squares by conjugate gradients instead, until the residual of the normal equations falls to "     \
    "this share")                                                                                            \
  X(steps, 0, ARG_INT, "N", "100", 1, 100000, "with --lsq: steps before giving up")                          \
  X(columns, 'c', ARG_TEXT, "LIST", NULL, 0, 0,                                                              \
    "one column, or three that are I, Q, U, by name or number; I, Q, U where there are such, else the "      \
    "first")                                                                                                 \
  X(no_pol, 0, ARG_FLAG, NULL, NULL, 0, 0, "the first column only, without polarisation")                    \
  ENGINE_OPTION(X)                                                                                           \
  X(f32, 0, ARG_FLAG, NULL, NULL, 0, 0, "write 32-bit numbers")                                              \
  X(grid, 0, ARG_CHOICE, GRID_WORDS, "fejer1", 0, 0, "NPY input: the grid of its rows")                      \
  LATLON_OPTIONS(X)                                                                                          \
  X(force, 0, ARG_FLAG, NULL, NULL, 0, 0,                                                                    \
    "NPY input: also beyond the multipoles to which its grid is exact")                                      \
  NPY_OPTIONS(X)                                                                                             \
  SHT_DEVICE_OPTIONS(X)                                                                                      \
  EACH_OPTIONS(X, ".fits")

OPTIONS(map2alm, MAP2ALM_OPTIONS);

/* What is to be transformed, from either kind of file. */
typedef struct job {
  int64_t n, npix, lmax, mmax;
  const kugel_array *maps;
  const kugel_grid *grid;
} job;

static int analyse(const map2alm_args *o, const job *j, alms *a)
{
  SHT kugel_sht *plan = NULL;
  double started = weights_begin(o->weights.n, 0, 1);
  LIB(kugel_sht_create(run.ctx,
                       &(kugel_sht_opts){
                           .size = sizeof(kugel_sht_opts),
                           .grid = j->grid,
                           .lmax = j->lmax,
                           .mmax = mmax_argument(j->mmax),
                           .mode = j->n == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR,
                           .engine = (kugel_sht_engine)o->engine.n,
                           .weights = (kugel_weights)o->weights.n,
                           .iterations = o->lsq.given || o->tolerance.given ? 0 : (int)o->iter.n,
                           .bad_pixels = KUGEL_BAD_ZERO,
                           .beyond_band_limit = o->force.given,
                       },
                       &plan));
  STEP(alms_make(a, j->n, j->lmax, j->mmax));
  const kugel_array *alm = KUGEL_ARRAY(a->data, KUGEL_C128, a->n, a->count);
  progress_part(weights_end(o->weights.n, started, 0, 1), 1, "analysis");
  if (!o->lsq.given)
    return alms_analyse(plan, j->maps, o->tolerance.x, a);
  kugel_solve_stats stats;
  LIB(kugel_sht_solve(plan, j->maps, alm,
                      &(kugel_solve_opts){.size = sizeof(kugel_solve_opts),
                                          .tolerance = o->lsq.x,
                                          .max_iterations = (int)o->steps.n},
                      &stats, NULL));
  json_int("lsq_steps", stats.iterations);
  json_number("residual", stats.residual);
  json_number("normal_residual", stats.normal_residual);
  fact("lsq", "%d steps; map residual %.3g, normal equations %.3g", stats.iterations, stats.residual,
       stats.normal_residual);
  return EXIT_DONE;
}

static int bounds(const map2alm_args *o, int64_t lmax_default, job *j)
{
  j->lmax = o->lmax.given ? o->lmax.n : lmax_default;
  j->mmax = o->mmax.given ? o->mmax.n : j->lmax;
  if (j->mmax > j->lmax)
    return fail_usage("--mmax %lld is above lmax %lld", (long long)j->mmax, (long long)j->lmax);
  json_int("lmax", j->lmax);
  json_int("mmax", j->mmax);
  return session_device(&o->device, &o->mem);
}

static int from_npy(const map2alm_args *o, stopwatch *watch)
{
  LATLON latlon map = {0};
  GRID kugel_grid *grid = NULL;
  ALMS a = {0};
  job j = {.n = 1};
  if (o->weights.n || o->iter.given || o->tolerance.given)
    return fail_usage(
        "--weights, --iter and --tolerance are for HEALPix maps; the quadrature of --grid %s is exact",
        o->grid.s);
  report_title(o->input.s, o->output.s);
  STEP(latlon_open(&map, o->input.s, latlon_kind(o->grid.n), false));
  STEP(latlon_orient(&map, &o->south_first, &o->lon0));
  STEP(bounds(o, latlon_lmax(&map), &j));
  fact("transform", "grid %s, lmax %lld", o->grid.s, (long long)j.lmax);
  if (run.dry_run)
    return report_plan((double)(map.npix) * 8 + 16 * (double)kugel_alm_count(j.lmax, mmax_argument(j.mmax)) +
                           BASE_MEMORY,
                       0);
  STEP(check_output(o->output.s));
  STEP(latlon_read(&map));
  stopwatch_lap(watch, "read");
  STEP(latlon_grid(&map, &grid));
  j.npix = map.npix;
  j.maps = KUGEL_ARRAY(map.map, KUGEL_F64, 1, j.npix);
  j.grid = grid;
  map2alm_args exact = *o;
  exact.iter.n = 0;
  STEP(analyse(&exact, &j, &a));
  stopwatch_lap(watch, "analysis");
  return alms_write(o->output.s, &a, NULL, NULL, NULL, o->f32.given);
}

static int from_map(const map2alm_args *o, stopwatch *watch)
{
  SKY s = {0};
  GRID kugel_grid *grid = NULL;
  ALMS a = {0};
  job j = {0};
  if (o->tolerance.given && (o->iter.given || o->lsq.given))
    return fail_usage("give one of --tolerance, --iter and --lsq");
  STEP(sky_open(&s, o->input.s, o->columns.s, !o->no_pol.given));
  if (!s.polarised && s.n > 1) {
    if (!o->no_pol.given || o->columns.given)
      return fail_usage("--columns %s: needs one column, or three that are I, Q, U", o->columns.s);
    s.n = 1;
  }
  report_title(o->input.s, o->output.s);
  report_sky(&s);
  STEP(bounds(o, 3 * s.nside - 1, &j));
  report_beyond(s.nside, j.lmax);
  json_int("iterations", o->lsq.given ? 0 : o->iter.n);
  json_text("weights", o->weights.s);
  if (o->lsq.given)
    fact("transform", "lmax %lld, least squares", (long long)j.lmax);
  else if (o->tolerance.given)
    fact("transform", "lmax %lld, %s weights, refined to %.3g", (long long)j.lmax, o->weights.s,
         o->tolerance.x);
  else
    fact("transform", "lmax %lld, %s weights, %lld iterations", (long long)j.lmax, o->weights.s,
         (long long)o->iter.n);
  if (run.dry_run) {
    double seconds;
    STEP(sht_seconds(s.nside, j.lmax, j.mmax, s.n == 3 ? KUGEL_SHT_TEB : KUGEL_SHT_SCALAR,
                     o->lsq.given ? 2.0 * 20 : (double)(1 + 2 * o->iter.n), &seconds));
    return report_plan(
        (double)s.n * (16 * (double)s.npix + 16 * (double)kugel_alm_count(j.lmax, mmax_argument(j.mmax))) +
            BASE_MEMORY,
        seconds);
  }
  STEP(check_output(o->output.s));
  sky_costs(&s, sht_cost((double)s.npix, j.lmax, j.mmax, s.n == 3) *
                        (o->lsq.given ? 40 : 1 + 2 * (double)o->iter.n) +
                    weights_cost(o->weights.n, s.nside));
  STEP(sky_read(&s, KUGEL_ORDER_RING, false));
  STEP(sky_observed(&s));
  report_missing(&s, o->lsq.given ? "they do not count" : "they count as zero");
  stopwatch_lap(watch, "read");
  STEP(healpix_grid(s.nside, &grid));
  j.n = s.n;
  j.npix = s.npix;
  j.maps = KUGEL_ARRAY(s.maps, s.dtype, s.n, s.npix);
  j.grid = grid;
  STEP(analyse(o, &j, &a));
  stopwatch_lap(watch, "analysis");
  return alms_write(o->output.s, &a, s.info, s.described[0].unit, NULL, o->f32.given);
}

static int map2alm(const void *args)
{
  const map2alm_args *o = args;
  stopwatch watch = stopwatch_start();
  bool rows = path_ends_with(o->input.s, ".npy") && (o->grid.given || !npymap_is(o->input.s));
  STEP(rows ? from_npy(o, &watch) : from_map(o, &watch));
  if (run.dry_run)
    return EXIT_DONE;
  stopwatch_lap(&watch, "write");
  report_end(&watch, 0);
  return EXIT_DONE;
}

const command command_map2alm = {
    .name = "map2alm",
    .summary = "spherical-harmonic coefficients of a map",
    .about = "Analyses a HEALPix map (T, or T, Q, U into T, E, B) or rows of latitude into a_lm. Unseen "
             "pixels count as zero; with --lsq they do not count.",
    .examples = "kugel map2alm sky.fits alm.fits\n"
                "kugel map2alm sky.fits alm.fits --lmax 1024 --weights pixel --iter 0\n"
                "kugel map2alm sky.fits alm.fits --lsq 1e-10\n"
                "kugel map2alm relief.npy alm.fits --grid fejer1",
    .options = map2alm_options,
    .n_options = sizeof map2alm_options / sizeof map2alm_options[0],
    .run = map2alm,
};
