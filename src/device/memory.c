/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory and launches: checks common to all devices, then the device's own operation. */
#include <stdint.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/device.h"
#include "device/usage.h"

kugel_status kugel__device_alloc(kugel__device *dev, size_t bytes, void **out)
{
  *out = NULL;
  KUGEL_CHECK(bytes > 0 && bytes <= (size_t)1 << 60, KUGEL_EINVAL,
              "device buffer of %zu bytes: must be at least 1 byte", bytes);
  KUGEL_TRY(kugel__device_alive(dev));
  kugel_status s = dev->ops->alloc(dev, KUGEL__ON_DEVICE, bytes, out);
  if (s == KUGEL_ENOMEM && dev->info.device.type != KUGEL_CPU) {
    dev->trim(dev); // once more without the buffers that are cached
    s = dev->ops->alloc(dev, KUGEL__ON_DEVICE, bytes, out);
  }
  if (!s && (s = kugel__usage_add(dev, *out, bytes))) {
    dev->ops->free(dev, KUGEL__ON_DEVICE, *out);
    *out = NULL;
  }
  return s;
}

void kugel__device_free(kugel__device *dev, void *ptr)
{
  if (!ptr || !kugel__device_survived(dev))
    return;
  kugel__usage_remove(dev, ptr);
  dev->ops->free(dev, KUGEL__ON_DEVICE, ptr);
}

kugel_status kugel__queue_of(kugel__device *dev, kugel_queue *queue, kugel_queue **out)
{
  KUGEL_CHECK(!queue || queue->device == dev, KUGEL_EINVAL, "queue belongs to device %s, the work to %s",
              queue->device->info.name, dev->info.name);
  *out = queue ? queue : &dev->queue;
  return KUGEL_OK;
}

kugel_status kugel__queue_join(kugel__device *dev, kugel_queue *queue)
{
  kugel_queue *q = NULL;
  if (!queue)
    return KUGEL_OK;
  KUGEL_TRY(kugel__queue_of(dev, queue, &q));
  KUGEL_TRY(kugel__device_alive(dev));
  return dev->ops->wait(q);
}

static kugel_status finish(kugel__device *dev, kugel_queue *asked, kugel_status s)
{
  return s || asked ? s : dev->ops->wait(&dev->queue);
}

kugel_status kugel__device_copy(kugel__device *dev, kugel__way way, kugel__mem dst, kugel__mem src,
                                size_t bytes, kugel_queue *queue)
{
  if (!bytes)
    return KUGEL_OK;
  kugel_queue *q = NULL;
  KUGEL_TRY(kugel__device_alive(dev));
  KUGEL_TRY(kugel__queue_of(dev, queue, &q));
  return finish(dev, queue, dev->ops->copy(dev, way, dst, src, bytes, q));
}

static kugel_status copy_rows(kugel__device *dev, kugel__way way, const kugel__copied_rows *rows,
                              kugel_queue *q)
{
  bool done = false;
  if (dev->ops->copy_rows && rows->count > 1)
    KUGEL_TRY(dev->ops->copy_rows(dev, way, rows, q, &done));
  for (int64_t i = 0; i < rows->count && !done; i++) {
    kugel__mem dst = {rows->dst.base, rows->dst.offset + (size_t)i * rows->dst_pitch},
               src = {rows->src.base, rows->src.offset + (size_t)i * rows->src_pitch};
    KUGEL_TRY(dev->ops->copy(dev, way, dst, src, rows->bytes, q));
  }
  return KUGEL_OK;
}

kugel_status kugel__device_copy_rows(kugel__device *dev, kugel__way way, const kugel__copied_rows *rows,
                                     kugel_queue *queue)
{
  if (!rows->bytes || rows->count <= 0)
    return KUGEL_OK;
  kugel_queue *q = NULL;
  KUGEL_TRY(kugel__device_alive(dev));
  KUGEL_TRY(kugel__queue_of(dev, queue, &q));
  return finish(dev, queue, copy_rows(dev, way, rows, q));
}

kugel_status kugel__device_fill(kugel__device *dev, kugel__mem dst, int byte, size_t bytes,
                                kugel_queue *queue)
{
  if (!bytes)
    return KUGEL_OK;
  kugel_queue *q = NULL;
  KUGEL_TRY(kugel__device_alive(dev));
  KUGEL_TRY(kugel__queue_of(dev, queue, &q));
  return finish(dev, queue, dev->ops->fill(dev, dst, byte, bytes, q));
}

kugel_status kugel__launch(kugel__device *dev, kugel__kernel *kernel, const kugel__grid *grid, int nargs,
                           const kugel__arg *args, kugel_queue *queue)
{
  kugel__grid g = *grid;
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    g.blocks[i] = g.blocks[i] ? g.blocks[i] : 1;
    g.threads[i] = g.threads[i] ? g.threads[i] : 1;
    threads *= (uint64_t)kugel__min(g.threads[i], 65537); // no overflow of three such factors
  }
  KUGEL_CHECK(threads <= (uint64_t)dev->info.max_threads, KUGEL_EINVAL,
              "launch of %u x %u x %u blocks of %u x %u x %u threads: %s runs blocks of at most %d threads",
              g.blocks[0], g.blocks[1], g.blocks[2], g.threads[0], g.threads[1], g.threads[2], dev->info.name,
              dev->info.max_threads);
  KUGEL_CHECK(g.shared <= dev->info.shared_bytes, KUGEL_EINVAL,
              "launch with %zu bytes of shared memory a block: %s has at most %llu", g.shared, dev->info.name,
              (unsigned long long)dev->info.shared_bytes);
  kugel_queue *q = NULL;
  KUGEL_TRY(kugel__device_alive(dev));
  KUGEL_TRY(kugel__queue_of(dev, queue, &q));
  return finish(dev, queue, dev->ops->launch(kernel, &g, nargs, args, q));
}
