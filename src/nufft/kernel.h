/* SPDX-License-Identifier: BSD-3-Clause */
/* The prolate kernel phi(z) = psi(z) / psi(0), |z| <= 1: psi is the band-limited function of shape c that is most
 * concentrated in [-1, 1] (Slepian & Pollak 1961). It is its own Fourier transform up to a factor, so that one
 * expansion in Legendre polynomials gives both. */
#ifndef KUGEL_NUFFT_KERNEL_H
#define KUGEL_NUFFT_KERNEL_H

#include "core/base.h"

enum { KUGEL__NUFFT_WIDTH = 16, KUGEL__NUFFT_DEGREE = 20, KUGEL__NUFFT_TERMS = 64 };

/* A kernel `width` cells wide for a fine grid of `upsampling` points per mode. A point at p (in cells) reaches the
 * nodes ceil(p - width / 2) + j, 0 <= j < width, with the weights
 *   phi((t + 1 + 2 j) / width - 1) = sum_k piece[k][j] t^k,   t = 2 (ceil(p - width / 2) - p) + width - 1 in [-1, 1) */
typedef struct kugel__nufft_kernel {
  int width, degree;
  double upsampling;
  double error;       /* expected relative l2 error of a transform in one dimension, without rounding */
  double slope_error; /* that of its derivatives by the points */
  double
      gain; /* rms over the modes of phihat(0) / phihat(k): by how much the division by phihat enlarges errors of the
                   fine grid */
  long double shape, integral;            /* c, and that of phi over [-1, 1] */
  long double series[KUGEL__NUFFT_TERMS]; /* phi(z) = sum_i series[i] P_2i(z) */
  double piece[KUGEL__NUFFT_DEGREE + 1][KUGEL__NUFFT_WIDTH];
} kugel__nufft_kernel;

/* Width and upsampling as given; 2 <= width <= KUGEL__NUFFT_WIDTH. */
kugel_status kugel__nufft_kernel_make(kugel_ctx *ctx, int width, double upsampling, kugel__nufft_kernel *out);
/* Coefficients of the weights' polynomials, which kernel_make leaves out. `more` degrees than values need, for derivatives. */
void kugel__nufft_kernel_pieces(kugel__nufft_kernel *k, int more);
/* Fourier integral of the kernel in cells, (width / 2) int phi(z) cos(pi width f z) dz, at |f| <= 1 / (2 upsampling)
 * cycles per cell. */
double kugel__nufft_transform(const kugel__nufft_kernel *k, double f);

/* log(1 / phihat) over the band as a Chebyshev series in 2 (f / edge)^2 - 1: for many frequencies. The logarithm keeps the
 * relative error of 1 / phihat at 1e-15, although that grows by orders of magnitude towards the edge. */
typedef struct kugel__nufft_decay {
  double edge, term[40];
  int terms;
} kugel__nufft_decay;
void kugel__nufft_decay_make(const kugel__nufft_kernel *k, kugel__nufft_decay *out);
double kugel__nufft_decay_at(const kugel__nufft_decay *v, double f);

/* sum[i] += log(1 / phihat(f[i])) */
typedef struct kugel__nufft_decay_ops {
  void (*add)(const kugel__nufft_decay *v, int64_t n, const double *f, double *sum);
} kugel__nufft_decay_ops;

#endif
