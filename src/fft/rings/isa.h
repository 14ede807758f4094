/* SPDX-License-Identifier: BSD-3-Clause */
/* The DFTs of ringdft.isa.c, for the table of inner loops. */
#ifndef KUGEL_FFT_RINGS_ISA_H
#define KUGEL_FFT_RINGS_ISA_H

#include "core/shuffle.h"
#include "fft/rings/plan.h"

void ISA_NAME(kugel__ring_dft)(const kugel__ring_length *len, const double *re, const double *im,
                               double *out_re, double *out_im, double *work);
void ISA_NAME(kugel__ring_dft_many)(const kugel__ring_length *len, int count, const double *const *re,
                                    const double *const *im, double *const *out_re, double *const *out_im,
                                    double *work);

#endif
