/* SPDX-License-Identifier: BSD-3-Clause */
/* Complex transforms on devices: a block kernel an axis, or two for lines that no block can hold (four-step).
 */
#ifndef KUGEL_FFT_FFT_GPU_H
#define KUGEL_FFT_FFT_GPU_H

#include "codegen/print.h"
#include "device/device.h"
#include "fft/pass.h"

typedef struct kugel__fft_gpu kugel__fft_gpu;

/* n[naxes]: lengths of the transformed axes. KUGEL_ENOTSUP for a length that two passes cannot hold. */
kugel_status kugel__fft_gpu_create(kugel_ctx *ctx, int naxes, const int64_t *n, bool f32,
                                   kugel__fft_gpu **out);
void kugel__fft_gpu_destroy(kugel__fft_gpu *plan);
kugel_ctx *kugel__fft_gpu_ctx(const kugel__fft_gpu *plan);

/* How many kernels a direction launches, and the text of one of them, counted in the order they run. */
int kugel__fft_gpu_kernels(const kugel__fft_gpu *plan);
kugel_status kugel__fft_gpu_print(const kugel__fft_gpu *plan, bool inverse, int index, kugel__text *text);

/* axes[naxes]: those axes of the views, whose data are not used: in and out hold the elements. */
kugel_status kugel__fft_gpu_run(const kugel__fft_gpu *plan, bool inverse, kugel__mem in,
                                const kugel__view *in_view, kugel__mem out, const kugel__view *out_view,
                                const int *axes, double scale, kugel_queue *queue);

/* The same for arrays: both in this device's memory, or both in C order in host memory, which is copied. */
kugel_status kugel__fft_gpu_execute(const kugel__fft_gpu *plan, bool inverse, const kugel_array *in,
                                    const kugel__view *in_view, const kugel_array *out,
                                    const kugel__view *out_view, const int *axes, double scale,
                                    kugel_queue *queue);

#endif
