/* SPDX-License-Identifier: BSD-3-Clause */
/* The pixels of a grid in long double, as unit vectors with their tangents to south and east. */
#ifndef KUGEL_TESTS_TANGENT_H
#define KUGEL_TESTS_TANGENT_H

#include "check.h"
#include <kugel/sphere.h>

typedef struct pixel {
  long double at[3], south[3], east[3], weight;
  int64_t ring;
} pixel;

static inline pixel *pixels_of(const kugel_grid *g)
{
  int64_t nr = kugel_grid_nrings(g), npix = kugel_grid_npix(g);
  double *theta = malloc((size_t)nr * 8), *phi0 = malloc((size_t)nr * 8), *w = malloc((size_t)nr * 8);
  int64_t *nphi = malloc((size_t)nr * 8), *first = malloc((size_t)nr * 8);
  pixel *all = malloc((size_t)npix * sizeof *all);
  CHECK_OK(kugel_grid_rings(g, theta, nphi, phi0, first, w));
  for (int64_t r = 0; r < nr; r++)
    for (int64_t k = 0; k < nphi[r]; k++) {
      long double phi = phi0[r] + 2 * M_PIl * (long double)k / (long double)nphi[r];
      long double s = sinl(theta[r]), c = cosl(theta[r]), x = cosl(phi), y = sinl(phi);
      all[first[r] + k] = (pixel){{s * x, s * y, c}, {c * x, c * y, -s}, {-y, x, 0}, w[r], r};
    }
  free(theta), free(phi0), free(w), free(nphi), free(first);
  return all;
}

/* Between two unit vectors. */
static inline long double angle(const long double *a, const long double *b)
{
  long double c = 0;
  for (int k = 0; k < 3; k++)
    c += (a[k] - b[k]) * (a[k] - b[k]);
  c = sqrtl(c);
  return 2 * asinl(c > 2 ? 1 : c / 2);
}

#endif
