/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of all kinds on devices: an axis is a list of passes, each a kernel (fft/block.h) and its
 * launch. */
#ifndef KUGEL_FFT_GPU_GPU_H
#define KUGEL_FFT_GPU_GPU_H

#include "codegen/print.h"
#include "device/device.h"
#include "fft/gpu/ends.h"
#include "fft/cpu/pass.h"

typedef struct kugel__fft_gpu kugel__fft_gpu;

typedef struct kugel__fft_gpu_desc {
  kugel_fft_kind kind;
  bool f32, dd; /* neither: double */
  bool half;    /* with f32: arrays are of halves; what lies between axes is float */
  int naxes;
  int64_t n[8];     /* lengths of the transformed axes, as the forward transform's input has them */
  bool in_order[8]; /* elements along the axis are expected to follow each other in memory */
  bool hooks;       /* there are factors */
  bool measure;     /* passes and kernels are chosen by timing them */
  const double *factor[2][2][8]; /* [inverse][write][axis], see fft/hooks.h; kept by the caller */
  kugel__window window[2]
                      [8]; /* [inverse][axis]: what the array that forward reads, or inverse writes, holds */
  kugel_fft_modulus modulus;        /* what forward transforms write */
  const struct kugel__bundle *from; /* not NULL: all kernels, and what was measured, are there */
  uint64_t shared;                  /* bytes of shared memory a block may use; 0: what the device has */
} kugel__fft_gpu_desc;

/* KUGEL_ENOTSUP for a length that no passes can hold. */
kugel_status kugel__fft_gpu_create(kugel_ctx *ctx, const kugel__fft_gpu_desc *desc, kugel__fft_gpu **out);
void kugel__fft_gpu_destroy(kugel__fft_gpu *plan);
/* Appends the machine code of all kernels that the plan may run, and what was measured for it. */
kugel_status kugel__fft_gpu_keep(kugel__fft_gpu *plan, struct kugel__bundle *bundle);
kugel_ctx *kugel__fft_gpu_ctx(const kugel__fft_gpu *plan);

/* How many kernels a direction launches, and the text of one of them, counted in the order they run. */
int kugel__fft_gpu_kernels(const kugel__fft_gpu *plan, bool inverse);
kugel_status kugel__fft_gpu_print(const kugel__fft_gpu *plan, bool inverse, int index, kugel__text *text);

typedef struct kugel__fft_gpu_call {
  bool inverse;
  kugel__mem in, out;                    /* the elements; */
  const kugel__view *in_view, *out_view; /* data are not used */
  bool spare_in;                         /* the input may be changed */
  const int *axes;                       /* [naxes]: those axes of the views */
  kugel__dd scale;
  kugel_queue *queue;
} kugel__fft_gpu_call;

kugel_status kugel__fft_gpu_run(kugel__fft_gpu *plan, const kugel__fft_gpu_call *call);
/* Bytes of work memory that this takes; in and out of the call tell whether it is in place. */
kugel_status kugel__fft_gpu_work(kugel__fft_gpu *plan, const kugel__fft_gpu_call *call, int64_t *bytes);

/* The same for arrays: both in this device's memory, or both in C order in host memory, which is copied, some of the
 * transforms at a time if the context's limit of memory asks for it. */
kugel_status kugel__fft_gpu_execute(kugel__fft_gpu *plan, const kugel__fft_gpu_call *call,
                                    const kugel_array *in, const kugel_array *out);

#endif
