/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening libOpenCL, and its errors as sentences. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "device/opencl/api.h"

static kugel__opencl_api api;

static void open_loader(void)
{
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(api.why, sizeof api.why,
             "libOpenCL.so.1 was not found: install an OpenCL loader (ocl-icd-libopencl1) and a driver");
    return;
  }
#define FIND_(type, name, params)                                                                            \
  if (!(*(void **)(void *)&api.name = dlsym(library, #name)) && !*api.why)                                   \
    snprintf(api.why, sizeof api.why, "libOpenCL.so.1 has no %s: OpenCL 1.2 or later is needed", #name);
  KUGEL__OPENCL_LIST(FIND_)
#undef FIND_
}

const kugel__opencl_api *kugel__opencl(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_loader);
  return &api;
}

static const char *error_name(cl_int error)
{
  static const struct {
    cl_int error;
    const char *name;
  } names[] = {
      {-1, "CL_DEVICE_NOT_FOUND"},
      {-2, "CL_DEVICE_NOT_AVAILABLE"},
      {-3, "CL_COMPILER_NOT_AVAILABLE"},
      {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {-5, "CL_OUT_OF_RESOURCES"},
      {-6, "CL_OUT_OF_HOST_MEMORY"},
      {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
      {-8, "CL_MEM_COPY_OVERLAP"},
      {-11, "CL_BUILD_PROGRAM_FAILURE"},
      {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
      {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
      {-30, "CL_INVALID_VALUE"},
      {-33, "CL_INVALID_DEVICE"},
      {-34, "CL_INVALID_CONTEXT"},
      {-35, "CL_INVALID_QUEUE_PROPERTIES"},
      {-36, "CL_INVALID_COMMAND_QUEUE"},
      {-38, "CL_INVALID_MEM_OBJECT"},
      {-42, "CL_INVALID_BINARY"},
      {-43, "CL_INVALID_BUILD_OPTIONS"},
      {-44, "CL_INVALID_PROGRAM"},
      {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
      {-46, "CL_INVALID_KERNEL_NAME"},
      {-48, "CL_INVALID_KERNEL"},
      {-49, "CL_INVALID_ARG_INDEX"},
      {-50, "CL_INVALID_ARG_VALUE"},
      {-51, "CL_INVALID_ARG_SIZE"},
      {-52, "CL_INVALID_KERNEL_ARGS"},
      {-53, "CL_INVALID_WORK_DIMENSION"},
      {-54, "CL_INVALID_WORK_GROUP_SIZE"},
      {-55, "CL_INVALID_WORK_ITEM_SIZE"},
      {-58, "CL_INVALID_EVENT"},
      {-59, "CL_INVALID_OPERATION"},
      {-61, "CL_INVALID_BUFFER_SIZE"},
      {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].error == error)
      return names[i].name;
  return "an error of the driver";
}

kugel_status kugel__opencl_status(kugel__device *dev, cl_int result, const char *call)
{
  if (!result)
    return KUGEL_OK;
  int length = (int)strcspn(call, "(");
  const char *device = dev ? dev->info.name : "opencl";
  if (result == KUGEL__CL_INJECTED)
    return KUGEL_FAIL(KUGEL_EDEVICE, "%s: %.*s failed on request of a test", device, length, call);
  if (result == CL_MEM_OBJECT_ALLOCATION_FAILURE || result == CL_OUT_OF_HOST_MEMORY ||
      result == CL_INVALID_BUFFER_SIZE)
    return KUGEL_FAIL(KUGEL_ENOMEM, "%s: %.*s failed with %s (%d): free device memory or use smaller batches",
                      device, length, call, error_name(result), result);
  return KUGEL_FAIL(KUGEL_EDEVICE, "%s: %.*s failed with %s (%d)", device, length, call, error_name(result),
                    result);
}
