/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of strided arrays with a conversion of their elements: checks, and the CPU's part. */
#include <string.h>
#include "arrays/copy.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/half.h"
#include "core/parallel.h"
#include "device/device.h"

enum { MOST_DIMS = 32, RUN = 256, RUNS = 64 }; /* RUN elements at a time, RUNS of them a task */

static bool is_complex(kugel_dtype t)
{
  return t.code == KUGEL_COMPLEX;
}

static bool known(kugel_dtype t)
{
  bool whole = t.bits == 8 || t.bits == 16 || t.bits == 32 || t.bits == 64;
  switch (t.code) {
  case KUGEL_INT:
  case KUGEL_UINT:
    return whole && t.lanes == 1;
  case KUGEL_BOOL:
    return t.bits == 8 && t.lanes == 1;
  case KUGEL_FLOAT:
    return whole && t.bits != 8 && t.lanes == 1;
  case KUGEL_COMPLEX:
    return (t.bits == 32 || t.bits == 64 || t.bits == 128) && t.lanes == 1;
  default:
    return false;
  }
}

/* ---- what is to be copied ------------------------------------------------------------------------------ */

static kugel_status check_types(const kugel_array *in, const kugel_array *out, const kugel_copy_opts *o)
{
  char a[96], b[96];
  KUGEL_CHECK(in->ndim == out->ndim && in->ndim >= 0 && in->ndim <= MOST_DIMS, KUGEL_ESHAPE,
              "in has ndim %d and out %d, must be the same, 0 to %d", in->ndim, out->ndim, MOST_DIMS);
  kugel__array_describe(in, a, sizeof a);
  kugel__array_describe(out, b, sizeof b);
  KUGEL_CHECK(
      known(in->dtype) && known(out->dtype), KUGEL_EINVAL,
      "in is %s and out %s: allowed are integers and bool of 8 to 64 bits, float16 to float64, complex32 to "
      "complex128",
      a, b);
  bool floats = out->dtype.code == KUGEL_FLOAT || is_complex(out->dtype);
  bool same = kugel__dtype_is(in->dtype, out->dtype);
  KUGEL_CHECK(same || (floats && (is_complex(out->dtype) || !is_complex(in->dtype))), KUGEL_EINVAL,
              "in is %s and out %s: elements convert to floats (from real types) and to complex numbers only",
              a, b);
  KUGEL_CHECK(!o->conjugate || (is_complex(in->dtype) && is_complex(out->dtype)), KUGEL_EINVAL,
              "conjugate is set, in is %s and out %s: both must be complex", a, b);
  KUGEL_CHECK(floats || o->scale == 0 || o->scale == 1, KUGEL_EINVAL,
              "scale is %g and out %s: only floats and complex numbers are scaled", o->scale, b);
  for (int d = 0; d < in->ndim; d++)
    KUGEL_CHECK(in->shape[d] == out->shape[d] && in->shape[d] >= 0, KUGEL_ESHAPE,
                "in is %s and out %s: they must have the same shape", a, b);
  return KUGEL_OK;
}

static kugel_status check_place(const kugel__device *dev, const kugel_array *a, const char *name)
{
  kugel_device here = dev->info.device;
  KUGEL_CHECK(a->device.type == here.type && (here.type == KUGEL_CPU || a->device.id == here.id),
              KUGEL_EDEVICE, "%s is on device %d of type %d, the context is on %s: copy it there", name,
              (int)a->device.id, (int)a->device.type, dev->info.name);
  KUGEL_CHECK(a->data || !kugel__array_count(a), KUGEL_EINVAL, "%s has data NULL", name);
  KUGEL_CHECK(a->byte_offset % (a->dtype.bits / 8) == 0, KUGEL_EINVAL,
              "byte_offset of %s is %llu, must be a multiple of the %d bytes of an element", name,
              (unsigned long long)a->byte_offset, a->dtype.bits / 8);
  return KUGEL_OK;
}

static int64_t step_of(const kugel_array *a, int d)
{
  if (a->strides)
    return a->strides[d];
  int64_t step = 1;
  for (int e = d + 1; e < a->ndim; e++)
    step *= a->shape[e];
  return step;
}

/* Extents of 1 are left out; an extent that both arrays walk through as a part of the one before joins it. */
static kugel_status find_shape(const kugel_array *in, const kugel_array *out, kugel__copy_shape *s)
{
  int64_t extent[MOST_DIMS + 1] = {1}, from[MOST_DIMS + 1] = {0}, to[MOST_DIMS + 1] = {0};
  int n = 0;
  for (int d = 0; d < in->ndim; d++) {
    if (in->shape[d] == 1)
      continue;
    int64_t e = in->shape[d], i = step_of(in, d), o = step_of(out, d);
    if (n && from[n - 1] == i * e && to[n - 1] == o * e) {
      extent[n - 1] *= e;
      from[n - 1] = i;
      to[n - 1] = o;
      continue;
    }
    extent[n] = e;
    from[n] = i;
    to[n++] = o;
  }
  KUGEL_CHECK(n <= KUGEL__COPY_DIMS, KUGEL_ENOTSUP,
              "the strides keep %d extents apart, the most are %d: copy in parts", n, KUGEL__COPY_DIMS);
  *s = (kugel__copy_shape){.count = kugel__array_count(in), .ndim = n ? n : 1};
  memcpy(s->extent, extent, (size_t)s->ndim * sizeof extent[0]);
  memcpy(s->in_step, from, (size_t)s->ndim * sizeof from[0]);
  memcpy(s->out_step, to, (size_t)s->ndim * sizeof to[0]);
  s->in_first = (int64_t)in->byte_offset / (in->dtype.bits / 8);
  s->out_first = (int64_t)out->byte_offset / (out->dtype.bits / 8);
  return KUGEL_OK;
}

/* ---- on the CPU ---------------------------------------------------------------------------------------- */

typedef struct host_job {
  const kugel__copy *c;
  const char *in;
  char *out;
} host_job;

/* A component of any type as a double; 64-bit integers round. */
static double get(const char *p, int code, int bits)
{
#define AS(type)                                                                                             \
  {                                                                                                          \
    type v;                                                                                                  \
    memcpy(&v, p, sizeof v);                                                                                 \
    return (double)v;                                                                                        \
  }
  if (code == KUGEL_INT)
    switch (bits) {
    case 8:
      AS(int8_t)
    case 16:
      AS(int16_t)
    case 32:
      AS(int32_t)
    default:
      AS(int64_t)
    }
  if (code == KUGEL_UINT || code == KUGEL_BOOL)
    switch (bits) {
    case 8:
      AS(uint8_t)
    case 16:
      AS(uint16_t)
    case 32:
      AS(uint32_t)
    default:
      AS(uint64_t)
    }
  if (bits == 64)
    AS(double)
  if (bits == 32)
    AS(float)
#undef AS
  uint16_t h;
  memcpy(&h, p, sizeof h);
  return half_to_float(h);
}

static void put(char *p, int bits, double x)
{
  float low = (float)x;
  uint16_t h;
  switch (bits) {
  case 64:
    memcpy(p, &x, sizeof x);
    break;
  case 32:
    memcpy(p, &low, sizeof low);
    break;
  default:
    h = half_from_float(low);
    memcpy(p, &h, sizeof h);
  }
}

static void copy_element(const kugel__copy *c, const char *in, char *out)
{
  if (c->plain) {
    memmove(out, in, c->from.bits / 8);
    return;
  }
  bool pair = is_complex(c->from), to_pair = is_complex(c->to);
  int code = pair ? KUGEL_FLOAT : c->from.code, bits = pair ? c->from.bits / 2 : c->from.bits;
  int to_bits = to_pair ? c->to.bits / 2 : c->to.bits;
  double re = get(in, code, bits), im = pair ? get(in + bits / 8, code, bits) : 0;
  put(out, to_bits, re * c->scale);
  if (to_pair)
    put(out + to_bits / 8, to_bits, pair ? im * (c->conjugate ? -c->scale : c->scale) : 0);
}

static kugel_status copy_run(void *arg, int64_t task)
{
  const host_job *j = arg;
  const kugel__copy_shape *s = &j->c->shape;
  int64_t first = task * RUN * RUNS, last = kugel__min(first + RUN * RUNS, s->count);
  for (int64_t i = first; i < last; i++) {
    int64_t from = s->in_first, to = s->out_first, rest = i;
    for (int64_t d = s->ndim - 1; d > 0; d--) {
      from += rest % s->extent[d] * s->in_step[d];
      to += rest % s->extent[d] * s->out_step[d];
      rest /= s->extent[d];
    }
    from += rest * s->in_step[0];
    to += rest * s->out_step[0];
    copy_element(j->c, j->in + from * (j->c->from.bits / 8), j->out + to * (j->c->to.bits / 8));
  }
  return KUGEL_OK;
}

/* ---- both ---------------------------------------------------------------------------------------------- */

kugel_status kugel_array_copy(kugel_ctx *ctx, const kugel_array *in, const kugel_array *out,
                              const kugel_copy_opts *opts, kugel_queue *queue)
{
  kugel_copy_opts o = {.size = sizeof o};
  KUGEL_CHECK(in && out, KUGEL_EINVAL, "%s is NULL: pass an array", in ? "out" : "in");
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_copy_opts"));
  KUGEL_CHECK(o.scale - o.scale == 0, KUGEL_EINVAL, "scale is %g, must be finite", o.scale);
  kugel__device *dev = kugel__ctx_device(ctx);
  KUGEL_TRY(check_types(in, out, &o));
  KUGEL_TRY(check_place(dev, in, "in"));
  KUGEL_TRY(check_place(dev, out, "out"));
  kugel_queue *used;
  KUGEL_TRY(kugel__queue_of(dev, queue, &used));
  kugel__copy c = {.from = in->dtype,
                   .to = out->dtype,
                   .scale = o.scale != 0 ? o.scale : 1,
                   .conjugate = o.conjugate != 0};
  c.plain = c.scale == 1 && !c.conjugate && kugel__dtype_is(c.from, c.to);
  KUGEL_TRY(find_shape(in, out, &c.shape));
  if (!c.shape.count)
    return KUGEL_OK;
  if (dev->info.device.type != KUGEL_CPU)
    return kugel__copy_gpu(ctx, &c, in->data, out->data, queue);
  host_job j = {&c, in->data, out->data};
  return kugel__parallel(ctx, (c.shape.count + RUN * RUNS - 1) / (RUN * RUNS), copy_run, &j);
}
