/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of device plans: where they are, and the copies of those in host memory. */
#include "core/array.h"
#include "core/ctx.h"
#include "device/lend.h"
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

// Host arrays: up, transformed, down.
static kugel_status through_copy(kugel__fft_gpu *p, const kugel__fft_gpu_call *call, const kugel_array *in,
                                 const kugel_array *out)
{
  KUGEL_CHECK(
      in_c_order(call->in_view) && in_c_order(call->out_view), KUGEL_ENOTSUP,
      "host arrays of a device plan must be in C order: copy them first, or put them into device memory");
  size_t ni = bytes_of(in), no = bytes_of(out);
  if (!ni || !no)
    return KUGEL_OK;
  kugel__device *dev = kugel__ctx_device(kugel__fft_gpu_ctx(p));
  kugel__fft_gpu_call on = *call;
  kugel__mem host_in = {kugel__array_data(in), 0}, host_out = {kugel__array_data(out), 0};
  on.in = on.out = (kugel__mem){NULL, 0};
  KUGEL_TRY(kugel__device_scratch_get(dev, ni, &on.in.base));
  bool same = ni == no;
  for (int d = 0; d < in->ndim; d++)
    same = same && in->shape[d] == out->shape[d];
  kugel_status s = same ? KUGEL_OK : kugel__device_scratch_get(dev, no, &on.out.base);
  if (same)
    on.out = on.in;
  on.spare_in = true;
  if (!s)
    s = kugel__device_copy(dev, KUGEL__UPLOAD, on.in, host_in, ni, call->queue);
  if (!s)
    s = kugel__fft_gpu_run(p, &on);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__DOWNLOAD, host_out, on.out, no, call->queue);
  kugel_status waited = dev->ops->wait(call->queue);
  kugel__device_scratch_put(dev, on.in.base, ni);
  if (!same)
    kugel__device_scratch_put(dev, on.out.base, no);
  return s ? s : waited;
}

kugel_status kugel__fft_gpu_execute(kugel__fft_gpu *p, const kugel__fft_gpu_call *call, const kugel_array *in,
                                    const kugel_array *out)
{
  kugel__device *dev = kugel__ctx_device(kugel__fft_gpu_ctx(p));
  kugel__fft_gpu_call on = *call;
  KUGEL_TRY(kugel__queue_of(dev, call->queue, &on.queue));
  if (in->device.type == KUGEL_CPU && out->device.type == KUGEL_CPU)
    return through_copy(p, &on, in, out);
  KUGEL_CHECK(in->device.type == dev->ops->type && out->device.type == dev->ops->type &&
                  in->device.id == dev->id && out->device.id == dev->id,
              KUGEL_EDEVICE,
              "arrays are on devices %d:%d and %d:%d (type:number), must both be on %d:%d or on the host",
              in->device.type, in->device.id, out->device.type, out->device.id, dev->ops->type, dev->id);
  bool pairs =
      call->in_view->ndim < in->ndim && in->dtype.bits >= 64 && dev->ops->type == KUGEL_CUDA; // as a whole
  KUGEL_CHECK(!pairs || (((uintptr_t)in->data + in->byte_offset) % 16 == 0 &&
                         ((uintptr_t)out->data + out->byte_offset) % 16 == 0),
              KUGEL_ENOTSUP, "double-double arrays on a device must begin at a multiple of 16 bytes");
  on.in = (kugel__mem){in->data, (size_t)in->byte_offset};
  on.out = (kugel__mem){out->data, (size_t)out->byte_offset};
  KUGEL_TRY(kugel__fft_gpu_run(p, &on));
  return call->queue ? KUGEL_OK : dev->ops->wait(on.queue);
}
