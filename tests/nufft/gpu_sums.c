/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Non-uniform transforms on every device present, against sums in long double and the plan on the CPU. */
#include "nufft/device.h"

static double error_on(kugel_ctx *ctx, const problem *p, double range)
{
  bool single = p->opts.precision == KUGEL_PRECISION_F32;
  int64_t n_in = to_modes(p, false) ? p->m : modes_of(p), n_out = to_modes(p, false) ? modes_of(p) : p->m;
  double *x = random_reals(p->m * p->ndim, 11), *in = random_reals(2 * n_in, 12),
         *out = malloc((size_t)n_out * 16), *want = malloc((size_t)n_out * 16);
  float *in32 = malloc((size_t)n_in * 8), *out32 = malloc((size_t)n_out * 8);
  for (int64_t i = 0; i < p->m * p->ndim; i++)
    x[i] *= range;
  for (int64_t i = 0; i < 2 * n_in; i++) {
    in32[i] = (float)in[i];
    in[i] = single ? (double)in32[i] : in[i];
  }
  sum(p, x, in, want);
  on_device(ctx, p, x, false, single ? (void *)in32 : in, single ? (void *)out32 : out);
  for (int64_t i = 0; single && i < 2 * n_out; i++)
    out[i] = out32[i];
  double error = check_l2(out, want, (size_t)(2 * n_out));
  free(x), free(in), free(out), free(want), free(in32), free(out32);
  return error;
}

static void keeps(kugel_ctx *ctx, int ndim, int type, double tolerance, double upsampling)
{
  static const int64_t sizes[3][3] = {{200}, {17, 22}, {8, 11, 9}};
  problem p = {.ndim = ndim,
               .m = 60,
               .opts = {.size = sizeof p.opts,
                        .type = (kugel_nufft_type)type,
                        .tolerance = tolerance,
                        .upsampling = upsampling}};
  memcpy(p.n, sizes[ndim - 1], sizeof p.n);
  double e = error_on(ctx, &p, 6.28);
  if (!(e <= tolerance))
    CHECK_FAIL("%d-D type %d tolerance %g upsampling %g: error %.3g", ndim, type, tolerance, upsampling, e);
  p.opts.precision = KUGEL_PRECISION_F32;
  if (tolerance < 1e-6)
    return;
  e = error_on(ctx, &p, 6.28);
  if (!(e <= tolerance))
    CHECK_FAIL("float %d-D type %d tolerance %g upsampling %g: error %.3g", ndim, type, tolerance, upsampling,
               e);
}

/* Lengths with few modes, odd and even, both signs and orders, other periods, points far outside of the period. */
static void shapes(kugel_ctx *ctx)
{
  static const int64_t sizes[][3] = {{1}, {64}, {1, 9}, {40, 6}, {1, 1, 1}, {5, 4, 3}};
  static const double period[] = {1, 0.3, 1e6};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int k = (int)(3 * i % 5); k < 8; k += 5) { // each type, sign and order with some
      problem p = {.ndim = 1 + (int)i / 2,
                   .m = k & 4 ? 1 : 37,
                   .opts = {.size = sizeof p.opts,
                            .type = k & 1 ? KUGEL_NUFFT_TO_MODES : KUGEL_NUFFT_TO_POINTS,
                            .sign = k & 2 ? 1 : -1,
                            .fft_order = (int)((i + (size_t)k / 4) % 2),
                            .period = k & 4 ? period : NULL,
                            .upsampling = 2,
                            .tolerance = 1e-10}};
      memcpy(p.n, sizes[i], sizeof p.n);
      double e = error_on(ctx, &p, k & 2 ? 1000 : 6); // one number may be a sum of terms that cancel
      if (!(e <= 2e-9))
        CHECK_FAIL("shape %zu case %d: error %.3g", i, k, e);
    }
}

/* Widths of the kernel in three dimensions, in float and double by turns: tests of the CPU have all of them. */
static void widths(kugel_ctx *ctx)
{
  double tolerance = 0.08;
  for (int w = 2; w <= 15; w++, tolerance *= 0.11) {
    if (w > 3 && w < 14 && w % 4 > 1)
      continue;
    problem p = {.ndim = 3,
                 .n = {6, 7, 9},
                 .m = 50,
                 .opts = {.size = sizeof p.opts,
                          .type = (kugel_nufft_type)(1 + w % 2),
                          .precision = w < 7 && w % 4 < 2 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                          .upsampling = 2,
                          .tolerance = tolerance}};
    double e = error_on(ctx, &p, 6);
    if (!(e <= 1.1 * tolerance))
      CHECK_FAIL("tolerance %g: error %.3g", tolerance, e);
  }
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);)
    CASE(info.name)
    {
      kugel_ctx *ctx = NULL;
      CHECK_OK(
          kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
      for (int ndim = 1; ndim <= 3 && ctx; ndim++) {
        keeps(ctx, ndim, 1, 1e-6, 2);
        keeps(ctx, ndim, 2, 1e-6, 2);
        keeps(ctx, ndim, 1 + ndim % 2, 1e-2, 1.5);
        keeps(ctx, ndim, 2 - ndim % 2, 1e-13, 0);
      }
      if (ctx) {
        shapes(ctx);
        widths(ctx);
      }
      kugel_ctx_destroy(ctx);
    }
  END();
}
