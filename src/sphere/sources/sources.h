/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for point sources. */
#ifndef KUGEL_SPHERE_SOURCES_SOURCES_H
#define KUGEL_SPHERE_SOURCES_SOURCES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/select.h"
#include "core/alloc.h"
#include "sphere/grid/mapops.h"
#include <kugel/healpix.h>
#include <kugel/sources.h>

typedef struct kugel__hunt {
  kugel_ctx *ctx;
  kugel_sources_opts o;
  const double *map, *filtered;
  double rms;
  int64_t capacity, *pixel; /* of a disc */
  double *distance, *value; /* [capacity] */
} kugel__hunt;

/* ---- sources_image.c ---- */

enum { KUGEL__SOURCES_WIDTHS = 22 };

/* T_w / T_fwhm(0) at angles i step, for w = fwhm 2^(k / 8 - 1), and the largest |T| from there on. */
typedef struct kugel__sources_image {
  int64_t n;
  double step, peak; /* peak: T_fwhm(0) */
  double *t, *env;   /* [KUGEL__SOURCES_WIDTHS][n] */
} kugel__sources_image;

/* t is to be freed, whatever is returned. */
kugel_status kugel__sources_image_make(const kugel__hunt *j, kugel__sources_image *im);
/* Of width fwhm 2^u: the value at angle a, the largest from there on, where it has fallen to 1e-3 of the centre for good. */
double kugel__sources_image_at(const kugel__sources_image *im, double u, double a);
double kugel__sources_beyond(const kugel__sources_image *im, double u, double a);
double kugel__sources_reach(const kugel__sources_image *im, double u);
double kugel__sources_curvature(const kugel__sources_image *im, double u);

/* ---- the search ---- */

/* Memory for discs of `radius`; pixel is to be freed. */
kugel_status kugel__sources_room(kugel__hunt *j, double radius);
/* All pixels of `filtered` above the threshold and their neighbours, with snr, by falling snr. */
kugel_status kugel__sources_peaks(const kugel__hunt *j, int64_t npix, kugel_source **out, int64_t *n);
bool kugel__sources_is_peak(const kugel__hunt *j, int64_t i, int64_t near[8]);
int kugel__sources_falling(const void *a, const void *b); /* by snr, for qsort */

/* Offsets of v from the centre c on its tangent plane, along kugel__sources_frame's axes. */
void kugel__sources_on_plane(const double c[3], const double v[3], double xy[2]);
/* Gaussian elimination with pivots; a is [n][n + 1], the result its last column. False if singular. */
bool kugel__sources_solve(double *a, int n);

/* Peaks of an unknown filter: places, drops those near higher ones, fits. */
kugel_status kugel__sources_describe(kugel__hunt *j, kugel_source *all, int64_t *n, double (*centre)[3]);
/* Sources of a known filter, brightest first, each taken off before the next. */
kugel_status kugel__sources_clean(kugel__hunt *j, kugel_source **out, int64_t *n);

#endif
