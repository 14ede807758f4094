/* SPDX-License-Identifier: BSD-3-Clause */
/* Between fused_run.c, which puts passes over an image in order, fused_slices.c, which does so for a part of one, and
 * fused_launch.c, which launches their kernels. */
#ifndef KUGEL_VOLUME_FUSED_PASS_H
#define KUGEL_VOLUME_FUSED_PASS_H

#include "volume/gpu/fused_plan.h"

typedef struct kugel__fused_reach { // as kugel__fused_build has it
  kugel__mem mem;
  int64_t at, d0, d1, step, first, held;
} kugel__fused_reach;

typedef struct kugel__fused_pass {
  kugel__fused_kernel of;
  int axis;
  kugel_dtype in_type, out_type; // of voxels
  kugel__fused_reach in, out;
  int64_t count, c0;
  kugel__mem map, rows;
  int64_t spectrum_at, spectrum_step, map_at, window_at, weights_at, rows_at;
} kugel__fused_pass;

typedef struct kugel__fused_course {
  kugel__fused *f;
  kugel__fused_job *j;
  int64_t rows, slice; // of a work array
} kugel__fused_course;

/* Lines along x and y: of voxels to work memory, and back. */
kugel_status kugel__fused_image_in(const kugel__fused_course *r, int kernel, kugel__mem work);
kugel_status kugel__fused_results_out(const kugel__fused_course *r, int kernel, kugel__mem work);
/* Queues the kernel of a pass, or with count_only counts what it reads and writes. */
kugel_status kugel__fused_launch(const kugel__fused_course *r, const kugel__fused_pass *p);

#endif
