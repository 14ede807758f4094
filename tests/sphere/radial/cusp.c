/* SPDX-License-Identifier: BSD-3-Clause */
/* Method auto stays within its tolerance of the sum over pixels for kernels with a cusp at the antipode, of which opposite
 * pixels see every harmonic; smooth kernels still go by harmonics. */
#include "check.h"
#include <kugel/radial.h>

static uint64_t seed = 3;

static double bell(double a, void *user)
{
  const double *width = user;
  return exp(-a * a / (2 * *width * *width));
}

static double tent(double a, void *user)
{
  (void)user;
  return 1 - a / M_PI;
}

static double even(double a, void *user) /* level at the antipode */
{
  (void)user;
  return exp(cos(a));
}

static void compare(int64_t nside, double (*fn)(double, void *), double width, double bound)
{
  kugel_grid *g = NULL;
  kugel_radial *p[2] = {0};
  const kugel_radial_method methods[2] = {KUGEL_RADIAL_DIRECT, KUGEL_RADIAL_AUTO};
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = nside},
      &g));
  int64_t n = kugel_grid_npix(g);
  double *f = malloc((size_t)n * 8), *out[2] = {malloc((size_t)n * 8), malloc((size_t)n * 8)};
  for (int64_t i = 0; i < n; i++)
    f[i] = check_random(&seed);
  kugel_radial_info info = {.size = sizeof info};
  for (int k = 0; k < 2; k++) {
    CHECK_OK(kugel_radial_create(NULL,
                                 &(kugel_radial_opts){.size = sizeof(kugel_radial_opts),
                                                      .grid = g,
                                                      .kernel = KUGEL_RADIAL_FUNCTION,
                                                      .function = fn,
                                                      .user = &width,
                                                      .radius = M_PI,
                                                      .method = methods[k]},
                                 &p[k]));
    CHECK_OK(
        kugel_radial_execute(p[k], KUGEL_ARRAY(f, KUGEL_F64, n), KUGEL_ARRAY(out[k], KUGEL_F64, n), NULL));
  }
  CHECK_OK(kugel_radial_get_info(p[1], &info));
  double most = 0, worst = 0;
  for (int64_t i = 0; i < n; i++) {
    most += out[0][i] * out[0][i];
    worst += (out[1][i] - out[0][i]) * (out[1][i] - out[0][i]);
  }
  most = sqrt(most);
  worst = sqrt(worst);
  printf("  nside %lld: method %d, off by %.2g\n", (long long)nside, (int)info.method, worst / most);
  CHECK(worst <= bound * most);
  CHECK(fn == even ? info.method == KUGEL_RADIAL_HARMONIC : info.method != KUGEL_RADIAL_HARMONIC);
  for (int k = 0; k < 2; k++) {
    kugel_radial_destroy(p[k]);
    free(out[k]);
  }
  free(f);
  kugel_grid_destroy(g);
}

int main(void)
{
  CASE("a wide bell") /* the tolerance is 1e-5; by harmonics 1.9e-4, 2.6e-5 and 3.7e-5 */
  {
    compare(7, bell, 2, 2e-5);
    compare(32, bell, 2, 2e-5);
    compare(32, bell, 1.2, 2e-5);
  }
  CASE("a tent") compare(16, tent, 0, 1e-5);
  CASE("level at the antipode") compare(32, even, 0, 1e-5);
  END();
}
