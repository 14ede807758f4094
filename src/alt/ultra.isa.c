/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of a Toeplitz matrix times a Hankel matrix, times a vector. */
#include "alt/ultra.h"
#include "core/simd.h"

static double dot3(const double *t, const double *h, const double *x, int64_t n)
{
  enum { PARTS = 4 };
  vf64 sum[PARTS] = {{0}};
  int64_t i = 0;
  for (; i + PARTS * VLEN <= n; i += PARTS * VLEN)
    for (int p = 0; p < PARTS; p++) {
      int64_t at = i + p * VLEN;
      sum[p] += v_load(t + at) * v_load(h + at) * v_load(x + at);
    }
  double rest = 0;
  for (; i < n; i++)
    rest += t[i] * h[i] * x[i];
  return v_sum((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

extern const kugel__ultra_ops ISA_NAME(kugel__ultra_ops);
const kugel__ultra_ops ISA_NAME(kugel__ultra_ops) = {dot3};
