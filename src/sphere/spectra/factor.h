/* SPDX-License-Identifier: BSD-3-Clause */
/* Small dense systems: LU factors with row exchanges, solutions, an estimate of the condition number. */
#ifndef KUGEL_SPHERE_SPECTRA_FACTOR_H
#define KUGEL_SPHERE_SPECTRA_FACTOR_H

#include "core/base.h"

typedef struct kugel__lu {
  int64_t n;
  double *a;      /* [n][n] */
  int32_t *pivot; /* [n] row exchanged with row i */
  double norm;    /* largest sum of a column's moduli, before */
} kugel__lu;

/* Factors a in place. Returns the row at which the matrix is singular, or -1. */
int64_t kugel__lu_factor(kugel__lu *f);
/* x [n][columns]: A x = b, in place. */
void kugel__lu_solve(const kugel__lu *f, int64_t columns, double *x);
/* ||A||_1 times an estimate of ||A^-1||_1; work [2 n]. Source: Hager 1984, SIAM J. Sci. Stat. Comput. 5, 311. */
double kugel__lu_condition(const kugel__lu *f, double *work);

#endif
