/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/select.h"

double kugel__select(double *v, int64_t n, int64_t k)
{
  int64_t lo = 0, hi = n - 1;
  while (lo < hi) { // Hoare
    double pivot = v[lo + (hi - lo) / 2];
    int64_t i = lo, j = hi;
    while (i <= j) {
      while (v[i] < pivot)
        i++;
      while (v[j] > pivot)
        j--;
      if (i <= j) {
        double t = v[i];
        v[i++] = v[j];
        v[j--] = t;
      }
    }
    if (k <= j)
      hi = j;
    else if (k >= i)
      lo = i;
    else
      break;
  }
  return v[k];
}
