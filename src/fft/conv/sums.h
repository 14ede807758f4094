/* SPDX-License-Identifier: BSD-3-Clause */
/* Products with spectra between the two halves of a convolution kernel, summed over inputs. */
#ifndef KUGEL_FFT_CONV_SUMS_H
#define KUGEL_FFT_CONV_SUMS_H

#include "fft/gpu/block_build.h"

/* Adds the product with the spectrum at `from` of an array of pairs to the sums; `first`: sets them. */
void kugel__add_product(kugel__build *k, kugel__cval *sum, const kugel__seat *s, kugel__val spectra,
                        kugel__val from, bool first);
/* The sums, exchanged, become the inputs of the stages back. */
void kugel__turn_back(kugel__build *k, const kugel__cval *sum, const kugel__seat *s);

#endif
