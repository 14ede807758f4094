/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of strided arrays, with a conversion of their elements. */
#ifndef KUGEL_ARRAYS_COPY_H
#define KUGEL_ARRAYS_COPY_H

#include <kugel/device.h>
#include "core/base.h"

enum { KUGEL__COPY_DIMS = 8 };

/* Element (i_0, ..., i_{ndim-1}) of the source is at in_first + sum of i_d in_step[d], in elements. */
typedef struct kugel__copy_shape {
  int64_t count;
  int64_t in_first, out_first;
  int64_t ndim; /* at least 1; neighbours that both arrays walk through as one are one */
  int64_t extent[KUGEL__COPY_DIMS], in_step[KUGEL__COPY_DIMS], out_step[KUGEL__COPY_DIMS];
} kugel__copy_shape;

typedef struct kugel__copy {
  kugel__copy_shape shape;
  kugel_dtype from, to;
  double scale; /* of what is written */
  bool conjugate;
  bool plain; /* neither: the bytes of each element as they are */
} kugel__copy;

kugel_status kugel__copy_gpu(kugel_ctx *ctx, const kugel__copy *c, void *in, void *out, kugel_queue *queue);

#endif
