/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Lengths with primes so large that their convolution on a device has three factors. */
#include "check.h"
#include "core/alloc.h"
#include "device/every.h"
#include "fft/gpu/gpu.h"
#include <kugel/fft.h>

enum { N = 16777213 }; // a prime

// Blocks of 48 KiB: two factors would have to be longer than these hold.
static kugel__fft_gpu *plan_on(kugel_ctx *ctx)
{
  kugel__fft_gpu_desc d = {.kind = KUGEL_FFT_C2C, .f32 = true, .naxes = 1, .n = {N}, .shared = 49152};
  kugel__fft_gpu *plan = NULL;
  kugel_status s;
  d.in_order[0] = true;
  s = kugel__fft_gpu_create(ctx, &d, &plan);
  CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
  return plan;
}

static double difference(const float *a, const float *b)
{
  double err = 0, norm = 0;
  for (int64_t i = 0; i < 2 * (int64_t)N; i++) {
    err += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
    norm += (double)b[i] * (double)b[i];
  }
  return sqrt(err / norm);
}

// Forward and back on the device, and the CPU's forward result between them.
static void transform(kugel__fft_gpu *gpu, kugel_fft *cpu, float *x, float *y, float *z)
{
  int64_t n = N;
  const int axes[1] = {0};
  kugel__view view = {.ndim = 1, .shape = {N}, .stride = {1}};
  kugel__fft_gpu_call call = {.in_view = &view, .out_view = &view, .axes = axes, .scale = dd_from(1)};
  kugel_array in = {.data = x, .device = {KUGEL_CPU, 0}, .ndim = 1, .dtype = KUGEL_C64, .shape = &n};
  kugel_array want = in, got = in;
  want.data = y;
  got.data = z;
  CHECK_OK(kugel_fft_execute(cpu, KUGEL_FORWARD, &in, &want, NULL));
  CHECK_OK(kugel__fft_gpu_execute(gpu, &call, &in, &got));
  double forward = difference(z, y);
  call.inverse = true;
  call.scale = dd_from(1. / N);
  CHECK_OK(kugel__fft_gpu_execute(gpu, &call, &want, &got));
  double inverse = difference(z, x);
  if (!(forward <= 8e-7 && inverse <= 8e-7)) // (sqrt(log2 n) + 2) eps
    CHECK_FAIL("forward %.3g, inverse %.3g", forward, inverse);
}

static void check_device(const kugel_device_info *info)
{
  int64_t n = N;
  kugel_ctx_opts o = {.size = sizeof o, .device = info->name};
  kugel_fft_opts single = {.size = sizeof single, .precision = KUGEL_PRECISION_F32};
  kugel_ctx *ctx = NULL;
  kugel_fft *cpu = NULL;
  uint64_t seed = 9;
  CHECK_OK(kugel_ctx_create(&o, &ctx));
  kugel__fft_gpu *gpu = plan_on(ctx);
  CHECK_OK(kugel_fft_create(NULL, 1, &n, &single, &cpu));
  float *x = kugel__alloc(NULL, 3 * sizeof(float[2]) * N);
  for (int64_t i = 0; x && i < 2 * n; i++)
    x[i] = (float)check_random(&seed);
  if (gpu && cpu && x) {
    CHECK(kugel__fft_gpu_kernels(gpu, false) == 5);
    transform(gpu, cpu, x, x + 2 * n, x + 4 * n);
  } else
    SKIP("not enough memory");
  kugel__free(NULL, x);
  kugel__fft_gpu_destroy(gpu);
  kugel_fft_destroy(cpu);
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    CASE(every_title(&info, "a prime of 24 bits"))
    check_device(&info);
  }
  END();
}
