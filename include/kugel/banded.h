/* SPDX-License-Identifier: BSD-3-Clause */
/* Products and solves with matrices of two or three diagonals, many systems at once.
 *
 *   double sub[n], diagonal[n];                        // element (i, i - 1), element (i, i)
 *   kugel_banded_opts opts = {sizeof opts, .kind = KUGEL_BANDED_LOWER, .n = n, .lower = sub,
 *                             .diagonal = diagonal};
 *   kugel_banded *plan;
 *   kugel_banded_create(NULL, &opts, &plan);           // factorises
 *   kugel_banded_solve(plan, KUGEL_ARRAY(b, KUGEL_F64, batch, n), KUGEL_ARRAY(x, KUGEL_F64, batch, n),
 *                      NULL);
 *
 * Elimination exchanges no rows where this is safe: for all matrices of two diagonals, and for matrices of three
 * diagonals that are diagonally dominant by rows or columns, symmetric positive definite, or totally nonnegative (among
 * them the matrices that connect families of orthogonal polynomials). For other matrices the plan checks the factors.
 * If they grow so much that half of the digits may be lost, or if a pivot vanishes, a plan on the CPU factorises all of
 * its matrices again with exchange of rows (partial pivoting) and solves system by system; a plan on a device fails to
 * solve, and the error names the row. Solves with singular matrices fail on every device and never return a wrong
 * result. Products take any matrix.
 *
 * Numbers of KUGEL_PRECISION_DD are sums of two doubles, hi + lo with |lo| <= ulp(hi) / 2, side by side in
 * float64 arrays with a last extent of 2: about 31 digits.
 */
#ifndef KUGEL_BANDED_H
#define KUGEL_BANDED_H

#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_banded_kind {
  KUGEL_BANDED_LOWER = 0, /* the diagonal and the one below it */
  KUGEL_BANDED_UPPER = 1, /* the diagonal and the one above it */
  KUGEL_BANDED_TRIDIAGONAL = 2
} kugel_banded_kind;

typedef enum kugel_banded_layout {
  KUGEL_BANDED_ROWS = 0,   /* arrays [..., n]: the elements of a system side by side */
  KUGEL_BANDED_COLUMNS = 1 /* arrays [n, ...]: the systems side by side */
} kugel_banded_layout;

typedef enum kugel_banded_method {
  KUGEL_BANDED_AUTO = 0,         /* by a cost model */
  KUGEL_BANDED_SUBSTITUTION = 1, /* one lane or thread per system */
  KUGEL_BANDED_SCAN = 2,         /* parts of a system concurrently: their ends by a scan, then their elements by
                                    substitution; only if no product of the factors' off-diagonal elements exceeds 4 */
  KUGEL_BANDED_CYCLIC = 3,  /* cyclic reduction by the lanes of a warp: on devices, layout ROWS, 2 to 256 rows, and only
                               where SCAN is allowed; elsewhere as AUTO */
  KUGEL_BANDED_PIVOTED = 4 /* elimination with exchange of rows, see the top of this file: reported by
                              kugel_banded_get_info, not accepted as an option */
} kugel_banded_method;

typedef struct kugel_banded kugel_banded;

typedef struct kugel_banded_opts {
  size_t size; /* sizeof(kugel_banded_opts) */
  kugel_banded_kind kind;
  kugel_precision precision; /* of the diagonals and the arrays */
  kugel_banded_layout layout;
  int64_t n;        /* 1 to 2^31 - 1 rows */
  int64_t matrices; /* 0 or 1: one for all systems; else one per system, and calls take that many systems */
  /* Diagonals, [matrices, n] or, in layout COLUMNS, [n, matrices]; in host memory, copied. Double-double:
   * pairs of doubles. */
  const void *lower;    /* element (i, i - 1); the one of row 0 is not read */
  const void *diagonal; /* NULL: ones */
  const void *upper;    /* element (i, i + 1); the one of row n - 1 is not read */
  kugel_banded_method method;
} kugel_banded_opts;

typedef struct kugel_banded_info {
  size_t size;                 /* sizeof(kugel_banded_info), set by the caller */
  kugel_banded_method method;  /* in use for a batch of `batch` systems */
  int64_t batch;               /* set by the caller */
  int solvable;                /* 0: kugel_banded_solve fails, with the reason */
  int64_t bad_matrix, bad_row; /* where, if not solvable; else -1 */
  double growth; /* largest row sum of |L| |U| over the largest element of the row; 1 for two diagonals */
  double propagation; /* largest product of off-diagonal elements of the factors scaled to unit diagonals */
  int32_t threads;    /* device threads per system */
  int32_t elements;   /* elements per thread */
} kugel_banded_info;

/// Plans products and solves with one matrix, or with one for each system; factorises in double-double.
/// @param[in]  ctx   NULL: the default context, on the CPU; else its device does the work
/// @param[in]  opts  see kugel_banded_opts
/// @param[out] out   the plan: immutable, any number of threads may execute it
/// @errors KUGEL_EINVAL for values out of range, a missing diagonal, elements that are not finite, and
///         KUGEL_BANDED_SCAN where it is not safe; KUGEL_ENOMEM; KUGEL_ECOMPILE, KUGEL_EDEVICE
/// @cost   about 50 ns per element of the matrices; on devices compilation, once per machine
KUGEL_API kugel_status kugel_banded_create(kugel_ctx *ctx, const kugel_banded_opts *opts, kugel_banded **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_banded_destroy(kugel_banded *plan);

/// Reports what a plan found and does.
/// @param[in]     plan  from kugel_banded_create
/// @param[in,out] info  size and batch set by the caller, the rest by the call
/// @errors KUGEL_EINVAL if an argument is NULL, the size is 0 or batch is negative
KUGEL_API kugel_status kugel_banded_get_info(const kugel_banded *plan, kugel_banded_info *info);

/// Solves A x = b for each system.
/// @param[in]  plan  from kugel_banded_create
/// @param[in]  in    b: [..., n], or [n, ...] in layout COLUMNS; double-double: one more axis of extent 2
/// @param[out] out   x: same shape and dtype; may be `in` itself
/// @param[in]  queue of the plan's device: with device arrays returns before the work is done; NULL: when it is
/// @errors KUGEL_EINVAL if a pivot vanishes or the factors grow (see the top of this file), the arrays
///         overlap in part, or for a queue of another device; KUGEL_ESHAPE; KUGEL_EDEVICE; KUGEL_ENOMEM
/// @accuracy |b - A x| <= 4 eps |L| |U| |x| element by element; by scan, elements of x that cancel against
///         the contribution from the start of their part may have about ten times that error
/// @cost   one reading and one writing of the arrays, if caches hold the intermediate vectors of three diagonals
/// @cite   Higham2002 (stability), Zhang2012 (hybrids of substitution and parallel reduction)
KUGEL_API kugel_status kugel_banded_solve(const kugel_banded *plan, const kugel_array *in,
                                          const kugel_array *out, kugel_queue *queue);

/// Computes A x for each system.
/// @param[in]  plan  from kugel_banded_create
/// @param[in]  in    x, as for kugel_banded_solve
/// @param[out] out   A x: same shape and dtype; may be `in` itself
/// @param[in]  queue as for kugel_banded_solve
/// @errors KUGEL_EINVAL if the arrays overlap in part or for a queue of another device; KUGEL_ESHAPE;
///         KUGEL_EDEVICE; KUGEL_ENOMEM
/// @accuracy 3 eps |A| |x| element by element
/// @cost   one reading and one writing of the arrays
KUGEL_API kugel_status kugel_banded_product(const kugel_banded *plan, const kugel_array *in,
                                            const kugel_array *out, kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
