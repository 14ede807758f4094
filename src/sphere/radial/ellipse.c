/* SPDX-License-Identifier: BSD-3-Clause */
/* Elliptical beams as rows of circular ones. A Gaussian of deviations s1 > s2 is the one of s2 convolved
 * along the major axis with a Gaussian of variance t^2 = s1^2 - s2^2, an integral that Gauss-Hermite
 * quadrature makes a sum. */
#include <math.h>
#include "core/base.h"
#include <kugel/radial.h>

enum { MOST = 64 };

/* Normalised Hermite functions' polynomials: h[n] of degree n for the weight exp(-x^2), and its neighbour
 * below. */
static void hermite(int n, double x, double *value, double *below)
{
  double p = pow(M_PI, -0.25), before = 0;
  for (int k = 0; k < n; k++) {
    double next = x * sqrt(2.0 / (k + 1)) * p - sqrt((double)k / (k + 1)) * before;
    before = p;
    p = next;
  }
  *value = p;
  *below = before;
}

/* Zero number k of h[n] from the largest: the zeros of h[n - 1] lie between, which are found first. */
static void zeros(int n, double *x)
{
  double inner[MOST + 1], v, below;
  for (int d = 1; d <= n; d++) {
    double edge = sqrt(2.0 * d + 1) + 1;
    for (int k = 0; k < d; k++) {
      double hi = k ? inner[k - 1] : edge, lo = k < d - 1 ? inner[k] : -edge, sign = k % 2 ? -1 : 1;
      for (int step = 0; step < 100 && hi - lo > 1e-16 * edge; step++) {
        double mid = (lo + hi) / 2;
        hermite(d, mid, &v, &below);
        if (sign * v > 0)
          hi = mid;
        else
          lo = mid;
      }
      x[k] = (lo + hi) / 2;
    }
    for (int k = 0; k < d; k++)
      inner[k] = x[k];
  }
}

kugel_status kugel_radial_ellipse(double major, double minor, int64_t n, double *weight, double *distance,
                                  double *bearing)
{
  KUGEL_CHECK(weight && distance && bearing, KUGEL_EINVAL,
              "an output is NULL: pass three arrays of n numbers");
  KUGEL_CHECK(n >= 1 && n <= MOST, KUGEL_EINVAL, "n is %lld, must be 1 to %d", (long long)n, MOST);
  KUGEL_CHECK(minor > 0 && major >= minor && major <= M_PI, KUGEL_EINVAL,
              "major is %g and minor %g radians: above 0, major at least minor and at most pi", major, minor);
  double x[MOST], v, below,
      t = sqrt((major - minor) * (major + minor) / (4 * M_LN2)); // sqrt(2) times t's deviation
  zeros((int)n, x);
  for (int64_t k = 0; k < n; k++) {
    hermite((int)n, x[k], &v, &below);
    weight[k] = 1 / ((double)n * below * below * sqrt(M_PI));
    distance[k] = fabs(t * x[k]);
    bearing[k] = x[k] < 0 ? M_PI : 0;
  }
  return KUGEL_OK;
}
