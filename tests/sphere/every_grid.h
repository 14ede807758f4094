/* SPDX-License-Identifier: BSD-3-Clause */
/* A grid of each kind that carries degrees to LMAX. */
#ifndef KUGEL_TESTS_EVERY_GRID_H
#define KUGEL_TESTS_EVERY_GRID_H

#include "check.h"
#include <kugel/sphere.h>

enum { LMAX = 16, GRIDS = 12 };

static inline kugel_grid *grid_of(kugel_grid_kind kind, int64_t n, int64_t nphi, double phi0)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = kind, .nside = n, .ntheta = n, .nphi = nphi, .phi0 = phi0};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static inline kugel_grid *custom(void)
{
  double theta[30], weight[30], phi0[30];
  int64_t nphi[30];
  kugel_grid *gauss = grid_of(KUGEL_GRID_GAUSS, 30, 60, 0), *g = NULL;
  CHECK_OK(kugel_grid_rings(gauss, theta, nphi, NULL, NULL, weight));
  for (int i = 0; i < 30; i++) {
    nphi[i] = 55 + i;
    weight[i] *= 60 / (double)nphi[i];
    phi0[i] = 0.1 * i;
  }
  kugel_grid_opts o = {.size = sizeof o,
                       .nrings = 30,
                       .theta = theta,
                       .ring_nphi = nphi,
                       .ring_phi0 = phi0,
                       .ring_weight = weight};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  kugel_grid_destroy(gauss);
  return g;
}

static inline void grids_make(kugel_grid **g)
{
  g[0] = grid_of(KUGEL_GRID_GAUSS, LMAX + 1, 2 * LMAX + 2, 0);
  g[1] = grid_of(KUGEL_GRID_CLENSHAW_CURTIS, LMAX + 2, 2 * LMAX + 2, 0.2);
  g[2] = grid_of(KUGEL_GRID_FEJER1, LMAX + 2, 2 * LMAX + 4, M_PI / (2 * LMAX + 4));
  g[3] = grid_of(KUGEL_GRID_FEJER2, 2 * LMAX + 1, 2 * LMAX + 1, -0.4);
  g[4] = grid_of(KUGEL_GRID_DRISCOLL_HEALY, 2 * LMAX + 2, 2 * LMAX + 3, 3);
  g[5] = grid_of(KUGEL_GRID_MCEWEN_WIAUX, LMAX + 1, 2 * LMAX + 1, 0);
  g[6] = grid_of(KUGEL_GRID_LOBATTO, LMAX + 2, 2 * LMAX + 2, 0);
  g[7] = grid_of(KUGEL_GRID_GAUSS_REDUCED, LMAX + 1, 0, 0);
  g[8] = grid_of(KUGEL_GRID_GAUSS_OCTAHEDRAL, 2 * LMAX + 2, 0, 0);
  g[9] = custom();
  g[10] = grid_of(KUGEL_GRID_HEALPIX, 16, 0, 0);
  g[11] = grid_of(KUGEL_GRID_HEALPIX, 20, 0, 0);
}

#endif
