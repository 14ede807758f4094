/* SPDX-License-Identifier: BSD-3-Clause */
/* Between fused_kernel.c, which writes the text of a kernel, and fused_hooks.c, which writes the steps of deconvolution in
 * its loads and stores. */
#ifndef KUGEL_VOLUME_FUSED_BUILD_H
#define KUGEL_VOLUME_FUSED_BUILD_H

#include "fft/gpu/block_build.h"
#include "volume/gpu/fused.h"

typedef struct kugel__fused_walk { // lines in memory
  kugel__val at, d0, d1, step, first, held;
  kugel__val base; // of the thread's line
} kugel__fused_walk;

typedef struct kugel__fused_builder {
  kugel__build k; // first: what the stages need
  const kugel__fused_kernel *f;
  kugel__fused_walk in, out;
  kugel__val spectra, map, rows, window, weights, clipped;
  kugel__val before, momentum, observed, partial, object, sensitivity, moved, level, partials;
  kugel__val spectrum_at, spectrum_step, map_at, window_at, weights_at, rows_at;
  kugel__val line; // the thread's, the last one for spare threads
} kugel__fused_builder;

/* The element of the line that point p is. */
kugel__val kugel__fused_element(kugel__fused_builder *b, const kugel__fused_walk *w, kugel__val p);
/* e^{-i pi p / 2n} */
kugel__cval kugel__fused_twist(kugel__fused_builder *b, kugel__val p);

bool kugel__fused_hooked(const kugel__fused_kernel *f); /* what is stored */
void kugel__fused_hook_parameters(kugel__fused_builder *b);
void kugel__fused_hook_values(kugel__fused_builder *b);
/* x, the voxel at `at`, and how far it went in the last step. */
kugel__val kugel__fused_extrapolate(kugel__fused_builder *b, kugel__val at, kugel__val x);
void kugel__fused_store_hooked(kugel__fused_builder *b, const kugel__seat *s);

#endif
