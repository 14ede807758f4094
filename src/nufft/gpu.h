/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-uniform transforms on devices. Points are sorted by pillars of cells and by layers; kernels/spread.cl gathers
 * strengths to the fine grid, kernels/interpolate.cl is the other way. The FFT of the grid reads or writes only the box
 * of modes; its hooks divide by the kernel's transform and shift the modes, which its box has at 0 ... n - 1.
 *
 * Roles of axes: 0 columns (the last axis), 1 layers (the first of two or three), 2 rows (the middle one of three). */
#ifndef KUGEL_NUFFT_GPU_H
#define KUGEL_NUFFT_GPU_H

#include <pthread.h>
#include "codegen/module.h"
#include "device/lend.h"
#include "fft/gpu/work.h"
#include "nufft/plan.h"

/* As in kernels/boxes.h.cl. */
typedef struct kugel__nufft_boxes {
  int64_t fine[3], parts[3], n, first, stride, batch_stride, cells, limit, boxes, part;
  double slope[3];
} kugel__nufft_boxes;

struct kugel__nufft_gpu {
  kugel__device *dev;
  bool mirrored; /* the box of modes is in falling order: FORWARD is the exponent +1 */
  kugel_fft *fft;
  kugel__module *spreading, *interpolating;
  kugel__kernel *spread_count, *spread, *spread_join, *interpolate_count, *interpolate;
  kugel__nufft_boxes to_grid, to_points;
  int spread_threads, spread_layers; /* of a block; of a box */
  int spread_copies;                 /* boxes whose lists a point may be in */
  int interpolate_layers;
  size_t tile; /* bytes of shared memory of an interpolated box, 0: not held there */
  kugel__gpu_work work;
};

enum { KUGEL__NUFFT_INTERPOLATE_THREADS = 256 };

/* The last use of points on each of some queues, so that their memory goes back to the device once those are done. */
enum { KUGEL__NUFFT_QUEUES = 4 };
typedef struct kugel__nufft_uses {
  pthread_mutex_t lock;
  kugel_queue *queue[KUGEL__NUFFT_QUEUES];
  kugel__event *event[KUGEL__NUFFT_QUEUES];
  bool more; /* uses that none of these is for */
} kugel__nufft_uses;

/* Parts of one block of device memory. */
struct kugel__nufft_gpu_points {
  kugel__nufft_uses uses;
  void *memory;
  size_t bytes;
  kugel__mem source, place, fraction, start;
  kugel__mem spread_jobs, spread_starts, spread_sides, interpolate_jobs;
  int64_t spreads, sides, interpolates; /* numbers of jobs; of parts in the side buffer */
  int64_t limit;                        /* points of a job of interpolation */
};

/* ---- a call ---- */

enum { KUGEL__NUFFT_AXES = 32 }; /* of an array */

/* One of the caller's arrays: its memory, and where the vector of a batch is. */
typedef struct kugel__nufft_end {
  kugel__loan loan;
  int64_t at, stride[KUGEL__NUFFT_AXES], batch; /* in numbers; batch: between the vectors of a call */
  int64_t part;                                 /* between the numbers of a point with gradients */
} kugel__nufft_end;

/* Of a normal operator, points and modes are the modes that go in and those that come out. */
typedef struct kugel__nufft_call {
  const kugel_nufft_points *p;
  struct kugel__nufft_gpu *g;
  kugel_queue *queue;
  bool to_modes, alone; /* alone: the fine grid stands for modes */
  bool mirrored;        /* of the box of modes */
  int64_t vectors;      /* at a time */
  int64_t n[3], fine[3];
  /* Work memory; box: modes in the FFT's order, if the caller's is another. */
  kugel__mem grid, side, box;
  kugel__nufft_end points, modes;
} kugel__nufft_call;

/* An array [vectors][...] in device memory. */
typedef struct kugel__nufft_shaped {
  kugel_array a;
  int64_t shape[4], strides[4];
} kugel__nufft_shaped;

void kugel__nufft_start_at(kugel__nufft_shaped *s, kugel__mem memory, int64_t at, int64_t number);
/* [vectors][n...] in C order. */
kugel_array *kugel__nufft_shape(const kugel__nufft_call *c, kugel__mem memory, int64_t vectors,
                                const int64_t *n, kugel__nufft_shaped *s);
/* The caller's [n...] as the FFT has them, if strides can say so: ascending or, mirrored, descending. */
kugel_array *kugel__nufft_view(const kugel__nufft_call *c, const kugel__nufft_end *end, int64_t vectors,
                               const int64_t *n, kugel__nufft_shaped *s);
/* Between the caller's modes in the order of FFTs and the box: for each axis the modes from 0 on and the negative ones. */
kugel_status kugel__nufft_reorder(const kugel__nufft_call *c, const kugel__nufft_end *end, int64_t vectors,
                                  bool out);

kugel_status kugel__nufft_gpu_spread(const kugel__nufft_call *c, int64_t vectors);
kugel_status kugel__nufft_gpu_interpolate(const kugel__nufft_call *c, int64_t vectors);

/* Fills what a call of these points is about; `alone` is set. */
void kugel__nufft_gpu_start(const kugel_nufft_points *p, kugel__nufft_call *c);
/* Work memory of a call of up to `wanted` vectors: its parts, and c->vectors. */
kugel_status kugel__nufft_gpu_take(kugel__nufft_call *c, int64_t wanted, kugel__gpu_hold *hold);

/* kernels/weights.cl */
kugel_status kugel__nufft_gpu_weights(const kugel_nufft *p, kugel__module **module);
kugel_status kugel__nufft_gpu_density(const kugel_nufft_points *p, int iterations, double unit,
                                      const kugel_array *weights);

/* Of points with plan and an empty `normal`; `wide`: the same points for n differences of modes, in double. Weights are
 * complex on the host, or real of any kind on the device. */
kugel_status kugel__nufft_gpu_normal(kugel_nufft_points *p, kugel_nufft_points *wide,
                                     const kugel_array *weights, const int64_t *n);
void kugel__nufft_gpu_normal_destroy(const kugel_nufft *plan, struct kugel__nufft_gpu_normal *g);

/* The role of axis d. */
static inline int kugel__nufft_role(int ndim, int d)
{
  return d == ndim - 1 ? 0 : d == 0 ? 1 : 2;
}

/* Lists of points: bins in parts, kernels/parts.h.cl. */
int64_t kugel__nufft_gpu_bins(const kugel_nufft *p);
kugel_status kugel__nufft_gpu_create(kugel_nufft *p);
void kugel__nufft_gpu_destroy(kugel_nufft *p);
kugel_status kugel__nufft_gpu_tables(kugel_nufft *p); /* the FFT with its hooks */

/* Points [n, ndim] in host or device memory; returns when they are sorted. */
kugel_status kugel__nufft_gpu_sort(kugel_nufft_points *p, const kugel_array *points);
void kugel__nufft_gpu_points_destroy(kugel_nufft_points *p);
/* Work with the points is on the queue, and is not waited for. */
void kugel__nufft_gpu_used(const kugel_nufft_points *p, kugel_queue *queue);

/* Arrays that were checked; in_stride, out_stride of all their axes. */
kugel_status kugel__nufft_gpu_execute(const kugel_nufft_points *p, bool to_modes, bool alone,
                                      const kugel_array *in, const int64_t *in_stride, const kugel_array *out,
                                      const int64_t *out_stride, kugel_queue *queue);

/* Checks that an array is in memory of the plan's device, or on the host in C order. */
kugel_status kugel__nufft_gpu_place(const kugel_nufft *p, const kugel_array *a, const char *name);

#endif
