/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution on devices in any number of dimensions, of whole arrays: one box, a pass over its lines an
 * axis. The first axis goes first, of real data as reals, and comes back last; the last axis goes there and
 * back in one kernel. Padding is never stored: passes forward read what the data fill of their lines and run
 * over no lines of zeros, passes back write the results alone, and run over no lines without results. */
#ifndef KUGEL_FFT_CONV_BOXES_H
#define KUGEL_FFT_CONV_BOXES_H

#include "codegen/module.h"
#include "fft/conv/conv.h"
#include "fft/conv/line.h"
#include "fft/gpu/gpu.h"
#include "fft/gpu/work.h"

typedef struct kugel__conv_boxes {
  const kugel_conv *p;
  kugel__conv_axis axis[KUGEL__CONV_DIMS];
  int64_t half, points;                   /* numbers of a box's spectrum along the first axis, and in all */
  kugel__fft_gpu *line[KUGEL__CONV_DIMS]; /* transforms along an axis; NULL: one point, or `fused` */
  kugel__conv_line fused; /* of the last axis; block.m 0: its transforms and the product are on their own */
  kugel__module *module;  /* of that kernel, or of the product */
  kugel__kernel *kernel;
  size_t shared; /* bytes of shared memory that `fused` takes */
  void *tables;  /* of `fused`, device memory */
  void *spectra; /* [kernels, points], device memory */
  kugel__gpu_work work;
} kugel__conv_boxes;

/* As kugel__conv_gpu_create takes them. */
kugel_status kugel__conv_boxes_create(const kugel_conv *p, const kugel_array *kernels, const int64_t *k,
                                      kugel__conv_boxes **out);
void kugel__conv_boxes_destroy(kugel__conv_boxes *boxes);

/* Device memory whose first elements are those of the views (their data are not used). */
kugel_status kugel__conv_boxes_run(kugel__conv_boxes *boxes, kugel__mem in, const kugel__view *in_view,
                                   kugel__mem out, const kugel__view *out_view, int lead, kugel_queue *queue);

#endif
