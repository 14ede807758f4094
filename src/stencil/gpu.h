/* SPDX-License-Identifier: BSD-3-Clause */
/* Stencils on devices: what a plan has there, and its execution. Nodes whose rows are those inside, with values beyond an end that
 * are those of other nodes, go through marching kernels (stencil/march.h); the others, next to one-sided ends and in transposes next
 * to mirrors, through kernels/edge.cl. */
#ifndef KUGEL_STENCIL_GPU_H
#define KUGEL_STENCIL_GPU_H

#include "fft/gpu/work.h"
#include "stencil/march.h"

/* The operator or its transpose. */
typedef struct kugel__stencil_gpu_side {
  kugel__march_sheet **sheet;
  int sheets;
  int64_t first[3], last[3]; /* regular nodes along each axis */
  int kind[3][2]; /* of an end, a kugel_stencil_boundary that the march knows: periodic, odd, even, zero */
  int64_t edges;  /* nodes that are not regular */
  void *tables;   /* of these nodes, in device memory */
  kugel__mem words, weights, parts, factors;
} kugel__stencil_gpu_side;

struct kugel__stencil_gpu {
  kugel__device *dev;
  void *coefficients; /* [][n...] */
  kugel__stencil_gpu_side side[2];
  kugel__module *module;
  kugel__kernel *edge, *exchange, *negate;
  kugel__gpu_work work;
};

kugel_status kugel__stencil_gpu_create(kugel_stencil *p);
void kugel__stencil_gpu_destroy(kugel_stencil *p);

/* Which nodes are regular, and what is beyond the ends for them. */
void kugel__stencil_gpu_ends(const kugel_stencil *p, bool transposed, kugel__stencil_gpu_side *out);

/* Arrays that were checked. */
kugel_status kugel__stencil_gpu_apply(const kugel_stencil *p, bool transposed, int64_t count,
                                      const kugel_array *in, const kugel_array *out, kugel_queue *queue);
kugel_status kugel__stencil_gpu_advance(const kugel_stencil *p, bool transposed, kugel_stencil_method method,
                                        double dt, int64_t steps, const kugel_array *state,
                                        kugel_queue *queue);

#endif
