/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Sums at points in single precision on every device present, and value and gradient: as gpu_sums.c. */
#include "device/every.h"
#include "sphere/points/device.h"

enum { N = 60, LMAX = 23 };

/* The last two numbers: rounding of results, and in the adjoint identity. */
static void of_floats(kugel_ctx *ctx, kugel_sht_mode mode, int spin, int64_t lmax, double tolerance)
{
  problem p = problem_of(mode, spin, lmax, lmax, tolerance, N);
  p.opts.precision = KUGEL_PRECISION_F32;
  one(ctx, &p, 1e-6, 1e-6);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "value and gradient")) of_floats(ctx, KUGEL_SHT_DER1, 0, LMAX, 1e-5);
    if (every_variant(&info)) {
      CASE(every_title(&info, "scalars")) of_floats(ctx, KUGEL_SHT_SCALAR, 0, 200, 1e-6);
      CASE(every_title(&info, "spin 2")) of_floats(ctx, KUGEL_SHT_SPIN, 2, LMAX, 1e-5);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
