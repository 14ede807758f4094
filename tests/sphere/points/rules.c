/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums at points: bad input, no points, no memory, cancellation, plans. */
#include "check.h"
#include "sweep.h"
#include "core/parallel.h"
#include <kugel/alm.h>
#include <kugel/points.h>

enum { LMAX = 20, NALM = 231, N = 100 };

static double *some_points(int64_t n)
{
  double *x = malloc((size_t)n * 16);
  uint64_t seed = 3;
  for (int64_t i = 0; i < n; i++) {
    x[2 * i] = acos(check_random(&seed));
    x[2 * i + 1] = 3 * check_random(&seed);
  }
  return x;
}

static void bad_options(void)
{
  kugel_sht_points_plan *plan;
  const kugel_sht_points_opts good = {.size = sizeof good, .lmax = LMAX};
  kugel_sht_points_opts bad[10];
  for (int i = 0; i < 10; i++)
    bad[i] = good;
  bad[0].lmax = -1;
  bad[1].mmax = LMAX + 1;
  bad[2].mode = (kugel_sht_mode)5;
  bad[3].mode = KUGEL_SHT_SPIN;
  bad[4].spin = 1;
  bad[5].tolerance = 1e-14;
  bad[6].tolerance = 0.2;
  bad[7].tolerance = NAN;
  bad[8].lmax = 2000000;
  bad[9].lmax = INT64_MAX;
  for (int i = 0; i < 10; i++) {
    CHECK_IS(kugel_sht_points_plan_create(NULL, &bad[i], &plan), KUGEL_EINVAL);
    CHECK(!plan && strlen(kugel_last_error()) > 20);
  }
  CHECK_IS(kugel_sht_points_plan_create(NULL, NULL, &plan), KUGEL_EINVAL);
  CHECK_IS(kugel_sht_points_plan_create(NULL, &good, NULL), KUGEL_EINVAL);
  kugel_sht_points_plan_destroy(NULL);
  kugel_sht_points_destroy(NULL);
}

static void bad_points(void)
{
  kugel_sht_points_plan *plan;
  kugel_sht_points *points;
  kugel_sht_points_opts o = {.size = sizeof o, .lmax = LMAX};
  CHECK_OK(kugel_sht_points_plan_create(NULL, &o, &plan));
  static const double bad[] = {NAN, INFINITY, -1e-9, 3.15, 90};
  for (int i = 0; i < 5; i++) {
    double x[4] = {1, 2, bad[i], 0};
    CHECK_IS(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), &points), KUGEL_EINVAL);
    CHECK(!points && strstr(kugel_last_error(), "theta of point 1"));
  }
  double x[6] = {1, 2, 0, NAN, 0, 0};
  CHECK_IS(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), &points), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "phi of point 1"));
  x[3] = 1e300;
  CHECK_OK(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), &points));
  kugel_sht_points_destroy(points);
  CHECK_IS(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2, 3), &points), KUGEL_ESHAPE);
  CHECK_IS(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 1, 1, 2), &points), KUGEL_ESHAPE);
  CHECK_IS(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, 2), &points), KUGEL_ESHAPE);
  CHECK_IS(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_C128, 1, 2), &points), KUGEL_ESHAPE);
  CHECK_IS(kugel_sht_points_create(plan, NULL, &points), KUGEL_EINVAL);
  CHECK_IS(kugel_sht_points_create(NULL, KUGEL_ARRAY(x, KUGEL_F64, 2, 2), &points), KUGEL_EINVAL);
  kugel_sht_points_plan_destroy(plan);
}

static void bad_arrays(void)
{
  kugel_sht_points_plan *plan;
  kugel_sht_points *points;
  kugel_sht_points_opts o = {.size = sizeof o, .lmax = LMAX};
  double *x = some_points(N), alm[2 * NALM] = {0}, f[N];
  CHECK_OK(kugel_sht_points_plan_create(NULL, &o, &plan));
  CHECK_OK(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, N, 2), &points));
  kugel_array a = *KUGEL_ARRAY(alm, KUGEL_C128, NALM), v = *KUGEL_ARRAY(f, KUGEL_F64, N);
  CHECK_OK(kugel_sht_points_synthesis(points, &a, &v, NULL));
  CHECK_IS(kugel_sht_points_synthesis(NULL, &a, &v, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_sht_points_synthesis(points, NULL, &v, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_sht_points_synthesis(points, &a, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_sht_points_synthesis(points, KUGEL_ARRAY(alm, KUGEL_C128, NALM - 1), &v, NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_sht_points_synthesis(points, KUGEL_ARRAY(alm, KUGEL_C128, 2, NALM), &v, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_sht_points_adjoint(points, KUGEL_ARRAY(f, KUGEL_F64, N - 1), &a, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_sht_points_adjoint(points, KUGEL_ARRAY(f, KUGEL_I32, N), &a, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_sht_points_synthesis(points, &a, KUGEL_ARRAY(alm, KUGEL_F64, N), NULL), KUGEL_EINVAL);
  kugel_solve_stats stats;
  kugel_solve_opts so = {.size = sizeof so, .max_iterations = 1};
  memset(f, 0, sizeof f);
  CHECK_OK(kugel_sht_points_solve(points, &v, &a, NULL, &stats, NULL));
  CHECK(stats.iterations == 0 && stats.residual == 0 && alm[0] == 0);
  for (int i = 0; i < N; i++)
    f[i] = i % 7 - 2;
  CHECK_IS(kugel_sht_points_solve(points, &v, &a, &so, &stats, NULL), KUGEL_ECONVERGE);
  CHECK(stats.iterations == 1 && stats.normal_residual > 1e-10 && alm[0] != 0);
  f[5] = NAN;
  CHECK_IS(kugel_sht_points_solve(points, &v, &a, NULL, NULL, NULL), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "point 5"));
  so.tolerance = 1;
  CHECK_IS(kugel_sht_points_solve(points, &v, &a, &so, NULL, NULL), KUGEL_EINVAL);
  so = (kugel_solve_opts){.size = sizeof so, .max_iterations = -1};
  CHECK_IS(kugel_sht_points_solve(points, &v, &a, &so, NULL, NULL), KUGEL_EINVAL);
  kugel_sht_points_info info = {.size = sizeof info};
  CHECK_OK(kugel_sht_points_get_info(plan, &info));
  CHECK(info.lmax == LMAX && info.mmax == LMAX && info.nalm == NALM && info.n_alm_sets == 1 &&
        info.n_values == 1);
  CHECK(info.tolerance == 1e-9 && info.ntheta >= LMAX + 2 && info.width > 2 && info.bytes > 0);
  CHECK_IS(kugel_sht_points_get_info(plan, NULL), KUGEL_EINVAL);
  kugel_sht_points_destroy(points);
  kugel_sht_points_plan_destroy(plan);
  free(x);
}

static void bad_deflections(void)
{
  double x[4] = {1, 2, 1, 0}, d[4] = {0}, to[4], turn[2];
  kugel_array p = *KUGEL_ARRAY(x, KUGEL_F64, 2, 2), by = *KUGEL_ARRAY(d, KUGEL_F64, 2, 2),
              out = *KUGEL_ARRAY(to, KUGEL_F64, 2, 2), angle = *KUGEL_ARRAY(turn, KUGEL_F64, 2);
  CHECK_OK(kugel_points_deflect(NULL, &p, &by, &out, NULL));
  CHECK_OK(kugel_points_deflect(NULL, &p, &by, &out, &angle));
  CHECK(!memcmp(x, to, sizeof x) && turn[0] == 0 && turn[1] == 0);
  CHECK_IS(kugel_points_deflect(NULL, &p, &by, &p, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_points_deflect(NULL, &p, &by, &out, &out), KUGEL_ESHAPE);
  CHECK_IS(kugel_points_deflect(NULL, &p, NULL, &out, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_points_deflect(NULL, &p, KUGEL_ARRAY(d, KUGEL_F64, 4, 1), &out, NULL), KUGEL_ESHAPE);
  static const double bad[] = {NAN, INFINITY, 2e9};
  for (int i = 0; i < 3; i++) {
    d[3] = bad[i];
    CHECK_IS(kugel_points_deflect(NULL, &p, &by, &out, NULL), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "point 1"));
  }
  d[3] = 0;
  x[2] = -0.1;
  CHECK_IS(kugel_points_deflect(NULL, &p, &by, &out, NULL), KUGEL_EINVAL);
}

static void nothing(void)
{
  kugel_sht_points_plan *plan;
  kugel_sht_points *points;
  kugel_sht_points_opts o = {.size = sizeof o, .lmax = LMAX};
  double alm[2 * NALM], none[2] = {0};
  for (int i = 0; i < 2 * NALM; i++)
    alm[i] = 1;
  CHECK_OK(kugel_sht_points_plan_create(NULL, &o, &plan));
  CHECK_OK(kugel_sht_points_create(plan, KUGEL_ARRAY(none, KUGEL_F64, 0, 2), &points));
  kugel_array a = *KUGEL_ARRAY(alm, KUGEL_C128, NALM), v = *KUGEL_ARRAY(none, KUGEL_F64, 0);
  CHECK_OK(kugel_sht_points_synthesis(points, &a, &v, NULL));
  CHECK_OK(kugel_sht_points_adjoint(points, &v, &a, NULL));
  for (int i = 0; i < 2 * NALM; i++)
    CHECK(alm[i] == 0);
  kugel_sht_points_destroy(points);
  kugel_sht_points_plan_destroy(plan);
}

static kugel_status all_calls(void *arg)
{
  double **numbers = arg, *x = numbers[0], *alm = numbers[1], *f = numbers[2];
  kugel_sht_points_plan *plan = NULL;
  kugel_sht_points *points = NULL;
  kugel_sht_points_opts o = {.size = sizeof o, .lmax = LMAX, .mode = KUGEL_SHT_TEB};
  kugel_array a = *KUGEL_ARRAY(alm, KUGEL_C128, 3, NALM), v = *KUGEL_ARRAY(f, KUGEL_F64, 3, N);
  kugel_status s = kugel_sht_points_plan_create(NULL, &o, &plan);
  if (!s)
    s = kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, N, 2), &points);
  if (!s)
    s = kugel_sht_points_synthesis(points, &a, &v, NULL);
  if (!s)
    s = kugel_sht_points_adjoint(points, &v, &a, NULL);
  kugel_solve_opts few = {.size = sizeof few, .max_iterations = 2};
  if (!s)
    s = kugel_sht_points_solve(points, &v, &a, &few, NULL, NULL);
  kugel_sht_points_destroy(points);
  kugel_sht_points_plan_destroy(plan);
  return s;
}

static void no_memory(void)
{
  double *x = some_points(N), *alm = calloc(NALM, 48), f[3 * N] = {0};
  sweep_allocations(all_calls, (double *[]){x, alm, f});
  free(x), free(alm);
}

typedef struct watch {
  double last, stop;
  int falls, calls;
} watch;

static int watcher(double fraction, const char *stage, void *user)
{
  watch *w = user;
  (void)stage;
  w->falls += fraction < w->last || fraction > 1;
  w->last = fraction;
  w->calls++;
  return fraction >= w->stop;
}

static void progress(void)
{
  const int64_t lmax = 100, n = 20000, nalm = kugel_alm_count(lmax, lmax);
  kugel_sht_points_plan *plan;
  kugel_sht_points *points;
  kugel_sht_points_opts o = {.size = sizeof o, .lmax = lmax};
  double *x = some_points(n), *alm = calloc((size_t)nalm, 16), *f = malloc((size_t)n * 8);
  kugel_array a = *KUGEL_ARRAY(alm, KUGEL_C128, nalm), v = *KUGEL_ARRAY(f, KUGEL_F64, n);
  CHECK_OK(kugel_sht_points_plan_create(NULL, &o, &plan));
  CHECK_OK(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, n, 2), &points));
  CHECK_OK(kugel_set_num_threads(1));
  double before = kugel__progress_interval(0);
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    watch w = {.stop = 2};
    kugel_set_progress(watcher, &w);
    CHECK_OK(adjoint ? kugel_sht_points_adjoint(points, &v, &a, NULL)
                     : kugel_sht_points_synthesis(points, &a, &v, NULL));
    CHECK(w.falls == 0 && w.calls > 3);
    w = (watch){.stop = 0};
    CHECK_IS(adjoint ? kugel_sht_points_adjoint(points, &v, &a, NULL)
                     : kugel_sht_points_synthesis(points, &a, &v, NULL),
             KUGEL_ECANCELED);
    kugel_set_progress(NULL, NULL);
  }
  kugel__progress_interval(before);
  CHECK_OK(kugel_set_num_threads(0));
  kugel_sht_points_destroy(points);
  kugel_sht_points_plan_destroy(plan);
  free(x), free(alm), free(f);
}

int main(void)
{
  CASE("bad options") bad_options();
  CASE("bad points") bad_points();
  CASE("bad arrays") bad_arrays();
  CASE("bad deflections") bad_deflections();
  CASE("no points") nothing();
  CASE("no memory") no_memory();
  CASE("progress and cancellation") progress();
  END();
}
