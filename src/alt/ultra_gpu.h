/* SPDX-License-Identifier: BSD-3-Clause */
/* Ultraspherical plans on devices: both parities of the matrix as tables, products on all right-hand sides. */
#ifndef KUGEL_ALT_ULTRA_GPU_H
#define KUGEL_ALT_ULTRA_GPU_H

#include "polynomial/gpu.h"

enum { KUGEL__ULTRA_GPU_MOST = 16384 /* coefficients: 4 n^2 bytes of tables */ };

/* out_i = r_i sum_j t_{(j-i)/2} h_{(i+j)/2} s_j in_j of ultra.h. */
typedef struct kugel__ultra_gpu {
  kugel__poly_gpu *poly;
  int64_t n;
  const void *table[2];
} kugel__ultra_gpu;

kugel_status kugel__ultra_gpu_create(kugel_ctx *ctx, int64_t n, const double *t, const double *h,
                                     const double *r, const double *s, kugel__ultra_gpu *out);
kugel_status kugel__ultra_gpu_run(const kugel__ultra_gpu *g, bool adjoint, const kugel_array *in,
                                  const kugel_array *out, const kugel__systems *from,
                                  const kugel__systems *to, int64_t systems, kugel_queue *queue);

#endif
