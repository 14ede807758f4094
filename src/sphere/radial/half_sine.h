/* SPDX-License-Identifier: BSD-3-Clause */
/* The sine of half an angle, in vectors. */
#ifndef KUGEL_SPHERE_RADIAL_HALF_SINE_H
#define KUGEL_SPHERE_RADIAL_HALF_SINE_H

#include "core/simd.h"

/* sin(h / 2) by the Taylor series from term `from` of 10; |h| <= pi: the first term left out is 2e-19. */
static inline vf64 half_sine(vf64 h, int from)
{
  static const double c[] = {1 / 51090942171709440000.0,
                             1 / 121645100408832000.0,
                             1 / 355687428096000.0,
                             1 / 1307674368000.0,
                             1 / 6227020800.0,
                             1 / 39916800.0,
                             1 / 362880.0,
                             1 / 5040.0,
                             1 / 120.0,
                             1 / 6.0};
  h = 0.5 * h;
  vf64 q = h * h, s = v_set(c[from]);
  for (int i = from + 1; i < 10; i++)
    s = c[i] - s * q;
  return h - h * q * s;
}

#endif
