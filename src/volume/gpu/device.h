/* SPDX-License-Identifier: BSD-3-Clause */
/* Volumes on devices: by the fused kernels of fused.h, or where no block of threads holds a line by boxes.h. */
#ifndef KUGEL_VOLUME_DEVICE_H
#define KUGEL_VOLUME_DEVICE_H

#include "volume/cpu/volume.h"

/* An array and the steps of its elements: [kernels][z][y][x], and the batch before them. */
typedef struct kugel__volume_argument {
  const kugel_array *array;
  kugel__volume_box box;
  int lead;
  int64_t shape[32], step[32];
} kugel__volume_argument;

kugel_status kugel__volume_device_create(kugel_volume *p, const kugel_array *kernel);
/* Copies p->window there. */
kugel_status kugel__volume_device_window(kugel_volume *p);
void kugel__volume_device_destroy(kugel_volume *p);
/* Returns when the work is done. */
kugel_status kugel__volume_device_execute(const kugel_volume *p, bool adjoint,
                                          const kugel__volume_argument *in, const kugel__volume_argument *out,
                                          int64_t *clipped, kugel_queue *queue);

/* Bytes a second that copies within a device, to it and from it move, measured once a process. */
typedef struct kugel__volume_rates {
  double within, up, down;
} kugel__volume_rates;
kugel__volume_rates kugel__volume_device_rates(kugel_ctx *ctx);
/* Of the first of these, at which kernels read and write: 0.58 to 0.75 on an H200. */
#define KUGEL__VOLUME_PART_OF_COPIES 0.65
/* Bytes that a plan may take of each device: opts.device_memory, or the context's limit, or what is free. */
kugel_status kugel__volume_device_limit(const kugel_volume *p, int64_t *limit);
/* Bytes of a voxel of opts.image_dtype and opts.results_dtype. */
int64_t kugel__volume_image_size(const kugel_volume *p);
int64_t kugel__volume_results_size(const kugel_volume *p);

/* Memory, traffic and time on devices, after those of the CPU. */
void kugel__volume_device_figures(const kugel_volume *p, kugel_volume_info *info);

#endif
