/* SPDX-License-Identifier: BSD-3-Clause */
/* The vectorised loops over pixels: any length, any place of an element, edges of pixels, accuracy of centres
 * against long double, and which element is named as bad. */
#include "check.h"
#include "healpix/ops.h"
#include <kugel/healpix.h>

#define RING   KUGEL_ORDER_RING
#define NESTED KUGEL_ORDER_NESTED
static uint64_t seed = 11;

static int64_t random_pixel(int64_t nside)
{
  return (int64_t)((check_random(&seed) + 1) / 2 * (double)kugel_healpix_npix(nside));
}

// Elements one by one and all together.
static void one_by_one(int64_t nside, kugel_order order, int64_t n)
{
  int64_t p[40], q[40], x[40], y[40], f[40], one[3];
  double theta[40], phi[40], vec[120], t, h, v[3];
  for (int64_t i = 0; i < n; i++)
    p[i] = random_pixel(nside);
  CHECK_OK(kugel_healpix_pix2ang(NULL, nside, order, n, p, theta, phi));
  CHECK_OK(kugel_healpix_pix2vec(NULL, nside, order, n, p, vec));
  CHECK_OK(kugel_healpix_pix2xyf(NULL, nside, order, n, p, x, y, f));
  for (int64_t i = 0; i < n; i++) {
    CHECK_OK(kugel_healpix_pix2ang(NULL, nside, order, 1, p + i, &t, &h));
    CHECK_OK(kugel_healpix_pix2vec(NULL, nside, order, 1, p + i, v));
    CHECK_OK(kugel_healpix_pix2xyf(NULL, nside, order, 1, p + i, one, one + 1, one + 2));
    CHECK(t == theta[i] && h == phi[i] && !memcmp(v, vec + 3 * i, sizeof v));
    CHECK(one[0] == x[i] && one[1] == y[i] && one[2] == f[i]);
    phi[i] += 2 * M_PI * (double)(i % 5 - 2); // other turns too
  }
  CHECK_OK(kugel_healpix_ang2pix(NULL, nside, order, n, theta, phi, q));
  CHECK(!memcmp(p, q, (size_t)n * 8));
  CHECK_OK(kugel_healpix_vec2pix(NULL, nside, order, n, vec, q));
  CHECK(!memcmp(p, q, (size_t)n * 8));
  CHECK_OK(kugel_healpix_xyf2pix(NULL, nside, order, n, x, y, f, x));
  CHECK(!memcmp(p, x, (size_t)n * 8));
}

// Centres by the definition in Gorski et al. 2005, equations 4 to 9, in long double.
static void check_centres(int64_t nside)
{
  enum { N = 3000 };
  static int64_t p[N], start[N], count[N], shifted[N], ring[N];
  static double theta[N], phi[N], vec[3 * N];
  const long double pi = 3.14159265358979323846264338327950288L;
  int64_t npix = kugel_healpix_npix(nside), n = npix < N ? npix : N;
  for (int64_t i = 0; i < n; i++)
    p[i] = npix <= N ? i : i < 200 ? i : i < 400 ? npix - 1 - (i - 200) : random_pixel(nside);
  CHECK_OK(kugel_healpix_pix2ring(NULL, nside, RING, n, p, ring));
  CHECK_OK(kugel_healpix_rings(nside, n, ring, start, count, NULL, shifted));
  CHECK_OK(kugel_healpix_pix2ang(NULL, nside, RING, n, p, theta, phi));
  CHECK_OK(kugel_healpix_pix2vec(NULL, nside, RING, n, p, vec));
  double worst[3] = {0};
  for (int64_t i = 0; i < n; i++) {
    int64_t k = ring[i] < 2 * nside ? ring[i] : 4 * nside - ring[i];
    long double t, u = (long double)k / (long double)nside;
    if (k < nside)
      t = 2 * asinl(u / sqrtl(6));
    else
      t = pi / 2 - asinl((4 - 2 * u) / 3);
    t = ring[i] < 2 * nside ? t : pi - t;
    long double f =
        ((long double)(p[i] - start[i]) + 0.5L * (long double)shifted[i]) * 2 * pi / (long double)count[i];
    worst[0] = fmax(worst[0], (double)fabsl((theta[i] - t) / t));
    worst[1] = fmax(worst[1], f > 0 ? (double)fabsl((phi[i] - f) / f) : phi[i]);
    long double v[3] = {sinl(t) * cosl(f), sinl(t) * sinl(f), cosl(t)};
    for (int c = 0; c < 3; c++)
      worst[2] = fmax(worst[2], (double)fabsl(vec[3 * i + c] - v[c]));
  }
  CHECK_LE(worst[0], 4.5e-16);
  CHECK_LE(worst[1], 4.5e-16);
  CHECK_LE(worst[2], 4.5e-16);
}

// Directions on corners and edges: rounding decides, and it decides as in plain arithmetic.
static void check_edges(int64_t nside, kugel_order order)
{
  enum { N = 300, STEP = 4, POINTS = 4 * STEP * N };
  static int64_t p[N], found[POINTS];
  static double vec[3 * POINTS], theta[POINTS], phi[POINTS];
  for (int i = 0; i < N; i++)
    p[i] = random_pixel(nside);
  CHECK_OK(kugel_healpix_boundaries(NULL, nside, order, N, p, STEP, vec));
  CHECK_OK(kugel_healpix_vec2pix(NULL, nside, order, POINTS, vec, found));
  int64_t differ = 0;
  for (int i = 0; i < POINTS; i++) {
    const double *v = vec + 3 * i;
    differ += found[i] != kugel__vector_pixel(nside, order, v);
    theta[i] = atan2(hypot(v[0], v[1]), v[2]);
    phi[i] = atan2(v[1], v[0]);
  }
  CHECK(differ == 0);
  CHECK_OK(kugel_healpix_ang2pix(NULL, nside, order, POINTS, theta, phi, found));
  for (int i = 0; i < POINTS; i++)
    differ += found[i] != kugel__angle_pixel(nside, order, theta[i], phi[i]);
  CHECK(differ == 0);
}

int main(void)
{
  int64_t sizes[] = {1, 2, 3, 4, 7, 8, 64, 1000, 1024, 1 << 20, (1 << 25) - 1, 1 << 25};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  CASE("any number of elements")
  for (int k = 0; k < SIZES; k++)
    for (int64_t n = 0; n <= 40; n++) {
      one_by_one(sizes[k], RING, n);
      if (!(sizes[k] & (sizes[k] - 1)))
        one_by_one(sizes[k], NESTED, n);
    }
  CASE("centres are right to rounding")
  for (int k = 0; k < SIZES; k++)
    check_centres(sizes[k]);
  CASE("edges are decided as in plain arithmetic")
  for (int k = 0; k < SIZES; k++) {
    check_edges(sizes[k], RING);
    if (!(sizes[k] & (sizes[k] - 1)))
      check_edges(sizes[k], NESTED);
  }
  CASE("special directions")
  {
    double theta[] = {0, M_PI, M_PI / 2, M_PI / 2, acos(2.0 / 3), M_PI - acos(2.0 / 3), 1e-300, 1.0, 1.0};
    double phi[] = {0, -0.0, 2 * M_PI, -2 * M_PI, M_PI / 2, -M_PI / 2, 7e3, 1e300, -1e17};
    for (int k = 0; k < SIZES; k++)
      for (int i = 0; i < 9; i++) {
        int64_t p;
        CHECK_OK(kugel_healpix_ang2pix(NULL, sizes[k], RING, 1, theta + i, phi + i, &p));
        CHECK(p >= 0 && p < kugel_healpix_npix(sizes[k]));
        CHECK(p == kugel__angle_pixel(sizes[k], RING, theta[i], phi[i]));
      }
    double vec[] = {0, 0, 1, 0, 0, -5, 1e-320, 0, 0, 0, -1e308, 1e308, 0, -0.0, 1e-200, 1, 0, 0, -1, -0.0, 0};
    for (int k = 0; k < SIZES; k++) {
      int64_t p[7];
      CHECK_OK(kugel_healpix_vec2pix(NULL, sizes[k], RING, 7, vec, p));
      for (int i = 0; i < 7; i++)
        CHECK(p[i] == kugel__vector_pixel(sizes[k], RING, vec + 3 * i));
    }
  }
  CASE("the first bad element is named")
  {
    enum { N = 50000 };
    static double a[3 * N], b[N];
    static int64_t p[N], q[N];
    for (int i = 0; i < 3 * N; i++)
      a[i] = 1;
    struct {
      double theta, phi;
      const char *says;
    } bad[] = {{NAN, 0, "theta[33333] is"},
               {nextafter(M_PI, 4), 0, "theta[33333] is 3.14159265358979"},
               {-1e-300, 0, "theta[33333] is"},
               {1, NAN, "phi[33333] is"},
               {1, -INFINITY, "phi[33333] is"}};
    for (int k = 0; k < 5; k++) {
      a[33333] = bad[k].theta, b[33333] = bad[k].phi;
      a[44444] = 9;
      CHECK_IS(kugel_healpix_ang2pix(NULL, 64, NESTED, N, a, b, p), KUGEL_EINVAL);
      CHECK(strstr(kugel_last_error(), bad[k].says) != NULL);
    }
    a[33333] = a[44444] = 1;
    a[3 * 22222 + 1] = NAN;
    CHECK_IS(kugel_healpix_vec2pix(NULL, 64, RING, N, a, p), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "vec[22222] is (1, ") != NULL);
    for (int i = 0; i < N; i++)
      p[i] = i % 48;
    p[10001] = INT64_MIN;
    CHECK_IS(kugel_healpix_convert(NULL, 2, NESTED, RING, N, p, p), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "pixel[10001] is -9223372036854775808") != NULL);
    p[10001] = 48;
    CHECK_IS(kugel_healpix_pix2ring(NULL, 2, NESTED, N, p, q), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "pixel[10001] is 48, must be 0 to 47") != NULL);
    CHECK_IS(kugel_healpix_boundaries(NULL, 2, RING, INT64_MAX / 96, q, 2, a), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_pix2ang(NULL, 2, RING, INT64_MAX, q, a, a), KUGEL_EINVAL);
  }
  END();
}
