/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids as lists of rings, and rings as north/south pairs. */
#ifndef KUGEL_SPHERE_GRID_GRID_H
#define KUGEL_SPHERE_GRID_GRID_H

#include <stdatomic.h>
#include "core/base.h"
#include <kugel/grid.h>

/* Two rings at theta and pi - theta; either may be missing (-1). */
typedef struct kugel__ring_pair {
  int64_t north, south; /* ring numbers */
  double cth, sth;      /* of the northern colatitude: cth >= 0 */
} kugel__ring_pair;

struct kugel_grid {
  atomic_int references;
  kugel_ctx *ctx;
  kugel_grid_kind kind;
  int64_t nside, nrings, npix, npairs, max_nphi;
  double *theta, *cth,
      *sth;                /* [nrings] cos and sin correctly rounded, where the formula of the grid allows */
  double *phi0, *weight;   /* [nrings]; weight of each pixel of the ring */
  int64_t *nphi, *first;   /* [nrings] */
  kugel__ring_pair *pairs; /* [npairs] by rising sin theta */
  bool has_weights;
};

kugel_grid *kugel__grid_retain(const kugel_grid *grid);

/* Tables of nrings entries, weights zero. */
kugel_status kugel__grid_room(kugel_grid *g, int64_t nrings);
/* The grids with Gaussian colatitudes and Lobatto's, gridgauss.c. */
kugel_status kugel__grid_gauss(kugel_grid *g, const kugel_grid_opts *o);

/* The highest degree and order to which analysis is exact; false where that is not known (custom grids) or nowhere
 * the case (HEALPix). */
bool kugel__grid_exact(const kugel_grid *grid, int64_t *lmax, int64_t *mmax);

/* Points on the circle through both poles on which the colatitudes of the grid and their mirrors lie at equal distances; 0
 * for grids without such rings, or whose analysis needs no resampling. */
int64_t kugel__grid_circle(const kugel_grid *grid);

/* Quadrature weights in theta (sum 2) of the equidistant grids, [n] each. */
kugel_status kugel__grid_theta_weights(kugel_ctx *ctx, kugel_grid_kind kind, int64_t n, double *weight);

#endif
