/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Complex transforms on every device that runs kernels, against the CPU's. */
#include "check.h"
#include "core/alloc.h"
#include "device/device.h"
#include "device/every.h"
#include <kugel/fft.h>

static kugel_ctx *ctx_on(const kugel_device_info *info)
{
  kugel_ctx_opts o = {.size = sizeof o, .device = info->name};
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&o, &ctx));
  return ctx;
}

typedef struct problem {
  int ndim, naxes;
  int64_t n[4];
  int axes[4];
  int64_t batch;
} problem;

static int64_t count_of(const problem *p)
{
  int64_t n = p->batch;
  for (int i = 0; i < p->ndim; i++)
    n *= p->n[i];
  return n;
}

static kugel_array array_of(const problem *p, bool f32, void *data, int64_t shape[5])
{
  shape[0] = p->batch;
  memcpy(shape + 1, p->n, sizeof(int64_t) * (size_t)p->ndim);
  kugel_array a = {.data = data, .device = {KUGEL_CPU, 0}, .ndim = p->ndim + 1, .shape = shape};
  a.dtype = f32 ? KUGEL_C64 : KUGEL_C128;
  return a;
}

static kugel_fft *plan_of(kugel_ctx *ctx, const problem *p, bool f32)
{
  kugel_fft_opts o = {.size = sizeof o,
                      .precision = f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                      .naxes = p->naxes,
                      .axes = p->axes,
                      .forward_scale = 2,
                      .inverse_scale = .5};
  kugel_fft *plan = NULL;
  CHECK_OK(kugel_fft_create(ctx, p->ndim, p->n, &o, &plan));
  return plan;
}

// Relative difference of the device's result from the CPU's, in host arrays or device memory.
static double difference(kugel_ctx *ctx, const problem *p, bool f32, int sign, bool on_device)
{
  int64_t n = count_of(p), shape[5];
  size_t bytes = (size_t)n * (f32 ? 8 : 16);
  double *x = kugel__alloc(NULL, 3 * bytes + 64);
  char *y = (char *)x + bytes, *z = y + bytes;
  uint64_t seed = (uint64_t)n;
  for (int64_t i = 0; i < 2 * n; i++)
    if (f32)
      ((float *)x)[i] = (float)check_random(&seed);
    else
      x[i] = check_random(&seed);
  kugel_fft *cpu = plan_of(NULL, p, f32), *gpu = plan_of(ctx, p, f32);
  kugel_array in = array_of(p, f32, x, shape), want = array_of(p, f32, y, shape),
              got = array_of(p, f32, z, shape);
  CHECK_OK(kugel_fft_execute(cpu, sign, &in, &want, NULL));
  if (!on_device)
    CHECK_OK(kugel_fft_execute(gpu, sign, &in, &got, NULL));
  else {
    void *dx = NULL, *dy = NULL;
    kugel_queue *queue = NULL;
    kugel_device_info info = {.size = sizeof info};
    CHECK_OK(kugel_ctx_describe(ctx, &info));
    CHECK_OK(kugel_queue_create(ctx, &queue));
    CHECK_OK(kugel_device_alloc(ctx, bytes, &dx));
    CHECK_OK(kugel_device_alloc(ctx, bytes, &dy));
    CHECK_OK(kugel_device_upload(ctx, dx, 0, x, bytes, queue));
    kugel_array a = in, b = in;
    a.data = dx;
    b.data = dy;
    a.device = b.device = info.device;
    CHECK_OK(kugel_fft_execute(gpu, sign, &a, &b, queue)); // out of place, then there and back in place
    CHECK_OK(kugel_fft_execute(gpu, -sign, &a, &a, queue));
    CHECK_OK(kugel_device_download(ctx, z, dy, 0, bytes, queue));
    CHECK_OK(kugel_queue_wait(queue));
    kugel_device_free(ctx, dx);
    kugel_device_free(ctx, dy);
    kugel_queue_destroy(queue);
  }
  double e = 0;
  if (f32) {
    double err = 0, norm = 0;
    for (int64_t i = 0; i < 2 * n; i++) {
      double a = (double)((float *)z)[i], b = (double)((float *)y)[i];
      err += (a - b) * (a - b);
      norm += b * b;
    }
    e = sqrt(err / norm);
  } else
    e = check_l2((double *)z, (double *)y, (size_t)(2 * n));
  kugel_fft_destroy(cpu);
  kugel_fft_destroy(gpu);
  kugel__free(NULL, x);
  return e;
}

static const problem problems[] = {
    {1, 1, {1}, {0}, 3},
    {1, 1, {16}, {0}, 1000},
    {1, 1, {60}, {0}, 37},
    {1, 1, {97}, {0}, 5},  // Rader
    {1, 1, {94}, {0}, 5},  // Bluestein
    {1, 1, {333}, {0}, 5}, // 9 37: a prime within a block
    {1, 1, {1024}, {0}, 9},
    {1, 1, {4096}, {0}, 2},
    {1, 1, {46189}, {0}, 1}, // 11 13 17 19: two passes
    {1, 1, {65536}, {0}, 3},
    {2, 2, {12, 50}, {0, 1}, 4},
    {3, 3, {16, 9, 20}, {0, 1, 2}, 2},
    {3, 1, {16, 9, 20}, {1}, 2},
    {3, 2, {5, 7, 6}, {2, 0}, 1},
};

static void check_device(const kugel_device_info *info)
{
  CASE(every_title(info, "complex transforms equal the CPU's"))
  {
    kugel_ctx *ctx = ctx_on(info);
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
      for (int f32 = 0; f32 < 2; f32++) {
        if (info->fp64 ? !every_variant(info) && f32 != (int)(i / 2 % 2) : !f32)
          continue;
        double eps = f32 ? 0x1p-23 : 0x1p-52, log = log2((double)count_of(&problems[i]) + 2);
        double e =
            difference(ctx, &problems[i], f32, i % 2 ? KUGEL_FORWARD : KUGEL_INVERSE, f32 == (int)(i % 2));
        if (!(e <= (sqrt(log) + 2) * eps))
          CHECK_FAIL("problem %zu, f32 %d: %.3g", i, f32, e);
      }
    kugel_ctx_destroy(ctx);
  }
  CASE(every_title(info, "what has no path says so"))
  {
    kugel_ctx *ctx = ctx_on(info);
    kugel_fft *plan = NULL;
    int64_t n = ((int64_t)1 << 33) + 2;
    kugel_fft_opts o = {.size = sizeof o, .precision = KUGEL_PRECISION_F32};
    CHECK_IS(kugel_fft_create(ctx, 1, &n, &o, &plan), KUGEL_ENOTSUP);
    kugel_ctx_destroy(ctx);
  }
  CASE(every_title(info, "a plan tells the source of its kernels"))
  {
    kugel_ctx *ctx = ctx_on(info);
    problem p = {2, 2, {65536, 12}, {0, 1}, 1};
    kugel_fft *plan = plan_of(ctx, &p, true), *host = plan_of(NULL, &p, true);
    size_t length = 0;
    char text[64], *whole;
    CHECK(kugel_fft_kernel_count(plan) == 3 && kugel_fft_kernel_count(host) == 0);
    CHECK_OK(kugel_fft_kernel_source(plan, KUGEL_FORWARD, 0, sizeof text, text, &length));
    CHECK(length > sizeof text && !strncmp(text, "// 12 points: stages of", 23) && strlen(text) == 63);
    whole = kugel__alloc(NULL, length + 1);
    CHECK_OK(kugel_fft_kernel_source(plan, KUGEL_FORWARD, 0, length + 1, whole, NULL));
    CHECK(strlen(whole) == length && strstr(whole, "fft_block("));
    kugel__free(NULL, whole);
    CHECK_IS(kugel_fft_kernel_source(plan, KUGEL_FORWARD, 3, 0, NULL, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_fft_kernel_source(plan, 0, 0, 0, NULL, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_fft_kernel_source(plan, KUGEL_INVERSE, 0, 9, NULL, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_fft_kernel_source(NULL, KUGEL_FORWARD, 0, 0, NULL, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_fft_kernel_source(host, KUGEL_FORWARD, 0, 0, NULL, NULL), KUGEL_ENOTSUP);
    kugel__fault_alloc(1);
    CHECK_IS(kugel_fft_kernel_source(plan, KUGEL_FORWARD, 0, 0, NULL, NULL), KUGEL_ENOMEM);
    kugel__fault_alloc(0);
    kugel_fft_destroy(plan);
    kugel_fft_destroy(host);
    kugel_ctx_destroy(ctx);
  }
  CASE(every_title(info, "failing device calls and allocations leave nothing"))
  {
    kugel_ctx *ctx = ctx_on(info);
    problem p = {1, 1, {16}, {0}, 3};
    double x[128] = {1};
    int64_t shape[5], half[2] = {3, 9};
    kugel_array a = array_of(&p, false, x, shape), b = a, c = a;
    b.dtype = KUGEL_F64;
    c.shape = half;
    c.data = x + 64;
    for (int way = 0; way < 4; way++)
      for (int64_t fail = 1; fail < 40; fail++) {
        kugel_fft_opts o = {.size = sizeof o, .kind = way < 2 ? KUGEL_FFT_C2C : KUGEL_FFT_R2C};
        kugel_fft *plan = NULL;
        way % 2 ? kugel__fault_alloc(fail) : kugel__fault_device(fail);
        kugel_status s = kugel_fft_create(ctx, 1, p.n, &o, &plan);
        CHECK((s == KUGEL_OK) == (plan != NULL));
        if (plan)
          s = kugel_fft_execute(plan, KUGEL_FORWARD, way < 2 ? &a : &b, way < 2 ? &a : &c, NULL);
        way % 2 ? kugel__fault_alloc(0) : kugel__fault_device(0);
        CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM || s == KUGEL_EDEVICE || s == KUGEL_ECOMPILE);
        kugel_fft_destroy(plan);
      }
    kugel_ctx_destroy(ctx);
  }
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);)
    check_device(&info);
  END();
}
