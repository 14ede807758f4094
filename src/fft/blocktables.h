/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of block kernels, complex doubles; for float kernels the caller rounds them. */
#ifndef KUGEL_FFT_BLOCKTABLES_H
#define KUGEL_FFT_BLOCKTABLES_H

#include "fft/block.h"

/* t: kugel__block_tables(b) complex numbers. */
kugel_status kugel__block_fill_tables(const kugel__block *b, kugel_ctx *ctx, double *t);
/* roots: of a line of `big` points: b->fine + big / b->fine + 1 complex numbers. */
void kugel__block_fill_roots(const kugel__block *b, int64_t big, double *roots);

#endif
