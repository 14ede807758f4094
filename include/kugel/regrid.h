/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps from one grid to another through their spherical-harmonic coefficients: analysis, truncation, a beam if one is
 * wanted, synthesis. What is band-limited to the plan's lmax arrives exactly, wherever the pixels lie.
 *
 * Vectors are pairs (v_theta, v_phi) of spin 1. Winds (u eastward, v northward) are the same field turned by 90 degrees,
 * (-v, u), and that commutes with all the steps: pairs (u, v) may be given as they are, and come out as (u, v).
 */
#ifndef KUGEL_REGRID_H
#define KUGEL_REGRID_H

#include <kugel/sphere.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kugel_regrid kugel_regrid;

typedef struct kugel_regrid_opts {
  size_t size; /* sizeof(kugel_regrid_opts) */
  const kugel_grid *from, *to;
  int64_t lmax; /* of what is carried over; 0: the lower of kugel_grid_lmax of both */
  int spin;     /* 0: scalars; 1: vectors; 2: (Q, U); and so on: pairs of maps */
  double fwhm;  /* of a Gaussian beam, radians; 0: none */
  int64_t n_window;
  const double *window; /* [n_window] or factors f_l of the coefficients, zero beyond; not with fwhm */
  kugel_weights weights;
  int iterations;              /* of the analysis; on HEALPix 3 are usual */
  kugel_bad_pixels bad_pixels; /* of the input */
  double least_good; /* with KUGEL_BAD_ZERO: result pixels are UNSEEN where the input's mask (1 good, 0 bad), taken over
                        like a map, is below this; 0: no mask is taken over */
} kugel_regrid_opts;

/// The highest multipole that a grid is made for: to which analysis on it is exact (on HEALPix: 2 nside, approximately)
/// and its rings resolve.
/// @param[in] grid  a grid
/// @return at least 0; -1 for a custom grid, where only its maker knows
KUGEL_API int64_t kugel_grid_lmax(const kugel_grid *grid);

/// Plans regridding.
/// @param[in]  ctx   NULL: the default context; on a device the transforms run there, as for kugel_sht_create
/// @param[in]  opts  see kugel_regrid_opts; the grids are kept alive by the plan
/// @param[out] out   the plan: immutable, any number of threads may execute it
/// @errors KUGEL_EINVAL for values out of range, or no lmax with a custom grid; KUGEL_ENOTSUP if `from` has no quadrature
///         weights; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_regrid_create(kugel_ctx *ctx, const kugel_regrid_opts *opts, kugel_regrid **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_regrid_destroy(kugel_regrid *plan);

/// The numbers that fix the shapes of a plan's arrays. Any output may be NULL.
/// @param[in]  plan      a plan
/// @param[out] lmax      in force
/// @param[out] npix_in   pixels of an input map
/// @param[out] npix_out  pixels of an output map
/// @errors KUGEL_EINVAL if plan is NULL
KUGEL_API kugel_status kugel_regrid_shape(const kugel_regrid *plan, int64_t *lmax, int64_t *npix_in, int64_t *npix_out);

/// Regrids maps.
/// @param[in]  plan   a plan
/// @param[in]  in     [batch..., npix_in], with spin [batch..., 2, npix_in], real
/// @param[out] out    [batch..., npix_out], with spin [batch..., 2, npix_out], real
/// @param[in]  queue  on a device with arrays in its memory: where the work is queued; the call returns when it is done
/// @errors KUGEL_ESHAPE; KUGEL_EINVAL for bad pixels unless opts.bad_pixels allows them; KUGEL_ENOTSUP for least_good with
///         one array in device memory and one in host memory; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy relative L2 error below 1e-13 sqrt(lmax / 100) for maps that the input's grid represents to lmax
/// @cost   an analysis (with its iterations) and a synthesis; with bad pixels and least_good twice that
KUGEL_API kugel_status kugel_regrid_execute(const kugel_regrid *plan, const kugel_array *in, const kugel_array *out,
                                            kugel_queue *queue);

/// The adjoint of kugel_regrid_execute as a linear map without masks, for gradients.
/// @param[in]  plan   a plan
/// @param[in]  out    shaped as the output of kugel_regrid_execute
/// @param[out] in     shaped as its input
/// @param[in]  queue  as for kugel_regrid_execute
/// @errors as kugel_regrid_execute
/// @accuracy <R x, y> = <x, R^T y> to 1e-14 relative
KUGEL_API kugel_status kugel_regrid_adjoint(const kugel_regrid *plan, const kugel_array *out, const kugel_array *in,
                                            kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
