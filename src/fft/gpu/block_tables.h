/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of block kernels, complex doubles (for float kernels the caller rounds them) or, of double-double
 * kernels, four doubles each as fft/roots_dd.h has them, one after the other: twiddles of the stages, chirp,
 * spectrum, and sets of roots of unity. */
#ifndef KUGEL_FFT_GPU_BLOCK_TABLES_H
#define KUGEL_FFT_GPU_BLOCK_TABLES_H

#include "fft/gpu/block.h"
#include "fft/roots/roots.h"

/* Roots e^{2 pi i (first + e step)}, 0 <= e < count. Long sets are kept as a product:
 * table[e % fine] table[fine + e / fine]. */
typedef struct kugel__rootset {
  kugel__turn first, step;
  int64_t count, fine, at;
} kugel__rootset;

enum {
  KUGEL__ROOTS_BIG,    /* e^{-2 pi i e / big} */
  KUGEL__ROOTS_SPLIT,  /* e^{-pi i e / points}: between a packed line and its spectrum */
  KUGEL__ROOTS_SOURCE, /* of cosine and sine kinds, fft/ends.c */
  KUGEL__ROOTS_SINK,
  KUGEL__ROOTSETS
};

/* Where in the table. */
typedef struct kugel__tables {
  int64_t twiddles[KUGEL__BLOCK_STAGES];      /* of stage s > 0: w_{RS}^{jq} at twiddles[s] + row(q) S + j */
  int64_t twiddles_back[KUGEL__BLOCK_STAGES]; /* of kugel__block_back, which may be the same */
  int64_t
      direct; /* of a first radix r that is a large prime: e^{2 pi i (j + 1) (k + 1) / r} at direct + k (r / 2) + j */
  int64_t turns;    /* of a split convolution: e^{-i pi k / m}, k below m over the first radix */
  int64_t chirp;    /* e^{-i pi k^2 / length} */
  int64_t spectrum; /* row r, point k at spectrum + r m + k */
  kugel__rootset roots[KUGEL__ROOTSETS];
  int64_t columns;           /* of a large prime within the block: their tables */
  int64_t hook_in, hook_out; /* factors of elements read and of results */
  int64_t total;             /* complex numbers */
} kugel__tables;

/* Of a butterfly's twiddles w^q, 0 < q < r, the table has those with q < step or q a multiple of it; the
 * others are products of two: from radix 8 up, where their tables would not stay in the first-level
 * cache. Floats of short lines have all, since a product adds to their error, and double-doubles, which
 * compute longer than they load. */
static inline int kugel__twiddle_step(const kugel__block *b, int r)
{
  bool all = b->real == KUGEL__DD || (b->real == KUGEL__F32 && b->m < 2048);
  return all || r < 8 ? 1 : r < 11 ? 3 : r < 20 ? 4 : 5;
}

static inline int64_t kugel__twiddle_row(int q, int step)
{
  return q < step ? q - 1 : step - 1 + q / step - 1;
}

/* Doubles of a number of the tables. */
static inline int64_t kugel__table_width(const kugel__block *b)
{
  return b->real == KUGEL__DD ? 4 : 2;
}

kugel__tables kugel__tables_of(const kugel__block *b);
void kugel__tables_shift(kugel__tables *t, int64_t by); /* twiddles and spectrum */
/* Root e of a set, in a kernel under construction. */
kugel__cval kugel__tables_root(kugel__gen *g, const kugel__rootset *set, kugel__val tables, kugel__val e);

/* t: kugel__tables_of(b).total complex numbers. */
kugel_status kugel__block_fill_tables(const kugel__block *b, kugel_ctx *ctx, double *t);
/* Appends the factors of block.in.hook and block.out.hook, from fft/hooks.h. */
void kugel__block_fill_hooks(const kugel__block *b, const double *in, const double *out, double *t);
/* order: n - 1 logarithms, order[i - 1] = q with g^q = i mod n, of Rader's prime n. */
int64_t kugel__block_order(const kugel__block *b); /* how many */
void kugel__block_fill_order(const kugel__block *b, uint32_t *order);

#endif
