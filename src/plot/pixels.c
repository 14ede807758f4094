/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include "plot/pixels.h"

kugel_status kugel__pixels_around(int64_t nside, kugel_order order, int64_t n, const double *vec,
                                  int64_t *pixels, double *weights)
{
  enum { RUN = 256 };
  double theta[RUN], phi[RUN];
  for (int64_t k = 0; k < n; k += RUN) {
    int64_t m = kugel__min(RUN, n - k);
    for (int64_t i = 0; i < m; i++) {
      const double *u = vec + 3 * (k + i);
      theta[i] = atan2(hypot(u[0], u[1]), u[2]);
      phi[i] = atan2(u[1], u[0]);
    }
    KUGEL_TRY(
        kugel_healpix_interpolation(NULL, nside, order, m, theta, phi, pixels + 4 * k, weights + 4 * k));
  }
  return KUGEL_OK;
}
