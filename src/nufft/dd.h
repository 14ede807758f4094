/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-uniform transforms in double-double on the CPU: the steps of nufft/plan.h with a Kaiser-Bessel kernel, whose
 * transform is a closed form, without tiles. Points are sorted by their first row of the fine grid. A slab of rows is one
 * thread's work, which goes through the points that reach it in their order: each cell is summed in one order for any number
 * of threads and slabs. Complex numbers are re, im high, re, im low, as in the FFT's arrays. */
#ifndef KUGEL_NUFFT_DD_H
#define KUGEL_NUFFT_DD_H

#include "core/dd.h"
#include "nufft/plan.h"

enum {
  KUGEL__NUFFT_DD_WIDTH = 40,
  KUGEL__NUFFT_DD_DEGREE = 44,
  KUGEL__NUFFT_DD_NODES = KUGEL__NUFFT_DD_DEGREE + 1
};

struct kugel__nufft_dd {
  int width, degree;
  /* Weights of the nodes as in nufft/kernel.h, [degree + 1][high and low][DD_WIDTH] */
  double piece[KUGEL__NUFFT_DD_DEGREE + 1][2][KUGEL__NUFFT_DD_WIDTH];
  double period[3][3]; /* of each axis, a sum of three; 0: coordinates lie in the grid */
  kugel__dd cells[3], *scale[3], *all_scales; /* fine / period; 1 / phihat, [n] */
  kugel_fft *fft;
};

/* First node along each axis; t of kernel.h. */
typedef struct kugel__nufft_dd_point {
  int32_t source, node[3];
  kugel__dd t[3];
} kugel__nufft_dd_point;

struct kugel__nufft_dd_points {
  int64_t *start; /* of the points whose first node is in each row of axis 0, [fine[0] + 1] */
  kugel__nufft_dd_point *point;
};

/* A kernel of squared shape b2: phi(z) = I0(sqrt(b2 (1 - z^2))) / I0(sqrt(b2)). */
double kugel__nufft_dd_shape(int width, double upsampling);
/* As error and gain of kugel__nufft_kernel, for n modes. */
void kugel__nufft_dd_expect(int width, double upsampling, int64_t n, double *error, double *gain);
/* d->width and what depends on it, of a kernel's width, upsampling, error, gain. */
void kugel__nufft_dd_pieces(const kugel__nufft_kernel *k, struct kugel__nufft_dd *d);
/* 1 / phihat over the band as a Chebyshev series in 2 (f / edge)^2 - 1, edge = 1 / (2 upsampling). */
typedef struct kugel__nufft_dd_scale {
  int degree;
  double upsampling;
  kugel__dd term[KUGEL__NUFFT_DD_NODES];
} kugel__nufft_dd_scale;
void kugel__nufft_dd_scale_make(const kugel__nufft_kernel *k, kugel__nufft_dd_scale *out);
kugel__dd kugel__nufft_dd_scale_at(const kugel__nufft_dd_scale *s, kugel__dd f); /* f / edge */

/* Of a plan with what its options say; frees nothing. */
kugel_status kugel__nufft_dd_make(kugel_nufft *p, const kugel_nufft_opts *o);
void kugel__nufft_dd_destroy(kugel_nufft *p);
/* p->kernel: the narrowest whose error in p->ndim dimensions is below the tolerance, for `fewest` modes on an axis. */
kugel_status kugel__nufft_dd_narrowest(kugel_nufft *p, double tolerance, double upsampling, int64_t fewest);
/* Plans that are parts of one of type 3: modes n in the order of FFTs to frequencies, and points to a grid without FFT, of so many
 * cells per unit. Both leave *out to be destroyed when they fail. */
kugel_status kugel__nufft_dd_inner(const kugel_nufft *of, const int64_t *n, double tolerance,
                                   double upsampling, const double *period, kugel_nufft **out);
kugel_status kugel__nufft_dd_outer(const kugel_nufft *of, const kugel__nufft_kernel *kernel,
                                   const int64_t *fine, const kugel__dd *cells, kugel_nufft **out);
/* [M, ndim] of floats or doubles, or with double-doubles' axis of 2 behind. */
kugel_status kugel__nufft_dd_points(kugel_nufft_points *p, const kugel_array *points);
void kugel__nufft_dd_points_destroy(kugel_nufft_points *p);
/* One vector; strides in complex numbers. */
kugel_status kugel__nufft_dd_run(const kugel_nufft_points *p, bool to_modes, int sign, const void *in,
                                 const int64_t *in_stride, void *out, const int64_t *out_stride, void *grid);
/* Between strengths or values and the grid, zero before, alone. */
kugel_status kugel__nufft_dd_spread(const kugel_nufft_points *p, const void *strengths, int64_t stride,
                                    void *grid);
kugel_status kugel__nufft_dd_interpolate(const kugel_nufft_points *p, void *grid, void *values,
                                         int64_t stride);

typedef struct kugel__nufft_dd_ops {
  /* w[high and low][DD_WIDTH] at t. */
  void (*weights)(const struct kugel__nufft_dd *d, kugel__dd t, double (*w)[KUGEL__NUFFT_DD_WIDTH]);
  /* to[i] += q from[i], i < n, complex. */
  void (*add)(int64_t n, kugel__dd q, const double *from, double *to);
} kugel__nufft_dd_ops;

#endif
