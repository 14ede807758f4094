/* SPDX-License-Identifier: BSD-3-Clause */
/* Sub-buffers, which kernels get for arrays that begin inside a buffer. A buffer has one for each place, however many launches use
 * it. Those of Kugel's own buffers live as long as these; those of the caller's, until their queue has been waited for.
 *
 * NVIDIA's driver 580 ends the process some launches after a sub-buffer has been released, even if nothing uses it and its queue has
 * been waited for; processes that release none run on. There, buffers with sub-buffers wait to be allocated again instead. */
#include <string.h>
#include "core/alloc.h"
#include "device/opencl/opencl.h"
#include "device/usage.h"

enum { MOST = 4096, CL_MEM_SIZE = 0x1102 };

static kugel_status make_room(kugel__opencl_device *d)
{
  if (d->part_count < d->part_room)
    return KUGEL_OK;
  int room = 2 * d->part_room + 64;
  kugel__opencl_part *parts;
  KUGEL_ALLOC(NULL, parts, (size_t)room * sizeof *parts);
  if (d->part_count)
    memcpy(parts, d->parts, (size_t)d->part_count * sizeof *parts);
  kugel__free(NULL, d->parts);
  d->parts = parts;
  d->part_room = room;
  return KUGEL_OK;
}

/* Releases all, after the launches that use them. */
static void empty(kugel__opencl_device *d)
{
  if (d->holds)
    return;
  for (int i = 0; i < d->part_count; i++) {
    if (d->parts[i].queue)
      kugel__opencl()->clFinish(d->parts[i].queue);
    kugel__opencl()->clReleaseMemObject(d->parts[i].memory);
  }
  d->part_count = 0;
}

static kugel_status add(kugel__opencl_device *d, const kugel__mem *mem, kugel__opencl_part **out)
{
  kugel__device *dev = &d->base;
  size_t size = 0;
  bool own = kugel__usage_bytes(dev, mem->base) > 0;
  KUGEL_TRY(CL(dev, clGetMemObjectInfo(mem->base, CL_MEM_SIZE, sizeof size, &size, NULL)));
  KUGEL_CHECK(
      own || !d->holds, KUGEL_ENOTSUP,
      "%s: an array starts %zu bytes into a buffer that Kugel did not allocate, and the driver is not "
      "safe with parts of buffers: copy it to the start of a buffer, or use the device as cuda:N",
      dev->info.name, mem->offset);
  KUGEL_CHECK(mem->offset % d->offset_align == 0, KUGEL_ENOTSUP,
              "%s: an array starts %zu bytes into its buffer, must be a multiple of %zu: copy it to the "
              "start of a buffer",
              dev->info.name, mem->offset, d->offset_align);
  KUGEL_CHECK(mem->offset < size, KUGEL_EINVAL, "%s: an array starts %zu bytes into a buffer of %zu bytes",
              dev->info.name, mem->offset, size);
  KUGEL_TRY(make_room(d));
  size_t region[2] = {mem->offset, size - mem->offset};
  cl_int error = 0;
  cl_mem memory = NULL;
  KUGEL_TRY(CL_MAKE(dev, memory, error,
                    clCreateSubBuffer(mem->base, 0, CL_BUFFER_CREATE_TYPE_REGION, region, &error)));
  *out = &d->parts[d->part_count++];
  **out = (kugel__opencl_part){.memory = memory, .whole = mem->base, .offset = mem->offset, .foreign = !own};
  return KUGEL_OK;
}

void kugel__opencl_parts_begin(kugel__device *dev)
{
  kugel__opencl_device *d = kugel__opencl_of(dev);
  pthread_mutex_lock(&d->parts_lock);
  if (d->part_count > MOST)
    empty(d);
}

void kugel__opencl_parts_end(kugel__device *dev)
{
  pthread_mutex_unlock(&kugel__opencl_of(dev)->parts_lock);
}

kugel_status kugel__opencl_part_of(kugel_queue *queue, const kugel__mem *mem, cl_mem *out)
{
  kugel__opencl_device *d = kugel__opencl_of(queue->device);
  kugel__opencl_part *p = d->parts, *end = d->parts + d->part_count;
  while (p < end && (p->whole != mem->base || p->offset != mem->offset))
    p++;
  if (p == end)
    KUGEL_TRY(add(d, mem, &p));
  if (p->queue && p->queue != queue->native)
    kugel__opencl()->clFinish(p->queue); // one queue at a time has launches that use it
  p->queue = queue->native;
  p->number = ++d->launches;
  *out = p->memory;
  return KUGEL_OK;
}

cl_int kugel__opencl_finish(kugel__device *dev, cl_command_queue queue)
{
  kugel__opencl_device *d = kugel__opencl_of(dev);
  pthread_mutex_lock(&d->parts_lock);
  uint64_t last = d->launches; // another thread may queue more while this one waits
  pthread_mutex_unlock(&d->parts_lock);
  cl_int result = kugel__opencl()->clFinish(queue);
  int left = 0;
  pthread_mutex_lock(&d->parts_lock);
  for (int i = 0; i < d->part_count; i++) {
    kugel__opencl_part *p = &d->parts[i];
    if (p->queue == queue && p->number <= last)
      p->queue = NULL;
    if (p->foreign && !p->queue)
      kugel__opencl()->clReleaseMemObject(p->memory);
    else
      d->parts[left++] = *p;
  }
  d->part_count = left;
  pthread_mutex_unlock(&d->parts_lock);
  return result;
}

/* Whether the buffer waits to be taken again. */
static bool hold(kugel__opencl_device *d, cl_mem memory)
{
  size_t size = 0;
  bool parts = false;
  for (int i = 0; i < d->part_count && !parts; i++)
    parts = d->parts[i].whole == memory;
  if (!d->holds || !parts ||
      kugel__opencl()->clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, NULL))
    return false;
  if (d->idle_count == d->idle_room) {
    int room = 2 * d->idle_room + 64;
    kugel__kept *more = kugel__alloc(NULL, (size_t)room * sizeof *more);
    if (!more)
      return true; // and nobody takes it: better than the end of the process
    if (d->idle_count)
      memcpy(more, d->idle, (size_t)d->idle_count * sizeof *more);
    kugel__free(NULL, d->idle);
    d->idle = more;
    d->idle_room = room;
  }
  d->idle[d->idle_count++] = (kugel__kept){memory, size};
  return true;
}

cl_mem kugel__opencl_take_idle(kugel__device *dev, size_t bytes)
{
  kugel__opencl_device *d = kugel__opencl_of(dev);
  cl_mem found = NULL;
  int best = -1;
  pthread_mutex_lock(&d->parts_lock);
  for (int i = 0; i < d->idle_count; i++)
    if (d->idle[i].bytes >= bytes && (best < 0 || d->idle[i].bytes < d->idle[best].bytes))
      best = i;
  if (best >= 0) {
    found = d->idle[best].ptr;
    d->idle[best] = d->idle[--d->idle_count];
  }
  pthread_mutex_unlock(&d->parts_lock);
  return found;
}

void kugel__opencl_free(kugel__device *dev, cl_mem memory)
{
  kugel__opencl_device *d = kugel__opencl_of(dev);
  int left = 0;
  pthread_mutex_lock(&d->parts_lock);
  bool held = hold(d, memory);
  for (int i = 0; i < d->part_count; i++) {
    kugel__opencl_part *p = &d->parts[i];
    if (p->whole == memory && p->queue) {
      kugel__opencl()->clFinish(p->queue);
      p->queue = NULL;
    }
    if (held || p->whole != memory)
      d->parts[left++] = *p;
    else
      kugel__opencl()->clReleaseMemObject(p->memory);
  }
  d->part_count = left;
  pthread_mutex_unlock(&d->parts_lock);
  if (!held)
    kugel__opencl()->clReleaseMemObject(memory);
}

void kugel__opencl_parts_close(kugel__device *dev)
{
  kugel__opencl_device *d = kugel__opencl_of(dev);
  empty(d);
  kugel__free(NULL, d->parts);
  kugel__free(NULL, d->idle);
  pthread_mutex_destroy(&d->parts_lock);
}
