/* SPDX-License-Identifier: BSD-3-Clause */
/* Complex DFTs of any length, one in each SIMD lane: data x[n][2][VLEN], real parts then imaginary parts of a
 * point. Stockham stages of generated codelets (fft/codelets.gen.c) for radices to 16, symmetric sums for
 * primes to 61, Rader's convolution of length p - 1 for larger ones, and Bluestein's for the whole length
 * where that is cheaper. */
#ifndef KUGEL_FFT_CPU_LANES_H
#define KUGEL_FFT_CPU_LANES_H

#include "core/base.h"
#include "core/cpu.h"

enum {
  KUGEL__MAX_STAGES = 64,
  KUGEL__MAX_RADIX = 23, /* largest prime with a codelet */
  KUGEL__GAP =
      8 /* points between x and its copy: apart in address bits 0 to 11, loads never wait for stores */
};

typedef struct kugel__lanes kugel__lanes;

typedef struct kugel__stage {
  int64_t radix;
  const double *twiddle; /* [S][radix - 1] re, im: w_{RS}^{jr}, S = product of the radices before */
  /* Rader, where radix is a prime above KUGEL__MAX_RADIX; g a generator of its multiplicative group: */
  kugel__lanes *inner;    /* length radix - 1 */
  const int64_t *powers;  /* [radix - 1]: g^q mod radix */
  const double *spectrum; /* [radix - 1] re, im: DFT of w^(g^-q), over radix - 1 */
} kugel__stage;

struct kugel__lanes {
  kugel_ctx *ctx;
  int64_t n, work; /* work: points that exec needs besides x */
  int stages;
  kugel__stage stage[KUGEL__MAX_STAGES];
  double *table; /* owns twiddles, chirp and spectrum */
  /* Bluestein, if not NULL: */
  kugel__lanes *inner;    /* length m >= 2 n - 1 */
  const double *chirp;    /* [n] re, im: e^{-i pi k^2 / n} */
  const double *spectrum; /* [m] re, im of the wrapped conjugate chirp, over m */
};

kugel_status kugel__lanes_create(kugel_ctx *ctx, int64_t n, kugel__lanes **out);
void kugel__lanes_destroy(kugel__lanes *plan);

/* Points of work space that exec needs besides x. */
int64_t kugel__lanes_work(const kugel__lanes *plan);
/* The same of a plan for n points that is not made yet, and about the bytes that one holds. */
int64_t kugel__lanes_work_of(int64_t n);
int64_t kugel__lanes_bytes_of(int64_t n);

typedef struct kugel__lanes_ops {
  int vlen;
  /* DFT with exponent -1, unnormalised. x is overwritten; the result is where the return value points (x or
   * work). With real and imaginary parts exchanged on both ends it is the inverse. */
  double *(*exec)(const kugel__lanes *plan, double *x, double *work);
  /* Stages begin ... end - 1 of a plan without Bluestein's convolution, from x to y (KUGEL__GAP points apart,
   * or more) or back: returns where their result is. `work`: what Rader's convolutions need. */
  double *(*stages)(const kugel__lanes *plan, int begin, int end, double *x, double *y, double *work);
} kugel__lanes_ops;

const kugel__lanes_ops *kugel__lanes_ops_now(void);

#endif
