/* SPDX-License-Identifier: BSD-3-Clause */
/* n-dimensional transforms: one pass over the lines of each axis, VLEN lines at a time. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "fft/extent.h"
#include "fft/fft_dd.h"
#include "fft/fft_gpu.h"
#include "fft/fft_half.h"
#include "fft/hooks.h"
#include "fft/modulus.h"
#include "fft/pass.h"

enum { MAX_DIMS = 8 };

struct kugel_fft {
  kugel_ctx *ctx;
  kugel_fft_opts opts;
  int ndim, naxes;
  int64_t n[MAX_DIMS];
  int axes[MAX_DIMS];
  kugel__step forward[MAX_DIMS], inverse[MAX_DIMS]; // by position in axes; inverse: if not the same
  kugel__hooks hooks;
  kugel__extent extent;
  kugel__fft_gpu *gpu; // of a context on a device, instead of the steps
  kugel__fft_dd *dd;   // of double-double arrays on the CPU, instead of the steps
};

/* ---- plans ---- */

static kugel_fft_kind inverse_kind(kugel_fft_kind kind)
{
  static const kugel_fft_kind inverse[] = {KUGEL_FFT_C2C,  KUGEL_FFT_R2C,  KUGEL_FFT_DCT1, KUGEL_FFT_DCT3,
                                           KUGEL_FFT_DCT2, KUGEL_FFT_DCT4, KUGEL_FFT_DST1, KUGEL_FFT_DST3,
                                           KUGEL_FFT_DST2, KUGEL_FFT_DST4};
  return inverse[kind];
}

// Whether one step does both directions.
static bool own_inverse(kugel_fft_kind kind)
{
  return inverse_kind(kind) == kind && kind != KUGEL_FFT_R2C;
}

static kugel_status check_precision(kugel_fft_opts *o)
{
  kugel_fft_precision precision = o->precision;
  KUGEL_CHECK((int)precision >= KUGEL_FFT_F64 && precision <= KUGEL_FFT_F16, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_FFT_F64 (0), F32 (1), DD (2) or F16 (3)", (int)precision);
  KUGEL_CHECK(!o->single_precision || precision <= KUGEL_FFT_F32, KUGEL_EINVAL,
              "precision is %d with single_precision set: leave that 0", (int)precision);
  bool low = o->forward_scale_low != 0 || o->inverse_scale_low != 0; // NaN too
  KUGEL_CHECK(!low || (precision == KUGEL_FFT_DD &&
                       fabs(o->forward_scale_low) <= fabs(o->forward_scale) * 0x1p-52 &&
                       fabs(o->inverse_scale_low) <= fabs(o->inverse_scale) * 0x1p-52),
              KUGEL_EINVAL,
              "low parts of the scales are %g and %g: they are of KUGEL_FFT_DD, at most 2^-52 of the scales",
              o->forward_scale_low, o->inverse_scale_low);
  if (precision == KUGEL_FFT_F32 || precision == KUGEL_FFT_F16)
    o->single_precision = 1;
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
  bool used[MAX_DIMS] = {false};
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
    if (!own_inverse(kind))
      KUGEL_TRY(kugel__step_create(p->ctx, inverse_kind(kind), true, n, &p->inverse[i]));
  }
  return KUGEL_OK;
}

static bool is_half(const kugel_fft *p)
{
  return p->opts.precision == KUGEL_FFT_F16;
}
static bool is_dd(const kugel_fft *p)
{
  return p->opts.precision == KUGEL_FFT_DD;
}

static kugel_status make_dd(kugel_fft *p)
{
  int64_t n[MAX_DIMS];
  for (int i = 0; i < p->naxes; i++)
    n[i] = p->n[p->axes[i]];
  return kugel__fft_dd_create(p->ctx, p->opts.kind, inverse_kind(p->opts.kind), p->naxes, n, &p->dd);
}

static kugel_status make_gpu(kugel_fft *p)
{
  kugel__fft_gpu_desc d = {.kind = p->opts.kind, .f32 = p->opts.single_precision != 0, .naxes = p->naxes};
  d.half = is_half(p);
  d.dd = is_dd(p);
  d.hooks = p->hooks.any;
  d.modulus = p->opts.modulus;
  d.measure = p->opts.effort == KUGEL_FFT_MEASURE;
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
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(ndim >= 1 && ndim <= MAX_DIMS, KUGEL_EINVAL, "ndim is %d, must be 1 to %d", ndim, MAX_DIMS);
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
  if (!s)
    s = p->ctx->device.type != KUGEL_CPU ? make_gpu(p) : is_dd(p) ? make_dd(p) : make_axes(p);
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
  for (int i = 0; i < MAX_DIMS; i++) {
    kugel__step_destroy(ctx, &p->forward[i]);
    kugel__step_destroy(ctx, &p->inverse[i]);
  }
  kugel__fft_gpu_destroy(p->gpu);
  kugel__fft_dd_destroy(p->dd);
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

/* ---- execution ---- */

static kugel_status take_view(const kugel_fft *p, const kugel_array *a, const char *name, bool complex_side,
                              const int64_t *want, kugel__view *v)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_CHECK(a->ndim >= p->ndim && a->ndim <= KUGEL__MAX_NDIM && a->shape, KUGEL_ESHAPE,
              "%s has ndim %d, must be %d to %d with a shape", name, a->ndim, p->ndim, KUGEL__MAX_NDIM);
  kugel_dtype real = is_half(p) ? KUGEL_F16 : p->opts.single_precision ? KUGEL_F32 : KUGEL_F64;
  kugel_dtype type = complex_side ? (kugel_dtype){KUGEL_COMPLEX, (uint8_t)(2 * real.bits), 1} : real;
  char text[256];
  KUGEL_CHECK(a->device.type == KUGEL_CPU || p->gpu, KUGEL_EDEVICE,
              "%s is on device type %d, this plan takes host memory", name, a->device.type);
  KUGEL_CHECK(kugel__dtype_is(a->dtype, type), KUGEL_ESHAPE, "%s is %s, must be %s%d", name,
              kugel__array_describe(a, text, sizeof text), complex_side ? "complex" : "float", type.bits);
  v->ndim = a->ndim;
  v->data = kugel__array_data(a);
  int64_t stride = 1;
  for (int d = a->ndim - 1; d >= 0; d--) {
    int k = d - (a->ndim - p->ndim);
    KUGEL_CHECK(a->shape[d] >= 0 && (k < 0 || a->shape[d] == want[k]), KUGEL_ESHAPE,
                "%s is %s: its extent on axis %d must be %lld", name,
                kugel__array_describe(a, text, sizeof text), d, (long long)(k < 0 ? 0 : want[k]));
    v->shape[d] = a->shape[d];
    v->stride[d] = a->strides ? a->strides[d] : stride;
    stride *= a->shape[d];
  }
  KUGEL_CHECK(a->data || kugel__array_count(a) == 0, KUGEL_EINVAL, "%s has data NULL", name);
  return KUGEL_OK;
}

static void extent(const kugel__view *v, int64_t bytes, const char **lo, const char **hi)
{
  int64_t low = 0, high = 0;
  for (int d = 0; d < v->ndim; d++) {
    int64_t reach = (v->shape[d] - 1) * v->stride[d];
    low += reach < 0 ? reach : 0;
    high += reach > 0 ? reach : 0;
  }
  *lo = v->data + low * bytes;
  *hi = v->data + (high + 1) * bytes;
}

// In place: the same first element and strides; of R2C, rows of the real array padded to the complex ones.
static bool same_place(const kugel__view *a, int64_t ba, const kugel__view *b, int64_t bb, int last)
{
  if (a->data != b->data)
    return false;
  for (int d = 0; d < a->ndim; d++) {
    int64_t sa = a->stride[d] * ba, sb = b->stride[d] * bb;
    if (a->shape[d] > 1 && d != last && sa != sb)
      return false;
    if (d == last && (a->stride[d] != b->stride[d] || (ba != bb && a->stride[d] != 1)))
      return false;
  }
  return true;
}

static kugel_status check_batch(const kugel_fft *p, const kugel__view *in, const kugel__view *out)
{
  for (int d = 0; d < in->ndim - p->ndim; d++)
    KUGEL_CHECK(in->shape[d] == out->shape[d], KUGEL_ESHAPE, "batch extents differ: %lld and %lld on axis %d",
                (long long)in->shape[d], (long long)out->shape[d], d);
  return KUGEL_OK;
}

static kugel_status check_places(const kugel_fft *p, const kugel__view *in, int64_t bi,
                                 const kugel__view *out, int64_t bo, bool apart)
{
  const char *il, *ih, *ol, *oh;
  for (int d = 0; d < in->ndim; d++)
    if (in->shape[d] == 0)
      return KUGEL_OK;
  extent(in, bi, &il, &ih);
  extent(out, bo, &ol, &oh);
  int last = in->ndim - p->ndim + p->axes[p->naxes - 1];
  KUGEL_CHECK(ih <= ol || oh <= il || (!apart && same_place(in, bi, out, bo, bi == bo ? -1 : last)),
              KUGEL_EINVAL,
              "in and out overlap without being the same: give them arrays of their own, or the same one");
  return KUGEL_OK;
}

static kugel_status run_axis(const kugel_fft *p, int i, int sign, const kugel__view *in,
                             const kugel__view *out, double scale)
{
  bool inverse = sign == KUGEL_INVERSE, real = p->opts.kind == KUGEL_FFT_R2C && i == p->naxes - 1;
  bool apart = inverse && !own_inverse(real || p->opts.kind != KUGEL_FFT_R2C ? p->opts.kind : KUGEL_FFT_C2C);
  kugel__pass t = {.step = apart ? &p->inverse[i] : &p->forward[i],
                   .in = in,
                   .out = out,
                   .at = in->ndim - p->ndim + p->axes[i],
                   .inverse = inverse,
                   .f32 = p->opts.single_precision != 0,
                   .scale = scale};
  return kugel__pass_run(p->ctx, &t);
}

// A view of scratch memory of the same shape, in C order.
static kugel_status scratch_like(const kugel_fft *p, const kugel__view *in, kugel__view *copy)
{
  int64_t count = 1;
  *copy = *in;
  for (int d = in->ndim - 1; d >= 0; d--) {
    copy->stride[d] = count;
    count *= in->shape[d];
  }
  copy->data = kugel__scratch_get(p->ctx, (size_t)count * (p->opts.single_precision ? 8 : 16) + 1);
  KUGEL_CHECK(copy->data, KUGEL_ENOMEM, "no memory for a copy of %lld numbers", (long long)count);
  return KUGEL_OK;
}

// Complex to real over several axes needs the input for itself.
static kugel_status complex_to_real(const kugel_fft *p, const kugel__view *in, const kugel__view *out,
                                    double scale)
{
  int last = p->naxes - 1;
  if (last == 0)
    return run_axis(p, 0, KUGEL_INVERSE, in, out, scale);
  kugel__view copy;
  KUGEL_TRY(scratch_like(p, in, &copy));
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < last && !s; i++)
    s = run_axis(p, i, KUGEL_INVERSE, i ? &copy : in, &copy, 1);
  if (!s)
    s = run_axis(p, last, KUGEL_INVERSE, &copy, out, scale);
  kugel__scratch_put(p->ctx, copy.data);
  return s;
}

static kugel_status run_axes(const kugel_fft *p, int sign, const kugel__view *in, const kugel__view *out,
                             double scale)
{
  if (p->opts.kind == KUGEL_FFT_R2C && sign == KUGEL_INVERSE)
    return complex_to_real(p, in, out, scale);
  for (int i = p->naxes - 1; i >= 0; i--) // the last first: it makes reals complex
    KUGEL_TRY(run_axis(p, i, sign, i == p->naxes - 1 ? in : out, out, i == 0 ? scale : 1));
  return KUGEL_OK;
}

static kugel_status run_on_host(const kugel_fft *p, int sign, kugel_dtype in_type, const kugel__view *in,
                                kugel_dtype out_type, const kugel__view *out, double scale)
{
  bool back = sign == KUGEL_INVERSE, modulus = p->opts.modulus && !back;
  kugel__view copy = {.data = NULL}, numbers = {.data = NULL};
  const kugel__view *to = modulus ? &numbers : out;
  kugel_status s = KUGEL_OK;
  for (int d = 0; d < in->ndim; d++)
    if (in->shape[d] == 0)
      return KUGEL_OK;
  if (kugel__hooks_has(&p->hooks, back, KUGEL__READ_HOOK)) {
    KUGEL_TRY(scratch_like(p, in, &copy));
    s = kugel__hooks_apply(p->ctx, &p->hooks, back, KUGEL__READ_HOOK, p->ndim, in_type, in, &copy);
  }
  if (!s && modulus) {
    s = scratch_like(p, out, &numbers);
    out_type = (kugel_dtype){KUGEL_COMPLEX, (uint8_t)(2 * out_type.bits), 1};
  }
  if (!s)
    s = run_axes(p, sign, copy.data ? &copy : in, to, scale);
  if (!s && kugel__hooks_has(&p->hooks, back, KUGEL__WRITE_HOOK))
    s = kugel__hooks_apply(p->ctx, &p->hooks, back, KUGEL__WRITE_HOOK, p->ndim, out_type, to, to);
  if (!s && modulus)
    s = kugel__modulus_apply(p->ctx, p->opts.modulus, p->opts.single_precision != 0, &numbers, out);
  if (copy.data)
    kugel__scratch_put(p->ctx, copy.data);
  if (numbers.data)
    kugel__scratch_put(p->ctx, numbers.data);
  return s;
}

// With whole lines, if the array of forward's input or inverse's result does not have them.
static kugel_status run_extent(const kugel_fft *p, int sign, kugel_dtype in_type, const kugel__view *in,
                               kugel_dtype out_type, const kugel__view *out, double scale)
{
  bool back = sign == KUGEL_INVERSE;
  kugel__view whole;
  size_t bytes = (back ? out_type : in_type).bits / 8;
  if (!p->extent.any)
    return run_on_host(p, sign, in_type, in, out_type, out, scale);
  KUGEL_TRY(kugel__extent_whole(p->ctx, bytes, back ? out : in, !back, p->ndim, p->n, &whole));
  kugel_status s = run_on_host(p, sign, in_type, back ? in : &whole, out_type, back ? &whole : out, scale);
  if (!s && back)
    s = kugel__extent_copy(p->ctx, bytes, &whole, out);
  kugel__scratch_put(p->ctx, whole.data);
  return s;
}

// Halves: all of it in floats.
static kugel_status run_halves(const kugel_fft *p, int sign, kugel_dtype in_type, const kugel__view *in,
                               kugel_dtype out_type, const kugel__view *out, double scale)
{
  bool complex_in = in_type.code == KUGEL_COMPLEX, complex_out = out_type.code == KUGEL_COMPLEX;
  kugel__view x, y;
  in_type.bits = (uint8_t)(2 * in_type.bits);
  out_type.bits = (uint8_t)(2 * out_type.bits);
  KUGEL_TRY(scratch_like(p, in, &x));
  kugel_status s = scratch_like(p, out, &y);
  if (s) {
    kugel__scratch_put(p->ctx, x.data);
    return s;
  }
  s = kugel__halves_read(p->ctx, complex_in, in, &x);
  if (!s)
    s = run_extent(p, sign, in_type, &x, out_type, &y, scale);
  if (!s)
    s = kugel__halves_write(p->ctx, complex_out, &y, out);
  kugel__scratch_put(p->ctx, x.data);
  kugel__scratch_put(p->ctx, y.data);
  return s;
}

kugel_status kugel_fft_execute(const kugel_fft *p, int sign, const kugel_array *in, const kugel_array *out)
{
  return kugel_fft_execute_on(p, sign, in, out, NULL);
}

// Makes *a the array without its last extent where that holds parts of numbers.
static kugel_status take_parts(const kugel_fft *p, const kugel_array **a, const char *name, bool complex_side,
                               kugel__pair_array *room)
{
  bool pairs = is_half(p) && complex_side && *a && kugel__dtype_is((*a)->dtype, KUGEL_F16);
  if (!is_dd(p) && !pairs)
    return KUGEL_OK;
  KUGEL_TRY(kugel__pair_array_of(*a, name, room));
  if (pairs)
    room->array.dtype = KUGEL_C32;
  *a = &room->array;
  return KUGEL_OK;
}

kugel_status kugel_fft_execute_on(const kugel_fft *p, int sign, const kugel_array *in, const kugel_array *out,
                                  kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_fft_create");
  KUGEL_CHECK(sign == KUGEL_FORWARD || sign == KUGEL_INVERSE, KUGEL_EINVAL,
              "sign is %d, must be KUGEL_FORWARD (-1) or KUGEL_INVERSE (1)", sign);
  bool r2c = p->opts.kind == KUGEL_FFT_R2C, c2c = p->opts.kind == KUGEL_FFT_C2C, back = sign == KUGEL_INVERSE;
  int64_t half[MAX_DIMS];
  memcpy(half, p->n, sizeof half);
  int last = p->axes[p->naxes - 1];
  half[last] = p->n[last] / 2 + 1;
  kugel__view vi, vo;
  kugel__pair_array pairs_in, pairs_out;
  const kugel_array *whole_in = in, *whole_out = out;
  bool modulus = p->opts.modulus && !back;
  KUGEL_TRY(take_parts(p, &in, "in", c2c || (r2c && back), &pairs_in));
  KUGEL_TRY(take_parts(p, &out, "out", !modulus && (c2c || (r2c && !back)), &pairs_out));
  KUGEL_TRY(take_view(p, in, "in", c2c || (r2c && back), back ? r2c ? half : p->n : p->extent.count, &vi));
  KUGEL_TRY(take_view(p, out, "out", !modulus && (c2c || (r2c && !back)),
                      back  ? p->extent.count
                      : r2c ? half
                            : p->n,
                      &vo));
  KUGEL_CHECK(vi.ndim == vo.ndim, KUGEL_ESHAPE, "in has %d axes and out %d: they must be as many", vi.ndim,
              vo.ndim);
  KUGEL_TRY(check_batch(p, &vi, &vo));
  if (in->device.type != KUGEL_OPENCL) // whose handles are no addresses
    KUGEL_TRY(check_places(p, &vi, in->dtype.bits / (is_dd(p) ? 4 : 8), &vo,
                           out->dtype.bits / (is_dd(p) ? 4 : 8), modulus || p->extent.any));
  kugel__dd scale = back ? (kugel__dd){p->opts.inverse_scale, p->opts.inverse_scale_low}
                         : (kugel__dd){p->opts.forward_scale, p->opts.forward_scale_low};
  int at[MAX_DIMS];
  for (int i = 0; i < p->naxes; i++)
    at[i] = vi.ndim - p->ndim + p->axes[i];
  if (p->gpu) {
    kugel__fft_gpu_call call = {
        .inverse = back, .in_view = &vi, .out_view = &vo, .axes = at, .scale = scale, .queue = queue};
    return kugel__fft_gpu_execute(p->gpu, &call, whole_in, whole_out);
  }
  KUGEL_CHECK(!queue, KUGEL_EINVAL, "queue is set, but this plan is on the CPU: pass NULL");
  if (p->dd) {
    kugel__fft_dd_call call = {.inverse = back,
                               .in = &vi,
                               .out = &vo,
                               .axes = at,
                               .ndim = p->ndim,
                               .hooks = &p->hooks,
                               .scale = scale};
    return kugel__fft_dd_run(p->dd, &call);
  }
  return (is_half(p) ? run_halves : run_extent)(p, sign, in->dtype, &vi, out->dtype, &vo, scale.hi);
}
