/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening libcuda, and its errors as sentences. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/cuda/cuda.h"

static kugel__cuda_api api;

static bool find_symbols(void *library)
{
  const char *missing = NULL;
#define FIND_(name, symbol, params)                                                                          \
  if (!(*(void **)(void *)&api.name = dlsym(library, symbol)) && !missing)                                   \
    missing = symbol;
  KUGEL__CUDA_LIST(FIND_)
  const char *required = missing;
  KUGEL__CUDA_OPTIONAL(FIND_)
#undef FIND_
  if (required)
    snprintf(api.why, sizeof api.why,
             "libcuda.so.1 has no %s: install a newer NVIDIA driver (CUDA 12 or later)", required);
  return !required;
}

static void open_driver(void)
{
  const char *named = secure_getenv("KUGEL_CUDA");
  named = named && *named ? named : NULL;
  void *library = dlopen(named ? named : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    if (named)
      snprintf(api.why, sizeof api.why, "KUGEL_CUDA is \"%.90s\", which cannot be loaded", named);
    else
      snprintf(api.why, sizeof api.why, "libcuda.so.1 was not found: install the NVIDIA driver");
    return;
  }
  if (!find_symbols(library))
    return;
  CUresult r = api.cuInit(0);
  if (!r)
    r = api.cuDriverGetVersion(&api.version);
  if (r) {
    const char *name = NULL;
    if (api.cuGetErrorName(r, &name) || !name)
      name = "an unknown error";
    snprintf(api.why, sizeof api.why, "cuInit failed with %s: check the NVIDIA driver with nvidia-smi", name);
  } else if (api.version < 12000) {
    snprintf(api.why, sizeof api.why, "the NVIDIA driver offers CUDA %d.%d, 12.0 or later is needed",
             api.version / 1000, api.version % 1000 / 10);
  }
}

const kugel__cuda_api *kugel__cuda(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_driver);
  return &api;
}

/* Errors after which the process can use the device no more. */
static bool is_fatal(CUresult r)
{
  return r == 46 || r == 214 || r == 700 || r == 702 || (r >= 710 && r <= 719 && r != 712 && r != 713) ||
         r == 999;
}

kugel_status kugel__cuda_status(kugel__device *dev, CUresult result, const char *call)
{
  if (result == CUDA_SUCCESS)
    return KUGEL_OK;
  int length = (int)strcspn(call, "(");
  const char *device = dev ? dev->info.name : "cuda";
  if (result == KUGEL__CU_INJECTED)
    return KUGEL_FAIL(KUGEL_EDEVICE, "%s: %.*s failed on request of a test", device, length, call);
  const char *name = NULL, *text = NULL;
  if (api.cuGetErrorName(result, &name) || !name)
    name = "unknown error";
  if (api.cuGetErrorString(result, &text) || !text)
    text = "no description";
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return KUGEL_FAIL(KUGEL_ENOMEM, "%s: %.*s failed with %s: free device memory or use smaller batches",
                      device, length, call, name);
  if (dev && is_fatal(result))
    atomic_store(&dev->lost, result);
  return KUGEL_FAIL(KUGEL_EDEVICE, "%s: %.*s failed with %s (%s)", device, length, call, name, text);
}

kugel_status kugel__cuda_enter(kugel__device *dev)
{
  return CU(dev, cuCtxPushCurrent(kugel__cuda_of(dev)->context));
}

kugel_status kugel__cuda_leave(kugel_status s)
{
  CUcontext popped;
  kugel__cuda()->cuCtxPopCurrent(&popped);
  return s;
}
