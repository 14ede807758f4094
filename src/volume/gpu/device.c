/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans on a device: the kernels' copy, arguments, the loop over a batch. */
#include "volume/gpu/device.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "volume/gpu/boxes.h"
#include "volume/cpu/lines.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

/* ---- execution ---- */

static kugel_status run_batch(kugel__device_job *j, bool adjoint, const kugel__volume_argument *in,
                              const kugel__volume_argument *out)
{
  int64_t batch = 1, size_in = in->box.dtype.bits / 8, size_out = out->box.dtype.bits / 8;
  int64_t in_base = (int64_t)j->in_mem.offset / size_in, out_base = (int64_t)j->out_mem.offset / size_out;
  KUGEL_CHECK(j->in_mem.offset % (size_t)size_in == 0 && j->out_mem.offset % (size_t)size_out == 0,
              KUGEL_ENOTSUP,
              "byte_offset is %zu and %zu, must be a multiple of an element's %lld and %lld bytes",
              j->in_mem.offset, j->out_mem.offset, (long long)size_in, (long long)size_out);
  j->in_mem.offset = j->out_mem.offset = 0;
  for (int d = 0; d < in->lead; d++)
    batch *= in->shape[d];
  for (int64_t i = 0; i < batch; i++) {
    int64_t x = in_base, y = out_base, rest = i;
    for (int d = in->lead - 1; d >= 0; rest /= in->shape[d], d--) {
      x += rest % in->shape[d] * in->step[d];
      y += rest % in->shape[d] * out->step[d];
    }
    KUGEL_TRY(j->p->gpu->fused ? kugel__fused_item(j, adjoint, x, y) : kugel__boxes_item(j, adjoint, x, y));
  }
  return KUGEL_OK;
}

kugel_status kugel__volume_device_execute(const kugel_volume *p, bool adjoint,
                                          const kugel__volume_argument *in, const kugel__volume_argument *out,
                                          int64_t *clipped, kugel_queue *queue)
{
  kugel__device *dev = kugel__ctx_device(p->ctx);
  kugel__device_job j = {.p = p, .in = in->box, .out = out->box};
  kugel__loan loans[2] = {{.bytes = 0}};
  int64_t m[DIMS];
  size_t bytes[3] = {0, 0, 256};
  kugel__mem *work[3] = {&j.work[0], &j.work[1], &j.clipped};
  for (int d = 0; d < DIMS; d++)
    m[d] = p->axis[d].m;
  j.extended =
      kugel__volume_own_box(p, NULL, p->gpu->fused ? p->gpu->fold.extended : p->gpu->boxes->moves.extended);
  j.results = kugel__volume_own_box(p, NULL, m);
  KUGEL_CHECK((in->array->device.type != KUGEL_CPU || kugel__array_contiguous(in->array)) &&
                  (out->array->device.type != KUGEL_CPU || kugel__array_contiguous(out->array)),
              KUGEL_ENOTSUP, "host arrays of a device plan must be in C order: copy them first");
  KUGEL_TRY(kugel__queue_of(dev, queue, &j.queue));
  p->gpu->fused ? kugel__fused_room(p, adjoint, bytes) : kugel__boxes_room(p, bytes);
  kugel_status s = KUGEL_OK; // buffers of their own: kernels get no offsets
  for (int i = 0; i < 3 && !s; i++)
    if (bytes[i])
      s = kugel__device_scratch_get(dev, bytes[i], &work[i]->base);
  if (!s)
    s = dev->ops->fill(dev, j.clipped, 0, 4, j.queue);
  if (!s)
    s = kugel__lend(dev, in->array, KUGEL__READ, j.queue, &loans[0]);
  if (!s)
    s = kugel__lend(dev, out->array, KUGEL__WRITE, j.queue, &loans[1]);
  j.in_mem = loans[0].mem;
  j.out_mem = loans[1].mem;
  if (!s)
    s = run_batch(&j, adjoint, in, out);
  uint32_t count = 0;
  if (!s)
    s = kugel__device_copy(dev, KUGEL__DOWNLOAD, (kugel__mem){&count, 0}, j.clipped, 4, j.queue);
  s = kugel__lend_end(2, loans, j.queue, s);
  kugel_status waited = dev->ops->wait(j.queue);
  for (int i = 0; i < 3; i++)
    if (work[i]->base)
      kugel__device_scratch_put(dev, work[i]->base, bytes[i]);
  if (clipped)
    *clipped = count;
  return s ? s : waited;
}

/* ---- plans ---- */

kugel_status kugel__volume_device_window(kugel_volume *p)
{
  kugel__device *dev = kugel__ctx_device(p->ctx);
  size_t bytes = (size_t)(p->axis[0].m * p->axis[1].m * p->axis[2].m * p->kernels) * p->real;
  void *window;
  KUGEL_TRY(kugel__device_alloc(dev, bytes, &window));
  p->gpu->window = window;
  return kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){window, 0}, (kugel__mem){p->window, 0}, bytes,
                            NULL);
}

kugel_status kugel__volume_device_create(kugel_volume *p, const kugel_array *kernel)
{
  kugel__volume_box box;
  KUGEL_TRY(kugel__volume_check_kernels(p, kernel));
  KUGEL_TRY(kugel__volume_take_kernel(p, kernel, &box));
  p->gpu = kugel__calloc(p->ctx, sizeof *p->gpu);
  KUGEL_CHECK(p->gpu, KUGEL_ENOMEM, "no memory for a plan");
  KUGEL_TRY(kugel__volume_copy_kernels(p, &box, &p->gpu->kernel));
  kugel_status s = kugel__fused_create(p);
  KUGEL_CHECK(
      s != KUGEL_ENOTSUP || p->gpu->fused || !p->depth, KUGEL_ENOTSUP,
      "no block of threads holds lines of %lld x %lld x %lld points, which kernels by depth need: use "
      "KUGEL_VOLUME_TILES or a context of \"cpu\"",
      (long long)p->axis[0].length, (long long)p->axis[1].length, (long long)p->axis[2].length);
  if (s == KUGEL_ENOTSUP && !p->gpu->fused) // no block holds the lines
    s = kugel__boxes_create(p);
  return s;
}

void kugel__volume_device_destroy(kugel_volume *p)
{
  struct kugel__volume_device *g = p->gpu;
  if (!g)
    return;
  kugel__boxes_destroy(p);
  kugel__fused_release(p);
  kugel__device_free(kugel__ctx_device(p->ctx), g->window);
  kugel__free(p->ctx, g->kernel);
  kugel__free(p->ctx, g);
}
