/* SPDX-License-Identifier: BSD-3-Clause */
/* The caller's arrays on devices; arrays of modes and fine grids as the FFT has them. */
#include "core/array.h"
#include "core/ctx.h"
#include "nufft/gpu.h"

kugel_status kugel__nufft_gpu_place(const kugel_nufft *p, const kugel_array *a, const char *name)
{
  int64_t step = 1;
  bool ordered = true;
  kugel_device here = p->gpu->dev->info.device;
  if (a->device.type == here.type && a->device.id == here.id)
    return KUGEL_OK;
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EDEVICE,
              "%s is on device %d of type %d, the plan is on %s: copy it there", name, (int)a->device.id,
              (int)a->device.type, p->gpu->dev->info.name);
  for (int d = a->ndim - 1; d >= 0 && a->strides; d--) {
    ordered = ordered && (a->shape[d] <= 1 || a->strides[d] == step);
    step *= a->shape[d];
  }
  KUGEL_CHECK(ordered || kugel__array_count(a) == 0, KUGEL_ENOTSUP,
              "%s is on the host with strides, the plan is on %s: make it contiguous or copy it there", name,
              p->gpu->dev->info.name);
  return KUGEL_OK;
}

void kugel__nufft_start_at(kugel__nufft_shaped *s, kugel__mem memory, int64_t at, int64_t number)
{
  s->a.data = memory.base;
  s->a.byte_offset = memory.offset + (size_t)(at * number);
}

kugel_array *kugel__nufft_shape(const kugel__nufft_call *c, kugel__mem memory, int64_t vectors,
                                const int64_t *n, kugel__nufft_shaped *s)
{
  const kugel_nufft *plan = c->p->plan;
  int64_t step = 1;
  s->a = (kugel_array){.device = c->g->dev->info.device,
                       .ndim = plan->ndim + 1,
                       .dtype = plan->single ? KUGEL_C64 : KUGEL_C128,
                       .shape = s->shape,
                       .strides = s->strides};
  for (int d = plan->ndim; d > 0; d--) {
    s->shape[d] = n[d - 1];
    s->strides[d] = step;
    step *= s->shape[d];
  }
  s->shape[0] = vectors;
  s->strides[0] = step;
  kugel__nufft_start_at(s, memory, 0, 1);
  return &s->a;
}

kugel_array *kugel__nufft_view(const kugel__nufft_call *c, const kugel__nufft_end *end, int64_t vectors,
                               const int64_t *n, kugel__nufft_shaped *s)
{
  const kugel_nufft *plan = c->p->plan;
  int64_t at = end->at;
  kugel__nufft_shape(c, end->loan.mem, vectors, n, s);
  for (int d = 0; d < plan->ndim; d++) {
    int64_t stride = end->stride[d];
    s->strides[d + 1] = c->mirrored ? -stride : stride;
    at += c->mirrored ? (n[d] - 1) * stride : 0;
  }
  s->strides[0] = end->batch;
  kugel__nufft_start_at(s, end->loan.mem, at, plan->single ? 8 : 16);
  return &s->a;
}

kugel_status kugel__nufft_reorder(const kugel__nufft_call *c, const kugel__nufft_end *end, int64_t vectors,
                                  bool out)
{
  const kugel_nufft *plan = c->p->plan;
  int64_t number = plan->single ? 8 : 16;
  for (int part = 0; part < 1 << plan->ndim; part++) {
    kugel__nufft_shaped own, box;
    int64_t at = end->at, to = 0;
    bool empty = false;
    kugel__nufft_shape(c, end->loan.mem, vectors, c->n, &own);
    kugel__nufft_shape(c, c->box, vectors, c->n, &box);
    own.strides[0] = end->batch;
    for (int d = 0; d < plan->ndim; d++) {
      int64_t n = c->n[d], first = part >> d & 1 ? (n + 1) / 2 : 0,
              count = part >> d & 1 ? n / 2 : (n + 1) / 2;
      int64_t mode = part >> d & 1 ? first - n : 0, step = box.strides[d + 1];
      at += first * end->stride[d];
      to += (c->mirrored ? (n - 1) / 2 - mode : mode + n / 2) * step;
      own.strides[d + 1] = end->stride[d];
      box.strides[d + 1] = c->mirrored ? -step : step;
      own.shape[d + 1] = box.shape[d + 1] = count;
      empty = empty || count == 0;
    }
    kugel__nufft_start_at(&own, end->loan.mem, at, number);
    kugel__nufft_start_at(&box, c->box, to, number);
    if (!empty)
      KUGEL_TRY(kugel_array_copy(plan->ctx, out ? &box.a : &own.a, out ? &own.a : &box.a, NULL, c->queue));
  }
  return KUGEL_OK;
}
