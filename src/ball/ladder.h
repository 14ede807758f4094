/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps of a row of coefficients from degree l to another, closed in n terms. */
#ifndef KUGEL_BALL_LADDER_H
#define KUGEL_BALL_LADDER_H

#include "core/base.h"

/* Numbered as in kernels/series.cl. */
typedef enum kugel__ladder {
  KUGEL__LADDER_SAME,      /* f, l to l */
  KUGEL__LADDER_RAISE,     /* f' - l f / r, l to l + 1 */
  KUGEL__LADDER_LOWER,     /* f' + (l + 1) f / r, l to l - 1, l >= 1 */
  KUGEL__LADDER_LAPLACIAN, /* f'' + 2 f' / r - l (l + 1) f / r^2: RAISE, then LOWER */
  KUGEL__LADDER_UP,        /* r f, l to l + 1 */
  KUGEL__LADDER_DOWN       /* r f, l to l - 1, l >= 1, less the term n */
} kugel__ladder;

enum { KUGEL__LADDER_TABLE = 8 /* numbers of a table for each term of a row */ };

/* The entries of the matrices of a map of n terms from degree l; a, shift: Jacobi parameters a, b = l + shift. */
void kugel__ladder_table(kugel__ladder kind, double a, double shift, int64_t l, int64_t n, double *table);
/* out += factor op(in), or the transpose of it, for a row of n complex numbers; work has room for 2 of them. */
void kugel__ladder_add(kugel__ladder kind, bool transposed, double shift, int64_t n, const double *table,
                       double factor, const double *in, double *out, double *work);

#endif
