/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of the ball on devices.
 *
 * Synthesis: the transforms in radius write rows [component][row(l, m)][nr], the whole field at once; the Legendre stage reads these
 * rows as they lie, with the radii as its batch, and the transforms along rings write the caller's values. Numbers cross the
 * device's memory as coefficients, rows, series of the Legendre stage, Fourier coefficients and values. There is no
 * transposition: the Legendre stage copies what it reads to series anyway, and reads neighbouring radii side by side; its batches run side
 * by side in one launch (sphere/sht/gpu_shells.c).
 * Vectors are rotated in the rows; of spin components the values are in work memory before. The adjoints go the same way back. */
#ifndef KUGEL_BALL_GPU_H
#define KUGEL_BALL_GPU_H

#include "ball/ball.h"
#include "ball/operators.h"
#include "codegen/module.h"
#include "fft/gpu/work.h"

struct kugel__ball_gpu {
  kugel__device *device;
  kugel__module *module; /* of plans for vectors */
  kugel__kernel *turn, *spin;
  pthread_mutex_t lock;  /* of `series` */
  kugel__module *series; /* NULL: not made yet; gpu_series.c */
  kugel__kernel *ladder, *energy, *profiles;
  kugel__gpu_work work;
};

/* Fills p->gpu of a plan whose transforms are made. */
kugel_status kugel__ball_gpu_create(kugel_ball *p);
void kugel__ball_gpu_destroy(kugel_ball *p);

/* A transform of checked arrays. */
kugel_status kugel__ball_gpu_run(const kugel__ball_call *c, int64_t batch, const kugel_array *coeffs,
                                 const kugel_array *values, kugel_queue *queue);

/* The transforms in radius of a field, between coefficients and rows [components, nlm, nr] on the device, as c->to_grid says. */
kugel_status kugel__ball_gpu_radial(const kugel__ball_call *c, kugel__mem coeffs, kugel__mem rows,
                                    kugel_queue *queue);

/* The spheres of a field, between rows [components, nlm, nr] and values on the device; maps: work memory of spin components, real
 * [3, nr, npix]. */
kugel_status kugel__ball_gpu_spheres(const kugel__ball_call *c, kugel__mem rows, kugel__mem values,
                                     kugel__mem maps, kugel_queue *queue);

/* Profiles of checked arrays, of which one is not on the host; c->to_grid: from coefficients. */
kugel_status kugel__ball_gpu_profiles(const kugel__ball_call *c, int64_t batch, const kugel_array *coeffs,
                                      const kugel_array *profiles, kugel_queue *queue);

/* An operator on checked arrays, of which one is not on the host. */
kugel_status kugel__ball_gpu_apply(const kugel_ball *p, const kugel__ball_op *op, bool transposed,
                                   int64_t batch, const kugel_array *in, const kugel_array *out,
                                   kugel_queue *queue);

/* Spectra of `count` numbers, the same. even: per component, a transform in radius to orthonormal functions; NULL: no need. */
kugel_status kugel__ball_gpu_spectrum(const kugel_ball *p, int components, kugel_ball_axis axis,
                                      int64_t count, kugel_jwt *const *even, int64_t batch,
                                      const kugel_array *coeffs, const kugel_array *energy,
                                      kugel_queue *queue);

#endif
