/* SPDX-License-Identifier: BSD-3-Clause */
/* Chebyshev transforms in the radius of a spherical shell, inner <= r <= outer.
 *
 *   kugel_shell_opts opts = {sizeof opts, .n = 64, .inner = 0.35, .outer = 1};
 *   kugel_shell *plan;
 *   kugel_shell_create(NULL, &opts, &plan);
 *   kugel_shell_synthesis(plan, KUGEL_SHELL_D1, KUGEL_ARRAY(c, KUGEL_F64, 100, 64), KUGEL_ARRAY(f, KUGEL_F64, 100, 64), NULL);
 *
 * f(r) = sum of c_n T_n(x), n < N, with r = (outer + inner) / 2 + x (outer - inner) / 2. Norms as for Jones-Worland functions: unity: the
 * integral of T_n^2 dx / sqrt(1 - x^2) is 1; natural: T_n(1) = 1. Radii: r_k at x_k = cos(pi (2 k + 1) / (2 nr)), from the outside in.
 * Laplacians are sums: f'' + 2 f' / r - l (l + 1) f / r^2 takes D2, DIV_R1_D1 and DIV_R2.
 *
 * One cosine transform per system; derivatives by solves with two diagonals. On the CPU; arrays may have leading axes and any strides.
 */
#ifndef KUGEL_SHELL_H
#define KUGEL_SHELL_H

#include <kugel/polynomial.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_shell_operator {
  KUGEL_SHELL_P = 0,        /* f */
  KUGEL_SHELL_D1 = 1,       /* f' */
  KUGEL_SHELL_D2 = 2,       /* f'' */
  KUGEL_SHELL_R1 = 3,       /* r f */
  KUGEL_SHELL_DIV_R1 = 4,   /* f / r */
  KUGEL_SHELL_DIV_R2 = 5,   /* f / r^2 */
  KUGEL_SHELL_DIV_R1_D1 = 6 /* f' / r */
} kugel_shell_operator;

typedef struct kugel_shell kugel_shell;

typedef struct kugel_shell_opts {
  size_t size;               /* sizeof(kugel_shell_opts) */
  kugel_worland_norm norm;
  kugel_precision precision; /* KUGEL_PRECISION_F64 (0) or KUGEL_PRECISION_F32 */
  int complex_data;          /* 1: arrays are complex */
  int64_t n;                 /* 1 to 2^22 coefficients */
  int64_t nr;                /* n to 2^22 radii; 0: n */
  double inner, outer;       /* 0 < inner < outer, finite */
} kugel_shell_opts;

/// Plans transforms. Immutable: any number of threads may execute it.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_shell_opts
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL for values out of range; KUGEL_ENOTSUP on devices; KUGEL_ENOMEM
/// @cost   O(n)
KUGEL_API kugel_status kugel_shell_create(kugel_ctx *ctx, const kugel_shell_opts *opts, kugel_shell **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_shell_destroy(kugel_shell *plan);

/// The radii of a plan.
/// @param[in]  plan  from kugel_shell_create
/// @param[out] r     nr radii
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_shell_grid(const kugel_shell *plan, double *r);

/// Values of an operator on series.
/// @param[in]  plan   from kugel_shell_create
/// @param[in]  op     one of kugel_shell_operator
/// @param[in]  in     coefficients [..., n]: float, double or complex of these, as the plan has it
/// @param[out] out    values [..., nr]
/// @param[in]  queue  NULL
/// @errors KUGEL_EINVAL for another operator or arrays that overlap; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy P: 2e-15 of the largest value to n = 1000 (float: 1e-6); D1 and D2: the same times the growth of the derivative, n^2 and n^4
/// @cost   one cosine transform per system
KUGEL_API kugel_status kugel_shell_synthesis(const kugel_shell *plan, kugel_shell_operator op, const kugel_array *in,
                                             const kugel_array *out, kugel_queue *queue);

/// Coefficients of values: the inverse of synthesis of KUGEL_SHELL_P.
/// @param[in]  plan   from kugel_shell_create
/// @param[in]  in     values [..., nr]
/// @param[out] out    coefficients [..., n]
/// @param[in]  queue  NULL
/// @errors as kugel_shell_synthesis
/// @accuracy as kugel_shell_synthesis
KUGEL_API kugel_status kugel_shell_analysis(const kugel_shell *plan, const kugel_array *in, const kugel_array *out,
                                            kugel_queue *queue);

/// The adjoint of synthesis.
/// @param[in]  plan   from kugel_shell_create
/// @param[in]  op     one of kugel_shell_operator
/// @param[in]  in     [..., nr]
/// @param[out] out    [..., n]
/// @param[in]  queue  NULL
/// @errors as kugel_shell_synthesis
/// @accuracy <S c, f> = <c, S^T f> to 1e-14
KUGEL_API kugel_status kugel_shell_synthesis_adjoint(const kugel_shell *plan, kugel_shell_operator op, const kugel_array *in,
                                                     const kugel_array *out, kugel_queue *queue);

/// The adjoint of analysis.
/// @param[in]  plan   from kugel_shell_create
/// @param[in]  in     [..., n]
/// @param[out] out    [..., nr]
/// @param[in]  queue  NULL
/// @errors as kugel_shell_synthesis
/// @accuracy as kugel_shell_synthesis_adjoint
KUGEL_API kugel_status kugel_shell_analysis_adjoint(const kugel_shell *plan, const kugel_array *in, const kugel_array *out,
                                                    kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
