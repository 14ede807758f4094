/* SPDX-License-Identifier: BSD-3-Clause */
/* Regridding: maps from one grid to another through their spherical-harmonic coefficients, by analysis, truncation, an
 * optional beam, and synthesis. Maps that are band-limited to the plan's lmax are regridded exactly, wherever the
 * pixels lie.
 *
 *   kugel_regrid_opts opts = {.size = sizeof opts, .from = gauss, .to = healpix, .lmax = 255};   // two kugel_grid *
 *   kugel_regrid *plan;
 *   if (kugel_regrid_create(NULL, &opts, &plan)) fprintf(stderr, "%s\n", kugel_last_error());
 *   int64_t n_in = kugel_grid_npix(gauss), n_out = kugel_grid_npix(healpix);
 *   kugel_regrid_execute(plan, KUGEL_ARRAY(in, KUGEL_F64, n_in), KUGEL_ARRAY(out, KUGEL_F64, n_out), NULL);
 *   kugel_regrid_destroy(plan);
 *
 * Vectors are pairs (v_theta, v_phi) of spin 1. Winds (u eastward, v northward) are the same field turned by 90 degrees,
 * (-v, u), and this turn commutes with all steps: the input may be (u, v), and the output is then (u, v).
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
  int64_t lmax; /* of the regridded field; 0: the lower kugel_grid_lmax of the two grids */
  int spin;     /* 0: scalars; 1: vectors; 2: (Q, U); and so on: pairs of maps */
  double fwhm;  /* of a Gaussian beam, radians; 0: none */
  int64_t n_window;
  const double *window; /* [n_window] instead of fwhm: factors f_l of the coefficients, zero beyond; NULL: none */
  kugel_weights weights;
  int iterations;              /* of the analysis; on HEALPix 3 are usual */
  kugel_bad_pixels bad_pixels; /* of the input */
  double least_good; /* with KUGEL_BAD_ZERO: result pixels are UNSEEN where the input's mask (1 good, 0 bad), regridded
                        like a map, is below this; 0: the mask is not regridded */
  int beyond_band_limit; /* 1: lmax may exceed the degree to which analysis on `from` is exact; see kugel_sht_opts */
} kugel_regrid_opts;

/// Plans regridding.
/// @param[in]  ctx   NULL: the default context; on a device the transforms run there, as for kugel_sht_create
/// @param[in]  opts  see kugel_regrid_opts; the plan keeps the grids alive
/// @param[out] out   the plan: immutable, any number of threads may execute it
/// @errors KUGEL_EINVAL for values out of range, a custom grid without lmax, or an lmax that kugel_sht_analysis
///         rejects; KUGEL_ENOTSUP if `from` has no quadrature weights; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_regrid_create(kugel_ctx *ctx, const kugel_regrid_opts *opts, kugel_regrid **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_regrid_destroy(kugel_regrid *plan);

typedef struct kugel_regrid_info {
  size_t size;               /* sizeof(kugel_regrid_info), set by the caller */
  int64_t lmax;              /* in force */
  int64_t npix_in, npix_out; /* pixels of an input and of an output map */
} kugel_regrid_info;

/// Reports the shapes of a plan's arrays.
/// @param[in]     plan  a plan
/// @param[in,out] info  its size set; the rest is filled
/// @errors KUGEL_EINVAL if a pointer is NULL or info->size is not set
KUGEL_API kugel_status kugel_regrid_get_info(const kugel_regrid *plan, kugel_regrid_info *info);

/// Regrids maps.
/// @param[in]  plan   a plan
/// @param[in]  in     [batch..., npix_in], with spin [batch..., 2, npix_in], real
/// @param[out] out    [batch..., npix_out], with spin [batch..., 2, npix_out], real
/// @param[in]  queue  on a device with arrays in its memory: where the work is queued; the call returns when it is done
/// @errors KUGEL_ESHAPE; KUGEL_EINVAL for bad pixels unless opts.bad_pixels allows them; KUGEL_ENOTSUP for least_good with
///         one array in device memory and one in host memory; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy relative L2 error below 1e-13 sqrt(lmax / 100) for maps that the input's grid represents to lmax
/// @cost   an analysis (with its iterations) and a synthesis; twice as much with bad pixels and least_good
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
