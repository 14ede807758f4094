/* SPDX-License-Identifier: BSD-3-Clause */
/* The OpenCL backend's own objects. */
#ifndef KUGEL_DEVICE_OPENCL_OPENCL_H
#define KUGEL_DEVICE_OPENCL_OPENCL_H

#include "device/opencl/api.h"

typedef struct kugel__opencl_device {
  kugel__device base;
  cl_device_id device;
  cl_context context;
  size_t offset_align; /* bytes: a sub-buffer starts at a multiple */
} kugel__opencl_device;

static inline kugel__opencl_device *kugel__opencl_of(kugel__device *dev)
{
  return (kugel__opencl_device *)dev;
}

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
