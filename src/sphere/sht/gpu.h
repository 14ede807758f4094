/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of a plan whose context is on a device: memory, queues, and the order of the stages. */
#ifndef KUGEL_SPHERE_SHT_GPU_H
#define KUGEL_SPHERE_SHT_GPU_H

#include "device/device.h"
#include "sphere/sht/sht.h"

/* Fills plan->gpu, and plan->connection with that engine. The stages for the CPU exist already. */
kugel_status kugel__sht_gpu_create(kugel_sht *plan, const kugel__rings_desc *desc);
bool kugel__sht_gpu_in_parts(const kugel_sht *plan);
/* Takes over the plan's quadrature weights. */
kugel_status kugel__sht_gpu_weights(kugel_sht *plan);
void kugel__sht_gpu_destroy(kugel_sht *plan);
/* Bytes held on the device, or on the one that holds most; the parts that the plan works in. */
void kugel__sht_gpu_memory(const kugel_sht *plan, uint64_t *bytes, int64_t *parts);

typedef kugel_status kugel__sht_each(const kugel_sht *plan, kugel__sht_verb verb, const kugel_array *alm,
                                     const kugel_array *map, int64_t batch, void *arg);
/* `verb` of arrays of which one is in device memory by `each` on copies in host memory. Waits. */
kugel_status kugel__sht_gpu_by_host(const kugel_sht *plan, kugel__sht_verb verb, const kugel_array *alm,
                                    const kugel_array *map, int64_t batch, kugel__sht_each *each, void *arg,
                                    kugel_queue *queue);

/* By connection, one set in host memory: alm (+)= A map with A S = 1, and map = A^T alm. */
kugel_status kugel__sht_gpu_inverse(const kugel_sht *plan, const kugel__maps *map, const kugel__alms *alm,
                                    bool accumulate);
kugel_status kugel__sht_gpu_inverse_adjoint(const kugel_sht *plan, const kugel__alms *alm,
                                            const kugel__maps *map);

/* gpu_run.c: of a plan with everything in the memory of one device, and of one that works in parts. */
extern const kugel__sht_ops kugel__sht_gpu_ops, kugel__sht_parts_ops;

/* ---- gpu_shells.c: many maps at once ----
 *
 * For fields that have a map per radius: the maps are the batch of the Legendre stage, which reads their coefficients where
 * transforms in radius leave them, without a transposition between. */

typedef struct kugel__sht_shells {
  int64_t count;       /* maps, each of n_map components and n_alm sets */
  kugel__mem alm, map; /* in the memory of the plan's device */
  int64_t at, row,
      part; /* complex elements: the first; from one (l, m), by degree and then order, to the next, the maps side by
                            side; from one set to the next */
  int64_t map_at, map_part; /* reals: the first; from one component to the next, the maps one after another */
  bool f32, adjoint;
  bool
      analysis; /* with the quadrature weights on the side of the maps: analysis, which is an adjoint, or its adjoint */
} kugel__sht_shells;

/* Why a plan on a device cannot, as a failure: it works in parts. */
kugel_status kugel__sht_shells_check(const kugel_sht *plan);
/* Queued; of an adjoint, which counts values that are not finite, the queue is waited for, and a failure says how many. */
kugel_status kugel__sht_shells_run(const kugel_sht *plan, const kugel__sht_shells *shells,
                                   kugel_queue *queue);

#endif
