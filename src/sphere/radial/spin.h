/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial kernels for pairs of maps with a spin: between two pixels the pair is carried along their great
 * circle. */
#ifndef KUGEL_SPHERE_RADIAL_SPIN_H
#define KUGEL_SPHERE_RADIAL_SPIN_H

#include "sphere/radial/radial.h"

/* For colatitudes theta of the result and theta' of the pixel: cos((theta - theta') / 2), cos((theta +
 * theta') / 2). */
typedef struct kugel__radial_turn {
  double difference, sum;
  int spin;
} kugel__radial_turn;

/* Carried from longitude h on (of the pixel less that of the result), the pair is multiplied by
 * e^{i spin chi}, tan(chi / 2) = tan(h / 2) cos((theta + theta') / 2) / cos((theta - theta') / 2): Napier's
 * analogy for the two angles of the triangle with the pole. Both multiply K[e] by its cosine, sine[e] = K[e]
 * sin(spin chi). */
typedef struct kugel__radial_spin_ops {
  /* h = h0 + e step, e in [0, n), rounded up to whole vectors */
  void (*row)(const kugel__radial_turn *t, double h0, double step, int64_t n, double *K, double *sine);
  /* h = h0[g] + k step, e = k GROUP + g, k in [0, width) */
  void (*group)(const kugel__radial_turn *t, const double *h0, double step, int64_t width, double *K,
                double *sine);
} kugel__radial_spin_ops;

const kugel__radial_spin_ops *kugel__radial_spin_ops_now(void);

/* One pair of maps, of which the second lies p->grid->npix pixels after the first, to output rings [first,
 * end) and their mirrors. */
kugel_status kugel__radial_spin(const kugel_radial *p, const kugel__radial_io *io, int64_t first,
                                int64_t end);

#endif
