/* SPDX-License-Identifier: BSD-3-Clause */
/* Vector types by GCC/Clang vector extensions, for *.isa.c only. VLEN doubles (2 VLEN floats) a vector.
 * Arithmetic is by operators: a * b + c fuses to FMA (gnu11). Everything here is static inline. */
#ifndef KUGEL_CORE_SIMD_H
#define KUGEL_CORE_SIMD_H

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#  include <immintrin.h>
#endif

#ifndef KUGEL_ISA
#  error "simd.h is for *.isa.c files, which are compiled once an ISA"
#endif
#if defined(KUGEL_ISA_AVX512)
#  define VLEN 8
#elif defined(KUGEL_ISA_AVX2)
#  define VLEN 4
#else
#  define VLEN 2
#endif
#define ISA_PASTE_(a, b)  a##_##b
#define ISA_PASTE2_(a, b) ISA_PASTE_(a, b)
#define ISA_NAME(name)    ISA_PASTE2_(name, KUGEL_ISA) /* kugel__x -> kugel__x_avx2 */

typedef double vf64 __attribute__((vector_size(8 * VLEN)));
typedef float vf32 __attribute__((vector_size(8 * VLEN)));
typedef int64_t vi64 __attribute__((vector_size(8 * VLEN)));
typedef int32_t vi32 __attribute__((vector_size(8 * VLEN)));
typedef struct cvec { /* VLEN complex numbers */
  vf64 re, im;
} cvec;

static inline vf64 v_load(const double *p) /* no alignment needed */
{
  vf64 v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void v_store(double *p, vf64 v)
{
  memcpy(p, &v, sizeof v);
}
static inline vf64 v_set(double x)
{
  return x - (vf64){0};
}
/* a b + c, rounded once where the instruction set does that, and the same way in every loop, whatever the compiler contracts: for
 * sums whose bits must not depend on the loop they go through. Files that use it are compiled with -ffp-contract=off, or use it
 * wherever a product is added to something. */
static inline vf64 v_muladd(vf64 a, vf64 b, vf64 c)
{
#if defined(KUGEL_ISA_AVX512)
  return (vf64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(KUGEL_ISA_AVX2)
  return (vf64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  for (int i = 0; i < VLEN; i++)
    a[i] = __builtin_fma(a[i], b[i], c[i]);
  return a;
#else
  return a * b + c;
#endif
}
static inline vf32 v_muladd_f32(vf32 a, vf32 b, vf32 c)
{
#if defined(KUGEL_ISA_AVX512)
  return (vf32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(KUGEL_ISA_AVX2)
  return (vf32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  for (int i = 0; i < 2 * VLEN; i++)
    a[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return a;
#else
  return a * b + c;
#endif
}
static inline vf64 v_select(vi64 mask, vf64 yes, vf64 no) /* mask lanes are 0 or -1 */
{
  return (vf64)(((vi64)yes & mask) | ((vi64)no & ~mask));
}
static inline vf64 v_abs(vf64 v)
{
  return (vf64)((vi64)v & INT64_MAX);
}
static inline int v_any(vi64 mask)
{
#if defined(KUGEL_ISA_AVX512)
  return _mm512_test_epi64_mask((__m512i)mask, (__m512i)mask) != 0;
#elif defined(KUGEL_ISA_AVX2)
  return _mm256_movemask_pd((__m256d)mask) != 0;
#else
  return (mask[0] | mask[1]) != 0;
#endif
}
static inline double v_sum(vf64 v) /* in pairs: the same order for a given VLEN */
{
  for (int width = VLEN / 2; width; width /= 2)
    for (int i = 0; i < width; i++)
      v[i] += v[i + width];
  return v[0];
}

#endif
