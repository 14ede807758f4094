/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/gpu/work.h"

void kugel__gpu_work_init(kugel__gpu_work *w)
{
  pthread_mutex_init(&w->lock, NULL);
}

void kugel__gpu_work_free(kugel__device *dev, kugel__gpu_work *w)
{
  kugel__device_free(dev, w->memory);
  pthread_mutex_destroy(&w->lock);
}

kugel_status kugel__gpu_work_take(kugel__device *dev, kugel__gpu_work *w, size_t bytes, kugel_queue *queue,
                                  kugel__gpu_hold *out)
{
  *out = (kugel__gpu_hold){NULL, false};
  if (!bytes)
    return KUGEL_OK;
  if (pthread_mutex_trylock(&w->lock) == 0) {
    if (w->memory && w->bytes < bytes) {
      kugel__device_free(dev, w->memory);
      w->memory = NULL;
    }
    if (!w->memory && !kugel__device_alloc(dev, bytes, &w->memory)) {
      w->bytes = bytes;
      w->queue = queue;
    }
    if (w->memory && w->queue == queue) {
      *out = (kugel__gpu_hold){w->memory, true};
      return KUGEL_OK;
    }
    pthread_mutex_unlock(&w->lock);
  }
  return kugel__device_alloc(dev, bytes, &out->memory);
}

void kugel__gpu_work_give(kugel__device *dev, kugel__gpu_work *w, kugel__gpu_hold *hold)
{
  if (hold->kept)
    pthread_mutex_unlock(&w->lock);
  else
    kugel__device_free(dev, hold->memory);
}
