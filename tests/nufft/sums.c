/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-uniform transforms against sums in long double. */
#include "nufft/problem.h"

static const double tolerances[] = {1e-1, 1e-2, 1e-3,  1e-4,  1e-5,  1e-6,  1e-7,
                                    1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14};

/* Errors are below the tolerance, with upsampling by cost, narrow and wide. */
static void keeps(int ndim, int type, double tolerance, double upsampling)
{
  static const int64_t sizes[3][3] = {{200}, {17, 22}, {8, 11, 9}};
  problem p = {.ndim = ndim,
               .m = 60,
               .opts = {.size = sizeof p.opts,
                        .type = (kugel_nufft_type)type,
                        .tolerance = tolerance,
                        .upsampling = upsampling}};
  memcpy(p.n, sizes[ndim - 1], sizeof p.n);
  double e = error_of(&p, 6.28);
  if (!(e <= tolerance))
    CHECK_FAIL("%d-D type %d tolerance %g upsampling %g: error %.3g", ndim, type, tolerance, upsampling, e);
  p.opts.precision = KUGEL_PRECISION_F32;
  if (tolerance < 1e-6)
    return;
  e = error_of(&p, 6.28);
  if (!(e <= tolerance))
    CHECK_FAIL("float %d-D type %d tolerance %g upsampling %g: error %.3g", ndim, type, tolerance, upsampling,
               e);
}

static void all_tolerances(void)
{
  static const double upsampling[] = {0, 1.5, 2};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int type = 1; type <= 2; type++)
      for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; t++)
        for (int u = 0; u < 3; u++)
          if (upsampling[u] != 1.5 || tolerances[t] > 1e-12)
            keeps(ndim, type, tolerances[t], upsampling[u]);
}

/* Lengths with few modes, odd and even, both signs and orders, other periods, points far outside of the period. */
static void shapes(void)
{
  static const int64_t sizes[][3] = {{1},       {2},       {3},       {7},        {64},
                                     {1, 1},    {2, 3},    {1, 9},    {9, 1},     {40, 6},
                                     {1, 1, 1}, {2, 1, 3}, {5, 4, 3}, {1, 16, 2}, {8, 8, 9}};
  static const double period[] = {1, 0.3, 1e6};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int k = 0; k < 16; k++) {
      problem p = {.ndim = i < 5    ? 1
                           : i < 10 ? 2
                                    : 3,
                   .m = k & 8 ? 1 : 37,
                   .opts = {.size = sizeof p.opts,
                            .type = k & 1 ? KUGEL_NUFFT_TO_MODES : KUGEL_NUFFT_TO_POINTS,
                            .sign = k & 2 ? 1 : -1,
                            .fft_order = (k & 4) != 0,
                            .period = k & 4 ? period : NULL,
                            .tolerance = 1e-12}};
      memcpy(p.n, sizes[i], sizeof p.n);
      double e = error_of(&p, k & 2 ? 1000 : 6); // one number may be a sum of terms that cancel
      if (!(e <= 2e-11))
        CHECK_FAIL("shape %zu case %d: error %.3g", i, k, e);
    }
}

/* A million modes lose no digits: one strength, whose modes are waves. The truth is exact with a period of 1 and a point of
 * few digits, and right to 6e-14 with 2 pi. */
static void many_modes(double x, const double *period, double bound)
{
  problem p = {
      .ndim = 1,
      .n = {1000000},
      .m = 1,
      .opts = {.size = sizeof p.opts, .type = KUGEL_NUFFT_TO_MODES, .tolerance = 1e-14, .period = period}};
  double one[2] = {1, 0}, *out = malloc(16000000), worst = 0;
  transform(&p, &x, false, one, out);
  for (int64_t i = 0; i < 1000000; i += 997)
    worst = fmax(worst, (double)cabsl(number(out, i) - wave(&p, 1, &x, i)));
  printf("  a million modes: largest error %.2g\n", worst);
  CHECK_LE(worst, bound);
  free(out);
}

int main(void)
{
  CASE("errors are below the tolerance") all_tolerances();
  CASE("any shape, sign, order, period") shapes();
  CASE("a million modes")
  {
    const double period = 1;
    many_modes(3.0 + 0x5f8b.95c1a7p-15, &period, 3e-14);
    many_modes(2.345678901234567, NULL, 2e-13);
  }
  END();
}
