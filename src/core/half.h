/* SPDX-License-Identifier: BSD-3-Clause */
/* IEEE binary16 as bits, to float and back, rounded to nearest even; without branches, so that loops over
 * arrays become vectors. */
#ifndef KUGEL_CORE_HALF_H
#define KUGEL_CORE_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t half_bits_(float x)
{
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
static inline float half_float_(uint32_t u)
{
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}

static inline float half_to_float(uint16_t h)
{
  uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13, sign = (uint32_t)(h & 0x8000) << 16;
  float x = half_float_(magnitude) * 0x1p112f; // exponents differ by 112; subnormals become normal
  uint32_t finite = half_bits_(x), other = magnitude | 0x7f800000; // infinite or NaN
  return half_float_((magnitude < 0x0f800000 ? finite : other) | sign);
}

static inline uint16_t half_from_float(float x)
{
  uint32_t u = half_bits_(x), sign = u >> 16 & 0x8000, a = u & 0x7fffffff;
  uint32_t normal =
      (a - 0x38000000 + 0x0fff + (a >> 13 & 1)) >> 13;            // carries into the exponent, up to infinity
  uint32_t tiny = half_bits_(half_float_(a) + 0.5f) - 0x3f000000; // below 2^-14: ulps of 0.5 are 2^-24
  uint32_t r = a < 0x38800000 ? tiny : normal;
  r = a >= 0x47800000 ? 0x7c00 : r; // 65536 and above
  r = a > 0x7f800000 ? 0x7e00 : r;
  return (uint16_t)(r | sign);
}

#endif
