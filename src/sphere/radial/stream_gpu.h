/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution on devices of maps that come and go in runs of pixels. */
#ifndef KUGEL_SPHERE_RADIAL_STREAM_GPU_H
#define KUGEL_SPHERE_RADIAL_STREAM_GPU_H

#include "sphere/radial/radial.h"

/* Of a plan with p->gpu or p->blocks; opts taken. */
kugel_status kugel__radial_stream_gpu(const kugel_radial *p, const kugel_radial_stream_opts *opts);

#endif
