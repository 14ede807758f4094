/* SPDX-License-Identifier: BSD-3-Clause */
/* Roots of unity in double-double, to about 2^-104. */
#ifndef KUGEL_FFT_ROOTS_ROOTS_DD_H
#define KUGEL_FFT_ROOTS_ROOTS_DD_H

#include "codegen/value.h"
#include "fft/roots/roots.h"

/* e^{2 pi i turn}; quarter turns are exact. */
kugel__unit kugel__root_dd(kugel__turn turn);

/* out[4 j] = real and imaginary high parts, then both low parts of e^{2 pi i (start + j step)}, j < count. */
void kugel__roots_dd(kugel__turn start, kugel__turn step, int64_t count, double *out);

/* A complex number in such memory. */
static inline void kugel__put_dd(double *to, kugel__dd re, kugel__dd im)
{
  to[0] = re.hi;
  to[1] = im.hi;
  to[2] = re.lo;
  to[3] = im.lo;
}
static inline kugel__unit kugel__get_dd(const double *from)
{
  return (kugel__unit){{from[0], from[2]}, {from[1], from[3]}};
}

#endif
