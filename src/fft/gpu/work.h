/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan's work memory on a device: a part of it is kept for each of the first two queues that use the plan (often the context's
 * own, which made or filled something, and the caller's). Other queues bring their own for each call, which waits for the device
 * when it is freed. */
#ifndef KUGEL_FFT_GPU_WORK_H
#define KUGEL_FFT_GPU_WORK_H

#include <pthread.h>
#include "device/device.h"

enum { KUGEL__WORK_QUEUES = 2 };

typedef struct kugel__gpu_part {
  pthread_mutex_t lock;
  void *memory;
  size_t bytes;
  kugel_queue *queue;
} kugel__gpu_part;

typedef struct kugel__gpu_work {
  kugel__gpu_part part[KUGEL__WORK_QUEUES];
} kugel__gpu_work;

/* Memory taken for one call. */
typedef struct kugel__gpu_hold {
  void *memory;
  kugel__gpu_part *kept; /* it is the plan's, which is locked; NULL: of this call */
} kugel__gpu_hold;

void kugel__gpu_work_init(kugel__gpu_work *work);
void kugel__gpu_work_free(kugel__device *dev, kugel__gpu_work *work);

/* memory NULL for no bytes. Paired with give, once all that uses it is on the queue. */
kugel_status kugel__gpu_work_take(kugel__device *dev, kugel__gpu_work *work, size_t bytes, kugel_queue *queue,
                                  kugel__gpu_hold *out);
void kugel__gpu_work_give(kugel__device *dev, kugel__gpu_hold *hold);

#endif
