/* SPDX-License-Identifier: BSD-3-Clause */
/* Pixels about directions, as pictures need them. */
#ifndef KUGEL_PLOT_PIXELS_H
#define KUGEL_PLOT_PIXELS_H

#include "core/base.h"
#include <kugel/healpix.h>

/* The four pixels about each direction [n, 3] and their bilinear weights, both [n, 4]. */
kugel_status kugel__pixels_around(int64_t nside, kugel_order order, int64_t n, const double *vec,
                                  int64_t *pixels, double *weights);
#endif
