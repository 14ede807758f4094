/* SPDX-License-Identifier: BSD-3-Clause */
/* Where transforms end: rings next to the poles, spins beyond lmax, and analysis beyond what a grid is exact for. */
#include "check.h"
#include <kugel/regrid.h>
#include <kugel/sphere.h>

static kugel_grid *grid_of(kugel_grid_kind kind, int64_t ntheta, int64_t nphi)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = kind, .nside = ntheta, .ntheta = ntheta, .nphi = nphi};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static kugel_sht *plan_of(kugel_sht_opts o)
{
  kugel_sht *p = NULL;
  o.size = sizeof o;
  CHECK_OK(kugel_sht_create(NULL, &o, &p));
  return p;
}

/* ---- poles ---- */

enum { LMAX = 2, NALM = 6, NPHI = 8 };

/* Rings at theta with NPHI pixels. Y_11 = -sqrt(3 / 8 pi) sin(theta) e^{i phi}, Y_21 = -sqrt(15 / 8 pi) sin(theta)
 * cos(theta) e^{i phi}; of a real field twice the real part. */
static void check_scalar(double theta)
{
  kugel_grid *g = NULL;
  int64_t nphi = NPHI;
  kugel_grid_opts o = {
      .size = sizeof o, .kind = KUGEL_GRID_CUSTOM, .nrings = 1, .theta = &theta, .ring_nphi = &nphi};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  kugel_sht *p = plan_of((kugel_sht_opts){.grid = g, .lmax = LMAX});
  for (int l = 1; l <= 2; l++) {
    double alm[2 * NALM] = {0}, map[NPHI], want[NPHI], back[2 * NALM];
    long double s = sinl((long double)theta), y = l == 1 ? s : s * cosl((long double)theta);
    y *= -sqrtl((l == 1 ? 3 : 15) / (8 * M_PIl));
    alm[2 * (2 + l)] = 1; // (l, 1)
    for (int j = 0; j < NPHI; j++)
      want[j] = (double)(2 * y * cosl(2 * M_PIl * j / NPHI));
    CHECK_OK(
        kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_C128, NALM), KUGEL_ARRAY(map, KUGEL_F64, NPHI), NULL));
    for (int j = 0; j < NPHI; j++)
      CHECK_LE(fabs(map[j] - want[j]), 1e-13 * fabs(want[0]));
    for (int j = 0; j < NPHI; j++)
      map[j] = cos(2 * M_PI * j / NPHI);
    CHECK_OK(kugel_sht_synthesis_adjoint(p, KUGEL_ARRAY(map, KUGEL_F64, NPHI),
                                         KUGEL_ARRAY(back, KUGEL_C128, NALM), NULL));
    CHECK_LE(fabs(back[2 * (2 + l)] - (double)(y * NPHI / 2)), 1e-13 * (double)fabsl(y * NPHI / 2));
  }
  kugel_sht_destroy(p);
  kugel_grid_destroy(g);
}

/* E = 1 at (2, 1): Q + i U of spin 2 has d^2_{1,2} and d^2_{-1,2}, sin(theta) (1 +- cos(theta)) / 2 up to sign, so
 * Q at phi = 0 and U at pi / 2 are sqrt(5 / 4 pi) sin(theta) times cos(theta) and 1 in size. */
static void check_spin(double theta)
{
  kugel_grid *g = NULL;
  int64_t nphi = NPHI;
  kugel_grid_opts o = {
      .size = sizeof o, .kind = KUGEL_GRID_CUSTOM, .nrings = 1, .theta = &theta, .ring_nphi = &nphi};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  kugel_sht *p = plan_of((kugel_sht_opts){.grid = g, .lmax = LMAX, .mode = KUGEL_SHT_SPIN, .spin = 2});
  double alm[4 * NALM] = {0}, map[2 * NPHI];
  alm[2 * (2 + 2)] = 1;
  CHECK_OK(kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_C128, 2, NALM), KUGEL_ARRAY(map, KUGEL_F64, 2, NPHI),
                               NULL));
  double want = (double)(sqrtl(5 / (4 * M_PIl)) * sinl((long double)theta));
  CHECK_LE(fabs(fabs(map[0]) - want * fabs(cos(theta))), 1e-13 * want);
  CHECK_LE(fabs(fabs(map[NPHI + NPHI / 4]) - want), 1e-13 * want);
  kugel_sht_destroy(p);
  kugel_grid_destroy(g);
}

/* ---- band limits ---- */

/* The largest error of analysis after synthesis of all real coefficients 1 / (l + m + 1). */
static double round_trip(const kugel_grid *g, int64_t lmax)
{
  kugel_sht *p = plan_of((kugel_sht_opts){.grid = g, .lmax = lmax, .beyond_band_limit = 1});
  int64_t n = (lmax + 1) * (lmax + 2) / 2, npix = kugel_grid_npix(g), i = 0;
  double *alm = calloc((size_t)n, 16), *back = calloc((size_t)n, 16), *map = calloc((size_t)npix, 8),
         worst = 0;
  for (int64_t m = 0; m <= lmax; m++)
    for (int64_t l = m; l <= lmax; l++)
      alm[2 * i++] = 1 / (double)(l + m + 1);
  CHECK_OK(kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_C128, n), KUGEL_ARRAY(map, KUGEL_F64, npix), NULL));
  CHECK_OK(kugel_sht_analysis(p, KUGEL_ARRAY(map, KUGEL_F64, npix), KUGEL_ARRAY(back, KUGEL_C128, n), NULL));
  for (i = 0; i < 2 * n; i++)
    worst = fmax(worst, fabs(alm[i] - back[i]));
  free(alm);
  free(back);
  free(map);
  kugel_sht_destroy(p);
  return worst;
}

/* Exact to kugel_grid_lmax, wrong one degree beyond, and refused there. */
static void check_band(kugel_grid_kind kind, int64_t ntheta)
{
  kugel_grid *g = grid_of(kind, ntheta, 4 * ntheta + 8);
  int64_t lmax = kugel_grid_lmax(g);
  CHECK_LE(round_trip(g, lmax), 1e-13);
  if (!(round_trip(g, lmax + 1) > 1e-4))
    CHECK_FAIL("grid %d of %lld rings is exact beyond lmax %lld", (int)kind, (long long)ntheta,
               (long long)lmax);
  kugel_sht *p = plan_of((kugel_sht_opts){.grid = g, .lmax = lmax + 1});
  int64_t n = (lmax + 2) * (lmax + 3) / 2, npix = kugel_grid_npix(g);
  double *alm = calloc((size_t)n, 16), *map = calloc((size_t)npix, 8);
  const kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, n), *f = KUGEL_ARRAY(map, KUGEL_F64, npix);
  char exact[40];
  snprintf(exact, sizeof exact, "exact to lmax %lld", (long long)lmax);
  CHECK_IS(kugel_sht_analysis(p, f, a, NULL), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), exact) && strstr(kugel_last_error(), "beyond_band_limit"));
  CHECK_OK(kugel_sht_synthesis(p, a, f, NULL));
  CHECK_OK(kugel_sht_synthesis_adjoint(p, f, a, NULL));
  CHECK_OK(kugel_sht_analysis_adjoint(p, a, f, NULL));
  kugel_solve_opts so = {.size = sizeof so};
  CHECK_OK(kugel_sht_solve(p, f, a, &so, NULL, NULL));
  kugel_sht_destroy(p);
  free(alm);
  free(map);
  kugel_grid_destroy(g);
}

static void check_callers(void)
{
  kugel_grid *g = grid_of(KUGEL_GRID_FEJER1, 8, 16);
  kugel_regrid *r = NULL;
  double map[128] = {0};
  CHECK(kugel_grid_lmax(g) == 7);
  kugel_regrid_opts ro = {.size = sizeof ro, .from = g, .to = g, .lmax = 8};
  CHECK_IS(kugel_regrid_create(NULL, &ro, &r), KUGEL_EINVAL);
  ro.beyond_band_limit = 1;
  CHECK_OK(kugel_regrid_create(NULL, &ro, &r));
  kugel_regrid_destroy(r);
  kugel_smooth_opts so = {.size = sizeof so, .grid = g, .lmax = 8, .fwhm = 0.1};
  const kugel_array *f = KUGEL_ARRAY(map, KUGEL_F64, 128);
  CHECK_IS(kugel_smooth(NULL, &so, f, f, NULL), KUGEL_EINVAL);
  so.beyond_band_limit = 1;
  CHECK_OK(kugel_smooth(NULL, &so, f, f, NULL));
  kugel_sht_opts bad = {.size = sizeof bad, .grid = g, .lmax = 8, .beyond_band_limit = 2};
  kugel_sht *p = NULL;
  CHECK_IS(kugel_sht_create(NULL, &bad, &p), KUGEL_EINVAL);
  kugel_grid_destroy(g);
}

/* Spins far beyond lmax cost nothing: every harmonic is zero. */
static void check_high_spin(int spin)
{
  kugel_grid *g = grid_of(KUGEL_GRID_HEALPIX, 4, 0);
  kugel_sht *p = plan_of((kugel_sht_opts){.grid = g, .lmax = 5, .mode = KUGEL_SHT_SPIN, .spin = spin});
  double alm[4 * 21], map[2 * 192];
  for (int i = 0; i < 84; i++)
    alm[i] = 1 + i;
  CHECK_OK(
      kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_C128, 2, 21), KUGEL_ARRAY(map, KUGEL_F64, 2, 192), NULL));
  for (int i = 0; i < 384; i++)
    CHECK(map[i] == 0);
  for (int i = 0; i < 384; i++)
    map[i] = 1 + i;
  CHECK_OK(kugel_sht_synthesis_adjoint(p, KUGEL_ARRAY(map, KUGEL_F64, 2, 192),
                                       KUGEL_ARRAY(alm, KUGEL_C128, 2, 21), NULL));
  for (int i = 0; i < 84; i++)
    CHECK(alm[i] == 0);
  kugel_sht_destroy(p);
  kugel_grid_destroy(g);
}

int main(void)
{
  static const double near[] = {1e-5, 1e-7, 5e-9, 3e-9, 2e-9, 1e-9, 1e-10, 1e-11, 1e-12};
  CASE("rings next to either pole keep their orders")
  for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
    check_scalar(near[i]);
    check_scalar(M_PI - near[i]);
    check_spin(near[i]);
    check_spin(M_PI - near[i]);
  }
  CASE("analysis is exact to the grid's lmax and refused beyond")
  {
    static const kugel_grid_kind kinds[] = {
        KUGEL_GRID_GAUSS,          KUGEL_GRID_CLENSHAW_CURTIS, KUGEL_GRID_FEJER1, KUGEL_GRID_FEJER2,
        KUGEL_GRID_DRISCOLL_HEALY, KUGEL_GRID_MCEWEN_WIAUX,    KUGEL_GRID_LOBATTO};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
      for (int64_t n = 14; n <= 17; n++)
        check_band(kinds[i], n);
  }
  CASE("regridding and smoothing refuse with it, and can be told not to") check_callers();
  CASE("spins beyond lmax give zero, at once")
  {
    check_high_spin(6);
    check_high_spin(20);
    check_high_spin(72900000);
    check_high_spin(INT32_MAX);
  }
  END();
}
