/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of couplings over bands of rows. */
#ifndef KUGEL_SPHERE_SPECTRA_SUMS_H
#define KUGEL_SPHERE_SPECTRA_SUMS_H

#include "sphere/spectra/coupling.h"

enum { KUGEL__SUMS = 32 /* most weights */ };

/* out[i][b][l'], zero before, += sum over l of band b of weight[i][l] Xi(l, l') of family[i]. */
typedef struct kugel__band_sums {
  int64_t bands;
  const int32_t *band; /* [lmax + 1] -1: of none */
  int count, family[KUGEL__SUMS];
  const double *weight; /* [count][lmax + 1] */
  double *out;          /* [count][bands][lmax + 1] */
} kugel__band_sums;

kugel_status kugel__coupling_sums(kugel_ctx *ctx, const kugel_coupling_opts *o, const kugel__band_sums *sums);

#endif
