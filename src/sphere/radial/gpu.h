/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over pairs of pixels on a device. */
#ifndef KUGEL_SPHERE_RADIAL_GPU_H
#define KUGEL_SPHERE_RADIAL_GPU_H

#include "sphere/radial/radial.h"

/* Fills plan->gpu; *fits: false, and there is none, if the tables are too long for the device (some 2^25 pairs of
 * rings). */
kugel_status kugel__radial_gpu_create(kugel_radial *plan, bool *fits);
void kugel__radial_gpu_destroy(kugel_radial *plan);
kugel_device kugel__radial_gpu_device(const kugel_radial *plan);
/* All maps of arrays in host or device memory, checked; `n` maps. With a queue and both arrays in device memory the
 * call returns before the work is done, unless it is in place by another method than direct sums. */
kugel_status kugel__radial_gpu_run(const kugel_radial *plan, const kugel_array *in, const kugel_array *out,
                                   bool f32, int64_t n, bool adjoint, kugel_queue *queue);
/* One map by n harmonic plans, `top` of the highest degree: one analysis. The results lie side by side in the
 * order of `which`, among others of out. in and out are of one dtype. */
kugel_status kugel__radial_gpu_bank(kugel_radial *const *plans, int n, const int *which, int top,
                                    const kugel_array *in, const kugel_array *out, bool f32,
                                    kugel_queue *queue);

/* ---- stream_gpu.c: maps that come and go in runs of pixels ---- */

/* Of a plan with p->gpu or p->blocks; opts taken. */
kugel_status kugel__radial_stream_gpu(const kugel_radial *p, const kugel_radial_stream_opts *opts);

#endif
