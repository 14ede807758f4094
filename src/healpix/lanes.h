/* SPDX-License-Identifier: BSD-3-Clause */
/* Vectors of 64-bit integers beside those of doubles, and odd and even functions near zero; for *.isa.c only.
 * Masks have lanes 0 or -1. Lanes whose
 * result is not used hold numbers of the same size, so that nothing overflows. */
#ifndef KUGEL_HEALPIX_LANES_H
#define KUGEL_HEALPIX_LANES_H

#include "core/simd.h"

typedef uint64_t vu64 __attribute__((vector_size(8 * VLEN)));
#define LANE_INLINE static inline __attribute__((always_inline))

LANE_INLINE vi64 vi_set(int64_t x)
{
  return x - (vi64){0};
}
LANE_INLINE vi64 vi_select(vi64 mask, vi64 yes, vi64 no)
{
  return (yes & mask) | (no & ~mask);
}
LANE_INLINE vi64 vi_shr(vi64 v, int bits) /* zeros come in */
{
  return (vi64)((vu64)v >> bits);
}

/* a < b where b - a does not overflow. SSE2 has no comparison of 64 bits, but the sign of the difference. */
LANE_INLINE vi64 vi_less(vi64 a, vi64 b)
{
#if defined(__x86_64__) && !defined(__SSE4_2__)
  return (vi64)_mm_shuffle_epi32(_mm_srai_epi32((__m128i)(a - b), 31), _MM_SHUFFLE(3, 3, 1, 1));
#else
  return a < b;
#endif
}
/* The whole lane for a sign. */
LANE_INLINE vi64 vi_negative(vi64 v)
{
  return vi_less(v, (vi64){0});
}

/* Products of numbers in [0, 2^32). */
LANE_INLINE vi64 vi_mul(vi64 a, vi64 b)
{
#if defined(KUGEL_ISA_AVX512)
  return (vi64)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(KUGEL_ISA_AVX2)
  return (vi64)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
  return (vi64)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return a * b;
#endif
}

/* To and from doubles, |v| < 2^51; v_int takes whole numbers. */
LANE_INLINE vi64 v_int(vf64 v)
{
#if defined(KUGEL_ISA_AVX512)
  return (vi64)_mm512_cvttpd_epi64((__m512d)v);
#else
  return (vi64)(v + 0x1.8p52) - (vi64)v_set(0x1.8p52);
#endif
}
LANE_INLINE vf64 v_double(vi64 v)
{
#if defined(KUGEL_ISA_AVX512)
  return (vf64)_mm512_cvtepi64_pd((__m512i)v);
#else
  return (vf64)(v + (vi64)v_set(0x1.8p52)) - 0x1.8p52;
#endif
}
LANE_INLINE vf64 v_double_long(vi64 v) /* of [0, 2^62), rounded */
{
#if defined(KUGEL_ISA_AVX512)
  return (vf64)_mm512_cvtepi64_pd((__m512i)v);
#else
  return v_double(vi_shr(v, 32)) * 0x1p32 + v_double(v & 0xffffffff);
#endif
}

LANE_INLINE vf64 v_floor(vf64 v) /* |v| < 2^51 */
{
#if defined(KUGEL_ISA_AVX512)
  return (vf64)_mm512_roundscale_pd((__m512d)v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#elif defined(KUGEL_ISA_AVX2)
  return (vf64)_mm256_floor_pd((__m256d)v);
#else
  vf64 r = (v + 0x1.8p52) - 0x1.8p52;
  return r + v_double(r > v);
#endif
}
LANE_INLINE vf64 v_sqrt(vf64 v)
{
#if defined(KUGEL_ISA_AVX512)
  return (vf64)_mm512_sqrt_pd((__m512d)v);
#elif defined(KUGEL_ISA_AVX2)
  return (vf64)_mm256_sqrt_pd((__m256d)v);
#elif defined(__x86_64__)
  return (vf64)_mm_sqrt_pd((__m128d)v);
#else
  for (int i = 0; i < VLEN; i++)
    v[i] = __builtin_sqrt(v[i]);
  return v;
#endif
}
LANE_INLINE vf64 v_min(vf64 a, vf64 b)
{
  return v_select(a < b, a, b);
}
LANE_INLINE vf64 v_max(vf64 a, vf64 b)
{
  return v_select(a > b, a, b);
}
LANE_INLINE vf64 v_keep(vi64 mask, vf64 v) /* 0 where the mask is not set */
{
  return (vf64)((vi64)v & mask);
}
LANE_INLINE vf64 v_flip(vi64 mask, vf64 v) /* -v where the mask is set */
{
  return (vf64)((vi64)v ^ (mask & INT64_MIN));
}

/* The first min(VLEN, left) elements; further lanes repeat the first. left >= 1. */
LANE_INLINE vf64 v_load_part(const double *p, int64_t left)
{
  if (left >= VLEN)
    return v_load(p);
  vf64 v = v_set(p[0]);
  for (int64_t i = 1; i < left; i++)
    v[i] = p[i];
  return v;
}
LANE_INLINE vi64 vi_load_part(const int64_t *p, int64_t left)
{
  vi64 v;
  if (left >= VLEN) {
    memcpy(&v, p, sizeof v);
    return v;
  }
  v = vi_set(p[0]);
  for (int64_t i = 1; i < left; i++)
    v[i] = p[i];
  return v;
}
LANE_INLINE void v_store_part(double *p, vf64 v, int64_t left)
{
  if (left >= VLEN)
    v_store(p, v);
  else
    for (int64_t i = 0; i < left; i++)
      p[i] = v[i];
}
LANE_INLINE void vi_store_part(int64_t *p, vi64 v, int64_t left)
{
  if (left >= VLEN)
    memcpy(p, &v, sizeof v);
  else
    for (int64_t i = 0; i < left; i++)
      p[i] = v[i];
}

/* VLEN triples in memory and their three components. */
#if VLEN == 8
#  define LANE_SPLIT_X(a, b, c)                                                                              \
    LANE_MIX(LANE_MIX(a, b, 0, 3, 6, 9, 12, 15, 0, 0), c, 0, 1, 2, 3, 4, 5, 10, 13)
#  define LANE_SPLIT_Y(a, b, c)                                                                              \
    LANE_MIX(LANE_MIX(a, b, 1, 4, 7, 10, 13, 0, 0, 0), c, 0, 1, 2, 3, 4, 8, 11, 14)
#  define LANE_SPLIT_Z(a, b, c)                                                                              \
    LANE_MIX(LANE_MIX(a, b, 2, 5, 8, 11, 14, 0, 0, 0), c, 0, 1, 2, 3, 4, 9, 12, 15)
#  define LANE_JOIN_A(x, y, z) LANE_MIX(LANE_MIX(x, y, 0, 8, 0, 1, 9, 0, 2, 10), z, 0, 1, 8, 3, 4, 9, 6, 7)
#  define LANE_JOIN_B(x, y, z)                                                                               \
    LANE_MIX(LANE_MIX(x, y, 0, 3, 11, 0, 4, 12, 0, 5), z, 10, 1, 2, 11, 4, 5, 12, 7)
#  define LANE_JOIN_C(x, y, z)                                                                               \
    LANE_MIX(LANE_MIX(x, y, 13, 0, 6, 14, 0, 7, 15, 0), z, 0, 13, 2, 3, 14, 5, 6, 15)
#elif VLEN == 4
#  define LANE_SPLIT_X(a, b, c) LANE_MIX(LANE_MIX(a, b, 0, 3, 6, 0), c, 0, 1, 2, 5)
#  define LANE_SPLIT_Y(a, b, c) LANE_MIX(LANE_MIX(a, b, 1, 4, 7, 0), c, 0, 1, 2, 6)
#  define LANE_SPLIT_Z(a, b, c) LANE_MIX(LANE_MIX(a, b, 2, 5, 0, 0), c, 0, 1, 4, 7)
#  define LANE_JOIN_A(x, y, z)  LANE_MIX(LANE_MIX(x, y, 0, 4, 0, 1), z, 0, 1, 4, 3)
#  define LANE_JOIN_B(x, y, z)  LANE_MIX(LANE_MIX(x, y, 5, 0, 2, 6), z, 0, 5, 2, 3)
#  define LANE_JOIN_C(x, y, z)  LANE_MIX(LANE_MIX(x, y, 0, 3, 7, 0), z, 6, 1, 2, 7)
#else
#  define LANE_SPLIT_X(a, b, c) LANE_MIX(a, b, 0, 3)
#  define LANE_SPLIT_Y(a, b, c) LANE_MIX(a, c, 1, 2)
#  define LANE_SPLIT_Z(a, b, c) LANE_MIX(b, c, 0, 3)
#  define LANE_JOIN_A(x, y, z)  LANE_MIX(x, y, 0, 2)
#  define LANE_JOIN_B(x, y, z)  LANE_MIX(z, x, 0, 3)
#  define LANE_JOIN_C(x, y, z)  LANE_MIX(y, z, 1, 3)
#endif
#define LANE_MIX(a, b, ...) ((vf64)__builtin_shufflevector((a), (b), __VA_ARGS__))

LANE_INLINE void v_split3(const double *p, vf64 *x, vf64 *y, vf64 *z)
{
  vf64 a = v_load(p), b = v_load(p + VLEN), c = v_load(p + 2 * VLEN);
  *x = LANE_SPLIT_X(a, b, c);
  *y = LANE_SPLIT_Y(a, b, c);
  *z = LANE_SPLIT_Z(a, b, c);
}
LANE_INLINE void v_join3_part(double *p, vf64 x, vf64 y, vf64 z, int64_t left)
{
  vf64 out[3] = {LANE_JOIN_A(x, y, z), LANE_JOIN_B(x, y, z), LANE_JOIN_C(x, y, z)};
  if (left >= VLEN)
    memcpy(p, out, sizeof out);
  else
    memcpy(p, out, (size_t)left * 24);
}

/* Coefficients below interpolate at Chebyshev nodes, in powers of x^2; the error left is below 1/8 ulp of the
 * result. */
#define LANE_HORNER(r, c, y)                                                                                 \
  vf64 r = v_set((c)[sizeof(c) / sizeof *(c)-1]);                                                            \
  for (int i_ = (int)(sizeof(c) / sizeof *(c)) - 2; i_ >= 0; i_--)                                           \
  r = r * (y) + (c)[i_]

LANE_INLINE vf64 v_sin(vf64 x) /* |x| <= pi/4 */
{
  static const double c[] = {-0x1.5555555555555p-3, 0x1.1111111110babp-7,   -0x1.a01a019e820aep-13,
                             0x1.71de37946ed6dp-19, -0x1.ae6008d114485p-26, 0x1.5e0a4fc16be59p-33};
  vf64 y = x * x;
  LANE_HORNER(r, c, y);
  return x + x * y * r;
}
LANE_INLINE vf64 v_cos(vf64 x) /* |x| <= pi/4 */
{
  static const double c[] = {0x1.5555555555555p-5,   -0x1.6c16c16c16963p-10, 0x1.a01a019f4ddfdp-16,
                             -0x1.27e4fa16cc2d1p-22, 0x1.1eeb67d026ec6p-29,  -0x1.907cd8ff5ede7p-37};
  vf64 y = x * x, half = y * 0.5, w = 1 - half;
  LANE_HORNER(r, c, y);
  return w + ((1 - w - half) + y * y * r);
}
LANE_INLINE vf64 v_asin(vf64 x) /* |x| <= 2/3 */
{
  static const double even[] = {0x1.5555555555555p-3,  0x1.6db6db6d84fd6p-5,  0x1.6e8b9b9f57d54p-6,
                                0x1.c976d2ec21b2ap-7,  0x1.2cc5bdf4b27d7p-7,  -0x1.10e96d2a87c44p-6,
                                -0x1.388b9a249e1ccp-2, -0x1.2ecb8e3a326b8p+0, -0x1.e2590784d9b75p-1};
  static const double odd[] = {0x1.33333333334dap-4, 0x1.f1c71c96f4159p-6, 0x1.1c4fa2ad8efc3p-6,
                               0x1.7c6d3b84d7a21p-7, 0x1.a0a0364233109p-7, 0x1.b31ae988f7a47p-4,
                               0x1.7160b5a4e1553p-1, 0x1.59ff2224646c9p+0, 0x1.48db7e6bd5eb6p-2};
  vf64 y = x * x, yy = y * y;
  LANE_HORNER(a, even, yy);
  LANE_HORNER(b, odd, yy);
  return x + x * y * (a + b * y);
}
LANE_INLINE vf64 v_atan(vf64 x) /* |x| <= sqrt 2 - 1 */
{
  static const double c[] = {-0x1.5555555555555p-2, 0x1.999999999934ap-3,  -0x1.24924924360cbp-3,
                             0x1.c71c7185314cbp-4,  -0x1.745d0b26b83e7p-4, 0x1.3b1262d95579ep-4,
                             -0x1.10fa75382537fp-4, 0x1.dfe61e80903d2p-5,  -0x1.a098bb6ba4941p-5,
                             0x1.41603647c7a7cp-5,  -0x1.3a2b7a07caea9p-6};
  vf64 y = x * x;
  LANE_HORNER(r, c, y);
  return x + x * y * r;
}

#endif
