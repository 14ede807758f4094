/* SPDX-License-Identifier: BSD-3-Clause */
/* Sub-buffers of launches, kept until their queue has been waited for. */
#include "core/alloc.h"
#include "device/opencl/opencl.h"

enum { MOST = 4096 /* before a launch waits for its queue */ };

static bool make_room(kugel__opencl_device *d, int count)
{
  if (d->part_count + count <= d->part_room)
    return true;
  int room = 2 * (d->part_count + count) + 64;
  kugel__opencl_part *parts = kugel__alloc(NULL, (size_t)room * sizeof *parts);
  if (!parts)
    return false;
  for (int i = 0; i < d->part_count; i++)
    parts[i] = d->parts[i];
  kugel__free(NULL, d->parts);
  d->parts = parts;
  d->part_room = room;
  return true;
}

/* Releases what launches up to `last` of the queue used. */
static void release(kugel__opencl_device *d, cl_command_queue queue, uint64_t last)
{
  int left = 0;
  pthread_mutex_lock(&d->parts_lock);
  for (int i = 0; i < d->part_count; i++)
    if (d->parts[i].queue != queue || d->parts[i].number > last)
      d->parts[left++] = d->parts[i];
    else
      kugel__opencl()->clReleaseMemObject(d->parts[i].memory);
  d->part_count = left;
  pthread_mutex_unlock(&d->parts_lock);
}

cl_int kugel__opencl_finish(kugel__device *dev, cl_command_queue queue)
{
  kugel__opencl_device *d = kugel__opencl_of(dev);
  pthread_mutex_lock(&d->parts_lock);
  uint64_t last = d->launches; // another thread may queue more while this one waits
  pthread_mutex_unlock(&d->parts_lock);
  cl_int result = kugel__opencl()->clFinish(queue);
  release(d, queue, last);
  return result;
}

void kugel__opencl_keep(kugel_queue *queue, int nargs, const kugel__arg *args, const cl_mem *parts)
{
  kugel__opencl_device *d = kugel__opencl_of(queue->device);
  int count = 0;
  for (int i = 0; i < nargs; i++)
    count += parts[i] != NULL;
  if (!count)
    return;
  pthread_mutex_lock(&d->parts_lock);
  bool room = d->part_count + count <= MOST && make_room(d, count);
  d->launches++;
  for (int i = 0; room && i < nargs; i++)
    if (parts[i])
      d->parts[d->part_count++] = (kugel__opencl_part){
          queue->native, parts[i], ((const kugel__mem *)args[i].value)->base, d->launches};
  pthread_mutex_unlock(&d->parts_lock);
  if (room)
    return;
  kugel__opencl_finish(queue->device, queue->native);
  for (int i = 0; i < nargs; i++)
    if (parts[i])
      kugel__opencl()->clReleaseMemObject(parts[i]);
}

void kugel__opencl_free(kugel__device *dev, cl_mem memory)
{
  kugel__opencl_device *d = kugel__opencl_of(dev);
  cl_command_queue user;
  do {
    user = NULL;
    pthread_mutex_lock(&d->parts_lock);
    for (int i = 0; i < d->part_count && !user; i++)
      if (d->parts[i].whole == memory)
        user = d->parts[i].queue;
    pthread_mutex_unlock(&d->parts_lock);
    if (user)
      kugel__opencl_finish(dev, user);
  } while (user);
  kugel__opencl()->clReleaseMemObject(memory);
}
