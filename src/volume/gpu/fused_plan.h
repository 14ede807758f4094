/* SPDX-License-Identifier: BSD-3-Clause */
/* Between fused_plan.c, which makes what fused_run.c launches. */
#ifndef KUGEL_VOLUME_FUSED_PLAN_H
#define KUGEL_VOLUME_FUSED_PLAN_H

#include <pthread.h>
#include "codegen/module.h"
#include "volume/gpu/fused.h"

enum { KUGEL__FUSED_KERNELS = 64 };

typedef struct kugel__fused_entry {
  kugel__fused_kernel of;
  kugel_dtype in, out; /* of voxels */
  kugel__module *module;
  kugel__kernel *kernel;
} kugel__fused_entry;

struct kugel__fused {
  kugel_ctx *ctx;
  kugel__device *device;
  kugel__type real;
  bool halved, depths; /* depths: kernels by depth, whose results are added up */
  int kernels, last;   /* last: the axis that goes there and back */
  int64_t points[3], pitch;
  kugel__block block[3];
  void *tables[3];
  void *spectra;        /* [kernels][points of the last axis][lines] */
  int64_t lines;        /* of the last axis */
  pthread_mutex_t lock; /* of the entries */
  int entries;
  kugel__fused_entry entry[KUGEL__FUSED_KERNELS];
};

/* The kernel of an axis, compiled now if it was not. */
kugel_status kugel__fused_kernel_of(kugel__fused *f, const kugel__fused_kernel *of, kugel_dtype in,
                                    kugel_dtype out, kugel__kernel **kernel);
kugel__fused_kernel kugel__fused_recipe(const kugel__fused *f, int axis);
/* Spectra of kernels that are in device memory, by kernels of this plan, when it is done: fused_run.c. */
kugel_status kugel__fused_spectra_of(kugel__fused *f, kugel__mem kernels, kugel_dtype type,
                                     const int64_t k[3], kugel__mem work);

#endif
