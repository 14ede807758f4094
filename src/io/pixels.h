/* SPDX-License-Identifier: BSD-3-Clause */
/* What io needs of HEALPix pixels. */
#ifndef KUGEL_IO_PIXELS_H
#define KUGEL_IO_PIXELS_H

#include <kugel/healpix.h>
#include <kugel/io.h>
#include "core/base.h"

/* n pixel numbers from one ordering to the other, in place. */
kugel_status kugel__pixels_convert(int64_t nside, kugel_order from, kugel_order to, int64_t n,
                                   int64_t *pixels);

#endif
