/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Transforms in the ball on devices in single precision, against the CPU. */
#include "core/ctx.h"
#include "device/device.h"
#include "device/every.h"
#include "fields.h"

static void single(kugel_ctx *ctx)
{
  kugel_ball_opts o = FIRST_SHAPE;
  o.precision = KUGEL_PRECISION_F32;
  ball b = ball_make(o);
  kugel_ball *plan = plan_on(ctx, &b);
  for (int kind = 0; kind < 3; kind++) {
    for (int i = 0; i < VERBS; i++) {
      bool from = i == 0 || i == 3;
      int64_t n = reals(&b, kind, from), m = reals(&b, kind, !from);
      double *x = random_field(&b, kind, from, 9), *y = malloc((size_t)m * 8), *z = malloc((size_t)m * 8);
      float *fx = malloc((size_t)n * 4), *fy = malloc((size_t)m * 4), *fz = malloc((size_t)m * 4);
      for (int64_t k = 0; k < n; k++)
        fx[k] = (float)x[k];
      view in, out;
      CHECK_OK(verbs[i](b.plan, kind, view_of(&in, &b, kind, from, 1, fx),
                        view_of(&out, &b, kind, !from, 1, fy), NULL));
      out.a.data = fz;
      CHECK_OK(verbs[i](plan, kind, &in.a, &out.a, NULL));
      for (int64_t k = 0; k < m; k++) {
        y[k] = (double)fy[k];
        z[k] = (double)fz[k];
      }
      CHECK_CLOSE(z, y, (size_t)m, 1e-6);
      free(x);
      free(y);
      free(z);
      free(fx);
      free(fy);
      free(fz);
    }
  }
  kugel_ball_destroy(plan);
  ball_free(&b);
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx;
    if (!info.fp64)
      continue;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "single precision"))
    {
      single(ctx);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
