/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for a block's radices, threads and transforms by a model that was fitted to measurements. */
#ifndef KUGEL_FFT_GPU_SEARCH_H
#define KUGEL_FFT_GPU_SEARCH_H

#include "fft/gpu/block.h"

/* A multiprocessor of the device that was measured: registers, bytes of shared memory, of which a block takes some for itself,
 * threads and blocks at most. */
enum {
  KUGEL__SM_REGISTERS = 65536,
  KUGEL__SM_SHARED = 233472,
  KUGEL__SM_BLOCK_SHARED = 1024,
  KUGEL__SM_THREADS = 2048,
  KUGEL__SM_BLOCKS = 32
};

int64_t kugel__block_real_bytes(const kugel__block *b);
/* The most points of a thread in any stage. */
int kugel__block_most_points(const kugel__block *b);
/* Whether a device whose blocks have `shared` bytes can run it. */
bool kugel__block_fits(const kugel__block *b, uint64_t shared);
/* The best block of at most `stages` stages for the line of b, in which radix[0] is 1; false: none fits. */
bool kugel__block_search(const kugel__block *b, int stages, uint64_t shared, kugel__block *out);

#endif
