/* SPDX-License-Identifier: BSD-3-Clause */
/* Spherical-harmonic sums at points anywhere on the sphere.
 *
 *   kugel_sht_points_opts opts = {.size = sizeof opts, .lmax = 1023, .tolerance = 1e-9};
 *   kugel_sht_points_plan *plan;
 *   kugel_sht_points *points;
 *   kugel_sht_points_plan_create(NULL, &opts, &plan);
 *   kugel_sht_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, n, 2), &points);        // x: theta, phi of each point
 *   kugel_sht_points_synthesis(points, KUGEL_ARRAY(alm, KUGEL_C128, nalm), KUGEL_ARRAY(f, KUGEL_F64, n), NULL);
 *
 * Coefficients, modes, signs of spin and inner products are those of sphere.h; a point takes the place of a pixel. A plan
 * holds what depends on lmax and the tolerance, a kugel_sht_points what depends on the points. Both are immutable: any
 * number of threads may execute them, and one plan serves many sets of points.
 *
 * For each order m the Legendre sums at equidistant colatitudes, continued over the poles with the sign (-1)^(m + spin), are
 * samples of a trigonometric polynomial of degree lmax; its Fourier coefficients are the modes of a non-uniform FFT
 * (nufft.h), which takes them to the points.
 *
 * A plan of a context on a device computes there: points, coefficients and values are in the device's memory or on the host, the
 * grid between the stages stays there, and results have the same bits in every run.
 */
#ifndef KUGEL_POINTS_H
#define KUGEL_POINTS_H

#include <kugel/core.h>
#include <kugel/device.h>
#include <kugel/sphere.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kugel_sht_points_plan kugel_sht_points_plan;
typedef struct kugel_sht_points kugel_sht_points;

typedef struct kugel_sht_points_opts {
  size_t size;         /* sizeof(kugel_sht_points_opts) */
  int64_t lmax;        /* 0 to 100,000,000 */
  int64_t mmax;        /* 1 to lmax; 0 or KUGEL_ALL: lmax; KUGEL_ONLY_M0: order 0 alone */
  kugel_sht_mode mode; /* 1 to 3 sets of alm, and 1 to 3 values per point: as kugel_sht_mode says of maps */
  int spin;            /* KUGEL_SHT_SPIN: 1 and more */
  double tolerance;    /* relative error, 1e-13 to 0.1 (F32: 1e-6 to 0.1), see kugel_sht_points_synthesis; 0 (default):
                          1e-9 (2e-6) */
  kugel_precision precision; /* of FFTs and interpolation on a device: KUGEL_PRECISION_F64 (0, default) or
                                KUGEL_PRECISION_F32. Legendre sums are in double. The CPU computes in double with either */
} kugel_sht_points_opts;

/// Plans sums up to one lmax.
/// @param[in]  ctx   NULL: the default context. On the CPU, or on a device that has double precision
/// @param[in]  opts  see kugel_sht_points_opts
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL for values out of range, or more than 2^40 modes (mmax + 1) (2 lmax + 2); KUGEL_ENOTSUP for a device
///         without double precision, and on a device for lmax of 65536 and more; KUGEL_ENOMEM; KUGEL_EDEVICE; KUGEL_ECOMPILE
/// @cost   O(lmax) time and memory; on a device O(lmax^2) memory for the recurrences. There a mode or kernel width that is new
///         to the kernel cache compiles for some seconds
KUGEL_API kugel_status kugel_sht_points_plan_create(kugel_ctx *ctx, const kugel_sht_points_opts *opts,
                                                    kugel_sht_points_plan **out);

/// Frees a plan. Sets of points made from it stay valid.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_sht_points_plan_destroy(kugel_sht_points_plan *plan);

typedef struct kugel_sht_points_info {
  size_t size;        /* sizeof(kugel_sht_points_info), set by the caller */
  int64_t lmax, mmax; /* in force */
  int64_t nalm;       /* coefficients of one alm set */
  int n_alm_sets;     /* 1, 2 or 3 by mode */
  int n_values;       /* of a point: 1, 2 or 3 by mode */
  double tolerance;   /* in force */
  int64_t ntheta;     /* equidistant colatitudes of the Legendre sums, both poles included */
  int width;          /* of the kernel of the non-uniform FFT, in cells of its fine grid */
  double upsampling;  /* of that grid */
  uint64_t bytes;     /* of work memory of one execution, on a device of its memory, less 16 n_values for each point */
} kugel_sht_points_info;

/// Reports the shapes of a plan's arrays, and what it does.
/// @param[in]     plan  from kugel_sht_points_plan_create
/// @param[in,out] info  its size set; the rest is filled
/// @errors KUGEL_EINVAL if a pointer is NULL or info->size is not set
KUGEL_API kugel_status kugel_sht_points_get_info(const kugel_sht_points_plan *plan, kugel_sht_points_info *info);

/// Sorts points for a plan.
/// @param[in]  plan    from kugel_sht_points_plan_create
/// @param[in]  points  [N, 2], float or double, in C order: colatitudes theta, 0 to pi, both poles included, and longitudes phi,
///                     any finite number; radians. N is 0 to 2^31 - 1. Copied. Of a plan on a device also in the device's
///                     memory, complete: wait for the queue that writes it. The call returns when they are sorted
/// @param[out] out     the points
/// @errors KUGEL_EINVAL for a coordinate that is not finite or a theta out of range, naming the first such point; KUGEL_ESHAPE;
///         KUGEL_ENOMEM; KUGEL_ECANCELED; KUGEL_EDEVICE
/// @cost   O(N); about 100 ns per point and core
KUGEL_API kugel_status kugel_sht_points_create(const kugel_sht_points_plan *plan, const kugel_array *points,
                                               kugel_sht_points **out);

/// Frees a set of points.
/// @param[in] points  may be NULL
KUGEL_API void kugel_sht_points_destroy(kugel_sht_points *points);

/// Synthesis: values(j) = sum_lm a_lm Y_lm(theta_j, phi_j), for each set of the batch. Values with a direction (spins, gradients)
/// refer to the directions of theta and phi at the point, at a pole to their limit along the meridian phi_j.
/// @param[in]  points  from kugel_sht_points_create
/// @param[in]  alm     [batch..., n_alm_sets, nalm] complex, single or double; an axis of one set may be left out
/// @param[out] values  [batch..., n_values, N] real, single or double; the same for one value
/// @param[in]  queue   on a device with arrays in its memory: where the work is queued, and the points must stay until it is
///                     done; NULL: returns when done. On the CPU: NULL
/// @errors KUGEL_ESHAPE if a shape, stride or dtype does not fit; KUGEL_EINVAL if the arrays overlap or the queue is of another
///         device; KUGEL_ENOMEM; KUGEL_ECANCELED; KUGEL_EDEVICE
/// @accuracy the root mean square of errors is at most the tolerance times that of the field's values at random points of the
///           sphere. Rounding adds what it adds to kugel_sht_synthesis, and about 2e-16 lmax; precision F32 about 4e-7
/// @cost   kugel_sht_synthesis on a grid of lmax + 2 rings, and O(N width^2). The result is the same for any number of threads
/// @cite   Barnett, Magland & af Klinteberg 2019, doi:10.1137/18M120885X; Reinecke, Belkner & Carron 2023,
///         doi:10.1051/0004-6361/202346717 (lensing by such sums)
KUGEL_API kugel_status kugel_sht_points_synthesis(const kugel_sht_points *points, const kugel_array *alm,
                                                  const kugel_array *values, kugel_queue *queue);

/// Adjoint of synthesis: a_lm = sum_j values(j) conj(Y_lm(theta_j, phi_j)). It is the adjoint of the computed synthesis to
/// rounding, at any tolerance.
/// @param[in]  points  from kugel_sht_points_create
/// @param[in]  values  [batch..., n_values, N] real; NaN and infinities spread to all coefficients
/// @param[out] alm     [batch..., n_alm_sets, nalm] complex
/// @param[in]  queue   as kugel_sht_points_synthesis
/// @errors as kugel_sht_points_synthesis
/// @accuracy <S a, f> = <a, S^T f> to 1e-14 relative (precision F32: 1e-6), by the inner product of sphere.h
/// @cost   as kugel_sht_points_synthesis
KUGEL_API kugel_status kugel_sht_points_adjoint(const kugel_sht_points *points, const kugel_array *values,
                                                const kugel_array *alm, kugel_queue *queue);

/// Least-squares analysis: the alm that minimise sum_j |values(j) - (S alm)(j)|^2, by conjugate gradients (CGLS). With fewer
/// values than coefficients, or gaps, it is the one of least norm; iterations then grow with the gaps.
/// @param[in]  points  of mode SCALAR, SPIN or TEB
/// @param[in]  values  [n_values, N] real; no batch
/// @param[out] alm     [n_alm_sets, nalm] complex
/// @param[in]  opts    NULL for defaults. A tolerance below that of the plan fits the plan's errors too
/// @param[out] stats   may be NULL; set on KUGEL_ECONVERGE too, and alm then holds the best so far
/// @param[in]  queue   on a device: where the work is queued; the call returns when it is done, because the iterations stop by
///                     numbers that the host reads. On the CPU: NULL
/// @errors as kugel_sht_points_adjoint; KUGEL_EINVAL for values that are not finite; KUGEL_ENOTSUP for gradient modes;
///         KUGEL_ECONVERGE if max_iterations do not reach the tolerance
/// @cost   a synthesis and an adjoint per iteration. To a residual of 1e-10, pixel centres of HEALPix, twice as many as
///         coefficients, took 9 iterations; random points, 4 times as many, 81, 8 times as many, 44
KUGEL_API kugel_status kugel_sht_points_solve(const kugel_sht_points *points, const kugel_array *values,
                                              const kugel_array *alm, const kugel_solve_opts *opts,
                                              kugel_solve_stats *stats, kugel_queue *queue);

/// Moves points along great circles, as gravitational lensing moves the direction in which light is seen to that from which it
/// comes, and tells how a direction turns on the way back: with values E + i F of spin s at the moved points (Q + i U: s = 2;
/// theta and phi components of a vector: s = 1), (E + i F) e^{i s turn} are the values seen at the points.
/// @param[in]  ctx         NULL: the default context
/// @param[in]  points      [N, 2] double: theta, 0 to pi, and phi
/// @param[in]  deflection  [2, N] double: components towards growing theta and growing phi, radians of arc, within 1e9; for lensing
///                         the gradient of the potential, as a plan of mode KUGEL_SHT_GRAD gives it
/// @param[out] moved       [N, 2] double: theta, 0 to pi, and phi, within pi of the former
/// @param[out] turn        [N] double, -pi to pi; may be NULL
/// @errors KUGEL_EINVAL for values out of range, naming the first such point, or overlapping arrays; KUGEL_ESHAPE; KUGEL_ECANCELED
/// @cost   about 200 ns per point and core
/// @cite   Lewis 2005, doi:10.1103/PhysRevD.71.083008
KUGEL_API kugel_status kugel_points_deflect(kugel_ctx *ctx, const kugel_array *points, const kugel_array *deflection,
                                            const kugel_array *moved, const kugel_array *turn);

/* A sky seen through a lens: sums where the deflections of a set of points lead, with directions turned back. */
typedef struct kugel_lens kugel_lens;

/// Moves points by deflections and sorts them for a plan: kugel_points_deflect and kugel_sht_points_create in one.
/// @param[in]  plan        from kugel_sht_points_plan_create, of any mode
/// @param[in]  points      [N, 2] double: theta, phi, where the sky is seen; N is 0 to 2^31 - 1. Of a plan on a device also in the
///                         device's memory, complete, and so is the deflection
/// @param[in]  deflection  [2, N] double, as of kugel_points_deflect
/// @param[out] out         the lens: immutable, any number of threads may execute it
/// @errors as kugel_points_deflect and kugel_sht_points_create
/// @cost   as both; 16 bytes for each point more where values have a direction
KUGEL_API kugel_status kugel_lens_create(const kugel_sht_points_plan *plan, const kugel_array *points,
                                         const kugel_array *deflection, kugel_lens **out);

/// Frees a lens.
/// @param[in] lens  may be NULL
KUGEL_API void kugel_lens_destroy(kugel_lens *lens);

/// The lensed sky: values(j) at the end of point j's deflection, seen at point j: pairs of values with a direction (Q, U; spins;
/// gradients) are in the frame of point j.
/// @param[in]  lens    from kugel_lens_create
/// @param[in]  alm     as of kugel_sht_points_synthesis
/// @param[out] values  as of kugel_sht_points_synthesis
/// @param[in]  queue   as of kugel_sht_points_synthesis
/// @errors as kugel_sht_points_synthesis
/// @accuracy as kugel_sht_points_synthesis
/// @cost   as kugel_sht_points_synthesis
/// @cite   Lewis 2005, doi:10.1103/PhysRevD.71.083008
KUGEL_API kugel_status kugel_lens_synthesis(const kugel_lens *lens, const kugel_array *alm, const kugel_array *values,
                                            kugel_queue *queue);

/// The adjoint of the computed kugel_lens_synthesis, to rounding, at any tolerance: the gradient by the unlensed alm of a function of
/// the lensed values.
/// @param[in]  lens    from kugel_lens_create
/// @param[in]  values  as of kugel_sht_points_adjoint
/// @param[out] alm     as of kugel_sht_points_adjoint
/// @param[in]  queue   as of kugel_sht_points_adjoint
/// @errors as kugel_sht_points_adjoint
/// @accuracy as kugel_sht_points_adjoint
/// @cost   as kugel_sht_points_adjoint, with memory for a copy of one set of values with a direction
KUGEL_API kugel_status kugel_lens_adjoint(const kugel_lens *lens, const kugel_array *values, const kugel_array *alm,
                                          kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
