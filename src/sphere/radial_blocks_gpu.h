/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution on devices by blocks of rings: for maps larger than a device's memory, tables too long
 * for one plan, and several devices.
 *
 * A block is a run of output ring pairs with all rings within the cut-off of any. Its plan is a view of the
 * whole one whose rings lie side by side in maps of their own, so that results have the bits of the whole
 * plan. A lane is a device: it keeps the tables of all its blocks, and work memory for one at a time unless
 * it has but one. */
#ifndef KUGEL_SPHERE_RADIAL_BLOCKS_GPU_H
#define KUGEL_SPHERE_RADIAL_BLOCKS_GPU_H

#include <pthread.h>
#include "device/device.h"
#include "sphere/grid.h"
#include "sphere/radial_spectra.h"
#include "sphere/stretch.h"

typedef struct kugel__radial_block {
  int64_t p0, p1; /* output pairs */
  kugel_radial view;
  kugel_grid grid; /* of which npix counts only */
  kugel__radial_spectra spectra;
  int64_t nin, nout;
  kugel__stretch *in, *out;
} kugel__radial_block;

typedef struct kugel__radial_blocks {
  pthread_mutex_t lock;
  int nlanes;
  int64_t each; /* blocks a lane */
  bool resident;
  kugel__radial_block *block; /* [nlanes][each] */
} kugel__radial_blocks;

/* Whether a plan goes by blocks: more than one device, or no room for all at once. */
kugel_status kugel__radial_blocks_wanted(const kugel_radial *plan, bool *wanted);
/* Fills plan->blocks. */
kugel_status kugel__radial_blocks_create(kugel_radial *plan);
void kugel__radial_blocks_destroy(kugel_radial *plan);
kugel_device kugel__radial_blocks_device(const kugel_radial *plan);
/* All maps of arrays in host memory or on the first device, checked; `n` maps. */
kugel_status kugel__radial_blocks_run(const kugel_radial *plan, const kugel_array *in, const kugel_array *out,
                                      bool f32, int64_t n, bool adjoint);

#endif
