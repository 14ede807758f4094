/* SPDX-License-Identifier: BSD-3-Clause */
/* Real Fourier transforms of rings of unequal length, as one plan: Fourier coefficients <-> pixels.
 *
 *   int64_t nphi[3] = {4, 7, 12};
 *   kugel_rings *plan;
 *   kugel_rings_create(NULL, 3, nphi, NULL, NULL, 20, NULL, &plan);   23 pixels, ring after ring
 *   kugel_rings_synthesis(plan, KUGEL_ARRAY(f, KUGEL_C128, 3, 21), KUGEL_ARRAY(map, KUGEL_F64, 23), NULL);
 *
 * Pixel j of a ring lies at phi_j = phi0 + 2 pi j / nphi. Synthesis and its adjoint are
 *   f_j = F_0 + 2 Re sum_{m = 1}^{mmax} F_m e^{i m phi_j}        F_m = w sum_j f_j e^{-i m phi_j}
 * for any mmax: modes beyond a ring's Nyquist frequency nphi / 2 fold back exactly, as the sums say. The
 * imaginary part of F_0 is not read. With w = 1 / nphi and mmax < nphi / 2 the adjoint undoes synthesis.
 */
#ifndef KUGEL_RINGS_H
#define KUGEL_RINGS_H

#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kugel_rings kugel_rings;

typedef struct kugel_rings_opts {
  size_t size;         /* sizeof(kugel_rings_opts) */
  int64_t npix;        /* pixels of a map; 0 (default): to the end of the last ring */
  const int64_t *mlim; /* nrings, each at least 0, copied: a ring's highest m: synthesis takes F_m beyond as
                          zero, the adjoint sets them to zero; NULL (default): mmax */
} kugel_rings_opts;

/// Makes a plan. Two rings of equal length, wherever they lie, share one complex DFT; the library finds such pairs. The
/// plan is immutable: any number of threads may execute it.
/// @param[in]  ctx     NULL: the default context
/// @param[in]  nrings  1 to 2^31 - 1
/// @param[in]  nphi    nrings numbers of pixels, each 1 to 2^40; any primes
/// @param[in]  phi0    nrings longitudes of first pixels in radians, each within 10^6; NULL: 0
/// @param[in]  start   nrings indices of first pixels in the map, in any order, gaps allowed; NULL: ring after
///                     ring
/// @param[in]  mmax    highest m, 0 to 2^31 - 1
/// @param[in]  opts    NULL for defaults
/// @param[out] out     the plan
/// @errors KUGEL_EINVAL for a number out of range, rings that overlap or reach beyond npix; KUGEL_ENOMEM
/// @cost   O(sum of the distinct nphi) for DFTs, O(mmax / 64) per distinct phi0
KUGEL_API kugel_status kugel_rings_create(kugel_ctx *ctx, int64_t nrings, const int64_t *nphi,
                                          const double *phi0, const int64_t *start, int64_t mmax,
                                          const kugel_rings_opts *opts, kugel_rings **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_rings_destroy(kugel_rings *plan);

/// Number of pixels of a plan's maps.
/// @param[in] plan  from kugel_rings_create
/// @return npix; 0 if plan is NULL
KUGEL_API int64_t kugel_rings_npix(const kugel_rings *plan);

/// Coefficients to pixels. Arrays may have any strides, and leading axes, equal in both arrays, as a batch. Pixels that
/// belong to no ring stay as they are.
/// @param[in]  plan  from kugel_rings_create
/// @param[in]  coef  [..., nrings, mmax + 1] complex128 or complex64
/// @param[out] map   [..., npix] float64 or float32, of coef's precision
/// @param[in]  queue NULL: plans of rings run on the CPU, and the call returns when it is done
/// @errors KUGEL_EINVAL for overlapping arrays or a queue, KUGEL_ESHAPE, KUGEL_ENOMEM, KUGEL_ECANCELED
/// @accuracy rms relative to the ring's rms: about 0.5 eps sqrt(log2 nphi), twice that if nphi has a prime
///           factor above 23, up to 5 eps where thousands of modes fold onto few pixels; sums are in double
/// @cost   O(mmax + nphi log nphi) per ring
KUGEL_API kugel_status kugel_rings_synthesis(const kugel_rings *plan, const kugel_array *coef,
                                             const kugel_array *map, kugel_queue *queue);

/// Pixels to coefficients: the adjoint, with weights. The map is not changed.
/// @param[in]  plan     from kugel_rings_create
/// @param[in]  map      [..., npix] float64 or float32
/// @param[in]  weights  nrings factors w; NULL: 1
/// @param[out] coef     [..., nrings, mmax + 1] complex128 or complex64
/// @param[in]  queue    NULL, as for synthesis
/// @errors KUGEL_EINVAL for overlapping arrays or a queue, KUGEL_ESHAPE, KUGEL_ENOMEM, KUGEL_ECANCELED
/// @accuracy as synthesis
/// @cost   as synthesis
KUGEL_API kugel_status kugel_rings_adjoint(const kugel_rings *plan, const kugel_array *map,
                                           const double *weights, const kugel_array *coef,
                                           kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
