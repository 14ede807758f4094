/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Transforms in the ball on devices: every allocation and every other call of the driver fails once; cancellation. */
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/every.h"
#include "device/faults.h"
#include "truth.h"

enum { NLM = 78, N = 8, POINTS = 15 * 12 * 24 }; /* of the grid of gpu.c, whose kernels are there */
static double coeffs[3 * NLM * N * 2], values[3 * POINTS], pairs[6 * POINTS];
static double others[3 * NLM * N * 2], energy[12];
static const kugel_ball_opts opts = {
    .size = sizeof opts, .lmax = 11, .n = N, .vectors = 1, .nr = 15, .ntheta = 12, .nphi = 24};

static kugel_status transforms(kugel_ball *plan)
{
  kugel_array *c = KUGEL_ARRAY(coeffs, KUGEL_C128, 3, NLM, N),
              *f = KUGEL_ARRAY(values, KUGEL_F64, 3, 15, 12, 24),
              *s = KUGEL_ARRAY(pairs, KUGEL_C128, 3, 15, 12, 24);
  kugel_status status = kugel_ball_synthesis(plan, KUGEL_BALL_VECTOR, c, f, NULL);
  return status ? status : kugel_ball_analysis(plan, KUGEL_BALL_SPIN, s, c, NULL);
}

/* Of an array of the device, which is the place for coefficients. */
static kugel_status series(kugel_ctx *ctx, kugel_ball *plan)
{
  void *memory;
  kugel_array *c = KUGEL_ARRAY(coeffs, KUGEL_C128, 3, NLM, N);
  kugel_status status = kugel_device_alloc(ctx, sizeof coeffs, &memory);
  if (status)
    return status;
  c->data = memory;
  c->device = ctx->device;
  status = kugel_device_fill(ctx, memory, 0, 0, sizeof coeffs, NULL);
  if (!status)
    status = kugel_ball_apply(plan, KUGEL_BALL_CURL, c, KUGEL_ARRAY(others, KUGEL_C128, 3, NLM, N), NULL);
  if (!status)
    status = kugel_ball_profiles_adjoint(plan, KUGEL_BALL_SPIN, KUGEL_ARRAY(pairs, KUGEL_C128, 3, NLM, 15), c,
                                         NULL);
  c->shape = (int64_t[]){NLM, N}; /* a scalar has one transform to orthonormal functions */
  c->ndim = 2;
  if (!status)
    status = kugel_ball_spectrum(plan, KUGEL_BALL_SCALAR, KUGEL_BALL_L, c, KUGEL_ARRAY(energy, KUGEL_F64, 12),
                                 NULL);
  kugel_device_free(ctx, memory);
  return status;
}

static kugel_status once(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  kugel_ball *plan;
  kugel_status s = kugel_ball_create(ctx, &opts, &plan);
  if (s)
    return s;
  s = transforms(plan);
  s = s ? s : series(ctx, plan);
  kugel_ball_destroy(plan);
  return s;
}

static int stop_at_half(double fraction, const char *stage, void *user)
{
  (void)stage;
  (void)user;
  return fraction > 0.5;
}

/* A call that is canceled ends, and the plan goes on. */
static void cancel(kugel_ctx *ctx)
{
  kugel_ball *plan;
  CHECK_OK(kugel_ball_create(ctx, &opts, &plan));
  double before = kugel__progress_interval(0);
  kugel_set_progress(stop_at_half, NULL);
  CHECK_IS(transforms(plan), KUGEL_ECANCELED);
  kugel_set_progress(NULL, NULL);
  kugel__progress_interval(before);
  CHECK_OK(transforms(plan));
  kugel_ball_destroy(plan);
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx;
    if (!info.fp64)
      continue;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "every allocation fails once"))
    sweep_memory(ctx, INT64_MAX, once, NULL);
    CASE(every_title(&info, "calls of the driver fail"))
    sweep_driver(ctx, 500, once, NULL);
    CASE(every_title(&info, "cancellation"))
    cancel(ctx);
    kugel_ctx_destroy(ctx);
  }
  END();
}
