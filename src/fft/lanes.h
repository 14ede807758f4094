/* SPDX-License-Identifier: BSD-3-Clause */
/* Complex DFTs of any length, one in each SIMD lane: data x[n][2][VLEN], real parts then imaginary parts of a
 * point. */
#ifndef KUGEL_FFT_LANES_H
#define KUGEL_FFT_LANES_H

#include "core/base.h"
#include "core/cpu.h"

enum { KUGEL__MAX_STAGES = 64, KUGEL__MAX_RADIX = 61 };

typedef struct kugel__lanes kugel__lanes;
struct kugel__lanes {
  kugel_ctx *ctx;
  int64_t n;
  int stages;
  int radix[KUGEL__MAX_STAGES];
  const double *twiddle[KUGEL__MAX_STAGES]; /* [S][R - 1] re, im: w_{RS}^{jr} */
  double *table;                            /* owns the twiddles */
  /* Bluestein, when n has a prime factor above KUGEL__MAX_RADIX: */
  kugel__lanes *inner;    /* length m >= 2 n - 1 */
  const double *chirp;    /* [n] re, im: e^{-i pi k^2 / n} */
  const double *spectrum; /* [m] re, im of the wrapped conjugate chirp, over m */
};

kugel_status kugel__lanes_create(kugel_ctx *ctx, int64_t n, kugel__lanes **out);
void kugel__lanes_destroy(kugel__lanes *plan);

/* Points of work space that exec needs besides x: n, or 2 m for Bluestein. */
int64_t kugel__lanes_work(const kugel__lanes *plan);

typedef struct kugel__lanes_ops {
  int vlen;
  /* DFT with exponent -1, unnormalised. x is overwritten; the result is where the return value points (x or
   * work). With real and imaginary parts exchanged on both ends it is the inverse. */
  double *(*exec)(const kugel__lanes *plan, double *x, double *work);
} kugel__lanes_ops;

const kugel__lanes_ops *kugel__lanes_ops_now(void);

#endif
