/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenCL backend's own objects. */
#ifndef KUGEL_DEVICE_OPENCL_OPENCL_H
#define KUGEL_DEVICE_OPENCL_OPENCL_H

#include "device/opencl/api.h"

/* A sub-buffer that a launch of a queue uses. NVIDIA's driver 580 ends the process if it is released before the launch is done. */
typedef struct kugel__opencl_part {
  cl_command_queue queue;
  cl_mem memory, whole; /* whole: the buffer it is a part of */
  uint64_t number;      /* of the launch: numbers grow */
} kugel__opencl_part;

typedef struct kugel__opencl_device {
  kugel__device base;
  pthread_mutex_t parts_lock; /* of the parts: */
  kugel__opencl_part *parts;
  int part_count, part_room;
  uint64_t launches; /* with parts */
  cl_device_id device;
  cl_context context;
  size_t offset_align; /* bytes: a sub-buffer starts at a multiple */
} kugel__opencl_device;

static inline kugel__opencl_device *kugel__opencl_of(kugel__device *dev)
{
  return (kugel__opencl_device *)dev;
}

/* opencl/parts.c. keep: holds the sub-buffers of a launch that is queued, one per argument or NULL, until finish.
 * finish: waits for the queue, then releases what its launches before the call used; gives clFinish's result.
 * free: releases a buffer, and first finishes the queues whose launches use parts of it. */
void kugel__opencl_keep(kugel_queue *queue, int nargs, const kugel__arg *args, const cl_mem *parts);
cl_int kugel__opencl_finish(kugel__device *dev, cl_command_queue queue);
void kugel__opencl_free(kugel__device *dev, cl_mem memory);

/* Why a device of this platform and driver cannot be used, "" if it can. first: of its platform. */
const char *kugel__opencl_fault(const char *platform, const char *driver, bool first);

/* opencl/program.c */
kugel_status kugel__opencl_load(kugel__device *dev, const kugel__program_spec *spec, kugel__program **out,
                                void **binary, size_t *bytes);
void kugel__opencl_unload(kugel__program *program);
kugel_status kugel__opencl_kernel(kugel__program *program, const char *name, kugel__kernel **out,
                                  kugel__kernel_info *info);
kugel_status kugel__opencl_launch(kugel__kernel *kernel, const kugel__grid *grid, int nargs,
                                  const kugel__arg *args, kugel_queue *queue);

#endif
