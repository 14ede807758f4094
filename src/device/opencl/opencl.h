/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenCL backend's own objects. */
#ifndef KUGEL_DEVICE_OPENCL_OPENCL_H
#define KUGEL_DEVICE_OPENCL_OPENCL_H

#include "device/opencl/api.h"

/* A sub-buffer, from `offset` to the end of its buffer. */
typedef struct kugel__opencl_part {
  cl_command_queue queue; /* whose launches may still use it; NULL: none */
  cl_mem memory, whole;   /* whole: the buffer it is a part of */
  size_t offset;
  uint64_t number; /* of the latest use: numbers grow */
  bool foreign;    /* the buffer is the caller's */
} kugel__opencl_part;

typedef struct kugel__opencl_device {
  kugel__device base;
  pthread_mutex_t parts_lock; /* of the parts: */
  kugel__opencl_part *parts;
  int part_count, part_room;
  uint64_t launches; /* uses of parts so far */
  bool holds;        /* a buffer that has parts is never released, but taken again: NVIDIA's driver 580 */
  kugel__kept *idle; /* such buffers */
  int idle_count, idle_room;
  cl_device_id device;
  cl_context context;
  size_t offset_align; /* bytes: a sub-buffer starts at a multiple */
} kugel__opencl_device;

static inline kugel__opencl_device *kugel__opencl_of(kugel__device *dev)
{
  return (kugel__opencl_device *)dev;
}

/* opencl/parts.c. part_of: the handle of an array inside a buffer, which stays the library's; from parts_begin on until the launch that
 * gets it is queued, then parts_end. finish: waits for the queue and gives clFinish's result. free: releases a buffer and its parts,
 * after the launches that use these. */
void kugel__opencl_parts_begin(kugel__device *dev);
void kugel__opencl_parts_end(kugel__device *dev);
kugel_status kugel__opencl_part_of(kugel_queue *queue, const kugel__mem *mem, cl_mem *out);
cl_int kugel__opencl_finish(kugel__device *dev, cl_command_queue queue);
void kugel__opencl_free(kugel__device *dev, cl_mem memory);
/* A buffer of at least `bytes` that `holds` kept; NULL: none. */
cl_mem kugel__opencl_take_idle(kugel__device *dev, size_t bytes);
void kugel__opencl_parts_close(kugel__device *dev);

/* Bytes: what devices opened from now on ask of sub-buffers at least. Tests ask for 512, as NVIDIA's devices do; PoCL's ask for 128. */
extern int64_t kugel__opencl_least_align;

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
