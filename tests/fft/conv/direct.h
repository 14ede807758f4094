/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolutions beside direct sums in long double. */
#ifndef KUGEL_TESTS_CONV_DIRECT_H
#define KUGEL_TESTS_CONV_DIRECT_H

#include <complex.h>
#include "check.h"
#include "fft/conv/conv.h"

enum { GUARD = 16 /* numbers on either side of results */ };

typedef struct problem {
  int ndim;
  int64_t n[3], k[3], batch;
  kugel_conv_opts o;
} problem;

static int64_t modulo(int64_t a, int64_t n)
{
  return (a % n + n) % n;
}

static double real_part(const problem *p, const void *x, int64_t i, int part)
{
  int64_t at = p->o.complex_data ? 2 * i + part : i;
  if (part && !p->o.complex_data)
    return 0;
  return p->o.precision == KUGEL_PRECISION_F32 ? (double)((const float *)x)[at] : ((const double *)x)[at];
}

// Result o of data x with one kernel, by the definition in kugel/conv.h.
static void add_direct(const problem *p, const void *x, const void *h, const int64_t *o,
                       long double _Complex *sum)
{
  int64_t count = 1;
  for (int d = 0; d < p->ndim; d++)
    count *= p->k[d];
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i, at = 0, stride = 1;
    bool inside = true;
    for (int d = p->ndim - 1; d >= 0; d--) {
      int64_t j = rest % p->k[d], q = p->o.correlate ? o[d] - (p->k[d] - 1) + j : o[d] - j;
      rest /= p->k[d];
      inside &= p->o.circular || (q >= 0 && q < p->n[d]);
      at += modulo(q, p->n[d]) * stride;
      stride *= p->n[d];
    }
    long double _Complex a = real_part(p, h, i, 0) + I * (long double)real_part(p, h, i, 1);
    if (inside)
      *sum += (p->o.correlate ? conjl(a) : a) *
              (real_part(p, x, at, 0) + I * (long double)real_part(p, x, at, 1));
  }
}

static int64_t first_of(const problem *p, int d)
{
  if (p->o.extent == KUGEL_CONV_SAME)
    return (p->k[d] - 1) / 2;
  return p->o.extent == KUGEL_CONV_VALID || (p->o.circular && p->o.correlate) ? p->k[d] - 1 : 0;
}

static void *numbers(const problem *p, int64_t count, uint64_t seed)
{
  int64_t parts = p->o.complex_data ? 2 : 1;
  double *x = malloc((size_t)(count * parts) * 8 + 8);
  for (int64_t i = 0; i < count * parts; i++)
    if (p->o.precision == KUGEL_PRECISION_F32)
      ((float *)x)[i] = (float)check_random(&seed);
    else
      x[i] = check_random(&seed);
  return x;
}

static kugel_dtype type_of(const problem *p)
{
  int bits = p->o.precision == KUGEL_PRECISION_F32 ? 32 : 64;
  return p->o.complex_data ? (kugel_dtype){KUGEL_COMPLEX, (uint8_t)(2 * bits), 1}
                           : (kugel_dtype){KUGEL_FLOAT, (uint8_t)bits, 1};
}

// [lead, n...] in C order, or with the last two axes swapped in memory.
static kugel_array array_of(const problem *p, void *data, int64_t lead, const int64_t *n, bool swapped,
                            int64_t *shape, int64_t *strides)
{
  int64_t order[4] = {0, 1, 2, 3}, stride = 1;
  shape[0] = lead;
  memcpy(shape + 1, n, sizeof *n * (size_t)p->ndim);
  if (swapped && p->ndim > 1) {
    order[p->ndim] = p->ndim - 1;
    order[p->ndim - 1] = p->ndim;
  }
  for (int i = p->ndim; i >= 0; i--) {
    strides[order[i]] = stride;
    stride *= shape[order[i]];
  }
  return (kugel_array){.data = data,
                       .device = {KUGEL_CPU, 0},
                       .ndim = p->ndim + 1,
                       .dtype = type_of(p),
                       .shape = shape,
                       .strides = strides};
}

// With channels the lead axis has batch * channels, split by the caller's view into two.
static kugel_array split_lead(const kugel_array *a, int64_t channels, int64_t *shape, int64_t *strides)
{
  kugel_array b = *a;
  shape[0] = a->shape[0] / channels;
  shape[1] = channels;
  strides[1] = a->strides[0];
  strides[0] = strides[1] * channels;
  memcpy(shape + 2, a->shape + 1, sizeof *shape * (size_t)(a->ndim - 1));
  memcpy(strides + 2, a->strides + 1, sizeof *shape * (size_t)(a->ndim - 1));
  b.ndim++;
  b.shape = shape;
  b.strides = strides;
  return b;
}

// room: of the plan, 0: its own. swapped: results have their last two axes swapped in memory.
// Largest error at `samples` results (0: all), over |h| |x| of all of them.
static double error_of(kugel_ctx *ctx, const problem *p, int samples, bool swapped, int64_t room)
{
  int inputs = p->o.inputs ? p->o.inputs : 1, outputs = p->o.outputs ? p->o.outputs : 1;
  int64_t nx = 1, nh = 1, ny = 1, m[3], ks[5];
  int kd = 0, kernels = p->o.each ? outputs : outputs * inputs;
  if (p->o.outputs)
    ks[kd++] = outputs;
  if (p->o.inputs && !p->o.each)
    ks[kd++] = inputs;
  for (int d = 0; d < p->ndim; d++) {
    nx *= p->n[d];
    nh *= ks[kd++] = p->k[d];
  }
  void *h = numbers(p, kernels * nh, 7);
  kugel_array ka = {.data = h, .device = {KUGEL_CPU, 0}, .ndim = kd, .dtype = type_of(p), .shape = ks};
  kugel_conv *plan = NULL;
  kugel_conv_opts o = p->o;
  o.size = sizeof o;
  CHECK_OK(kugel_conv_create(ctx, p->ndim, p->n, p->k, &ka, &o, &plan));
  if (!plan) {
    free(h);
    return NAN;
  }
  plan->room = room ? room : plan->room;
  kugel_conv_info info = {.size = sizeof info};
  CHECK_OK(kugel_conv_get_info(plan, &info));
  CHECK(info.ndim == p->ndim && info.inputs == o.inputs && info.precision == o.precision);
  for (int d = 0; d < p->ndim; d++) {
    CHECK(info.n[d] == p->n[d]);
    m[d] = info.m[d];
  }
  for (int d = 0; d < p->ndim; d++)
    ny *= m[d];
  void *x = numbers(p, p->batch * inputs * nx, 8), *y = numbers(p, p->batch * outputs * ny + 2 * GUARD, 9);
  void *whole = y, *saved = numbers(p, p->batch * outputs * ny + 2 * GUARD, 9);
  int64_t s[4][4], t[4][5];
  y = (char *)whole + GUARD * kugel__conv_element(plan);
  kugel_array in = array_of(p, x, p->batch * inputs, p->n, false, s[0], s[1]);
  kugel_array out = array_of(p, y, p->batch * outputs, m, swapped, s[2], s[3]);
  kugel_array in5 = split_lead(&in, inputs, t[0], t[1]), out5 = split_lead(&out, outputs, t[2], t[3]);
  CHECK_OK(kugel_conv_execute(plan, p->o.inputs ? &in5 : &in, p->o.outputs ? &out5 : &out, NULL));
  int64_t bytes = (int64_t)kugel__conv_element(plan), end = GUARD * bytes + p->batch * outputs * ny * bytes;
  CHECK(!memcmp(whole, saved, (size_t)(GUARD * bytes)) &&
        !memcmp((char *)whole + end, (char *)saved + end, (size_t)(GUARD * bytes)));
  double worst = 0, size = p->o.complex_data ? 16 : 8;
  uint64_t seed = 3;
  size /= p->o.precision == KUGEL_PRECISION_F32 ? 2 : 1;
  for (int64_t r = 0; r < (samples ? samples : p->batch * outputs * ny); r++) {
    int64_t q = samples ? (int64_t)((check_random(&seed) + 1) / 2 * (double)(p->batch * outputs * ny)) : r;
    int64_t rest = q % ny, channel = q / ny % outputs, b = q / ny / outputs, at = q / ny * out.strides[0],
            f[3];
    long double _Complex want = 0;
    for (int d = p->ndim - 1; d >= 0; d--) {
      at += rest % m[d] * out.strides[d + 1];
      f[d] = first_of(p, d) + rest % m[d];
      rest /= m[d];
    }
    for (int c = 0; c < inputs; c++)
      if (!p->o.each || c == channel)
        add_direct(p, (char *)x + (size_t)((double)((b * inputs + c) * nx) * size),
                   (char *)h + (size_t)((double)((p->o.each ? channel : channel * inputs + c) * nh) * size),
                   f, &want);
    worst =
        fmax(worst, (double)cabsl(want - real_part(p, y, at, 0) - I * (long double)real_part(p, y, at, 1)));
  }
  kugel_conv_destroy(plan);
  free(x);
  free(whole);
  free(saved);
  free(h);
  return worst / sqrt((double)(nh * inputs) / 9);
}

#endif
