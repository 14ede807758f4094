/* SPDX-License-Identifier: BSD-3-Clause */
#include "volume/gpu/lane_image.h"
#include <kugel/volume.h>
#include "volume/gpu/device.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

int kugel__lane_image_axis(const kugel_volume *p)
{
  int axis = -1, cut = 0;
  bool plain = p->opts.boundary == KUGEL_BOUNDARY_ZERO || p->opts.boundary == KUGEL_BOUNDARY_UNKNOWN;
  for (int d = 0; d < DIMS; d++)
    if (p->tiles[d] > 1) {
      axis = d;
      cut++;
    }
  if (cut != 1 || !plain)
    return -1;
  int64_t run = p->tile[axis] * kugel__volume_image_size(p), runs = 1;
  for (int d = 0; d < DIMS; d++)
    *(d < axis ? &runs : &run) *= d == axis ? 1 : p->axis[d].n;
  return runs == 1 || run >= KUGEL__LANE_LEAST_RUN ? axis : -1;
}

static kugel__lane_voxels whole_of(const kugel_volume *p, const kugel__volume_box *box)
{
  return (kugel__lane_voxels){.box = *box, .n = {1, p->axis[0].n, p->axis[1].n, p->axis[2].n}};
}

size_t kugel__lane_image_bytes(const kugel_volume *p, const kugel__volume_box *box)
{
  kugel__lane_voxels whole = whole_of(p, box);
  return (size_t)kugel__lane_voxels_bytes(&whole);
}

kugel_status kugel__lane_image_open(kugel__lane_image *image, kugel__device *device, const kugel_volume *p,
                                    const kugel__volume_box *box)
{
  image->whole = whole_of(p, box);
  image->axis = kugel__lane_image_axis(p);
  image->ready = 0;
  size_t bytes = (size_t)kugel__lane_voxels_bytes(&image->whole);
  if (image->memory && bytes <= image->bytes)
    return KUGEL_OK;
  kugel__lane_image_close(image);
  image->device = device;
  image->bytes = bytes;
  return kugel__device_alloc(device, bytes, &image->memory);
}

void kugel__lane_image_close(kugel__lane_image *image)
{
  if (image->memory)
    kugel__device_free(image->device, image->memory);
  image->memory = NULL;
  image->bytes = 0;
}

kugel_status kugel__lane_image_load(kugel_ctx *ctx, kugel__lane_image *image, int64_t first, int64_t end,
                                    char *staging, kugel_queue *queue)
{
  kugel__lane_voxels part = image->whole;
  int64_t size = part.box.dtype.bits / 8, here[4];
  int axis = image->axis + 1;
  first = kugel__max(first, image->ready);
  if (first >= end)
    return KUGEL_OK;
  kugel__lane_packed(image->whole.n, here);
  part.n[axis] = end - first;
  part.box.data += first * part.box.step[axis] * size;
  if (!kugel__lane_direct(image->device, &part)) {
    KUGEL_TRY(kugel__lane_gather(ctx, &part, staging));
    kugel__lane_packed(part.n, part.box.step);
    part.box.data = staging;
  }
  kugel__mem there = {image->memory, (size_t)(first * here[axis] * size)};
  KUGEL_TRY(kugel__lane_copy(image->device, &part, KUGEL__UPLOAD, there, here, queue));
  image->ready = end;
  return KUGEL_OK;
}

kugel__fused_voxels kugel__lane_image_from(const kugel__lane_image *image, const int64_t datum[3])
{
  kugel__fused_voxels v = {.mem = {image->memory, 0}, .dtype = image->whole.box.dtype};
  kugel__lane_packed(image->whole.n, v.step);
  for (int d = 0; d < DIMS; d++)
    v.first += datum[d] * v.step[d + 1];
  return v;
}
