/* SPDX-License-Identifier: BSD-3-Clause */
/* Finite differences of order 2 to 8 on grids of one to three dimensions: sums of derivatives of fields, their adjoints, and
 * explicit and implicit steps in time.
 *
 *   int64_t n[2] = {300, 400};
 *   double h[2] = {0.5, 0.5};
 *   kugel_stencil_term terms[2] = {{.derivative = {2, 0}, .factor = 1}, {.derivative = {0, 2}, .factor = 1}};
 *   kugel_stencil_opts opts = {sizeof opts, .ndim = 2, .n = n, .h = h, .order = 4, .nterms = 2, .terms = terms};
 *   kugel_stencil *plan;
 *   kugel_stencil_create(NULL, &opts, &plan);                      // the Laplacian, periodic
 *   kugel_stencil_apply(plan, KUGEL_ARRAY(u, KUGEL_F64, 1, 300, 400), KUGEL_ARRAY(v, KUGEL_F64, 1, 300, 400), NULL);
 *
 * A plan is the linear operator
 *   out_o = mask sum over terms with .out = o of  factor coefficient D field_f
 * where D is a product of central differences along the axes, of one order of accuracy, and coefficient and mask are arrays on the
 * grid. Fields and results are [..., fields, n...] and [..., outs, n...] in C order, real.
 *
 * An operator div(c grad u) is a plan of first derivatives, the product with c, and minus the adjoint of that plan: symmetric
 * to rounding for any c.
 *
 * Plans are immutable: any number of threads may execute them. Results have the same bits for any number of threads.
 *
 * A plan of a context on a device computes there. Its arrays are in the device's memory or on the host; results have the same bits in every run, and differ from the CPU's by
 * rounding: 4e-15 of the largest value (floats: 2e-6).
 */
#ifndef KUGEL_STENCIL_H
#define KUGEL_STENCIL_H

#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a field is beyond an end of an axis, whose nodes are 0 to n - 1. */
typedef enum kugel_stencil_boundary {
  KUGEL_STENCIL_PERIODIC = 0, /* u_{-j} = u_{n-j}; at both ends of an axis or at none */
  KUGEL_STENCIL_ODD = 1,      /* u_{-j} = -u_j: Dirichlet's condition u = 0 at the end node, whose value should be 0 */
  KUGEL_STENCIL_EVEN = 2,     /* u_{-j} = u_j: Neumann's condition u' = 0 at the end node */
  KUGEL_STENCIL_ZERO = 3,     /* u_{-j} = 0 */
  KUGEL_STENCIL_ONE_SIDED = 4 /* no condition: differences of the same order from nodes of the grid alone */
} kugel_stencil_boundary;

typedef enum kugel_stencil_method {
  KUGEL_STENCIL_LEAPFROG = 0,   /* u'' = L u, order 2 in time */
  KUGEL_STENCIL_RUNGE_KUTTA = 1, /* u' = L u, the method of order 4 */
  KUGEL_STENCIL_ADI = 2 /* u' = L u, order 2, implicit along one axis at a time (alternating directions) */
} kugel_stencil_method;

typedef struct kugel_stencil kugel_stencil;

typedef struct kugel_stencil_term {
  int field;               /* that is differentiated: 0 (default) to fields - 1 */
  int out;                 /* that is added to: 0 (default) to outs - 1 */
  int derivative[3];       /* along each axis, 0 to 2; at most 2 in all. {1, 1}: mixed; zeros: the field itself */
  double factor;           /* finite */
  const void *coefficient; /* [n...] finite reals of the plan's precision in host memory, copied; NULL (default): 1 */
} kugel_stencil_term;

typedef struct kugel_stencil_opts {
  size_t size;               /* sizeof(kugel_stencil_opts) */
  int ndim;                  /* 1 to 3 */
  const int64_t *n;          /* ndim numbers of nodes, each order + 1 (with one-sided ends order + 2) to 2^31; of axes without
                                derivatives from 1; at most 2^40 in all */
  const double *h;           /* ndim distances of nodes, 1e-30 to 1e30; NULL (default): 1 */
  int order;                 /* of accuracy: 2, 4, 6 or 8; 0 (default): 2 */
  kugel_precision precision; /* KUGEL_PRECISION_F64 (0, default) or KUGEL_PRECISION_F32 */
  int fields;                /* that are read, 1 to 64; 0 (default): 1 */
  int outs;                  /* that are written, 1 to 64; 0 (default): 1 */
  int nterms;                /* 1 to 256 */
  const kugel_stencil_term *terms;
  kugel_stencil_boundary boundary[3][2]; /* at the low and the high end of each axis */
  const void *mask; /* [n...] as a coefficient, of all terms: 0 where results are to be 0, else usually 1; NULL (default): 1 */
  int compact;      /* 1: derivatives are compact differences of order 4, which are implicit along their axis:
                         f''_{i-1} / 10 + f''_i + f''_{i+1} / 10 = 6/5 (u_{i-1} - 2 u_i + u_{i+1}) / h^2
                         f'_{i-1} / 4 + f'_i + f'_{i+1} / 4 = 3/4 (u_{i+1} - u_{i-1}) / h
                       with 3/8 and 1/6 of the error of explicit ones of order 4; boundary KUGEL_STENCIL_ZERO is not allowed;
                       0 (default): explicit differences */
  int steps_per_pass; /* of leapfrog, 0 to 8: so many steps of a call share a pass over memory, or the most that caches or a block of
                         the device hold; 1: none do, and none of the stages of Runge-Kutta; 0 (default): as many as should be fastest */
} kugel_stencil_opts;

/* What a plan is. */
typedef struct kugel_stencil_info {
  size_t size; /* sizeof(kugel_stencil_info), set by the caller */
  int ndim;
  int order;
  int reach;         /* nodes to each side of a difference: order / 2; compact: 1 */
  int fields;
  int outs;
  kugel_precision precision;
  double bound;      /* the largest sum of a row's absolute values, from the largest coefficients: no eigenvalue of the operator
                        exceeds it. Leapfrog with eigenvalues <= 0 is bounded for dt < 2 / sqrt(bound), which is sharp for a
                        Laplacian; Runge-Kutta for dt <= 2.78 / bound (eigenvalues <= 0) or 2.82 / bound (imaginary ones) */
  int64_t n[3];      /* nodes */
  uint64_t bytes;    /* that the plan holds: copies of coefficients, on a device in its memory */
  int compact;       /* 1: compact differences */
  int steps_per_pass; /* of leapfrog that share a pass over memory; on a device its transpose may have other numbers of them */
} kugel_stencil_info;

/// Makes a plan.
/// @param[in]  ctx   NULL: the default context. On the CPU or on a device
/// @param[in]  opts  ndim, n, nterms and terms are required
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL for a value out of range, an axis shorter than the difference, a coefficient that is not finite, or
///         weights beyond the largest number of the precision; on a device KUGEL_ENOTSUP for
///         double precision that it does not have, KUGEL_EDEVICE, KUGEL_ECOMPILE; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @cost   a copy of each coefficient, on a device in its memory; terms that name one array share its copy. On a device kernels for
///         terms of a structure that is new to it are compiled, in seconds, and cached on disk; numbers of nodes, h, factors and
///         coefficients are no part of the structure
/// @cite   Fornberg 1988, doi:10.1090/S0025-5718-1988-0935077-0 (weights); Lele1992 (compact differences)
KUGEL_API kugel_status kugel_stencil_create(kugel_ctx *ctx, const kugel_stencil_opts *opts, kugel_stencil **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_stencil_destroy(kugel_stencil *plan);

/// Reports what a plan is.
/// @param[in]     plan  from kugel_stencil_create
/// @param[in,out] info  its size is set, the rest is filled
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_stencil_get_info(const kugel_stencil *plan, kugel_stencil_info *info);

/// Applies the operator.
/// @param[in]  plan   from kugel_stencil_create
/// @param[in]  in     [..., fields, n...], real, of the plan's precision, in C order
/// @param[out] out    [..., outs, n...] with the same leading extents; no overlap with in
/// @param[in]  queue  NULL; of a plan on a device also one of its queues: with device arrays the call returns before the work is done
/// @errors KUGEL_EINVAL for overlapping arrays or a queue of another device; KUGEL_ESHAPE; KUGEL_EDEVICE; KUGEL_ENOMEM;
///         KUGEL_ENOTSUP for 2^31 blocks of nodes and more on a device; KUGEL_ECANCELED
/// @accuracy exact, but for rounding, on polynomials of degree up to order + 1 (first derivatives: order). Errors go as h^order
///           for smooth fields; next to odd and even ends for fields whose continuation beyond the end is smooth
/// @cost   one reading of the fields and coefficients, one writing, and a multiplication and addition for each weight. A Laplacian
///         of 256^3 nodes: 2.4 ns per node and core of order 2, 5 ns of order 8; floats 1.4 and 2.6 ns. On a device each value is read from its memory about once
///         and each result written once: 16 bytes per node of a Laplacian in double. Compact plans pass over memory four times for
///         each term, and take memory for one field
KUGEL_API kugel_status kugel_stencil_apply(const kugel_stencil *plan, const kugel_array *in, const kugel_array *out,
                                           kugel_queue *queue);

/// Applies the transpose of the operator, boundaries, coefficients and mask included: the same numbers, other rows.
/// @param[in]  plan   from kugel_stencil_create
/// @param[in]  in     what kugel_stencil_apply writes
/// @param[out] out    what kugel_stencil_apply reads; no overlap with in
/// @param[in]  queue  as kugel_stencil_apply
/// @errors as kugel_stencil_apply
/// @accuracy as kugel_stencil_apply
/// @cost   as kugel_stencil_apply; a coefficient is read once for each node of a difference, from cache. On a device each coefficient
///         needs a reading of its field of its own, and nodes next to ends that are not periodic or zero cost several times as much
KUGEL_API kugel_status kugel_stencil_adjoint(const kugel_stencil *plan, const kugel_array *in, const kugel_array *out,
                                             kugel_queue *queue);

/// Advances fields in time, in place.
///   KUGEL_STENCIL_LEAPFROG     u_{k+1} = 2 u_k - u_{k-1} + dt^2 L u_k
///   KUGEL_STENCIL_RUNGE_KUTTA  u_{k+1} = (1 + dt L + dt^2 L^2 / 2 + dt^3 L^3 / 6 + dt^4 L^4 / 24) u_k, which is the classical
///                              method of four stages for an operator that does not change with time
///   KUGEL_STENCIL_ADI          with E_d = 1 + dt/2 L_d and I_d = (1 - dt/2 L_d)^-1, L_d the terms along axis d (terms without a
///                              derivative are divided among all axes), u_{k+1} is C_2 C_1 C_0 u_k, C_d = I_d E_d: Crank-Nicolson
///                              in 1-D, Peaceman-Rachford in 2-D. With coefficients or a mask axes do not commute, and it is
///                              I_0 I_1 E_1 E_0 u_k in 2-D, and in 3-D C_0 C_1 C_2 C_1 C_0 u_k with half of dt along axes 0 and 1.
///                              Of order 2 in dt. No step is too long for the state to stay bounded where no L_d makes fields grow, such as second
///                              derivatives with coefficients >= 0 that all terms share. With compact = 1: of order 4 in h (2-D:
///                              Mitchell-Fairweather)
/// Steps done in one call have the bits of as many single steps.
/// @param[in]     plan    with as many outs as fields. ADI: of order 2 or compact; each term takes a field to itself, along at most
///                        one axis; axes with derivatives have no one-sided ends; compact: second derivatives with factors alone
/// @param[in]     method  of the three
/// @param[in]     dt      -1e150 to 1e150, floats -1e19 to 1e19; negative: backwards. Stable steps: see `bound` of kugel_stencil_info
/// @param[in]     steps   at least 0
/// @param[in,out] state   Runge-Kutta and ADI: u_k, [fields, n...]; leapfrog: u_{k-1} and u_k, [2, fields, n...]. It is unspecified
///                        after a failure
/// @param[in]     queue   as kugel_stencil_apply
/// @errors KUGEL_EINVAL for a value out of range, a plan that the method does not take, or a matrix 1 - dt/2 L_d that is singular
///         (never where L_d makes no field grow and dt > 0); KUGEL_ESHAPE; KUGEL_EDEVICE;
///         KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy rounding alone beside the formulas above; of a step of ADI about epsilon (1 + dt/2 times the bound of an axis),
///           in 2-D with coefficients the square of that
/// @cost   leapfrog: one application a step, less where steps of a call share a pass over memory, without further memory, but on
///         devices for a second state; Runge-Kutta: four, and memory for two states, on devices in one pass where that pays; ADI: an application and a solve of three diagonals for each axis (3-D with
///         coefficients: five of each), memory for one state, with coefficients for three more for each axis, and per call about
///         200 ns for each row of a matrix: one line for each axis, with coefficients every node, which is worth 40 steps
/// @cite   PeacemanRachford1955, MitchellFairweather1964
KUGEL_API kugel_status kugel_stencil_advance(const kugel_stencil *plan, kugel_stencil_method method, double dt,
                                             int64_t steps, const kugel_array *state, kugel_queue *queue);

/// Applies the transpose of kugel_stencil_advance, which is linear: if advance takes u to A u, this takes v to A^T v, the gradient
/// by the first state of a function with the gradient v by the last.
/// @param[in]     plan    as for kugel_stencil_advance
/// @param[in]     method  as for kugel_stencil_advance
/// @param[in]     dt      as for kugel_stencil_advance
/// @param[in]     steps   as for kugel_stencil_advance
/// @param[in,out] state   as for kugel_stencil_advance
/// @param[in]     queue   as kugel_stencil_apply
/// @errors as kugel_stencil_advance
/// @accuracy as kugel_stencil_advance
/// @cost   as kugel_stencil_advance
KUGEL_API kugel_status kugel_stencil_advance_adjoint(const kugel_stencil *plan, kugel_stencil_method method,
                                                     double dt, int64_t steps, const kugel_array *state,
                                                     kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
