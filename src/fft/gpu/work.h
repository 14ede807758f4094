/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan's work memory on a device: kept for the queue that used it last; another queue brings its own. */
#ifndef KUGEL_FFT_GPU_WORK_H
#define KUGEL_FFT_GPU_WORK_H

#include <pthread.h>
#include "device/device.h"

typedef struct kugel__gpu_work {
  pthread_mutex_t lock;
  void *memory;
  size_t bytes;
  kugel_queue *queue;
} kugel__gpu_work;

/* Memory taken for one call. */
typedef struct kugel__gpu_hold {
  void *memory;
  bool kept; /* it is the plan's, which is locked */
} kugel__gpu_hold;

void kugel__gpu_work_init(kugel__gpu_work *work);
void kugel__gpu_work_free(kugel__device *dev, kugel__gpu_work *work);

/* memory NULL for no bytes. Paired with give, once all that uses it is on the queue. */
kugel_status kugel__gpu_work_take(kugel__device *dev, kugel__gpu_work *work, size_t bytes, kugel_queue *queue,
                                  kugel__gpu_hold *out);
void kugel__gpu_work_give(kugel__device *dev, kugel__gpu_work *work, kugel__gpu_hold *hold);

#endif
