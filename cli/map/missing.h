/* SPDX-License-Identifier: BSD-3-Clause */
/* Pixels without a value: UNSEEN, NaN or infinite. */
#ifndef KUGEL_CLI_MISSING_H
#define KUGEL_CLI_MISSING_H

#include "map/skyops.h"

/* Says how many values of the maps in memory are missing, if any are, and what becomes of them. */
int64_t report_missing(const sky *s, const char *fate);
/* One byte per value [n, npix], 1 where it is missing; NULL with *mask when none is. */
int missing_mask(const sky *s, unsigned char **mask);
/* Blanks what is missing after a rotation: pixel x gets the mask of the pixel at matrix^T x (matrix row by row). The
 * maps are in RING order. Returns the number of values blanked in *count. */
int missing_turned(sky *s, const unsigned char *mask, int64_t nside, const double *matrix, int64_t *count);

/* Says so where lmax is beyond what pixels of nside carry. */
void report_beyond(int64_t nside, int64_t lmax);

#endif
