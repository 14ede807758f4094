/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Scalar sums at points on every device present: direct sums in long double at points with both poles, the plan on the CPU, the
 * adjoint identity, the same bits in every run. */
#include "device/every.h"
#include "sphere/points/device.h"

enum { N = 60, LMAX = 23 };

static void of_mode(kugel_ctx *ctx, kugel_sht_mode mode, int spin, int64_t lmax, int64_t mmax,
                    double tolerance)
{
  problem p = problem_of(mode, spin, lmax, mmax, tolerance, N);
  one(ctx, &p, 1e-12, 1e-14);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "tolerance 1e-13")) of_mode(ctx, KUGEL_SHT_SCALAR, 0, LMAX, LMAX, 1e-13);
    CASE(every_title(&info, "small shapes"))
    {
      of_mode(ctx, KUGEL_SHT_SCALAR, 0, 0, 0, 1e-13);
      of_mode(ctx, KUGEL_SHT_SCALAR, 0, LMAX, 0, 1e-13);
    }
    if (every_variant(&info)) {
      CASE(every_title(&info, "cut orders, tolerance 1e-4"))
      of_mode(ctx, KUGEL_SHT_SCALAR, 0, LMAX, 11, 1e-4);
      CASE(every_title(&info, "lmax 200")) of_mode(ctx, KUGEL_SHT_SCALAR, 0, 200, 200, 1e-13);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
