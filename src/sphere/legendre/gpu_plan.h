/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan behind kugel__leg_gpu. */
#ifndef KUGEL_SPHERE_LEGENDRE_GPU_PLAN_H
#define KUGEL_SPHERE_LEGENDRE_GPU_PLAN_H

#include "codegen/module.h"
#include "sphere/legendre/gpu.h"
#include "sphere/legendre/plan.h"

enum { KUGEL__LEG_GPU_WARP = 32, KUGEL__LEG_GPU_MODULES = 6 };

/* Kernels of legendre.cl, series.cl and recurrence.cl. */
enum {
  KUGEL__LEG_GPU_SYNTH,
  KUGEL__LEG_GPU_ADJOINT,
  KUGEL__LEG_GPU_STARTS,
  KUGEL__LEG_GPU_TO_SERIES,
  KUGEL__LEG_GPU_FROM_SERIES,
  KUGEL__LEG_GPU_RECURRENCES,
  KUGEL__LEG_GPU_KERNELS
};

/* Ring pairs that kernels/polar.cl computes, with the functions of one spin: the pairs near the poles, or the
 * pairs that use Wigner's d. */
typedef struct kugel__polar_part {
  bool used, gradient, wigner;
  int32_t first, count, room; // pairs; room: count rounded up to whole warps
  int32_t orders, steps;      // extents of the tables
  int spin, set, from;        // set: first component of leg; from: first alm set
  kugel__mem rec, start, pairs;
  kugel__kernel *synth, *adjoint;
} kugel__polar_part;

/* Batches in single precision: kernels/legendre_f16.cl computes pairs [begin, end). The pairs BEFORE them,
 * towards the poles (none for scalars), and the pairs AFTER them, about the equator, are computed as in
 * double precision; their sizes are in rest[BEFORE] and rest[AFTER]. Arrays of extent WAYS have one entry for
 * synthesis and one for the adjoint. */
enum { KUGEL__BEFORE, KUGEL__AFTER, KUGEL__RESTS };
enum { KUGEL__LEG_SYNTH, KUGEL__LEG_ADJOINT, KUGEL__LEG_WAYS };
typedef struct kugel__leg_halves {
  bool used;
  int strips[KUGEL__LEG_WAYS], warps[KUGEL__LEG_WAYS];
  int32_t begin, end, begin_strip, end_strip;                          // *_strip: indices into starts
  int32_t pole_tiles[KUGEL__LEG_WAYS], tiles[KUGEL__LEG_WAYS], groups; // groups: for the adjoint
  kugel__leg_gpu_tuning rest_tuning;
  struct {
    int32_t tiles[KUGEL__LEG_WAYS], groups;
  } rest[KUGEL__RESTS];
  kugel__module *modules[2]; // for halves; for the adjoint of the rest
  kugel__kernel *split, *synth, *adjoint, *rest_adjoint;
} kugel__leg_halves;

struct kugel__leg_gpu {
  kugel_ctx *ctx;
  kugel__device *device;
  const kugel__leg *leg;
  const kugel__leg_gpu *lender; // plan that owns coef, offsets and mfac; NULL: this plan owns them
  int64_t divide;               // the given value of middle; -1: it is chosen
  int ns, maps;                 // series of all maps; maps of a batch
  int32_t rank, size;           // over ranks, the orders of one; size 0: all orders
  int32_t orders;               // whose places in the tables are called slots
  kugel__leg_gpu_tuning tuning;
  int32_t top, row, stride, middle;                    // pairs [npolar, middle) use the recurrence in sin^2
  int32_t tiles[2], pole_tiles[2];                     // for synthesis, for the adjoint
  int32_t groups;                                      // of tiles, in the adjoint
  int32_t strips, pole_strips;                         // of 32 pairs
  int64_t *offset;                                     // [orders + 1] steps before a slot's order
  int64_t sums;                                        // most bytes of partial sums of a room
  int rooms;                                           // for them: two where orders go in chunks
  int32_t begin;                                       // the first pair that is computed by series
  int32_t polar_orders;                                // slots to which polar pairs contribute
  kugel__mem coef, offsets, mfac, pairs, mlim, starts; // starts[orders][strips]
  kugel__polar_part polar[2];
  kugel__leg_halves halves;
  kugel__module *modules[KUGEL__LEG_GPU_MODULES];
  kugel__kernel *kernels[KUGEL__LEG_GPU_KERNELS];
  kugel_queue *side[2]; // polar pairs run concurrently with all others: few threads, long dependency chains
  kugel_queue *turn, *ends; // with two rooms: of every second chunk; of the sums over groups of all chunks
};

/* The order of a slot. */
static inline int64_t kugel__leg_gpu_order_of(const kugel__leg_gpu *p, int64_t slot)
{
  return p->size ? kugel__leg_dealt(slot, p->rank, p->size) : slot;
}

/* Slots whose orders are less than `orders`. */
static inline int32_t kugel__leg_gpu_slots(const kugel__leg_gpu *p, int64_t orders)
{
  return (int32_t)(p->size ? kugel__leg_dealt_below(orders, p->rank, p->size) : orders);
}

/* The spin of a mode's functions other than values; 0: the mode has values only. */
static inline int kugel__leg_gpu_spin(const kugel__leg *leg)
{
  return leg->mode == KUGEL__LEG_SCALAR ? 0
         : leg->mode == KUGEL__LEG_SPIN ? leg->spin
         : leg->mode == KUGEL__LEG_TEB  ? 2
                                        : 1;
}

/* Steps that a block of to_series computes, and rows of steps that a block of from_series reads, `halo` of
 * which belong to neighbouring blocks: as in kernels/series.cl. */
typedef struct kugel__leg_gpu_rows {
  int steps, rows, halo;
} kugel__leg_gpu_rows;
static inline kugel__leg_gpu_rows kugel__leg_gpu_series(const kugel__leg_gpu *p)
{
  int halo = p->leg->mode == KUGEL__LEG_SCALAR ? 1 : 4;
  return p->maps > 1 ? (kugel__leg_gpu_rows){32, 64, halo} : (kugel__leg_gpu_rows){128, 128, halo};
}

/* gpu_tuning.c */
kugel__leg_gpu_tuning kugel__leg_gpu_choose(const kugel__device *device, const kugel__leg *leg);
kugel__leg_gpu_tuning kugel__leg_gpu_choose_batch(const kugel__device *device, const kugel__leg *leg);
/* First pair with the recurrence in cos^2 instead of sin^2: where sin^2 is near 1/2, and such that the tiles
 * of both kernels are full. */
int64_t kugel__leg_gpu_middle(const kugel__leg *leg, int64_t first, const kugel__leg_gpu_tuning *tuning);
/* Bytes of partial sums held at a time; tests lower it. */
extern int64_t kugel__leg_gpu_sums_aim;
/* The end of the orders from m0 on whose partial sums fit into a room. */
int64_t kugel__leg_gpu_chunk(const kugel__leg_gpu *plan, int64_t m0);

/* gpu_run.c: runs each recurrence once, up to the step at which its values contribute. */
kugel_status kugel__leg_gpu_find_starts(kugel__leg_gpu *plan);

/* gpu_halves.c: divides the pairs after the plan's own division is known; loads the kernels. */
void kugel__leg_gpu_cut_halves(kugel__leg_gpu *plan);
kugel_status kugel__leg_gpu_load_halves(kugel__leg_gpu *plan);
/* Whether the sums of one group have twice the warps that the device has room for. */
bool kugel__leg_gpu_halves_fill(const kugel__leg_gpu *plan);
/* Bytes of the series as halves; *scales: offset of the scales in them. */
int64_t kugel__leg_gpu_halves_work(const kugel__leg_gpu *plan, int64_t *scales);
/* Shared memory of a block of the adjoint, in bytes. */
size_t kugel__leg_gpu_halves_shared(const kugel__leg_gpu *plan);
/* Groups of partial sums of tiles and of the rest together. */
int32_t kugel__leg_gpu_halves_groups(const kugel__leg_gpu *plan);
/* Partial sums per step that are stored at a time, in groups: of tiles, or of tiles and the rest. */
int64_t kugel__leg_gpu_parts(const kugel__leg_gpu *plan);

kugel_status kugel__leg_gpu_table(const kugel__leg_gpu *plan, const void *data, size_t bytes,
                                  kugel__mem *out);
/* gpu_wigner.c: tables of the pairs that use Wigner's d. */
kugel_status kugel__leg_gpu_wigner(kugel__leg_gpu *plan, kugel__polar_part *part);

/* Chooses the pairs for the polar kernels. */
void kugel__leg_gpu_plan_polar(kugel__leg_gpu *plan);
/* Fills the tables in device memory that the host computes, after the sizes are known. */
kugel_status kugel__leg_gpu_tables(kugel__leg_gpu *plan);

#endif
