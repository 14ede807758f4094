/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in parts: for maps larger than the memory of a device, and on several devices.
 *
 * A part is a run of ring pairs with the pixels of their rings. A lane is a device: it holds the
 * coefficients, the recurrences, and the memory for one part at a time with the maps of two, and takes its
 * parts in order. While it works on one part, the maps of another are copied. All lanes of a synthesis get
 * all coefficients; in the adjoint each adds up the coefficients of its parts, and the lanes' sums are added
 * in order at the end. */
#ifndef KUGEL_SPHERE_PARTS_GPU_H
#define KUGEL_SPHERE_PARTS_GPU_H

#include "sphere/sht_gpu_plan.h"

/* All sets of alm or maps: in device memory, or in host memory. */
typedef struct kugel__gpu_sets {
  kugel__gpu_side device;
  void *const *host; /* [sets]; NULL: on the device */
} kugel__gpu_sets;

struct kugel__leg;

/* Bytes of a device that the plan may hold, or what is free there. */
kugel_status kugel__parts_limit(const kugel_sht *plan, kugel__device *device, int64_t *limit);
/* Whether the plan works in parts: more than one device, or not room for all at once. */
kugel_status kugel__parts_wanted(const kugel_sht *plan, bool *wanted);
/* Fills plan->gpu->parts; desc: of all pairs. */
kugel_status kugel__parts_create(kugel_sht *plan, const kugel__rings_desc *desc);
void kugel__parts_destroy(kugel_sht *plan);
/* Takes over the quadrature weights. */
kugel_status kugel__parts_weights(const kugel_sht *plan);
/* Bytes held on the device that holds most; how many parts there are. */
void kugel__parts_memory(const kugel_sht *plan, uint64_t *bytes, int64_t *count);

/* map = S alm and alm (+)= S^T map. What the queue has now is waited for; return when all is done. */
kugel_status kugel__parts_synthesis(const kugel_sht *plan, const kugel__gpu_sets *alm,
                                    const kugel__gpu_sets *map, const kugel__gpu_how *how,
                                    kugel_queue *queue);
kugel_status kugel__parts_adjoint(const kugel_sht *plan, const kugel__gpu_sets *map,
                                  const kugel__gpu_sets *alm, const kugel__gpu_how *how, kugel_queue *queue);

#endif
