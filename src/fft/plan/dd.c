/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "fft/plan/dd.h"

enum { MAX_DIMS = 8 };

struct kugel__fft_dd {
  kugel_ctx *ctx;
  kugel_fft_kind kind, back;
  int naxes;
  kugel__ddline line[2][MAX_DIMS]; // forward, inverse; C2C has only the first
};

/* ---- arrays ---- */

kugel_status kugel__pair_array_of(const kugel_array *a, const char *name, kugel__pair_array *out)
{
  char text[256];
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_CHECK(a->ndim >= 1 && a->ndim <= KUGEL__MAX_NDIM && a->shape, KUGEL_ESHAPE,
              "%s has ndim %d, must be 2 to %d with a shape", name, a->ndim, KUGEL__MAX_NDIM);
  int last = a->ndim - 1;
  KUGEL_CHECK(a->shape[last] == 2 && (!a->strides || a->strides[last] == 1), KUGEL_ESHAPE,
              "%s is %s: must have a last extent of 2, the parts of a number side by side", name,
              kugel__array_describe(a, text, sizeof text));
  out->array = *a;
  out->array.ndim = last;
  out->array.shape = out->shape;
  out->array.strides = a->strides ? out->strides : NULL;
  for (int d = 0; d < last; d++) {
    int64_t stride = a->strides ? a->strides[d] : 0;
    out->shape[d] = a->shape[d];
    KUGEL_CHECK(stride % 2 == 0 || a->shape[d] < 2, KUGEL_ESHAPE,
                "%s has a stride of %lld on axis %d, must be even: its numbers are pairs", name,
                (long long)stride, d);
    out->strides[d] = stride / 2;
  }
  return KUGEL_OK;
}

/* ---- plans ---- */

kugel_status kugel__fft_dd_create(kugel_ctx *ctx, kugel_fft_kind kind, kugel_fft_kind back, int naxes,
                                  const int64_t *n, kugel__fft_dd **out)
{
  kugel__fft_dd *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  *p = (kugel__fft_dd){.ctx = ctx, .kind = kind, .back = back, .naxes = naxes};
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < naxes && !s; i++) {
    // of R2C only the last axis is real
    bool complex = kind == KUGEL_FFT_C2C || (kind == KUGEL_FFT_R2C && i < naxes - 1);
    s = kugel__ddline_create(ctx, complex ? KUGEL_FFT_C2C : kind, false, n[i], &p->line[0][i]);
    if (!s && !complex)
      s = kugel__ddline_create(ctx, back, true, n[i], &p->line[1][i]);
  }
  if (s) {
    kugel__fft_dd_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel__fft_dd_destroy(kugel__fft_dd *p)
{
  if (!p)
    return;
  for (int i = 0; i < 2 * MAX_DIMS; i++)
    kugel__ddline_destroy(p->ctx, &p->line[i % 2][i / 2]);
  kugel__free(p->ctx, p);
}

/* ---- execution ---- */

static kugel_status run_axis(const kugel__fft_dd *p, const kugel__fft_dd_call *call, int i,
                             const kugel__view *in, const kugel__view *out, kugel__dd scale)
{
  bool complex = p->line[0][i].kind == KUGEL_FFT_C2C;
  kugel__ddpass t = {.line = &p->line[call->inverse && !complex][i],
                     .in = in,
                     .out = out,
                     .at = call->axes[i],
                     .inverse = call->inverse,
                     .scale = scale};
  return kugel__ddpass_run(p->ctx, &t);
}

// Complex to real goes through the complex axes first, in `middle`.
static kugel_status run_axes(const kugel__fft_dd *p, const kugel__fft_dd_call *call, const kugel__view *in,
                             const kugel__view *middle)
{
  int last = p->naxes - 1;
  if (p->kind == KUGEL_FFT_R2C && call->inverse) {
    for (int i = 0; i < last; i++)
      KUGEL_TRY(run_axis(p, call, i, i ? middle : in, middle, dd_from(1)));
    return run_axis(p, call, last, last ? middle : in, call->out, call->scale);
  }
  for (int i = last; i >= 0; i--)
    KUGEL_TRY(run_axis(p, call, i, i == last ? in : call->out, call->out, i ? dd_from(1) : call->scale));
  return KUGEL_OK;
}

// out = in times the factors of one place; reals take the real part of theirs.
static void apply_hooks(const kugel__fft_dd_call *call, int write, bool complex, const kugel__view *in,
                        const kugel__view *out)
{
  int width = complex ? 2 : 1, first = in->ndim - call->ndim;
  int64_t index[KUGEL__MAX_NDIM] = {0};
  for (int d = 0; d >= 0;) {
    int64_t at = 0, to = 0;
    for (d = 0; d < in->ndim; d++) {
      at += index[d] * in->stride[d];
      to += index[d] * out->stride[d];
    }
    const double *x = (const double *)(const void *)in->data + 2 * width * at;
    double *y = (double *)(void *)out->data + 2 * width * to;
    kugel__dd re = {x[0], x[width]}, im = complex ? (kugel__dd){x[1], x[3]} : dd_from(0);
    for (int a = 0; a < call->ndim; a++) {
      const double *f = call->hooks->factor[call->inverse][write][a];
      if (!f)
        continue;
      kugel__dd c = dd_from(f[2 * index[first + a]]), s = dd_from(f[2 * index[first + a] + 1]), t = re;
      re = dd_sub(dd_mul(re, c), dd_mul(im, s));
      im = dd_add(dd_mul(t, s), dd_mul(im, c));
    }
    y[0] = re.hi;
    y[width] = re.lo;
    if (complex) {
      y[1] = im.hi;
      y[3] = im.lo;
    }
    for (d = in->ndim - 1; d >= 0 && ++index[d] == in->shape[d]; d--)
      index[d] = 0;
  }
}

static kugel_status copy_like(const kugel__fft_dd *p, const kugel__view *in, kugel__view *copy)
{
  int64_t count = 1;
  *copy = *in;
  for (int d = in->ndim - 1; d >= 0; d--) {
    copy->stride[d] = count;
    count *= in->shape[d];
  }
  copy->data = kugel__scratch_get(p->ctx, (size_t)count * 32 + 1);
  KUGEL_CHECK(copy->data, KUGEL_ENOMEM, "no memory for a copy of %lld numbers", (long long)count);
  return KUGEL_OK;
}

kugel_status kugel__fft_dd_run(const kugel__fft_dd *p, const kugel__fft_dd_call *call)
{
  bool r2c = p->kind == KUGEL_FFT_R2C, c2c = p->kind == KUGEL_FFT_C2C, back = call->inverse;
  bool hooked = kugel__hooks_has(call->hooks, back, KUGEL__READ_HOOK);
  kugel__view copy = {.data = NULL};
  for (int d = 0; d < call->in->ndim; d++)
    if (call->in->shape[d] == 0)
      return KUGEL_OK;
  if (hooked || (r2c && back && p->naxes > 1))
    KUGEL_TRY(copy_like(p, call->in, &copy));
  if (hooked)
    apply_hooks(call, KUGEL__READ_HOOK, c2c || (r2c && back), call->in, &copy);
  kugel_status s = run_axes(p, call, hooked ? &copy : call->in, &copy);
  if (!s && kugel__hooks_has(call->hooks, back, KUGEL__WRITE_HOOK))
    apply_hooks(call, KUGEL__WRITE_HOOK, c2c || (r2c && !back), call->out, call->out);
  if (copy.data)
    kugel__scratch_put(p->ctx, copy.data);
  return s;
}
