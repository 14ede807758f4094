/* SPDX-License-Identifier: BSD-3-Clause */
/* Routines of level 1 that move numbers between device memory, where the lanes of a warp take neighbours, and
 * registers, where a thread holds a run of them: through a tile of shared memory that is the warp's own.
 *
 * A tile holds `units` units of 1 or 2 reals. Positions are padded by a unit after every `period` units. */
#ifndef KUGEL_CODEGEN_TILE_H
#define KUGEL_CODEGEN_TILE_H

#include "codegen/gen.h"

typedef struct kugel__tile {
  kugel__gen *g;
  int unit;          /* reals of a unit: 1, or 2, and then the array in device memory is one of pairs */
  int units, period; /* units: of all lanes together, a multiple of 32; period: 0 or a power of two */
  kugel__val lane;   /* U32 */
  kugel__val shared; /* array of reals */
  kugel__val base;   /* of this warp's tile in `shared`, in units */
} kugel__tile;

/* Units of shared memory that a tile takes. */
int64_t kugel__tile_size(const kugel__tile *t);
/* The period of 0, 4 ... 32 with the fewest bank conflicts, for units of `bytes` bytes, `units` of them in a
 * tile, where lane i takes its units one by one from start[i] on, as units / 32 accesses. */
int kugel__tile_period(int64_t bytes, int units, const int64_t start[32]);

/* Row k of the tile, the lane's unit of number lane + 32 k: asynchronously from the array's unit `from`, or
 * to its unit `to`. Commit and wait are the caller's. */
void kugel__tile_fetch_row(const kugel__tile *t, int k, kugel__val array, kugel__val from);
void kugel__tile_store_row(const kugel__tile *t, int k, kugel__val array, kugel__val to);

/* Asynchronously: units first, first + 1 ... (I64) of the array, not beyond first + last (U32), whose unit
 * comes again for what is beyond. */
void kugel__tile_fetch(const kugel__tile *t, kugel__val array, kugel__val first, kugel__val last);
/* Unit `at` of the tile to x[0 .. unit - 1], or from there. */
void kugel__tile_take(const kugel__tile *t, kugel__val at, kugel__val *x);
void kugel__tile_put(const kugel__tile *t, kugel__val at, const kugel__val *x);
/* The tile's first `count` units to the array, from unit `first` on. */
void kugel__tile_store(const kugel__tile *t, kugel__val array, kugel__val first, kugel__val count);

#endif
