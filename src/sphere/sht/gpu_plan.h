/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan behind transforms on a device, and the steps of iterations on it. All calls are queued, between
 * kugel__sht_gpu's run() having entered and left the plan. */
#ifndef KUGEL_SPHERE_SHT_GPU_PLAN_H
#define KUGEL_SPHERE_SHT_GPU_PLAN_H

#include <pthread.h>
#include "codegen/module.h"
#include "fft/rings/gpu.h"
#include "sphere/legendre/gpu.h"
#include "sphere/sht/gpu.h"

enum { KUGEL__VECTOR_BLOCKS = 512 };

/* Vectors that iterations need, kept for the next call. */
typedef enum kugel__gpu_vector {
  KUGEL__GPU_MAP,  /* maps that refinement works in; S d of the solver */
  KUGEL__GPU_MAP2, /* the map without bad pixels; residual of the solver */
  KUGEL__GPU_GOOD, /* 1: the pixel counts */
  KUGEL__GPU_ALM,  /* S^T r; the iterated alm of the adjoint */
  KUGEL__GPU_ALM2, /* direction; what is taken off */
  KUGEL__GPU_ALM3, /* solution */
  KUGEL__GPU_PIXEL_WEIGHT,
  KUGEL__GPU_PARTIAL, /* of dots */
  KUGEL__GPU_VECTORS
} kugel__gpu_vector;

typedef struct kugel__parts kugel__parts;
struct kugel__dist_gpu;

struct kugel__sht_gpu {
  kugel__device *device;
  kugel__parts *parts; // instead of leg, rings, coefs, work; NULL: all at once
  struct kugel__dist_gpu
      *ranks;     // over ranks, dist_gpu.h, with leg, rings and work of own orders and pairs; NULL: alone
  uint64_t bytes; // held on the device, without parts and vectors
  kugel__leg_gpu *leg;
  kugel__rings_gpu *rings;
  kugel__mem coefs, work, weight, bad; // Fourier coefficients; [own pairs][2] weights or NULL; an int32
  kugel__leg_gpu *batch;               // maps of a batch that go together: made when first needed; NULL: none
  kugel__mem batch_coefs, batch_work;
  int groups; // of such batches that run side by side (gpu_shells.c), with memory of their own; 0: not known yet, 1: none
  kugel__mem group_coefs, group_work;
  bool covered; // every pixel is on a ring
  pthread_mutex_t lock;
  kugel__event *last;                     // under the lock: of the latest execution,
  kugel__mem alm, map;                    // copies of host arrays,
  kugel__mem vectors[KUGEL__GPU_VECTORS]; // and these with their kernels: made when first needed
  kugel__module *module;
  kugel__kernel *combine, *dot, *clean;
};

/* All sets of alm or maps on the device, from element `at` on. */
typedef struct kugel__gpu_side {
  kugel__mem mem;
  int64_t at;
  bool f32;
} kugel__gpu_side;

/* How transforms read and write. */
typedef struct kugel__gpu_how {
  int maps;        /* of a batch that go together, or 0: one */
  bool weighted;   /* by the rings' quadrature weights, at the map's side */
  bool accumulate; /* adjoint */
  bool inverse;    /* by connection: of analysis without weights, in place of synthesis */
  int check;       /* adjoint: as in kugel__rings_gpu_job; 2 waits for the queue */
} kugel__gpu_how;

/* Pairs of a row of the Fourier coefficients. */
int64_t kugel__sht_gpu_row(const kugel_sht *plan);

/* Memory that the plan keeps, if it was not taken yet. */
static inline kugel_status kugel__sht_gpu_room(kugel__sht_gpu *g, size_t bytes, kugel__mem *out)
{
  if (out->base)
    return KUGEL_OK;
  g->bytes += (uint64_t)kugel__max((int64_t)bytes, 64);
  return kugel__device_alloc(g->device, (size_t)kugel__max((int64_t)bytes, 64), &out->base);
}

/* Work memory is taken over from the last execution, and left with an event, or after a wait. Under the plan's lock. */
kugel_status kugel__sht_gpu_enter(kugel__sht_gpu *g, kugel_queue *queue);
kugel_status kugel__sht_gpu_leave(kugel__sht_gpu *g, kugel_queue *queue, bool wait, kugel_status s);
/* Maps of a batch that go together at a time, memory for which is taken when first needed, 1: none do; and the fewest
 * that do: fewer are faster one by one. */
int kugel__sht_gpu_together(const kugel_sht *plan, int64_t batch);
int kugel__sht_gpu_least_together(int maps);

/* The two stages of a transform in one piece, between the plan's Fourier coefficients and alms or maps. */
kugel_status kugel__sht_gpu_legendre(const kugel_sht *plan, const kugel__gpu_side *alm,
                                     const kugel__gpu_how *how, bool adjoint, kugel_queue *queue);
kugel_status kugel__sht_gpu_rings(const kugel_sht *plan, const kugel__gpu_side *map,
                                  const kugel__gpu_how *how, bool adjoint, kugel_queue *queue);

kugel_status kugel__sht_gpu_forward(const kugel_sht *plan, const kugel__gpu_side *alm,
                                    const kugel__gpu_side *map, const kugel__gpu_how *how,
                                    kugel_queue *queue);
kugel_status kugel__sht_gpu_back(const kugel_sht *plan, const kugel__gpu_side *map,
                                 const kugel__gpu_side *alm, const kugel__gpu_how *how, kugel_queue *queue);

/* vector_gpu.c: a vector of doubles, made if need be. */
kugel_status kugel__sht_gpu_vector(const kugel_sht *plan, kugel__gpu_vector which, kugel__gpu_side *out);
/* y = a x + b y of all maps or alms. */
kugel_status kugel__sht_gpu_combine_maps(const kugel_sht *plan, double a, const kugel__gpu_side *x, double b,
                                         const kugel__gpu_side *y, kugel_queue *queue);
kugel_status kugel__sht_gpu_combine_alms(const kugel_sht *plan, double a, const kugel__gpu_side *x, double b,
                                         const kugel__gpu_side *y, kugel_queue *queue);
/* y = weight x, a weight for each pixel, the same for all maps or one for each. */
kugel_status kugel__sht_gpu_scale_maps(const kugel_sht *plan, const kugel__gpu_side *weight, bool same,
                                       const kugel__gpu_side *x, const kugel__gpu_side *y,
                                       kugel_queue *queue);
/* y += x, n doubles, on any device by the kernel `add` of a module there. */
kugel_status kugel__vector_gpu_load(kugel_ctx *ctx, kugel__module **module, kugel__kernel **add);
kugel_status kugel__vector_gpu_add(kugel__device *device, kugel__kernel *add, int64_t n, kugel__mem x,
                                   kugel__mem y, kugel_queue *queue);
/* Of vectors of doubles; alms with m > 0 twice. Wait for the queue. */
kugel_status kugel__sht_gpu_dot_maps(const kugel_sht *plan, const kugel__gpu_side *x, double *out,
                                     kugel_queue *queue);
kugel_status kugel__sht_gpu_dot_alms(const kugel_sht *plan, const kugel__gpu_side *x, double *out,
                                     kugel_queue *queue);
/* y = x, as the plan's opts.bad_pixels says. Waits for the queue. */
kugel_status kugel__sht_gpu_clean(const kugel_sht *plan, const kugel__gpu_side *x, const kugel__gpu_side *y,
                                  const kugel__gpu_side *good, kugel_queue *queue);
void kugel__sht_gpu_vectors_free(kugel__sht_gpu *g);

/* analysis_gpu.c */
kugel_status kugel__gpu_analyse(const kugel_sht *plan, const kugel__gpu_side *map, const kugel__gpu_side *alm,
                                const kugel__gpu_how *how, kugel_queue *queue);
kugel_status kugel__gpu_analyse_adjoint(const kugel_sht *plan, const kugel__gpu_side *alm,
                                        const kugel__gpu_side *map, kugel_queue *queue);
kugel_status kugel__gpu_solve(const kugel_sht *plan, const kugel__gpu_side *map, const kugel__gpu_side *alm,
                              const kugel_solve_opts *opts, kugel_solve_stats *stats, kugel_queue *queue);

#endif
