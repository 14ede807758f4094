/* SPDX-License-Identifier: BSD-3-Clause */
/* Between device.c and the two ways in which it works: fused_*.c and boxes.c. */
#ifndef KUGEL_VOLUME_DEVICE_PLAN_H
#define KUGEL_VOLUME_DEVICE_PLAN_H

#include <pthread.h>
#include <kugel/conv.h>
#include "device/lend.h"
#include "volume/gpu/fused.h"
#include "volume/gpu/move.h"

typedef struct kugel__volume_boxes {
  kugel_conv *forward, *backward; /* [f] to [kernels][m], and its adjoint */
  pthread_mutex_t lock;           /* of both */
  kugel__moves moves;
} kugel__volume_boxes;

struct kugel__volume_device {
  double *kernel;             /* [kernels][k], complex with complex_data; NULL: spectra come later */
  int64_t narrow;             /* lines along axis 0 at a time; 0: all */
  int spectra;                /* with narrow: of so many kernels */
  kugel__fused *fused;        /* NULL: boxes */
  kugel__volume_boxes *boxes; /* NULL: fused */
  void *map; /* u32, device memory: which datum each point of an extended axis is; NULL: none is extended */
  int64_t map_at[3]; /* -1: the axis is not extended */
  kugel__moves fold; /* fused, with a map: of the adjoint */
  void *window;      /* device memory */
  void *weights;     /* of kernels by depth: reals [kernels][points of axis 0], device memory */
  bool *used;        /* [kernels] whether one of these is not 0 */
};

/* One execution. */
typedef struct kugel__device_job {
  const kugel_volume *p;
  kugel__volume_box in, out; /* types and steps */
  kugel__mem in_mem, out_mem;
  kugel__volume_box extended, results; /* types and steps of what is in */
  kugel__mem work[2], clipped;         /* work memory, and a counter */
  kugel_queue *queue;
} kugel__device_job;

/* A resident volume of the fused kernels: spans of data and results. */
void kugel__fused_spans(const kugel_volume *p, kugel__fused_span *data, kugel__fused_span *results);
kugel_status kugel__fused_create(kugel_volume *p);
void kugel__fused_release(kugel_volume *p);
/* Bytes of both work arrays; 0: none. */
void kugel__fused_room(const kugel_volume *p, bool adjoint, size_t bytes[2]);
kugel_status kugel__fused_item(const kugel__device_job *j, bool adjoint, int64_t in_first, int64_t out_first);
/* H, or its adjoint, between arrays in C order of the plan's own type in device memory, without offsets; work: as
 * kugel__fused_room says. Returns before the work is done. hooks: NULL, or a step of deconvolution; not with an adjoint
 * that adds up what a boundary extended (p->gpu->map). */
kugel_status kugel__fused_apply(const kugel_volume *p, bool adjoint, kugel__mem in, kugel__mem out,
                                const kugel__mem work[2], kugel__mem clipped, const kugel__fused_hooks *hooks,
                                kugel_queue *queue);
/* What the kernels of an execution read and write in device memory, with arrays of the plan's own type. */
uint64_t kugel__fused_bytes(const kugel_volume *p, const kugel__fused *f);
/* Factors of kernels by depth for the points of lines along axis 0: reals [kernels][points], and whether any is not 0. row:
 * room for points. */
void kugel__fused_weights(const kugel_volume *p, void *weights, double *row, bool *used);
/* [kernels][k] folded into the lengths of the axes, backwards and conjugated for correlations. */
kugel_status kugel__fused_kernels(const kugel_volume *p, const double *kernel, double **out, int64_t k[3]);

#endif
