/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Double-double transforms of all kinds on every device that runs kernels, against the CPU's,
 * whose truth is fft_plan_dd's. */
#include "check.h"
#include "core/alloc.h"
#include "core/dd.h"
#include "device/device.h"
#include "device/every.h"
#include <kugel/fft.h>

static const double bound = 1e-29;
static double worst;

static kugel_ctx *ctx_on(const kugel_device_info *info)
{
  kugel_ctx_opts o = {.size = sizeof o, .device = info->name};
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&o, &ctx));
  return ctx;
}

typedef struct problem {
  kugel_fft_kind kind;
  int sign, ndim, naxes;
  int64_t batch, n[3];
  int axes[3];
  bool in_place, on_device, hooks;
} problem;

static kugel_fft *plan_of(kugel_ctx *ctx, const problem *p, const kugel_array *factor)
{
  kugel_fft_hook hooks[] = {{p->sign, 0, p->axes[0], factor}, {p->sign, 1, p->axes[0], factor}};
  kugel_fft_opts o = {.size = sizeof o,
                      .kind = p->kind,
                      .precision = KUGEL_PRECISION_DD,
                      .naxes = p->naxes,
                      .axes = p->axes,
                      .forward_scale = 1.0 / 3,
                      .forward_scale_low = 0x1.5555555555555p-56,
                      .inverse_scale = 2,
                      .nhooks = p->hooks ? 2 : 0,
                      .hooks = hooks};
  kugel_fft *plan = NULL;
  CHECK_OK(kugel_fft_create(ctx, p->ndim, p->n, &o, &plan));
  return plan;
}

// Shape of one side; returns its numbers.
static int64_t side(const problem *p, bool of_result, int64_t shape[5], kugel_dtype *type)
{
  bool back = p->sign == KUGEL_INVERSE, r2c = p->kind == KUGEL_FFT_R2C, halved = r2c && of_result != back;
  int64_t count = shape[0] = p->batch;
  for (int i = 0; i < p->ndim; i++)
    shape[1 + i] = p->n[i];
  if (halved)
    shape[1 + p->axes[p->naxes - 1]] = p->n[p->axes[p->naxes - 1]] / 2 + 1;
  for (int i = 0; i < p->ndim; i++)
    count *= shape[1 + i];
  shape[1 + p->ndim] = 2;
  *type = p->kind == KUGEL_FFT_C2C || halved ? KUGEL_C128 : KUGEL_F64;
  return count;
}

static void on_queue(kugel_ctx *ctx, const kugel_fft *plan, const problem *p, kugel_array in, kugel_array out,
                     size_t ni, size_t no)
{
  void *host_in = in.data, *host_out = out.data, *dx = NULL, *dy = NULL;
  kugel_queue *queue = NULL;
  kugel_device_info info = {.size = sizeof info};
  CHECK_OK(kugel_ctx_describe(ctx, &info));
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_device_alloc(ctx, ni, &dx));
  CHECK_OK(kugel_device_alloc(ctx, no, &dy));
  CHECK_OK(kugel_device_upload(ctx, dx, 0, host_in, ni, queue));
  in.data = dx;
  out.data = p->in_place ? dx : dy;
  in.device = out.device = info.device;
  CHECK_OK(kugel_fft_execute(plan, p->sign, &in, &out, queue));
  CHECK_OK(kugel_device_download(ctx, host_out, out.data, 0, no, queue));
  CHECK_OK(kugel_queue_wait(queue));
  kugel_device_free(ctx, dx);
  kugel_device_free(ctx, dy);
  kugel_queue_destroy(queue);
}

static void check(kugel_ctx *ctx, const problem *p)
{
  int64_t in_shape[5], out_shape[5];
  kugel_array in = {.device = {KUGEL_CPU, 0}, .ndim = p->ndim + 2, .shape = in_shape}, want = in;
  want.shape = out_shape;
  size_t ni = (size_t)side(p, false, in_shape, &in.dtype), no = (size_t)side(p, true, out_shape, &want.dtype);
  ni *= in.dtype.bits / 4;
  no *= want.dtype.bits / 4;
  double *x = kugel__alloc(NULL, ni), *y = kugel__alloc(NULL, no), *z = kugel__alloc(NULL, no);
  uint64_t seed = (uint64_t)p->n[0];
  int64_t width = in.dtype.code == KUGEL_COMPLEX ? 2 : 1;
  for (int64_t i = 0; i < (int64_t)(ni / 8); i++)
    x[i] = check_random(&seed) * (i / width % 2 ? 0x1p-54 * fabs(x[i - width]) : 1);
  double factors[512];
  for (int i = 0; i < 512; i++)
    factors[i] = check_random(&seed);
  int64_t n = p->n[p->axes[0]];
  kugel_array *factor = KUGEL_ARRAY(factors, p->kind == KUGEL_FFT_C2C ? KUGEL_C128 : KUGEL_F64, n);
  kugel_fft *cpu = plan_of(NULL, p, factor), *gpu = plan_of(ctx, p, factor);
  kugel_array got = want;
  in.data = x;
  want.data = y;
  got.data = z;
  CHECK_OK(kugel_fft_execute(cpu, p->sign, &in, &want, NULL));
  if (p->on_device)
    on_queue(ctx, gpu, p, in, got, ni, no);
  else
    CHECK_OK(kugel_fft_execute(gpu, p->sign, &in, &got, NULL));
  double err = 0, norm = 0;
  width = want.dtype.code == KUGEL_COMPLEX ? 2 : 1;
  for (int64_t i = 0; i < (int64_t)(no / 8); i++)
    if (i / width % 2 == 0) {
      double e = (y[i] - z[i]) + (y[i + width] - z[i + width]);
      err += e * e;
      norm += y[i] * y[i];
    }
  err = sqrt(err / norm);
  worst = fmax(worst, err);
  if (!(err <= bound))
    CHECK_FAIL("kind %d, sign %d, n %lld: differs by %.3g of the CPU's", (int)p->kind, p->sign,
               (long long)p->n[0], err);
  kugel_fft_destroy(cpu);
  kugel_fft_destroy(gpu);
  kugel__free(NULL, x);
  kugel__free(NULL, y);
  kugel__free(NULL, z);
}

static void check_device(const kugel_device_info *info)
{
  kugel_ctx *ctx = ctx_on(info);
  CASE(every_title(info, "complex lines"))
  {
    static const int64_t lengths[] = {1, 2, 3, 5, 8, 13, 23, 31, 143, 512, 65536};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      int64_t n = lengths[i];
      check(ctx, &(problem){.sign = i % 2 ? -1 : 1,
                            .ndim = 1,
                            .naxes = 1,
                            .batch = 3,
                            .n = {n},
                            .on_device = i % 3 == 0,
                            .in_place = i % 2});
    }
    printf("  worst difference %.2g\n", worst);
  }
  CASE(every_title(info, "real lines, cosines and sines"))
  {
    static const int64_t n[] = {2, 3, 8, 9, 24, 34, 47, 1024, 20000};
    worst = 0;
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
      for (int kind = KUGEL_FFT_R2C; kind <= KUGEL_FFT_DST4; kind++)
        if (n[i] < 1000 ? kind == KUGEL_FFT_R2C || (kind + i) % 3 == 0 || every_variant(info)
                        : kind % 3 == (int)i % 3)
          for (int sign = -1; sign <= (kind == KUGEL_FFT_R2C ? 1 : -1); sign += 2)
            check(ctx, &(problem){.kind = (kugel_fft_kind)kind,
                                  .sign = sign,
                                  .ndim = 1,
                                  .naxes = 1,
                                  .batch = 2,
                                  .n = {n[i]},
                                  .on_device = i % 2});
    printf("  worst difference %.2g\n", worst);
  }
  CASE(every_title(info, "several axes"))
  {
    check(ctx, &(problem){.sign = -1, .ndim = 3, .naxes = 3, .batch = 2, .n = {12, 5, 8}, .axes = {0, 1, 2}});
    check(ctx, &(problem){.sign = 1,
                          .ndim = 3,
                          .naxes = 2,
                          .batch = 2,
                          .n = {7, 34, 6},
                          .axes = {1, 0},
                          .on_device = true});
    for (int sign = -1; sign < 2; sign += 2)
      check(ctx, &(problem){.kind = KUGEL_FFT_R2C,
                            .sign = sign,
                            .ndim = 2,
                            .naxes = 2,
                            .batch = 2,
                            .n = {10, 12},
                            .axes = {0, 1},
                            .on_device = true});
    check(ctx, &(problem){.kind = KUGEL_FFT_DST3,
                          .sign = 1,
                          .ndim = 2,
                          .naxes = 2,
                          .batch = 1,
                          .n = {10, 9},
                          .axes = {0, 1}});
  }
  CASE(every_title(info, "factors on the way"))
  {
    check(ctx, &(problem){.sign = -1, .ndim = 1, .naxes = 1, .batch = 2, .n = {60}, .hooks = true});
    check(ctx, &(problem){.sign = 1, .ndim = 2, .naxes = 1, .batch = 2, .n = {20, 4}, .hooks = true});
    check(
        ctx,
        &(problem){
            .kind = KUGEL_FFT_DCT2, .sign = -1, .ndim = 1, .naxes = 1, .batch = 2, .n = {31}, .hooks = true});
  }
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);)
    check_device(&info);
  END();
}
