/* SPDX-License-Identifier: BSD-3-Clause */
/* A disc on the rings of pixels: on each, the run of pixels whose centres lie in it, or that overlap it.
 *
 * The height rho of a point is the ring through it, not only whole: z = 1 - rho^2 / (3 nside^2) in the
 * northern cap, z = 2/3 (2 - rho / nside) in the belt. psi is phi / (pi/2). In rho and psi the edges of a
 * pixel of ring i are (Gorski et al. 2005, section 5.2) straight in the belt, psi nside = k +- rho / 2, and
 * psi = q + k / rho or psi = q + 1 - k / rho in quarter q of the cap; its corners lie at rho = i - 1, i and i
 * + 1. So an end of the run that overlaps is the maximum over rho of the disc's edge less the pixel's, at a
 * whole rho or where the two are parallel. */
#ifndef KUGEL_HEALPIX_CAP_H
#define KUGEL_HEALPIX_CAP_H

#include "healpix/pix.h"

typedef struct kugel__cap_width {
  bool exists;         /* the disc reaches this height */
  double width, slope; /* half width in psi, 0 to 2, and its derivative by rho */
} kugel__cap_width;

typedef struct kugel__cap {
  int64_t nside;
  double z, s, theta, psi, radius, cos_radius; /* psi in [0, 4) */
  double top, bottom;                          /* its heights */
  int64_t first, last;                         /* rings that overlap it may be among these */
  kugel__cap_width near[3];                    /* at rings near_ring - 1 ... near_ring + 1 */
  int64_t near_ring;                           /* -2: none yet */
} kugel__cap;

/* Pixels lo to hi of a ring, perhaps beyond its ends by less than two turns; none if lo > hi. */
typedef struct kugel__pix_span {
  int64_t lo, hi;
} kugel__pix_span;

/* The height of a colatitude. */
double kugel__height(int64_t nside, double theta);

/* centre: a unit vector. */
kugel__cap kugel__cap_make(int64_t nside, const double *centre, double radius);
/* r: the ring's pixels. */
kugel__pix_span kugel__cap_centres(const kugel__cap *c, int64_t ring, kugel__ring r);
kugel__pix_span kugel__cap_overlap(kugel__cap *c, int64_t ring, kugel__ring r);

#endif
