/* SPDX-License-Identifier: BSD-3-Clause */
/* Angular power spectra of masked maps: pseudo-spectra, coupling matrices, decoupled bandpowers and their windows.
 *
 *   kugel_apodise(NULL, &(kugel_apodise_opts){.size = sizeof(kugel_apodise_opts), .nside = nside, .radius = 0.03}, seen, mask);
 *   kugel_masked_opts field = {.size = sizeof field, .grid = grid, .lmax = lmax, .mask = mask, .iterations = 3};
 *   kugel_masked_alm(NULL, &field, map, alm);                                        // of mask times map
 *   kugel_alm_cl(NULL, lmax, KUGEL_ALL, alm, NULL, -1, pseudo);                      // see alm.h
 *   kugel_spectra_create(NULL, &opts, &plan);                                        // opts: spectrum of the mask, bands
 *   kugel_spectra_decouple(plan, pseudo, noise, bandpower);
 *
 * With w1, w2 the masks of two fields of spins s1, s2, W_k the cross spectrum of the masks and C_l' that of the fields, the mean
 * pseudo-spectrum is  <Ct_l> = sum_l' (2 l' + 1) Xi(l, l') C_l'  plus that of the noise (Hivon et al. 2002, ApJ 567, 2; Brown et al.
 * 2005, MNRAS 360, 1262). Spectra of a pair are in this order: 00; 0E, 0B; EE, EB, BE, BB. All spectra hold every degree from 0.
 */
#ifndef KUGEL_SPECTRA_H
#define KUGEL_SPECTRA_H

#include <kugel/alm.h>
#include <kugel/sphere.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- masks ----------------------------------------------------------------------------------------------------- */

typedef enum kugel_apodisation {
  KUGEL_APODISE_C1 = 0, /* x - sin(2 pi x) / (2 pi) */
  KUGEL_APODISE_C2 = 1, /* (1 - cos(pi x)) / 2 */
  KUGEL_APODISE_GAUSS = 2 /* zero within 2.5 radius of a masked pixel, then smoothed by a Gaussian of sigma = radius */
} kugel_apodisation;

typedef struct kugel_apodise_opts {
  size_t size; /* sizeof(kugel_apodise_opts) */
  int64_t nside;
  kugel_apodisation kind;
  double radius; /* radians, above 0 to pi: where the window reaches 1 */
} kugel_apodise_opts;

/// Multiplies a mask by a window that falls smoothly to 0 at its masked pixels (those not above 0). With theta the angle to the
/// nearest of their centres, the window is a function of x = sqrt((1 - cos theta) / (1 - cos radius)) up to x = 1, and 1 beyond:
/// NaMaster's "C1", "C2" and "Smooth". (Grain et al. 2009 give the names C1 and C2 the other way round.)
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_apodise_opts
/// @param[in]  mask  [12 nside^2] RING order, finite
/// @param[out] out   [12 nside^2] may be `mask`
/// @errors KUGEL_EINVAL for values out of range or a mask that is not finite, KUGEL_ENOMEM, KUGEL_ECANCELED
/// @accuracy rounding; GAUSS has the exact disc of 2.5 radius about each masked pixel (NaMaster's reaches up to a pixel farther)
/// @cost   O(npix) and, near edges, about sqrt(radius / pixel size) steps per pixel; GAUSS: eight scalar transforms too
/// @cite   Grain2009 (PRD 79, 123515), Alonso2019 (NaMaster)
KUGEL_API kugel_status kugel_apodise(kugel_ctx *ctx, const kugel_apodise_opts *opts, const double *mask, double *out);

/// Angle from each pixel's centre to the nearest masked pixel's centre: 0 at masked pixels, pi everywhere if none is masked.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  nside  a power of two, 1 to 2^13
/// @param[in]  limit  radians, above 0: distances beyond it are returned as pi; pi for all of them
/// @param[in]  mask   [12 nside^2] RING order; masked: not above 0
/// @param[out] out    [12 nside^2] radians
/// @errors KUGEL_EINVAL for values out of range, KUGEL_ENOMEM, KUGEL_ECANCELED
/// @cost   as kugel_apodise
KUGEL_API kugel_status kugel_mask_distance(kugel_ctx *ctx, int64_t nside, double limit, const double *mask,
                                           double *out);

/* ---- masked fields --------------------------------------------------------------------------------------------- */

typedef struct kugel_masked_opts {
  size_t size; /* sizeof(kugel_masked_opts) */
  const kugel_grid *grid;
  int64_t lmax;       /* of the coefficients, mmax = lmax */
  int spin;           /* 0: one map; 1 and more: two maps, for 2 Q and U */
  const double *mask; /* [npix] weights; maps may hold anything, UNSEEN and NaN too, where it is 0 */
  kugel_weights weights;
  int iterations;     /* Jacobi refinements of each analysis; NaMaster's default is 3 */
  /* Spin 2: 1 gives pure E or B coefficients, to which the other's ambiguous modes near the mask's edge do not leak. Needs a mask
   * that goes smoothly to 0 (kugel_apodise). Couplings differ: say so in kugel_spectra_opts too. */
  int pure_e, pure_b;
  int64_t lmax_mask;  /* with pure_e or pure_b: the mask's derivatives are taken from its degrees up to this; 0: lmax */
  /* 1: pure components use the map beyond the mask too, where it is not bad: the mask's derivatives, of finite resolution, do not
   * vanish there. Purer where the mask falls within few pixels (at four pixels ten thousand times), but what is bright beyond
   * the mask leaks in. */
  int beyond_mask;
  int64_t templates;  /* of contaminants, at most 1000: their components along the masked map are removed */
  const double *template_maps; /* [templates][1 or 2][npix], without the mask */
  double template_cutoff; /* a template is left out if the part that others do not span has less than this of the largest's
                             squared norm; 0: 1e-10 */
} kugel_masked_opts;

/// Coefficients of a masked map.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_masked_opts
/// @param[in]  map   [1 or 2][npix]
/// @param[out] alm   [1 or 2][nalm], nalm = kugel_alm_count(lmax, KUGEL_ALL): of spin s, E and B
/// @errors KUGEL_EINVAL for values out of range or a pixel that is not finite or UNSEEN where the mask is not 0, which is named;
///         KUGEL_ENOTSUP for purification of spins other than 2; KUGEL_ENOMEM, KUGEL_ECANCELED
/// @cost   an analysis; purified: two syntheses and four more analyses
/// @cite   Smith2006 (PRD 74, 083002), Grain2009, Elsner2017 (templates)
KUGEL_API kugel_status kugel_masked_alm(kugel_ctx *ctx, const kugel_masked_opts *opts, const double *map,
                                        kugel_complex *alm);

/* ---- couplings ------------------------------------------------------------------------------------------------- */

enum {
  KUGEL_COUPLING_00 = 1,    /* of two scalar fields */
  KUGEL_COUPLING_0S = 2,    /* of a scalar field and one of spin2: TE from TE, TB from TB */
  KUGEL_COUPLING_PLUS = 4,  /* of spins spin1 and spin2: EE from EE, EB from EB */
  KUGEL_COUPLING_MINUS = 8, /* EE from BB, and minus EB from BE */
  KUGEL_COUPLING_ALL = 15,
  KUGEL_COUPLING_MAX_SPIN = 5
};

typedef struct kugel_coupling_opts {
  size_t size; /* sizeof(kugel_coupling_opts) */
  int64_t lmax, lmax_mask; /* of fields, 0 to 100,000; of the mask. Exact for a mask whose spectrum vanishes beyond lmax_mask */
  int spin1, spin2;        /* 0 to KUGEL_COUPLING_MAX_SPIN */
  int families;            /* sum of KUGEL_COUPLING_... */
  const double *mask_cl;   /* [lmax_mask + 1] spectrum of the mask, or cross spectrum of two (kugel_alm_cl) */
} kugel_coupling_opts;

/// Couplings Xi(l, l') of the degrees of masked fields, symmetric; the mean pseudo-spectrum is sum_l' (2 l' + 1) Xi(l, l') C_l'.
/// Rows and columns below a spin are 0.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_coupling_opts
/// @param[out] xi    [families asked for, in the order of their numbers][lmax + 1][lmax + 1]
/// @errors KUGEL_EINVAL for values out of range or a spectrum that is not finite, KUGEL_ENOMEM, KUGEL_ECANCELED
/// @accuracy 1e-14 of each element of 00, PLUS and MINUS of equal spins, if the spectrum is not negative; else of the sum of moduli.
///           The same bits for any number of threads
/// @cost   lmax^3 / 8 steps of 2 (00) to 14 (all four, spin 2) vector instructions; on the context's device if it has double
///         precision
KUGEL_API kugel_status kugel_coupling(kugel_ctx *ctx, const kugel_coupling_opts *opts, double *xi);

/// The same for several masks, to an array that may be on the context's device.
/// @param[in]  ctx      NULL: the default context
/// @param[in]  opts     see kugel_coupling_opts; opts.mask_cl is not used
/// @param[in]  mask_cl  float64 [masks..., lmax_mask + 1] on the host: spectra of masks
/// @param[out] xi       float64 [masks..., families, lmax + 1, lmax + 1]
/// @param[in]  queue    of the context, may be NULL: its work comes before. The call returns when xi is written
/// @errors as kugel_coupling, and KUGEL_ESHAPE, KUGEL_EDTYPE, KUGEL_EDEVICE of arrays
/// @cost   as kugel_coupling per mask
KUGEL_API kugel_status kugel_couplings(kugel_ctx *ctx, const kugel_coupling_opts *opts, const kugel_array *mask_cl,
                                       const kugel_array *xi, kugel_queue *queue);

/* ---- bandpowers ------------------------------------------------------------------------------------------------ */

typedef struct kugel_spectra kugel_spectra;

typedef struct kugel_spectra_opts {
  size_t size; /* sizeof(kugel_spectra_opts) */
  int64_t lmax, lmax_mask;
  int spin1, spin2;
  const double *mask_cl;         /* [lmax_mask + 1] cross spectrum of the two masks */
  const double *beam1, *beam2;   /* [lmax + 1] windows of the fields, of pixels too; NULL: 1 */
  int pure_e1, pure_b1, pure_e2, pure_b2; /* as the fields were made; spin 2 only */
  int64_t bands;                 /* 1 to lmax + 1 */
  const int32_t *band;           /* [lmax + 1] the band of each degree, 0 to bands - 1; -1: of none */
  const double *weight;          /* [lmax + 1] of a degree in its band; NULL: equal. Weights of a band are scaled to sum 1 */
  const double *factor;          /* [lmax + 1] bandpowers are of factor[l] C_l, such as l (l + 1) / 2 pi; NULL: 1 */
} kugel_spectra_opts;

typedef struct kugel_spectra_info {
  size_t size;      /* sizeof(kugel_spectra_info) */
  int64_t spectra;  /* of the pair: 1, 2 or 4 */
  int64_t bands, lmax;
  double condition; /* estimated condition number of the binned coupling matrix, in the 1-norm */
  double mask_tail; /* part of sum (2 k + 1) |W_k| in the last tenth of the degrees to lmax_mask: above 1e-3, the mask's
                       power beyond lmax_mask, which is left out, may bias the highest bands */
} kugel_spectra_info;

/// Plans the bandpowers of a pair of masked fields: the binned coupling matrix K = P M Q and its factors, P the weighted mean
/// over a band, Q a spectrum constant (times 1 / factor) in each band.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  opts  see kugel_spectra_opts; the arrays are copied
/// @param[out] out   the plan: immutable, any number of threads may use it
/// @errors KUGEL_EINVAL for values out of range, an empty band, or bands that the mask cannot tell apart (a condition number above
///         1e12), which is named; KUGEL_ENOMEM, KUGEL_ECANCELED
/// @cost   that of kugel_coupling without its matrix: memory for bands x (lmax + 1) numbers per family. A device of the context
///         with double precision makes the couplings and their sums over bands
KUGEL_API kugel_status kugel_spectra_create(kugel_ctx *ctx, const kugel_spectra_opts *opts, kugel_spectra **out);

/// Releases a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_spectra_destroy(kugel_spectra *plan);

/// What a plan holds.
/// @param[in]     plan  a plan
/// @param[in,out] info  set info->size first
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_spectra_get_info(const kugel_spectra *plan, kugel_spectra_info *info);

/// Mean pseudo-spectrum of fields with the spectrum cl: couplings and beams.
/// @param[in]  plan  a plan
/// @param[in]  cl    [spectra][lmax + 1]
/// @param[out] out   [spectra][lmax + 1]; not `cl`
/// @errors KUGEL_EINVAL, KUGEL_ENOMEM, KUGEL_ECANCELED
/// @cost   that of kugel_coupling
KUGEL_API kugel_status kugel_spectra_couple(const kugel_spectra *plan, const double *cl, double *out);

/// Bandpowers of a pseudo-spectrum: K^-1 P (pseudo - noise).
/// @param[in]  plan    a plan
/// @param[in]  pseudo  [spectra][lmax + 1]
/// @param[in]  noise   [spectra][lmax + 1] pseudo-spectrum of noise or contaminants to be subtracted; NULL: none
/// @param[out] out     [spectra][bands]
/// @errors KUGEL_EINVAL, KUGEL_ENOMEM
KUGEL_API kugel_status kugel_spectra_decouple(const kugel_spectra *plan, const double *pseudo, const double *noise,
                                              double *out);

/// Windows of the bandpowers: a spectrum C gives, in the mean, the bandpowers sum over spectra j and l of windows[i][b][j][l] C_jl.
/// Compare data with theory by these, not with the theory at a band's centre.
/// @param[in]  plan  a plan
/// @param[out] out   [spectra][bands][spectra][lmax + 1]
/// @errors KUGEL_EINVAL, KUGEL_ENOMEM
KUGEL_API kugel_status kugel_spectra_windows(const kugel_spectra *plan, double *out);

typedef struct kugel_bandpowers_opts {
  size_t size; /* sizeof(kugel_bandpowers_opts) */
  int32_t overwrite;
  int64_t lmax, bands;
  const int32_t *band;         /* [lmax + 1] */
  const double *weight;        /* [lmax + 1] NULL: equal */
  int64_t spectra;
  const char *const *names;    /* [spectra] such as "TE" */
  const double *const *values; /* [spectra][bands] */
  const double *const *errors; /* [spectra][bands] standard deviations; NULL: none */
} kugel_bandpowers_opts;

/// Writes bandpowers as comma-separated text. The first line names the columns: band, lmin, lmax, leff (the weighted mean degree), then
/// each spectrum, followed by NAME_error if errors are given. The file appears whole or not at all.
/// @param[in] ctx   NULL: the default context
/// @param[in] path  of the file
/// @param[in] opts  see kugel_bandpowers_opts
/// @errors KUGEL_EINVAL for missing arrays, KUGEL_EIO, KUGEL_ENOMEM
KUGEL_API kugel_status kugel_bandpowers_write(kugel_ctx *ctx, const char *path, const kugel_bandpowers_opts *opts);

/* ---- covariance ------------------------------------------------------------------------------------------------- */

typedef struct kugel_covariance_opts {
  size_t size; /* sizeof(kugel_covariance_opts) */
  int64_t lmax_mask;
  /* [lmax_mask + 1] Cross spectra of products of masks: of w_a w_c with w_b w_d, and of w_a w_d with w_b w_c. */
  const double *mask_ac_bd, *mask_ad_bc;
  /* Spectra of the pairs of fields, [1, 2 or 4][lmax + 1] each, beams and noise included. Coupled ones over the mean of the product of
   * the two masks (kugel_spectra_couple) are the better choice than those of the unmasked fields. */
  const double *cl_ac, *cl_ad, *cl_bc, *cl_bd;
} kugel_covariance_opts;

/// Covariance of the bandpowers of fields a, b (of `first`) with those of fields c, d (of `second`), if all are Gaussian, in the
/// narrow-kernel approximation: spectra vary little over the width of a coupling. Purification is not taken into account.
/// @param[in]  first   plan of a and b
/// @param[in]  second  plan of c and d, of the same lmax; may be `first`
/// @param[in]  opts    see kugel_covariance_opts
/// @param[out] out     [spectra of first][bands][spectra of second][bands]
/// @errors KUGEL_EINVAL for values out of range, numbers that are not finite, plans of different lmax; KUGEL_ENOMEM, KUGEL_ECANCELED
/// @cost   two couplings, and up to 24 sums over lmax^2 of their elements
/// @cite   GarciaGarcia2019 (JCAP 11, 043), Nicola2021 (JCAP 03, 067)
KUGEL_API kugel_status kugel_spectra_covariance(const kugel_spectra *first, const kugel_spectra *second,
                                                const kugel_covariance_opts *opts, double *out);

#ifdef __cplusplus
}
#endif
#endif
