/* SPDX-License-Identifier: BSD-3-Clause */
/* The DFT of a few values in registers, for generated functions. */
#ifndef KUGEL_FFT_ROOTS_DFT_H
#define KUGEL_FFT_ROOTS_DFT_H

#include "codegen/gen.h"

enum { KUGEL__DFT_MAX = 49 };

/* x_k <- sum_j x_j e^{sign 2 pi i j k / n}, 1 <= n <= KUGEL__DFT_MAX; natural order. Primes by symmetric sums
 * (2 n^2 operations), coprime factors by Good and Thomas (no twiddles), others by Cooley and Tukey. */
void kugel__fft_dft(kugel__gen *g, kugel__cval *x, int n, int sign);

#endif
