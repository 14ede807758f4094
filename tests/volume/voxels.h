/* SPDX-License-Identifier: BSD-3-Clause */
/* Voxels of any type that tests fill alike. */
#ifndef KUGEL_TESTS_VOLUME_VOXELS_H
#define KUGEL_TESTS_VOLUME_VOXELS_H

#include "check.h"

/* 16 bits: 0 to 60000; else -1 to 1. */
static inline void fill_voxels(kugel_dtype type, char *voxels, int64_t n, uint64_t *seed)
{
  for (int64_t i = 0; i < n; i++) {
    double v = check_random(seed);
    if (type.bits == 16)
      ((uint16_t *)(void *)voxels)[i] = (uint16_t)(30000 + 30000 * v);
    else if (type.bits == 32)
      ((float *)(void *)voxels)[i] = (float)v;
    else
      ((double *)(void *)voxels)[i] = v;
  }
}

#endif
