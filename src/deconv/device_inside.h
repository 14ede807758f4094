/* SPDX-License-Identifier: BSD-3-Clause */
/* Between device.c, which iterates, device_ranks.c, whose steps are over ranks that have a device each, and device_kernels.c. */
#ifndef KUGEL_DECONV_DEVICE_INSIDE_H
#define KUGEL_DECONV_DEVICE_INSIDE_H

#include "codegen/module.h"
#include "deconv/device.h"
#include "volume/gpu/device_plan.h"

enum { KUGEL__STEP_BLOCK = 256 };

typedef enum kugel__step_name {
  STEP_KNOWN,
  STEP_FILL,
  STEP_SUM,
  STEP_FINISH,
  STEP_MOMENTUM,
  STEP_UPDATE,
  STEP_VARIATION,
  STEP_EXTRAPOLATE,
  STEP_RATIO,
  STEP_ADVANCE,
  STEP_NAMES
} kugel__step_name;

/* Objects: x now, before the last step, what comes back (TV: x times its factor), sensitivity, the last step. Images:
 * observed, model. */
typedef enum kugel__step_array {
  X,
  BEFORE,
  BACK,
  SENSITIVITY,
  MOVED,
  OBSERVED,
  MODEL,
  ARRAYS
} kugel__step_array;

struct kugel__deconv_device {
  const kugel_deconv *p; /* over ranks that of own planes */
  kugel__device *device;
  kugel_queue *queue;
  kugel__module *module;
  kugel__kernel *kernel[STEP_NAMES];
  kugel_volume h; /* the plan's, with PSFs by depth at the planes of a tile: */
  struct kugel__volume_device by_depth;
  char *factors; /* host memory: a row of doubles, reals [PSFs][points] */
  kugel__mem a[ARRAYS], work[2], partial, sums, momentum, clipped;
  kugel__mem near; /* over ranks, TV: own planes of x with those next to them */
  char *edges;     /* host memory: these two */
  int64_t voxels, data;
  int64_t partials, there, again; /* room for the sums of threads, and how many there are of each way */
  size_t sum;                     /* bytes of a sum */
};

/* ---- device_kernels.c ---- */

/* A number of the plan's precision as an argument. */
typedef union kugel__step_scalar {
  float f32;
  double f64;
} kugel__step_scalar;
kugel__step_scalar kugel__step_scalar_of(const kugel__deconv_device *d, double x);
#define STEP_SCALAR(d, s) ((kugel__arg){&(s), (d)->p->real})

kugel_status kugel__step_launch(const kugel__deconv_device *d, kugel__step_name name, int64_t blocks, int n,
                                const kugel__arg *args);
/* Blocks of kernels whose threads go through n numbers. */
int64_t kugel__step_blocks(int64_t n);
kugel_status kugel__step_load(kugel__deconv_device *d);
kugel_status kugel__step_room(kugel__deconv_device *d, size_t bytes, kugel__mem *out);
kugel_status kugel__step_momentum(const kugel__deconv_device *d, double given, int32_t measured);
/* x times its factor of TV to BACK: the object's planes, which are those of x, of `planes`, from `first` on. */
kugel_status kugel__step_vary(const kugel__deconv_device *d, kugel__mem x, int64_t planes, int64_t first);
bool kugel__step_uses(const kugel_deconv *p, kugel__step_array a, bool folds);

/* ---- device_ranks.c ---- */
/* Arrays and sums of own planes. */
kugel_status kugel__ranks_step_allocate(kugel__deconv_device *d);
/* H x, or its adjoint, of own planes, when it is done. */
kugel_status kugel__ranks_step_convolve(const kugel__deconv_device *d, bool adjoint, kugel__mem in,
                                        kugel__mem out);
kugel_status kugel__ranks_step(kugel__deconv_device *d, kugel__deconv_state *s, int64_t i, double *value);

#endif
