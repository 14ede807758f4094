/* SPDX-License-Identifier: BSD-3-Clause */
/* Waves and numbers in double-double, with 113 bits to compare with. */
#ifndef KUGEL_TESTS_NUFFT_DD_H
#define KUGEL_TESTS_NUFFT_DD_H

#include "../fft/quad.h"
#include "check.h"

static const quad PI_Q =
    (quad)0x1.921fb54442d18p+1 + (quad)0x1.1a62633145c07p-53 - (quad)0x1.f1976b7ed8fbcp-109;

/* e^{2 pi i u}: Taylor's series of an eighth of the angle, squared three times. */
static inline quad_unit unit_of(quad u)
{
  int64_t whole = (int64_t)u;
  quad a = 2 * PI_Q * (u - (quad)whole) / 8, term = 1;
  quad_unit w = {0, 0};
  for (int i = 0; i < 36; term *= a / (quad)++i)
    *(i & 1 ? &w.s : &w.c) += i & 2 ? -term : term;
  for (int i = 0; i < 3; i++)
    w = (quad_unit){w.c * w.c - w.s * w.s, 2 * w.c * w.s};
  return w;
}

/* Elements are pairs of complex numbers. */
static inline quad_unit number_of(const double *z, int64_t i)
{
  return (quad_unit){(quad)z[4 * i] + (quad)z[4 * i + 2], (quad)z[4 * i + 1] + (quad)z[4 * i + 3]};
}

/* n numbers of `parts` reals: high parts in [-range, range), then low ones. */
static inline double *random_pairs(int64_t n, int parts, double range, uint64_t seed)
{
  double *x = malloc((size_t)(n > 0 ? n * parts * 2 : 1) * sizeof *x);
  for (int64_t i = 0; i < n; i++)
    for (int k = 0; k < parts; k++) {
      x[2 * parts * i + k] = range * check_random(&seed);
      x[2 * parts * i + parts + k] = 0x1p-54 * x[2 * parts * i + k] * check_random(&seed);
    }
  return x;
}

#endif
