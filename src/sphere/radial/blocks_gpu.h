/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution on devices by blocks of rings: for maps larger than a device's memory, tables too long
 * for one plan, and several devices.
 *
 * A block is a run of output ring pairs with all rings within the cut-off of any. Its plan is a view of the
 * whole one whose rings lie side by side in maps of their own, so that results have the bits of the whole
 * plan. A lane (device/lanes.h) is a device: it holds the tables of all its blocks, the maps of two blocks, and
 * work memory for one block at a time unless there is room for all. */
#ifndef KUGEL_SPHERE_RADIAL_BLOCKS_GPU_H
#define KUGEL_SPHERE_RADIAL_BLOCKS_GPU_H

#include <pthread.h>
#include "device/lanes.h"
#include "sphere/grid/grid.h"
#include "sphere/radial/spectra.h"
#include "sphere/grid/stretch.h"

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
  int64_t each;               /* blocks per lane */
  bool resident;              /* the work memory of all blocks stays allocated */
  kugel__device_lanes *lanes; /* a slot holds the input and the output of a block */
  kugel__radial_block *block; /* [nlanes][each] */
} kugel__radial_blocks;

/* Whether a plan goes by blocks: more than one device, or no room for all at once. */
kugel_status kugel__radial_blocks_wanted(const kugel_radial *plan, bool *wanted);
/* Fills plan->blocks. */
kugel_status kugel__radial_blocks_create(kugel_radial *plan);
void kugel__radial_blocks_destroy(kugel_radial *plan);
kugel_device kugel__radial_blocks_device(const kugel_radial *plan);
/* All maps of arrays in host memory or on the first device, checked; `n` maps. level: [npix] of the host, what the input
 * of an adjoint with opts.normalise is divided by; else NULL. */
kugel_status kugel__radial_blocks_run(const kugel_radial *plan, const kugel_array *in, const kugel_array *out,
                                      bool f32, int64_t n, bool adjoint, const double *level);
/* The constant 1 convolved, [npix] in host memory. */
kugel_status kugel__radial_blocks_ones(const kugel_radial *plan, double *map);

#endif
