/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the points of a block's transforms lie in shared memory: padded where a simulation of the 32 banks
 * says so. */
#ifndef KUGEL_FFT_GPU_BANKS_H
#define KUGEL_FFT_GPU_BANKS_H

#include "fft/gpu/block.h"

/* Point p of transform `slot` is number (p + p / pad) point_step + slot slot_step of `plane` points: of
 * pairs, or its real part is that element and its imaginary part is `plane` more. */
typedef struct kugel__bank_layout {
  bool pairs;
  int64_t pad; /* 0: none */
  int64_t point_step, slot_step, plane;
} kugel__bank_layout;

kugel__bank_layout kugel__bank_layout_of(const kugel__block *b);
/* What it costs that 32 threads each put points i, i + 1 ... at places order[i] and take them from -order[i]
 * modulo m. */
int64_t kugel__bank_scatter(const kugel__block *b, const uint32_t *order);

#endif
