/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in parts: for maps larger than the memory of a device, and on several devices.
 *
 * A part is a run of ring pairs with the pixels of their rings. A lane (device/lanes.h) is a device with its memory: the
 * coefficients, the recurrences, the work memory of one part and the maps of two parts. A lane processes its
 * parts in order; while it computes one part, the maps of another part are copied. In synthesis every lane
 * receives all coefficients. In the adjoint each lane sums the coefficients of its parts, and the lanes' sums
 * are added in a fixed order at the end. */
#ifndef KUGEL_SPHERE_SHT_PARTS_H
#define KUGEL_SPHERE_SHT_PARTS_H

#include "sphere/sht/gpu_plan.h"

/* All sets of alm or maps: in device memory, or in host memory. */
typedef struct kugel__gpu_sets {
  kugel__gpu_side device;
  void *const *host; /* [sets]; NULL: on the device */
} kugel__gpu_sets;

struct kugel__leg;

/* Bytes of memory that the plan may allocate on each device. */
kugel_status kugel__parts_limit(const kugel_sht *plan, int64_t *limit);
/* Whether the plan works in parts: on more than one device, or because it does not fit at once. */
kugel_status kugel__parts_wanted(const kugel_sht *plan, bool *wanted);
/* Fills plan->gpu->parts; desc: the rings of all pairs. */
kugel_status kugel__parts_create(kugel_sht *plan, const kugel__rings_desc *desc);
void kugel__parts_destroy(kugel_sht *plan);
/* Copies the plan's quadrature weights to the parts. */
kugel_status kugel__parts_weights(const kugel_sht *plan);
/* Bytes allocated on the device with most of them; number of parts. */
void kugel__parts_memory(const kugel_sht *plan, uint64_t *bytes, int64_t *count);

/* map = S alm and alm (+)= S^T map. Both wait for the queue's present work, and return when all work is done.
 * */
kugel_status kugel__parts_synthesis(const kugel_sht *plan, const kugel__gpu_sets *alm,
                                    const kugel__gpu_sets *map, const kugel__gpu_how *how,
                                    kugel_queue *queue);
kugel_status kugel__parts_adjoint(const kugel_sht *plan, const kugel__gpu_sets *map,
                                  const kugel__gpu_sets *alm, const kugel__gpu_how *how, kugel_queue *queue);

/* The same with all sets in device memory. */
kugel_status kugel__parts_forward(const kugel_sht *plan, const kugel__gpu_side *alm,
                                  const kugel__gpu_side *map, const kugel__gpu_how *how, kugel_queue *queue);
kugel_status kugel__parts_back(const kugel_sht *plan, const kugel__gpu_side *map, const kugel__gpu_side *alm,
                               const kugel__gpu_how *how, kugel_queue *queue);

#endif
