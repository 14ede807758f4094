/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of host arrays on devices within the context's limit of memory: some at a time, with the same bits, and a
 * refusal with the bytes needed where one alone is too long. */
#include "core/alloc.h"
#include "device/every.h"
#include <kugel/fft.h>

typedef struct problem {
  kugel_fft_kind kind;
  int naxes, axes[2];
  int64_t n[3], m; /* m: last extent of the result */
  double arrays;   /* bytes of input and output, as the device holds them; one if in place there */
} problem;

static const problem problems[] = {
    {KUGEL_FFT_C2C, 1, {2}, {30, 20, 512}, 512, 30 * 20 * 512 * 16.0},
    {KUGEL_FFT_R2C, 1, {2}, {50, 7, 600}, 301, 50 * 7 * (600 * 8 + 301 * 16.0)},
    {KUGEL_FFT_C2C, 2, {1, 2}, {40, 60, 64}, 64, 40 * 60 * 64 * 16.0},
    {KUGEL_FFT_DCT2, 1, {2}, {1, 300, 500}, 500, 300 * 500 * 8.0},
};

static kugel_ctx *context(const char *device, double limit)
{
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx));
  CHECK_OK(kugel_ctx_limit_memory(ctx, (uint64_t)limit));
  return ctx;
}

static kugel_status transform(kugel_ctx *ctx, const problem *q, void *in, void *out)
{
  kugel_fft *plan = NULL;
  kugel_fft_opts o = {.size = sizeof o, .kind = q->kind, .naxes = q->naxes, .axes = q->axes};
  CHECK_OK(kugel_fft_create(ctx, 3, q->n, &o, &plan));
  kugel_dtype cplx = KUGEL_C128, real = KUGEL_F64;
  bool c2c = q->kind == KUGEL_FFT_C2C;
  kugel_status s = kugel_fft_execute(
      plan, KUGEL_FORWARD, KUGEL_ARRAY(in, c2c ? cplx : real, q->n[0], q->n[1], q->n[2]),
      KUGEL_ARRAY(out, c2c || q->kind == KUGEL_FFT_R2C ? cplx : real, q->n[0], q->n[1], q->m), NULL);
  kugel_fft_destroy(plan);
  return s;
}

static void compare(const char *device, const problem *q)
{
  int64_t n = 2 * q->n[0] * q->n[1] * (q->n[2] + 2);
  double *in = malloc((size_t)n * 8), *want = calloc((size_t)n, 8), *got = calloc((size_t)n, 8);
  uint64_t seed = 3, before = 0, most = 0;
  for (int64_t i = 0; i < n; i++)
    in[i] = check_random(&seed);
  kugel_ctx *all = context(device, 0), *some = context(device, q->arrays / 5);
  CHECK_OK(transform(some, q, in, got));
  CHECK_OK(kugel_device_usage(some, &before, &most));
  CHECK_LE((double)most, q->arrays / 5 + 65536); /* and tables */
  CHECK_OK(transform(all, q, in, want));
  CHECK(!memcmp(got, want, (size_t)n * 8));
  if (q->kind != KUGEL_FFT_R2C) {
    CHECK_OK(transform(some, q, in, in));
    CHECK(!memcmp(in, want, (size_t)(q->n[0] * q->n[1] * q->n[2]) * 8));
  }
  kugel_ctx_destroy(all);
  kugel_ctx_destroy(some);
  free(in), free(want), free(got);
}

/* A transform that is too long alone. */
static void refuse(const char *device)
{
  static const problem long_one = {KUGEL_FFT_C2C, 1, {2}, {2, 1, 4096}, 4096, 0};
  double *in = calloc(2 * 2 * 4096, 8), *out = calloc(2 * 2 * 4096, 8);
  kugel_ctx *ctx = context(device, 30000);
  CHECK_IS(transform(ctx, &long_one, in, out), KUGEL_ENOMEM);
  CHECK(strstr(kugel_last_error(), " bytes") &&
        strstr(kugel_last_error(), "limit is 30000")); /* how many: by the device */
  kugel_ctx_destroy(ctx);
  free(in), free(out);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    if (info.device.type == KUGEL_CPU || !info.fp64)
      continue;
    CASE(every_title(&info, "some transforms at a time"))
    {
      for (size_t k = 0; k < sizeof problems / sizeof *problems; k++)
        compare(info.name, problems + k);
    }
    CASE(every_title(&info, "a transform beyond the limit")) refuse(info.name);
  }
  END();
}
