/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the parts of the block kernels' generator: block.c (what fits, the kernel's head and order),
 * block_stages.c (stages and exchanges), block_move.c (from and to memory), block_rader.c, block_split.c,
 * block_prime.c. */
#ifndef KUGEL_FFT_GPU_BLOCK_BUILD_H
#define KUGEL_FFT_GPU_BLOCK_BUILD_H

#include "fft/gpu/banks.h"
#include "fft/gpu/block_tables.h"
#include "fft/roots/dft.h"

enum { KUGEL__BLOCK_POINTS = 49 }; /* of a thread, at most */

/* The kernel being built. */
typedef struct kugel__build {
  const kugel__block *b; /* from the spectrum on, kugel__block_back of it */
  kugel__gen *g;
  kugel__val in, out, tables, order, shared, count, c0, in_at, out_at, in_d0, in_d1, in_step, out_d0, out_d1,
      out_step, scale;
  kugel__val lid, group; /* thread; first transform of the block */
  kugel__val rank;       /* of the block in its cluster */
  kugel__cval x[KUGEL__BLOCK_POINTS];
  kugel__bank_layout layout;
  kugel__tables at; /* in `tables` */
  kugel__block back;
  int part;          /* of a split convolution */
  kugel__cval first; /* with Rader: point 0 of the input */
  kugel__cval zero;  /* with Rader, of the thread that has butterfly 0: point 0 of the result */
} kugel__build;

/* Who a thread is in a stage: t of b->threads in transform `slot` of the block. */
typedef struct kugel__seat {
  kugel__val t, slot;
} kugel__seat;

/* block_shape.c */
/* The product of the radices before a stage, and butterflies of a thread in it. */
int64_t kugel__block_before(const kugel__block *b, int stage);
int kugel__block_rounds(const kugel__block *b, int stage);
/* Whether the factors e^{-2 pi i k r / big} are made of those of k < m / r, and of those of k a
 * multiple of that, which the block keeps in shared memory; r: the last radix. */
bool kugel__block_shares_roots(const kugel__block *b);
/* The two parts of a block with a large prime. */
kugel__block kugel__prime_columns(const kugel__block *b);
kugel__block kugel__prime_rows(const kugel__block *b);
/* Whether real lines come to shared memory as they are, of kinds whose source takes elements with gaps or
 * twice, and whether they are put together there before they are written, of kinds whose sink takes elements
 * two or four apart from neighbouring threads: memory would take one sector each. */
bool kugel__block_staged_in(const kugel__block *b);
bool kugel__block_staged_out(const kugel__block *b);

/* block_shared.c */
/* Reals of shared memory that exchanges between stages take. */
int64_t kugel__block_exchange(const kugel__block *b);
/* Of a split convolution: points of a butterfly of radix r of the first stage, which is the last one back, that belong
 * to the line. */
int kugel__block_taken(const kugel__block *b, int r);
/* Of a block with a large prime: `points` points of each transform of one of its parts. */
kugel__bank_layout kugel__prime_layout(const kugel__block *part, int64_t points);
/* Lines in shared memory: `pitch` reals from one to the next; an element is left out after `pad`, so that
 * threads two or four elements apart meet all banks; 0: there is no room for that. */
typedef struct kugel__shelf {
  int64_t pad, pitch;
} kugel__shelf;
kugel__shelf kugel__shelf_of(const kugel__block *b, const kugel__bank_layout *l);

/* block_split.c: points turned, before the first stage; results parked and joined, after the last one back. */
void kugel__turn_points(kugel__build *k, const kugel__seat *s);
void kugel__build_park(kugel__build *k);
void kugel__build_join(kugel__build *k, const kugel__seat *s);

/* block_prime.c: all of the kernel of a block with a large prime but the head. */
void kugel__prime_build(kugel__build *k);

/* block_stages.c */
/* The transform of a slot. */
kugel__val kugel__transform_of(kugel__build *k, const kugel__seat *s);
/* Of mirrored blocks, number s of the rows up to mirror / 2. */
kugel__val kugel__row_of(kugel__build *k, kugel__val s, kugel__val *line);
/* Which root of unity's powers a transform's results are multiplied by, see kugel__block.big. */
kugel__val kugel__root_of(kugel__build *k, kugel__val transform);
kugel__seat kugel__seat_of(kugel__build *k, bool across);
/* The number of butterfly `round` of a thread; the last round's spare threads repeat the last butterfly. */
kugel__val kugel__butterfly_of(kugel__build *k, const kugel__seat *s, int stage, int round);
/* Points in shared memory. */
kugel__cval kugel__shared_get(kugel__build *k, const kugel__seat *s, kugel__val position);
void kugel__shared_put(kugel__build *k, const kugel__seat *s, kugel__val position, kugel__cval x);
/* Results of `stage` go to shared memory, in natural order; `used`: what was there may still be read. */
void kugel__stage_put(kugel__build *k, int stage, const kugel__seat *s, bool used);
/* Results of `stage` go to shared memory and come back as the inputs of stage `next`. */
void kugel__build_exchange(kugel__build *k, int stage, const kugel__seat *from, int next,
                           const kugel__seat *to, bool used);
/* The factors in shared memory: pair `slot` + group q, of transform `slot` and k = q m / r. */
kugel__cval kugel__shared_root(kugel__build *k, const kugel__seat *s, int q);
/* All stages but the load before the first and the store after the last. */
void kugel__build_stages(kugel__build *k, const kugel__seat *first, const kugel__seat *middle,
                         const kugel__seat *last, bool used);
/* Stages, spectrum and stages back, which k->b is from there on. */
void kugel__there_and_back(kugel__build *k, const kugel__seat *in, const kugel__seat *out, bool used);

/* block_move.c */
/* The line that a transform of the block belongs to, at one end of the kernel: point i of the transform is
 * point first + i stride of the line. */
typedef struct kugel__track {
  kugel__side side;
  kugel__val first, stride;
} kugel__track;

kugel__track kugel__track_of(kugel__build *k, kugel__val transform, bool in);
/* Results of a convolution came back exchanged; those of one pass over a long line take its twiddles. */
kugel__cval kugel__build_finished(kugel__build *k, kugel__val transform, kugel__val i, kugel__val p,
                                  kugel__cval x);
/* Below which points of the transform and of the line there is something to write. */
void kugel__block_limits(const kugel__block *b, int64_t *of_i, int64_t *of_p);
/* What a slot reads; those beyond the last transform repeat it. */
kugel__track kugel__track_in(kugel__build *k, const kugel__seat *s);
void kugel__build_load(kugel__build *k, const kugel__seat *s);
void kugel__load_points(kugel__build *k, const kugel__seat *s, kugel__track t);
void kugel__build_store(kugel__build *k, const kugel__seat *s);
/* The results of a thread, of sinks that take points one by one. */
void kugel__store_points(kugel__build *k, const kugel__seat *s, kugel__track t);
void kugel__load_tile(kugel__build *k, const kugel__seat *s);
void kugel__store_tile(kugel__build *k, const kugel__seat *s);

/* block_staged.c */
void kugel__load_staged(kugel__build *k, const kugel__seat *s);
void kugel__store_staged(kugel__build *k, const kugel__seat *s);

/* block_rader.c */
/* In Rader's order. */
void kugel__load_rader(kugel__build *k, const kugel__seat *s);
void kugel__store_rader(kugel__build *k, const kugel__seat *s);

#endif
