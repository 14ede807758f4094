/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. HEALPix pixel windows: the files of the HEALPix distribution, direct averages, bad input. */
#include <kugel/alm.h>
#include "core/alloc.h"
#include "sphere/alm/kept.h"
#include "sphere/golden.h"

int main(void)
{
  setenv("KUGEL_CACHE", "off", 1); // what is kept by others shall not count
  CASE("windows of the HEALPix files")
  {
    /* The files of 256 and more were extrapolated from smaller nside, not averaged. */
    static const double allowed[] = {3e-11, 3e-12, 1e-11, 2e-13, 1e-13, 1e-13, 1e-13, 2e-5, 2e-5};
    for (int i = 0, nside = 2; nside <= 512; nside *= 2, i++) {
      char name[99];
      const size_t n = 4 * (size_t)nside + 1;
      snprintf(name, sizeof name, "sphere/quadrature/pixel_window_n%04d.fits", nside);
      double *file = golden_fits(name, 5760, 2 * n), *t = malloc(n * sizeof *t), *p = malloc(n * sizeof *p);
      CHECK_OK(kugel_pixel_window(NULL, nside, 4 * nside, t, p));
      double worst = 0;
      for (size_t l = 0; l < n && file; l++)
        worst = fmax(worst, fmax(fabs(t[l] - file[2 * l]), fabs(p[l] - file[2 * l + 1])));
      if (getenv("VERBOSE"))
        printf("nside %d: %.3g\n", nside, worst);
      CHECK_LE(worst, allowed[i]);
      CHECK(fabs(t[0] - 1) < 1e-14);
      free(file);
      free(t);
      free(p);
    }
  }
  CASE("nside 1: four polar pixels are octants of a cap and more, w_1 from their centroids")
  {
    /* Mean position of a pixel: |mean of x over it|^2 averaged over pixels is w_1^2. Midpoints of 600 x 600
     * cells. */
    const int n = 600;
    double t[5], polar[3] = {0}, belt = 0;
    CHECK_OK(kugel_pixel_window(NULL, 1, 4, t, NULL));
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const double p = (i + 0.5) / n, q = (j + 0.5) / n, k = p + q;
        const double z = k < 1 ? 1 - k * k / 3 : (4 - 2 * k) / 3, s = sqrt(1 - z * z);
        const double phi = k < 1 ? M_PI_2 * q / k : M_PI_4 * (1 + q - p);
        const double zb = (2 - 2 * k) / 3;
        polar[0] += s * cos(phi) / n / n;
        polar[1] += s * sin(phi) / n / n;
        polar[2] += z / n / n;
        belt += sqrt(1 - zb * zb) * cos(M_PI_4 * (q - p)) / n / n;
      }
    const double want =
        (8 * (polar[0] * polar[0] + polar[1] * polar[1] + polar[2] * polar[2]) + 4 * belt * belt) / 12;
    CHECK_LE(fabs(t[1] - sqrt(want)), 1e-5);
    CHECK_LE(fabs(t[0] - 1), 1e-14);
  }
  CASE("any nside, short lmax, bad input, failing allocations")
  {
    double t[401], p[401], u[401];
    CHECK_OK(kugel_pixel_window(NULL, 100, 400, t, p));
    CHECK_OK(kugel_pixel_window(NULL, 100, 7, u, NULL));
    CHECK(!memcmp(t, u, 8 * sizeof *t));
    for (int l = 1; l <= 400; l++)
      CHECK(t[l] < t[l - 1] && (l < 3 || p[l] < p[l - 1]));
    CHECK_IS(kugel_pixel_window(NULL, 0, 0, t, p), KUGEL_EINVAL);
    CHECK_IS(kugel_pixel_window(NULL, 4, 17, t, p), KUGEL_EINVAL);
    CHECK_IS(kugel_pixel_window(NULL, 4, -1, t, p), KUGEL_EINVAL);
    CHECK_IS(kugel_pixel_window(NULL, INT64_MAX, 4, t, p), KUGEL_EINVAL);
    CHECK_IS(kugel_pixel_window(NULL, 4, 4, NULL, p), KUGEL_EINVAL);
    int64_t i = 1;
    for (; i < 20; i++) {
      kugel__kept_forget();
      kugel__fault_alloc(i);
      kugel_status s = kugel_pixel_window(NULL, 4, 4, t, p);
      kugel__fault_alloc(0);
      if (s == KUGEL_OK)
        break;
      CHECK_IS(s, KUGEL_ENOMEM);
    }
    CHECK(i > 2 && i < 20);
  }
  END();
}
