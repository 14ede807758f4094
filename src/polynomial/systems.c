/* SPDX-License-Identifier: BSD-3-Clause */
/* Views of a call's arrays, and how its work is divided. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "polynomial/systems.h"

kugel_status kugel__systems_of(const kugel_array *a, const char *name, bool single, bool complex,
                               int64_t systems, int64_t n, bool written, kugel__systems *out)
{
  KUGEL_CHECK(!a || a->device.type == KUGEL_CPU, KUGEL_ENOTSUP,
              "%s is on a device: these transforms run on the CPU, copy it to the host", name);
  return kugel__systems_on(NULL, a, name, single, complex, systems, n, written, out);
}

kugel_status kugel__systems_on(const kugel_ctx *ctx, const kugel_array *a, const char *name, bool single,
                               bool complex, int64_t systems, int64_t n, bool written, kugel__systems *out)
{
  kugel_dtype dtype = complex ? (single ? KUGEL_C64 : KUGEL_C128) : (single ? KUGEL_F32 : KUGEL_F64);
  char text[128];
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_CHECK(a->device.type == KUGEL_CPU || (ctx && a->device.type == ctx->device.type), KUGEL_EDEVICE,
              "%s is on device type %d, must be on the host or on the device of the plan's context", name,
              (int)a->device.type);
  int own = systems == 1 && a->ndim == 1 ? 1 : 2;
  bool fits = a->ndim >= own && a->ndim <= 32 && a->shape && kugel__dtype_is(a->dtype, dtype) &&
              a->shape[a->ndim - 1] == n && (own == 1 || a->shape[a->ndim - 2] == systems);
  for (int i = 0; fits && i < a->ndim; i++)
    fits = a->shape[i] >= 0 && a->shape[i] <= INT64_MAX >> 8;
  KUGEL_CHECK(fits, KUGEL_ESHAPE, "%s is %s, must be %s%d[..., %lld, %lld]", name,
              a->ndim < 0 || a->ndim > 32 || (a->ndim && !a->shape)
                  ? "no array"
                  : kugel__array_describe(a, text, sizeof text),
              complex ? "complex" : "float", dtype.bits, (long long)systems, (long long)n);
  *out =
      (kugel__systems){.parts = complex ? 2 : 1, .word = single ? 4 : 8, .lead = a->ndim - own, .batch = 1};
  int64_t stride[32], count = 1;
  for (int i = a->ndim - 1; i >= 0; i--) {
    stride[i] = (a->strides ? a->strides[i] : count) * out->parts;
    KUGEL_CHECK(!a->shape[i] || count <= (INT64_MAX >> 8) / a->shape[i], KUGEL_ESHAPE,
                "%s has more than 2^55 elements", name);
    count *= a->shape[i];
  }
  for (int i = 0; i < out->lead; i++) {
    out->shape[i] = a->shape[i];
    out->stride[i] = stride[i];
    out->batch *= a->shape[i];
  }
  if (!count)
    return KUGEL_OK;
  KUGEL_TRY(kugel__array_check_reach(a, name, written));
  out->data = kugel__array_data(a);
  out->buffer = a->device.type == KUGEL_OPENCL ? a->data : NULL;
  out->step = stride[a->ndim - 1];
  out->system = own == 2 ? stride[a->ndim - 2] : 0;
  int64_t lo = 0, hi = 0;
  for (int i = 0; i < a->ndim; i++)
    *(stride[i] < 0 ? &lo : &hi) += stride[i] * (a->shape[i] - 1);
  out->lo = (uintptr_t)out->data + (uintptr_t)(lo * (int64_t)out->word);
  out->hi = (uintptr_t)out->data + (uintptr_t)((hi + out->parts) * (int64_t)out->word);
  return KUGEL_OK;
}

kugel_status kugel__systems_flat(const kugel_array *a, const char *name, bool single, bool complex, int64_t n,
                                 bool written, kugel__systems *out)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_CHECK(a->ndim >= 1 && a->ndim < 32 && a->shape, KUGEL_ESHAPE, "%s has %d axes, must be [..., %lld]",
              name, (int)a->ndim, (long long)n);
  int64_t shape[32], stride[32], step = 1;
  kugel_array view = *a;
  for (int i = a->ndim - 1; i >= 0; i--) {
    int to = i == a->ndim - 1 ? i + 1 : i;
    shape[to] = a->shape[i];
    stride[to] = a->strides ? a->strides[i] : step;
    step *= a->shape[i] > 0 ? a->shape[i] : 1;
  }
  shape[a->ndim - 1] = stride[a->ndim - 1] = 1;
  view.ndim++;
  view.shape = shape;
  view.strides = stride;
  return kugel__systems_of(&view, name, single, complex, 1, n, written, out);
}

kugel_status kugel__systems_match(const kugel__systems *in, const kugel__systems *out)
{
  KUGEL_CHECK(in->batch == out->batch, KUGEL_ESHAPE,
              "leading axes of in hold %lld elements, those of out %lld: give both the same",
              (long long)in->batch, (long long)out->batch);
  KUGEL_CHECK(!in->data || !out->data || in->buffer != out->buffer || in->hi <= out->lo || out->hi <= in->lo,
              KUGEL_EINVAL, "in and out overlap in memory: pass two arrays");
  return KUGEL_OK;
}

void kugel__systems_rows(const kugel__systems *s, int64_t from, int64_t systems, int64_t first, int64_t count,
                         kugel__rows *rows)
{
  rows->lanes = count;
  rows->step = s->step;
  for (int64_t r = 0; r < count; r++) {
    int64_t lane = first + r, part = lane % s->parts, at = lane / s->parts, index = at / systems;
    int64_t offset = part + (from + at % systems) * s->system;
    for (int d = s->lead - 1; d >= 0; d--) {
      offset += index % s->shape[d] * s->stride[d];
      index /= s->shape[d];
    }
    rows->at[r] = s->data + offset * (int64_t)s->word;
  }
}

kugel_status kugel__blocks_create(kugel_ctx *ctx, const char *what, int64_t most, int64_t blocks,
                                  const int64_t *degree, const int64_t *multiplicity, const int64_t *n,
                                  int64_t whole, kugel__blocks *out)
{
  KUGEL_CHECK(blocks >= 1 && blocks <= (int64_t)1 << 32, KUGEL_EINVAL, "blocks is %lld, must be 1 to 2^32",
              (long long)blocks);
  KUGEL_CHECK(degree, KUGEL_EINVAL, "%s is NULL: pass the %lld values of the blocks", what,
              (long long)blocks);
  *out = (kugel__blocks){.blocks = blocks};
  KUGEL_ALLOC(ctx, out->degree, 4 * sizeof(int64_t) * (size_t)blocks);
  out->multiplicity = out->degree + blocks;
  out->first = out->multiplicity + blocks;
  out->n = out->first + blocks;
  for (int64_t i = 0; i < blocks; i++) {
    int64_t m = multiplicity ? multiplicity[i] : 1, k = n ? n[i] : whole;
    KUGEL_CHECK(degree[i] >= 0 && degree[i] <= most, KUGEL_EINVAL, "%s[%lld] is %lld, must be 0 to %lld",
                what, (long long)i, (long long)degree[i], (long long)most);
    KUGEL_CHECK(m >= 0 && m <= (int64_t)1 << 40, KUGEL_EINVAL,
                "multiplicity[%lld] is %lld, must be 0 to 2^40", (long long)i, (long long)m);
    KUGEL_CHECK(k >= 1 && k <= whole, KUGEL_EINVAL, "nl[%lld] is %lld, must be 1 to n = %lld", (long long)i,
                (long long)k, (long long)whole);
    out->degree[i] = degree[i];
    out->multiplicity[i] = m;
    out->n[i] = k;
    out->first[i] = out->systems;
    out->systems += m;
    KUGEL_CHECK(out->systems <= (int64_t)1 << 40, KUGEL_EINVAL,
                "multiplicities add up to %lld, at most 2^40 systems are possible", (long long)out->systems);
  }
  KUGEL_CHECK(out->systems, KUGEL_EINVAL, "multiplicities add up to 0: give at least one system");
  return KUGEL_OK;
}

typedef struct run {
  const kugel__blocks *b;
  const int64_t *tasks; /* [blocks + 1]: of the blocks before */
  int64_t lanes, chunk;
  kugel__block_work work;
  void *arg;
} run;

static kugel_status one_task(void *arg, int64_t task, int worker)
{
  const run *r = arg;
  task = r->tasks[r->b->blocks] - 1 - task;
  int64_t lo = 0, hi = r->b->blocks; /* tasks[lo] <= task < tasks[hi] */
  while (hi - lo > 1) {
    int64_t mid = (lo + hi) / 2;
    *(r->tasks[mid] <= task ? &lo : &hi) = mid;
  }
  int64_t first = (task - r->tasks[lo]) * r->chunk;
  return r->work(r->arg, lo, first, kugel__min(r->chunk, r->lanes * r->b->multiplicity[lo] - first), worker);
}

kugel_status kugel__blocks_run(kugel_ctx *ctx, int64_t workers, const kugel__blocks *b,
                               int64_t lanes_per_system, int width, kugel__block_work work, void *arg)
{
  run r = {.b = b,
           .lanes = lanes_per_system,
           .chunk = (int64_t)width * KUGEL__TASK_TILES,
           .work = work,
           .arg = arg};
  int64_t *tasks = kugel__alloc(ctx, sizeof *tasks * (size_t)(b->blocks + 1));
  KUGEL_CHECK(tasks, KUGEL_ENOMEM, "no memory for a list of %lld blocks", (long long)b->blocks);
  tasks[0] = 0;
  for (int64_t i = 0; i < b->blocks; i++)
    tasks[i + 1] = tasks[i] + (lanes_per_system * b->multiplicity[i] + r.chunk - 1) / r.chunk;
  r.tasks = tasks;
  kugel_status s = kugel__parallel_on(ctx, workers, tasks[b->blocks], one_task, &r);
  kugel__free(ctx, tasks);
  return s;
}
