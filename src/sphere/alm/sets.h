/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of alm in host memory, float or double, and their columns of one order in double. */
#ifndef KUGEL_SPHERE_ALM_SETS_H
#define KUGEL_SPHERE_ALM_SETS_H

#include "core/base.h"

enum { KUGEL__MAX_SETS = 3 };

typedef struct kugel__alms {
  void *data[KUGEL__MAX_SETS]; /* [nalm] complex each */
  bool f32;
} kugel__alms;

/* Coefficients [at, at + n) of set c to and from a column of doubles; real: imaginary parts are zero. */
void kugel__alm_unpack(const kugel__alms *alm, int c, int64_t at, int64_t n, bool real, double *out);
void kugel__alm_pack(const kugel__alms *alm, int c, int64_t at, int64_t n, bool real, bool accumulate,
                     double *in);

#endif
