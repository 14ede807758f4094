/* SPDX-License-Identifier: BSD-3-Clause */
/* The pencil engine: two passes over a file. Slices of the image, some at a time, are transformed along x and y and go to the
 * file; lines along z ("pencils"), some at a time, come from there, are transformed, multiplied, transformed back, and
 * return; slices of results come from there and go back along y and x. What pads along z is in memory alone, and nothing is
 * computed twice, whatever the kernel's length. The kernels' slices are in a file of the plan, transformed along x and y.
 *
 * In a file a volume of slices is [block][z][lines of the block], so that both passes move long pieces. */
#ifndef KUGEL_VOLUME_PENCIL_H
#define KUGEL_VOLUME_PENCIL_H

#include "volume/plan/file.h"
#include "volume/plan/plan.h"

typedef struct kugel__pencil {
  int64_t slab;               // slices in memory
  int64_t block;              // lines along z in memory: on the CPU vectors of them
  int64_t lines;              // on devices: of a slice
  bool in_memory;             // "files" are
  char *folder;               // of the files, or NULL
  kugel__volume_file *kernel; // [kernels] slices of the kernel, then the window, reals [kernels][m]
  struct kugel__pencil_device *device;
} kugel__pencil;

/* Where slices come from and go to, `count` of them from `z` on. */
typedef struct kugel__pencil_ends {
  void *arg;
  /* Elements [kernels of an adjoint][count][y][x] of what is read. */
  kugel_status (*read)(void *arg, int64_t z, int64_t count, kugel__volume_box *box);
  /* Room for results [kernels][count][y][x], and that they are there. NULL: nothing is done. */
  kugel_status (*place)(void *arg, int64_t z, int64_t count, kugel__volume_box *box);
  kugel_status (*written)(void *arg, int64_t z, int64_t count);
  int64_t first; // slices of results before it are left out, a multiple of slab
} kugel__pencil_ends;

typedef struct kugel__pencil_sizes {
  int64_t vector;          // bytes of a vector of complex numbers
  int64_t vectors, blocks; // of a slice
  int64_t tall, rows;      // slices of a volume, of a block in memory; rows of a slice with those of kernels
  uint64_t slab, block;    // bytes in memory
  uint64_t volume, kernel, window; // bytes in files: of one volume of slices, of all kernels
} kugel__pencil_sizes;
kugel__pencil_sizes kugel__pencil_measure(const kugel_volume *p);
/* What an execution reads and writes. */
uint64_t kugel__pencil_traffic(const kugel_volume *p);
uint64_t kugel__pencil_memory(const kugel_volume *p);

/* Chooses slab and block within `limit` bytes (0: none). */
kugel_status kugel__pencil_choose(kugel_volume *p, uint64_t limit);
kugel_status kugel__pencil_create(kugel_volume *p, const kugel_array *kernel);
void kugel__pencil_destroy(kugel_volume *p);

kugel_status kugel__pencil_run(const kugel_volume *p, bool adjoint, const kugel__pencil_ends *ends,
                               atomic_llong *clipped);
/* Of arrays in memory. */
kugel_status kugel__pencil_run_arrays(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                      const kugel__volume_box *out, atomic_llong *clipped);
/* Slices of the kernel to the plan's file. */
kugel_status kugel__pencil_kernels(const kugel_volume *p, const kugel__volume_box *kernels);

#endif
