/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan behind kugel__leg_gpu. */
#ifndef KUGEL_SPHERE_LEG_GPU_PLAN_H
#define KUGEL_SPHERE_LEG_GPU_PLAN_H

#include "codegen/module.h"
#include "sphere/leg_gpu.h"
#include "sphere/legplan.h"

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

/* Pairs that kernels/polar.cl serves, with the functions of one spin: those near the poles, or those of
 * Wigner's d. */
typedef struct kugel__polar_part {
  bool used, gradient, wigner;
  int32_t first, count, room; // pairs; room: rounded up to warps
  int32_t orders, steps;      // of the tables
  int spin, set, from;        // first component of leg, first set of alm
  kugel__mem rec, start, pairs;
  kugel__kernel *synth, *adjoint;
} kugel__polar_part;

/* Batches in single precision: pairs [begin, end) by kernels/legendre_f16.cl; those towards the poles, rest[0],
 * and the equator, rest[1], as in double precision. Of synthesis [0] and the adjoint [1]. */
typedef struct kugel__leg_halves {
  bool used;
  int strips[2], warps[2];
  int32_t begin, end, begin_strip, end_strip; // strips: of starts
  int32_t pole_tiles[2], tiles[2], groups;
  kugel__leg_gpu_tuning rest_tuning;
  struct {
    int32_t tiles[2], groups;
  } rest[2];
  kugel__module *modules[2]; // of halves; of the rest's adjoint
  kugel__kernel *split, *synth, *adjoint, *rest_adjoint;
} kugel__leg_halves;

struct kugel__leg_gpu {
  kugel_ctx *ctx;
  kugel__device *device;
  const kugel__leg *leg;
  const kugel__leg_gpu *lender; // of coef, offsets and mfac; NULL: they are its own
  int64_t divide;               // the middle if it is given; -1: it is chosen
  int ns, maps;                 // series of all maps; maps of a batch
  kugel__leg_gpu_tuning tuning;
  int32_t top, row, stride, middle;                    // pairs [npolar, middle) run in sin^2
  int32_t tiles[2], pole_tiles[2];                     // of synthesis, of the adjoint
  int32_t groups;                                      // of tiles: adjoint
  int32_t strips, pole_strips;                         // of 32 pairs
  int64_t *offset;                                     // [mmax + 2] steps before m
  int64_t sums;                                        // bytes of partial sums at the most
  int32_t begin;                                       // the first pair that series serve
  int32_t polar_orders;                                // that have sums of polar pairs
  kugel__mem coef, offsets, mfac, pairs, mlim, starts; // starts[mmax + 1][strips]
  kugel__polar_part polar[2];
  kugel__leg_halves halves;
  kugel__module *modules[KUGEL__LEG_GPU_MODULES];
  kugel__kernel *kernels[KUGEL__LEG_GPU_KERNELS];
  kugel_queue *side[2]; // polar pairs run beside the others and each other: few threads, long chains
};

/* Of the functions of a mode that are no values; 0: there are none. */
static inline int kugel__leg_gpu_spin(const kugel__leg *leg)
{
  return leg->mode == KUGEL__LEG_SCALAR ? 0
         : leg->mode == KUGEL__LEG_SPIN ? leg->spin
         : leg->mode == KUGEL__LEG_TEB  ? 2
                                        : 1;
}

/* Steps that a block of to_series has; rows of steps that one of from_series reads, of which `halo` are not its
 * own: as in kernels/series.cl. */
typedef struct kugel__leg_gpu_rows {
  int steps, rows, halo;
} kugel__leg_gpu_rows;
static inline kugel__leg_gpu_rows kugel__leg_gpu_series(const kugel__leg_gpu *p)
{
  int halo = p->leg->mode == KUGEL__LEG_SCALAR ? 1 : 4;
  return p->maps > 1 ? (kugel__leg_gpu_rows){32, 64, halo} : (kugel__leg_gpu_rows){128, 128, halo};
}

/* leg_gpu_tuning.c */
kugel__leg_gpu_tuning kugel__leg_gpu_choose(const kugel__device *device, const kugel__leg *leg);
kugel__leg_gpu_tuning kugel__leg_gpu_choose_batch(const kugel__device *device);
/* Where sin^2 gives way to cos^2: near 1/2, and such that the tiles of both kernels come out full. */
int64_t kugel__leg_gpu_middle(const kugel__leg *leg, int64_t first, const kugel__leg_gpu_tuning *tuning);
/* The end of the orders from m0 on whose partial sums fit into the memory for them. */
int64_t kugel__leg_gpu_chunk(const kugel__leg_gpu *plan, int64_t m0);

/* leg_gpu_run.c: runs each recurrence once, until its values count. */
kugel_status kugel__leg_gpu_find_starts(kugel__leg_gpu *plan);

/* leg_gpu_halves.c: how pairs are cut, once those of the plan are; the kernels. */
void kugel__leg_gpu_cut_halves(kugel__leg_gpu *plan);
kugel_status kugel__leg_gpu_load_halves(kugel__leg_gpu *plan);
/* Bytes of the series as halves; where in them the scales begin. */
int64_t kugel__leg_gpu_halves_work(const kugel__leg_gpu *plan, int64_t *scales);
/* Of a block of the adjoint, in bytes. */
size_t kugel__leg_gpu_halves_shared(const kugel__leg_gpu *plan);
/* Groups of partial sums: of tiles, and of the rest's. */
int32_t kugel__leg_gpu_halves_groups(const kugel__leg_gpu *plan);
/* Partial sums of a step that are held at a time, in groups: of tiles, or of those and the rest. */
int64_t kugel__leg_gpu_parts(const kugel__leg_gpu *plan);

kugel_status kugel__leg_gpu_table(const kugel__leg_gpu *plan, const void *data, size_t bytes,
                                  kugel__mem *out);
/* leg_gpu_wigner.c: tables of the pairs that Wigner's d serves. */
kugel_status kugel__leg_gpu_wigner(kugel__leg_gpu *plan, kugel__polar_part *part);

/* Which pairs polar kernels serve. */
void kugel__leg_gpu_plan_polar(kugel__leg_gpu *plan);
/* Fills the tables in device memory that the host makes, once the sizes are known. */
kugel_status kugel__leg_gpu_tables(kugel__leg_gpu *plan);

#endif
