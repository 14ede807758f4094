/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that hold whole transforms in a block of threads: Stockham stages in registers, exchanged through
 * shared memory, one read and one write of global memory.
 *
 * A kernel reads points, transforms them and writes points. The kernel's two ends (fft/gpu/ends.h) define
 * what a point is in the arrays: a complex number, two reals, a pair of a Hermitian line ... A line that is
 * too long for one block goes through several kernels, and a block then holds every `columns`-th point of the
 * line. */
#ifndef KUGEL_FFT_GPU_BLOCK_H
#define KUGEL_FFT_GPU_BLOCK_H

#include "codegen/gen.h"
#include "fft/gpu/ends.h"

enum { KUGEL__BLOCK_STAGES = 16 };

/* How a block transforms n points by the m points of its Stockham stages. */
typedef enum kugel__block_how {
  KUGEL__BLOCK_PLAIN, /* m = n */
  KUGEL__BLOCK_RADER, /* m = n - 1, n a prime: a convolution of the points in the order of a generator's powers */
  KUGEL__BLOCK_BLUESTEIN, /* m >= 2 n - 1: a convolution with a chirp */
  KUGEL__BLOCK_SPLIT,  /* m >= n: Bluestein's convolution of 2 m points as two of m points (block_split.c) */
  KUGEL__BLOCK_PRIME,  /* m = n / prime: a large prime factor by Rader, and the rest (block_prime.c) */
  KUGEL__BLOCK_CLUSTER /* m = n / cluster: several blocks hold one transform */
} kugel__block_how;

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"
/* How a kernel reads its lines from one array, or writes them to the other. */
typedef struct kugel__block_side {
  int64_t
      columns;  /* not 0: point j of transform i is point i mod columns + j columns of line i / columns, which
                      starts at (i / columns) d1 */
  int64_t step; /* not 0: the value of in_step (out_step) at launch */
  kugel__window keep; /* the part of each line that the array holds */
  bool chirp;         /* points are multiplied by the chirp */
  bool across;        /* neighbouring threads access points of neighbouring transforms: for strided lines */
  bool half;          /* the array is of halves; real is F32 */
  bool hook; /* elements are multiplied when read (results when written) by factors in the tables, one per
                         element of the line in that array */
  bool unused[4];
} kugel__block_side;

/* All that the kernel's text depends on. The bytes of this struct are the kernel's key in caches; `unused`
 * fills the padding, so that all bytes are set. */
typedef struct kugel__block {
  kugel__type real; /* F32, F64 or DD */
  kugel__block_how how;
  union {
    /* KUGEL__BLOCK_CLUSTER: number of blocks (CUDA 9.0). Before the last stage each block works on points a + l r, with
     * r the last radix, all l, and a in the block's part of 0 ... r - 1. The last stage reads the shared memory of all
     * blocks of the cluster. */
    int64_t cluster;
    /* KUGEL__BLOCK_PRIME: the prime p of n = p q. The block first does Rader's transforms of p points, side by side, by
     * the radices that follow the first `stages` ones, then transforms of q = m points by the first `stages` radices.
     * `threads` holds for both. */
    int64_t prime;
    int64_t none; /* 0 of all others */
  } of;
  int64_t n; /* points of a transform of the block */
  int64_t m; /* points of the Stockham stages, see kugel__block_how */
  int stages;
  int radix[KUGEL__BLOCK_STAGES];
  int threads;  /* per transform */
  int group;    /* transforms per block; a block has threads x group threads */
  int resident; /* least number of blocks per multiprocessor; 0: no requirement */

  kugel__line line; /* the whole line; line.points = n if a block holds it */
  kugel__end source,
      sink; /* what this kernel reads and writes: the line's ends, or complex numbers between kernels */
  kugel__block_side in, out;
  int64_t c0; /* not 0: the value of c0 at launch */
  /* Not 0: number of transforms (rows) per line. The first half of a block's transforms are rows up to mirror
   * / 2, the second half are the rows mirror - row, so that points k and points - k of the line are in one
   * block. */
  int64_t mirror;
  /* Not 0: result k of transform j is multiplied by e^{-2 pi i k r / big}, with r = j mod c0; if there is a
   * spectrum, r = j mod its rows; with big_outer, r = j / c0. */
  int64_t big;
  /* Convolutions: Rader's and Bluestein's within this kernel, or one of Bluestein's over three kernels, each PLAIN. */
  int64_t
      chirp; /* not 0: length of the chirp, the line's or, of BLUESTEIN and SPLIT, that of the block's transform */
  int64_t spectrum; /* not 0: the results are multiplied by a spectrum of so many rows and transformed back;
                       transform i uses row i mod spectrum; of SPLIT 2: the even points and the odd ones */
  bool halves;      /* exchanges move first real, then imaginary parts, in half the shared memory */
  bool flat;        /* true: transform i starts at i d0; false: at (i mod c0) d0 + (i / c0) d1 */
  uint8_t modulus;  /* kugel_fft_modulus: what the sink writes for complex numbers */
  bool big_outer;
  bool stream;    /* results are evicted from the caches first: for arrays transformed in place */
  bool constants; /* the compiler may load from the tables early */
  bool unused[2];
} kugel__block;
#pragma GCC diagnostic pop

/* Whether points go in the order of a generator's powers, which the kernel then has as a parameter. */
static inline bool kugel__block_ordered(const kugel__block *b)
{
  return b->how == KUGEL__BLOCK_RADER || b->how == KUGEL__BLOCK_PRIME;
}

/* Blocks that hold one transform together. */
static inline int64_t kugel__block_cluster_size(const kugel__block *b)
{
  return b->how == KUGEL__BLOCK_CLUSTER ? b->of.cluster : 1;
}

/* Parameters of the kernel, in this order: in, out, tables (complex), with Rader also order (u32), the latter
 * two from fft/gpu/block_tables.h; then i64 count, c0, in_at, out_at, in_d0, in_d1, in_step, out_d0, out_d1,
 * out_step in elements of the arrays; then the factor of the results, a real. Name: fft_block. */

/* Chooses radices, threads and group for transforms of n complex points in contiguous lines; false if one
 * block cannot hold a transform. shared: bytes of shared memory that a block may use. */
bool kugel__block_fit(int64_t n, kugel__type real, uint64_t shared, kugel__block *out);

/* The same with a large prime within the block, if that is known to be fast; for contiguous lines and complex
 * ends. */
bool kugel__block_fit_prime(int64_t n, kugel__type real, uint64_t shared, kugel__block *out);
/* The same by a split Bluestein convolution, for lines that are otherwise too long for a block. */
bool kugel__block_fit_split(int64_t n, kugel__type real, uint64_t shared, kugel__block *out);
/* The block that does n points by stages of m points, without radices, threads and group: plain (m = n),
 * Rader (n - 1), Bluestein (2 n - 1 and more), or split Bluestein. */
kugel__block kugel__block_by(int64_t n, int64_t m, kugel__type real);
bool kugel__block_fit_as(int64_t n, int64_t m, kugel__type real, uint64_t shared, kugel__block *out);

/* Sets the radices from a list: the radices of the stages, then optionally a large prime and the radices of
 * its transforms. */
void kugel__block_take(kugel__block *b, const int *radix, int count);

/* Alternative stages, threads and groups for a block: at most `room`, the ones expected to be fastest first.
 * */
int kugel__block_others(const kugel__block *b, uint64_t shared, int room, kugel__block *list);

/* Chooses again for a block that fits, if its lines are strided in the array that it writes and, if `in`, in
 * the array that it reads. */
void kugel__block_across(kugel__block *b, bool in, uint64_t shared);

/* Chooses a cluster of blocks for one transform; false if none is known to be fast. */
bool kugel__block_cluster(int64_t n, kugel__type real, uint64_t shared, kugel__block *out);

void kugel__block_build(const kugel__block *b, kugel_ctx *ctx, kugel__gen *g);

/* Builds a kernel of the same parameters that converts `count` pairs of points k and points - k of lines in
 * work memory to the sink's elements; `threads` threads per block, one pair per thread. d1 is the distance
 * between lines. */
void kugel__finish_build(const kugel__block *b, kugel_ctx *ctx, kugel__gen *g);

/* The block by which a convolution transforms back: with reversed radices, so that the results of the last
 * stage that a thread holds are the inputs of its first stage back. Without a convolution, the block itself.
 * */
kugel__block kugel__block_back(const kugel__block *b);

/* Whether small transforms, one per thread, go through shared memory, because neighbouring threads would
 * access distant points. */
bool kugel__block_tiled(const kugel__block *b);

int64_t kugel__block_shared(const kugel__block *b); /* reals of shared memory */

#endif
