/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory tiles on devices take. */
#ifndef KUGEL_VOLUME_LANE_SIZES_H
#define KUGEL_VOLUME_LANE_SIZES_H

#include "volume/gpu/fused.h"

enum {
  KUGEL__LANE_TILES_SLOTS = 3,
  KUGEL__LANE_ALIGN = 512 /* bytes, of what kernels get as an array */
};

typedef struct kugel__lane_sizes { /* numbers of the largest tile */
  int64_t data, results, map, window, weights;
} kugel__lane_sizes;

static inline size_t kugel__lane_align(int64_t bytes)
{
  return (size_t)kugel__round_up(bytes, KUGEL__LANE_ALIGN);
}

kugel__lane_sizes kugel__lane_sizes_of(const kugel_volume *p);
/* Bytes of voxels in and out, of `size` each. */
size_t kugel__lane_voxel_bytes(const kugel__lane_sizes *s, int64_t size, bool adjoint);
size_t kugel__lane_out_bytes(const kugel__lane_sizes *s, int64_t size, bool adjoint);
/* Of maps, windows and factors of kernels by depth, which are copied in behind the voxels; where these factors begin. */
size_t kugel__lane_list_bytes(const kugel__lane_sizes *s, const kugel_volume *p);
size_t kugel__lane_weights_at(const kugel__lane_sizes *s, const kugel_volume *p);
/* Of a work array of the kernels. */
size_t kugel__lane_work_bytes(const kugel_volume *p, const kugel__fused *f);
/* Of a device for all that is neither a slot's nor an image. */
uint64_t kugel__lane_fixed_bytes(const kugel_volume *p, const kugel__fused *f);

#endif
