/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels that take the lines along the last axis of boxes of spectra there and back in a block of threads:
 * forward, times the kernels' spectra, inverse. What is padding is not read, and results alone are written.
 */
#ifndef KUGEL_FFT_CONV_LINE_H
#define KUGEL_FFT_CONV_LINE_H

#include "fft/gpu/block.h"
#include "fft/conv/conv.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded" /* as kugel__block */
typedef struct kugel__conv_line {
  kugel__block block;    /* n = m = points of the axis */
  kugel__conv_axis axis; /* with one tile */
  int inputs, outputs;
  bool each, unused[7];
} kugel__conv_line;
#pragma GCC diagnostic pop

/* False if no block holds lines of axis->box points. */
bool kugel__conv_line_fit(const kugel__conv_axis *axis, kugel__type real, uint64_t shared,
                          kugel__conv_line *out);

/* Parameters of the kernel: in [boxes, inputs, lines, fill], out [boxes, outputs, lines, step], tables
 * (kugel__tables_of(block)), spectra [outputs, inputs, lines, box] or with `each` [outputs, lines, box], all
 * complex; i64 boxes, lines. Transforms: boxes x outputs x lines. Name: fft_conv. */
void kugel__conv_line_build(const kugel__conv_line *c, kugel_ctx *ctx, kugel__gen *g);

#endif
