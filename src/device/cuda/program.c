/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA programs, kernels and launches. */
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "device/cuda/cuda.h"

enum { MAX_ARGS = 64, DEFAULT_SHARED = 48 << 10 };

struct kugel__kernel {
  kugel__program *program;
  CUfunction function;
  int max_dynamic; /* bytes of dynamic shared memory that may be asked for */
  kugel__kernel *next;
};

struct kugel__program {
  kugel__device *device;
  CUmodule module;
  pthread_mutex_t lock; /* of the list */
  kugel__kernel *kernels;
};

void kugel__cuda_unload(kugel__program *p)
{
  const kugel__cuda_api *cu = kugel__cuda();
  while (p->kernels) {
    kugel__kernel *next = p->kernels->next;
    kugel__free(NULL, p->kernels);
    p->kernels = next;
  }
  if (p->module && !cu->cuCtxPushCurrent(kugel__cuda_of(p->device)->context)) {
    cu->cuModuleUnload(p->module);
    kugel__cuda_leave(KUGEL_OK);
  }
  pthread_mutex_destroy(&p->lock);
  kugel__free(NULL, p);
}

kugel_status kugel__cuda_load(kugel__device *dev, const kugel__program_spec *spec, kugel__program **out,
                              void **binary, size_t *bytes)
{
  void *compiled = NULL;
  size_t n = 0;
  if (!spec->binary)
    KUGEL_TRY(kugel__nvrtc_compile(spec, kugel__cuda_of(dev)->arch, &compiled, &n, NULL));
  kugel__program *p = kugel__calloc(NULL, sizeof *p);
  if (!p) {
    kugel__free(NULL, compiled);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a program of %zu bytes", sizeof *p);
  }
  p->device = dev;
  pthread_mutex_init(&p->lock, NULL);
  const void *image = spec->binary ? spec->binary : compiled;
  kugel_status s = CU_INSIDE(dev, cuModuleLoadData(&p->module, image));
  if (s) {
    kugel__cuda_unload(p);
    kugel__free(NULL, compiled);
    return s;
  }
  if (binary && compiled) {
    *binary = compiled;
    *bytes = n;
  } else {
    kugel__free(NULL, compiled);
  }
  *out = p;
  return KUGEL_OK;
}

/* Allows a block all shared memory that the device has, beyond the 48 KiB that need no asking. */
static kugel_status prepare(kugel__kernel *k, kugel__kernel_info *info)
{
  kugel__device *dev = k->program->device;
  int statics = 0, local = 0, registers = 0, threads = 0;
  KUGEL_TRY(CU(dev, cuFuncGetAttribute(&statics, CU_FUNC_SHARED_BYTES, k->function)));
  KUGEL_TRY(CU(dev, cuFuncGetAttribute(&local, CU_FUNC_LOCAL_BYTES, k->function)));
  KUGEL_TRY(CU(dev, cuFuncGetAttribute(&registers, CU_FUNC_REGISTERS, k->function)));
  KUGEL_TRY(CU(dev, cuFuncGetAttribute(&threads, CU_FUNC_MAX_THREADS, k->function)));
  k->max_dynamic = (int)dev->info.shared_bytes - statics;
  if (k->max_dynamic > DEFAULT_SHARED - statics)
    KUGEL_TRY(CU(dev, cuFuncSetAttribute(k->function, CU_FUNC_MAX_DYNAMIC_SHARED, k->max_dynamic)));
  if (info)
    *info = (kugel__kernel_info){registers, threads, local, statics};
  return KUGEL_OK;
}

static kugel_status find(kugel__kernel *k, const char *name)
{
  const kugel__cuda_api *cu = kugel__cuda();
  kugel__device *dev = k->program->device;
  int result = kugel__device_fault() ? KUGEL__CU_INJECTED
                                     : cu->cuModuleGetFunction(&k->function, k->program->module, name);
  KUGEL_CHECK(result != CUDA_ERROR_NOT_FOUND, KUGEL_EINVAL, "%s: the program has no kernel \"%s\"",
              dev->info.name, name);
  return kugel__cuda_status(dev, result, "cuModuleGetFunction");
}

kugel_status kugel__cuda_kernel(kugel__program *program, const char *name, kugel__kernel **out,
                                kugel__kernel_info *info)
{
  kugel__kernel *k = kugel__calloc(NULL, sizeof *k);
  KUGEL_CHECK(k, KUGEL_ENOMEM, "no memory for a kernel of %zu bytes", sizeof *k);
  k->program = program;
  kugel_status s = kugel__cuda_enter(program->device);
  if (!s) {
    s = find(k, name);
    if (!s)
      s = prepare(k, info);
    kugel__cuda_leave(s);
  }
  if (s) {
    kugel__free(NULL, k);
    return s;
  }
  pthread_mutex_lock(&program->lock);
  k->next = program->kernels;
  program->kernels = k;
  pthread_mutex_unlock(&program->lock);
  *out = k;
  return KUGEL_OK;
}

static kugel_status launch_cluster(kugel__kernel *k, const kugel__grid *g, void **params, CUstream stream)
{
  kugel__device *dev = k->program->device;
  KUGEL_CHECK(kugel__cuda()->cuLaunchKernelEx && dev->info.compute_capability >= 90, KUGEL_ENOTSUP,
              "%s has no clusters of blocks: compute capability 9.0 is needed", dev->info.name);
  if (g->cluster > 8) // larger ones are not portable
    KUGEL_TRY(CU(dev, cuFuncSetAttribute(k->function, CU_FUNC_NON_PORTABLE_CLUSTER, 1)));
  kugel__cu_attribute cluster = {.id = CU_LAUNCH_CLUSTER, .value.cluster = {g->cluster, 1, 1}};
  kugel__cu_config config = {.grid = {g->blocks[0], g->blocks[1], g->blocks[2]},
                             .block = {g->threads[0], g->threads[1], g->threads[2]},
                             .shared = (unsigned int)g->shared,
                             .stream = stream,
                             .attributes = &cluster,
                             .count = 1};
  return CU(dev, cuLaunchKernelEx(&config, k->function, params, NULL));
}

kugel_status kugel__cuda_launch(kugel__kernel *k, const kugel__grid *g, int nargs, const kugel__arg *args,
                                kugel_queue *queue)
{
  kugel__device *dev = k->program->device;
  void *params[MAX_ARGS];
  CUdeviceptr pointers[MAX_ARGS];
  KUGEL_CHECK(nargs >= 0 && nargs <= MAX_ARGS, KUGEL_EINVAL, "a kernel has %d arguments, must be 0 to %d",
              nargs, MAX_ARGS);
  KUGEL_CHECK((int64_t)g->shared <= k->max_dynamic, KUGEL_EINVAL,
              "launch with %zu bytes of dynamic shared memory, this kernel may have %d", g->shared,
              k->max_dynamic);
  for (int i = 0; i < nargs; i++) {
    params[i] = (void *)(uintptr_t)args[i].value;
    if (!args[i].bytes) {
      const kugel__mem *m = args[i].value;
      pointers[i] = (CUdeviceptr)(uintptr_t)m->base + m->offset;
      params[i] = &pointers[i];
    }
  }
  if (g->cluster > 1)
    return kugel__cuda_enter(dev) ?: kugel__cuda_leave(launch_cluster(k, g, params, queue->native));
  return CU_INSIDE(dev, cuLaunchKernel(k->function, g->blocks[0], g->blocks[1], g->blocks[2], g->threads[0],
                                       g->threads[1], g->threads[2], (unsigned int)g->shared, queue->native,
                                       params, NULL));
}
