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

/* What the chains of a plan are. */
typedef struct kugel__alt_chains {
  int lanes;    /* of each order in a call, 0: many */
  int families; /* 0: the plan's own rotations; else others, whose chains another plan runs */
  const kugel__poly_rotations *of; /* [families] */
} kugel__alt_chains;

kugel_status kugel__alt_gpu_create(const kugel__alt_view *v, const kugel__alt_chains *chains,
                                   kugel__poly_gpu **out);

/* A product of the table of parity q of order m0, to values or series, or from them: rows of coefficients have elements 0, 1, ...
 * of a line, which the caller may change. Planes 0 to 1. */
kugel__table_job kugel__alt_gpu_series(const kugel__alt_view *v, const kugel__poly_gpu *g, int m0, int q,
                                       bool to_values, bool adjoint);
/* The cosine transforms of the first count[0] systems and the sine transforms of count[1] more; none where v has points. */
void kugel__alt_gpu_waves(const kugel__alt_view *v, kugel__poly_text *t, bool back, bool adjoint,
                          const int64_t *count, int64_t plane);
kugel_status kugel__alt_gpu_run(const kugel__alt_view *v, kugel__poly_gpu *gpu, bool analysis, bool adjoint,
                                const kugel_array *in, const kugel_array *out, const kugel__systems *from,
                                const kugel__systems *to, kugel_queue *queue);

#endif
