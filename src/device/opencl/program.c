/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL programs, kernels and launches. */
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "device/opencl/opencl.h"

enum { MAX_ARGS = 64, LOG_IN_MESSAGE = 300 };

struct kugel__kernel {
  kugel__program *program;
  cl_kernel native;
  pthread_mutex_t lock; /* arguments are set, then the launch is made */
  kugel__kernel *next;
};

struct kugel__program {
  kugel__device *device;
  cl_program native;
  pthread_mutex_t lock; /* of the list */
  kugel__kernel *kernels;
};

void kugel__opencl_unload(kugel__program *p)
{
  const kugel__opencl_api *cl = kugel__opencl();
  while (p->kernels) {
    kugel__kernel *k = p->kernels;
    p->kernels = k->next;
    cl->clReleaseKernel(k->native);
    pthread_mutex_destroy(&k->lock);
    kugel__free(NULL, k);
  }
  if (p->native)
    cl->clReleaseProgram(p->native);
  pthread_mutex_destroy(&p->lock);
  kugel__free(NULL, p);
}

/* ---- building ------------------------------------------------------------------------------------------ */

static kugel_status build_failed(kugel__program *p, const kugel__program_spec *spec)
{
  const kugel__opencl_api *cl = kugel__opencl();
  cl_device_id d = kugel__opencl_of(p->device)->device;
  size_t n = 0;
  char *log = NULL;
  if (!cl->clGetProgramBuildInfo(p->native, d, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) && n)
    log = kugel__calloc(NULL, n + 1);
  if (log && cl->clGetProgramBuildInfo(p->native, d, CL_PROGRAM_BUILD_LOG, n, log, NULL))
    *log = 0;
  kugel_status s = KUGEL_FAIL(KUGEL_ECOMPILE, "%s: clBuildProgram failed on %s: %.*s", spec->name,
                              p->device->info.name, LOG_IN_MESSAGE, log ? log : "the driver gave no log");
  kugel__free(NULL, log);
  return s;
}

static kugel_status build(kugel__program *p, const kugel__program_spec *spec)
{
  kugel__opencl_device *d = kugel__opencl_of(p->device);
  kugel__device *dev = p->device;
  cl_int error = 0, accepted = 0;
  if (spec->binary) {
    const unsigned char *bytes = spec->binary;
    KUGEL_TRY(CL_MAKE(
        dev, p->native, error,
        clCreateProgramWithBinary(d->context, 1, &d->device, &spec->bytes, &bytes, &accepted, &error)));
    KUGEL_TRY(kugel__opencl_status(dev, accepted, "clCreateProgramWithBinary"));
  } else {
    const char *text = spec->text;
    KUGEL_TRY(CL_MAKE(dev, p->native, error, clCreateProgramWithSource(d->context, 1, &text, NULL, &error)));
  }
  char options[512]; // without warnings: PoCL prints their number
  int length = snprintf(options, sizeof options, "-w %s", spec->options ? spec->options : "");
  KUGEL_CHECK(length < (int)sizeof options, KUGEL_EINVAL, "%s: %d letters of options, at most 508",
              spec->name, length - 3);
  cl_int result = kugel__device_fault()
                      ? KUGEL__CL_INJECTED
                      : kugel__opencl()->clBuildProgram(p->native, 1, &d->device, options, NULL, NULL);
  return result == CL_BUILD_PROGRAM_FAILURE ? build_failed(p, spec)
                                            : kugel__opencl_status(dev, result, "clBuildProgram");
}

static kugel_status fetch_binary(kugel__program *p, void **binary, size_t *bytes)
{
  kugel__device *dev = p->device;
  size_t n = 0;
  KUGEL_TRY(CL(dev, clGetProgramInfo(p->native, CL_PROGRAM_BINARY_SIZES, sizeof n, &n, NULL)));
  KUGEL_CHECK(n, KUGEL_EDEVICE, "%s: clGetProgramInfo gave a binary of 0 bytes", dev->info.name);
  KUGEL_ALLOC(NULL, *binary, n);
  *bytes = n;
  unsigned char *list[1] = {*binary};
  kugel_status s = CL(dev, clGetProgramInfo(p->native, CL_PROGRAM_BINARIES, sizeof list, list, NULL));
  if (s) {
    kugel__free(NULL, *binary);
    *binary = NULL;
  }
  return s;
}

kugel_status kugel__opencl_load(kugel__device *dev, const kugel__program_spec *spec, kugel__program **out,
                                void **binary, size_t *bytes)
{
  kugel__program *p = kugel__calloc(NULL, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a program of %zu bytes", sizeof *p);
  p->device = dev;
  pthread_mutex_init(&p->lock, NULL);
  kugel_status s = build(p, spec);
  if (!s && binary && !spec->binary)
    s = fetch_binary(p, binary, bytes);
  if (s) {
    kugel__opencl_unload(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

/* ---- kernels ------------------------------------------------------------------------------------------- */

static kugel_status describe(kugel__kernel *k, kugel__kernel_info *info)
{
  kugel__device *dev = k->program->device;
  cl_device_id d = kugel__opencl_of(dev)->device;
  size_t threads = 0;
  cl_ulong shared = 0, private = 0;
  KUGEL_TRY(CL(dev, clGetKernelWorkGroupInfo(k->native, d, CL_KERNEL_WORK_GROUP_SIZE, sizeof threads,
                                             &threads, NULL)));
  KUGEL_TRY(CL(
      dev, clGetKernelWorkGroupInfo(k->native, d, CL_KERNEL_LOCAL_MEM_SIZE, sizeof shared, &shared, NULL)));
  KUGEL_TRY(CL(dev, clGetKernelWorkGroupInfo(k->native, d, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private,
                                             &private, NULL)));
  *info = (kugel__kernel_info){0, (int32_t)threads, (int64_t) private, (int64_t)shared};
  return KUGEL_OK;
}

kugel_status kugel__opencl_kernel(kugel__program *program, const char *name, kugel__kernel **out,
                                  kugel__kernel_info *info)
{
  kugel__device *dev = program->device;
  kugel__kernel *k = kugel__calloc(NULL, sizeof *k);
  KUGEL_CHECK(k, KUGEL_ENOMEM, "no memory for a kernel of %zu bytes", sizeof *k);
  k->program = program;
  cl_int error = 0;
  kugel_status s = CL_MAKE(dev, k->native, error, clCreateKernel(program->native, name, &error));
  if (error == CL_INVALID_KERNEL_NAME)
    s = KUGEL_FAIL(KUGEL_EINVAL, "%s: the program has no kernel \"%s\"", dev->info.name, name);
  if (!s && info)
    s = describe(k, info);
  if (s) {
    if (k->native)
      kugel__opencl()->clReleaseKernel(k->native);
    kugel__free(NULL, k);
    return s;
  }
  pthread_mutex_init(&k->lock, NULL);
  pthread_mutex_lock(&program->lock);
  k->next = program->kernels;
  program->kernels = k;
  pthread_mutex_unlock(&program->lock);
  *out = k;
  return KUGEL_OK;
}

/* ---- launches ------------------------------------------------------------------------------------------ */

static kugel_status set_args(kugel__kernel *k, int nargs, const kugel__arg *args, kugel_queue *queue)
{
  kugel__device *dev = k->program->device;
  for (int i = 0; i < nargs; i++) {
    const kugel__mem *mem = args[i].bytes ? NULL : args[i].value;
    cl_mem handle = mem ? mem->base : NULL;
    if (mem && mem->offset)
      KUGEL_TRY(kugel__opencl_part_of(queue, mem, &handle));
    const void *value = args[i].bytes ? args[i].value : &handle;
    KUGEL_TRY(
        CL(dev, clSetKernelArg(k->native, (cl_uint)i, args[i].bytes ? args[i].bytes : sizeof handle, value)));
  }
  return KUGEL_OK;
}

kugel_status kugel__opencl_launch(kugel__kernel *k, const kugel__grid *g, int nargs, const kugel__arg *args,
                                  kugel_queue *queue)
{
  kugel__device *dev = k->program->device;
  KUGEL_CHECK(nargs >= 0 && nargs <= MAX_ARGS, KUGEL_EINVAL, "a kernel has %d arguments, must be 0 to %d",
              nargs, MAX_ARGS);
  KUGEL_CHECK(g->cluster <= 1, KUGEL_ENOTSUP, "%s has no clusters of blocks", dev->info.name);
  size_t global[3], local[3];
  for (int i = 0; i < 3; i++) {
    local[i] = g->threads[i];
    global[i] = (size_t)g->blocks[i] * g->threads[i];
  }
  bool parts = false;
  for (int i = 0; i < nargs; i++)
    parts |= !args[i].bytes && ((const kugel__mem *)args[i].value)->offset;
  pthread_mutex_lock(&k->lock);
  if (parts)
    kugel__opencl_parts_begin(dev);
  kugel_status s = set_args(k, nargs, args, queue);
  if (!s)
    s = CL(dev, clEnqueueNDRangeKernel(queue->native, k->native, 3, NULL, global, local, 0, NULL, NULL));
  if (parts)
    kugel__opencl_parts_end(dev);
  pthread_mutex_unlock(&k->lock);
  return s ? s : CL(dev, clFlush(queue->native));
}
