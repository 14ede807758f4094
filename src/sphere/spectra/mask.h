/* SPDX-License-Identifier: BSD-3-Clause */
/* Masks: distances to masked pixels, and what the transforms of masked fields share. */
#ifndef KUGEL_SPHERE_SPECTRA_MASK_H
#define KUGEL_SPHERE_SPECTRA_MASK_H

#include <kugel/spectra.h>
#include "core/base.h"

/* That nside is a power of two of at most 8192, and that the mask is finite. */
kugel_status kugel__mask_check(int64_t nside, const double *mask);
/* out [12 nside^2] length of the chord to the nearest masked pixel, infinite beyond `limit`; RING order; not `mask`. */
kugel_status kugel__mask_chords(kugel_ctx *ctx, int64_t nside, double limit, const double *mask, double *out);

#endif
