/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours and interpolation: any number of elements, against geometry, and values of maps. */
#include "check.h"
#include "healpix/ops.h"
#include <kugel/healpix.h>

#define RING   KUGEL_ORDER_RING
#define NESTED KUGEL_ORDER_NESTED
static uint64_t seed = 5;

static double uniform(void)
{
  return (check_random(&seed) + 1) / 2;
}

static void random_directions(int64_t n, double *theta, double *phi)
{
  for (int64_t i = 0; i < n; i++) {
    theta[i] = i == 0 ? 0 : i == 1 ? M_PI : i % 7 == 2 ? uniform() * 1e-3 : acos(2 * uniform() - 1);
    phi[i] = i % 5 ? 20 * uniform() - 10 : (double)(i / 5 % 9 - 4) * M_PI / 2;
  }
}

// The block of n equals its elements alone, which take other lanes and the tail.
static void one_by_one(int64_t nside, kugel_order order, int64_t n)
{
  int64_t p[40], near[320], alone[8], four[160];
  double theta[40], phi[40], w[160], one[4];
  random_directions(n, theta, phi);
  for (int64_t i = 0; i < n; i++)
    p[i] = (int64_t)(uniform() * (double)kugel_healpix_npix(nside));
  CHECK_OK(kugel_healpix_neighbours(NULL, nside, order, n, p, near));
  CHECK_OK(kugel_healpix_interpolation(NULL, nside, order, n, theta, phi, four, w));
  for (int64_t i = 0; i < n; i++) {
    kugel__neighbours_of(nside, order, p[i], alone);
    CHECK(!memcmp(alone, near + 8 * i, 64));
    CHECK_OK(kugel_healpix_interpolation(NULL, nside, order, 1, theta + i, phi + i, alone, one));
    CHECK(!memcmp(alone, four + 4 * i, 32) && !memcmp(one, w + 4 * i, 32));
  }
}

// A map that is a multiple of theta between two rings, away from the poles, comes back.
static void linear_in_theta(int64_t nside, kugel_order order)
{
  enum { N = 500 };
  static double theta[N], phi[N], value[2 * N];
  int64_t npix = kugel_healpix_npix(nside), *p = malloc((size_t)npix * 8);
  double *map = malloc((size_t)npix * 16), *other = malloc((size_t)npix * 8), first;
  float *single = malloc((size_t)npix * 4);
  for (int64_t i = 0; i < npix; i++)
    p[i] = i;
  CHECK_OK(kugel_healpix_pix2ang(NULL, nside, order, npix, p, map, other));
  for (int64_t i = 0; i < npix; i++) {
    map[npix + i] = 3 - 2 * map[i];
    single[i] = (float)map[i];
  }
  CHECK_OK(kugel_healpix_pix2ang(NULL, nside, RING, 1, p, &first, phi)); // the first ring
  random_directions(N, theta, phi);
  CHECK_OK(kugel_healpix_interpolate(NULL, nside, order, KUGEL_ARRAY(map, KUGEL_F64, 2, npix), N, theta, phi,
                                     KUGEL_ARRAY(value, KUGEL_F64, 2, N)));
  for (int i = 0; i < N; i++) {
    // beyond the last ring: linear from it to the pole, whose value is that of the ring
    double want = fmin(fmax(theta[i], first), M_PI - first);
    CHECK_LE(fabs(value[i] - want), 2e-15);
    CHECK_LE(fabs(value[N + i] - (3 - 2 * want)), 6e-15);
  }
  CHECK_OK(kugel_healpix_interpolate(NULL, nside, order, KUGEL_ARRAY(single, KUGEL_F32, npix), N, theta, phi,
                                     KUGEL_ARRAY(value, KUGEL_F64, N)));
  for (int i = 0; i < N; i++)
    CHECK_LE(fabs(value[i] - fmin(fmax(theta[i], first), M_PI - first)), 2e-7);
  free(p), free(map), free(other), free(single);
}

int main(void)
{
  int64_t sizes[] = {1, 2, 3, 4, 7, 8, 64, 1000, 1024, 1 << 20, (1 << 25) - 1, 1 << 29};
  CASE("any number of elements")
  for (int k = 0; k < 12; k++)
    for (int64_t n = 0; n <= 40; n++) {
      one_by_one(sizes[k], RING, n);
      if (!(sizes[k] & (sizes[k] - 1)))
        one_by_one(sizes[k], NESTED, n);
    }
  CASE("neighbours touch")
  for (int k = 0; k < 9; k++)
    for (int i = 0; i < 300; i++) {
      int64_t p = (int64_t)(uniform() * (double)kugel_healpix_npix(sizes[k])), near[8];
      double v[12], w[12];
      CHECK_OK(kugel_healpix_neighbours(NULL, sizes[k], RING, 1, &p, near));
      CHECK_OK(kugel_healpix_boundaries(NULL, sizes[k], RING, 1, &p, 1, v));
      for (int d = 0; d < 8; d++) {
        if (near[d] < 0)
          continue;
        CHECK_OK(kugel_healpix_boundaries(NULL, sizes[k], RING, 1, near + d, 1, w));
        int common = 0; // corners: two across an edge, one across a corner
        for (int a = 0; a < 4; a++)
          for (int b = 0; b < 4; b++)
            common += fabs(v[3 * a] - w[3 * b]) + fabs(v[3 * a + 1] - w[3 * b + 1]) +
                          fabs(v[3 * a + 2] - w[3 * b + 2]) <
                      1e-13;
        CHECK(sizes[k] == 1 ? common >= 1 : common == (d % 2 ? 1 : 2));
      }
    }
  CASE("interpolation of what is linear in theta")
  for (int k = 0; k < 8; k++) {
    linear_in_theta(sizes[k], RING);
    if (!(sizes[k] & (sizes[k] - 1)))
      linear_in_theta(sizes[k], NESTED);
  }
  CASE("bad input")
  {
    static double theta[20000], phi[20000], map[48], value[20000];
    kugel_array *m = KUGEL_ARRAY(map, KUGEL_F64, 48), *v = KUGEL_ARRAY(value, KUGEL_F64, 20000);
    phi[15000] = NAN;
    CHECK_IS(kugel_healpix_interpolate(NULL, 2, RING, m, 20000, theta, phi, v), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "phi[15000]") != NULL);
    CHECK_IS(kugel_healpix_interpolate(NULL, 2, RING, m, 10000, theta, phi, v), KUGEL_ESHAPE);
    CHECK_IS(kugel_healpix_interpolate(NULL, 4, RING, m, 20000, theta, phi, v), KUGEL_ESHAPE);
    CHECK_IS(kugel_healpix_interpolate(NULL, 3, NESTED, m, 20000, theta, phi, v), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_interpolate(NULL, 2, RING, NULL, 20000, theta, phi, v), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_interpolate(NULL, 2, RING, m, 20000, theta, NULL, v), KUGEL_EINVAL);
    theta[7] = 3.1416;
    int64_t p[80];
    double w[80];
    CHECK_IS(kugel_healpix_interpolation(NULL, 2, RING, 20, theta, phi, p, w), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "theta[7] is 3.1415999") != NULL);
  }
  END();
}
