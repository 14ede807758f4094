/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole transform in independent parts on a device: the host folds rows of the image into all parts, the device convolves each
 * as a resident volume of complex numbers whose axis 2 is cyclic, and the host unfolds what the parts give, added up in their
 * order. The kernels are folded when the plan is made. While a part is on the device the next one is copied to page-locked memory;
 * several devices share the parts. The memory of a device holds one part: its voxels, its work and its spectrum, which is made
 * anew from the folded kernel. */
#ifndef KUGEL_VOLUME_DIF_H
#define KUGEL_VOLUME_DIF_H

#include "device/lanes.h"
#include "volume/gpu/device_plan.h"

typedef struct kugel__volume_dif kugel__volume_dif;

/* What one part takes, of a plan whose axes have its number of parts. */
typedef struct kugel__dif_bytes {
  uint64_t voxels, work[2], spectra; /* of device memory */
  uint64_t kernel, in, out;          /* of page-locked memory: two of each */
  uint64_t moved;                    /* by the kernels of one part in device memory, with its spectrum */
} kugel__dif_bytes;

/* KUGEL_ENOTSUP: no block of threads holds the lines of a part. */
kugel_status kugel__dif_measure(const kugel_volume *p, kugel__dif_bytes *out);
/* All device memory of a part. */
uint64_t kugel__dif_device_bytes(const kugel__dif_bytes *b);

/* The kernels are in p->copy, which is freed; twists and folds are there. */
kugel_status kugel__dif_create(kugel_volume *p);
void kugel__dif_destroy(kugel_volume *p);
/* Arrays in host memory. Calls take turns. */
kugel_status kugel__dif_run(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                            const kugel__volume_box *out, atomic_llong *clipped);

/* ---- between dif.c and dif_run.c ---- */

typedef struct kugel__dif_lane { /* of one device */
  kugel_volume part;             /* resident there; its axes 0 and 1 are the plan's */
  kugel__mem voxels, work[2], counter;
} kugel__dif_lane;

struct kugel__volume_dif {
  pthread_mutex_t lock; /* of what follows */
  kugel__dif_bytes bytes;
  kugel__device_lanes
      *lanes; /* slots have page-locked memory alone: a folded kernel and what goes in, and what comes out */
  int count;
  kugel__dif_lane *lane; /* [count] */
  char *kernels;         /* [parts][bytes.kernel], folded */
};

/* From the plan's copy. */
kugel_status kugel__dif_fold_kernels(const kugel_volume *p);
/* Lengths of a part's kernels along axes 0 and 1: what is longer than the axis is folded. */
void kugel__dif_kernel(const kugel_volume *p, int64_t k[3]);

#endif
