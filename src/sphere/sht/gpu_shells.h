/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of many maps at once on a device, for fields that have a map per radius: the maps are the batch of the Legendre
 * stage, which reads their coefficients where transforms in radius leave them, without a transposition between. */
#ifndef KUGEL_SPHERE_SHT_GPU_SHELLS_H
#define KUGEL_SPHERE_SHT_GPU_SHELLS_H

#include "sphere/sht/sht.h"

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
