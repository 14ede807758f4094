/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-uniform transforms on devices. Points are sorted by pillars of cells and by layers; kernels/spread.cl gathers
 * strengths to the fine grid, kernels/interpolate.cl is the other way. The FFT of the grid reads or writes only the box
 * of modes; its hooks divide by the kernel's transform and shift the modes, which its box has at 0 ... n - 1.
 *
 * Roles of axes: 0 columns (the last axis), 1 layers (the first of two or three), 2 rows (the middle one of three). */
#ifndef KUGEL_NUFFT_GPU_H
#define KUGEL_NUFFT_GPU_H

#include "codegen/module.h"
#include "fft/gpu/work.h"
#include "nufft/plan.h"

/* As in kernels/boxes.h.cl. */
typedef struct kugel__nufft_boxes {
  int64_t fine[3], parts[3], n, first, stride, batch_stride, cells, limit, boxes;
} kugel__nufft_boxes;

struct kugel__nufft_gpu {
  kugel__device *dev;
  bool mirrored; /* the box of modes is in falling order: FORWARD is the exponent +1 */
  kugel_fft *fft;
  kugel__module *spreading, *interpolating;
  kugel__kernel *spread_count, *spread_order, *spread, *spread_join, *interpolate_count, *interpolate;
  kugel__nufft_boxes to_grid, to_points;
  int spread_threads, spread_layers; /* of a block; of a box */
  int spread_copies;                 /* boxes whose lists a point may be in */
  bool ordered;                      /* strengths are sorted before they are spread */
  int interpolate_layers;
  size_t tile; /* bytes of shared memory of an interpolated box, 0: not held there */
  kugel__gpu_work work;
};

enum { KUGEL__NUFFT_INTERPOLATE_THREADS = 256 };

/* Parts of one block of device memory. */
struct kugel__nufft_gpu_points {
  void *memory;
  kugel__mem source, place, fraction, start;
  kugel__mem spread_jobs, spread_starts, spread_sides, interpolate_jobs;
  int64_t spreads, sides, interpolates; /* numbers of jobs; of parts in the side buffer */
  int64_t limit;                        /* points of a job of interpolation */
};

/* The role of axis d. */
static inline int kugel__nufft_role(int ndim, int d)
{
  return d == ndim - 1 ? 0 : d == 0 ? 1 : 2;
}

kugel_status kugel__nufft_gpu_create(kugel_nufft *p);
void kugel__nufft_gpu_destroy(kugel_nufft *p);
kugel_status kugel__nufft_gpu_tables(kugel_nufft *p); /* the FFT with its hooks */

/* Points [n, ndim] in host or device memory; returns when they are sorted. */
kugel_status kugel__nufft_gpu_sort(kugel_nufft_points *p, const kugel_array *points);
void kugel__nufft_gpu_points_destroy(kugel_nufft_points *p);

/* Arrays that were checked; in_stride, out_stride of all their axes. */
kugel_status kugel__nufft_gpu_execute(const kugel_nufft_points *p, bool to_modes, const kugel_array *in,
                                      const int64_t *in_stride, const kugel_array *out,
                                      const int64_t *out_stride, kugel_queue *queue);

/* Checks that an array is in memory of the plan's device, or on the host in C order. */
kugel_status kugel__nufft_gpu_place(const kugel_nufft *p, const kugel_array *a, const char *name);

#endif
