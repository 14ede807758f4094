/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids on Gaussian colatitudes: with equal rings, reduced towards the poles, octahedral; and Gauss-Lobatto.
 */
#include <math.h>
#include "core/quadrature.h"
#include "sphere/grid/grid.h"

enum { MAX_NPHI = 1 << 30 };

/* The exponent by which lambda_lm(theta), l = lmax, has fallen beyond its turning point sin theta = m / L, L
 * = lmax + 1/2: the integral of sqrt(m^2 / sin^2 t - L^2) over t from theta to there. 0 before it. */
static double decay(double m, double l, double sth, double cth)
{
  double square = m * m - l * l * sth * sth;
  if (square <= 0)
    return 0;
  double root = sqrt(square);
  if (root >= m * cth || root >= l * cth) // m beyond lmax, or rounding at the pole
    return INFINITY;
  return m * atanh(root / (m * cth)) - l * atanh(root / (l * cth));
}

// Orders up to this one are above 1e-17 of the largest on a ring.
static int64_t last_order(int64_t lmax, double sth, double cth)
{
  int64_t lo = (int64_t)((double)lmax * sth), hi = lmax; // by bisection: the last one is in [lo, hi]
  while (lo < hi) {
    int64_t m = (lo + hi + 1) / 2;
    if (decay((double)m, (double)lmax + 0.5, sth, fabs(cth)) < 39)
      lo = m;
    else
      hi = m - 1;
  }
  return lo;
}

// The least even 2^a 3^b 5^c from n on.
static int64_t smooth_length(int64_t n)
{
  for (int64_t even = n + n % 2;; even += 2) {
    int64_t rest = even;
    for (int64_t p = 2; p <= 5; p += p == 2 ? 1 : 2)
      while (rest % p == 0)
        rest /= p;
    if (rest == 1)
      return even;
  }
}

static int64_t pixels_of(const kugel_grid *g, const kugel_grid_opts *o, int64_t i)
{
  if (o->kind == KUGEL_GRID_GAUSS_OCTAHEDRAL)
    return 20 + 4 * kugel__min(i, g->nrings - 1 - i);
  if (o->kind != KUGEL_GRID_GAUSS_REDUCED)
    return o->nphi;
  if (o->ring_nphi)
    return o->ring_nphi[i];
  // modes of two fields with orders to m do not meet from 2 m + 1 pixels on
  return smooth_length(2 * last_order(g->nrings - 1, g->sth[i], g->cth[i]) + 2);
}

kugel_status kugel__grid_gauss(kugel_grid *g, const kugel_grid_opts *o)
{
  int64_t n = o->ntheta, least = o->kind == KUGEL_GRID_LOBATTO ? 2 : 1;
  bool octahedral = o->kind == KUGEL_GRID_GAUSS_OCTAHEDRAL,
       equal = !octahedral && o->kind != KUGEL_GRID_GAUSS_REDUCED;
  KUGEL_CHECK(n >= least && n <= 1000000 && !(octahedral && n % 2), KUGEL_EINVAL,
              "ntheta is %lld, must be %lld to 1000000%s", (long long)n, (long long)least,
              octahedral ? " and even" : "");
  KUGEL_CHECK(!equal || (o->nphi >= 1 && o->nphi <= MAX_NPHI), KUGEL_EINVAL, "nphi is %lld, must be 1 to %d",
              (long long)o->nphi, MAX_NPHI);
  KUGEL_CHECK(isfinite(o->phi0), KUGEL_EINVAL, "phi0 is %g, must be a finite longitude in radians", o->phi0);
  KUGEL_TRY(kugel__grid_room(g, n));
  if (o->kind == KUGEL_GRID_LOBATTO)
    KUGEL_TRY(kugel__gauss_lobatto(g->ctx, n, g->theta, g->cth, g->sth, g->weight));
  else
    KUGEL_TRY(kugel__gauss_legendre(g->ctx, n, g->theta, g->cth, g->sth, g->weight));
  for (int64_t i = 0; i < n; i++) {
    int64_t nphi = pixels_of(g, o, i);
    KUGEL_CHECK(nphi >= 1 && nphi <= MAX_NPHI, KUGEL_EINVAL, "ring_nphi[%lld] is %lld, must be 1 to %d",
                (long long)i, (long long)nphi, MAX_NPHI);
    g->nphi[i] = nphi;
    g->phi0[i] = o->phi0;
    g->first[i] = g->npix;
    g->weight[i] *= 2 * M_PI / (double)nphi;
    g->npix += nphi;
  }
  g->has_weights = true;
  return KUGEL_OK;
}
