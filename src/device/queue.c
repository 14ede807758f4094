/* SPDX-License-Identifier: BSD-3-Clause */
/* Device memory and queues as the public API has them. */
#include <stdint.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/device.h"
#include "device/usage.h"

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

kugel_status kugel_device_usage(kugel_ctx *ctx, uint64_t *now, uint64_t *peak)
{
  kugel__usage(kugel__ctx_device(ctx), now, peak);
  return KUGEL_OK;
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

kugel_status kugel__queue_follow(kugel_queue *first, kugel_queue *then)
{
  const kugel__device_ops *ops = first->device->ops;
  kugel__event *event = NULL;
  KUGEL_TRY(ops->record(first, &event));
  kugel_status s = ops->after(then, event);
  ops->event_free(event);
  return s;
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
