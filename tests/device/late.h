/* SPDX-License-Identifier: BSD-3-Clause */
/* A device whose queues run at any pace: chosen at random, launches and copies come behind long fills of their queue. */
#ifndef KUGEL_TESTS_DEVICE_LATE_H
#define KUGEL_TESTS_DEVICE_LATE_H

#include <stdatomic.h>
#include "check.h"
#include "device/device.h"

static const size_t late_room = (size_t)48 << 20; // a fill takes about 10 ms on a CPU

static struct {
  kugel__device_ops own; // with delays
  const kugel__device_ops *ops;
  kugel__device *device;
  void *room;
  atomic_uint turn;
  unsigned seed; // 0: nothing is late
} late;

/* About half of the queues, for eight turns: consecutive work of a queue is late together. */
static kugel_status late_wait(kugel_queue *queue)
{
  unsigned turn = atomic_fetch_add(&late.turn, 1), x = late.seed * 2654435761u;
  x ^= (unsigned)((uintptr_t)queue >> 4) * 2246822519u + (turn >> 3) * 3266489917u;
  x = (x ^ x >> 15) * 2246822519u;
  bool wait = late.seed && queue && (x >> 13 & 1);
  return wait ? late.ops->fill(queue->device, (kugel__mem){late.room, 0}, (int)turn & 255, late_room, queue)
              : KUGEL_OK;
}

static kugel_status late_launch(kugel__kernel *kernel, const kugel__grid *grid, int nargs,
                                const kugel__arg *args, kugel_queue *queue)
{
  KUGEL_TRY(late_wait(queue));
  return late.ops->launch(kernel, grid, nargs, args, queue);
}

static kugel_status late_copy(kugel__device *dev, kugel__way way, kugel__mem dst, kugel__mem src,
                              size_t bytes, kugel_queue *queue)
{
  KUGEL_TRY(late_wait(queue));
  return late.ops->copy(dev, way, dst, src, bytes, queue);
}

/* From here on; `end` before the context is destroyed. */
static inline void late_begin(kugel_ctx *ctx)
{
  late.device = kugel__ctx_device(ctx);
  late.ops = late.device->ops;
  CHECK_OK(kugel__device_alloc(late.device, late_room, &late.room));
  late.own = *late.ops;
  late.own.launch = late_launch;
  late.own.copy = late_copy;
  late.device->ops = &late.own;
}

static inline void late_end(void)
{
  late.device->ops = late.ops;
  kugel__device_free(late.device, late.room);
}

#endif
