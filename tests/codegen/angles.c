/* SPDX-License-Identifier: BSD-3-Clause */
/* SINCOSPI on every device against long double: all transforms' roots, chirps and phases are made of it. */
#include "codegen/module.h"
#include "core/ctx.h"
#include "device/every.h"

enum { N = 60000 };

static const char text[] = "KERNEL(64) angles(GLOBAL const double *x, GLOBAL double *y, i32 n)\n"
                           "{\n"
                           "  for (i64 i = GLOBAL_ID(0); i < n; i += (i64)GROUPS(0) * 64) {\n"
                           "    double s, c;\n"
                           "    SINCOSPI(x[i], s, c);\n"
                           "    y[2 * i] = s;\n"
                           "    y[2 * i + 1] = c;\n"
                           "  }\n"
                           "}\n";

/* Fractions k / p, numbers of all sizes, multiples of 1/4. */
static double argument(int i, uint64_t *seed)
{
  if (i % 3 == 0)
    return (double)(2 * (i % 7919) - 7919) / 7919;
  if (i % 3 == 1)
    return ldexp(check_random(seed), -(i / 3 % 40)) + i % 5 * 0.5;
  return i < 300 ? (i / 3 - 50) * 0.25 : 2000 * check_random(seed);
}

static double error_in_ulp(double got, long double want)
{
  double size = fabs((double)want);
  return (double)(fabsl(got - want) / (nextafter(size, 2) - size));
}

static void check_angles(kugel_ctx *ctx)
{
  static double x[N], y[2 * N];
  double worst = 0, at = 0;
  uint64_t seed = 3;
  kugel__module *module = NULL;
  kugel__kernel *kernel = NULL;
  kugel__mem in = {NULL, 0}, out = {NULL, 0};
  int32_t n = N;
  for (int i = 0; i < N; i++)
    x[i] = argument(i, &seed);
  CHECK_OK(kugel__module_get(ctx, &(kugel__module_spec){.name = "angles.cl", .text = text}, &module));
  CHECK_OK(kugel__module_kernel(module, "angles", &kernel, NULL));
  CHECK_OK(kugel_device_alloc(ctx, sizeof x, &in.base));
  CHECK_OK(kugel_device_alloc(ctx, sizeof y, &out.base));
  CHECK_OK(kugel_device_upload(ctx, in.base, 0, x, sizeof x, NULL));
  kugel__arg args[] = {KUGEL__MEM_ARG(in), KUGEL__MEM_ARG(out), KUGEL__VALUE_ARG(n)};
  kugel__grid grid = {.blocks = {50}, .threads = {64}};
  CHECK_OK(kugel__launch(kugel__ctx_device(ctx), kernel, &grid, 3, args, NULL));
  CHECK_OK(kugel_device_download(ctx, y, out.base, 0, sizeof y, NULL));
  for (int i = 0; i < N; i++) {
    double r = rint(2 * x[i]), t = x[i] - 0.5 * r; // exact
    long double s = sinl(3.14159265358979323846L * t), c = cosl(3.14159265358979323846L * t);
    int quarter = (int)(r - 4 * floor(0.25 * r));
    long double sine = quarter & 1 ? c : s, cosine = quarter & 1 ? s : c;
    double e = fmax(error_in_ulp(y[2 * i], quarter & 2 ? -sine : sine),
                    error_in_ulp(y[2 * i + 1], quarter == 1 || quarter == 2 ? -cosine : cosine));
    if (!(e <= worst)) {
      worst = e;
      at = x[i];
    }
  }
  printf("  at most %.2f ulp, at %.17g\n", worst, at);
  CHECK_LE(worst, kugel__ctx_device(ctx)->info.device.type == KUGEL_OPENCL ? 1 : 2);
  kugel_device_free(ctx, in.base);
  kugel_device_free(ctx, out.base);
  kugel__module_put(module);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = NULL;
    CASE(every_title(&info, "sines and cosines"))
    {
      if (!info.fp64) {
        SKIP("no double precision");
        continue;
      }
      CHECK_OK(
          kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
      if (ctx)
        check_angles(ctx);
      kugel_ctx_destroy(ctx);
    }
  }
  END();
}
