/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of n-dimensional transforms. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "fft/plan/plan.h"
#include "fft/plan/modulus.h"

static kugel_status check_precision(kugel_fft_opts *o)
{
  kugel_precision precision = o->precision;
  KUGEL_CHECK((int)precision >= KUGEL_PRECISION_F64 && precision <= KUGEL_PRECISION_F16, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0), F32 (1), DD (2) or F16 (3)", (int)precision);
  bool low = o->forward_scale_low != 0 || o->inverse_scale_low != 0; // NaN too
  KUGEL_CHECK(
      !low || (precision == KUGEL_PRECISION_DD &&
               fabs(o->forward_scale_low) <= fabs(o->forward_scale) * 0x1p-52 &&
               fabs(o->inverse_scale_low) <= fabs(o->inverse_scale) * 0x1p-52),
      KUGEL_EINVAL,
      "low parts of the scales are %g and %g: they are of KUGEL_PRECISION_DD, at most 2^-52 of the scales",
      o->forward_scale_low, o->inverse_scale_low);
  return KUGEL_OK;
}

static kugel_status check_opts(kugel_fft *p, const int64_t *n)
{
  const int64_t most = (int64_t)1 << 40;
  kugel_fft_opts *o = &p->opts;
  KUGEL_CHECK((int)o->kind >= KUGEL_FFT_C2C && o->kind <= KUGEL_FFT_DST4, KUGEL_EINVAL,
              "kind is %d, must be KUGEL_FFT_C2C (0) to KUGEL_FFT_DST4 (9)", (int)o->kind);
  KUGEL_CHECK((int)o->effort >= KUGEL_FFT_ESTIMATE && o->effort <= KUGEL_FFT_MEASURE, KUGEL_EINVAL,
              "effort is %d, must be KUGEL_FFT_ESTIMATE (0) or KUGEL_FFT_MEASURE (1)", (int)o->effort);
  KUGEL_CHECK(o->naxes >= 0 && o->naxes <= p->ndim && (o->naxes == 0 || o->axes), KUGEL_EINVAL,
              "naxes is %d with axes %s, must be 0 to ndim = %d with axes set", o->naxes,
              o->axes ? "set" : "NULL", p->ndim);
  KUGEL_CHECK(isfinite(o->forward_scale) && isfinite(o->inverse_scale), KUGEL_EINVAL,
              "scales are %g and %g, must be finite", o->forward_scale, o->inverse_scale);
  KUGEL_TRY(check_precision(o));
  bool used[KUGEL__FFT_DIMS] = {false};
  p->naxes = o->naxes ? o->naxes : p->ndim;
  for (int i = 0; i < p->naxes; i++) {
    int a = o->naxes ? o->axes[i] : i;
    KUGEL_CHECK(a >= 0 && a < p->ndim && !used[a], KUGEL_EINVAL,
                "axes[%d] is %d, must be 0 to %d and each once", i, a, p->ndim - 1);
    used[a] = true;
    p->axes[i] = a;
  }
  int64_t total = 1;
  for (int a = 0; a < p->ndim; a++) {
    int64_t least = o->kind == KUGEL_FFT_DCT1 && used[a] ? 2 : 1;
    KUGEL_CHECK(n[a] >= least && n[a] <= most, KUGEL_EINVAL, "n[%d] is %lld, must be %lld to 2^40", a,
                (long long)n[a], (long long)least);
    KUGEL_CHECK(total <= most / n[a], KUGEL_EINVAL, "the lengths multiply to more than 2^40");
    total *= n[a];
    p->n[a] = n[a];
  }
  o->forward_scale = o->forward_scale != 0 ? o->forward_scale : 1;
  o->inverse_scale = o->inverse_scale != 0 ? o->inverse_scale : 1;
  o->axes = NULL;
  return KUGEL_OK;
}

static kugel_status make_axes(kugel_fft *p)
{
  for (int i = 0; i < p->naxes; i++) {
    // of R2C only the last axis is real
    kugel_fft_kind kind = p->opts.kind == KUGEL_FFT_R2C && i < p->naxes - 1 ? KUGEL_FFT_C2C : p->opts.kind;
    int64_t n = p->n[p->axes[i]];
    KUGEL_TRY(kugel__step_create(p->ctx, kind, false, n, &p->forward[i]));
    if (!kugel__own_inverse(kind))
      KUGEL_TRY(kugel__step_create(p->ctx, kugel__inverse_kind(kind), true, n, &p->inverse[i]));
  }
  return KUGEL_OK;
}

static kugel_status make_dd(kugel_fft *p)
{
  int64_t n[KUGEL__FFT_DIMS];
  for (int i = 0; i < p->naxes; i++)
    n[i] = p->n[p->axes[i]];
  return kugel__fft_dd_create(p->ctx, p->opts.kind, kugel__inverse_kind(p->opts.kind), p->naxes, n, &p->dd);
}

static kugel_status make_gpu(kugel_fft *p, const kugel__bundle *from)
{
  kugel__fft_gpu_desc d = {.kind = p->opts.kind, .f32 = kugel__is_single(p), .naxes = p->naxes};
  d.from = from;
  d.half = kugel__is_half(p);
  d.dd = kugel__is_dd(p);
  d.hooks = p->hooks.any;
  d.modulus = p->opts.modulus;
  d.measure = p->opts.effort == KUGEL_FFT_MEASURE && !kugel__ctx_device(p->ctx)->miscompiles;
  for (int i = 0; i < p->naxes; i++) {
    for (int k = 0; k < 4; k++)
      d.factor[k / 2][k % 2][i] = p->hooks.factor[k / 2][k % 2][p->axes[i]];
    d.n[i] = p->n[p->axes[i]];
    d.in_order[i] = p->axes[i] == p->ndim - 1;
    for (int k = 0; k < 2; k++)
      d.window[k][i].count = p->extent.count[p->axes[i]];
  }
  return kugel__fft_gpu_create(p->ctx, &d, &p->gpu);
}

kugel_status kugel_fft_create(kugel_ctx *ctx, int ndim, const int64_t *n, const kugel_fft_opts *opts,
                              kugel_fft **out)
{
  kugel_fft_opts o = {.comm = NULL};
  if (!out || kugel__take_opts(&o, sizeof o, opts, "kugel_fft_opts") || !o.comm)
    return kugel__fft_create_from(ctx, ndim, n, opts, NULL, out);
  kugel__comm_enter(o.comm);
  kugel_status s = kugel__comm_leave(o.comm, kugel__fft_create_from(ctx, ndim, n, opts, NULL, out));
  if (s) {
    kugel_fft_destroy(*out);
    *out = NULL;
  }
  return s;
}

kugel_status kugel__fft_create_from(kugel_ctx *ctx, int ndim, const int64_t *n, const kugel_fft_opts *opts,
                                    const kugel__bundle *from, kugel_fft **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(ndim >= 1 && ndim <= KUGEL__FFT_DIMS, KUGEL_EINVAL, "ndim is %d, must be 1 to %d", ndim,
              KUGEL__FFT_DIMS);
  KUGEL_CHECK(n, KUGEL_EINVAL, "n is NULL: pass %d lengths", ndim);
  kugel_fft_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_fft_opts"));
  kugel_fft *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->opts = o;
  p->ndim = ndim;
  kugel_status s = check_opts(p, n);
  if (!s)
    s = kugel__modulus_check(&p->opts);
  if (!s)
    s = kugel__extent_take(&p->opts, ndim, n, p->naxes, p->axes, &p->extent);
  p->opts.extent = NULL;
  if (!s)
    s = kugel__hooks_create(ctx, &p->opts, ndim, n, p->naxes, p->axes, &p->hooks);
  p->opts.hooks = NULL;
  if (!s && p->opts.comm)
    s = kugel__slabs_create(p);
  if (!s)
    s = p->ctx->device.type != KUGEL_CPU ? make_gpu(p, from) : kugel__is_dd(p) ? make_dd(p) : make_axes(p);
  if (s) {
    kugel_fft_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_fft_destroy(kugel_fft *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  for (int i = 0; i < KUGEL__FFT_DIMS; i++) {
    kugel__step_destroy(ctx, &p->forward[i]);
    kugel__step_destroy(ctx, &p->inverse[i]);
  }
  kugel__fft_gpu_destroy(p->gpu);
  kugel__fft_dd_destroy(p->dd);
  kugel__slabs_destroy(p);
  kugel__hooks_destroy(ctx, &p->hooks);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

double kugel_fft_gain(const kugel_fft *p)
{
  double gain = 1;
  for (int i = 0; p && i < p->naxes; i++) {
    double n = (double)p->n[p->axes[i]];
    kugel_fft_kind kind = p->opts.kind;
    gain *= kind <= KUGEL_FFT_R2C    ? n
            : kind == KUGEL_FFT_DCT1 ? 2 * (n - 1)
            : kind == KUGEL_FFT_DST1 ? 2 * (n + 1)
                                     : 2 * n;
  }
  return gain;
}

int kugel_fft_kernel_count(const kugel_fft *p)
{
  if (!p || !p->gpu)
    return 0;
  int forward = kugel__fft_gpu_kernels(p->gpu, false), inverse = kugel__fft_gpu_kernels(p->gpu, true);
  return forward < inverse ? forward : inverse;
}

kugel_status kugel_fft_kernel_source(const kugel_fft *p, int sign, int index, size_t size, char *text,
                                     size_t *length)
{
  if (length)
    *length = 0;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_fft_create");
  KUGEL_CHECK(sign == KUGEL_FORWARD || sign == KUGEL_INVERSE, KUGEL_EINVAL,
              "sign is %d, must be KUGEL_FORWARD (-1) or KUGEL_INVERSE (1)", sign);
  KUGEL_CHECK(p->gpu, KUGEL_ENOTSUP,
              "a plan on the CPU runs code that was compiled before: kernels are generated for devices");
  int count = kugel__fft_gpu_kernels(p->gpu, sign == KUGEL_INVERSE);
  KUGEL_CHECK(index >= 0 && index < count, KUGEL_EINVAL, "index is %d, must be 0 to %d", index, count - 1);
  KUGEL_CHECK(text || size == 0, KUGEL_EINVAL, "text is NULL with size %zu", size);
  kugel__text t = {.ctx = p->ctx};
  kugel_status s = kugel__fft_gpu_print(p->gpu, sign == KUGEL_INVERSE, index, &t);
  if (!s && length)
    *length = t.n;
  if (!s && size)
    snprintf(text, size, "%s", t.data);
  kugel__text_free(&t);
  return s;
}

int64_t kugel_fft_good_size(int64_t n)
{
  if (n < 1 || n > (int64_t)1 << 62)
    return n;
  uint64_t best = (uint64_t)1 << 63; // 7^a 5^b 3^c 2^d
  for (uint64_t a = 1; a < best; a *= 7)
    for (uint64_t b = a; b < best; b *= 5)
      for (uint64_t c = b; c < best; c *= 3) {
        uint64_t d = c;
        while (d < (uint64_t)n)
          d *= 2;
        best = d < best ? d : best;
      }
  return (int64_t)best;
}
