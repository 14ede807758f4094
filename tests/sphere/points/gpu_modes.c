/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Sums with a direction at points on every device present, and lenses: as gpu_sums.c; a lens is compared with that of the CPU. */
#include "device/every.h"
#include "sphere/points/device.h"

enum { N = 60, LMAX = 23 };

static void of_mode(kugel_ctx *ctx, kugel_sht_mode mode, int spin, int64_t lmax, int64_t mmax,
                    double tolerance)
{
  problem p = problem_of(mode, spin, lmax, mmax, tolerance, N);
  one(ctx, &p, 1e-12, 1e-14);
}

static void of_lens(kugel_ctx *ctx, kugel_sht_mode mode, int spin, double tolerance)
{
  problem p = problem_of(mode, spin, LMAX, LMAX, tolerance, N);
  p.by = random_numbers(2 * N, 8);
  p.by[5] = p.by[N + 5] = 0;
  one(ctx, &p, 1e-12, 1e-14);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = every_context(&info);
    if (!ctx)
      continue;
    CASE(every_title(&info, "spin 2")) of_mode(ctx, KUGEL_SHT_SPIN, 2, LMAX, LMAX, 1e-13);
    CASE(every_title(&info, "a lens of T, E, B")) of_lens(ctx, KUGEL_SHT_TEB, 0, 1e-13);
    if (every_variant(&info)) {
      CASE(every_title(&info, "spin 3")) of_mode(ctx, KUGEL_SHT_SPIN, 3, LMAX, LMAX, 1e-13);
      CASE(every_title(&info, "T, E, B")) of_mode(ctx, KUGEL_SHT_TEB, 0, 25, 20, 1e-4);
      CASE(every_title(&info, "a gradient")) of_mode(ctx, KUGEL_SHT_GRAD, 0, LMAX, LMAX, 1e-13);
      CASE(every_title(&info, "a lens of scalars")) of_lens(ctx, KUGEL_SHT_SCALAR, 0, 1e-13);
      CASE(every_title(&info, "a lens of spin 3")) of_lens(ctx, KUGEL_SHT_SPIN, 3, 1e-4);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
