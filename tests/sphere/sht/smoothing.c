/* SPDX-License-Identifier: BSD-3-Clause */
/* Smoothing of maps of every kind against the closed form: coefficients times the beam's window, summed in long double
 * at some pixels. On a Gauss-Legendre grid, whose analysis is exact. */
#include "sphere/info.h"
#include "sphere/truth.h"

enum { LMAX = 40, SAMPLES = 9, NPIX = (LMAX + 1) * (2 * LMAX + 2) };

/* exp(-(l (l + 1) - s^2) sigma^2 / 2), the beam of a field of spin s (docs/conventions.md). */
static double beam(double fwhm, int spin, int64_t l)
{
  long double sigma = (long double)fwhm / sqrtl(8 * M_LN2l);
  return (double)expl(-(long double)(l * (l + 1) - spin * spin) * sigma * sigma / 2);
}

/* Windows of T, E, B as kugel_smooth_opts names them; t NULL: the beam of fwhm. */
static void check_kind(const kugel_grid *g, kugel_sht_mode mode, int spin, double fwhm, const double *t,
                       const double *e, const double *b, double bound)
{
  shape s = shape_of(mode, spin);
  kugel_sht *plan = NULL;
  kugel_sht_opts o = {.size = sizeof o, .grid = g, .lmax = LMAX, .mode = mode, .spin = spin};
  CHECK_OK(kugel_sht_create(NULL, &o, &plan));
  int64_t nalm, npix;
  CHECK_OK(sht_shape(plan, &nalm, &npix, NULL, NULL));
  double *alm = random_alm(s.alm, LMAX, LMAX, s.lowest), *map = malloc((size_t)(s.map * npix) * 8);
  const kugel_array *maps = KUGEL_ARRAY(map, KUGEL_F64, s.map, npix);
  CHECK_OK(kugel_sht_synthesis(plan, KUGEL_ARRAY(alm, KUGEL_C128, s.alm, nalm), maps, NULL));
  kugel_smooth_opts so = {.size = sizeof so, .grid = g, .lmax = LMAX, .fwhm = fwhm, .spin = spin};
  so.n_window = t ? LMAX + 1 : 0;
  so.window = t;
  so.window_e = e;
  so.window_b = b;
  CHECK_OK(kugel_smooth(NULL, &so, maps, maps, NULL));
  for (int c = 0; c < s.alm; c++)
    for (int64_t m = 0; m <= LMAX; m++)
      for (int64_t l = m; l <= LMAX; l++) {
        int set = s.alm == 1 ? 0 : s.alm == 2 ? c + 1 : c; // T, E, B
        const double *w = set == 1 && e ? e : set == 2 && b ? b : t;
        double f = w ? w[l] : beam(fwhm, set ? spin ? spin : 2 : 0, l);
        double *a = alm + 2 * (c * nalm + m * (2 * LMAX + 1 - m) / 2 + l);
        a[0] *= f;
        a[1] *= f;
      }
  double worst = 0, rms = sqrt(dot(s.map * npix, map, map) / (double)(s.map * npix));
  double theta[LMAX + 1], phi0[LMAX + 1];
  int64_t nphi[LMAX + 1], first[LMAX + 1];
  CHECK_OK(kugel_grid_rings(g, theta, nphi, phi0, first, NULL));
  for (int i = 0; i < SAMPLES; i++) {
    int64_t r = i * LMAX / (SAMPLES - 1), j = (7 * i + 3) % nphi[r];
    double want[3];
    truth(mode, spin, LMAX, LMAX, alm, nalm, theta[r], phi0[r] + 2 * M_PI * (double)j / (double)nphi[r],
          want);
    for (int c = 0; c < s.map; c++)
      worst = fmax(worst, fabs(map[c * npix + first[r] + j] - want[c]));
  }
  printf("  %d maps, spin %d: %.1e of the rms\n", s.map, spin, worst / rms);
  CHECK_LE(worst / rms, bound);
  kugel_sht_destroy(plan);
  free(alm), free(map);
}

int main(void)
{
  kugel_grid *g = NULL;
  kugel_grid_opts go = {
      .size = sizeof go, .kind = KUGEL_GRID_GAUSS, .ntheta = LMAX + 1, .nphi = 2 * LMAX + 2};
  go.phi0 = 0.2;
  CHECK_OK(kugel_grid_create(NULL, &go, &g));
  double flat[LMAX + 1], low[LMAX + 1], high[LMAX + 1];
  for (int l = 0; l <= LMAX; l++) {
    flat[l] = 1;
    low[l] = 1 / (1 + 0.1 * l);
    high[l] = l / (double)LMAX;
  }
  CASE("a Gaussian beam: T; T, Q, U; spins 1, 2, 3")
  {
    check_kind(g, KUGEL_SHT_SCALAR, 0, 0.1, NULL, NULL, NULL, 1e-13);
    check_kind(g, KUGEL_SHT_TEB, 0, 0.1, NULL, NULL, NULL, 1e-13);
    for (int spin = 1; spin <= 3; spin++)
      check_kind(g, KUGEL_SHT_SPIN, spin, 0.1, NULL, NULL, NULL, 1e-13);
  }
  CASE("windows: one for all, one for each of T, E, B")
  {
    check_kind(g, KUGEL_SHT_TEB, 0, 0, low, NULL, NULL, 1e-13);
    check_kind(g, KUGEL_SHT_TEB, 0, 0, low, high, flat, 1e-13);
    check_kind(g, KUGEL_SHT_TEB, 0, 0, low, NULL, high, 1e-13);
    check_kind(g, KUGEL_SHT_SPIN, 2, 0, low, high, NULL, 1e-13);
  }
  CASE("a flat window changes nothing") check_kind(g, KUGEL_SHT_SPIN, 1, 0, flat, NULL, NULL, 1e-13);
  kugel_grid_destroy(g);
  END();
}
