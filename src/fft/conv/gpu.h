/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution on devices. */
#ifndef KUGEL_FFT_CONV_GPU_H
#define KUGEL_FFT_CONV_GPU_H

#include "fft/conv/conv.h"

typedef struct kugel__conv_gpu kugel__conv_gpu;

/* Kernels [kernels, k...] in C order on the host, checked; k as the user gave them. */
kugel_status kugel__conv_gpu_create(const kugel_conv *p, const kugel_array *kernels, const int64_t *k,
                                    kugel__conv_gpu **out);
void kugel__conv_gpu_destroy(kugel__conv_gpu *plan);

/* Arrays on the device, or in C order on the host; views: `lead` axes of batch, then channels if
 * the plan has such an axis, then data. */
kugel_status kugel__conv_gpu_execute(const kugel_conv *p, const kugel_array *in, const kugel__view *in_view,
                                     const kugel_array *out, const kugel__view *out_view, int lead,
                                     kugel_queue *queue);

#endif
