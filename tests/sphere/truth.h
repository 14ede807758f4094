/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of every mode as direct sums in long double, random coefficients, inner products. */
#ifndef KUGEL_TESTS_TRUTH_H
#define KUGEL_TESTS_TRUTH_H

#include "check.h"
#include "ref/ylm.h"
#include <kugel/sphere.h>

static uint64_t seed = 1;

// Random alm [sets][nalm]; zero below `lowest`, real at m = 0.
static inline double *random_alm(int sets, int64_t lmax, int64_t mmax, const int *lowest)
{
  int64_t nalm = (mmax + 1) * (lmax + 1) - mmax * (mmax + 1) / 2;
  double *a = calloc((size_t)(sets * nalm * 2), 8);
  for (int c = 0; c < sets; c++)
    for (int64_t m = 0; m <= mmax; m++)
      for (int64_t l = m; l <= lmax; l++) {
        double *v = a + 2 * (c * nalm + m * (2 * lmax + 1 - m) / 2 + l);
        if (l >= lowest[c]) {
          v[0] = check_random(&seed);
          v[1] = m ? check_random(&seed) : 0;
        }
      }
  return a;
}

static inline double alm_dot(int sets, int64_t nalm, int64_t lmax, const double *a, const double *b)
{
  long double sum = 0;
  for (int c = 0; c < sets; c++)
    for (int64_t i = 0; i < 2 * nalm; i++)
      sum += (i < 2 * (lmax + 1) ? 1 : 2) * (long double)a[2 * c * nalm + i] * b[2 * c * nalm + i];
  return (double)sum;
}

static inline double dot(int64_t n, const double *a, const double *b)
{
  long double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += (long double)a[i] * b[i];
  return (double)sum;
}

typedef struct shape {
  int alm, map, lowest[3];
} shape;

static inline shape shape_of(kugel_sht_mode mode, int spin)
{
  switch (mode) {
  case KUGEL_SHT_SCALAR:
    return (shape){1, 1, {0}};
  case KUGEL_SHT_SPIN:
    return (shape){2, 2, {spin, spin}};
  case KUGEL_SHT_TEB:
    return (shape){3, 3, {0, 2, 2}};
  case KUGEL_SHT_GRAD:
    return (shape){1, 2, {0}};
  default:
    return (shape){1, 3, {0}};
  }
}

// The value of map c at a direction by direct summation.
static inline void truth(kugel_sht_mode mode, int spin, int64_t lmax, int64_t mmax, const double *alm,
                         int64_t nalm, double theta, double phi, double *out)
{
  long double v[2];
  int at = 0;
  if (mode == KUGEL_SHT_SCALAR || mode == KUGEL_SHT_TEB || mode == KUGEL_SHT_DER1) {
    ref_point(lmax, mmax, 0, alm, NULL, theta, phi, v);
    out[at++] = (double)v[0];
  }
  if (mode == KUGEL_SHT_SPIN || mode == KUGEL_SHT_TEB) {
    const double *e = alm + (mode == KUGEL_SHT_TEB ? 2 * nalm : 0);
    ref_point(lmax, mmax, mode == KUGEL_SHT_TEB ? 2 : spin, e, e + 2 * nalm, theta, phi, v);
    out[at++] = (double)v[0];
    out[at++] = (double)v[1];
  }
  if (mode == KUGEL_SHT_GRAD || mode == KUGEL_SHT_DER1) { // spin 1 with E = sqrt(l(l+1)) a
    double *scaled = calloc((size_t)nalm * 2, 8);
    for (int64_t m = 0; m <= mmax; m++)
      for (int64_t l = m; l <= lmax; l++)
        for (int k = 0; k < 2; k++) {
          int64_t i = 2 * (m * (2 * lmax + 1 - m) / 2 + l) + k;
          scaled[i] = alm[i] * sqrt((double)l * (double)(l + 1));
        }
    ref_point(lmax, mmax, 1, scaled, NULL, theta, phi, v);
    free(scaled);
    out[at++] = (double)v[0];
    out[at++] = (double)v[1];
  }
}

#endif
