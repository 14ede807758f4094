/* SPDX-License-Identifier: BSD-3-Clause */
/* The Legendre stage on a device: all orders in one call, all arrays in device memory. */
#ifndef KUGEL_SPHERE_LEGENDRE_GPU_H
#define KUGEL_SPHERE_LEGENDRE_GPU_H

#include "device/device.h"
#include "sphere/legendre/legendre.h"

typedef struct kugel__leg_gpu kugel__leg_gpu;

/* How the kernels of synthesis [0] and adjoint [1] are cut: strips of 32 pairs that a warp owns, warps of a
 * block, blocks that shall fit into a multiprocessor; whether sums are matrix products: CUDA 9.0 and later.
 */
typedef struct kugel__leg_gpu_tuning {
  int strips[2], warps[2], blocks[2];
  bool products[2];
} kugel__leg_gpu_tuning;

/* Of a plan for the CPU, whose tables it copies. tuning NULL: by device and size. */
kugel_status kugel__leg_gpu_create(kugel_ctx *ctx, const kugel__leg *leg, const kugel__leg_gpu_tuning *tuning,
                                   kugel__leg_gpu **out);
/* Of a batch of `maps` at a time, which share the recurrences and the tables of `lender`; alm and leg hold
 * them one after another. */
kugel_status kugel__leg_gpu_create_batch(kugel_ctx *ctx, int maps, const kugel__leg_gpu *lender,
                                         const kugel__leg_gpu_tuning *tuning, kugel__leg_gpu **out);
/* Maps that go together best. */
int kugel__leg_gpu_together(const kugel__device *device, const kugel__leg *leg);

/* How a plan of all pairs is cut: tuning; pairs [0, begin) are not served by series, [begin, middle) run in
 * sin^2. Pairs give the same bits in a plan of fewer pairs that begins and ends at a multiple of `tile` from
 * begin or from middle. */
typedef struct kugel__leg_gpu_cut {
  kugel__leg_gpu_tuning tuning;
  int64_t begin, middle, tile;
} kugel__leg_gpu_cut;
kugel__leg_gpu_cut kugel__leg_gpu_cuts(const kugel__device *device, const kugel__leg *leg);
/* A plan of the pairs from p0 on, which `leg` views, of a whole so cut. It uses the recurrences of `lender`,
 * a plan of other pairs on the same device that lives longer; NULL: its own. */
kugel_status kugel__leg_gpu_create_part(kugel_ctx *ctx, const kugel__leg *leg, const kugel__leg_gpu_cut *cut,
                                        int64_t p0, const kugel__leg_gpu *lender, kugel__leg_gpu **out);
/* A plan of the orders of one rank, as kugel__leg_dealt deals them; at least one. Orders have the bits that they have in a plan of
 * all. alm has these orders alone, one after another, and so has leg, in rows [n_map][orders][row][4]. No batches, groups or parts. */
kugel_status kugel__leg_gpu_create_ranks(kugel_ctx *ctx, const kugel__leg *leg, int rank, int size,
                                         kugel__leg_gpu **out);
void kugel__leg_gpu_destroy(kugel__leg_gpu *plan);

/* Bytes of work memory that a call needs; pairs of a row of the coefficients. */
size_t kugel__leg_gpu_work(const kugel__leg_gpu *plan);
/* The same for calls of several times the plan's maps, and whether such calls are faster than products of halves, which take one
 * group: they are where a group's maps in single precision do not fill the device. */
size_t kugel__leg_gpu_work_of(const kugel__leg_gpu *plan, int64_t groups);
bool kugel__leg_gpu_takes_groups(const kugel__leg_gpu *plan, bool f32);
int64_t kugel__leg_gpu_row(const kugel__leg_gpu *plan);

/* alm: n_alm sets one after another from coefficient alm_at on, complex float or double; or, with row > 0, rows by degree and
 * then order, `row` elements apart, of maps side by side and sets `part` elements apart.
 * leg[n_map][mmax + 1][row][4]: north re, im, south re, im. */
typedef struct kugel__leg_gpu_job {
  kugel__mem alm, leg, work;
  int64_t alm_at, row, part;
  int64_t slot, slots; /* only these orders, of which a plan counts its own; 0 slots: all */
  bool f32, accumulate;
  int *
      turn; /* the adjoint of pieces, one call each, side by side where they can: 0 before the first; then leg_gpu_end */
  kugel_queue
      *after;   /* with turn: whose present work has what a call needs, and what used its memory before */
  bool grouped; /* sums in double in any case, as calls of several groups have them */
  bool *series; /* synthesis in parts: whether work has the series of alm already, as another part's plan on
                   the same recurrences left them; set once they are there. NULL: they are made */
  int maps;     /* that alm has, if not as many as the plan takes: fewer, or more, in groups of as many that
                   run side by side; leg and work have room for whole groups */
} kugel__leg_gpu_job;

/* After calls with `turn`, on their queue. After a failure between them: settle, and nothing of them still runs. */
kugel_status kugel__leg_gpu_end(const kugel__leg_gpu *plan, kugel_queue *queue);
void kugel__leg_gpu_settle(const kugel__leg_gpu *plan);

/* Queued; the memory of the job must stay. Coefficients beyond the pairs' mlim are not touched or read. Calls of synthesis of
 * different slots may share the work memory of a job on two queues; those of the adjoint follow each other. */
kugel_status kugel__leg_gpu_synth(const kugel__leg_gpu *plan, const kugel__leg_gpu_job *job,
                                  kugel_queue *queue);
kugel_status kugel__leg_gpu_adjoint(const kugel__leg_gpu *plan, const kugel__leg_gpu_job *job,
                                    kugel_queue *queue);

#endif
