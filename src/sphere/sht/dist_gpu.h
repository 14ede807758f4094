/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms over ranks that have a device each: stages, orders and pairs as dist.h has them, exchange by wire/wire.h.
 *
 * The Legendre stage computes own orders at all pairs, the ring stage all orders of own pairs; messages are packed, and
 * unpacked, on the device, a piece of them at a time, beside the Legendre stage of other pieces. */
#ifndef KUGEL_SPHERE_SHT_DIST_GPU_H
#define KUGEL_SPHERE_SHT_DIST_GPU_H

#include "sphere/sht/dist.h"
#include "sphere/sht/gpu_plan.h"
#include "wire/wire.h"

enum { KUGEL__DIST_ORDERS, KUGEL__DIST_PAIRS, KUGEL__DIST_SIDES };

typedef struct kugel__dist_gpu {
  kugel__wire *wire;
  kugel_queue *post, *other; // of messages; of every second piece of the Legendre stage
  kugel__module *module;
  kugel__kernel *move;
  int64_t *begin[KUGEL__DIST_SIDES];   // [pieces + 1] runs of each piece
  kugel__mem runs[KUGEL__DIST_SIDES];  // as in kernels/ranks.cl
  kugel__mem coefs[KUGEL__DIST_SIDES]; // Fourier coefficients of own orders, of own pairs
  kugel__mem
      messages; // of one piece: of own orders, which what stays on this rank never leaves; then of own pairs
  int64_t row[KUGEL__DIST_SIDES], stride[KUGEL__DIST_SIDES]; // pairs of a row; complex numbers of a component
} kugel__dist_gpu;

/* Fills plan->gpu->ranks and its stages; desc: the rings of all pairs, of which others than own ones do not exist. Collective. */
kugel_status kugel__dist_gpu_create(kugel_sht *plan, const kugel__rings_desc *desc);
void kugel__dist_gpu_destroy(kugel_sht *plan);

extern const kugel__sht_ops kugel__sht_dist_gpu_ops; // gpu_run.c
kugel_status kugel__dist_gpu_forward(const kugel_sht *plan, const kugel__gpu_side *alm,
                                     const kugel__gpu_side *map, const kugel__gpu_how *how,
                                     kugel_queue *queue);
kugel_status kugel__dist_gpu_back(const kugel_sht *plan, const kugel__gpu_side *map,
                                  const kugel__gpu_side *alm, const kugel__gpu_how *how, kugel_queue *queue);

#endif
