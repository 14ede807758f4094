/* SPDX-License-Identifier: BSD-3-Clause */
/* What Kugel uses of the CUDA driver API and of NVRTC, declared here after their documented ABI so that no
 * toolkit is needed to build. Both libraries are opened at run time. */
#ifndef KUGEL_DEVICE_CUDA_API_H
#define KUGEL_DEVICE_CUDA_API_H

#include "device/device.h"

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

typedef struct kugel__cu_attribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    unsigned int cluster[3];
  } value;
} kugel__cu_attribute;

typedef struct kugel__cu_config {
  unsigned int grid[3], block[3], shared;
  CUstream stream;
  kugel__cu_attribute *attributes;
  unsigned int count;
} kugel__cu_config;

/* Rows of a copy; arrays of textures, which Kugel has none of, stay NULL. */
typedef struct kugel__cu_rows {
  size_t src_x, src_y;
  int src_kind;
  const void *src_host;
  CUdeviceptr src_device;
  void *src_array;
  size_t src_pitch, dst_x, dst_y;
  int dst_kind;
  void *dst_host;
  CUdeviceptr dst_device;
  void *dst_array;
  size_t dst_pitch, width, height;
} kugel__cu_rows;

enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
  CUDA_ERROR_CAPTURED_EVENT = 907,
  KUGEL__CU_INJECTED = 100000, /* a failure that tests asked for */

  CU_MAX_THREADS_PER_BLOCK = 1,
  CU_SHARED_PER_BLOCK = 8,
  CU_WARP_SIZE = 10,
  CU_MULTIPROCESSORS = 16,
  CU_PCI_BUS = 33,
  CU_PCI_DEVICE = 34,
  CU_MEMORY_CLOCK_KHZ = 36,
  CU_MEMORY_BUS_BITS = 37,
  CU_L2_BYTES = 38,
  CU_PCI_DOMAIN = 50,
  CU_CAPABILITY_MAJOR = 75,
  CU_CAPABILITY_MINOR = 76,
  CU_SHARED_PER_BLOCK_OPTIN = 97,

  CU_FUNC_MAX_THREADS = 0,
  CU_FUNC_SHARED_BYTES = 1,
  CU_FUNC_LOCAL_BYTES = 3,
  CU_FUNC_REGISTERS = 4,
  CU_FUNC_MAX_DYNAMIC_SHARED = 8,
  CU_FUNC_NON_PORTABLE_CLUSTER = 14,

  CU_STREAM_NON_BLOCKING_FLAG = 1,
  CU_POINTER_MEMORY_TYPE = 2,
  CU_MEMORY_HOST = 1,
  CU_MEMORY_DEVICE = 2,
  CU_LAUNCH_CLUSTER = 4,
};

/* name, symbol in the library, parameters */
#define KUGEL__CUDA_LIST(X)                                                                                  \
  X(cuInit, "cuInit", (unsigned int flags))                                                                  \
  X(cuDriverGetVersion, "cuDriverGetVersion", (int *version))                                                \
  X(cuGetErrorName, "cuGetErrorName", (CUresult error, const char **text))                                   \
  X(cuGetErrorString, "cuGetErrorString", (CUresult error, const char **text))                               \
  X(cuDeviceGetCount, "cuDeviceGetCount", (int *count))                                                      \
  X(cuDeviceGet, "cuDeviceGet", (CUdevice * device, int ordinal))                                            \
  X(cuDeviceGetName, "cuDeviceGetName", (char *name, int size, CUdevice device))                             \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, CUdevice device))              \
  X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, CUdevice device))                              \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))            \
  X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice device))                            \
  X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext context))                                            \
  X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext * context))                                            \
  X(cuMemGetInfo, "cuMemGetInfo_v2", (size_t * available, size_t * total))                                   \
  X(cuMemAlloc, "cuMemAlloc_v2", (CUdeviceptr * out, size_t bytes))                                          \
  X(cuMemFree, "cuMemFree_v2", (CUdeviceptr ptr))                                                            \
  X(cuMemAllocHost, "cuMemAllocHost_v2", (void **out, size_t bytes))                                         \
  X(cuMemFreeHost, "cuMemFreeHost", (void *ptr))                                                             \
  X(cuPointerGetAttribute, "cuPointerGetAttribute", (void *value, int attribute, CUdeviceptr ptr))           \
  X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                               \
    (CUdeviceptr dst, const void *src, size_t n, CUstream stream))                                           \
  X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *dst, CUdeviceptr src, size_t n, CUstream stream))      \
  X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                               \
    (CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream stream))                                           \
  X(cuMemsetD8Async, "cuMemsetD8Async", (CUdeviceptr dst, unsigned char byte, size_t n, CUstream stream))    \
  X(cuStreamCreate, "cuStreamCreate", (CUstream * stream, unsigned int flags))                               \
  X(cuStreamCreateWithPriority, "cuStreamCreateWithPriority",                                                \
    (CUstream * stream, unsigned int flags, int priority))                                                   \
  X(cuStreamDestroy, "cuStreamDestroy_v2", (CUstream stream))                                                \
  X(cuStreamSynchronize, "cuStreamSynchronize", (CUstream stream))                                           \
  X(cuStreamWaitEvent, "cuStreamWaitEvent", (CUstream stream, CUevent event, unsigned int flags))            \
  X(cuStreamGetCtx, "cuStreamGetCtx", (CUstream stream, CUcontext * context))                                \
  X(cuEventCreate, "cuEventCreate", (CUevent * event, unsigned int flags))                                   \
  X(cuEventDestroy, "cuEventDestroy_v2", (CUevent event))                                                    \
  X(cuEventRecord, "cuEventRecord", (CUevent event, CUstream stream))                                        \
  X(cuEventSynchronize, "cuEventSynchronize", (CUevent event))                                               \
  X(cuEventQuery, "cuEventQuery", (CUevent event))                                                           \
  X(cuEventElapsedTime, "cuEventElapsedTime", (float *milliseconds, CUevent from, CUevent to))               \
  X(cuModuleLoadData, "cuModuleLoadData", (CUmodule * module, const void *image))                            \
  X(cuModuleUnload, "cuModuleUnload", (CUmodule module))                                                     \
  X(cuModuleGetFunction, "cuModuleGetFunction", (CUfunction * function, CUmodule module, const char *name))  \
  X(cuFuncGetAttribute, "cuFuncGetAttribute", (int *value, int attribute, CUfunction function))              \
  X(cuFuncSetAttribute, "cuFuncSetAttribute", (CUfunction function, int attribute, int value))               \
  X(cuLaunchKernel, "cuLaunchKernel",                                                                        \
    (CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,                \
     unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params, void **extra))

/* Not in every driver: NULL then. */
#define KUGEL__CUDA_OPTIONAL(X)                                                                              \
  X(cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer", (int *can, CUdevice device, CUdevice peer))              \
  X(cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess", (CUcontext peer, unsigned int flags))                    \
  X(cuMemcpyPeerAsync, "cuMemcpyPeerAsync",                                                                  \
    (CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from, size_t n, CUstream stream))             \
  X(cuMemcpy2DAsync, "cuMemcpy2DAsync_v2", (const kugel__cu_rows *rows, CUstream stream))                    \
  X(cuStreamGetCaptureInfo, "cuStreamGetCaptureInfo_v2",                                                     \
    (CUstream stream, int *status, unsigned long long *id, void **graph, const void **dependencies,          \
     size_t *count))                                                                                         \
  X(cuLaunchKernelEx, "cuLaunchKernelEx",                                                                    \
    (const kugel__cu_config *config, CUfunction function, void **params, void **extra))

typedef struct kugel__cuda_api {
#define MEMBER_(name, symbol, params) CUresult(*name) params;
  KUGEL__CUDA_LIST(MEMBER_)
  KUGEL__CUDA_OPTIONAL(MEMBER_)
#undef MEMBER_
  int version;   /* of the driver: 13000 */
  char why[160]; /* it cannot be used; "" if it can */
} kugel__cuda_api;

/* The driver, opened and initialised at the first call; look at `why`. */
const kugel__cuda_api *kugel__cuda(void);

/* The status of a driver call, with its sentence; out of memory and lost devices are told apart. dev may be
 * NULL. */
kugel_status kugel__cuda_status(kugel__device *dev, CUresult result, const char *call);

/* Makes the driver call unless tests want it to fail, and yields its status: KUGEL_TRY(CU(dev, cuInit(0))).
 */
#define CU(dev, ...)                                                                                         \
  kugel__cuda_status((dev), kugel__device_fault() ? KUGEL__CU_INJECTED : kugel__cuda()->__VA_ARGS__,         \
                     #__VA_ARGS__)

/* ---- NVRTC --------------------------------------------------------------------------------------------- */

/* The version of NVRTC as 1300 for 13.0, or 0 and why it cannot be used. */
int kugel__nvrtc_version(const char **why);

/* Compiles text for the architecture (90 for 9.0) to what cuModuleLoadData takes: machine code, or PTX where
 * NVRTC does not know so new an architecture. Needs no driver and no GPU. kugel__free(NULL, *binary). `log`,
 * if not NULL, receives the compiler's messages, which `--ptxas-options=-v` makes richer; also to be freed.
 * An option that begins with --gpu-architecture replaces arch. */
kugel_status kugel__nvrtc_compile(const kugel__program_spec *spec, int arch, void **binary, size_t *bytes,
                                  char **log);

#endif
