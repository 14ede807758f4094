/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of device plans: where they are, and the copies of those in host memory. */
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "fft/gpu/parts.h"

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

static int64_t count_of(const kugel__view *v)
{
  int64_t count = 1;
  for (int d = 0; d < v->ndim; d++)
    count *= v->shape[d];
  return count;
}

// Arrays in host memory, or parts of them.
typedef struct hosted {
  kugel__fft_gpu *plan;
  kugel__fft_gpu_call call; // its views are these:
  kugel__view in_view, out_view;
  char *in, *out;
  int64_t in_number, out_number; // bytes of a number
  bool same;                     // shapes and numbers of in and out
  int64_t memory;                // that may be used, bytes; 0: no limit
} hosted;

static bool transformed(const hosted *h, int d, int naxes)
{
  for (int i = 0; i < naxes; i++)
    if (h->call.axes[i] == d)
      return true;
  return false;
}

// Up, transformed, down.
static kugel_status through_copy(const hosted *h)
{
  size_t ni = (size_t)(count_of(&h->in_view) * h->in_number),
         no = (size_t)(count_of(&h->out_view) * h->out_number);
  kugel__device *dev = kugel__ctx_device(kugel__fft_gpu_ctx(h->plan));
  kugel__fft_gpu_call on = h->call;
  kugel__mem host_in = {h->in, 0}, host_out = {h->out, 0};
  bool same = h->same;
  on.in_view = &h->in_view;
  on.out_view = &h->out_view;
  on.in = on.out = (kugel__mem){NULL, 0};
  KUGEL_TRY(kugel__device_scratch_get(dev, ni, &on.in.base));
  kugel_status s = same ? KUGEL_OK : kugel__device_scratch_get(dev, no, &on.out.base);
  if (same)
    on.out = on.in;
  on.spare_in = true;
  if (!s)
    s = kugel__device_copy(dev, KUGEL__UPLOAD, on.in, host_in, ni, on.queue);
  if (!s)
    s = kugel__fft_gpu_run(h->plan, &on);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__DOWNLOAD, host_out, on.out, no, on.queue);
  kugel_status waited = dev->ops->wait(on.queue);
  kugel__device_scratch_put(dev, on.in.base, ni);
  if (!same)
    kugel__device_scratch_put(dev, on.out.base, no);
  return s ? s : waited;
}

// What the device has to hold: the arrays, or one for both, and work memory.
static kugel_status bytes_needed(const hosted *h, int64_t *bytes)
{
  static char one, other;
  kugel__fft_gpu_call on = h->call;
  on.in_view = &h->in_view;
  on.out_view = &h->out_view;
  on.in = (kugel__mem){&one, 0};
  on.out = (kugel__mem){h->same ? &one : &other, 0};
  on.spare_in = true;
  KUGEL_TRY(kugel__fft_gpu_work(h->plan, &on, bytes));
  *bytes += count_of(&h->in_view) * h->in_number;
  *bytes += h->same ? 0 : count_of(&h->out_view) * h->out_number;
  return KUGEL_OK;
}

// As many transforms at a time as there is room for: parts along the first axis that is longer than 1.
static kugel_status in_parts(const hosted *h, int naxes)
{
  int64_t need = 0;
  int d = 0;
  if (h->memory)
    KUGEL_TRY(bytes_needed(h, &need));
  if (need <= h->memory)
    return through_copy(h);
  while (d < h->in_view.ndim && h->in_view.shape[d] == 1 && !transformed(h, d, naxes))
    d++;
  KUGEL_CHECK(
      d < h->in_view.ndim && !transformed(h, d, naxes) && (h->same || h->in != h->out), KUGEL_ENOMEM,
      "a transform needs %lld bytes of the device, the context's limit is %lld: raise it, or transform "
      "on the CPU",
      (long long)need, (long long)h->memory);
  hosted part = *h;
  int64_t n = h->in_view.shape[d];
  int64_t rows = kugel__max(1, kugel__min(n - 1, (int64_t)((double)n * (double)h->memory / (double)need)));
  int64_t parts = (n + rows - 1) / rows;
  rows = (n + parts - 1) / parts;
  for (int64_t at = 0; at < n; at += rows) {
    part.in_view.shape[d] = part.out_view.shape[d] = kugel__min(rows, n - at);
    part.in = h->in + at * h->in_view.stride[d] * h->in_number;
    part.out = h->out + at * h->out_view.stride[d] * h->out_number;
    kugel__span outer =
        kugel__progress_enter((double)at / (double)n, (double)(at + part.in_view.shape[d]) / (double)n);
    kugel_status s = in_parts(&part, naxes);
    kugel__progress_leave(outer);
    KUGEL_TRY(s);
  }
  return KUGEL_OK;
}

static kugel_status through_host(kugel__fft_gpu *p, const kugel__fft_gpu_call *call, const kugel_array *in,
                                 const kugel_array *out)
{
  KUGEL_CHECK(
      in_c_order(call->in_view) && in_c_order(call->out_view), KUGEL_ENOTSUP,
      "host arrays of a device plan must be in C order: copy them first, or put them into device memory");
  hosted h = {.plan = p, .call = *call, .in_view = *call->in_view, .out_view = *call->out_view};
  int64_t ni = count_of(&h.in_view), no = count_of(&h.out_view);
  if (!ni || !no)
    return KUGEL_OK;
  h.in = kugel__array_data(in);
  h.out = kugel__array_data(out);
  h.in_number = kugel__array_count(in) * (in->dtype.bits / 8) / ni;
  h.out_number = kugel__array_count(out) * (out->dtype.bits / 8) / no;
  h.same = h.in_number == h.out_number;
  for (int d = 0; d < h.in_view.ndim; d++)
    h.same = h.same && h.in_view.shape[d] == h.out_view.shape[d];
  h.memory = p->memory;
  return in_parts(&h, p->desc.naxes);
}

kugel_status kugel__fft_gpu_execute(kugel__fft_gpu *p, const kugel__fft_gpu_call *call, const kugel_array *in,
                                    const kugel_array *out)
{
  kugel__device *dev = kugel__ctx_device(kugel__fft_gpu_ctx(p));
  kugel__fft_gpu_call on = *call;
  KUGEL_TRY(kugel__queue_of(dev, call->queue, &on.queue));
  if (in->device.type == KUGEL_CPU && out->device.type == KUGEL_CPU)
    return through_host(p, &on, in, out);
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
