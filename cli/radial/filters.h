/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial kernels as commands choose them, and convolution with them. */
#ifndef KUGEL_CLI_FILTERS_H
#define KUGEL_CLI_FILTERS_H

#include "map/skyops.h"

/* Where sums over pixels end. */
#define CUT_OPTIONS(X)                                                                                       \
  X(radius, 'r', ARG_ANGLE, "ANGLE", NULL, 1e-9, M_PI,                                                       \
    "sums over pixels: leave out pixels farther than this")                                                  \
  X(cut_rms, 0, ARG_REAL, "X", "1e-5", 1e-15, 0.5,                                                           \
    "sums over pixels: where --radius is not given, so far that smoothed white noise has this rms error "    \
    "relative to its rms; it also bounds the error of rings and auto")

/* What a user asked for. Angles in radians; texts NULL if not given. */
typedef struct filter {
  kugel_radial_kernel kernel; /* KUGEL_RADIAL_SERIES: the matched filter */
  double width;
  kugel_radial_method method;
  double radius, cut_rms; /* cut-off; else the rms error of smoothed white noise that it makes; 0: 1e-5 */
  bool normalise_mask;
  int spin;          /* of pairs of maps: 2 for Q and U */
  bool ring_by_ring; /* not by harmonics, which need whole maps */
  /* matched filter */
  double fwhm;
  const char *beam, *cl; /* files; no cl: the map's own spectrum */
  double noise;          /* rms of a pixel */
  int64_t lmax;
  double sigma; /* filled in: rms of the filtered map by theory */
} filter;

void radial_close(kugel_radial **plan);
#define RADIAL __attribute__((cleanup(radial_close)))

/* Makes the plan (of a matched filter without a spectrum: for the first map in memory), and says what it is;
 * for pairs (spin) it says nothing again. */
int filter_plan(filter *f, const sky *s, kugel_radial **plan);
/* Seconds and bytes of a dry run, and what sums over pixels do (auto: the method that was chosen); mem: bytes that are not exceeded, 0: no limit. */
int filter_estimate(filter *f, const sky *s, int64_t mem);
/* What a run costs that reads s, convolves and writes it: for the progress bar. */
void filter_costs(const filter *f, const sky *s);
/* Sums over pixels that a sky in memory takes, in units of one map: a pair with a spin costs as much as three, and each plan
 * may have to sum a constant map, too. */
double sky_sums(const sky *s);
/* Convolves maps [first, end) in memory, `each` (1, or 2 with a spin) at a time, in place. */
int sky_convolve(sky *s, const kugel_radial *plan, int64_t first, int64_t end, int64_t each);

#endif
