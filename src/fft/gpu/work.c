/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/gpu/work.h"

void kugel__gpu_work_init(kugel__gpu_work *w)
{
  for (int i = 0; i < KUGEL__WORK_QUEUES; i++)
    pthread_mutex_init(&w->part[i].lock, NULL);
}

void kugel__gpu_work_free(kugel__device *dev, kugel__gpu_work *w)
{
  for (int i = 0; i < KUGEL__WORK_QUEUES; i++) {
    kugel__device_free(dev, w->part[i].memory);
    pthread_mutex_destroy(&w->part[i].lock);
  }
}

/* Locks a part that is the queue's, or nobody's; NULL: there is none, or another thread has it. */
static kugel__gpu_part *lock_part(kugel__gpu_work *w, kugel_queue *queue)
{
  for (int i = 0; i < KUGEL__WORK_QUEUES; i++) {
    kugel__gpu_part *p = &w->part[i];
    if (pthread_mutex_trylock(&p->lock))
      continue;
    if (!p->memory || p->queue == queue)
      return p;
    pthread_mutex_unlock(&p->lock);
  }
  return NULL;
}

kugel_status kugel__gpu_work_take(kugel__device *dev, kugel__gpu_work *w, size_t bytes, kugel_queue *queue,
                                  kugel__gpu_hold *out)
{
  *out = (kugel__gpu_hold){NULL, NULL};
  if (!bytes)
    return KUGEL_OK;
  kugel__gpu_part *p = lock_part(w, queue);
  if (p) {
    if (p->memory && p->bytes < bytes) {
      kugel__device_free(dev, p->memory);
      p->memory = NULL;
    }
    if (!p->memory && !kugel__device_alloc(dev, bytes, &p->memory)) {
      p->bytes = bytes;
      p->queue = queue;
    }
    if (p->memory) {
      *out = (kugel__gpu_hold){p->memory, p};
      return KUGEL_OK;
    }
    pthread_mutex_unlock(&p->lock);
  }
  return kugel__device_alloc(dev, bytes, &out->memory);
}

void kugel__gpu_work_give(kugel__device *dev, kugel__gpu_hold *hold)
{
  if (hold->kept)
    pthread_mutex_unlock(&hold->kept->lock);
  else
    kugel__device_free(dev, hold->memory);
}
