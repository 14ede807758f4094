/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans on devices: their chains and tables. */
#include <string.h>
#include "codegen/bundle.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/gpu/block_tables.h"
#include "fft/gpu/parts.h"

enum { FORWARD = 0, INVERSE = 1 };

/* ---- plans ---- */

static kugel_status make_chain(kugel__fft_gpu *p, int i, int direction, kugel__gpu_batch *all)
{
  kugel__gpu_chain *c = &p->chain[i][direction];
  if (!c->passes)
    return KUGEL_OK;
  const double *factor[2] = {p->desc.factor[direction][0][i], p->desc.factor[direction][1][i]};
  c->pass[0].block.in.hook = factor[0] != NULL;
  c->pass[c->passes - 1].block.out.hook = factor[1] != NULL;
  if (direction == FORWARD && i == 0) // which runs last
    c->pass[c->passes - 1].block.modulus = (uint8_t)p->desc.modulus;
  c->pass[0].block.in.half = p->desc.half && kugel__gpu_axis_that_runs(p, direction == INVERSE, 0) == i;
  c->pass[c->passes - 1].block.out.half =
      p->desc.half && kugel__gpu_axis_that_runs(p, direction == INVERSE, p->desc.naxes - 1) == i;
  for (int k = 0; k < c->passes; k++) {
    KUGEL_TRY(kugel__gpu_tables(p, &c->pass[k], factor));
    kugel__gpu_batch_add(p, all, &c->pass[k], kugel__gpu_first_variant(p, i, &c->pass[k]));
  }
  return KUGEL_OK;
}

static kugel_status make(kugel__fft_gpu *p)
{
  kugel__gpu_batch *all = kugel__calloc(p->ctx, sizeof *all);
  KUGEL_CHECK(all, KUGEL_ENOMEM, "no memory for the kernels of a plan");
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < p->desc.naxes && !s; i++)
    for (int direction = FORWARD; direction <= (p->own_inverse ? FORWARD : INVERSE) && !s; direction++)
      s = make_chain(p, i, direction, all);
  if (!s)
    s = kugel__gpu_batch_compile(p, all);
  kugel__free(p->ctx, all);
  return s;
}

// What an array holds of a line, if it is not all.
static kugel__window window_of(const kugel__fft_gpu *p, int direction, int i)
{
  kugel__window w = p->desc.window[direction][i];
  return w.first == 0 && w.count == p->desc.n[i] ? (kugel__window){0, 0} : w;
}

// Whether lines along axis i lie in more than one level, since arrays hold parts of lines of another axis: then blocks
// that know one level would be launched once per plane.
static bool has_gaps(const kugel__fft_gpu *p, int i)
{
  for (int k = 0; k < p->desc.naxes; k++)
    for (int direction = FORWARD; direction <= INVERSE; direction++)
      if (k != i && window_of(p, direction, k).count)
        return true;
  return false;
}

// The part of R2C that an axis has: only the last one is real.
static kugel_fft_kind kind_of(const kugel__fft_gpu *p, int i)
{
  return p->desc.kind == KUGEL_FFT_R2C && i < p->desc.naxes - 1 ? KUGEL_FFT_C2C : p->desc.kind;
}

kugel_status kugel__gpu_chains(kugel__fft_gpu *p, kugel__gpu_chooser *other)
{
  kugel_device_info info = {.size = sizeof info};
  KUGEL_TRY(kugel_ctx_describe(p->ctx, &info));
  KUGEL_CHECK(info.fp64 || p->desc.f32, KUGEL_ENOTSUP, "%s has no double precision: use KUGEL_PRECISION_F32",
              info.name);
  uint64_t shared = p->desc.shared ? p->desc.shared : info.shared_bytes;
  bool clusters = info.compute_capability >= 90;
  for (int i = 0; i < p->desc.naxes; i++)
    for (int direction = FORWARD; direction <= INVERSE; direction++) {
      kugel__gpu_chain *c = &p->chain[i][direction];
      kugel_fft_kind kind = kind_of(p, i);
      kugel__line line =
          kugel__line_of(direction ? kugel__inverse_kind(kind) : kind, direction == INVERSE, p->desc.n[i]);
      KUGEL_TRY(kugel__gpu_chain_plan(c, &line, p->real, p->desc.in_order[i], shared, clusters));
      if (other && !(direction == INVERSE && p->own_inverse))
        KUGEL_TRY(other(p, kind, i, direction, shared));
      *(direction ? &c->pass[c->passes - 1].block.out.keep : &c->pass[0].block.in.keep) =
          window_of(p, direction, i);
      if (c->passes == 1 && has_gaps(p, i))
        c->pass[0].block.flat = false;
    }
  return KUGEL_OK;
}

kugel_status kugel__gpu_begin(kugel_ctx *ctx, const kugel__fft_gpu_desc *desc, kugel__fft_gpu **out)
{
  kugel__fft_gpu *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->memory = kugel__ctx_limit(ctx);
  p->desc = *desc;
  p->real = desc->f32 ? KUGEL__F32 : desc->dd ? KUGEL__DD : KUGEL__F64;
  p->own_inverse =
      !desc->hooks && desc->kind > KUGEL_FFT_R2C && kugel__inverse_kind(desc->kind) == desc->kind;
  kugel__gpu_work_init(&p->work);
  pthread_mutex_init(&p->compiling, NULL);
  *out = p;
  return KUGEL_OK;
}

kugel_status kugel__gpu_finish(kugel__fft_gpu *p, kugel_status s, kugel__fft_gpu **out)
{
  if (!s)
    s = make(p);
  if (!s && p->desc.from)
    s = kugel__gpu_make_variants(p);
  p->from_file = p->desc.from != NULL;
  p->desc.from = NULL;
  if (s)
    kugel__fft_gpu_destroy(p);
  *out = s ? NULL : p;
  return s;
}

// Whether elements along an axis lie apart, but those of neighbouring lines do not, in both arrays.
static bool lies_across(const kugel__view *in, const kugel__view *out, int axis)
{
  if (in->stride[axis] == 1 || out->stride[axis] == 1 || in->shape[axis] < 2)
    return false;
  for (int d = 0; d < in->ndim; d++)
    if (d != axis && in->shape[d] > 1 && in->stride[d] == 1 && out->stride[d] == 1)
      return true;
  return false;
}

kugel_status kugel__gpu_plan_for(kugel__fft_gpu *p, const kugel__fft_gpu_call *call, kugel__fft_gpu **out)
{
  enum { WORTH = 1 << 16 }; // elements of arrays for which more kernels are compiled
  unsigned across = 0;
  int64_t count = 1;
  *out = p;
  for (int d = 0; d < call->in_view->ndim; d++)
    count *= call->in_view->shape[d];
  for (int i = 0; i < p->desc.naxes; i++)
    if (p->desc.in_order[i] && lies_across(call->in_view, call->out_view, call->axes[i]))
      across |= 1u << i;
  if (!across || p->from_file || count < WORTH)
    return KUGEL_OK;
  kugel_status s = KUGEL_OK;
  pthread_mutex_lock(&p->compiling);
  kugel__fft_gpu *same = p->next;
  while (same && same->across != across)
    same = same->next;
  if (!same) {
    kugel__fft_gpu_desc desc = p->desc;
    desc.measure = false; // a call does not take seconds
    for (int i = 0; i < desc.naxes; i++)
      desc.in_order[i] = desc.in_order[i] && !(across >> i & 1);
    s = kugel__gpu_begin(p->ctx, &desc, &same);
    if (!s)
      s = kugel__gpu_finish(same, kugel__gpu_chains(same, NULL), &same);
    if (!s) {
      same->across = across;
      same->next = p->next;
      p->next = same;
    }
  }
  pthread_mutex_unlock(&p->compiling);
  if (!s)
    *out = same;
  return s;
}

void kugel__fft_gpu_destroy(kugel__fft_gpu *p)
{
  if (!p)
    return;
  kugel__fft_gpu_destroy(p->next);
  kugel_ctx *ctx = p->ctx;
  for (int i = 0; i < KUGEL__GPU_MOST; i++) {
    kugel__gpu_pass *t =
        &p->chain[i / (2 * KUGEL__GPU_PASSES)][i / KUGEL__GPU_PASSES % 2].pass[i % KUGEL__GPU_PASSES];
    kugel__gpu_tables_free(kugel__ctx_device(ctx), t);
    for (int v = 0; v < KUGEL__VARIANTS; v++)
      kugel__module_put(t->module[v]);
  }
  kugel__gpu_work_free(kugel__ctx_device(ctx), &p->work);
  pthread_mutex_destroy(&p->compiling);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_ctx *kugel__fft_gpu_ctx(const kugel__fft_gpu *p)
{
  return p->ctx;
}
