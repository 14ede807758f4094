/* SPDX-License-Identifier: BSD-3-Clause */
/* Sparse operators, boundary rows and Galerkin stencils for equations in radius on Jones-Worland functions.
 *
 *   kugel_worland_basis basis = {sizeof basis, .l = 3, .n = 65};
 *   int64_t lower, upper;
 *   kugel_worland_band(NULL, &basis, KUGEL_WORLAND_I2_SPH_LAPL, &lower, &upper, NULL);        // 1 and 1
 *   double *band = malloc(sizeof(double) * 65 * (lower + upper + 1)), row[65];
 *   kugel_worland_band(NULL, &basis, KUGEL_WORLAND_I2_SPH_LAPL, &lower, &upper, band);
 *   kugel_worland_boundary(&basis, KUGEL_WORLAND_VALUE, row);
 *
 * A band is stored by diagonals: element (i, i + d - lower) at [d * n + i], d = 0 ... lower + upper, zero beyond the matrix. The
 * diagonals of a band of at most three are those that <kugel/banded.h> takes.
 *
 * Quasi-inverses. With f = r^l p(x), x = 2 r^2 - 1, I_k f is r^l times the k-fold integral of p over x without its coefficients of
 * n < k. I_k undoes k derivatives up to those rows, so I_k times a differential operator is a narrow band, with k rows of zeros.
 * A Laplacian lowers the degree of p by one and has one condition at r = 1. For n coefficients therefore take matrices of n + 1, keep rows
 * 2 ... n and columns 0 ... n - 1, and put the boundary row on top. Its square: matrices of n + 2, rows 4 ... n + 1, two boundary rows. With a
 * stencil S, whose columns satisfy the conditions, the matrix times S is square without boundary rows.
 *
 * Elements are computed in double-double and rounded once, for any n. Nothing is kept; any number of threads may call.
 */
#ifndef KUGEL_WORLAND_H
#define KUGEL_WORLAND_H

#include <kugel/polynomial.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kugel_worland_basis {
  size_t size; /* sizeof(kugel_worland_basis) */
  kugel_worland_type type;
  kugel_worland_norm norm;
  double a, shift; /* of type KUGEL_WORLAND_JACOBI, as in kugel_jwt_opts */
  int64_t l;       /* 0 to 2^20: degree of the result */
  int64_t n;       /* 1 to 2^20 coefficients */
} kugel_worland_basis;

typedef enum kugel_worland_operator {
  KUGEL_WORLAND_TIMES_R2 = 0,   /* r^2 f, 3 diagonals */
  KUGEL_WORLAND_TIMES_R_UP = 1, /* r f of degree l - 1 (l >= 1), 2 diagonals */
  KUGEL_WORLAND_TIMES_R_DOWN = 2, /* r f of degree l + 1, 2 diagonals */
  KUGEL_WORLAND_QI1 = 3,        /* quasi-inverses: 3, 5, 9 diagonals */
  KUGEL_WORLAND_QI2 = 4,
  KUGEL_WORLAND_QI4 = 5,
  KUGEL_WORLAND_I2_SPH_LAPL = 6,  /* of f'' + 2 f' / r - l (l + 1) f / r^2: 3, 7, 5 diagonals */
  KUGEL_WORLAND_I4_SPH_LAPL = 7,
  KUGEL_WORLAND_I4_SPH_LAPL2 = 8, /* of its square */
  KUGEL_WORLAND_I2_CYL_LAPL = 9,  /* of f'' + f' / r - l^2 f / r^2 */
  KUGEL_WORLAND_I4_CYL_LAPL = 10,
  KUGEL_WORLAND_I4_CYL_LAPL2 = 11,
  KUGEL_WORLAND_I1_QM = 12, /* of f' - (l - 1) f / r, f of degree l - 1 (l >= 1): 2, 4, 8 diagonals */
  KUGEL_WORLAND_I2_QM = 13,
  KUGEL_WORLAND_I4_QM = 14,
  KUGEL_WORLAND_I1_QP = 15, /* of f' + (l + 2) f / r, f of degree l + 1: 2, 4, 8 diagonals */
  KUGEL_WORLAND_I2_QP = 16,
  KUGEL_WORLAND_I4_QP = 17
} kugel_worland_operator;

typedef enum kugel_worland_condition { /* at r = 1 */
  KUGEL_WORLAND_VALUE = 0,      /* f */
  KUGEL_WORLAND_SLOPE = 1,      /* f' */
  KUGEL_WORLAND_CURVATURE = 2,  /* f'' */
  KUGEL_WORLAND_INSULATING = 3, /* f' + (l + 1) f: a poloidal field continued by a potential */
  KUGEL_WORLAND_STRESS_FREE = 4 /* f' - f = r (f / r)': a toroidal flow */
} kugel_worland_condition;

/// A sparse operator, n x n.
/// @param[in]  ctx    NULL: the default context; its allocator holds the work space
/// @param[in]  basis  see kugel_worland_basis
/// @param[in]  op     one of kugel_worland_operator
/// @param[out] lower  diagonals below the main one; negative: the band begins above it
/// @param[out] upper  diagonals above the main one
/// @param[out] band   (lower + upper + 1) n numbers, see the top of this file; NULL: only lower and upper
/// @errors KUGEL_EINVAL for values out of range, and l = 0 for operators that need l >= 1; KUGEL_ENOMEM
/// @accuracy each element to the last bit
/// @cost   a microsecond per row
/// @cite   Livermore2007, Marti2016 (quasi-inverses on Jones-Worland functions)
KUGEL_API kugel_status kugel_worland_band(kugel_ctx *ctx, const kugel_worland_basis *basis, kugel_worland_operator op,
                                          int64_t *lower, int64_t *upper, double *band);

/// A boundary row: a condition at r = 1 of each function.
/// @param[in]  basis      see kugel_worland_basis
/// @param[in]  condition  one of kugel_worland_condition
/// @param[out] row        n numbers
/// @errors KUGEL_EINVAL
/// @accuracy each element to the last bit
KUGEL_API kugel_status kugel_worland_boundary(const kugel_worland_basis *basis, kugel_worland_condition condition, double *row);

/// A Galerkin stencil, n x (n - conditions): columns W_j + s_1 W_{j+1} + ... that satisfy one or two conditions.
/// @param[in]  basis       see kugel_worland_basis; n > conditions
/// @param[in]  conditions  1 or 2
/// @param[in]  condition   `conditions` of kugel_worland_condition
/// @param[out] stencil     (conditions + 1) (n - conditions) numbers: element (j + d, j) at [d * (n - conditions) + j]
/// @errors KUGEL_EINVAL for values out of range, and for two conditions of which one implies the other
/// @accuracy each element to the last bit
/// @cite   Shen1994 (stencils)
KUGEL_API kugel_status kugel_worland_stencil(const kugel_worland_basis *basis, int conditions,
                                             const kugel_worland_condition *condition, double *stencil);

#ifdef __cplusplus
}
#endif
#endif
