/* SPDX-License-Identifier: BSD-3-Clause */
/* What io needs of HEALPix pixels. */
#ifndef KUGEL_IO_PIXELS_H
#define KUGEL_IO_PIXELS_H

#include <kugel/io.h>
#include "core/base.h"

/* n pixel numbers from one ordering to the other, in place. */
kugel_status kugel__pixels_convert(int64_t nside, kugel_order from, kugel_order to, int64_t n,
                                   int64_t *pixels);
/* Pixels hit by n directions [n, 3]. */
kugel_status kugel__pixels_at(int64_t nside, kugel_order order, int64_t n, const double *vec,
                              int64_t *pixels);
/* The four pixels about each direction and their bilinear weights, both [n, 4]. */
kugel_status kugel__pixels_around(int64_t nside, kugel_order order, int64_t n, const double *vec,
                                  int64_t *pixels, double *weights);

#endif
