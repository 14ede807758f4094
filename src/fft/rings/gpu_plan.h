/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of ring plans on a device: what the kernels of kernels/ringfft.cl are told, and which block serves
 * what. */
#ifndef KUGEL_FFT_RINGS_GPU_PLAN_H
#define KUGEL_FFT_RINGS_GPU_PLAN_H

#include <pthread.h>
#include "codegen/module.h"
#include "fft/rings/gpu.h"

/* The structs of the kernels' text. */
typedef struct ring_job {
  uint64_t hi[2], lo[2];
  int64_t first[2];
  int32_t pair, line, mlim, flags;
} ring_job;
typedef struct ring_line {
  uint64_t radices;
  int64_t roots, chirp, filter, order;
  int32_t n, split, length, size, passes, owner;
} ring_line;
typedef struct ring_args {
  int32_t first, maps, weighted, check, row, spare;
  int64_t room, map, map_stride, leg, leg_stride;
} ring_args;

/* Classes of blocks, in double and in single precision: threads of a block, blocks of a multiprocessor, and blocks
 * of kernels for various lines, which need more registers. Those of the last class work in device memory. */
enum { CLASSES = 4, IN_MEMORY = 3 };
typedef struct block_shape {
  int threads, blocks, various;
} block_shape;
static const block_shape shapes[2][CLASSES] = {{{256, 3, 2}, {384, 2, 1}, {512, 1, 1}, {256, 2, 2}},
                                               {{256, 4, 3}, {512, 2, 1}, {768, 1, 1}, {256, 3, 3}}};

enum { SYNTH, ADJOINT, FILTER, KERNELS };

/* Units that share a module and a launch: all those of one class and kind (lines that differ in their length alone,
 * for which the kernels are specialised, if many units have them), or the others of the class. */
typedef struct unit_group {
  bool alike;
  ring_line kind; // of them, if they are alike
  int class;
  int32_t first, count;          // units
  int32_t first_filter, filters; // lines with chirps
  int64_t room;                  // numbers of memory that a block needs
  kugel__module *module;
  kugel__kernel *kernels[KERNELS];
} unit_group;

/* What a precision has. */
enum { KINDS = 12, GROUPS = KINDS + CLASSES };
typedef struct ring_bank {
  int ngroups;
  unit_group groups[GROUPS];
  int64_t scratch; // numbers of work memory
  kugel__mem unit_table, tables;
} ring_bank;

struct kugel__rings_gpu {
  kugel_ctx *ctx;
  kugel__device *device;
  ring_job *jobs; // these on the host while the plan is made
  ring_line *lines;
  int32_t *units[2]; // of each precision: jobs in the order of launches
  int32_t njobs, nlines, blocks;
  int64_t mmax, numbers, places; // complex numbers of tables; of the places
  ring_bank banks[2];   // double, single; the latter's kernels and tables are made when first needed,
  pthread_mutex_t lock; // under the lock,
  bool single;          // and are there
  kugel__mem job_table, line_table, order;
  kugel__module *table_module;
  kugel__kernel *make_tables, *make_single;
  kugel_queue *side; // of every second group: their last blocks leave multiprocessors idle
};

/* Numbers that fit into the memory of a class's blocks. */
int64_t kugel__rings_gpu_capacity(const kugel__device *device, bool f32, int class);
/* Jobs, one line for each length, and the order of launches, all on the host; sizes of tables. */
kugel_status kugel__rings_gpu_units(kugel__rings_gpu *plan, const kugel__rings_desc *desc);

#endif
