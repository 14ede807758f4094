/* SPDX-License-Identifier: BSD-3-Clause */
/* Deconvolution on devices: RL, BIGGS, SHB and TV. Object, image and spectra stay in device memory; the steps are in the
 * loads and stores of the transforms (fused.h), and only the divergence comes back after each step. */
#ifndef KUGEL_DECONV_DEVICE_H
#define KUGEL_DECONV_DEVICE_H

#include "deconv/deconv.h"

/* Whether a plan's steps are on a device. */
bool kugel__deconv_on_device(const kugel_deconv *p);
/* Device memory of a plan and an execution with these figures of its convolution, and what the kernels of a step read and
 * write. */
void kugel__deconv_device_figures(const kugel_deconv *p, const kugel_volume_info *volume,
                                  kugel_deconv_cost *c);

typedef struct kugel__deconv_device kugel__deconv_device;

/* Memory and kernels of an execution; destroy also after a failure. */
kugel_status kugel__deconv_device_create(const kugel_deconv *p, kugel__deconv_device **out);
void kugel__deconv_device_destroy(kugel__deconv_device *d);
/* All steps of a tile: from s->y, whose missing voxels are negative, and s->x, or if `flat` s->mean everywhere, to s->x. */
kugel_status kugel__deconv_device_iterate(kugel__deconv_device *d, kugel__deconv_state *s, bool flat,
                                          kugel_deconv_info *info);

#endif
