/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of coupling.h. */
#include <math.h>
#include "sphere/spectra/coupling.h"

int kugel__coupling_count(unsigned families)
{
  return __builtin_popcount(families);
}

/* In long double, rounded once. */
void kugel__coupling_fill(int64_t lmax, double *p, double *r, double *p_odd, double *r_odd)
{
  long double v = 1;
  for (int64_t j = 0; j <= 2 * lmax; j++) {
    long double inverse = 1 / ((long double)(2 * j + 1) * v);
    if (j <= lmax) {
      p[j] = (double)v;
      p_odd[j] = (double)((long double)(2 * j) * v);
    }
    r[j] = (double)inverse;
    r_odd[j] = (double)((long double)(2 * (j + 1)) * inverse);
    v *= (long double)(2 * j + 1) / (long double)(2 * j + 2);
  }
}

void kugel__coupling_spectrum(int64_t lmax_mask, const double *mask_cl, double *w)
{
  for (int64_t k = 0; k <= lmax_mask; k++)
    w[k] = (double)(2 * k + 1) / (4 * M_PI) * mask_cl[k];
}
