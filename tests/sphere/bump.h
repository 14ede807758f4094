/* SPDX-License-Identifier: BSD-3-Clause */
/* A band-limited bump at a place off every symmetry, and its gradient, by sums of Legendre polynomials:
 * f = sum_{l <= lmax} (2 l + 1) / (4 pi) exp(-l (l + 1) w^2 / 2) P_l(cos gamma), gamma the distance from the
 * place. */
#ifndef KUGEL_TESTS_BUMP_H
#define KUGEL_TESTS_BUMP_H

#include "check.h"
#include <kugel/sphere.h>

static const double bump_theta = 1.1, bump_phi = 0.6; /* 27 N, 34 E */

static inline void bump_value(int64_t lmax, double width, double theta, double phi, double *f,
                              double *by_theta, double *by_phi)
{
  long double d = phi - bump_phi, st = sinl(theta), ct = cosl(theta), s0 = sinl(bump_theta),
              c0 = cosl(bump_theta);
  long double x = ct * c0 + st * s0 * cosl(d), p = 1, before = 0, dp = 0, dbefore = 0, sum = 0, dsum = 0;
  for (int64_t l = 0; l <= lmax; l++) {
    long double w = (2 * l + 1) / (4 * M_PIl) * expl(-0.5L * l * (l + 1) * width * width);
    sum += w * p;
    dsum += w * dp;
    long double next = ((2 * l + 1) * x * p - l * before) / (l + 1);
    long double dnext = dbefore + (2 * l + 1) * p; // P'_{l+1} = P'_{l-1} + (2 l + 1) P_l
    before = p, p = next, dbefore = dp, dp = dnext;
  }
  *f = (double)sum;
  *by_theta = (double)(dsum * (ct * s0 * cosl(d) - st * c0));
  *by_phi = (double)(-dsum * s0 * sinl(d));
}

/* The bump, [npix], or its gradient and the gradient turned by 90 degrees, [2, npix] each. Any output may be
 * NULL. */
static inline void bump_maps(const kugel_grid *g, int64_t lmax, double width, double *f, double *gradient,
                             double *turned)
{
  int64_t n = kugel_grid_nrings(g), npix = kugel_grid_npix(g);
  double *theta = malloc((size_t)n * 16), *phi0 = theta + n;
  int64_t *nphi = malloc((size_t)n * 16), *first = nphi + n;
  CHECK_OK(kugel_grid_rings(g, theta, nphi, phi0, first, NULL));
  for (int64_t r = 0; r < n; r++)
    for (int64_t k = 0; k < nphi[r]; k++) {
      double v, t, p;
      int64_t i = first[r] + k;
      bump_value(lmax, width, theta[r], phi0[r] + 2 * M_PI * (double)k / (double)nphi[r], &v, &t, &p);
      if (f)
        f[i] = v;
      if (gradient)
        gradient[i] = t, gradient[npix + i] = p;
      if (turned) // (u, v) = (v_phi, -v_theta)
        turned[i] = p, turned[npix + i] = -t;
    }
  free(theta);
  free(nphi);
}

static inline double bump_error(int64_t n, const double *got, const double *want)
{
  double error = 0, norm = 0;
  for (int64_t i = 0; i < n; i++) {
    error += (got[i] - want[i]) * (got[i] - want[i]);
    norm += want[i] * want[i];
  }
  return isfinite(error) ? sqrt(error / norm) : INFINITY;
}

#endif
