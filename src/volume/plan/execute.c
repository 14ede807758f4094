/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments of executions, and the loop over a batch. */
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/device.h"
#include "volume/gpu/device.h"
#include "volume/plan/global_device.h"

enum { MAX_NDIM = 32 };

typedef kugel__volume_argument argument;

// Whether pieces of arrays in host memory are copied to devices.
static bool on_way(const kugel_volume *p)
{
  return p->lanes || p->dif || ((p->pencil || p->global_led) && p->ctx->device.type != KUGEL_CPU);
}

// Whether ranks have a device each, which takes arrays in its memory.
static bool over_devices(const kugel_volume *p)
{
  return p->global && p->global->device;
}

static kugel_status take(const kugel_volume *p, const kugel_array *a, const char *name, bool results,
                         bool written, argument *out)
{
  int kernels = results && p->opts.kernels ? 1 : 0, own = p->ndim + kernels;
  char text[256];
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_CHECK(a->ndim >= own && a->ndim <= MAX_NDIM && a->shape, KUGEL_ESHAPE,
              "%s has ndim %d, must be %d to %d with a shape", name, a->ndim, own, (int)MAX_NDIM);
  kugel__array_describe(a, text, sizeof text);
  KUGEL_CHECK(kugel__volume_dtype(a->dtype, p->opts.complex_data), KUGEL_ESHAPE, "%s is %s, must be %s", name,
              text,
              p->opts.complex_data ? "complex64 or complex128"
                                   : "uint8, uint16, int16, int32, float16, float32 or float64");
  bool here = a->device.type == p->ctx->device.type && a->device.id == p->ctx->device.id;
  KUGEL_CHECK(a->device.type == KUGEL_CPU || !on_way(p), KUGEL_ENOTSUP,
              "%s is in the memory of a device; a plan of %s takes arrays in host memory", name,
              p->dif      ? "parts"
              : p->pencil ? "pencils"
              : p->lanes  ? "tiles"
                          : "ranks that serve");
  KUGEL_CHECK(a->device.type == KUGEL_CPU || here, KUGEL_EDEVICE,
              "%s is on device %d of type %d, this plan takes host memory%s", name, a->device.id,
              a->device.type, p->gpu || over_devices(p) ? " or that of its context's device" : "");
  *out =
      (argument){.array = a, .lead = a->ndim - own, .box = {.data = kugel__array_data(a), .dtype = a->dtype}};
  int64_t stride = 1;
  for (int d = a->ndim - 1; d >= 0; d--) {
    int at = d - a->ndim + 4; // of box.step
    bool image = d >= a->ndim - p->ndim;
    int64_t want = image && at == 1 && p->global
                       ? kugel__global_own(p->global, results ? p->global->results : p->global->data)
                   : image                     ? results ? p->axis[at - 1].m : p->axis[at - 1].n
                   : kernels && d == out->lead ? p->kernels
                                               : a->shape[d];
    KUGEL_CHECK(a->shape[d] == want && want >= 0, KUGEL_ESHAPE,
                "%s is %s: its extent on axis %d must be %lld", name, text, d, (long long)want);
    out->shape[d] = a->shape[d];
    out->step[d] = a->strides ? a->strides[d] : stride;
    if (image)
      out->box.step[at] = out->step[d];
    else if (d >= out->lead)
      out->box.step[0] = out->step[d];
    stride *= a->shape[d];
  }
  KUGEL_CHECK(a->data || stride == 0, KUGEL_EINVAL, "%s has data NULL", name);
  return kugel__array_check_reach(a, name, written);
}

static void extent_of(const argument *a, const char **lo, const char **hi)
{
  int64_t size = a->box.dtype.bits / 8;
  *lo = a->box.data;
  *hi = a->box.data + size;
  for (int d = 0; d < a->array->ndim; d++) {
    int64_t reach = (a->shape[d] - 1) * a->step[d] * size;
    *lo += reach < 0 ? reach : 0;
    *hi += reach > 0 ? reach : 0;
  }
}

static kugel__volume_box item(const argument *a, int64_t index)
{
  kugel__volume_box b = a->box;
  for (int d = a->lead - 1; d >= 0; d--) {
    b.data += index % a->shape[d] * a->step[d] * (b.dtype.bits / 8);
    index /= a->shape[d];
  }
  return b;
}

typedef struct call {
  const kugel_volume *p;
  bool adjoint;
  argument from, to;
  int64_t batch;
} call;

static kugel_status check(call *c, const kugel_array *in, const kugel_array *out, const kugel_queue *queue)
{
  const kugel_volume *p = c->p;
  argument *from = &c->from, *to = &c->to;
  KUGEL_CHECK(!c->adjoint || !p->global || p->engine != KUGEL_VOLUME_TILES, KUGEL_ENOTSUP,
              "the plan shares tiles, which have no adjoint over ranks: use KUGEL_VOLUME_GLOBAL");
  const char *il, *ih, *ol, *oh;
  KUGEL_TRY(take(p, in, "in", c->adjoint, false, from));
  KUGEL_TRY(take(p, out, "out", !c->adjoint, true, to));
  KUGEL_CHECK(!queue || p->gpu || on_way(p) || over_devices(p), KUGEL_EINVAL,
              "queue is set, but this plan is on the CPU: pass NULL");
  KUGEL_CHECK(from->lead == to->lead, KUGEL_ESHAPE,
              "in has %d axes of batch and out %d: they must be as many", from->lead, to->lead);
  c->batch = 1;
  for (int d = 0; d < from->lead; d++) {
    KUGEL_CHECK(from->shape[d] == to->shape[d], KUGEL_ESHAPE,
                "batch extents differ: %lld and %lld on axis %d", (long long)from->shape[d],
                (long long)to->shape[d], d);
    c->batch *= from->shape[d];
  }
  extent_of(from, &il, &ih);
  extent_of(to, &ol, &oh);
  KUGEL_CHECK(c->batch == 0 || ih <= ol || oh <= il || in->device.type == KUGEL_OPENCL ||
                  !kugel__array_count(in) || !kugel__array_count(out),
              KUGEL_EINVAL, "in and out overlap: give them arrays of their own");
  return KUGEL_OK;
}

static kugel_status run_batch(const call *c, atomic_llong *bad)
{
  kugel_status s = KUGEL_OK;
  for (int64_t i = 0; i < c->batch && !s; i++) {
    kugel__volume_box x = item(&c->from, i), y = item(&c->to, i);
    kugel__span outer =
        kugel__progress_enter((double)i / (double)c->batch, (double)(i + 1) / (double)c->batch);
    s = kugel__volume_run(c->p, c->adjoint, &x, &y, bad);
    kugel__progress_leave(outer);
  }
  return s;
}

// Collective: all ranks execute, or none.
static kugel_status over_ranks(call *c, const kugel_array *in, const kugel_array *out, kugel_queue *queue,
                               atomic_llong *bad)
{
  kugel_comm *comm = c->p->global->comm;
  kugel__comm_enter(comm);
  kugel_status s = check(c, in, out, queue);
  kugel__same same[] = {{"the direction", c->adjoint}, {"the batch", c->batch}};
  s = kugel__comm_same(comm, s, 2, same);
  if (!s)
    s = over_devices(c->p) ? kugel__global_device_execute(c->p, c->adjoint, &c->from, &c->to, bad, queue)
                           : run_batch(c, bad);
  return kugel__comm_leave(comm, s);
}

static kugel_status execute(const kugel_volume *p, bool adjoint, const kugel_array *in,
                            const kugel_array *out, int64_t *clipped, kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_volume_create");
  call c = {.p = p, .adjoint = adjoint};
  atomic_llong bad = 0;
  kugel_status s = KUGEL_OK;
  if (p->global) {
    s = over_ranks(&c, in, out, queue, &bad);
  } else {
    KUGEL_TRY(check(&c, in, out, queue));
    if (clipped)
      *clipped = 0;
    if (c.batch == 0)
      return KUGEL_OK;
    if (p->gpu)
      return kugel__volume_device_execute(p, adjoint, &c.from, &c.to, clipped, queue);
    s = on_way(p) ? kugel__queue_join(kugel__ctx_device(p->ctx), queue) : KUGEL_OK;
    s = s ? s : run_batch(&c, &bad);
  }
  if (clipped && !s)
    *clipped = atomic_load(&bad);
  return s;
}

kugel_status kugel_volume_execute(const kugel_volume *plan, const kugel_array *in, const kugel_array *out,
                                  int64_t *clipped, kugel_queue *queue)
{
  return execute(plan, false, in, out, clipped, queue);
}

kugel_status kugel_volume_adjoint(const kugel_volume *plan, const kugel_array *in, const kugel_array *out,
                                  int64_t *clipped, kugel_queue *queue)
{
  return execute(plan, true, in, out, clipped, queue);
}
