/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolutions of volumes by their definition in kugel/volume.h, in long double. */
#ifndef KUGEL_TESTS_VOLUME_TRUTH_H
#define KUGEL_TESTS_VOLUME_TRUTH_H

#include <complex.h>
#include <string.h>
#include <kugel/volume.h>

static inline double complex complex_of(double re, double im) /* clang 14 has no CMPLX */
{
  const double parts[2] = {re, im};
  double complex z;
  memcpy(&z, parts, sizeof z);
  return z;
}

typedef struct problem {
  int64_t n[3], k[3], centre[3]; /* leading ones are 1 */
  kugel_conv_extent extent;
  kugel_boundary boundary;
  int correlate, complex_data;
} problem;

static inline int64_t product3(const int64_t *n)
{
  return n[0] * n[1] * n[2];
}

/* Lengths of the results, and the first one's place in the image. */
static inline void truth_shape(const problem *p, int64_t *m, int64_t *first)
{
  for (int d = 0; d < 3; d++) {
    int64_t reach = p->correlate ? p->k[d] - 1 - p->centre[d] : p->centre[d];
    m[d] = p->extent == KUGEL_CONV_SAME   ? p->n[d]
           : p->extent == KUGEL_CONV_FULL ? p->n[d] + p->k[d] - 1
                                          : p->n[d] - p->k[d] + 1;
    first[d] = p->extent == KUGEL_CONV_SAME ? 0 : (p->extent == KUGEL_CONV_FULL ? 0 : p->k[d] - 1) - reach;
  }
}

/* The datum that the boundary puts at i, or -1: zero. */
static inline int64_t truth_inside(kugel_boundary b, int64_t i, int64_t n)
{
  if (i >= 0 && i < n)
    return i;
  switch (b) {
  case KUGEL_BOUNDARY_REPLICATE:
    return i < 0 ? 0 : n - 1;
  case KUGEL_BOUNDARY_REFLECT:
    while (i < 0 || i >= n)
      i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return i;
  case KUGEL_BOUNDARY_PERIODIC:
    while (i < 0 || i >= n)
      i += i < 0 ? n : -n;
    return i;
  default:
    return -1;
  }
}

/* *part: of the kernel's sum that met the image; 1 unless the boundary is unknown. */
static inline long double complex truth_result(const problem *p, const double complex *x,
                                               const double complex *h, const int64_t *o, double *part)
{
  long double complex sum = 0;
  long double met = 0, all = 0;
  int64_t j[3];
  for (j[0] = 0; j[0] < p->k[0]; j[0]++)
    for (j[1] = 0; j[1] < p->k[1]; j[1]++)
      for (j[2] = 0; j[2] < p->k[2]; j[2]++) {
        long double complex f = h[(j[0] * p->k[1] + j[1]) * p->k[2] + j[2]];
        int64_t at = 0;
        for (int d = 0; d < 3 && at >= 0; d++) {
          int64_t shift = p->centre[d] - j[d];
          int64_t i = truth_inside(p->boundary, o[d] + (p->correlate ? -shift : shift), p->n[d]);
          at = i < 0 ? -1 : at * p->n[d] + i;
        }
        all += creall(f);
        if (at < 0)
          continue;
        met += creall(f);
        sum += (p->correlate ? conjl(f) : f) * x[at];
      }
  *part = 1;
  if (p->boundary != KUGEL_BOUNDARY_UNKNOWN)
    return sum;
  *part = (double)fabsl(met / all);
  return fabsl(met / all) < 0.01L ? 0 : sum / (met / all);
}

static inline void truth(const problem *p, const double complex *x, const double complex *h,
                         double complex *y, double *part)
{
  int64_t m[3], first[3], i[3];
  truth_shape(p, m, first);
  for (i[0] = 0; i[0] < m[0]; i[0]++)
    for (i[1] = 0; i[1] < m[1]; i[1]++)
      for (i[2] = 0; i[2] < m[2]; i[2]++) {
        int64_t o[3] = {i[0] + first[0], i[1] + first[1], i[2] + first[2]};
        int64_t at = (i[0] * m[1] + i[1]) * m[2] + i[2];
        y[at] = (double complex)truth_result(p, x, h, o, part + at);
      }
}

#endif
