/* SPDX-License-Identifier: BSD-3-Clause */
/* What io needs of HEALPix pixels besides the public functions. */
#ifndef KUGEL_IO_PIXELS_H
#define KUGEL_IO_PIXELS_H

#include "core/base.h"
#include <kugel/healpix.h>

/* The four pixels about each direction [n, 3] and their bilinear weights, both [n, 4]. */
kugel_status kugel__pixels_around(int64_t nside, kugel_order order, int64_t n, const double *vec,
                                  int64_t *pixels, double *weights);
/* Is it a host array in C order of a type that values are kept in: float32, float64, int32, int64? */
kugel_status kugel__check_values(const kugel_array *a, const char *name);

#endif
