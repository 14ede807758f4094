/* SPDX-License-Identifier: BSD-3-Clause */
/* Slow truth in long double: spin-weighted harmonics by the recurrence of Wigner's d in l, and direct sums.
 */
#ifndef KUGEL_TESTS_REF_YLM_H
#define KUGEL_TESTS_REF_YLM_H

#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* lambda[l - 0] for l = 0 ... lmax (zero below max(m, s)): the theta part of -(E + iB) for spin s > 0 (of + a
 * for s = 0),
 * (-1)^m sqrt((2l+1)/4pi) d^l_{-m,s}(theta), any sign of m. Varshalovich et al. 1988, section 4.8. */
static inline void ref_lambda(int64_t lmax, int64_t m, int64_t s, long double theta, long double *lambda)
{
  int64_t a = -m, l0 = llabs(a) > llabs(s) ? llabs(a) : llabs(s); /* d^l_{a,s} */
  for (int64_t l = 0; l <= lmax; l++)
    lambda[l] = 0;
  if (l0 > lmax)
    return;
  long double c = cosl(theta / 2), n = sinl(theta / 2), x = cosl(theta);
  /* start: l0 = |a| or |s|; symmetries bring the large index first and positive */
  int64_t big = a, small = s;
  long double sign = 1;
  if (llabs(s) > llabs(a)) { /* d_{a,s} = (-1)^{a-s} d_{s,a} */
    big = s;
    small = a;
    sign = (a - s) % 2 ? -1 : 1;
  }
  if (big < 0) { /* d_{-a,-s} = (-1)^{a-s} d_{a,s} */
    sign *= (big - small) % 2 ? -1 : 1;
    big = -big;
    small = -small;
  }
  long double start = (l0 - small) % 2 ? -sign : sign;
  for (int64_t k = 1; k <= l0 - small; k++) /* sqrt(binomial(2 l0, l0 - small)) */
    start *= sqrtl((long double)(l0 + small + k) / (long double)k);
  start *= powl(c, (long double)(l0 + small)) * powl(n, (long double)(l0 - small));
  long double before = 0, now = start;
  for (int64_t l = l0; l <= lmax; l++) {
    lambda[l] = (m % 2 ? -1 : 1) * sqrtl((long double)(2 * l + 1) / (4 * M_PIl)) * now;
    long double L = (long double)l, up = sqrtl(((L + 1) * (L + 1) - (long double)(a * a)) *
                                               ((L + 1) * (L + 1) - (long double)(s * s)));
    long double down = sqrtl((L * L - (long double)(a * a)) * (L * L - (long double)(s * s)));
    long double next =
        l == 0 ? x * now /* a = s = 0 */
               : ((2 * L + 1) * (L * (L + 1) * x - (long double)(a * s)) * now - (L + 1) * down * before) /
                     (L * up);
    before = now;
    now = next;
  }
}

/* out[0] + i out[1] at one direction; b NULL with spin 0: out[0] only. alm in index order m (2 lmax + 1 - m)
 * / 2 + l. */
static inline void ref_point(int64_t lmax, int64_t mmax, int64_t spin, const double *e, const double *b,
                             long double theta, long double phi, long double out[2])
{
  long double *lambda = malloc((size_t)(lmax + 1) * sizeof *lambda);
  long double _Complex sum = 0;
  for (int64_t m = -mmax; m <= mmax; m++) {
    ref_lambda(lmax, m, spin, theta, lambda);
    int64_t k = llabs(m);
    long double _Complex f = 0;
    for (int64_t l = k; l <= lmax; l++) {
      int64_t at = 2 * (k * (2 * lmax + 1 - k) / 2 + l);
      long double _Complex ae = e[at] + (k ? e[at + 1] * 1.0Li : 0),
                           ab = b ? b[at] + (k ? b[at + 1] * 1.0Li : 0) : 0;
      if (m < 0) {
        ae = conjl(ae) * (k % 2 ? -1 : 1);
        ab = conjl(ab) * (k % 2 ? -1 : 1);
      }
      f += (spin ? -(ae + 1.0Li * ab) : ae) * lambda[l];
    }
    sum += f * cexpl(1.0Li * (long double)m * phi);
  }
  free(lambda);
  out[0] = creall(sum);
  out[1] = cimagl(sum);
}

#endif
