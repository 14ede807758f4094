/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of device plans: where they are, and the copies of those in host memory. */
#include "core/array.h"
#include "core/ctx.h"
#include "fft/fft_gpu.h"

static bool in_c_order(const kugel__view *v)
{
  int64_t stride = 1;
  for (int d = v->ndim - 1; d >= 0; d--) {
    if (v->shape[d] > 1 && v->stride[d] != stride)
      return false;
    stride *= v->shape[d];
  }
  return true;
}

static size_t bytes_of(const kugel_array *a)
{
  return (size_t)kugel__array_count(a) * (a->dtype.bits / 8);
}

typedef struct job {
  const kugel__fft_gpu *plan;
  bool inverse;
  const kugel__view *in, *out;
  const int *axes;
  double scale;
} job;

// Host arrays: up, transformed in place, down.
static kugel_status through_copy(kugel_ctx *ctx, const job *j, const kugel_array *in, const kugel_array *out,
                                 kugel_queue *queue)
{
  KUGEL_CHECK(
      in_c_order(j->in) && in_c_order(j->out), KUGEL_ENOTSUP,
      "host arrays of a device plan must be in C order: copy them first, or put them into device memory");
  if (bytes_of(in) == 0)
    return KUGEL_OK;
  kugel__device *dev = kugel__ctx_device(ctx);
  kugel__mem m = {NULL, 0}, host_in = {kugel__array_data(in), 0}, host_out = {kugel__array_data(out), 0};
  KUGEL_TRY(kugel__device_alloc(dev, bytes_of(in), &m.base));
  kugel_status s = kugel__device_copy(dev, KUGEL__UPLOAD, m, host_in, bytes_of(in), queue);
  if (!s)
    s = kugel__fft_gpu_run(j->plan, j->inverse, m, j->out, m, j->out, j->axes, j->scale, queue);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__DOWNLOAD, host_out, m, bytes_of(out), queue);
  kugel_status waited = dev->ops->wait(queue);
  kugel__device_free(dev, m.base);
  return s ? s : waited;
}

kugel_status kugel__fft_gpu_execute(const kugel__fft_gpu *p, bool inverse, const kugel_array *in,
                                    const kugel__view *in_view, const kugel_array *out,
                                    const kugel__view *out_view, const int *axes, double scale,
                                    kugel_queue *queue)
{
  kugel_ctx *ctx = kugel__fft_gpu_ctx(p);
  kugel__device *dev = kugel__ctx_device(ctx);
  kugel_queue *used;
  KUGEL_TRY(kugel__queue_of(dev, queue, &used));
  job j = {p, inverse, in_view, out_view, axes, scale};
  if (in->device.type == KUGEL_CPU && out->device.type == KUGEL_CPU)
    return through_copy(ctx, &j, in, out, used);
  KUGEL_CHECK(in->device.type == dev->ops->type && out->device.type == dev->ops->type &&
                  in->device.id == dev->id && out->device.id == dev->id,
              KUGEL_EDEVICE,
              "arrays are on devices %d:%d and %d:%d (type:number), must both be on %d:%d or on the host",
              in->device.type, in->device.id, out->device.type, out->device.id, dev->ops->type, dev->id);
  kugel__mem from = {in->data, (size_t)in->byte_offset}, to = {out->data, (size_t)out->byte_offset};
  KUGEL_TRY(kugel__fft_gpu_run(p, inverse, from, in_view, to, out_view, axes, scale, used));
  return queue ? KUGEL_OK : dev->ops->wait(used);
}
