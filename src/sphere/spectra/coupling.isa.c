/* SPDX-License-Identifier: BSD-3-Clause */
/* A diagonal of the couplings: lanes are consecutive l. See coupling.h for the formulas. */
#include <math.h>
#include "core/simd.h"
#include "sphere/spectra/coupling.h"

enum { MOST_SPIN = KUGEL_COUPLING_MAX_SPIN };
#define INLINE static inline __attribute__((always_inline))

/* Q_s, or with `odd` the polynomial of odd l + l' + k; c2[m] = C_m^2. */
INLINE vf64 polynomial(int s, int odd, vf64 x, const vf64 *c2)
{
  vf64 before = odd ? (vf64){0} : v_set(1), q = odd ? v_set(-0.5) : -0.5 * x;
  if (!s)
    return before;
  for (int m = 1; m < s; m++) {
    vf64 next = -(x - (double)(2 * m * m)) * q - c2[m - 1] * before;
    before = q;
    q = next;
  }
  return q;
}

/* The sums of `groups` vectors of l from l0 on. f is the set of families; all of these but t, d, l0 are constants. */
INLINE void block(const kugel__coupling_tables *t, int64_t d, int64_t l0, int groups, int s1, int s2,
                  unsigned f, const double *even, int64_t n_even, const double *odd, int64_t n_odd,
                  double *const out[])
{
  enum { GROUPS = 4 };
  vf64 c2[GROUPS][MOST_SPIN + 1], lam[GROUPS], sum[GROUPS][KUGEL__FAMILIES] = {{{0}}};
  int most = s1 > s2 ? s1 : s2;
  bool spins = f & (KUGEL_COUPLING_0S | KUGEL_COUPLING_PLUS | KUGEL_COUPLING_MINUS);
  for (int g = 0; g < groups; g++) {
    vf64 l, a, b;
    for (int i = 0; i < VLEN; i++)
      l[i] = (double)(l0 + g * VLEN + i);
    a = l * (l + 1);
    b = (l + (double)d) * (l + (double)(d + 1));
    lam[g] = a + b;
    for (int m = 0; m < most; m++)
      c2[g][m] = (a - (double)(m * (m + 1))) * (b - (double)(m * (m + 1)));
  }
  int64_t end = kugel__min(l0 + groups * VLEN, n_even);
  const double *p = t->p + l0, *r = t->r + l0 + d;
  if (f & (KUGEL_COUPLING_00 | KUGEL_COUPLING_0S | KUGEL_COUPLING_PLUS))
    for (int64_t j = 0; j < end; j++) {
      double k = (double)(d + 2 * j), e = k * (k + 1);
      vf64 w = v_set(even[j]);
      for (int g = 0; g < groups; g++) {
        vf64 u = w * v_load(p - j + g * VLEN) * v_load(r + j + g * VLEN);
        if (f & KUGEL_COUPLING_00)
          sum[g][0] += u;
        if (!spins)
          continue;
        vf64 x = lam[g] - e, q2 = polynomial(s2, 0, x, c2[g]);
        if (f & KUGEL_COUPLING_0S)
          sum[g][1] += u * q2;
        if (f & KUGEL_COUPLING_PLUS)
          sum[g][2] += u * q2 * (s1 == s2 ? q2 : polynomial(s1, 0, x, c2[g]));
      }
    }
  end = kugel__min(l0 + groups * VLEN - 1, n_odd);
  p = t->p_odd + l0;
  r = t->r_odd + l0 + d;
  if (f & KUGEL_COUPLING_MINUS)
    for (int64_t j = 0; j < end; j++) {
      double k = (double)(d + 2 * j + 1), e = k * (k + 1);
      vf64 w = v_set(odd[j]);
      for (int g = 0; g < groups; g++) {
        vf64 u = w * v_load(p - j + g * VLEN) * v_load(r + j + g * VLEN);
        vf64 x = lam[g] - e, q2 = polynomial(s2, 1, x, c2[g]);
        sum[g][3] += u * q2 * (s1 == s2 ? q2 : polynomial(s1, 1, x, c2[g]));
      }
    }
  for (int g = 0; g < groups; g++)
    for (int i = 0; i < VLEN; i++) {
      int64_t l = l0 + g * VLEN + i;
      double d1 = 1, d2 = 1;
      for (int m = 0; m < s1; m++)
        d1 *= c2[g][m][i];
      for (int m = 0; m < s2; m++)
        d2 *= c2[g][m][i];
      d1 = l < s1 ? 0 : 1 / sqrt(d1); /* no harmonics below the spin */
      d2 = l < s2 ? 0 : 1 / sqrt(d2);
      double both = (s1 + s2) % 2 ? -d1 * d2 : d1 * d2;
      int at = 0;
      if (f & KUGEL_COUPLING_00)
        out[at++][l] = sum[g][0][i];
      if (f & KUGEL_COUPLING_0S)
        out[at++][l] = s2 % 2 ? -d2 * sum[g][1][i] : d2 * sum[g][1][i];
      if (f & KUGEL_COUPLING_PLUS)
        out[at++][l] = both * sum[g][2][i];
      if (f & KUGEL_COUPLING_MINUS)
        out[at++][l] = both * sum[g][3][i];
    }
}

INLINE void whole(const kugel__coupling_tables *t, int64_t d, int groups, int s1, int s2, unsigned f,
                  double *b, double *const out[])
{
  int64_t n = t->lmax - d + 1, n_even = t->lmax_mask < d ? 0 : (t->lmax_mask - d) / 2 + 1,
          n_odd = t->lmax_mask < d + 1 ? 0 : (t->lmax_mask - d - 1) / 2 + 1;
  n_even = kugel__min(n_even, n);
  n_odd = kugel__min(n_odd, n);
  double *odd = b + n;
  for (int64_t j = 0; j < n_even; j++)
    b[j] = t->w[d + 2 * j] * t->p[j] * t->p[d + j];
  for (int64_t j = 0; j < n_odd; j++)
    odd[j] =
        t->w[d + 2 * j + 1] * ((double)(2 * j + 1) * t->p[j]) * ((double)(2 * (d + j) + 1) * t->p[d + j]);
  for (int64_t l = 0; l < n; l += groups * VLEN)
    block(t, d, l, groups, s1, s2, f, b, n_even, odd, n_odd, out);
}

/* Few sums at a time, so that they stay in registers. */
static void diagonal(const kugel__coupling_tables *t, int64_t d, int s1, int s2, unsigned f, double *b,
                     double *const out[KUGEL__FAMILIES])
{
  enum {
    ZERO = KUGEL_COUPLING_00,
    SPIN = KUGEL_COUPLING_0S,
    BOTH = KUGEL_COUPLING_PLUS | KUGEL_COUPLING_MINUS
  };
  unsigned scalar = f & (ZERO | SPIN), spins = f & BOTH;
  if (scalar == ZERO)
    whole(t, d, 4, 0, 0, ZERO, b, out);
  else if (scalar == SPIN && s2 == 2)
    whole(t, d, 4, 0, 2, SPIN, b, out);
  else if (scalar == (ZERO | SPIN) && s2 == 2)
    whole(t, d, 4, 0, 2, ZERO | SPIN, b, out);
  else if (scalar)
    whole(t, d, 1, 0, s2, scalar, b, out);
  out += __builtin_popcount(scalar);
  if (spins == BOTH && s1 == 2 && s2 == 2)
    whole(t, d, 2, 2, 2, BOTH, b, out);
  else if (spins)
    whole(t, d, 1, s1, s2, spins, b, out);
}

extern const kugel__coupling_ops ISA_NAME(kugel__coupling_ops);
const kugel__coupling_ops ISA_NAME(kugel__coupling_ops) = {diagonal};
