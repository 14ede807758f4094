/* SPDX-License-Identifier: BSD-3-Clause */
#include "volume/gpu/lane_image.h"
#include <kugel/volume.h>

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
  int64_t run = p->tile[axis] * (int64_t)p->real, runs = 1;
  for (int d = 0; d < DIMS; d++)
    *(d < axis ? &runs : &run) *= d == axis ? 1 : p->axis[d].n;
  return runs == 1 || run >= KUGEL__LANE_LEAST_RUN ? axis : -1;
}

kugel_status kugel__lane_image_open(kugel__lane_image *image, kugel__device *device, const kugel_volume *p,
                                    const kugel__volume_box *box)
{
  image->whole = (kugel__lane_voxels){.box = *box, .n = {1, p->axis[0].n, p->axis[1].n, p->axis[2].n}};
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

// Steps of an array in C order.
static void steps_of(const int64_t n[4], int64_t step[4])
{
  int64_t s = 1;
  for (int d = 3; d >= 0; s *= n[d], d--)
    step[d] = s;
}

// Voxels of a box that follow each other in both arrays; *level: how many axes make a run.
static int64_t common_run(const int64_t n[4], const int64_t *a, const int64_t *b, int *level)
{
  int64_t run = 1;
  for (*level = 0; *level < 4; (*level)++) {
    int d = 3 - *level;
    if (n[d] > 1 && (a[d] != run || b[d] != run))
      break;
    run *= n[d];
  }
  return run;
}

kugel_status kugel__lane_image_load(kugel_ctx *ctx, kugel__lane_image *image, int64_t first, int64_t end,
                                    char *staging, kugel_queue *queue)
{
  kugel__lane_voxels part = image->whole;
  int64_t size = part.box.dtype.bits / 8, here[4], packed[4];
  int axis = image->axis + 1, level;
  first = kugel__max(first, image->ready);
  if (first >= end)
    return KUGEL_OK;
  steps_of(image->whole.n, here);
  part.n[axis] = end - first;
  part.box.data += first * part.box.step[axis] * size;
  steps_of(part.n, packed);
  const int64_t *from = part.box.step;
  char *host = part.box.data;
  int64_t run = common_run(part.n, from, here, &level);
  if (!kugel__lane_pinned(image->device, &part) || run * size < KUGEL__LANE_LEAST_RUN) {
    KUGEL_TRY(kugel__lane_gather(ctx, &part, staging));
    from = packed;
    host = staging;
    run = common_run(part.n, from, here, &level);
  }
  int64_t count = part.n[0] * part.n[1] * part.n[2] * part.n[3] / run;
  for (int64_t i = 0; i < count; i++) {
    int64_t there = 0, to = first * here[axis], rest = i;
    for (int d = 3 - level; d >= 0; rest /= part.n[d], d--) {
      there += rest % part.n[d] * from[d];
      to += rest % part.n[d] * here[d];
    }
    KUGEL_TRY(kugel__device_copy(image->device, KUGEL__UPLOAD,
                                 (kugel__mem){image->memory, (size_t)(to * size)},
                                 (kugel__mem){host + there * size, 0}, (size_t)(run * size), queue));
  }
  image->ready = end;
  return KUGEL_OK;
}

kugel__fused_voxels kugel__lane_image_from(const kugel__lane_image *image, const int64_t datum[3])
{
  kugel__fused_voxels v = {.mem = {image->memory, 0}, .dtype = image->whole.box.dtype};
  steps_of(image->whole.n, v.step);
  for (int d = 0; d < DIMS; d++)
    v.first += datum[d] * v.step[d + 1];
  return v;
}
