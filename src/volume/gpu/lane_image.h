/* SPDX-License-Identifier: BSD-3-Clause */
/* An image in host memory whose tiles follow each other along one axis, kept in memory of the device: each datum is copied
 * there once, though the surroundings of tiles overlap. */
#ifndef KUGEL_VOLUME_LANE_IMAGE_H
#define KUGEL_VOLUME_LANE_IMAGE_H

#include "volume/gpu/fused.h"
#include "volume/gpu/lane_voxels.h"

typedef struct kugel__lane_image {
  kugel__device *device;
  void *memory; /* in C order */
  size_t bytes;
  kugel__lane_voxels whole; /* one box */
  int axis;                 /* 0, 1, 2: z, y, x */
  int64_t ready;            /* data along the axis that are there, or on their way */
} kugel__lane_image;

/* The axis of p along which tiles follow each other; -1: there are several, or runs of memory along it are too short for
 * copies, or a boundary extends the image. */
int kugel__lane_image_axis(const kugel_volume *p);
/* Bytes of the image of p at `box`. */
size_t kugel__lane_image_bytes(const kugel_volume *p, const kugel__volume_box *box);
/* Room for the image of p at `box`, of which nothing is there yet; what was held before may go. */
kugel_status kugel__lane_image_open(kugel__lane_image *image, kugel__device *device, const kugel_volume *p,
                                    const kugel__volume_box *box);
void kugel__lane_image_close(kugel__lane_image *image);
/* The data from `first` to `end` along the axis, less those that are there; staging: for as many, used unless the image is
 * page-locked. Calls go forward along the axis. */
kugel_status kugel__lane_image_load(kugel_ctx *ctx, kugel__lane_image *image, int64_t first, int64_t end,
                                    char *staging, kugel_queue *queue);
/* The image from these data on. */
kugel__fused_voxels kugel__lane_image_from(const kugel__lane_image *image, const int64_t datum[3]);

#endif
