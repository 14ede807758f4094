/* SPDX-License-Identifier: BSD-3-Clause */
/* Zernike polynomials on the unit disk: images and wavefronts, values <-> coefficients.
 *
 *   kugel_zernike_opts opts = {sizeof opts, .nmax = 30};
 *   kugel_zernike *plan;
 *   kugel_zernike_create(NULL, &opts, &plan);                        // 16 radii, 62 angles, 496 coefficients
 *   kugel_zernike_synthesis(plan, KUGEL_ARRAY(c, KUGEL_F64, 496), KUGEL_ARRAY(f, KUGEL_F64, 16, 62), NULL);
 *   kugel_zernike_analysis(plan, KUGEL_ARRAY(f, KUGEL_F64, 16, 62), KUGEL_ARRAY(c, KUGEL_F64, 496), NULL);
 *
 * Degrees n = 0 ... nmax, orders m = -n, -n + 2, ... n. With Jacobi's polynomials P_k^{(a,b)} and k = (n - |m|) / 2,
 *   Z_n^m(r, phi) = N_nm R_n^|m|(r) { cos(m phi), m >= 0;  sin(|m| phi), m < 0 },   R_n^m(r) = r^m P_k^{(0,m)}(2 r^2 - 1).
 * Norms: KUGEL_ZERNIKE_NOLL: the mean of Z^2 over the disk is 1, so that the sum of c^2 without n = 0 is the variance of a
 * wavefront; ORTHONORMAL: the integral of Z^2 r dr dphi is 1; NATURAL: N = 1, R_n^m(1) = 1 (Born and Wolf).
 *
 * The grid is r_k = cos(pi (2 k + 1) / (4 nr)), k = 0 ... nr - 1, from the rim to the centre, times phi_j = 2 pi j / nphi.
 * A plan with points of the caller evaluates there, and its adjoint is what a least-squares fit of measured values needs.
 *
 * Fourier transforms in phi, and in r the rotations of <kugel/polynomial.h> from order m to m mod 2. Plans run on the CPU; arrays
 * may have leading axes, which form a batch, and any strides. Complex arrays are two real ones: give views with one more axis.
 */
#ifndef KUGEL_ZERNIKE_H
#define KUGEL_ZERNIKE_H

#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_zernike_norm {
  KUGEL_ZERNIKE_NOLL = 0,
  KUGEL_ZERNIKE_ORTHONORMAL = 1,
  KUGEL_ZERNIKE_NATURAL = 2
} kugel_zernike_norm;

typedef enum kugel_zernike_order {
  KUGEL_ZERNIKE_OSA = 0, /* index j = (n (n + 2) + m) / 2, from 0 (ANSI Z80.28, ISO 24157) */
  KUGEL_ZERNIKE_BY_NOLL = 1 /* index j - 1 with Noll's j from 1: within n by |m|, even j with cosines */
} kugel_zernike_order;

typedef struct kugel_zernike kugel_zernike;

typedef struct kugel_zernike_opts {
  size_t size; /* sizeof(kugel_zernike_opts) */
  kugel_precision precision; /* of the arrays: KUGEL_PRECISION_F64 (0) or KUGEL_PRECISION_F32 */
  kugel_zernike_norm norm;
  kugel_zernike_order order; /* of the coefficients */
  int64_t nmax;              /* 0 to 4096 */
  int64_t nr;                /* radii, at least nmax / 2 + 1; 0: as few */
  int64_t nphi;              /* angles, at least 2 nmax + 1; 0: 2 nmax + 2 */
  int64_t points;            /* 0: the grid; else 1 to 2^26 points at r[i], phi[i]: no analysis */
  const double *r, *phi;     /* 0 <= r <= 1; radians, any finite; copied */
} kugel_zernike_opts;

/// Index of a coefficient.
/// @param[in]  order  KUGEL_ZERNIKE_OSA or KUGEL_ZERNIKE_BY_NOLL
/// @param[in]  n      0 to 2^30
/// @param[in]  m      -n to n, n - m even
/// @param[out] index  from 0 on
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_zernike_index(kugel_zernike_order order, int64_t n, int64_t m, int64_t *index);

/// Degree and order of a coefficient: the inverse of kugel_zernike_index.
/// @param[in]  order  KUGEL_ZERNIKE_OSA or KUGEL_ZERNIKE_BY_NOLL
/// @param[in]  index  0 to 2^58
/// @param[out] n      degree
/// @param[out] m      order, negative for sines
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_zernike_nm(kugel_zernike_order order, int64_t index, int64_t *n, int64_t *m);

/// Plans transforms of (nmax + 1) (nmax + 2) / 2 coefficients. Immutable: any number of threads may execute it.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_zernike_opts
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL for values out of range; KUGEL_ENOTSUP on devices; KUGEL_ENOMEM
/// @cost   O(nmax^2) numbers; with points 3 nmax numbers for each of them
KUGEL_API kugel_status kugel_zernike_create(kugel_ctx *ctx, const kugel_zernike_opts *opts, kugel_zernike **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_zernike_destroy(kugel_zernike *plan);

/// The grid of a plan, or its points.
/// @param[in]  plan  from kugel_zernike_create
/// @param[out] r     nr radii, or those of all points; may be NULL
/// @param[out] phi   nphi angles in radians, or those of all points; may be NULL
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_zernike_grid(const kugel_zernike *plan, double *r, double *phi);

/// Values: f(r, phi) = sum of c_nm Z_n^m(r, phi).
/// @param[in]  plan   from kugel_zernike_create
/// @param[in]  in     coefficients [..., (nmax + 1) (nmax + 2) / 2], float64 (float32), in the plan's order
/// @param[out] out    values [..., nr, nphi], or [..., points]
/// @param[in]  queue  NULL
/// @errors KUGEL_EINVAL for arrays that overlap; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy 5e-15 of the largest value to nmax = 500 (float: 1e-6)
/// @cost   O(nmax^3 / 12) rotations and a real FFT per radius; with points nmax^2 / 4 products for each
/// @cite   Noll1976 (norm and order), Slevinsky2019 (rotations between orders)
KUGEL_API kugel_status kugel_zernike_synthesis(const kugel_zernike *plan, const kugel_array *in, const kugel_array *out,
                                               kugel_queue *queue);

/// Coefficients of values on the grid: the inverse of synthesis.
/// @param[in]  plan   from kugel_zernike_create without points
/// @param[in]  in     values [..., nr, nphi]
/// @param[out] out    coefficients [..., (nmax + 1) (nmax + 2) / 2]
/// @param[in]  queue  NULL
/// @errors KUGEL_EINVAL for a plan with points or arrays that overlap; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy as synthesis
/// @cost   as synthesis
KUGEL_API kugel_status kugel_zernike_analysis(const kugel_zernike *plan, const kugel_array *in, const kugel_array *out,
                                              kugel_queue *queue);

/// The adjoint of synthesis: c_nm = sum of f Z_n^m over the grid or the points.
/// @param[in]  plan   from kugel_zernike_create
/// @param[in]  in     what synthesis writes
/// @param[out] out    what synthesis reads
/// @param[in]  queue  NULL
/// @errors as kugel_zernike_synthesis
/// @accuracy <S c, f> = <c, S^T f> to 1e-14
KUGEL_API kugel_status kugel_zernike_synthesis_adjoint(const kugel_zernike *plan, const kugel_array *in,
                                                       const kugel_array *out, kugel_queue *queue);

/// The adjoint of analysis.
/// @param[in]  plan   from kugel_zernike_create without points
/// @param[in]  in     what analysis writes
/// @param[out] out    what analysis reads
/// @param[in]  queue  NULL
/// @errors as kugel_zernike_analysis
/// @accuracy as kugel_zernike_synthesis_adjoint
KUGEL_API kugel_status kugel_zernike_analysis_adjoint(const kugel_zernike *plan, const kugel_array *in,
                                                      const kugel_array *out, kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
