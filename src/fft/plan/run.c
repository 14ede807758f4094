/* SPDX-License-Identifier: BSD-3-Clause */
/* n-dimensional transforms: one pass over the lines of each axis, VLEN lines at a time. */
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/plan/half.h"
#include "fft/plan/plan.h"
#include "fft/plan/modulus.h"

static kugel_status take_view(const kugel_fft *p, const kugel_array *a, const char *name, bool complex_side,
                              const int64_t *want, kugel__view *v)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  KUGEL_CHECK(a->ndim >= p->ndim && a->ndim <= KUGEL__MAX_NDIM && a->shape, KUGEL_ESHAPE,
              "%s has ndim %d, must be %d to %d with a shape", name, a->ndim, p->ndim, KUGEL__MAX_NDIM);
  kugel_dtype real = kugel__is_half(p) ? KUGEL_F16 : kugel__is_single(p) ? KUGEL_F32 : KUGEL_F64;
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
  bool apart =
      inverse && !kugel__own_inverse(real || p->opts.kind != KUGEL_FFT_R2C ? p->opts.kind : KUGEL_FFT_C2C);
  kugel__pass t = {.step = apart ? &p->inverse[i] : &p->forward[i],
                   .in = in,
                   .out = out,
                   .at = in->ndim - p->ndim + p->axes[i],
                   .inverse = inverse,
                   .f32 = kugel__is_single(p),
                   .scale = scale};
  return kugel__pass_run(p->ctx, &t);
}

// The next loop is that of an axis, after `done` others.
static void announce(const kugel_fft *p, int done)
{
  kugel__progress_stage((double)done / p->naxes, (double)(done + 1) / p->naxes, "transform");
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
  copy->data = kugel__scratch_get(p->ctx, (size_t)count * (kugel__is_single(p) ? 8 : 16) + 1);
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
  for (int i = 0; i < last && !s; i++) {
    announce(p, i);
    s = run_axis(p, i, KUGEL_INVERSE, i ? &copy : in, &copy, 1);
  }
  announce(p, last);
  if (!s)
    s = run_axis(p, last, KUGEL_INVERSE, &copy, out, scale);
  kugel__scratch_put(p->ctx, copy.data);
  return s;
}

static kugel_status all_axes(const kugel_fft *p, int sign, const kugel__view *in, const kugel__view *out,
                             double scale)
{
  if (p->opts.kind == KUGEL_FFT_R2C && sign == KUGEL_INVERSE)
    return complex_to_real(p, in, out, scale);
  for (int done = 0; done < p->naxes; done++) {
    int i = p->naxes - 1 - done; // the last first: it makes reals complex
    announce(p, done);
    KUGEL_TRY(run_axis(p, i, sign, done ? out : in, out, i == 0 ? scale : 1));
  }
  return KUGEL_OK;
}

static kugel_status run_axes(const kugel_fft *p, int sign, const kugel__view *in, const kugel__view *out,
                             double scale)
{
  kugel__span outer = kugel__progress_enter(0, 1);
  kugel_status s = all_axes(p, sign, in, out, scale);
  kugel__progress_leave(outer);
  return s;
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
    s = kugel__modulus_apply(p->ctx, p->opts.modulus, kugel__is_single(p), &numbers, out);
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

// Makes *a the array without its last extent where that holds parts of numbers.
static kugel_status take_parts(const kugel_fft *p, const kugel_array **a, const char *name, bool complex_side,
                               kugel__pair_array *room)
{
  bool pairs = kugel__is_half(p) && complex_side && *a && kugel__dtype_is((*a)->dtype, KUGEL_F16);
  if (!kugel__is_dd(p) && !pairs)
    return KUGEL_OK;
  KUGEL_TRY(kugel__pair_array_of(*a, name, room));
  if (pairs)
    room->array.dtype = KUGEL_C32;
  *a = &room->array;
  return KUGEL_OK;
}

kugel_status kugel_fft_execute(const kugel_fft *p, int sign, const kugel_array *in, const kugel_array *out,
                               kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_fft_create");
  KUGEL_CHECK(sign == KUGEL_FORWARD || sign == KUGEL_INVERSE, KUGEL_EINVAL,
              "sign is %d, must be KUGEL_FORWARD (-1) or KUGEL_INVERSE (1)", sign);
  if (p->slabs)
    return kugel__slabs_execute(p, sign, in, out);
  bool r2c = p->opts.kind == KUGEL_FFT_R2C, c2c = p->opts.kind == KUGEL_FFT_C2C, back = sign == KUGEL_INVERSE;
  int64_t half[KUGEL__FFT_DIMS];
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
  KUGEL_TRY(kugel__array_check_reach(whole_in, "in", false));
  KUGEL_TRY(kugel__array_check_reach(whole_out, "out", true));
  if (in->device.type != KUGEL_OPENCL) // whose handles are no addresses
    KUGEL_TRY(check_places(p, &vi, in->dtype.bits / (kugel__is_dd(p) ? 4 : 8), &vo,
                           out->dtype.bits / (kugel__is_dd(p) ? 4 : 8), modulus || p->extent.any));
  kugel__dd scale = back ? (kugel__dd){p->opts.inverse_scale, p->opts.inverse_scale_low}
                         : (kugel__dd){p->opts.forward_scale, p->opts.forward_scale_low};
  int at[KUGEL__FFT_DIMS];
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
  return (kugel__is_half(p) ? run_halves : run_extent)(p, sign, in->dtype, &vi, out->dtype, &vo, scale.hi);
}
