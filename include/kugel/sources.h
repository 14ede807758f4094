/* SPDX-License-Identifier: BSD-3-Clause */
/* Point sources: filters that detect them, and a catalogue of the sources of a filtered map.
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

enum {
  KUGEL_SOURCE_BLENDED = 1, /* another source of the catalogue lies within 2 FWHM */
  KUGEL_SOURCE_EDGE = 2,    /* a bad pixel lies within a FWHM */
  KUGEL_SOURCE_POLE = 4,    /* a pole lies within a FWHM */
  KUGEL_SOURCE_EXTENDED = 8 /* fwhm was fitted; else it is opts.fwhm */
};

typedef struct kugel_source {
  double theta, phi; /* radians */
  double snr;        /* the filtered map's peak over the rms of the filtered map */
  double peak;       /* height of the fitted Gaussian in the map, in its unit */
  double fwhm;       /* of the fitted Gaussian, radians */
  double flux;       /* integral of the fitted Gaussian: the map's unit times steradian */
  double background; /* of the map near the source, without the source: the constant of the fit, or the median */
  double position_error; /* standard deviation along either axis, radians */
  double peak_error, fwhm_error, flux_error; /* standard deviations */
  int64_t pixel; /* RING number of the filtered map's highest pixel */
  int64_t flags; /* sum of KUGEL_SOURCE_... */
} kugel_source;

typedef struct kugel_sources_opts {
  size_t size; /* sizeof(kugel_sources_opts) */
  int64_t nside;
  double fwhm;        /* of sources in the map, radians */
  double threshold;   /* in units of rms; 0: 5 */
  double rms;         /* of the filtered map; 0: 1.4826 times the median of |filtered - median| */
  int fixed_fwhm;     /* 1: all sources have the width fwhm; 0: widths from 1/2 to 3 times fwhm are fitted */
  int64_t kernel_lmax;
  const double *kernel; /* [kernel_lmax + 1] Legendre coefficients of the filter, see kugel_radial_coefficients;
                           they determine the image of a source in the filtered map; NULL: not known */
  double sidelobes; /* with a kernel: fraction of a brighter source's image, at and beyond a place, that its subtraction
                       may leave there; fainter peaks are not listed; 0: 0.02 */
} kugel_sources_opts;

/// The matched filter: of all linear filters that give a source of height 1 the value 1 at its centre, the
/// one of the least variance: psi_l = (b_l / P_l) / (sum_k (2k + 1) / 4 pi tau_k b_k / P_k), tau_l = b_l /
/// b(0), b(0) = sum_l (2l + 1) / 4 pi b_l. The filtered map is the convolution with the kernel whose Legendre
/// coefficients are psi_l.
/// @param[in]  lmax   at least 0
/// @param[in]  beam   [lmax + 1] window b_l of a source
/// @param[in]  power  [lmax + 1] spectrum of everything but sources: sky times b_l^2, and noise; positive
///                    where b_l is not 0; in unit^2 steradian
/// @param[out] psi    [lmax + 1]
/// @param[out] sigma  rms of the filtered map, in the map's unit; may be NULL
/// @errors KUGEL_EINVAL for numbers that are not finite, powers not above 0, or a beam that is 0
/// @cite   TegmarkOliveiraCosta1998 (removing point sources)
KUGEL_API kugel_status kugel_filter_matched(int64_t lmax, const double *beam, const double *power,
                                            double *psi, double *sigma);

/// Finds the sources of a filtered map. With opts.kernel, brightest first: the image of a source under the filter is
/// fitted to the highest peak (height, place and, where it is significant, width) and subtracted, so that its sidelobes
/// are not found as sources. Then neighbours are fitted again until they agree, and the residual map is searched again.
/// Heights are those of the filtered map, which has no background. Without a kernel, sources are the pixels above the
/// threshold and above all their neighbours, which must be observed, and not within half a FWHM of a higher such pixel.
/// Places are then those of a Gaussian through the filtered peak and its neighbours; heights, widths and fluxes those
/// of a Gaussian and a constant fitted to the map within 1.5 FWHM of the peak.
/// @param[in]  ctx       NULL: the default context
/// @param[in]  opts      see kugel_sources_opts
/// @param[in]  map       [12 nside^2] RING order; bad pixels are ignored
/// @param[in]  filtered  [12 nside^2] the map filtered, RING order; may be `map`
/// @param[in]  max       entries of `out`; 0: only count
/// @param[out] out       [max] by decreasing snr
/// @param[out] n         number of sources, which may exceed max
/// @errors KUGEL_EINVAL for values out of range, or no observed pixel; KUGEL_ENOMEM
/// @accuracy for an isolated source of known shape without noise: position 2% of the FWHM, flux 1%, if the FWHM is at
///           least 2 pixels. The standard deviations assume a matched filter and noise of the filtered map's rms;
///           fwhm_error is 1.5 fwhm / snr
/// @cost   O(npix), and the pixels within some FWHM of each source several times
KUGEL_API kugel_status kugel_sources_find(kugel_ctx *ctx, const kugel_sources_opts *opts, const double *map,
                                          const double *filtered, int64_t max, kugel_source *out, int64_t *n);

typedef struct kugel_catalogue_opts {
  size_t size; /* sizeof(kugel_catalogue_opts) */
  int32_t overwrite;
  char coordsys;      /* of theta and phi: 'G', 'E', 'C'; 0: not known */
  const char *coords; /* letters of further systems whose positions are written too, such as "CE"; needs coordsys */
  const char *unit;   /* of the map, such as "K" or "Jy/sr"; the flux is then in "K sr" or "Jy"; NULL: none */
  const char *history; /* FITS: HISTORY cards; NULL: none */
} kugel_catalogue_opts;

/// Writes a catalogue: a FITS table if the name ends in .fits, else comma-separated text whose first line has the
/// names of the columns: lon, lat (degrees), snr, peak, fwhm_arcmin, flux, background, position_error_arcmin,
/// peak_error, fwhm_error_arcmin, flux_error, id (1 ... n), pixel, flags; then lon and lat of further systems as
/// glon, glat, elon, elat or ra, dec. The file appears whole or not at all.
/// @param[in] ctx   NULL: the default context
/// @param[in] path  of the file
/// @param[in] opts  NULL for defaults
/// @param[in] n     number of sources, may be 0
/// @param[in] list  [n]
/// @errors KUGEL_EINVAL for coords without a coordsys or unknown letters; KUGEL_EIO; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_sources_write(kugel_ctx *ctx, const char *path, const kugel_catalogue_opts *opts,
                                           int64_t n, const kugel_source *list);

#ifdef __cplusplus
}
#endif
#endif
