/* SPDX-License-Identifier: BSD-3-Clause */
/* Analysis on equidistant rings up to their sampling limit: round trips, adjoints, iterations, failures. */
#include "check.h"
#include "core/alloc.h"
#include "sphere/info.h"
#include <kugel/sphere.h>

static uint64_t seed = 5;

typedef struct job {
  kugel_grid *grid;
  kugel_sht *plan;
  int sets;
  int64_t lmax, mmax, nalm, npix;
  double *alm, *back, *map, *other;
} job;

static job open_job(kugel_ctx *ctx, kugel_grid_kind kind, int64_t n, int64_t lmax, int64_t mmax,
                    kugel_sht_mode mode, int spin, int iterations)
{
  job j = {.lmax = lmax, .mmax = mmax};
  kugel_grid_opts g = {.size = sizeof g, .kind = kind, .ntheta = n, .nphi = 2 * mmax + 1, .phi0 = 0.3};
  CHECK_OK(kugel_grid_create(ctx, &g, &j.grid));
  kugel_sht_opts o = {.size = sizeof o,
                      .grid = j.grid,
                      .lmax = lmax,
                      .mmax = mmax ? mmax : KUGEL_ONLY_M0,
                      .beyond_band_limit = 1};
  o.mode = mode;
  o.spin = spin;
  o.iterations = iterations;
  CHECK_OK(kugel_sht_create(ctx, &o, &j.plan));
  CHECK_OK(sht_shape(j.plan, &j.nalm, &j.npix, &j.sets, NULL));
  j.alm = calloc((size_t)(j.sets * j.nalm), 16);
  j.back = calloc((size_t)(j.sets * j.nalm), 16);
  j.map = calloc((size_t)(j.sets * j.npix), 8);
  j.other = calloc((size_t)(j.sets * j.npix), 8);
  for (int c = 0; c < j.sets; c++)
    for (int64_t m = 0; m <= mmax; m++)
      for (int64_t l = m; l <= lmax; l++) {
        double *v = j.alm + 2 * (c * j.nalm + m * (2 * lmax + 1 - m) / 2 + l);
        if (l >= (mode == KUGEL_SHT_TEB ? 2 * (c > 0) : spin)) {
          v[0] = check_random(&seed);
          v[1] = m ? check_random(&seed) : 0;
        }
      }
  return j;
}

static void close_job(job *j)
{
  kugel_sht_destroy(j->plan);
  kugel_grid_destroy(j->grid);
  free(j->alm), free(j->back), free(j->map), free(j->other);
}

#define ALM(j, a) KUGEL_ARRAY(a, KUGEL_C128, (j).sets, (j).nalm)
#define MAP(j, f) KUGEL_ARRAY(f, KUGEL_F64, (j).sets, (j).npix)

static double round_trip(job *j)
{
  CHECK_OK(kugel_sht_synthesis(j->plan, ALM(*j, j->alm), MAP(*j, j->map), NULL));
  CHECK_OK(kugel_sht_analysis(j->plan, MAP(*j, j->map), ALM(*j, j->back), NULL));
  return check_l2(j->back, j->alm, (size_t)(2 * j->sets * j->nalm));
}

static double norm(const double *x, int64_t n)
{
  long double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += (long double)x[i] * x[i];
  return (double)sqrtl(sum);
}

// |<A f, b> - <f, A^T b>| over the norms, for a random map f.
static double adjoint_error(job *j)
{
  for (int64_t i = 0; i < j->sets * j->npix; i++)
    j->map[i] = check_random(&seed);
  CHECK_OK(kugel_sht_analysis(j->plan, MAP(*j, j->map), ALM(*j, j->back), NULL));
  CHECK_OK(kugel_sht_analysis_adjoint(j->plan, ALM(*j, j->alm), MAP(*j, j->other), NULL));
  long double left = 0, right = 0;
  for (int c = 0; c < j->sets; c++)
    for (int64_t i = 0; i < 2 * j->nalm; i++) {
      int64_t k = 2 * c * j->nalm + i;
      left += (i < 2 * (j->lmax + 1) ? 1 : 2) * (long double)j->alm[k] * j->back[k];
    }
  for (int64_t i = 0; i < j->sets * j->npix; i++)
    right += (long double)j->map[i] * j->other[i];
  double a = norm(j->alm, 2 * j->sets * j->nalm) * norm(j->back, 2 * j->sets * j->nalm);
  return fabs((double)(left - right)) / a;
}

int main(void)
{
  static const struct {
    kugel_sht_mode mode;
    int spin;
  } modes[] = {{KUGEL_SHT_SCALAR, 0},
               {KUGEL_SHT_SPIN, 1},
               {KUGEL_SHT_SPIN, 2},
               {KUGEL_SHT_SPIN, 3},
               {KUGEL_SHT_TEB, 0}};
  static const struct {
    kugel_grid_kind kind;
    int64_t short_by; // lmax = ntheta - short_by is the limit
  } kinds[] = {{KUGEL_GRID_CLENSHAW_CURTIS, 2}, {KUGEL_GRID_FEJER1, 1}, {KUGEL_GRID_MCEWEN_WIAUX, 1}};
  CASE("all coefficients come back at the sampling limit, on even and odd numbers of rings")
  {
    for (int k = 0; k < 3; k++)
      for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        for (int64_t n = 44; n <= 47; n++) {
          job j = open_job(NULL, kinds[k].kind, n, n - kinds[k].short_by, n - kinds[k].short_by,
                           modes[i].mode, modes[i].spin, 0);
          CHECK_LE(round_trip(&j), 1e-13);
          close_job(&j);
        }
  }
  CASE("small grids, between the plain limit and the sampling limit, and with few m")
  {
    for (int k = 0; k < 3; k++)
      for (int64_t n = 2; n <= 12; n++)
        for (int64_t lmax = n / 2; lmax <= n - kinds[k].short_by; lmax++)
          for (int64_t mmax = 0; mmax <= lmax; mmax += 1 + lmax / 2) {
            job j = open_job(NULL, kinds[k].kind, n, lmax, mmax, KUGEL_SHT_TEB, 0, 0);
            CHECK_LE(round_trip(&j), 1e-13);
            close_job(&j);
          }
  }
  CASE("lmax = 300, odd lengths with large prime factors")
  {
    for (int k = 0; k < 3; k++) {
      job j = open_job(NULL, kinds[k].kind, 300 + k, 300 + k - kinds[k].short_by, 20, KUGEL_SHT_TEB, 0, 0);
      CHECK_LE(round_trip(&j), 2e-13);
      close_job(&j);
    }
  }
  CASE("lmax = 511: orders that no ring near the pole carries")
  {
    for (int k = 0; k < 3; k++) {
      job j = open_job(NULL, kinds[k].kind, 512, 512 - kinds[k].short_by, 512 - kinds[k].short_by,
                       KUGEL_SHT_SCALAR, 0, 0);
      CHECK_LE(round_trip(&j), 2e-13);
      close_job(&j);
    }
  }
  CASE("the adjoint of analysis is its transpose, iterations included, for any map")
  {
    for (int k = 0; k < 3; k++)
      for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        for (int it = 0; it <= 2; it++) {
          int64_t n = 20 + it, lmax = n - kinds[k].short_by;
          job j = open_job(NULL, kinds[k].kind, n, lmax, lmax, modes[i].mode, modes[i].spin, it);
          CHECK_LE(adjoint_error(&j), 1e-14);
          CHECK_LE(round_trip(&j), 1e-13);
          close_job(&j);
          j = open_job(NULL, kinds[k].kind, n, lmax - 3, lmax / 2, modes[i].mode, modes[i].spin, it);
          CHECK_LE(adjoint_error(&j), 1e-14);
          close_job(&j);
        }
  }
  CASE("beyond the sampling limit the plain weights serve")
  {
    for (int k = 0; k < 3; k++) {
      job j = open_job(NULL, kinds[k].kind, 12, 12, 12, KUGEL_SHT_SCALAR, 0, 0);
      double error = round_trip(&j);
      CHECK(isfinite(error) && error > 1e-3);
      CHECK_LE(adjoint_error(&j), 1e-14);
      close_job(&j);
    }
  }
  CASE("float maps and alm, and the number of threads")
  {
    job j = open_job(NULL, KUGEL_GRID_MCEWEN_WIAUX, 40, 39, 39, KUGEL_SHT_TEB, 0, 1);
    CHECK_LE(round_trip(&j), 1e-13);
    float *f = malloc((size_t)(j.sets * j.npix) * 4), *a = malloc((size_t)(j.sets * j.nalm) * 8);
    for (int64_t i = 0; i < j.sets * j.npix; i++)
      f[i] = (float)j.map[i];
    CHECK_OK(kugel_sht_analysis(j.plan, KUGEL_ARRAY(f, KUGEL_F32, j.sets, j.npix),
                                KUGEL_ARRAY(a, KUGEL_C64, j.sets, j.nalm), NULL));
    double worst = 0;
    for (int64_t i = 0; i < 2 * j.sets * j.nalm; i++)
      worst = fmax(worst, fabs(a[i] - j.alm[i]));
    CHECK_LE(worst, 2e-6);
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .threads = 3}, &ctx));
    job t = open_job(ctx, KUGEL_GRID_MCEWEN_WIAUX, 40, 39, 39, KUGEL_SHT_TEB, 0, 1);
    CHECK_OK(kugel_sht_analysis(t.plan, MAP(j, j.map), ALM(t, t.back), NULL));
    CHECK(!memcmp(t.back, j.back, (size_t)(j.sets * j.nalm) * 16));
    close_job(&t);
    kugel_ctx_destroy(ctx);
    free(f), free(a);
    close_job(&j);
  }
  CASE("every allocation may fail")
  {
    job j = open_job(NULL, KUGEL_GRID_FEJER1, 67, 66, 66, KUGEL_SHT_SCALAR, 0, 1);
    for (int64_t n = 1, done = 0; !done && n < 1000; n++) {
      kugel_sht *p = NULL;
      kugel_sht_opts o = {.size = sizeof o, .grid = j.grid, .lmax = 66, .iterations = 1};
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
