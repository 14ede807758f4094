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

void kugel__lane_packed(const int64_t n[4], int64_t step[4])
{
  int64_t s = 1;
  for (int d = 3; d >= 0; s *= n[d], d--)
    step[d] = s;
}

// Voxels that follow each other both in the array and with these steps; *level: how many axes make a run.
static int64_t run_of(const kugel__lane_voxels *v, const int64_t step[4], int *level)
{
  int64_t run = 1;
  for (*level = 0; *level < 4; (*level)++) {
    int d = 3 - *level;
    if (v->n[d] > 1 && (v->box.step[d] != run || step[d] != run))
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
  int64_t packed[4];
  int level;
  kugel__lane_packed(v->n, packed);
  return kugel__lane_pinned(device, v) && run_of(v, packed, &level) * size_of(v) >= KUGEL__LANE_LEAST_RUN;
}

kugel_status kugel__lane_copy(kugel__device *device, const kugel__lane_voxels *v, kugel__way way,
                              kugel__mem there, const int64_t step[4], kugel_queue *queue)
{
  int level;
  int64_t run = run_of(v, step, &level), size = size_of(v), outer = 1;
  int axis = 3 - level; // whose runs are the rows of one transfer; -1: all is one run
  bool up = way == KUGEL__UPLOAD;
  for (int d = 0; d < axis; d++)
    outer *= v->n[d];
  for (int64_t i = 0; i < outer; i++) {
    int64_t from = 0, to = 0, rest = i;
    for (int d = axis - 1; d >= 0; rest /= v->n[d], d--) {
      from += rest % v->n[d] * v->box.step[d];
      to += rest % v->n[d] * step[d];
    }
    kugel__mem host = {v->box.data + from * size, 0}, here = {there.base, there.offset + (size_t)(to * size)};
    size_t host_pitch = axis < 0 ? 0 : (size_t)(v->box.step[axis] * size),
           pitch = axis < 0 ? 0 : (size_t)(step[axis] * size);
    kugel__copied_rows rows = {.dst = up ? here : host,
                               .src = up ? host : here,
                               .dst_pitch = up ? pitch : host_pitch,
                               .src_pitch = up ? host_pitch : pitch,
                               .bytes = (size_t)(run * size),
                               .count = axis < 0 ? 1 : v->n[axis]};
    KUGEL_TRY(kugel__device_copy_rows(device, way, &rows, queue));
  }
  return KUGEL_OK;
}
