/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes of voxels between host arrays of any strides and packed memory. */
#ifndef KUGEL_VOLUME_LANE_VOXELS_H
#define KUGEL_VOLUME_LANE_VOXELS_H

#include "device/device.h"
#include "volume/cpu/volume.h"

/* n[0] boxes of [n[1], n[2], n[3]] voxels at b. */
typedef struct kugel__lane_voxels {
  kugel__volume_box box;
  int64_t n[4];
} kugel__lane_voxels;

enum { KUGEL__LANE_LEAST_RUN = 32768 }; /* bytes of a copy that is worth its launch */

int64_t kugel__lane_voxels_bytes(const kugel__lane_voxels *v);
/* Between the array and packed host memory, by the context's threads. */
kugel_status kugel__lane_gather(kugel_ctx *ctx, const kugel__lane_voxels *v, char *packed);
kugel_status kugel__lane_scatter(kugel_ctx *ctx, const kugel__lane_voxels *v, const char *packed);
/* Whether the array is page-locked. */
bool kugel__lane_pinned(kugel__device *device, const kugel__lane_voxels *v);
/* Whether the array can be copied in few pieces without the host's help: page-locked, and long runs. */
bool kugel__lane_direct(kugel__device *device, const kugel__lane_voxels *v);
/* Such copies, queued, to or from device memory with these steps, in voxels. */
kugel_status kugel__lane_copy(kugel__device *device, const kugel__lane_voxels *v, kugel__way way,
                              kugel__mem there, const int64_t step[4], kugel_queue *queue);
/* Steps of an array in C order. */
void kugel__lane_packed(const int64_t n[4], int64_t step[4]);

#endif
