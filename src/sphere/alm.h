/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of alm sets, shared by the alm tools. */
#ifndef KUGEL_SPHERE_ALM_H
#define KUGEL_SPHERE_ALM_H

#include "core/base.h"
#include <kugel/alm.h>

enum { KUGEL__ALM_LMAX = 100000000 };

/* Checks lmax and mmax, turns mmax = -1 into lmax and gives the number of coefficients of a set (may be
 * NULL). */
kugel_status kugel__alm_sizes(int64_t lmax, int64_t *mmax, int64_t *nalm);

/* Where order m starts, less m: a_lm is at offset + l. */
static inline int64_t kugel__alm_offset(int64_t lmax, int64_t m)
{
  return m * (2 * lmax + 1 - m) / 2;
}

#endif
