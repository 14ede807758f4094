/* SPDX-License-Identifier: BSD-3-Clause */
/* Volumes on devices whose lines no block of threads holds: a kernel that extends and converts the image, the boxes of
 * kugel_conv, and a kernel that crops and converts the results. The adjoint is a convolution of its own, made when it is
 * first needed. */
#ifndef KUGEL_VOLUME_BOXES_H
#define KUGEL_VOLUME_BOXES_H

#include "volume/gpu/device_plan.h"

kugel_status kugel__boxes_create(kugel_volume *p);
void kugel__boxes_destroy(kugel_volume *p);
/* Bytes of [f] and [kernels][m] in work memory, of a job's wide and narrow. */
void kugel__boxes_room(const kugel_volume *p, size_t bytes[2]);
/* An item of the batch: its first elements in both arrays. */
kugel_status kugel__boxes_item(const kugel__device_job *j, bool adjoint, int64_t in_first, int64_t out_first);

#endif
