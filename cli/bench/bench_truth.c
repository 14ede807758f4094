/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct sums that share nothing with the library: Wigner's d in long double, degree by degree.
 * sY_lm = (-1)^s sqrt((2l+1)/4pi) d^l_{m,-s}(theta) e^{i m phi}; three-term recurrence in l of Kostelec &
 * Rockmore (2008), eq. 2.7. map1 + i map2 = -sum (E + i B) sY_lm for s > 0; sum a Y_lm for s = 0. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include "bench/bench.h"

/* d^l_{m,k} at l = max(|m|, |k|), k = -s. */
static long double wigner_start(int64_t m, int64_t s, long double half)
{
  int64_t j = llabs(m) > s ? llabs(m) : s, k;
  int sign = 1;
  if (m >= s) { /* d_{j,-s} */
    k = -s;
  } else if (m <= -s) { /* d_{-j,-s} = (-1)^(s-j) d_{j,s} */
    k = s;
    sign = (s - j) % 2 ? -1 : 1;
  } else { /* d_{m,-s} = d_{s,-m} */
    k = -m;
  }
  if ((j - k) % 2) /* d_{j,k} = sqrt(binomial) cos^(j+k) (-sin)^(j-k) */
    sign = -sign;
  long double log_size = 0.5L * (lgammal(2 * j + 1) - lgammal(j + k + 1) - lgammal(j - k + 1)) +
                         (long double)(j + k) * logl(cosl(half)) + (long double)(j - k) * logl(sinl(half));
  return sign * expl(log_size);
}

/* sum over l of (a_l + i b_l) sqrt((2l+1)/4pi) d^l_{m,-s} for one m of either sign. */
static long double _Complex one_m(int64_t m, int spin, int64_t lmax, const double _Complex *a,
                                  const double _Complex *b, long double theta)
{
  int64_t mm = llabs(m), s = spin, l0 = mm > s ? mm : s;
  const int64_t row = mm * (2 * lmax + 1 - mm) / 2;
  long double x = cosl(theta), before = 0, d = wigner_start(m, s, theta / 2);
  long double _Complex sum = 0;
  for (int64_t l = l0; l <= lmax; l++) {
    long double _Complex e = a[row + l], i_b = b ? I * (long double _Complex)b[row + l] : 0;
    if (m == 0) {
      e = creall(e);
      i_b = b ? I * creall((long double _Complex)b[row + l]) : 0;
    }
    if (m < 0) { /* of a real field */
      e = conjl(e);
      i_b = b ? I * conjl((long double _Complex)b[row + l]) : 0;
      if (mm % 2) {
        e = -e;
        i_b = -i_b;
      }
    }
    sum += sqrtl((2 * l + 1) / (4 * M_PIl)) * d * (e + i_b);
    long double p = (long double)(l + 1), q = (long double)l;
    long double up = sqrtl((p * p - m * m) * (p * p - s * s));
    long double shift = l ? (long double)(-m * s) / (q * p) : 0;
    long double back = l ? sqrtl((q * q - m * m) * (q * q - s * s)) * p / (q * up) : 0;
    long double next = p * (2 * q + 1) / up * (x - shift) * d - back * before;
    before = d;
    d = next;
  }
  return sum;
}

int bench_direct_sum(int spin, int64_t lmax, const double _Complex *a, const double _Complex *b, double theta,
                     int n_phi, const double *phi, long double *map1, long double *map2)
{
  for (int i = 0; i < n_phi; i++) {
    map1[i] = 0;
    if (map2)
      map2[i] = 0;
  }
  for (int64_t m = spin ? -lmax : 0; m <= lmax; m++) {
    if (interrupted())
      return fail_interrupted();
    long double _Complex f = one_m(m, spin, lmax, a, b, theta);
    if (spin)
      f *= spin % 2 ? 1 : -1; /* -(-1)^s */
    for (int i = 0; i < n_phi; i++) {
      long double _Complex z = f * cexpl(I * (long double)m * (long double)phi[i]);
      if (spin) {
        map1[i] += creall(z);
        map2[i] += cimagl(z);
      } else {
        map1[i] += (m ? 2 : 1) * creall(z);
      }
    }
  }
  return EXIT_DONE;
}
