/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements of arrays on a device, moved by lists, one an axis: images extended beyond their edges, extensions added up
 * (src/volume/gpu/kernels/move.cl). */
#ifndef KUGEL_VOLUME_MOVE_H
#define KUGEL_VOLUME_MOVE_H

#include "device/device.h"
#include "volume/gpu/device.h"

/* Where each axis has its list in the table. */
typedef struct kugel__move_lists {
  int64_t extent[KUGEL__VOLUME_DIMS], start[KUGEL__VOLUME_DIMS], index[KUGEL__VOLUME_DIMS];
} kugel__move_lists;

typedef struct kugel__moves {
  int64_t extended[KUGEL__VOLUME_DIMS];    /* f = m + k - 1 */
  kugel__move_lists extend, results, fold; /* image to f, m to itself, f to the image */
  void *table;                             /* device memory */
} kugel__moves;

/* `plain`: axes that are not extended, whose f is n. */
kugel_status kugel__moves_create(const kugel_volume *p, const bool plain[3], kugel__moves *out);
void kugel__moves_destroy(const kugel_volume *p, kugel__moves *moves);

typedef struct kugel__move {
  const kugel_volume *p;
  const kugel__moves *moves;
  const kugel__move_lists *lists;
  kugel__mem in, out, clipped, factors;
  kugel__volume_box from, to; /* types and steps */
  int64_t in_first, out_first;
  int window; /* 0: none, 1: of what is read, 2: of results */
  int kernel; /* whose window */
  double scale;
} kugel__move;

kugel_status kugel__move_run(const kugel__move *m, kugel_queue *queue);

#endif
