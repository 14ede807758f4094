/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan behind sums over pairs of pixels on a device: tables of rings and of pairs of rings. */
#ifndef KUGEL_SPHERE_RADIAL_GPU_PLAN_H
#define KUGEL_SPHERE_RADIAL_GPU_PLAN_H

#include <pthread.h>
#include "codegen/module.h"
#include "sphere/radial/gpu.h"
#include "sphere/radial/modes_gpu.h"

enum { KUGEL__RADIAL_MAX_DEGREE = 30 };

/* As in kernels/radial.cl. */
typedef struct kugel__radial_args {
  double cut, scale, least, factor;
  int64_t in, out, other, lanes, weights;
  int32_t intervals, degree, chord, segments, mirrored, reflected, adjoint, mask, first, outputs;
  int32_t spin, turn, flip, add, divide, pad;
  double one[KUGEL__RADIAL_MAX_DEGREE + 1];
} kugel__radial_args;

enum {
  KUGEL__RADIAL_FILL,
  KUGEL__RADIAL_BELT,
  KUGEL__RADIAL_CAPS,
  KUGEL__RADIAL_KINDS,
  KUGEL__RADIAL_NORMALISE = KUGEL__RADIAL_KINDS,
  KUGEL__RADIAL_KERNELS
};
enum {
  KUGEL__RADIAL_TABLE_RINGS,
  KUGEL__RADIAL_TABLE_SPANS,
  KUGEL__RADIAL_TABLE_WEIGHTS,
  KUGEL__RADIAL_TABLE_WEIGHTS32,
  KUGEL__RADIAL_TABLE_COEF,
  KUGEL__RADIAL_TABLE_UNITS,
  KUGEL__RADIAL_TABLES
};

struct kugel__radial_gpu {
  kugel__device *device;
  kugel__radial_modes *modes; /* spectra or harmonics; NULL: sums only */
  bool sums;                  /* over pairs of pixels, of some rings at least */
  pthread_mutex_t lock;
  kugel__event *last;       /* under the lock: the end of the latest execution that was not waited for */
  kugel__module *module[2]; /* float64, float32 */
  kugel__kernel *kernel[2][KUGEL__RADIAL_KERNELS];
  kugel__mem table[KUGEL__RADIAL_TABLES], lanes, seen;
  int64_t units[KUGEL__RADIAL_KINDS], first_unit[KUGEL__RADIAL_KINDS];
  kugel__radial_args args;
  size_t lanes_bytes; /* of one map */
  int level;          /* bits of the reals of `seen`, which is of the constant 1; 0: it is not */
  int64_t turned[3];  /* first weights of K and, with a spin, of K times cosine and sine */
  int64_t margin;     /* positions before and after the lanes that may be read, and count as nothing */
  bool covered;       /* every pixel is in a ring */
};

/* Fills g->table, args and kernels of p->gpu; *fits: false if the tables are too long. */
kugel_status kugel__radial_gpu_sums(kugel_radial *p, bool *fits);
/* Under the lock: work memory is taken over from the latest execution, and left when the queue's work is done (wait, or
 * after a failure) or with an event. */
kugel_status kugel__radial_gpu_enter(kugel__radial_gpu *g, kugel_queue *queue);
kugel_status kugel__radial_gpu_leave(kugel__radial_gpu *g, kugel_queue *queue, bool wait, kugel_status s);
/* Makes plan->gpu->seen that of the constant 1, in the pass's precision, with opts.normalise; queued. */
kugel_status kugel__radial_gpu_level(const kugel_radial *p, const kugel__radial_pass *pass);
/* One map, `in` and `out` apart, or a pair with a spin; queued. */
kugel_status kugel__radial_gpu_map(const kugel_radial *p, kugel__radial_pass *pass);
/* Tables and kernels without work memory, and that memory. */
kugel_status kugel__radial_gpu_build(kugel_radial *p, bool *fits);
kugel_status kugel__radial_gpu_hold(const kugel_radial *p);
void kugel__radial_gpu_release(const kugel_radial *p);

#endif
