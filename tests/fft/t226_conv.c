/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution and correlation of all kinds against direct sums. */
#include <float.h>
#include <complex.h>
#include "check.h"
#include "core/alloc.h"
#include "fft/conv.h"

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
  return p->o.single_precision ? (double)((const float *)x)[at] : ((const double *)x)[at];
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
    if (p->o.single_precision)
      ((float *)x)[i] = (float)check_random(&seed);
    else
      x[i] = check_random(&seed);
  return x;
}

static kugel_dtype type_of(const problem *p)
{
  int bits = p->o.single_precision ? 32 : 64;
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

// Largest error at `samples` results (0: all), over |h| |x| of all of them.
static double error_of(const problem *p, int samples, bool swapped)
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
  CHECK_OK(kugel_conv_create(NULL, p->ndim, p->n, p->k, &ka, &o, &plan));
  CHECK_OK(kugel_conv_shape(plan, m));
  for (int d = 0; d < p->ndim; d++)
    ny *= m[d];
  void *x = numbers(p, p->batch * inputs * nx, 8), *y = numbers(p, p->batch * outputs * ny, 9);
  int64_t s[4][4], t[4][5];
  kugel_array in = array_of(p, x, p->batch * inputs, p->n, false, s[0], s[1]);
  kugel_array out = array_of(p, y, p->batch * outputs, m, swapped, s[2], s[3]);
  kugel_array in5 = split_lead(&in, inputs, t[0], t[1]), out5 = split_lead(&out, outputs, t[2], t[3]);
  CHECK_OK(kugel_conv_execute(plan, p->o.inputs ? &in5 : &in, p->o.outputs ? &out5 : &out, NULL));
  double worst = 0, size = p->o.complex_data ? 16 : 8;
  uint64_t seed = 3;
  size /= p->o.single_precision ? 2 : 1;
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
  free(y);
  free(h);
  return worst / sqrt((double)(nh * inputs) / 9);
}

static void check(const problem *p, int samples, bool swapped)
{
  // Two transforms of at most 2^15 points, each within (0.7 sqrt(15) + 1) eps rms; of 20000 samples the
  // largest error is 4.5 times as much.
  double e = error_of(p, samples, swapped), rms = sqrt(2) * (.7 * sqrt(15) + 1) * DBL_EPSILON / 2;
  double bound = p->o.single_precision ? 1.2e-6 : 4.5 * rms;
  if (!(e <= bound))
    CHECK_FAIL(
        "n %lld %lld %lld k %lld %lld %lld extent %d circular %d correlate %d complex %d single %d: %.3g",
        (long long)p->n[0], (long long)p->n[1], (long long)p->n[2], (long long)p->k[0], (long long)p->k[1],
        (long long)p->k[2], (int)p->o.extent, p->o.circular, p->o.correlate, p->o.complex_data,
        p->o.single_precision, e);
}

static void every_kind(const problem *shape)
{
  for (int bits = 0; bits < 48; bits++) {
    problem p = *shape;
    p.o.correlate = bits & 1;
    p.o.complex_data = bits >> 1 & 1;
    p.o.single_precision = bits >> 2 & 1;
    p.o.circular = bits >> 3 & 1;
    p.o.extent = (kugel_conv_extent)(bits >> 4);
    bool fits = true;
    for (int d = 0; d < p.ndim; d++)
      fits &= p.k[d] <= p.n[d];
    if (p.o.extent == KUGEL_CONV_VALID && (p.o.circular || !fits))
      continue;
    check(&p, 0, bits & 1);
  }
}

static const problem shapes[] = {
    {1, {1}, {1}, 1, {0}},        {1, {7}, {3}, 2, {0}},
    {1, {5}, {9}, 1, {0}},        {1, {1}, {4}, 1, {0}},
    {1, {97}, {10}, 3, {0}},      {2, {6, 9}, {3, 4}, 2, {0}},
    {2, {4, 5}, {7, 2}, 1, {0}},  {3, {5, 4, 6}, {2, 3, 1}, 1, {0}},
    {2, {1, 12}, {1, 5}, 1, {0}},
};

static kugel_conv *small_plan(kugel_status want)
{
  kugel_conv *plan = NULL;
  double h[3] = {1, 2, 3};
  CHECK_IS(
      kugel_conv_create(NULL, 1, (int64_t[]){10}, (int64_t[]){3}, KUGEL_ARRAY(h, KUGEL_F64, 3), NULL, &plan),
      want);
  return plan;
}

static void errors(void)
{
  kugel_conv *p = small_plan(KUGEL_OK);
  double x[10] = {1}, y[12], h[9] = {0};
  int64_t n[] = {10, 10}, k[] = {3, 3}, bad[] = {0}, huge[] = {INT64_MAX};
  kugel_array *a = KUGEL_ARRAY(h, KUGEL_F64, 3), *in = KUGEL_ARRAY(x, KUGEL_F64, 10);
  kugel_conv *q = NULL;
  CHECK_OK(kugel_conv_execute(p, in, KUGEL_ARRAY(y, KUGEL_F64, 12), NULL));
  CHECK(fabs(y[0] - 1) < 1e-15 && fabs(y[2] - 3) < 1e-15 && fabs(y[11]) < 1e-15);
  CHECK_IS(kugel_conv_execute(NULL, in, KUGEL_ARRAY(y, KUGEL_F64, 12), NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_execute(p, NULL, KUGEL_ARRAY(y, KUGEL_F64, 12), NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_execute(p, in, KUGEL_ARRAY(y, KUGEL_F64, 10), NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_conv_execute(p, in, KUGEL_ARRAY(y, KUGEL_F32, 12), NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_conv_execute(p, in, KUGEL_ARRAY(y, KUGEL_F64, 1, 12), NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_conv_execute(p, KUGEL_ARRAY(y, KUGEL_F64, 10), KUGEL_ARRAY(y, KUGEL_F64, 12), NULL),
           KUGEL_EINVAL);
  CHECK_IS(kugel_conv_execute(p, KUGEL_ARRAY(NULL, KUGEL_F64, 10), KUGEL_ARRAY(y, KUGEL_F64, 12), NULL),
           KUGEL_EINVAL);
  CHECK_OK(
      kugel_conv_execute(p, KUGEL_ARRAY(NULL, KUGEL_F64, 0, 10), KUGEL_ARRAY(NULL, KUGEL_F64, 0, 12), NULL));
  CHECK_IS(kugel_conv_shape(p, NULL), KUGEL_EINVAL);
  kugel_conv_destroy(p);
  kugel_conv_destroy(NULL);
  CHECK_IS(kugel_conv_create(NULL, 1, n, k, a, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 0, n, k, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 9, n, k, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 1, NULL, k, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 1, bad, k, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 1, n, bad, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 1, huge, k, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 1, n, k, NULL, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 2, n, k, a, NULL, &q), KUGEL_ESHAPE);
  CHECK_IS(kugel_conv_create(NULL, 1, n, k, KUGEL_ARRAY(h, KUGEL_C128, 3), NULL, &q), KUGEL_ESHAPE);
  kugel_conv_opts o[] = {{.extent = (kugel_conv_extent)3},
                         {.extent = KUGEL_CONV_VALID, .circular = 1},
                         {.inputs = -1},
                         {.each = 1, .inputs = 2, .outputs = 3},
                         {.each = 1}};
  for (size_t i = 0; i < sizeof o / sizeof *o; i++) {
    o[i].size = sizeof *o;
    CHECK_IS(kugel_conv_create(NULL, 1, n, k, a, &o[i], &q), KUGEL_EINVAL);
  }
  CHECK_IS(kugel_conv_create(NULL, 1, k, n, KUGEL_ARRAY(x, KUGEL_F64, 10),
                             &(kugel_conv_opts){.size = sizeof *o, .extent = KUGEL_CONV_VALID}, &q),
           KUGEL_EINVAL);
  CHECK(!q);
}

int main(void)
{
  CASE("all kinds of small convolutions equal direct sums")
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    every_kind(&shapes[i]);
  CASE("tiles, one and many, with results at every end")
  {
    for (int i = 0; i < 24; i++) {
      problem p = {
          1, {20011 + 97 * i}, {1 + 37 * i}, 1 + i % 2, {.correlate = i & 1, .circular = i >> 1 & 1}};
      p.o.extent = (kugel_conv_extent)(p.o.circular ? i & 1 : i % 3);
      check(&p, 300, false);
    }
    check(&(problem){2, {150, 700}, {5, 9}, 1, {.extent = KUGEL_CONV_SAME}}, 200, true);
    check(&(problem){2, {700, 60}, {12, 60}, 1, {.circular = 1, .complex_data = 1}}, 200, false);
    check(&(problem){3, {40, 30, 90}, {3, 5, 4}, 2, {.extent = KUGEL_CONV_SAME, .single_precision = 1}}, 200,
          true);
  }
  CASE("many kernels, a matrix of kernels, one for each channel")
  {
    for (int each = 0; each < 2; each++)
      for (int i = 0; i < 3 && (i == 2 || !each); i++) {
        int in = i == 0 ? 0 : 3, out = i == 1 ? 0 : each ? 3 : 4;
        problem p = {2, {11, 13}, {3, 4}, 2, {.inputs = in, .outputs = out, .each = each}};
        check(&p, 0, true);
        p.o.complex_data = p.o.correlate = 1;
        check(&p, 0, false);
        p = (problem){
            1, {3000}, {20}, 2, {.inputs = in, .outputs = out, .each = each, .single_precision = 1}};
        check(&p, 200, false);
      }
  }
  CASE("bad arguments")
  errors();
  CASE("failed allocations leave nothing")
  for (int64_t fail = 1; fail < 40; fail++) {
    double h[3] = {1, 2, 3}, x[10] = {1}, y[12];
    kugel_conv *p = NULL;
    kugel__fault_alloc(fail);
    kugel_status s =
        kugel_conv_create(NULL, 1, (int64_t[]){10}, (int64_t[]){3}, KUGEL_ARRAY(h, KUGEL_F64, 3), NULL, &p);
    CHECK((s == KUGEL_OK) == (p != NULL));
    if (!s)
      s = kugel_conv_execute(p, KUGEL_ARRAY(x, KUGEL_F64, 10), KUGEL_ARRAY(y, KUGEL_F64, 12), NULL);
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
    kugel_conv_destroy(p);
  }
  END();
}
