/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that hold whole transforms in a block of threads: Stockham stages in registers, exchanged through
 * shared memory, one read and one write of global memory.
 *
 * A kernel reads points, transforms them and writes points. What a point is in the arrays (a complex number,
 * two reals, a pair of a Hermitian line ...) is the business of its two ends (fft/ends.h). A line too long
 * for a block goes through several kernels; a block then holds every `columns`-th point of it. */
#ifndef KUGEL_FFT_BLOCK_H
#define KUGEL_FFT_BLOCK_H

#include "codegen/gen.h"
#include "fft/ends.h"

enum { KUGEL__BLOCK_STAGES = 16 };

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
/* What the kernel's text depends on. Its bytes name the kernel in caches: `unused` leaves none unset. */
typedef struct kugel__block {
  kugel__type real; /* F32, F64 or DD */
  int stages;
  int64_t n; /* points of a transform of the block */
  int64_t m; /* points of the Stockham stages: n, at least 2 n - 1 for Bluestein's convolution, at least n for
                a split one, n - 1 for Rader's */
  int radix[KUGEL__BLOCK_STAGES];
  int threads; /* of a transform */
  int group;   /* transforms of a block of threads x group */

  kugel__line line;        /* the whole line; line.points = n if a block holds it */
  kugel__end source, sink; /* what is read and written here: the line's, or complex numbers between kernels */
  int64_t columns_in, columns_out; /* not 0: point j of transform i is point i mod columns + j columns of line
                                      i / columns, which starts at (i / columns) d1 */
  kugel__window keep_in, keep_out; /* what the arrays hold of lines */
  int64_t step_in, step_out, c0;   /* not 0: what in_step, out_step and c0 will be at launch */
  /* Above 1: a transform is spread over that many blocks, a cluster (CUDA 9.0). m = n / cluster points are in
   * a block's stages before the last one: points a + l r, with r the last radix, l any, and a in the block's
   * part of 0 ... r - 1. The last stage reads the shared memory of all of them. */
  int64_t cluster;
  /* Not 0: a line has that many transforms. The first half of a block's are rows up to mirror / 2, the others
   * are rows mirror - row: points k and points - k of the line are in one block. */
  int64_t mirror;
  /* Not 0: n = prime q; Rader's transforms of `prime` points by the radices after the first `stages`, side by
   * side, then others of q = m points by those (block_prime.c). `threads` are of both. */
  int64_t prime;
  int64_t big; /* not 0: results k of transform i are multiplied by e^{-2 pi i k r / big}, r = i mod c0; with
                  rows of a spectrum i mod these, with big_outer i / c0 */
  /* Bluestein's convolution, within this kernel (m != n) or over three of them. */
  int64_t chirp;    /* not 0: its length, that of the line or of the block's transform */
  int64_t spectrum; /* not 0: the results are multiplied by a spectrum and transformed back: the number of
                       rows of the spectrum, transform i takes row i mod that */
  bool chirp_in, chirp_out;
  bool rader;  /* Rader's convolution of a prime n, points in the order of powers of a generator */
  bool halves; /* exchanges move real parts, then imaginary parts: half the shared memory */
  bool across_in, across_out; /* neighbouring threads take neighbouring transforms when they load, store: for
                                 strided lines */
  bool flat;                  /* transform i starts at i d0; otherwise at (i mod c0) d0 + (i / c0) d1 */
  bool half_in, half_out;     /* arrays that are read, written are of halves; real is F32 */
  bool hook_in, hook_out; /* elements are multiplied as they are read, results as they are written, by factors
                             in the tables: one for each element of the line's side */
  uint8_t modulus;        /* kugel_fft_modulus: what the sink writes of complex numbers */
  bool big_outer;
  bool stream;      /* results leave the caches first: for arrays that are written where they were read */
  bool constants;   /* the compiler may load from the tables early */
  uint8_t resident; /* blocks that a multiprocessor is to hold at least; 0: none in particular */
  /* Bluestein's convolution of 2 m points, m at least n, as two of m: the sums of points k and k + m, and
   * the differences times e^{-i pi k / m}. spectrum = 2 rows, of the even and of the odd points. */
  bool split;
  bool unused[7];
} kugel__block;
#pragma GCC diagnostic pop

/* Parameters of the kernel, in this order: in, out, tables (complex), with Rader order (u32), both of
 * fft/blocktables.h; then i64 count, c0,
 * in_at, out_at, in_d0, in_d1, in_step, out_d0, out_d1, out_step in elements of the arrays, and the factor of
 * the results, a real. Name: fft_block. */

/* Chooses radices, threads and group for transforms of n complex points that lie one after the other; false
 * if no single block can hold one. shared: bytes that a block may have. */
bool kugel__block_fit(int64_t n, kugel__type real, uint64_t shared, kugel__block *out);

/* Points m of the stages by which n are transformed, as the first choice is: n, for a prime n - 1, or more.
 */
int64_t kugel__block_points(int64_t n);
/* With a large prime within the block, if that is known to be fast; for lines in order and complex ends. */
bool kugel__block_fit_prime(int64_t n, kugel__type real, uint64_t shared, kugel__block *out);
/* By Bluestein's convolution, split: for what is too long for a block otherwise. */
bool kugel__block_fit_split(int64_t n, kugel__type real, uint64_t shared, kugel__block *out);
/* How it is done on m points, without radices, threads and group: as it is (n), by Rader (n - 1), Bluestein
 * (2 n - 1 and more), or Bluestein split. */
kugel__block kugel__block_by(int64_t n, int64_t m, kugel__type real);
bool kugel__block_fit_as(int64_t n, int64_t m, kugel__type real, uint64_t shared, kugel__block *out);

/* Radices as lists have them: those of the stages, then maybe a large prime and those of its transforms. */
void kugel__block_take(kugel__block *b, const int *radix, int count);

/* Other stages, threads and groups for a block: at most `room`, those expected to be faster first. */
int kugel__block_others(const kugel__block *b, uint64_t shared, int room, kugel__block *list);

/* The same anew for a block that fits, whose lines lie across memory where they are written, and where they
 * are read if `in`. */
void kugel__block_across(kugel__block *b, bool in, uint64_t shared);

/* A transform that a cluster of blocks holds; false if none is known to be fast. */
bool kugel__block_cluster(int64_t n, kugel__type real, uint64_t shared, kugel__block *out);

void kugel__block_build(const kugel__block *b, kugel_ctx *ctx, kugel__gen *g);

/* A kernel of the same parameters that turns `count` pairs of points k and points - k of lines in work memory
 * into what the sink takes; `threads` a block, a pair each. d1 is the distance of lines. */
void kugel__finish_build(const kugel__block *b, kugel_ctx *ctx, kugel__gen *g);

/* How a convolution's block transforms back: radices in reverse, so that what a thread has of the results of
 * the last stage is what it needs for the first stage back. Otherwise the block itself. */
kugel__block kugel__block_back(const kugel__block *b);

/* Small transforms, a thread each, whose points would lie far from its neighbours': through shared memory. */
bool kugel__block_tiled(const kugel__block *b);

/* Blocks that a multiprocessor holds of a kernel with that many registers a thread. */
int64_t kugel__block_resident(const kugel__block *b, int registers);
int64_t kugel__block_shared(const kugel__block *b); /* reals of shared memory */

#endif
