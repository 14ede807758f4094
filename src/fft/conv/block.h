/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that convolve whole tiles in a block of threads: load, forward stages, times the kernels' spectra,
 * stages back, store; one read and one write of global memory.
 *
 * Two tiles of real data go through one complex transform as its real and imaginary parts: kernels are real
 * then, and the convolution of a + i b with them is that of a plus i times that of b. */
#ifndef KUGEL_FFT_CONV_BLOCK_H
#define KUGEL_FFT_CONV_BLOCK_H

#include "fft/gpu/block.h"
#include "fft/conv/conv.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* as kugel__block */
typedef struct kugel__conv_block {
  kugel__block block;    /* n = m = points of the box; spectrum: how many */
  kugel__conv_axis axis; /* its box is the block's */
  int inputs, outputs;
  bool complex_data, circular, each, unused[5];
} kugel__conv_block;
#pragma GCC diagnostic pop

/* Chooses boxes that a block can hold; false if there are none. shared: bytes that a block may have. */
bool kugel__conv_block_fit(const kugel__conv_axis *axis, bool circular, kugel__type real, uint64_t shared,
                           kugel__conv_block *out);

/* Parameters of the kernel: in, out (elements of the data), tables (complex: kugel__tables_of(block), the
 * spectra over the points of the box in it), then i64: lines (batches times tiles), in_at, in_batch,
 * in_channel, in_step, out_at, out_batch, out_channel, out_step in elements. Transforms: outputs for each
 * line, or pair of lines of reals. Name: fft_conv. */
void kugel__conv_block_build(const kugel__conv_block *c, kugel_ctx *ctx, kugel__gen *g);

#endif
