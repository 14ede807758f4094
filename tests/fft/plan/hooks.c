/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Factors on the way into and out of transforms: as sweeps of their own, on the CPU and on
 * devices. */
#include <complex.h>
#include "check.h"
#include "core/alloc.h"
#include "device/every.h"
#include <kugel/fft.h>

enum { MOST = 40000 };

typedef struct problem {
  kugel_fft_kind kind;
  int ndim;
  int64_t n[2];
} problem;

static const problem problems[] = {
    {KUGEL_FFT_C2C, 1, {60, 1}},    {KUGEL_FFT_C2C, 2, {12, 97}},   {KUGEL_FFT_R2C, 1, {64, 1}},
    {KUGEL_FFT_R2C, 1, {45, 1}},    {KUGEL_FFT_R2C, 2, {9, 32}},    {KUGEL_FFT_DCT1, 1, {17, 1}},
    {KUGEL_FFT_DCT2, 2, {5, 20}},   {KUGEL_FFT_DST3, 1, {33, 1}},   {KUGEL_FFT_DCT4, 1, {24, 1}},
    {KUGEL_FFT_DST4, 1, {15, 1}},   {KUGEL_FFT_DST1, 1, {14, 1}},   {KUGEL_FFT_DST2, 1, {40, 1}},
    {KUGEL_FFT_C2C, 1, {32768, 1}}, {KUGEL_FFT_R2C, 1, {30030, 1}},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* One side of a transform: shape, and whether it is complex. */
typedef struct side {
  int64_t shape[2], count;
  bool pairs;
} side;

static side side_of(const problem *p, int sign, bool result)
{
  side s = {.shape = {p->n[0], p->n[1]}, .pairs = p->kind == KUGEL_FFT_C2C};
  if (p->kind == KUGEL_FFT_R2C && (sign == KUGEL_FORWARD) == result) {
    s.pairs = true;
    s.shape[p->ndim - 1] = p->n[p->ndim - 1] / 2 + 1;
  }
  s.count = p->ndim == 2 ? s.shape[0] * s.shape[1] : s.shape[0];
  return s;
}

static kugel_array array_of(const problem *p, side *s, void *data, bool f32)
{
  return (kugel_array){
      .data = data,
      .device = {KUGEL_CPU, 0},
      .ndim = p->ndim,
      .dtype = {s->pairs ? KUGEL_COMPLEX : KUGEL_FLOAT, (uint8_t)((f32 ? 32 : 64) * (s->pairs ? 2 : 1)), 1},
      .shape = s->shape};
}

static double get(const void *x, int64_t i, bool f32)
{
  return f32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}
static void put(void *x, int64_t i, double v, bool f32)
{
  if (f32)
    ((float *)x)[i] = (float)v;
  else
    ((double *)x)[i] = v;
}

/* Hooks on both sides of every axis, with their numbers: complex where the side is. */
typedef struct hooks {
  kugel_fft_hook hook[4];
  kugel_array factor[4];
  int64_t length[4];
  double *values[4]; // pairs of parts, or reals
  int count;
} hooks;

static hooks hooks_of(const problem *p, int sign)
{
  hooks h = {.count = 0};
  uint64_t seed = 17;
  for (int axis = 0; axis < p->ndim; axis++)
    for (int write = 0; write < 2; write++) {
      side s = side_of(p, sign, write);
      int i = h.count++;
      h.length[i] = s.shape[axis];
      h.values[i] = malloc((size_t)h.length[i] * 16);
      for (int64_t k = 0; k < h.length[i] * (s.pairs ? 2 : 1); k++)
        h.values[i][k] = check_random(&seed);
      h.hook[i] = (kugel_fft_hook){.sign = sign, .write = write, .axis = axis};
      h.factor[i] = (kugel_array){.data = h.values[i], .device = {KUGEL_CPU, 0}, .ndim = 1};
      h.factor[i].dtype = s.pairs ? KUGEL_C128 : KUGEL_F64;
    }
  return h;
}

static void point(hooks *h) // once the struct lies where it stays
{
  for (int i = 0; i < h->count; i++) {
    h->factor[i].shape = &h->length[i];
    h->hook[i].factor = &h->factor[i];
  }
}

static void multiply(const problem *p, const hooks *h, const side *s, int write, void *x, bool f32)
{
  for (int64_t i = 0; i < s->count; i++) {
    double _Complex f = 1;
    for (int k = 0; k < h->count; k++) {
      if (h->hook[k].write != write)
        continue;
      int64_t at = p->ndim == 1 ? i : h->hook[k].axis ? i % s->shape[1] : i / s->shape[1];
      f *= s->pairs ? h->values[k][2 * at] + I * h->values[k][2 * at + 1] : h->values[k][at];
    }
    if (s->pairs) {
      f *= get(x, 2 * i, f32) + I * get(x, 2 * i + 1, f32);
      put(x, 2 * i, creal(f), f32);
      put(x, 2 * i + 1, cimag(f), f32);
    } else
      put(x, i, creal(f) * get(x, i, f32), f32);
  }
}

// Relative difference of a hooked transform from a plain one between two sweeps.
static double difference(kugel_ctx *ctx, const problem *p, int sign, bool f32)
{
  side from = side_of(p, sign, false), to = side_of(p, sign, true);
  double *x = calloc(MOST * 2, 8), *y = calloc(MOST * 2, 8), *z = calloc(MOST * 2, 8);
  uint64_t seed = 4;
  for (int64_t i = 0; i < from.count * (from.pairs ? 2 : 1); i++)
    put(x, i, check_random(&seed), f32);
  hooks h = hooks_of(p, sign);
  point(&h);
  kugel_fft_opts o = {.size = sizeof o,
                      .kind = p->kind,
                      .precision = f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                      .forward_scale = 2};
  kugel_fft *plain = NULL, *hooked = NULL;
  CHECK_OK(kugel_fft_create(NULL, p->ndim, p->n, &o, &plain));
  o.nhooks = h.count;
  o.hooks = h.hook;
  CHECK_OK(kugel_fft_create(ctx, p->ndim, p->n, &o, &hooked));
  kugel_array in = array_of(p, &from, x, f32), want = array_of(p, &to, y, f32),
              got = array_of(p, &to, z, f32);
  CHECK_OK(kugel_fft_execute(hooked, sign, &in, &got, NULL));
  multiply(p, &h, &from, 0, x, f32);
  CHECK_OK(kugel_fft_execute(plain, sign, &in, &want, NULL));
  multiply(p, &h, &to, 1, y, f32);
  double err = 0, norm = 0;
  for (int64_t i = 0; i < to.count * (to.pairs ? 2 : 1); i++) {
    double a = get(z, i, f32), b = get(y, i, f32);
    err += (a - b) * (a - b);
    norm += b * b;
  }
  kugel_fft_destroy(plain);
  kugel_fft_destroy(hooked);
  for (int i = 0; i < h.count; i++)
    free(h.values[i]);
  free(x);
  free(y);
  free(z);
  return sqrt(err / norm);
}

static void check_all(kugel_ctx *ctx, bool fp64)
{
  for (int i = 0; i < PROBLEMS; i++)
    for (int sign = KUGEL_FORWARD; sign <= KUGEL_INVERSE; sign += 2) {
      bool f32 = !fp64 || (i + (sign > 0)) % 2;
      double e = difference(ctx, &problems[i], sign, f32);
      if (!(e <= (f32 ? 8e-7 : 2e-15)))
        CHECK_FAIL("problem %d, sign %d, f32 %d: %.3g", i, sign, f32, e);
    }
}

static void errors(void)
{
  double w[8] = {1};
  int64_t n = 8;
  kugel_fft *plan = NULL;
  kugel_array *reals = KUGEL_ARRAY(w, KUGEL_F64, 8), *pairs = KUGEL_ARRAY(w, KUGEL_C128, 4),
              *many = KUGEL_ARRAY(w, KUGEL_C64, 8), *ints = KUGEL_ARRAY(w, KUGEL_I32, 8);
  const struct {
    kugel_fft_hook hook;
    kugel_fft_kind kind;
    kugel_status want;
  } cases[] = {{{KUGEL_FORWARD, 0, 0, reals}, KUGEL_FFT_C2C, KUGEL_OK},
               {{KUGEL_FORWARD, 0, 0, many}, KUGEL_FFT_C2C, KUGEL_OK},
               {{0, 0, 0, reals}, KUGEL_FFT_C2C, KUGEL_EINVAL},
               {{KUGEL_FORWARD, 0, 1, reals}, KUGEL_FFT_C2C, KUGEL_EINVAL},
               {{KUGEL_FORWARD, 0, -1, reals}, KUGEL_FFT_C2C, KUGEL_EINVAL},
               {{KUGEL_FORWARD, 0, 0, NULL}, KUGEL_FFT_C2C, KUGEL_EINVAL},
               {{KUGEL_FORWARD, 0, 0, pairs}, KUGEL_FFT_C2C, KUGEL_ESHAPE},
               {{KUGEL_FORWARD, 0, 0, ints}, KUGEL_FFT_C2C, KUGEL_ESHAPE},
               {{KUGEL_FORWARD, 0, 0, many}, KUGEL_FFT_R2C, KUGEL_ESHAPE},
               {{KUGEL_FORWARD, 1, 0, reals}, KUGEL_FFT_R2C, KUGEL_ESHAPE},
               {{KUGEL_INVERSE, 1, 0, reals}, KUGEL_FFT_R2C, KUGEL_OK},
               {{KUGEL_FORWARD, 1, 0, many}, KUGEL_FFT_DCT2, KUGEL_ESHAPE}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    kugel_fft_opts o = {.size = sizeof o, .kind = cases[i].kind, .nhooks = 1, .hooks = &cases[i].hook};
    CHECK_IS(kugel_fft_create(NULL, 1, &n, &o, &plan), cases[i].want);
    kugel_fft_destroy(plan);
  }
  kugel_fft_opts o = {.size = sizeof o, .nhooks = 1};
  CHECK_IS(kugel_fft_create(NULL, 1, &n, &o, &plan), KUGEL_EINVAL);
  o.nhooks = -1;
  CHECK_IS(kugel_fft_create(NULL, 1, &n, &o, &plan), KUGEL_EINVAL);
  kugel_fft_hook hook = {KUGEL_FORWARD, 0, 0, reals};
  o.nhooks = 1;
  o.hooks = &hook;
  for (int64_t fail = 1; fail < 20; fail++) {
    double x[16] = {1};
    kugel__fault_alloc(fail);
    kugel_status s = kugel_fft_create(NULL, 1, &n, &o, &plan);
    if (!s)
      s = kugel_fft_execute(plan, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_C128, 8), KUGEL_ARRAY(x, KUGEL_C128, 8),
                            NULL);
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
    kugel_fft_destroy(plan);
  }
}

int main(void)
{
  kugel_device_info info;
  CASE("in host memory")
  check_all(NULL, true);
  CASE("bad arguments and failed allocations")
  errors();
  for (int i = 0; every_device(&i, true, &info);)
    CASE(every_title(&info, "within its kernels"))
    {
      kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
      kugel_ctx *ctx = NULL;
      CHECK_OK(kugel_ctx_create(&o, &ctx));
      check_all(ctx, info.fp64);
      kugel_ctx_destroy(ctx);
    }
  END();
}
