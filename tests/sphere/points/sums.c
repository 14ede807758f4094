/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums at points against direct sums in long double, adjoints, values of kugel_sht, threads. */
#include "sphere/points/problem.h"

/* Root mean square of the error over that of the values, of all components; and the adjoint identity. */
static void one(kugel_sht_mode mode, int spin, int64_t lmax, int64_t mmax, double tolerance)
{
  problem p = problem_of(mode, spin, lmax, mmax, tolerance, 60);
  object o = make(NULL, &p);
  double *alm = random_alm(p.sets.alm, lmax, mmax, p.sets.lowest), *got = malloc(60 * 24),
         *want = malloc(60 * 24);
  host_apply(&o, &p, false, alm, got);
  direct(&p, alm, want);
  double error = check_l2(got, want, (size_t)(p.sets.map * p.n));
  if (!(error <= tolerance + 3e-14))
    printf("  mode %d, spin %d, lmax %lld, mmax %lld, tolerance %g: ", (int)mode, spin, (long long)lmax,
           (long long)mmax, tolerance);
  CHECK_LE(error, tolerance + 3e-14);
  double *there = malloc((size_t)(p.sets.alm * p.nalm) * 16), *values = random_numbers(p.sets.map * p.n, 5);
  host_apply(&o, &p, true, there, values);
  double left = dot(p.sets.map * p.n, got, values), right = alm_dot(p.sets.alm, p.nalm, lmax, alm, there);
  double size = sqrt(dot(p.sets.map * p.n, got, got) * dot(p.sets.map * p.n, values, values));
  CHECK_LE(fabs(left - right), 1e-14 * size);
  free(alm), free(got), free(want), free(there), free(values);
  drop(&o);
  free(p.x);
}

static void tolerances(void)
{
  static const double each[] = {0.1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-13};
  for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
    one(KUGEL_SHT_SCALAR, 0, 40, 40, each[i]);
    one(KUGEL_SHT_SPIN, 2, 33, 33, each[i]);
  }
}

static void shapes(void)
{
  one(KUGEL_SHT_SCALAR, 0, 0, 0, 1e-9);
  one(KUGEL_SHT_SCALAR, 0, 1, 1, 1e-9);
  one(KUGEL_SHT_SCALAR, 0, 2, 1, 1e-9);
  one(KUGEL_SHT_SCALAR, 0, 31, 0, 1e-9);
  one(KUGEL_SHT_SCALAR, 0, 30, 7, 1e-12);
  for (int spin = 1; spin <= 5; spin++)
    one(KUGEL_SHT_SPIN, spin, 24, 24, 1e-12);
  one(KUGEL_SHT_TEB, 2, 25, 20, 1e-12);
  one(KUGEL_SHT_GRAD, 0, 26, 26, 1e-12);
  one(KUGEL_SHT_DER1, 0, 27, 27, 1e-12);
}

/* HEALPix centres: kugel_sht computes the same values by another way. */
static void pixels(void)
{
  const int64_t nside = 32, npix = 12 * nside * nside, lmax = 95, nalm = kugel_alm_count(lmax, lmax);
  kugel_grid *grid;
  kugel_sht *sht;
  kugel_grid_opts g = {.size = sizeof g, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  CHECK_OK(kugel_grid_create(NULL, &g, &grid));
  kugel_sht_opts o = {.size = sizeof o, .grid = grid, .lmax = lmax, .mode = KUGEL_SHT_TEB};
  CHECK_OK(kugel_sht_create(NULL, &o, &sht));
  int64_t nr = kugel_grid_nrings(grid), nphi[128], first[128];
  double theta[128], phi0[128], *x = malloc((size_t)npix * 16);
  CHECK_OK(kugel_grid_rings(grid, theta, nphi, phi0, first, NULL));
  for (int64_t r = 0; r < nr; r++)
    for (int64_t k = 0; k < nphi[r]; k++) {
      x[2 * (first[r] + k)] = theta[r];
      x[2 * (first[r] + k) + 1] = phi0[r] + 2 * M_PI * (double)k / (double)nphi[r];
    }
  double *alm = random_alm(3, lmax, lmax, (const int[]){0, 2, 2}), *want = malloc((size_t)npix * 24),
         *got = malloc((size_t)npix * 24);
  kugel_sht_points_plan *plan;
  kugel_sht_points *points;
  kugel_sht_points_opts po = {.size = sizeof po, .lmax = lmax, .mode = KUGEL_SHT_TEB, .tolerance = 1e-13};
  CHECK_OK(kugel_sht_points_plan_create(NULL, &po, &plan));
  CHECK_OK(kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, npix, 2), &points));
  CHECK_OK(kugel_sht_synthesis(sht, KUGEL_ARRAY(alm, KUGEL_C128, 3, nalm),
                               KUGEL_ARRAY(want, KUGEL_F64, 3, npix), NULL));
  CHECK_OK(kugel_sht_points_synthesis(points, KUGEL_ARRAY(alm, KUGEL_C128, 3, nalm),
                                      KUGEL_ARRAY(got, KUGEL_F64, 3, npix), NULL));
  CHECK_CLOSE(got, want, (size_t)(3 * npix), 1e-12);
  kugel_sht_points_destroy(points);
  kugel_sht_points_plan_destroy(plan);
  kugel_sht_destroy(sht);
  kugel_grid_destroy(grid);
  free(x), free(alm), free(want), free(got);
}

/* Bits for 1, 2 and 7 threads; batches and single precision equal single calls. */
static void threads(void)
{
  const int64_t n = 40000, lmax = 100;
  problem p = problem_of(KUGEL_SHT_SPIN, 2, lmax, lmax, 1e-6, n);
  object o = make(NULL, &p);
  double *alm = random_alm(2, lmax, lmax, p.sets.lowest);
  double *first[2] = {malloc((size_t)n * 16), malloc((size_t)p.nalm * 32)},
         *again[2] = {malloc((size_t)n * 16), malloc((size_t)p.nalm * 32)};
  static const int counts[] = {1, 2, 7};
  for (int k = 0; k < 3; k++) {
    CHECK_OK(kugel_set_num_threads(counts[k]));
    double **out = k ? again : first;
    host_apply(&o, &p, false, alm, out[0]);
    host_apply(&o, &p, true, out[1], first[0]);
    CHECK(!k ||
          (!memcmp(first[0], again[0], (size_t)n * 16) && !memcmp(first[1], again[1], (size_t)p.nalm * 32)));
  }
  kugel_set_num_threads(0);
  for (int i = 0; i < 2; i++)
    free(first[i]), free(again[i]);
  free(alm);
  drop(&o);
  free(p.x);
}

static void batches(void)
{
  enum { N = 50, LMAX = 12 };
  problem p = problem_of(KUGEL_SHT_SCALAR, 0, LMAX, LMAX, 1e-9, N);
  object o = make(NULL, &p);
  double *alm = random_alm(2, LMAX, LMAX, (const int[]){0, 0}), both[2 * N], single[N];
  float alm32[4 * 91], values32[2 * N], x32[2 * N];
  CHECK(p.nalm == 91);
  CHECK_OK(kugel_sht_points_synthesis(o.points, KUGEL_ARRAY(alm, KUGEL_C128, 2, p.nalm),
                                      KUGEL_ARRAY(both, KUGEL_F64, 2, N), NULL));
  host_apply(&o, &p, false, alm + 2 * p.nalm, single);
  CHECK(!memcmp(single, both + N, sizeof single));
  for (int64_t i = 0; i < 4 * p.nalm; i++)
    alm32[i] = (float)alm[i];
  CHECK_OK(kugel_sht_points_synthesis(o.points, KUGEL_ARRAY(alm32, KUGEL_C64, 2, 1, p.nalm),
                                      KUGEL_ARRAY(values32, KUGEL_F32, 2, 1, N), NULL));
  for (int i = 0; i < 2 * N; i++)
    both[i] -= (double)values32[i];
  CHECK_LE(sqrt(dot(2 * N, both, both) / (2 * N)), 1e-5);
  CHECK_OK(kugel_sht_points_adjoint(o.points, KUGEL_ARRAY(values32, KUGEL_F32, 2, N),
                                    KUGEL_ARRAY(alm32, KUGEL_C64, 2, p.nalm), NULL));
  for (int i = 0; i < 2 * N; i++) // in float, pi rounds up
    x32[i] = i % 2 ? 0 : (float)M_PI;
  kugel_sht_points_plan *plan;
  kugel_sht_points *poles;
  CHECK_OK(kugel_sht_points_plan_create(NULL, &p.opts, &plan));
  CHECK_OK(kugel_sht_points_create(plan, KUGEL_ARRAY(x32, KUGEL_F32, N, 2), &poles));
  kugel_sht_points_destroy(poles);
  kugel_sht_points_plan_destroy(plan);
  free(alm);
  drop(&o);
  free(p.x);
}

/* Coefficients come back from values at scattered points, and the residual of other values is orthogonal to all fields. */
static void solve(void)
{
  for (int spin = 0; spin <= 2; spin += 2) {
    const int64_t n = 3000, lmax = 16;
    problem p = problem_of(spin ? KUGEL_SHT_SPIN : KUGEL_SHT_SCALAR, spin, lmax, lmax, 1e-13, n);
    object o = make(NULL, &p);
    double *alm = random_alm(p.sets.alm, lmax, lmax, p.sets.lowest), *values = malloc((size_t)n * 16),
           *got = malloc((size_t)p.nalm * 32), *left = malloc((size_t)p.nalm * 32);
    kugel_solve_stats stats;
    kugel_array a = *KUGEL_ARRAY(got, KUGEL_C128, p.sets.alm, p.nalm),
                v = *KUGEL_ARRAY(values, KUGEL_F64, p.sets.map, n);
    host_apply(&o, &p, false, alm, values);
    CHECK_OK(kugel_sht_points_solve(o.points, &v, &a, NULL, &stats, NULL));
    CHECK_CLOSE(got, alm, (size_t)(2 * p.sets.alm * p.nalm), 1e-9);
    CHECK_LE(stats.iterations, 40);
    CHECK_LE(stats.residual, 1e-9);
    uint64_t own = 9;
    for (int64_t i = 0; i < p.sets.map * n; i++)
      values[i] = check_random(&own);
    host_apply(&o, &p, true, left, values);
    double whole = sqrt(alm_dot(p.sets.alm, p.nalm, lmax, left, left));
    CHECK_OK(kugel_sht_points_solve(o.points, &v, &a, NULL, &stats, NULL));
    double *fit = malloc((size_t)n * 16);
    host_apply(&o, &p, false, got, fit);
    for (int64_t i = 0; i < p.sets.map * n; i++)
      values[i] -= fit[i];
    host_apply(&o, &p, true, left, values);
    CHECK_LE(sqrt(alm_dot(p.sets.alm, p.nalm, lmax, left, left)), 2e-10 * whole);
    CHECK(stats.residual > 0.5 && stats.residual < 1);
    free(alm), free(values), free(got), free(left), free(fit);
    drop(&o);
    free(p.x);
  }
}

int main(void)
{
  CASE("tolerances, against sums in long double") tolerances();
  CASE("modes, spins and small lmax, against sums in long double") shapes();
  CASE("values at HEALPix pixels") pixels();
  CASE("the same bits for any number of threads") threads();
  CASE("batches and single precision") batches();
  CASE("least squares") solve();
  END();
}
