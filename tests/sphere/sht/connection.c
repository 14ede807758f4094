/* SPDX-License-Identifier: BSD-3-Clause */
/* Engine connection: direct sums on every kind of grid, lmax + 1 equidistant rings, adjoints, floats, threads, failures. */
#include "check.h"
#include "core/alloc.h"
#include "sphere/every_grid.h"
#include "sphere/truth.h"

typedef struct job {
  kugel_grid *grid;
  kugel_sht *plan;
  int64_t lmax, nalm, npix;
  double *alm, *back, *map, *other;
} job;

static job open_job(kugel_ctx *ctx, kugel_grid *grid, int64_t lmax, int64_t mmax, int iterations)
{
  static const int zero[] = {0};
  job j = {.grid = grid, .lmax = lmax};
  kugel_sht_opts o = {.size = sizeof o,
                      .grid = grid,
                      .lmax = lmax,
                      .mmax = mmax ? mmax : KUGEL_ONLY_M0,
                      .iterations = iterations,
                      .engine = KUGEL_SHT_CONNECTION};
  kugel_sht_info info = {.size = sizeof info};
  CHECK_OK(kugel_sht_create(ctx, &o, &j.plan));
  CHECK_OK(kugel_sht_get_info(j.plan, &info));
  j.nalm = info.nalm;
  j.npix = info.npix;
  j.alm = random_alm(1, lmax, mmax, zero);
  j.back = calloc((size_t)j.nalm, 16);
  j.map = calloc((size_t)j.npix, 8);
  j.other = calloc((size_t)j.npix, 8);
  return j;
}

static void close_job(job *j)
{
  kugel_sht_destroy(j->plan);
  kugel_grid_destroy(j->grid);
  free(j->alm), free(j->back), free(j->map), free(j->other);
}

#define ALM(j, a) KUGEL_ARRAY(a, KUGEL_C128, (j).nalm)
#define MAP(j, f) KUGEL_ARRAY(f, KUGEL_F64, (j).npix)

/* Synthesis against direct sums; the adjoint by inner products. */
static void check_sums(job *j, int64_t mmax)
{
  int64_t nrings = kugel_grid_nrings(j->grid);
  double *theta = malloc((size_t)nrings * 8), *phi0 = malloc((size_t)nrings * 8);
  double *want = calloc((size_t)j->npix, 8);
  int64_t *nphi = malloc((size_t)nrings * 8), *first = malloc((size_t)nrings * 8);
  CHECK_OK(kugel_grid_rings(j->grid, theta, nphi, phi0, first, NULL));
  CHECK_OK(kugel_sht_synthesis(j->plan, ALM(*j, j->alm), MAP(*j, j->map), NULL));
  for (int64_t r = 0; r < nrings; r++)
    for (int64_t i = 0; i < nphi[r]; i++)
      truth(KUGEL_SHT_SCALAR, 0, j->lmax, mmax, j->alm, j->nalm, theta[r],
            phi0[r] + 2 * M_PI * (double)i / (double)nphi[r], want + first[r] + i);
  CHECK_LE(check_l2(j->map, want, (size_t)j->npix), 5e-15);
  for (int64_t i = 0; i < j->npix; i++)
    j->other[i] = check_random(&seed);
  CHECK_OK(kugel_sht_synthesis_adjoint(j->plan, MAP(*j, j->other), ALM(*j, j->back), NULL));
  double left = dot(j->npix, j->map, j->other), right = alm_dot(1, j->nalm, j->lmax, j->alm, j->back);
  CHECK_LE(fabs(left - right), 1e-14 * sqrt(dot(j->npix, j->map, j->map) * dot(j->npix, j->other, j->other)));
  free(theta), free(phi0), free(want), free(nphi), free(first);
}

static double round_trip(job *j)
{
  CHECK_OK(kugel_sht_synthesis(j->plan, ALM(*j, j->alm), MAP(*j, j->map), NULL));
  CHECK_OK(kugel_sht_analysis(j->plan, MAP(*j, j->map), ALM(*j, j->back), NULL));
  return check_l2(j->back, j->alm, (size_t)(2 * j->nalm));
}

/* |<A f, b> - <f, A^T b>| over the norms, for a random map f. */
static double adjoint_error(job *j)
{
  for (int64_t i = 0; i < j->npix; i++)
    j->map[i] = check_random(&seed);
  CHECK_OK(kugel_sht_analysis(j->plan, MAP(*j, j->map), ALM(*j, j->back), NULL));
  CHECK_OK(kugel_sht_analysis_adjoint(j->plan, ALM(*j, j->alm), MAP(*j, j->other), NULL));
  double left = alm_dot(1, j->nalm, j->lmax, j->alm, j->back), right = dot(j->npix, j->map, j->other);
  return fabs(left - right) /
         sqrt(alm_dot(1, j->nalm, j->lmax, j->alm, j->alm) * alm_dot(1, j->nalm, j->lmax, j->back, j->back));
}

static kugel_grid *fejer(int64_t n, int64_t mmax)
{
  return grid_of(KUGEL_GRID_FEJER1, n, 2 * mmax + 1, 0.3);
}

int main(void)
{
  CASE("lmax + 1 rings and more: sums in long double")
  {
    static const int64_t lmax[] = {0, 1, 2, 3, 7, 16, 33, 40};
    for (int i = 0; i < 8; i++)
      for (int64_t n = lmax[i] + 1; n <= lmax[i] + 2; n++)
        for (int64_t mmax = 0; mmax <= lmax[i]; mmax += 1 + lmax[i] / 2) {
          job j = open_job(NULL, fejer(n, mmax), lmax[i], mmax, 0);
          check_sums(&j, mmax);
          CHECK_LE(round_trip(&j), 5e-15);
          close_job(&j);
        }
  }
  CASE("other grids: sums in long double, analysis by weights")
  {
    static const kugel_grid_kind kinds[] = {
        KUGEL_GRID_HEALPIX, KUGEL_GRID_GAUSS,          KUGEL_GRID_CLENSHAW_CURTIS, KUGEL_GRID_FEJER1,
        KUGEL_GRID_FEJER2,  KUGEL_GRID_DRISCOLL_HEALY, KUGEL_GRID_MCEWEN_WIAUX,    KUGEL_GRID_LOBATTO};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
      job j = open_job(NULL, grid_of(kinds[i], 8, 40, 0.1), 13, 13, 0);
      check_sums(&j, 13);
      close_job(&j);
    }
    job j = open_job(NULL, grid_of(KUGEL_GRID_GAUSS, 41, 81, 0), 40, 40, 0);
    CHECK_LE(round_trip(&j), 1e-14);
    CHECK_LE(adjoint_error(&j), 1e-14);
    close_job(&j);
  }
  CASE("all coefficients come back to 5e-15, lmax = 511, with every order")
  {
    job j = open_job(NULL, fejer(512, 511), 511, 511, 0);
    CHECK_LE(round_trip(&j), 5e-15);
    close_job(&j);
  }
  CASE("the adjoint of analysis is its transpose, iterations included, for any map")
  {
    for (int it = 0; it <= 2; it++) {
      job j = open_job(NULL, fejer(20 + it, 19), 19, 19, it);
      CHECK_LE(adjoint_error(&j), 1e-14);
      CHECK_LE(round_trip(&j), 5e-15);
      close_job(&j);
    }
  }
  CASE("float maps and alm, and the number of threads")
  {
    job j = open_job(NULL, fejer(41, 40), 40, 40, 0);
    CHECK_LE(round_trip(&j), 5e-15);
    float *f = malloc((size_t)j.npix * 4), *a = malloc((size_t)j.nalm * 8);
    for (int64_t i = 0; i < j.npix; i++)
      f[i] = (float)j.map[i];
    CHECK_OK(kugel_sht_analysis(j.plan, KUGEL_ARRAY(f, KUGEL_F32, j.npix), KUGEL_ARRAY(a, KUGEL_C64, j.nalm),
                                NULL));
    double worst = 0;
    for (int64_t i = 0; i < 2 * j.nalm; i++)
      worst = fmax(worst, fabs(a[i] - j.alm[i]));
    CHECK_LE(worst, 2e-6);
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = 3}, &ctx));
    job t = open_job(ctx, fejer(41, 40), 40, 40, 0);
    CHECK_OK(kugel_sht_analysis(t.plan, MAP(j, j.map), ALM(t, t.back), NULL));
    CHECK(!memcmp(t.back, j.back, (size_t)j.nalm * 16));
    CHECK_OK(kugel_sht_synthesis(t.plan, ALM(j, j.alm), MAP(t, t.map), NULL));
    CHECK(!memcmp(t.map, j.map, (size_t)j.npix * 8));
    close_job(&t);
    kugel_ctx_destroy(ctx);
    free(f), free(a);
    close_job(&j);
  }
  CASE("options")
  {
    kugel_sht *p = NULL;
    kugel_grid *g = fejer(4, 3);
    kugel_sht_opts o = {.size = sizeof o, .grid = g, .lmax = 3, .engine = KUGEL_SHT_CONNECTION};
    o.lmax = 20000;
    CHECK_IS(kugel_sht_create(NULL, &o, &p), KUGEL_EINVAL);
    o.lmax = 3;
    o.engine = (kugel_sht_engine)2;
    CHECK_IS(kugel_sht_create(NULL, &o, &p), KUGEL_EINVAL);
    kugel_grid_destroy(g);
  }
  CASE("every allocation may fail")
  {
    job j = open_job(NULL, fejer(13, 12), 12, 12, 1);
    for (int64_t n = 1, done = 0; !done && n < 1000; n++) {
      kugel_sht *p = NULL;
      kugel_sht_opts o = {
          .size = sizeof o, .grid = j.grid, .lmax = 12, .iterations = 1, .engine = KUGEL_SHT_CONNECTION};
      kugel__fault_alloc(n);
      kugel_status s = kugel_sht_create(NULL, &o, &p);
      if (!s)
        s = kugel_sht_analysis(p, MAP(j, j.map), ALM(j, j.back), NULL);
      if (!s)
        s = kugel_sht_analysis_adjoint(p, ALM(j, j.alm), MAP(j, j.other), NULL);
      kugel__fault_alloc(0);
      kugel_sht_destroy(p);
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
      done = s == KUGEL_OK;
    }
    close_job(&j);
  }
  END();
}
