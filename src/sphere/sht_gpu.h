/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of a plan whose context is on a device: memory, queues, and the order of the stages. */
#ifndef KUGEL_SPHERE_SHT_GPU_H
#define KUGEL_SPHERE_SHT_GPU_H

#include "device/device.h"
#include "sphere/sht.h"

/* Fills plan->gpu if the context is on a device. The stages for the CPU exist already. */
kugel_status kugel__sht_gpu_create(kugel_sht *plan, const kugel__rings_desc *desc);
/* Takes over the plan's quadrature weights. */
kugel_status kugel__sht_gpu_weights(kugel_sht *plan);
void kugel__sht_gpu_destroy(kugel_sht *plan);
/* Bytes held on the device, or on the one that holds most; the parts that the plan works in. */
void kugel__sht_gpu_memory(const kugel_sht *plan, uint64_t *bytes, int64_t *parts);

/* kugel__sht_synthesis and kugel__sht_adjoint on host memory by way of the device. */
kugel_status kugel__sht_gpu_synthesis(const kugel_sht *plan, const kugel__alms *alm, const kugel__maps *map);
kugel_status kugel__sht_gpu_adjoint(const kugel_sht *plan, const kugel__maps *map, bool weighted,
                                    const kugel__alms *alm, bool accumulate);

/* True if one of the arrays is in memory of the plan's device. */
bool kugel__sht_gpu_wanted(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map);

/* The verbs on such arrays (one may be host memory), all of a batch. Returns when the work is queued if both
 * are on the device, a queue is given and no pixels are checked; else when it is done. */
kugel_status kugel__sht_gpu_arrays(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                                   bool adjoint, kugel_queue *queue);
kugel_status kugel__sht_gpu_analysis(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                                     bool adjoint, kugel_queue *queue);
/* With checked options; a residual above the tolerance is no failure here. */
kugel_status kugel__sht_gpu_solve(const kugel_sht *plan, const kugel_array *alm, const kugel_array *map,
                                  const kugel_solve_opts *opts, kugel_solve_stats *stats);

/* One set on device memory, queued stage by stage, for measurements: what is 1 for the Legendre stage, 2 for
 * the rings, 3 for both. */
kugel_status kugel__sht_gpu_stages(const kugel_sht *plan, kugel__mem alm, kugel__mem map, bool adjoint,
                                   int what, kugel_queue *queue);

#endif
