/* SPDX-License-Identifier: BSD-3-Clause */
#include "volume/gpu/lane_voxels.h"
#include <string.h>
#include "core/parallel.h"

enum { TASK = 262144 }; // bytes of a task

static int64_t size_of(const kugel__lane_voxels *v)
{
  return v->box.dtype.bits / 8;
}

int64_t kugel__lane_voxels_bytes(const kugel__lane_voxels *v)
{
  return v->n[0] * v->n[1] * v->n[2] * v->n[3] * size_of(v);
}

typedef struct job {
  const kugel__lane_voxels *v;
  char *packed;
  int64_t rows, group; // of the box; of a task
  bool in;
} job;

static void move_row(const job *j, int64_t i)
{
  const kugel__lane_voxels *v = j->v;
  int64_t size = size_of(v), step = v->box.step[3] * size, n = v->n[3];
  int64_t y = i % v->n[2], z = i / v->n[2] % v->n[1], q = i / v->n[2] / v->n[1];
  char *at = v->box.data + (q * v->box.step[0] + z * v->box.step[1] + y * v->box.step[2]) * size;
  char *packed = j->packed + i * n * size;
  for (int64_t x = 0; x < (step == size ? 1 : n); x++)
    memcpy(j->in ? packed + x * size : at + x * step, j->in ? at + x * step : packed + x * size,
           (size_t)(step == size ? n * size : size));
}

static kugel_status move_rows(void *arg, int64_t task)
{
  const job *j = arg;
  for (int64_t i = task * j->group; i < kugel__min(j->rows, (task + 1) * j->group); i++)
    move_row(j, i);
  return KUGEL_OK;
}

// Rows of tiles are a few hundred bytes, less than what handing out a task costs: a task is many of them.
static kugel_status move(kugel_ctx *ctx, const kugel__lane_voxels *v, char *packed, bool in)
{
  int64_t rows = v->n[0] * v->n[1] * v->n[2];
  job j = {v, packed, rows, kugel__max(1, TASK / kugel__max(1, v->n[3] * size_of(v))), in};
  return kugel__parallel(ctx, (rows + j.group - 1) / j.group, move_rows, &j);
}

kugel_status kugel__lane_gather(kugel_ctx *ctx, const kugel__lane_voxels *v, char *packed)
{
  return move(ctx, v, packed, true);
}

kugel_status kugel__lane_scatter(kugel_ctx *ctx, const kugel__lane_voxels *v, const char *packed)
{
  return move(ctx, v, (char *)(uintptr_t)packed, false);
}

// Voxels that follow each other in the array as they do in packed memory; *level: how many axes make a run.
static int64_t run_of(const kugel__lane_voxels *v, int *level)
{
  int64_t run = 1;
  for (*level = 0; *level < 4; (*level)++) {
    int d = 3 - *level;
    if (v->n[d] > 1 && v->box.step[d] != run)
      break;
    run *= v->n[d];
  }
  return run;
}

bool kugel__lane_pinned(kugel__device *device, const kugel__lane_voxels *v)
{
  return device->ops->pinned && device->ops->pinned(v->box.data);
}

bool kugel__lane_direct(kugel__device *device, const kugel__lane_voxels *v)
{
  int level;
  return kugel__lane_pinned(device, v) && run_of(v, &level) * size_of(v) >= KUGEL__LANE_LEAST_RUN;
}

kugel_status kugel__lane_copy(kugel__device *device, const kugel__lane_voxels *v, kugel__way way,
                              kugel__mem packed, kugel_queue *queue)
{
  int level;
  int64_t run = run_of(v, &level), size = size_of(v), outer = kugel__lane_voxels_bytes(v) / (run * size);
  for (int64_t i = 0; i < outer; i++) {
    int64_t at = 0, rest = i;
    for (int d = 3 - level; d >= 0; rest /= v->n[d], d--)
      at += rest % v->n[d] * v->box.step[d];
    kugel__mem host = {v->box.data + at * size, 0},
               here = {packed.base, packed.offset + (size_t)(i * run * size)};
    KUGEL_TRY(way == KUGEL__UPLOAD
                  ? kugel__device_copy(device, way, here, host, (size_t)(run * size), queue)
                  : kugel__device_copy(device, way, host, here, (size_t)(run * size), queue));
  }
  return KUGEL_OK;
}
