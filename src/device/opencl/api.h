/* SPDX-License-Identifier: BSD-3-Clause */
/* What Kugel uses of OpenCL 1.2 and later, declared here after its specification so that no headers are
 * needed to build. The loader library is opened at run time. */
#ifndef KUGEL_DEVICE_OPENCL_API_H
#define KUGEL_DEVICE_OPENCL_API_H

#include "device/device.h"

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef struct kugel__cl_platform *cl_platform_id;
typedef struct kugel__cl_device *cl_device_id;
typedef struct kugel__cl_context *cl_context;
typedef struct kugel__cl_queue *cl_command_queue;
typedef struct kugel__cl_mem *cl_mem;
typedef struct kugel__cl_program *cl_program;
typedef struct kugel__cl_kernel *cl_kernel;
typedef struct kugel__cl_event *cl_event;

enum {
  CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
  CL_OUT_OF_RESOURCES = -5,
  CL_OUT_OF_HOST_MEMORY = -6,
  CL_PROFILING_INFO_NOT_AVAILABLE = -7,
  CL_BUILD_PROGRAM_FAILURE = -11,
  CL_MISALIGNED_SUB_BUFFER_OFFSET = -13,
  CL_INVALID_KERNEL_NAME = -46,
  CL_INVALID_BUFFER_SIZE = -61,
  KUGEL__CL_INJECTED = -100000, /* a failure that tests asked for */

  CL_PLATFORM_VERSION = 0x0901,
  CL_PLATFORM_NAME = 0x0902,
  CL_DEVICE_TYPE = 0x1000,
  CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
  CL_DEVICE_MAX_WORK_GROUP_SIZE = 0x1004,
  CL_DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010,
  CL_DEVICE_MEM_BASE_ADDR_ALIGN = 0x1019, /* in bits */
  CL_DEVICE_GLOBAL_MEM_CACHE_SIZE = 0x101e,
  CL_DEVICE_GLOBAL_MEM_SIZE = 0x101f,
  CL_DEVICE_LOCAL_MEM_SIZE = 0x1023,
  CL_DEVICE_AVAILABLE = 0x1027,
  CL_DEVICE_COMPILER_AVAILABLE = 0x1028,
  CL_DEVICE_NAME = 0x102b,
  CL_DRIVER_VERSION = 0x102d,
  CL_DEVICE_VERSION = 0x102f,
  CL_DEVICE_EXTENSIONS = 0x1030,
  CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
  CL_QUEUE_CONTEXT = 0x1090,
  CL_QUEUE_DEVICE = 0x1091,
  CL_PROGRAM_BINARY_SIZES = 0x1165,
  CL_PROGRAM_BINARIES = 0x1166,
  CL_PROGRAM_BUILD_LOG = 0x1183,
  CL_KERNEL_WORK_GROUP_SIZE = 0x11b0,
  CL_KERNEL_LOCAL_MEM_SIZE = 0x11b2,
  CL_KERNEL_PRIVATE_MEM_SIZE = 0x11b4,
  CL_BUFFER_CREATE_TYPE_REGION = 0x1220,
  CL_PROFILING_COMMAND_END = 0x1283,
  CL_EVENT_STATUS = 0x11d3,
  CL_COMPLETE = 0,

  CL_DEVICE_TYPE_GPU = 4,
  CL_MEM_READ_WRITE = 1,
  CL_QUEUE_PROFILING_ENABLE = 2,
};
#define KUGEL__CL_ALL_DEVICES 0xffffffffu

#define KUGEL__OPENCL_LIST(X)                                                                                \
  X(cl_int, clGetPlatformIDs, (cl_uint room, cl_platform_id * list, cl_uint * count))                        \
  X(cl_int, clGetPlatformInfo,                                                                               \
    (cl_platform_id platform, cl_uint what, size_t room, void *value, size_t *size))                         \
  X(cl_int, clGetDeviceIDs,                                                                                  \
    (cl_platform_id platform, cl_ulong type, cl_uint room, cl_device_id * list, cl_uint * count))            \
  X(cl_int, clGetDeviceInfo, (cl_device_id device, cl_uint what, size_t room, void *value, size_t *size))    \
  X(cl_context, clCreateContext,                                                                             \
    (const intptr_t *properties, cl_uint n, const cl_device_id *devices,                                     \
     void (*notify)(const char *, const void *, size_t, void *), void *user, cl_int *error))                 \
  X(cl_int, clReleaseContext, (cl_context context))                                                          \
  X(cl_command_queue, clCreateCommandQueue,                                                                  \
    (cl_context context, cl_device_id device, cl_ulong properties, cl_int * error))                          \
  X(cl_int, clReleaseCommandQueue, (cl_command_queue queue))                                                 \
  X(cl_int, clGetCommandQueueInfo,                                                                           \
    (cl_command_queue queue, cl_uint what, size_t room, void *value, size_t *size))                          \
  X(cl_mem, clCreateBuffer, (cl_context context, cl_ulong flags, size_t bytes, void *host, cl_int *error))   \
  X(cl_mem, clCreateSubBuffer,                                                                               \
    (cl_mem mem, cl_ulong flags, cl_uint type, const void *region, cl_int *error))                           \
  X(cl_int, clGetMemObjectInfo, (cl_mem mem, cl_uint what, size_t room, void *value, size_t *size))          \
  X(cl_int, clReleaseMemObject, (cl_mem mem))                                                                \
  X(cl_int, clEnqueueReadBuffer,                                                                             \
    (cl_command_queue queue, cl_mem mem, cl_uint blocking, size_t offset, size_t n, void *dst,               \
     cl_uint waits, const cl_event *wait, cl_event *event))                                                  \
  X(cl_int, clEnqueueWriteBuffer,                                                                            \
    (cl_command_queue queue, cl_mem mem, cl_uint blocking, size_t offset, size_t n, const void *src,         \
     cl_uint waits, const cl_event *wait, cl_event *event))                                                  \
  X(cl_int, clEnqueueCopyBuffer,                                                                             \
    (cl_command_queue queue, cl_mem src, cl_mem dst, size_t src_offset, size_t dst_offset, size_t n,         \
     cl_uint waits, const cl_event *wait, cl_event *event))                                                  \
  X(cl_int, clEnqueueFillBuffer,                                                                             \
    (cl_command_queue queue, cl_mem mem, const void *pattern, size_t size, size_t offset, size_t n,          \
     cl_uint waits, const cl_event *wait, cl_event *event))                                                  \
  X(cl_int, clFlush, (cl_command_queue queue))                                                               \
  X(cl_int, clFinish, (cl_command_queue queue))                                                              \
  X(cl_int, clEnqueueMarkerWithWaitList,                                                                     \
    (cl_command_queue queue, cl_uint waits, const cl_event *wait, cl_event *event))                          \
  X(cl_int, clEnqueueBarrierWithWaitList,                                                                    \
    (cl_command_queue queue, cl_uint waits, const cl_event *wait, cl_event *event))                          \
  X(cl_int, clWaitForEvents, (cl_uint n, const cl_event *events))                                            \
  X(cl_int, clGetEventInfo, (cl_event event, cl_uint what, size_t room, void *value, size_t *size))          \
  X(cl_int, clGetEventProfilingInfo, (cl_event event, cl_uint what, size_t room, void *value, size_t *size)) \
  X(cl_int, clReleaseEvent, (cl_event event))                                                                \
  X(cl_program, clCreateProgramWithSource,                                                                   \
    (cl_context context, cl_uint n, const char **texts, const size_t *lengths, cl_int *error))               \
  X(cl_program, clCreateProgramWithBinary,                                                                   \
    (cl_context context, cl_uint n, const cl_device_id *devices, const size_t *lengths,                      \
     const unsigned char **binaries, cl_int *status, cl_int *error))                                         \
  X(cl_int, clBuildProgram,                                                                                  \
    (cl_program program, cl_uint n, const cl_device_id *devices, const char *options,                        \
     void (*notify)(cl_program, void *), void *user))                                                        \
  X(cl_int, clGetProgramInfo, (cl_program program, cl_uint what, size_t room, void *value, size_t *size))    \
  X(cl_int, clGetProgramBuildInfo,                                                                           \
    (cl_program program, cl_device_id device, cl_uint what, size_t room, void *value, size_t *size))         \
  X(cl_int, clReleaseProgram, (cl_program program))                                                          \
  X(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *error))                        \
  X(cl_int, clReleaseKernel, (cl_kernel kernel))                                                             \
  X(cl_int, clGetKernelWorkGroupInfo,                                                                        \
    (cl_kernel kernel, cl_device_id device, cl_uint what, size_t room, void *value, size_t *size))           \
  X(cl_int, clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value))               \
  X(cl_int, clEnqueueNDRangeKernel,                                                                          \
    (cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global,     \
     const size_t *local, cl_uint waits, const cl_event *wait, cl_event *event))

typedef struct kugel__opencl_api {
#define MEMBER_(type, name, params) type(*name) params;
  KUGEL__OPENCL_LIST(MEMBER_)
#undef MEMBER_
  char why[160]; /* it cannot be used; "" if it can */
} kugel__opencl_api;

/* The loader, opened at the first call; look at `why`. */
const kugel__opencl_api *kugel__opencl(void);

/* The status of a call, with its sentence. dev may be NULL. */
kugel_status kugel__opencl_status(kugel__device *dev, cl_int result, const char *call);

/* Makes the call unless tests want it to fail, and yields its status: KUGEL_TRY(CL(dev, clFinish(queue))). */
#define CL(dev, ...)                                                                                         \
  kugel__opencl_status((dev), kugel__device_fault() ? KUGEL__CL_INJECTED : kugel__opencl()->__VA_ARGS__,     \
                       #__VA_ARGS__)

/* For calls that return an object and set *error: CL_MAKE(dev, mem, error, clCreateBuffer(..., &error)). */
#define CL_MAKE(dev, object, error, ...)                                                                     \
  ((object) = NULL,                                                                                          \
   kugel__device_fault() ? (void)((error) = KUGEL__CL_INJECTED)                                              \
                         : (void)((object) = kugel__opencl()->__VA_ARGS__),                                  \
   kugel__opencl_status((dev), (error), #__VA_ARGS__))

#endif
