/* SPDX-License-Identifier: BSD-3-Clause */
/* What launches of the Legendre stage on a device share. */
#ifndef KUGEL_SPHERE_LEGENDRE_GPU_LAUNCH_H
#define KUGEL_SPHERE_LEGENDRE_GPU_LAUNCH_H

#include "sphere/legendre/gpu_plan.h"

/* The struct of the kernels' texts. */
typedef struct kugel__leg_shape {
  int32_t npairs, first, tiles, top, m0, nm, mmax, row, stride, strips, middle, pole_tiles, pole_strips,
      groups;
  int64_t series_step, leg_step, sums_step;
  int32_t rank, size; // only in texts for ranks: KUGEL__LEG_SHAPE_ARG
} kugel__leg_shape;
#define KUGEL__LEG_SHAPE_ARG(plan, t)                                                                        \
  ((kugel__arg){&(t), (plan)->size ? sizeof(kugel__leg_shape) : offsetof(kugel__leg_shape, rank)})
/* Work memory: the series; or the partial sums, the first steps of tiles, the sums of the polar pairs. */
typedef struct kugel__leg_parts {
  kugel__mem sums, begun, polar;
  size_t room, polar_bytes, end; // room: bytes from the sums of a chunk to those of the next
} kugel__leg_parts;

/* gpu_shape.c: of synthesis or the adjoint. */
kugel__leg_shape kugel__leg_gpu_shape(const kugel__leg_gpu *plan, int adjoint);
kugel__grid kugel__leg_gpu_grid(const kugel__leg_gpu *plan, int adjoint, int64_t orders);
kugel__leg_parts kugel__leg_gpu_lay_out(const kugel__leg_gpu *plan, int64_t groups, kugel__mem work);
/* Bytes of the series, which begin the work memory of synthesis. */
int64_t kugel__leg_gpu_series_bytes(const kugel__leg_gpu *plan);

/* gpu_halves_run.c: sums of a batch in single precision; the adjoint of `orders` orders from m0 on, w: with their room. */
kugel_status kugel__leg_gpu_synth_halves(const kugel__leg_gpu *plan, const kugel__leg_gpu_job *job,
                                         kugel_queue *queue);
kugel_status kugel__leg_gpu_adjoint_halves(const kugel__leg_gpu *plan, const kugel__leg_gpu_job *job,
                                           const kugel__leg_parts *w, int32_t m0, int32_t orders,
                                           kugel_queue *queue);

#endif
