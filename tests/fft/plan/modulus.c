/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Magnitudes, powers and logarithms instead of complex results, on the CPU and on devices,
 * against plain transforms. */
#include <complex.h>
#include "check.h"
#include "core/alloc.h"
#include "device/every.h"
#include <kugel/fft.h>

typedef struct problem {
  kugel_fft_kind kind;
  int ndim;
  int64_t batch, n[3];
} problem;

static const problem problems[] = {
    {KUGEL_FFT_C2C, 1, 3, {60}},     {KUGEL_FFT_R2C, 1, 2, {64}},    {KUGEL_FFT_R2C, 1, 1, {45}},
    {KUGEL_FFT_C2C, 2, 2, {12, 97}}, {KUGEL_FFT_R2C, 2, 1, {9, 32}}, {KUGEL_FFT_R2C, 3, 2, {4, 6, 10}},
    {KUGEL_FFT_C2C, 1, 1, {30030}},  {KUGEL_FFT_R2C, 1, 1, {32768}}, {KUGEL_FFT_R2C, 2, 2, {8, 2}},
};
enum { PROBLEMS = sizeof problems / sizeof *problems, GUARD = 8 };

static double number(const void *x, int64_t i, bool f32)
{
  return f32 ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

// Largest difference, relative to the largest magnitude, or of logarithms.
static double error_of(kugel_ctx *ctx, const problem *p, kugel_fft_modulus modulus, bool f32)
{
  int64_t shape[2][4], count[2] = {p->batch, p->batch}, c2c = p->kind == KUGEL_FFT_C2C;
  uint8_t bits = f32 ? 32 : 64;
  size_t size = f32 ? 4 : 8;
  for (int d = 0; d <= p->ndim; d++)
    for (int side = 0; side < 2; side++) {
      shape[side][d] = d ? p->n[d - 1] : p->batch;
      if (d == p->ndim && side && !c2c)
        shape[side][d] = p->n[d - 1] / 2 + 1;
      count[side] *= d ? shape[side][d] : 1;
    }
  double _Complex window[97];
  char *x = malloc((size_t)(count[0] * 2) * size), *z = malloc((size_t)(count[1] * 2) * size);
  char *y = malloc((size_t)(count[1] + 2 * GUARD) * size);
  uint64_t seed = 4;
  for (int64_t i = 0; i < count[0] * (c2c ? 2 : 1); i++)
    if (f32)
      ((float *)x)[i] = (float)check_random(&seed);
    else
      ((double *)x)[i] = check_random(&seed);
  memset(y, 77, (size_t)(count[1] + 2 * GUARD) * size);
  int64_t taps = shape[1][p->ndim];
  kugel_fft_hook hook = {KUGEL_FORWARD, .write = 1, .axis = p->ndim - 1,
                         .factor = KUGEL_ARRAY(window, KUGEL_C128, taps)};
  for (int64_t i = 0; i < taps && i < 97; i++)
    window[i] = 1 + I * (double)i;
  kugel_array in = {.data = x, .device = {KUGEL_CPU, 0}, .ndim = p->ndim + 1, .shape = shape[0]};
  kugel_array plain = {.data = z, .device = {KUGEL_CPU, 0}, .ndim = p->ndim + 1, .shape = shape[1]};
  in.dtype = c2c ? (kugel_dtype){KUGEL_COMPLEX, (uint8_t)(2 * bits), 1} : (kugel_dtype){KUGEL_FLOAT, bits, 1};
  plain.dtype = (kugel_dtype){KUGEL_COMPLEX, (uint8_t)(2 * bits), 1};
  kugel_array out = plain;
  out.data = y + GUARD * size;
  out.dtype = (kugel_dtype){KUGEL_FLOAT, bits, 1};
  kugel_fft_opts o = {.size = sizeof o,
                      .kind = p->kind,
                      .precision = f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                      .forward_scale = 0.5};
  o.nhooks = taps <= 97;
  o.hooks = &hook;
  kugel_fft *plan = NULL, *real = NULL;
  CHECK_OK(kugel_fft_create(NULL, p->ndim, p->n, &o, &plan));
  o.modulus = modulus;
  CHECK_OK(kugel_fft_create(ctx, p->ndim, p->n, &o, &real));
  CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, &in, &plain, NULL));
  CHECK_OK(kugel_fft_execute(real, KUGEL_FORWARD, &in, &out, NULL));
  double worst = 0, most = 0;
  for (int64_t i = 0; i < count[1]; i++)
    most = fmax(most, hypot(number(z, 2 * i, f32), number(z, 2 * i + 1, f32)));
  for (int64_t i = 0; i < count[1]; i++) {
    double a = hypot(number(z, 2 * i, f32), number(z, 2 * i + 1, f32)) / most, b = number(out.data, i, f32);
    b = modulus == KUGEL_FFT_POWER ? sqrt(b) : modulus == KUGEL_FFT_LOG_MAGNITUDE ? exp(b) : b;
    worst = fmax(worst, fabs(a - b / most));
  }
  for (size_t i = 0; i < GUARD * size; i++)
    CHECK(y[i] == 77 && y[(size_t)(count[1] + 2 * GUARD) * size - 1 - i] == 77);
  kugel_fft_destroy(plan);
  kugel_fft_destroy(real);
  free(x);
  free(y);
  free(z);
  return worst;
}

static void check_all(kugel_ctx *ctx, bool fp64)
{
  for (int i = 0; i < PROBLEMS; i++)
    for (int m = KUGEL_FFT_MAGNITUDE; m <= KUGEL_FFT_LOG_MAGNITUDE; m++) {
      bool f32 = (i + m) % 2 || !fp64;
      if (ctx && (i + m) % 2) // a third of the kernels is enough
        continue;
      double e = error_of(ctx, &problems[i], (kugel_fft_modulus)m, f32);
      if (!(e <= (f32 ? 1e-6 : 2e-15)))
        CHECK_FAIL("problem %d, modulus %d, f32 %d: %.3g", i, m, f32, e);
    }
}

int main(void)
{
  CASE("moduli on the CPU")
  check_all(NULL, true);
  CASE("bad arguments")
  {
    kugel_fft *plan = NULL;
    int64_t n = 8;
    double x[16], y[16];
    kugel_fft_opts o = {.size = sizeof o, .modulus = (kugel_fft_modulus)4};
    CHECK_IS(kugel_fft_create(NULL, 1, &n, &o, &plan), KUGEL_EINVAL);
    o.modulus = KUGEL_FFT_POWER;
    o.kind = KUGEL_FFT_DCT2;
    CHECK_IS(kugel_fft_create(NULL, 1, &n, &o, &plan), KUGEL_EINVAL);
    o.kind = KUGEL_FFT_C2C;
    CHECK_OK(kugel_fft_create(NULL, 1, &n, &o, &plan));
    kugel_array *in = KUGEL_ARRAY(x, KUGEL_C128, 8);
    CHECK_IS(kugel_fft_execute(plan, KUGEL_FORWARD, in, KUGEL_ARRAY(y, KUGEL_C128, 8), NULL), KUGEL_ESHAPE);
    CHECK_IS(kugel_fft_execute(plan, KUGEL_FORWARD, in, KUGEL_ARRAY(x, KUGEL_F64, 8), NULL), KUGEL_EINVAL);
    CHECK_OK(kugel_fft_execute(plan, KUGEL_INVERSE, in, in, NULL));
    kugel_fft_destroy(plan);
  }
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
    kugel_ctx *ctx = NULL;
    CASE(every_title(&info, "moduli in the last kernel"))
    CHECK_OK(kugel_ctx_create(&o, &ctx));
    check_all(ctx, info.fp64);
    kugel_ctx_destroy(ctx);
  }
  END();
}
