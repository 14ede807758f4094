/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Transforms of arrays that hold part of each line, on the CPU and on devices, against whole
 * ones. */
#include "check.h"
#include "core/alloc.h"
#include "device/every.h"
#include <kugel/fft.h>

typedef struct problem {
  kugel_fft_kind kind;
  int ndim;
  int64_t batch, n[3], extent[3];
} problem;

static const problem problems[] = {
    {KUGEL_FFT_C2C, 1, 3, {60}, {31}},
    {KUGEL_FFT_R2C, 1, 2, {64}, {30}},
    {KUGEL_FFT_R2C, 1, 2, {64}, {33}},
    {KUGEL_FFT_R2C, 1, 2, {45}, {7}},
    {KUGEL_FFT_C2C, 2, 2, {12, 97}, {5, 40}},
    {KUGEL_FFT_R2C, 2, 1, {16, 32}, {9, 20}},
    {KUGEL_FFT_C2C, 3, 1, {8, 6, 10}, {4, 6, 5}},
    {KUGEL_FFT_R2C, 3, 2, {8, 6, 10}, {5, 3, 7}},
    {KUGEL_FFT_C2C, 1, 1, {30030}, {15000}},
    {KUGEL_FFT_R2C, 1, 1, {32768}, {20001}},
};
enum { PROBLEMS = sizeof problems / sizeof *problems, GUARD = 8 };

/* An array of doubles or floats, pairs of them if complex, with guard numbers around it. */
typedef struct block {
  kugel_array array;
  int64_t shape[4], reals;
  char *memory;
  size_t size;
} block;

static void make(block *b, const problem *p, const int64_t *n, bool spectrum, bool f32)
{
  bool pairs = spectrum || p->kind == KUGEL_FFT_C2C;
  *b = (block){.reals = (pairs ? 2 : 1) * p->batch, .shape = {p->batch}, .size = f32 ? 4 : 8};
  for (int d = 0; d < p->ndim; d++) {
    bool half = spectrum && p->kind == KUGEL_FFT_R2C && d == p->ndim - 1;
    b->shape[d + 1] = half ? n[d] / 2 + 1 : n[d];
    b->reals *= b->shape[d + 1];
  }
  b->memory = malloc((size_t)(b->reals + 2 * GUARD) * b->size);
  memset(b->memory, 77, (size_t)(b->reals + 2 * GUARD) * b->size);
  b->array = (kugel_array){
      .data = b->memory + GUARD * b->size,
      .device = {KUGEL_CPU, 0},
      .ndim = p->ndim + 1,
      .dtype = {pairs ? KUGEL_COMPLEX : KUGEL_FLOAT, (uint8_t)(8 * b->size * (pairs ? 2 : 1)), 1},
      .shape = b->shape};
}

static void release(block *b)
{
  size_t end = (size_t)(b->reals + 2 * GUARD) * b->size - 1;
  for (size_t i = 0; i < GUARD * b->size; i++)
    CHECK(b->memory[i] == 77 && b->memory[end - i] == 77);
  free(b->memory);
}

static double number(const block *b, int64_t i)
{
  return b->size == 4 ? (double)((const float *)b->array.data)[i] : ((const double *)b->array.data)[i];
}
static void put(block *b, int64_t i, double x)
{
  if (b->size == 4)
    ((float *)b->array.data)[i] = (float)x;
  else
    ((double *)b->array.data)[i] = x;
}

// Where real i of a part lies in the whole.
static int64_t in_whole(const problem *p, const block *part, const block *whole, int64_t i)
{
  int64_t unit = p->kind == KUGEL_FFT_C2C ? 2 : 1, at = i % unit, stride = unit;
  i /= unit;
  for (int d = p->ndim; d >= 0; d--) {
    at += i % part->shape[d] * stride;
    i /= part->shape[d];
    stride *= whole->shape[d];
  }
  return at;
}

// Largest difference of both directions, relative to the largest number.
static double error_of(kugel_ctx *ctx, const problem *p, bool f32)
{
  block whole, part, spectrum, same;
  make(&whole, p, p->n, false, f32);
  make(&part, p, p->extent, false, f32);
  make(&spectrum, p, p->n, true, f32);
  make(&same, p, p->n, true, f32);
  kugel_fft *plain = NULL, *cut = NULL;
  kugel_fft_opts o = {
      .size = sizeof o, .kind = p->kind, .precision = f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64};
  CHECK_OK(kugel_fft_create(NULL, p->ndim, p->n, &o, &plain));
  o.extent = p->extent;
  CHECK_OK(kugel_fft_create(ctx, p->ndim, p->n, &o, &cut));
  uint64_t seed = 4;
  for (int64_t i = 0; i < whole.reals; i++)
    put(&whole, i, 0);
  for (int64_t i = 0; i < part.reals; i++) {
    double x = check_random(&seed);
    put(&part, i, x);
    put(&whole, in_whole(p, &part, &whole, i), x);
  }
  double worst = 0, most = 0;
  CHECK_OK(kugel_fft_execute(plain, KUGEL_FORWARD, &whole.array, &spectrum.array, NULL));
  CHECK_OK(kugel_fft_execute(cut, KUGEL_FORWARD, &part.array, &same.array, NULL));
  for (int64_t i = 0; i < spectrum.reals; i++)
    most = fmax(most, fabs(number(&spectrum, i)));
  for (int64_t i = 0; i < spectrum.reals; i++)
    worst = fmax(worst, fabs(number(&spectrum, i) - number(&same, i)) / most);
  CHECK_OK(kugel_fft_execute(plain, KUGEL_INVERSE, &spectrum.array, &whole.array, NULL));
  CHECK_OK(kugel_fft_execute(cut, KUGEL_INVERSE, &spectrum.array, &part.array, NULL));
  most = 0;
  for (int64_t i = 0; i < whole.reals; i++)
    most = fmax(most, fabs(number(&whole, i)));
  for (int64_t i = 0; i < part.reals; i++)
    worst = fmax(worst, fabs(number(&whole, in_whole(p, &part, &whole, i)) - number(&part, i)) / most);
  kugel_fft_destroy(plain);
  kugel_fft_destroy(cut);
  release(&whole);
  release(&part);
  release(&spectrum);
  release(&same);
  return worst;
}

static void check_all(kugel_ctx *ctx, bool fp64)
{
  for (int i = 0; i < PROBLEMS; i++)
    for (int f32 = !fp64; f32 < 2; f32++) {
      if (ctx && fp64 && f32 != i % 2) // half of the kernels are enough
        continue;
      double e = error_of(ctx, &problems[i], f32);
      if (!(e <= (f32 ? 1e-6 : 2e-15)))
        CHECK_FAIL("problem %d, f32 %d: %.3g", i, f32, e);
    }
}

int main(void)
{
  CASE("parts of lines on the CPU")
  check_all(NULL, true);
  CASE("bad arguments, and failed allocations leave nothing")
  {
    kugel_fft *plan = NULL;
    int64_t n[2] = {8, 6}, zero[2] = {0, 6}, more[2] = {8, 7}, other[2] = {4, 6}, good[2] = {8, 3};
    double x[96], y[96];
    int axis = 1;
    kugel_fft_opts o = {.size = sizeof o, .extent = zero};
    CHECK_IS(kugel_fft_create(NULL, 2, n, &o, &plan), KUGEL_EINVAL);
    o.extent = more;
    CHECK_IS(kugel_fft_create(NULL, 2, n, &o, &plan), KUGEL_EINVAL);
    o.extent = good;
    o.kind = KUGEL_FFT_DCT2;
    CHECK_IS(kugel_fft_create(NULL, 2, n, &o, &plan), KUGEL_EINVAL);
    o.kind = KUGEL_FFT_C2C;
    o.naxes = 1;
    o.axes = &axis;
    o.extent = other;
    CHECK_IS(kugel_fft_create(NULL, 2, n, &o, &plan), KUGEL_EINVAL);
    o.extent = good;
    for (int64_t fail = 0; fail < 30; fail++) {
      kugel__fault_alloc(fail);
      kugel_status s = kugel_fft_create(NULL, 2, n, &o, &plan);
      if (!s)
        s = kugel_fft_execute(plan, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_C128, 8, 3),
                              KUGEL_ARRAY(y, KUGEL_C128, 8, 6), NULL);
      kugel__fault_alloc(0);
      CHECK(s == KUGEL_OK || (fail && s == KUGEL_ENOMEM));
      kugel_fft_destroy(plan);
      plan = NULL;
    }
    CHECK_OK(kugel_fft_create(NULL, 2, n, &o, &plan));
    kugel_array *in = KUGEL_ARRAY(x, KUGEL_C128, 8, 6);
    CHECK_IS(kugel_fft_execute(plan, KUGEL_FORWARD, in, KUGEL_ARRAY(y, KUGEL_C128, 8, 6), NULL),
             KUGEL_ESHAPE);
    CHECK_IS(kugel_fft_execute(plan, KUGEL_INVERSE, in, KUGEL_ARRAY(x, KUGEL_C128, 8, 3), NULL),
             KUGEL_EINVAL);
    kugel_fft_destroy(plan);
  }
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
    kugel_ctx *ctx = NULL;
    CASE(every_title(&info, "parts of lines"))
    CHECK_OK(kugel_ctx_create(&o, &ctx));
    check_all(ctx, info.fp64);
    kugel_ctx_destroy(ctx);
  }
  END();
}
