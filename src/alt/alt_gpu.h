/* SPDX-License-Identifier: BSD-3-Clause */
/* Associated Legendre plans on devices. */
#ifndef KUGEL_ALT_ALT_GPU_H
#define KUGEL_ALT_ALT_GPU_H

#include "polynomial/gpu.h"

/* What a plan has. */
typedef struct kugel__alt_view {
  kugel_ctx *ctx;
  const kugel__blocks *blocks;
  bool single;
  int64_t lmax, n, mmax;
  void *(*matrix)[2], *(*back)[2], *(*points)[2]; /* [m0][q]; points NULL: equidistant colatitudes */
} kugel__alt_view;

kugel_status kugel__alt_gpu_create(const kugel__alt_view *v, kugel__poly_gpu **out);
kugel_status kugel__alt_gpu_run(const kugel__alt_view *v, kugel__poly_gpu *gpu, bool analysis, bool adjoint,
                                const kugel_array *in, const kugel_array *out, const kugel__systems *from,
                                const kugel__systems *to, kugel_queue *queue);

#endif
