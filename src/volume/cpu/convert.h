/* SPDX-License-Identifier: BSD-3-Clause */
/* For lines.isa.c: rows of each type of voxel to doubles and back. */
#ifndef KUGEL_VOLUME_CONVERT_H
#define KUGEL_VOLUME_CONVERT_H

#include <math.h>
#include "core/half.h"

#define READ(type, value)                                                                                    \
  {                                                                                                          \
    const type *v = (const type *)(const void *)from;                                                        \
    if (step == 1)                                                                                           \
      for (int64_t i = 0; i < count; i++)                                                                    \
        to[i] = (double)value(v[i]);                                                                         \
    else                                                                                                     \
      for (int64_t i = 0; i < count; i++)                                                                    \
        to[i] = (double)value(v[i * step]);                                                                  \
    break;                                                                                                   \
  }
#define ITSELF(x) (x)

static void read_reals(kugel_dtype t, const char *from, int64_t step, int64_t count, double *restrict to)
{
  switch (t.code << 8 | t.bits) {
  case KUGEL_UINT << 8 | 8:
    READ(uint8_t, ITSELF)
  case KUGEL_UINT << 8 | 16:
    READ(uint16_t, ITSELF)
  case KUGEL_INT << 8 | 16:
    READ(int16_t, ITSELF)
  case KUGEL_INT << 8 | 32:
    READ(int32_t, ITSELF)
  case KUGEL_FLOAT << 8 | 16:
    READ(uint16_t, half_to_float)
  case KUGEL_FLOAT << 8 | 32:
    READ(float, ITSELF)
  default:
    READ(double, ITSELF)
  }
}

// Rounded to the nearest, within [lo, hi]; NaN gives 0. *bad counts what was changed.
#define WRITE_INTEGER(type, lo, hi)                                                                          \
  {                                                                                                          \
    type *v = (type *)(void *)to;                                                                            \
    for (int64_t i = 0; i < count; i++) {                                                                    \
      double x = rint(from[i]), y = x > (hi) ? (double)(hi) : x;                                             \
      y = y < (lo) ? (double)(lo) : y;                                                                       \
      y = x == x ? y : 0;                                                                                    \
      bad += x != y; /* NaN too */                                                                           \
      v[i * step] = (type)y;                                                                                 \
    }                                                                                                        \
    break;                                                                                                   \
  }
#define WRITE(type, value)                                                                                   \
  {                                                                                                          \
    type *v = (type *)(void *)to;                                                                            \
    if (step == 1)                                                                                           \
      for (int64_t i = 0; i < count; i++)                                                                    \
        v[i] = value(from[i]);                                                                               \
    else                                                                                                     \
      for (int64_t i = 0; i < count; i++)                                                                    \
        v[i * step] = value(from[i]);                                                                        \
    break;                                                                                                   \
  }
#define TO_HALF(x)  half_from_float((float)(x))
#define TO_FLOAT(x) (float)(x)

static int64_t write_reals(kugel_dtype t, const double *restrict from, int64_t count, char *to, int64_t step)
{
  int64_t bad = 0;
  switch (t.code << 8 | t.bits) {
  case KUGEL_UINT << 8 | 8:
    WRITE_INTEGER(uint8_t, 0, UINT8_MAX)
  case KUGEL_UINT << 8 | 16:
    WRITE_INTEGER(uint16_t, 0, UINT16_MAX)
  case KUGEL_INT << 8 | 16:
    WRITE_INTEGER(int16_t, INT16_MIN, INT16_MAX)
  case KUGEL_INT << 8 | 32:
    WRITE_INTEGER(int32_t, INT32_MIN, INT32_MAX)
  case KUGEL_FLOAT << 8 | 16:
    WRITE(uint16_t, TO_HALF)
  case KUGEL_FLOAT << 8 | 32:
    WRITE(float, TO_FLOAT)
  default:
    WRITE(double, ITSELF)
  }
  return bad;
}

#endif
