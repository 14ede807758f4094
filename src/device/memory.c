/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory, queues and launches: checks common to all devices, then the device's own operation. */
#include <stdint.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/device.h"
#include "device/lend.h"
#include "device/usage.h"

/* ---- inside the library -------------------------------------------------------------------------------- */

kugel_status kugel__device_alloc(kugel__device *dev, size_t bytes, void **out)
{
  *out = NULL;
  KUGEL_CHECK(bytes > 0 && bytes <= (size_t)1 << 60, KUGEL_EINVAL,
              "device buffer of %zu bytes: must be at least 1 byte", bytes);
  KUGEL_TRY(kugel__device_alive(dev));
  kugel_status s = dev->ops->alloc(dev, KUGEL__ON_DEVICE, bytes, out);
  if (s == KUGEL_ENOMEM && dev->info.device.type != KUGEL_CPU) {
    kugel__device_trim(dev); // once more without the buffers that are kept
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

/* ---- the public API ------------------------------------------------------------------------------------ */

kugel_status kugel_device_memory(kugel_ctx *ctx, uint64_t *available, uint64_t *total)
{
  kugel__device *dev = kugel__ctx_device(ctx);
  uint64_t f = 0, t = 0;
  KUGEL_TRY(kugel__device_alive(dev));
  KUGEL_TRY(dev->ops->memory(dev, &f, &t));
  if (available)
    *available = f;
  if (total)
    *total = t;
  return KUGEL_OK;
}

kugel_status kugel_device_alloc(kugel_ctx *ctx, size_t bytes, void **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the pointer");
  return kugel__device_alloc(kugel__ctx_device(ctx), bytes, out);
}

void kugel_device_free(kugel_ctx *ctx, void *ptr)
{
  kugel__device_free(kugel__ctx_device(ctx), ptr);
}

kugel_status kugel_device_alloc_host(kugel_ctx *ctx, size_t bytes, void **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the pointer");
  *out = NULL;
  KUGEL_CHECK(bytes > 0 && bytes <= (size_t)1 << 60, KUGEL_EINVAL,
              "host buffer of %zu bytes: must be at least 1 byte", bytes);
  kugel__device *dev = kugel__ctx_device(ctx);
  KUGEL_TRY(kugel__device_alive(dev));
  return dev->ops->alloc(dev, KUGEL__PINNED, bytes, out);
}

void kugel_device_free_host(kugel_ctx *ctx, void *ptr)
{
  kugel__device *dev = kugel__ctx_device(ctx);
  if (ptr && kugel__device_survived(dev))
    dev->ops->free(dev, KUGEL__PINNED, ptr);
}

kugel_status kugel_device_upload(kugel_ctx *ctx, void *dst, size_t offset, const void *src, size_t bytes,
                                 kugel_queue *queue)
{
  KUGEL_CHECK((dst && src) || !bytes, KUGEL_EINVAL, "%s is NULL: pass the memory to copy",
              dst ? "src" : "dst");
  return kugel__device_copy(kugel__ctx_device(ctx), KUGEL__UPLOAD, (kugel__mem){dst, offset},
                            (kugel__mem){(void *)(uintptr_t)src, 0}, bytes, queue);
}

kugel_status kugel_device_download(kugel_ctx *ctx, void *dst, const void *src, size_t offset, size_t bytes,
                                   kugel_queue *queue)
{
  KUGEL_CHECK((dst && src) || !bytes, KUGEL_EINVAL, "%s is NULL: pass the memory to copy",
              dst ? "src" : "dst");
  return kugel__device_copy(kugel__ctx_device(ctx), KUGEL__DOWNLOAD, (kugel__mem){dst, 0},
                            (kugel__mem){(void *)(uintptr_t)src, offset}, bytes, queue);
}

kugel_status kugel_device_fill(kugel_ctx *ctx, void *dst, size_t offset, int byte, size_t bytes,
                               kugel_queue *queue)
{
  KUGEL_CHECK(dst || !bytes, KUGEL_EINVAL, "dst is NULL: pass the memory to fill");
  KUGEL_CHECK(byte >= 0 && byte <= 255, KUGEL_EINVAL, "byte is %d, must be 0 to 255", byte);
  return kugel__device_fill(kugel__ctx_device(ctx), (kugel__mem){dst, offset}, byte, bytes, queue);
}

/* ---- queues -------------------------------------------------------------------------------------------- */

static kugel_status make_queue(kugel_ctx *ctx, void *native, bool foreign, bool urgent, kugel_queue **out)
{
  kugel__device *dev = kugel__ctx_device(ctx);
  KUGEL_TRY(kugel__device_alive(dev));
  kugel_queue *q = kugel__calloc(ctx, sizeof *q);
  KUGEL_CHECK(q, KUGEL_ENOMEM, "no memory for a queue of %zu bytes", sizeof *q);
  q->device = dev;
  q->foreign = foreign;
  q->urgent = urgent;
  kugel_status s = dev->ops->queue_open(dev, native, q);
  if (s) {
    kugel__free(ctx, q);
    return s;
  }
  q->ctx = kugel__ctx_retain(ctx);
  *out = q;
  return KUGEL_OK;
}

kugel_status kugel_queue_create(kugel_ctx *ctx, kugel_queue **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the queue");
  *out = NULL;
  return make_queue(ctx, NULL, false, false, out);
}

kugel_status kugel_queue_wrap(kugel_ctx *ctx, void *native, kugel_queue **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the queue");
  *out = NULL;
  return make_queue(ctx, native, true, false, out);
}

kugel_status kugel__queue_create_urgent(kugel_ctx *ctx, kugel_queue **out)
{
  *out = NULL;
  return make_queue(ctx, NULL, false, true, out);
}

kugel_status kugel_queue_wait(kugel_queue *queue)
{
  if (!queue)
    return KUGEL_OK;
  KUGEL_TRY(kugel__device_alive(queue->device));
  return queue->device->ops->wait(queue);
}

void kugel_queue_destroy(kugel_queue *queue)
{
  if (!queue)
    return;
  kugel_ctx *ctx = queue->ctx;
  if (kugel__device_survived(queue->device))
    queue->device->ops->queue_close(queue);
  kugel__free(ctx, queue);
  kugel_ctx_destroy(ctx);
}
