/* SPDX-License-Identifier: BSD-3-Clause */
/* Products of spectra. The interleaved complex product is written so that compilers vectorise it. */
#include "core/simd.h"
#include "fft/conv/conv.h"

#define MULTIPLY(name, real)                                                                                 \
  static void name(bool add, int64_t n, const real *restrict h, const real *x, real *y)                      \
  {                                                                                                          \
    if (add)                                                                                                 \
      for (int64_t i = 0; i < n; i++) {                                                                      \
        real a = x[2 * i], b = x[2 * i + 1];                                                                 \
        y[2 * i] += h[2 * i] * a - h[2 * i + 1] * b;                                                         \
        y[2 * i + 1] += h[2 * i] * b + h[2 * i + 1] * a;                                                     \
      }                                                                                                      \
    else                                                                                                     \
      for (int64_t i = 0; i < n; i++) {                                                                      \
        real a = x[2 * i], b = x[2 * i + 1];                                                                 \
        y[2 * i] = h[2 * i] * a - h[2 * i + 1] * b;                                                          \
        y[2 * i + 1] = h[2 * i] * b + h[2 * i + 1] * a;                                                      \
      }                                                                                                      \
  }
MULTIPLY(multiply_f32, float)
MULTIPLY(multiply_f64, double)

static void multiply(bool single, bool add, int64_t n, const void *h, const void *x, void *y)
{
  if (single)
    multiply_f32(add, n, h, x, y);
  else
    multiply_f64(add, n, h, x, y);
}

extern const kugel__conv_ops ISA_NAME(kugel__conv_ops);
const kugel__conv_ops ISA_NAME(kugel__conv_ops) = {multiply};
