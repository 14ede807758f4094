/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution as sums over all pixels in long double, with angles from the grid's table of rings. */
#ifndef KUGEL_TESTS_RADIAL_BRUTE_H
#define KUGEL_TESTS_RADIAL_BRUTE_H

#include "check.h"
#include <kugel/grid.h>

/* out[i] of the pixels i = 0, step, 2 step ...; the others are left as they are. */
static inline void brute(const kugel_grid *g, long double (*kernel)(long double, double), double width,
                         double cut, double norm, int64_t step, const double *f, double *out)
{
  int64_t nr = kugel_grid_nrings(g), npix = kugel_grid_npix(g);
  double *theta = malloc((size_t)nr * 8), *phi0 = malloc((size_t)nr * 8), *w = malloc((size_t)nr * 8);
  int64_t *nphi = malloc((size_t)nr * 8), *first = malloc((size_t)nr * 8);
  CHECK_OK(kugel_grid_rings(g, theta, nphi, phi0, first, w));
  long double *at = malloc((size_t)npix * 4 * sizeof *at);
  for (int64_t r = 0; r < nr; r++)
    for (int64_t k = 0; k < nphi[r]; k++) {
      long double *a = at + 4 * (first[r] + k),
                  phi = phi0[r] + 2 * M_PIl * (long double)k / (long double)nphi[r];
      a[0] = theta[r];
      a[1] = phi;
      a[2] = w[r];
      a[3] = sinl(theta[r]);
    }
  for (int64_t i = 0; i < npix; i += step) {
    long double sum = 0;
    for (int64_t j = 0; j < npix; j++) {
      const long double *a = at + 4 * i, *b = at + 4 * j;
      // squares of sine and cosine of half the angle, both without cancellation
      long double p = sinl((a[0] - b[0]) / 2), q = sinl((a[1] - b[1]) / 2);
      long double u = cosl((a[0] + b[0]) / 2), v = cosl((a[1] - b[1]) / 2), s = a[3] * b[3];
      long double angle = 2 * atan2l(sqrtl(p * p + s * q * q), sqrtl(u * u + s * v * v));
      if (angle <= cut || cut >= M_PI) // which is a little less than pi, the angle of opposite pixels
        sum += kernel(angle, width) * b[2] * f[j];
    }
    out[i] = (double)(norm * sum);
  }
  free(theta), free(phi0), free(w), free(nphi), free(first), free(at);
}

static inline long double gaussian(long double a, double fwhm)
{
  return expl(-4 * logl(2) * (a / fwhm) * (a / fwhm));
}

static inline long double cone(long double a, double width)
{
  return 1 / (1 + a / width);
}

static inline double cone_function(double a, void *user)
{
  return 1 / (1 + a / *(double *)user);
}

#endif
