/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of ring plans on a device: what the kernels of kernels/ringfft.cl are told, and which block serves
 * what. */
#ifndef KUGEL_FFT_RINGS_GPU_PLAN_H
#define KUGEL_FFT_RINGS_GPU_PLAN_H

#include "codegen/module.h"
#include "fft/rings_gpu.h"

/* The structs of the kernels' text. */
typedef struct ring_job {
  uint64_t hi[2], lo[2];
  int64_t first[2];
  int32_t pair, line, mlim, flags;
} ring_job;
typedef struct ring_line {
  uint64_t radices;
  int64_t roots, chirp, filter, order;
  int32_t n, split, length, size, passes, together, owner;
} ring_line;
typedef struct ring_args {
  int32_t first, maps, f32, weighted, check, row;
  int64_t room, map, map_stride, leg, leg_stride;
} ring_args;

/* Classes of blocks: threads of a block, blocks of a multiprocessor. Those of the last work in device memory.
 */
enum { CLASSES = 4, IN_MEMORY = 3 };
typedef struct block_shape {
  int threads, blocks;
} block_shape;
static const block_shape shapes[CLASSES] = {{256, 3}, {256, 2}, {512, 1}, {256, 2}};

enum { SYNTH, ADJOINT, FILTER, KERNELS };

/* Units, or lines with chirps, that share a launch. */
typedef struct unit_class {
  int32_t first, count;
  int64_t room; // numbers of memory that a block needs
} unit_class;

struct kugel__rings_gpu {
  kugel_ctx *ctx;
  kugel__device *device;
  ring_job *jobs; // these on the host while the plan is made
  ring_line *lines;
  int32_t *units; // jobs in the order of launches
  int32_t njobs, nlines, blocks;
  int64_t mmax, numbers, places, scratch; // complex numbers of tables and of work memory; of the places
  unit_class classes[CLASSES], filters[CLASSES];
  kugel__mem job_table, line_table, unit_table, tables, order;
  kugel__module *modules[CLASSES], *table_module;
  kugel__kernel *kernels[CLASSES][KERNELS], *make_tables;
};

/* Complex numbers that fit into the memory of a class's blocks. */
int64_t kugel__rings_gpu_capacity(const kugel__device *device, int class);
/* Jobs, one line for each length, and the order of launches, all on the host; sizes of tables. */
kugel_status kugel__rings_gpu_units(kugel__rings_gpu *plan, const kugel__rings_desc *desc);

#endif
