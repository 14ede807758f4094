/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that hold whole transforms in a block of threads: Stockham stages in registers, exchanged through
 * shared memory, one read and one write of global memory. */
#ifndef KUGEL_FFT_BLOCK_H
#define KUGEL_FFT_BLOCK_H

#include "codegen/gen.h"

enum { KUGEL__BLOCK_STAGES = 16 };

/* What the kernel's text depends on. */
typedef struct kugel__block {
  kugel__type real; /* F32 or F64 */
  int64_t n;        /* points of a transform */
  int64_t m;        /* points of the Stockham stages: n, or at least 2 n - 1 for Bluestein's convolution */
  int stages;
  int radix[KUGEL__BLOCK_STAGES];
  int threads;                /* of a transform */
  int group;                  /* transforms of a block of threads x group */
  bool inverse;               /* exponent +: real and imaginary parts exchanged on both ends */
  bool across_in, across_out; /* neighbouring threads take neighbouring transforms when they load, store: for
                                 strided lines */
  bool flat;                  /* transform i starts at i d0; otherwise at (i mod c0) d0 + (i / c0) d1 */
  int64_t fine; /* not 0: results k of transform i are multiplied by w^(k (i mod c0)), w^e = roots[e % fine]
                   times roots[fine + e / fine] */
} kugel__block;

/* Parameters of the kernel, in this order: in, out (complex), tables (complex: twiddles of the stages, then
 * with Bluestein the chirp[m], 0 beyond n, and the spectrum[m]), roots if fine; then i64 count, c0, in_at,
 * out_at, in_d0, in_d1, in_step, out_d0, out_d1, out_step in elements, and the factor of the results, a real.
 * Name: fft_block. */

/* Chooses radices, threads and group for transforms of n points; false if no single block can hold one.
 * shared: bytes that a block may have. */
bool kugel__block_fit(int64_t n, kugel__type real, uint64_t shared, kugel__block *out);

void kugel__block_build(const kugel__block *b, kugel_ctx *ctx, kugel__gen *g);

int64_t kugel__block_shared(const kugel__block *b); /* reals of shared memory */
int64_t kugel__block_tables(const kugel__block *b); /* complex numbers of `tables` */
/* Stage s, s > 0, twiddle w_{RS}^{jr} at offset + (r - 1) S + j. */
int64_t kugel__block_twiddles(const kugel__block *b, int stage);

#endif
