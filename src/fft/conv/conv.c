/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/conv/conv.h"
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "fft/conv/gpu.h"

/* ---- transforms of boxes ---- */

// Boxes as an array with `axis` last; `first` and `extent` say which part of the other axes.
typedef struct boxes {
  kugel_array array;
  int64_t shape[KUGEL__CONV_DIMS + 1], strides[KUGEL__CONV_DIMS + 1];
} boxes;

static void boxes_along(const kugel_conv *p, void *data, int64_t count, int axis, const int64_t *first,
                        const int64_t *extent, bool reals, boxes *b)
{
  int at = 0, unit = reals ? 2 : 1; // reals: strides count them
  int64_t stride = p->points, start = 0;
  b->shape[at] = count;
  b->strides[at++] = stride * unit;
  for (int d = 0; d < p->ndim; d++) {
    bool last = d == p->ndim - 1;
    stride /= last ? p->row : p->axis[d].box;
    if (d == axis) {
      b->shape[p->ndim] = last && !reals ? p->row : p->axis[d].box;
      b->strides[p->ndim] = last ? 1 : stride * unit;
    } else {
      b->shape[at] = d < axis ? extent[d] : last ? p->row : p->axis[d].box;
      b->strides[at++] = stride * unit;
      start += d < axis ? first[d] * stride : 0;
    }
  }
  int bits = (p->opts.precision == KUGEL_PRECISION_F32 ? 32 : 64) * (reals ? 1 : 2);
  b->array = (kugel_array){.data = (char *)data +
                                   (size_t)start * (p->opts.precision == KUGEL_PRECISION_F32 ? 8 : 16),
                           .device = {KUGEL_CPU, 0},
                           .ndim = p->ndim + 1,
                           .dtype = {reals ? KUGEL_FLOAT : KUGEL_COMPLEX, (uint8_t)bits, 1},
                           .shape = b->shape,
                           .strides = b->strides};
}

// Lines that hold nothing but padding are left out.
kugel_status kugel__conv_forward(const kugel_conv *p, void *data, int64_t count, const int64_t *fill)
{
  static const int64_t zero[KUGEL__CONV_DIMS];
  for (int d = p->ndim - 1; d >= 0; d--) {
    boxes in, out;
    if (!p->plan[d])
      continue;
    boxes_along(p, data, count, d, zero, fill, d == p->ndim - 1 && !p->opts.complex_data, &in);
    boxes_along(p, data, count, d, zero, fill, false, &out);
    KUGEL_TRY(kugel_fft_execute(p->plan[d], KUGEL_FORWARD, &in.array, &out.array, NULL));
  }
  return KUGEL_OK;
}

// Lines of which no result is kept are left out.
kugel_status kugel__conv_backward(const kugel_conv *p, void *data, int64_t count)
{
  int64_t first[KUGEL__CONV_DIMS], extent[KUGEL__CONV_DIMS];
  for (int d = 0; d < p->ndim; d++) {
    boxes in, out;
    first[d] = p->axis[d].skip;
    extent[d] = p->axis[d].step;
    if (!p->plan[d])
      continue;
    boxes_along(p, data, count, d, first, extent, false, &in);
    boxes_along(p, data, count, d, first, extent, d == p->ndim - 1 && !p->opts.complex_data, &out);
    KUGEL_TRY(kugel_fft_execute(p->plan[d], KUGEL_INVERSE, &in.array, &out.array, NULL));
  }
  return KUGEL_OK;
}

/* ---- plans ---- */

static kugel_status check_opts(const kugel_conv_opts *o)
{
  KUGEL_CHECK((int)o->extent >= KUGEL_CONV_FULL && o->extent <= KUGEL_CONV_VALID, KUGEL_EINVAL,
              "extent is %d, must be KUGEL_CONV_FULL (0), _SAME (1) or _VALID (2)", (int)o->extent);
  KUGEL_CHECK(o->precision == KUGEL_PRECISION_F64 || o->precision == KUGEL_PRECISION_F32, KUGEL_EINVAL,
              "precision is %d, must be KUGEL_PRECISION_F64 (0) or KUGEL_PRECISION_F32 (1)",
              (int)o->precision);
  KUGEL_CHECK(!o->circular || o->extent != KUGEL_CONV_VALID, KUGEL_EINVAL,
              "extent is KUGEL_CONV_VALID, but circular data have no ends: use FULL or SAME");
  KUGEL_CHECK(o->inputs >= 0 && o->outputs >= 0 && o->inputs <= 1 << 20 && o->outputs <= 1 << 20,
              KUGEL_EINVAL, "inputs and outputs are %d and %d, must be 0 to 2^20", o->inputs, o->outputs);
  KUGEL_CHECK(!o->each || (o->inputs == o->outputs && o->inputs > 0), KUGEL_EINVAL,
              "each is set with inputs %d and outputs %d: they must be equal, and not 0", o->inputs,
              o->outputs);
  return KUGEL_OK;
}

static kugel_status choose_axis(kugel_conv *p, int d, int64_t n, int64_t k)
{
  const int64_t most = (int64_t)1 << 40;
  const kugel_conv_opts *o = &p->opts;
  kugel__conv_axis *a = &p->axis[d];
  KUGEL_CHECK(n >= 1 && n <= most && k >= 1 && k <= most, KUGEL_EINVAL,
              "lengths on axis %d are n = %lld and k = %lld, must be 1 to 2^40", d, (long long)n,
              (long long)k);
  KUGEL_CHECK(o->extent != KUGEL_CONV_VALID || k <= n, KUGEL_EINVAL,
              "k[%d] = %lld is above n[%d] = %lld: no result is valid; use KUGEL_CONV_FULL", d, (long long)k,
              d, (long long)n);
  *a = (kugel__conv_axis){.n = n, .k = k, .hi = n + k - 1};
  if (o->circular && o->correlate)
    a->lo = k - 1;
  if (o->extent == KUGEL_CONV_SAME)
    a->lo = (k - 1) / 2;
  if (o->circular || o->extent == KUGEL_CONV_SAME)
    a->hi = a->lo + n;
  if (o->extent == KUGEL_CONV_VALID) {
    a->lo = k - 1;
    a->hi = n;
  }
  if (o->circular) // a longer kernel meets each datum more than once
    a->k = kugel__min(k, n);
  kugel__conv_choose(a, o->circular != 0);
  return KUGEL_OK;
}

static kugel_status choose_boxes(kugel_conv *p, const int64_t *n, const int64_t *k)
{
  const int64_t most = (int64_t)1 << 40;
  int64_t box = 1, results = 1;
  p->tiles = 1;
  for (int d = 0; d < p->ndim; d++) {
    KUGEL_TRY(choose_axis(p, d, n[d], k[d]));
    const kugel__conv_axis *a = &p->axis[d];
    KUGEL_CHECK(box <= most / a->box && results <= most / a->hi && results <= most / a->n, KUGEL_EINVAL,
                "the lengths multiply to more than 2^40");
    box *= a->box;
    results *= kugel__max(a->hi, a->n);
    p->tiles *= a->tiles;
  }
  int64_t last = p->axis[p->ndim - 1].box;
  p->row = p->opts.complex_data ? last : last / 2 + 1;
  p->points = box / last * p->row;
  KUGEL_CHECK(p->kernels <= most / p->points, KUGEL_EINVAL, "%d spectra of %lld numbers are above 2^40",
              p->kernels, (long long)p->points);
  p->spectrum = p->points * p->kernels;
  return KUGEL_OK;
}

static kugel_status make_transforms(kugel_conv *p)
{
  for (int d = 0; d < p->ndim; d++) {
    bool real = d == p->ndim - 1 && !p->opts.complex_data;
    kugel_fft_opts o = {
        .size = sizeof o, .kind = real ? KUGEL_FFT_R2C : KUGEL_FFT_C2C, .precision = p->opts.precision};
    if (p->axis[d].box > 1 || real)
      KUGEL_TRY(kugel_fft_create(p->ctx, 1, &p->axis[d].box, &o, &p->plan[d]));
  }
  return KUGEL_OK;
}

// The kernels go into their boxes, reversed for correlation, folded if circular, over the box's points.
static void place_kernels(const kugel_conv *p, const kugel_array *kernels, const int64_t *k)
{
  int64_t count = 1;
  double points = 1;
  for (int d = 0; d < p->ndim; d++) {
    count *= k[d];
    points *= (double)p->axis[d].box;
  }
  for (int64_t i = 0; i < p->kernels * count; i++) {
    int64_t at = 0, rest = i % count, stride = 1, real_row = p->opts.complex_data ? p->row : 2 * p->row;
    for (int d = p->ndim - 1; d >= 0; d--) {
      int64_t j = rest % k[d];
      j = p->opts.correlate ? k[d] - 1 - j : j;
      at += (p->opts.circular ? j % p->axis[d].n : j) * stride;
      stride *= d == p->ndim - 1 ? real_row : p->axis[d].box;
      rest /= k[d];
    }
    at += i / count * stride;
    double x[2];
    kugel__conv_number(kernels, i, x);
    x[1] = p->opts.correlate ? -x[1] : x[1];
    for (int part = 0; part < (p->opts.complex_data ? 2 : 1); part++) {
      int64_t to = p->opts.complex_data ? 2 * at + part : at;
      if (p->opts.precision == KUGEL_PRECISION_F32)
        ((float *)p->spectra)[to] += (float)(x[part] / points);
      else
        ((double *)p->spectra)[to] += x[part] / points;
    }
  }
}

static kugel_status check_kernels(const kugel_conv *p, const kugel_array *kernels, const int64_t *k)
{
  int64_t shape[KUGEL__CONV_DIMS + 2], lead = 1;
  int ndim = 0;
  if (p->opts.outputs)
    shape[ndim++] = p->opts.outputs;
  if (p->opts.inputs && !p->opts.each)
    shape[ndim++] = p->opts.inputs;
  memcpy(shape + ndim, k, sizeof *k * (size_t)p->ndim);
  ndim += p->ndim;
  KUGEL_CHECK(kernels, KUGEL_EINVAL, "kernels is NULL: pass an array");
  kugel_dtype t = kernels->dtype;
  KUGEL_CHECK((t.code == KUGEL_FLOAT && (t.bits == 32 || t.bits == 64)) ||
                  (t.code == KUGEL_COMPLEX && (t.bits == 64 || t.bits == 128) && p->opts.complex_data),
              KUGEL_ESHAPE, "kernels have type %d of %d bits, must be float, double%s", t.code, t.bits,
              p->opts.complex_data ? " or complex of these" : "; complex ones need complex_data");
  return kugel__array_check(kernels, "kernels", t, ndim, shape, &lead);
}

static kugel_status make_spectra(kugel_conv *p, const kugel_array *kernels, const int64_t *k)
{
  KUGEL_TRY(make_transforms(p));
  int64_t fill[KUGEL__CONV_DIMS];
  size_t bytes = (size_t)p->spectrum * (p->opts.precision == KUGEL_PRECISION_F32 ? 8 : 16);
  p->spectra = kugel__calloc(p->ctx, bytes);
  KUGEL_CHECK(p->spectra, KUGEL_ENOMEM, "no memory for %zu bytes of spectra", bytes);
  place_kernels(p, kernels, k);
  for (int d = 0; d < p->ndim; d++)
    fill[d] = p->axis[d].k;
  return kugel__conv_forward(p, p->spectra, p->kernels, fill);
}

kugel_status kugel_conv_create(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                               const kugel_array *kernels, const kugel_conv_opts *opts, kugel_conv **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the plan");
  *out = NULL;
  KUGEL_CHECK(ndim >= 1 && ndim <= KUGEL__CONV_DIMS, KUGEL_EINVAL, "ndim is %d, must be 1 to %d", ndim,
              KUGEL__CONV_DIMS);
  KUGEL_CHECK(n && k, KUGEL_EINVAL, "n or k is NULL: pass %d lengths each", ndim);
  kugel_conv_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_conv_opts"));
  KUGEL_TRY(check_opts(&o));
  kugel_conv *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->opts = o;
  p->ndim = ndim;
  p->room = (int64_t)1 << 32;
  p->inputs = o.inputs ? o.inputs : 1;
  p->outputs = o.outputs ? o.outputs : 1;
  p->kernels = o.each ? p->outputs : p->outputs * p->inputs;
  kugel_status s = choose_boxes(p, n, k);
  if (!s)
    s = check_kernels(p, kernels, k);
  bool host = p->ctx->device.type == KUGEL_CPU;
  if (!s)
    s = host ? make_spectra(p, kernels, k) : kugel__conv_gpu_create(p, kernels, k, &p->gpu);
  if (s) {
    kugel_conv_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_conv_destroy(kugel_conv *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  for (int d = 0; d < p->ndim; d++)
    kugel_fft_destroy(p->plan[d]);
  kugel__conv_gpu_destroy(p->gpu);
  kugel__free(ctx, p->spectra);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel_status kugel_conv_get_info(const kugel_conv *p, kugel_conv_info *info)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_conv_create");
  KUGEL_CHECK(info, KUGEL_EINVAL, "info is NULL: pass a kugel_conv_info with its size set");
  kugel_conv_info whole = {.size = sizeof whole,
                           .ndim = p->ndim,
                           .inputs = p->opts.inputs,
                           .outputs = p->opts.outputs,
                           .precision = p->opts.precision};
  for (int d = 0; d < p->ndim; d++) {
    whole.n[d] = p->axis[d].n;
    whole.m[d] = p->axis[d].hi - p->axis[d].lo;
  }
  return kugel__give_info(info, &whole, sizeof whole, "kugel_conv_info");
}
