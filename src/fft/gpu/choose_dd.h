/* SPDX-License-Identifier: BSD-3-Clause */
/* What kugel__block_fit and kugel__block_across choose for double-double. */
#ifndef KUGEL_FFT_GPU_CHOOSE_DD_H
#define KUGEL_FFT_GPU_CHOOSE_DD_H

#include "fft/gpu/block.h"

bool kugel__block_fit_dd(int64_t n, uint64_t shared, kugel__block *out);
void kugel__block_across_dd(kugel__block *b, bool in, uint64_t shared);

#endif
