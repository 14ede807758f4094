/* SPDX-License-Identifier: BSD-3-Clause */
/* Vector pieces of the Legendre kernels, for *.isa.c only. A value of a recurrence is v 2^(800 s): while s <
 * 0 it is below 2^-150, too small to matter, and only the recurrence runs. Scales are looked at every four
 * steps. */
#ifndef KUGEL_SPHERE_LEGENDRE_VEC_H
#define KUGEL_SPHERE_LEGENDRE_VEC_H

#include "core/simd.h"
#include "sphere/legendre/plan.h"

#define INLINE static inline __attribute__((always_inline))

#define KUGEL__SHIFT 0x1p-800
#define KUGEL__LARGE 0x1p650 /* of v: there a value with s = -1 is 2^SMALLEST */
enum { STEP = 800, SMALLEST = -150 };

// 2^f for |f| <= 1/2 by its Taylor series: error below 1 ulp.
INLINE vf64 exp2_small(vf64 f)
{
  static const double c[] = {1.0,
                             0.69314718055994530942,
                             0.24022650695910071233,
                             0.055504108664821579953,
                             0.0096181291076284771620,
                             0.0013333558146428443423,
                             1.5403530393381609954e-4,
                             1.5252733804059840280e-5,
                             1.3215486790144309488e-6,
                             1.0178086009239699727e-7,
                             7.0549116208011233299e-9,
                             4.4455382718708114976e-10,
                             2.5678435993488205141e-11,
                             1.3691488853904128881e-12};
  vf64 r = v_set(c[13]);
  for (int i = 12; i >= 0; i--)
    r = r * f + c[i];
  return r;
}

INLINE vf64 round_vec(vf64 x) // |x| < 2^51
{
  vf64 magic = v_set(0x1.8p52);
  return (x + magic) - magic;
}

// 2^e for integers e, -1022 <= e <= 1023
INLINE vf64 pow2_vec(vf64 e)
{
  vi64 bits = (vi64)(e + 0x1.8p52) - (vi64)v_set(0x1.8p52);
  return (vf64)((bits + 1023) << 52);
}

/* log2 of base^power, power < 2^26, added to an integer n and a rest f; (hi, lo) is log2 of the base. */
INLINE void add_power(const double *hi, const double *lo, double power, vf64 *n, vf64 *f)
{
  vf64 h = v_load(hi), product = h * power, k = round_vec(product);
#if VLEN > 2 || defined(__ARM_FEATURE_FMA)
  vf64 rest = h * power - k; // contracts to an exact fused product
#else
  vf64 t = h * 0x1.0000002p27, h1 = t - (t - h), h2 = h - h1; // h1 * power is exact
  vf64 rest = (h1 * power - k) + h2 * power;
#endif
  *n += k;
  *f += rest + v_load(lo) * power;
}

// 2^(n + f) as v 2^(800 s), s <= 0: values below 2^SMALLEST get s < 0.
INLINE void scaled_exp2(vf64 n, vf64 f, vf64 *value, vf64 *scale)
{
  vf64 r = round_vec(f);
  n += r;
  vi64 under = n < (double)SMALLEST; // scale up, to 2^-150 ... 2^650
  vf64 s = v_select(under, -round_vec((SMALLEST - n) * (1.0 / STEP) + 0.5), v_set(0));
  vf64 e = n - s * (double)STEP;
  vi64 lost = e < -1000.0;
  e = v_select(lost, v_set(-1000), e);
  *value = exp2_small(f - r) * pow2_vec(e);
  *scale = s;
}

// Lifts values that have grown into range.
INLINE void rescale(vf64 *q0, vf64 *q1, vf64 *s)
{
  vi64 lift = (v_abs(*q1) > KUGEL__LARGE) & (*s < 0.0);
  if (!v_any(lift))
    return;
  *q0 = v_select(lift, *q0 * KUGEL__SHIFT, *q0);
  *q1 = v_select(lift, *q1 * KUGEL__SHIFT, *q1);
  *s = v_select(lift, *s + 1.0, *s);
}

INLINE int all_small(const vf64 *s, int nv)
{
  vi64 ready = s[0] >= 0.0;
  for (int i = 1; i < nv; i++)
    ready |= s[i] >= 0.0;
  return !v_any(ready);
}
INLINE int any_small(const vf64 *s, int nv)
{
  vi64 small = s[0] < 0.0;
  for (int i = 1; i < nv; i++)
    small |= s[i] < 0.0;
  return v_any(small);
}

/* The first `have` lanes, all for have >= VLEN, none for have <= 0. */
static __attribute__((noinline, unused)) void store_part(double *to, const vf64 *v, int64_t have)
{
  for (int64_t i = 0; i < have && i < VLEN; i++)
    to[i] = (*v)[i];
}
static __attribute__((noinline, unused)) void load_part(vf64 *v, const double *from, int64_t have)
{
  for (int64_t i = 0; i < have && i < VLEN; i++)
    (*v)[i] = from[i];
}
INLINE void store(double *to, vf64 v, int64_t have)
{
  if (have >= VLEN)
    v_store(to, v);
  else
    store_part(to, &v, have);
}
INLINE vf64 load(const double *from, int64_t have)
{
  if (have >= VLEN)
    return v_load(from);
  vf64 v = {0};
  load_part(&v, from, have);
  return v;
}

/* Spin maps at one vector of pairs, a: map1 + i map2 of north and of south, map1 - i map2; each re, im. */
INLINE void store_maps(const kugel__wigner_job *j, double south, int64_t p, const vf64 *a)
{
  int64_t have = j->p1 - p, row = j->row;
  for (int half = 0; half < 2; half++) {
    const vf64 *plus = a + 2 * half, *minus = plus + 4;
    double *map1 = j->rows[0] + 2 * half * row + p - j->p0, *map2 = j->rows[1] + 2 * half * row + p - j->p0;
    double sign = half ? south : 1;
    store(map1, (plus[0] + minus[0]) * sign, have);
    store(map1 + row, (plus[1] + minus[1]) * sign, have);
    store(map2, (plus[1] - minus[1]) * sign, have);
    store(map2 + row, (minus[0] - plus[0]) * sign, have);
  }
}
INLINE void load_maps(const kugel__wigner_job *j, double south, int64_t p, vf64 *a)
{
  int64_t have = j->p1 - p, row = j->row;
  for (int half = 0; half < 2; half++) {
    vf64 *plus = a + 2 * half, *minus = plus + 4;
    const double *map1 = j->rows[0] + 2 * half * row + p - j->p0,
                 *map2 = j->rows[1] + 2 * half * row + p - j->p0;
    double sign = half ? south : 1;
    vf64 re1 = load(map1, have), im1 = load(map1 + row, have), re2 = load(map2, have),
         im2 = load(map2 + row, have);
    plus[0] = (re1 - im2) * sign;
    plus[1] = (im1 + re2) * sign;
    minus[0] = (re1 + im2) * sign;
    minus[1] = (im1 - re2) * sign;
  }
}

/* out[i] = sum of the lanes of v[i], in pairs: the same order for a given VLEN. */
INLINE void sum_lanes(const vf64 *v, int64_t n, double *out)
{
  int64_t i = 0;
#if VLEN == 8
  for (; i + 8 <= n; i += 8) { // a transpose with sums on the way
    vf64 a[8], b[4], c[2];
    for (int k = 0; k < 4; k++) {
      vf64 x = v[i + 2 * k], y = v[i + 2 * k + 1];
      a[k] =
          (vf64)_mm512_unpacklo_pd((__m512d)x, (__m512d)y) + (vf64)_mm512_unpackhi_pd((__m512d)x, (__m512d)y);
    }
    for (int k = 0; k < 2; k++) {
      __m512d x = (__m512d)a[2 * k], y = (__m512d)a[2 * k + 1];
      b[k] = (vf64)_mm512_permutex2var_pd(x, _mm512_set_epi64(13, 12, 9, 8, 5, 4, 1, 0), y) +
             (vf64)_mm512_permutex2var_pd(x, _mm512_set_epi64(15, 14, 11, 10, 7, 6, 3, 2), y);
    }
    c[0] = (vf64)_mm512_permutex2var_pd((__m512d)b[0], _mm512_set_epi64(13, 12, 9, 8, 5, 4, 1, 0),
                                        (__m512d)b[1]);
    c[1] = (vf64)_mm512_permutex2var_pd((__m512d)b[0], _mm512_set_epi64(15, 14, 11, 10, 7, 6, 3, 2),
                                        (__m512d)b[1]);
    v_store(out + i, c[0] + c[1]);
  }
#endif
  for (; i < n; i++)
    out[i] = v_sum(v[i]);
}

// out[i] += sum of the lanes of v[i]
INLINE void add_lanes(const vf64 *v, int64_t n, double *out)
{
  enum { PART = 32 };
  double sums[PART];
  for (int64_t i = 0; i < n; i += PART) {
    int64_t count = n - i < PART ? n - i : PART;
    sum_lanes(v + i, count, sums);
    for (int64_t k = 0; k < count; k++)
      out[i + k] += sums[k];
  }
}

#endif
