/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial kernels as piecewise polynomials, and sums over pairs of pixels. */
#ifndef KUGEL_SPHERE_RADIAL_H
#define KUGEL_SPHERE_RADIAL_H

#include "core/base.h"
#include <kugel/radial.h>

enum { KUGEL__RADIAL_LANES = 8 }; /* copies of a ring's period that share weights */

/* K on [0, cut]: with u = x or sqrt(x), x = 2 - 2 cos(angle) the squared chord, interval i = floor(u scale),
 * t = u scale - i, K = sum_k coef[k * intervals + i] t^k; 0 where x > cut. */
typedef struct kugel__radial_poly {
  int64_t intervals, degree;
  int chord; /* 1: u = sqrt(x) */
  double cut, scale;
  double *coef;
} kugel__radial_poly;

typedef struct kugel__radial_ops {
  /* x[k] = a + b sin^2(h / 2), h = h0 + k step, for k in [0, n); writes up to a vector more. */
  void (*keys)(double a, double b, double h0, double step, int64_t n, double *x);
  /* x -> K(x) in place, n rounded up to whole vectors. */
  void (*values)(const kugel__radial_poly *poly, int64_t n, double *x);
  /* acc[8] += sum_k w[k] f[k][8] */
  void (*lanes)(const double *w, const double *f, int64_t n, double *acc);
  /* out[i] += sum_k w[k] f[i + k], i in [0, n) */
  void (*stencil)(const double *w, int64_t width, const double *f, int64_t n, double *out);
} kugel__radial_ops;

const kugel__radial_ops *kugel__radial_ops_now(void);

typedef struct kugel__radial_spline {
  int64_t n;
  double *angle, *value, *second; /* [n] */
} kugel__radial_spline;

/* A ring in order of colatitude. */
typedef struct kugel__radial_ring {
  double theta, sth, phi0, weight;
  int64_t nphi, first;
  int64_t lo, hi; /* rings [lo, hi) are within the cut-off */
  int64_t reach;  /* most pixels on one side that any output ring needs of this one */
  int64_t slot;   /* offset of its lanes in the scratch memory, -1: none */
  int64_t row;    /* offset of its padded row, -1: none */
  bool same;      /* all rings within the cut-off have as many pixels */
} kugel__radial_ring;

struct kugel_radial {
  kugel_ctx *ctx;
  kugel_grid *grid;
  kugel_radial_opts opts;
  kugel_radial_info info;
  kugel__radial_spline spline;
  double *series;
  double norm;
  kugel__radial_poly poly;
  int64_t nrings, periods, mirrored; /* periods: 4 or 1 copies along a ring; mirrored: 1 if north = south */
  kugel__radial_ring *ring;
  int64_t scratch; /* doubles for lanes and rows of one map */
  int64_t work;    /* doubles a thread needs */
  kugel_sht *sht;
  double *b; /* [lmax + 1], harmonic */
};

/* Fills info, norm and poly from opts. */
kugel_status kugel__radial_kernel_create(kugel_radial *p);
void kugel__radial_kernel_destroy(kugel_radial *p);
double kugel__radial_kernel_at(const kugel_radial *p, double angle); /* normalised, not cut */

/* Rings, reach and memory of the direct sum. */
kugel_status kugel__radial_direct_create(kugel_radial *p);
/* map = sum_j K(angle_ij) map_j, in place. */
kugel_status kugel__radial_direct(const kugel_radial *p, double *map);

#endif
