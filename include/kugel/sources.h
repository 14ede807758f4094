/* SPDX-License-Identifier: BSD-3-Clause */
/* Point sources: filters that show them, and a catalogue of the peaks of a filtered map.
 *
 *   kugel_filter_matched(lmax, beam, cl, lmax + 1, psi, &sigma);      then convolve with the series psi
 *   kugel_sources_find(NULL, &opts, map, filtered, max, catalogue, &n);
 */
#ifndef KUGEL_SOURCES_H
#define KUGEL_SOURCES_H

#include <kugel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kugel_source {
  double theta, phi; /* radians */
  double snr;        /* the filtered map's peak over the rms of the filtered map */
  double peak;       /* height of the fitted Gaussian in the map, in its unit */
  double fwhm;       /* of the fitted Gaussian, radians */
  double flux;       /* its integral: the map's unit times steradian */
  double background; /* the constant that was fitted with it, in the map's unit */
  int64_t pixel;     /* RING number of the filtered map's highest pixel */
} kugel_source;

typedef struct kugel_sources_opts {
  size_t size; /* sizeof(kugel_sources_opts) */
  int64_t nside;
  double fwhm;        /* of sources in the map, radians */
  double threshold;   /* in units of rms; 0: 5 */
  double rms;         /* of the filtered map; 0: 1.4826 times the median of |filtered - median| */
  int64_t fixed_fwhm; /* 1: sources have just that width; 0: a width from 1/2 to 3 times it is fitted */
} kugel_sources_opts;

/// The matched filter: of all linear filters that give a source of height 1 the value 1 at its centre, the
/// one of the least variance: psi_l = (b_l / P_l) / (sum_k (2k + 1) / 4 pi tau_k b_k / P_k), tau_l = b_l /
/// b(0), b(0) = sum_l (2l + 1) / 4 pi b_l. The filtered map is the convolution with the kernel whose Legendre
/// coefficients are psi_l.
/// @param[in]  lmax   at least 0
/// @param[in]  beam   [lmax + 1] window b_l of a source
/// @param[in]  power  [lmax + 1] spectrum of all that is no source: sky times b_l^2, and noise; positive
///                    where b_l is not 0; in unit^2 steradian
/// @param[out] psi    [lmax + 1]
/// @param[out] sigma  rms of the filtered map, in the map's unit; may be NULL
/// @errors KUGEL_EINVAL for numbers that are not finite, powers not above 0, or a beam that is 0
/// @cite   TegmarkOliveiraCosta1998 (removing point sources)
KUGEL_API kugel_status kugel_filter_matched(int64_t lmax, const double *beam, const double *power,
                                            double *psi, double *sigma);

/// Peaks of a filtered map: pixels above the threshold and above their neighbours, all of them observed, and
/// not within half a FWHM of a higher one. Positions are those of a Gaussian through the filtered peak and
/// its neighbours. Heights, widths and fluxes are those of a Gaussian and a constant fitted to the map
/// within 1.5 FWHM of it.
/// @param[in]  ctx       NULL: the default context
/// @param[in]  opts      see kugel_sources_opts
/// @param[in]  map       [12 nside^2] RING order; bad pixels are left out
/// @param[in]  filtered  [12 nside^2] the map filtered, RING order; may be `map`
/// @param[in]  max       room in `out`; 0 counts only
/// @param[out] out       [max] by falling snr
/// @param[out] n         number of peaks, which may exceed max
/// @errors KUGEL_EINVAL for values out of range, or no observed pixel; KUGEL_ENOMEM
/// @accuracy of an isolated source of known shape without noise: position 2% of the FWHM, flux 1%, where the
///           FWHM is at least 2 pixels
/// @cost   O(npix)
KUGEL_API kugel_status kugel_sources_find(kugel_ctx *ctx, const kugel_sources_opts *opts, const double *map,
                                          const double *filtered, int64_t max, kugel_source *out, int64_t *n);

#ifdef __cplusplus
}
#endif
#endif
