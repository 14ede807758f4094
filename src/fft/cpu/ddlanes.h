/* SPDX-License-Identifier: BSD-3-Clause */
/* Double-double numbers in SIMD lanes, the words of generated C (codegen/print.c): hi + lo, |lo| <= ulp(hi),
 * by the operations of codegen/kernels/dd.cl. For files compiled without contraction. */
#ifndef KUGEL_FFT_CPU_DDLANES_H
#define KUGEL_FFT_CPU_DDLANES_H

#include "core/simd.h"

typedef struct vdd {
  vf64 hi, lo;
} vdd;

/* Without the instruction a fused multiply-add is a function of the C library. What calls it, and sums beside it, are
 * functions then: inlined, they make the codelets six times as long. */
#if defined(KUGEL_ISA_AVX512) || defined(KUGEL_ISA_AVX2) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#  define DD_WORD static inline
#else
#  define DD_WORD static __attribute__((noinline, unused))
#endif

/* a b + c, one rounding. */
DD_WORD vf64 v_fma(vf64 a, vf64 b, vf64 c)
{
#if defined(KUGEL_ISA_AVX512)
  return (vf64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(KUGEL_ISA_AVX2)
  return (vf64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  for (int i = 0; i < VLEN; i++)
    c[i] = __builtin_fma(a[i], b[i], c[i]);
  return c;
#endif
}

static inline vdd vdd_load(const double *p) /* high parts, then low parts */
{
  return (vdd){v_load(p), v_load(p + VLEN)};
}
static inline void vdd_store(double *p, vdd a)
{
  v_store(p, a.hi);
  v_store(p + VLEN, a.lo);
}
static inline vdd vdd_spread(const double *p)
{
  return (vdd){v_set(p[0]), v_set(p[1])};
}
static inline vdd MAKE_DD(double hi, double lo)
{
  return (vdd){v_set(hi), v_set(lo)};
}

static inline vdd vdd_quick(vf64 a, vf64 b) /* |a| >= |b| */
{
  vf64 s = a + b;
  return (vdd){s, b - (s - a)};
}
static inline vdd vdd_two_sum(vf64 a, vf64 b)
{
  vf64 s = a + b, t = s - a;
  return (vdd){s, (a - (s - t)) + (b - t)};
}
static inline vdd DD_NEG(vdd a)
{
  return (vdd){-a.hi, -a.lo};
}
DD_WORD vdd DD_ADD(vdd a, vdd b)
{
  vdd s = vdd_two_sum(a.hi, b.hi);
  return vdd_quick(s.hi, s.lo + (a.lo + b.lo));
}
static inline vdd DD_SUB(vdd a, vdd b)
{
  return DD_ADD(a, DD_NEG(b));
}
DD_WORD vdd DD_MUL(vdd a, vdd b)
{
  vf64 p = a.hi * b.hi;
  return vdd_quick(p, v_fma(a.hi, b.lo, v_fma(a.lo, b.hi, v_fma(a.hi, b.hi, -p))));
}
DD_WORD vdd DD_FMA(vdd a, vdd b, vdd c)
{
  vf64 p = a.hi * b.hi;
  vdd s = vdd_two_sum(c.hi, p);
  return vdd_quick(s.hi, v_fma(a.hi, b.lo, v_fma(a.lo, b.hi, v_fma(a.hi, b.hi, -p))) + (s.lo + c.lo));
}
static inline vdd DD_FMS(vdd a, vdd b, vdd c)
{
  return DD_FMA(a, b, DD_NEG(c));
}
static inline vdd DD_FNMA(vdd a, vdd b, vdd c)
{
  return DD_FMA(DD_NEG(a), b, c);
}

#endif
