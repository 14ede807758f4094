/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of alm sets, shared by the alm tools. */
#ifndef KUGEL_SPHERE_ALM_ALM_H
#define KUGEL_SPHERE_ALM_ALM_H

#include "core/base.h"
#include <kugel/alm.h>

enum { KUGEL__LMAX = 100000000 }; /* the highest degree anywhere */

/* What an argument mmax stands for, 0 to lmax; -1: nothing. */
static inline int64_t kugel__mmax(int64_t lmax, int64_t mmax)
{
  if (mmax == KUGEL_ALL)
    return lmax;
  if (mmax == KUGEL_ONLY_M0)
    return 0;
  return mmax < 0 || mmax > lmax || (mmax == 0 && lmax > 0) ? -1 : mmax;
}

/* Checks lmax and mmax, an argument or, where 0 is the default, an option; puts the order that it stands for in its place
 * and gives the number of coefficients of a set (may be NULL). */
kugel_status kugel__alm_option(int64_t lmax, int64_t *mmax, int64_t *nalm);
kugel_status kugel__alm_sizes(int64_t lmax, int64_t *mmax, int64_t *nalm);

/* Where order m starts, less m: a_lm is at offset + l. */
static inline int64_t kugel__alm_offset(int64_t lmax, int64_t m)
{
  return m * (2 * lmax + 1 - m) / 2;
}

#endif
