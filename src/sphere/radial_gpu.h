/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over pairs of pixels on a device. */
#ifndef KUGEL_SPHERE_RADIAL_GPU_H
#define KUGEL_SPHERE_RADIAL_GPU_H

#include "sphere/radial.h"

/* Fills plan->gpu if the context is on a device and the tables are not too long for it (some 2^25 pairs of
 * rings). */
kugel_status kugel__radial_gpu_create(kugel_radial *plan);
void kugel__radial_gpu_destroy(kugel_radial *plan);
kugel_device kugel__radial_gpu_device(const kugel_radial *plan);
/* All maps of arrays in host or device memory, checked; `n` maps. */
kugel_status kugel__radial_gpu_run(const kugel_radial *plan, const kugel_array *in, const kugel_array *out,
                                   bool f32, int64_t n, bool adjoint);
/* One map by n harmonic plans, `top` of the highest degree: one analysis. The results lie side by side in the
 * order of `which`, among others of out. in and out are of one dtype. */
kugel_status kugel__radial_gpu_bank(kugel_radial *const *plans, int n, const int *which, int top,
                                    const kugel_array *in, const kugel_array *out, bool f32);

#endif
