/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, their memory and their queues.
 *
 *   kugel_ctx *ctx;
 *   kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = "cuda:0"}, &ctx);
 *   int64_t n = 1024;
 *   void *x;
 *   kugel_device_alloc(ctx, n * sizeof(double), &x);
 *   kugel_device_upload(ctx, x, 0, host, n * sizeof(double), NULL);
 *   kugel_array in = {.data = x, .device = {KUGEL_CUDA, 0}, .ndim = 1, .dtype = KUGEL_F64, .shape = &n};
 *   kugel_device_free(ctx, x);          // once the calls that use `in` have returned
 *   kugel_ctx_destroy(ctx);
 *
 * A context names its device by a string: "cpu", "cuda:0", "opencl:0" ("cuda" and "opencl" mean number 0), or
 * "auto": the first CUDA device, else the first OpenCL GPU, else the CPU. "cuda:local" is the device of this process among those that
 * mpirun, srun or torchrun started on this host: their numbers there, modulo the number of devices. "cuda:0,1" names several devices of one
 * host: plans of spherical-harmonic transforms, radial convolutions, the ball and volumes in tiles, parts or pencils share their work
 * among these devices. All other work runs on the first device, and arrays in device memory belong to the first device.
 *
 * Kugel loads drivers at run time: libcuda and NVRTC for CUDA, an OpenCL loader for OpenCL, NCCL for exchanges between
 * several CUDA devices (without NCCL the devices copy). KUGEL_CUDA, KUGEL_NVRTC and KUGEL_NCCL in the environment may
 * hold the paths of libcuda, libnvrtc and libnccl; KUGEL_PEERS is auto, copy (no NCCL) or nccl (NCCL or a failure).
 *
 * Device memory is a pointer (CPU, CUDA) or a cl_mem handle (OpenCL, where only `offset` may reach inside).
 */
#ifndef KUGEL_DEVICE_H
#define KUGEL_DEVICE_H

#include <kugel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where device work runs, in order. NULL: the plan's own queue, and the call returns when the work is done. */
typedef struct kugel_queue kugel_queue;

typedef struct kugel_device_info {
  size_t size;                /* sizeof(kugel_device_info) as the caller compiled it */
  char name[64];              /* "cpu", "cuda:0" */
  char description[128];      /* model, instruction set */
  uint64_t memory;            /* bytes in all */
  int32_t units;              /* threads or multiprocessors */
  int available;              /* 0: `why` says what is missing */
  char why[192];              /* "" if available */
  kugel_device device;        /* type and number */
  int32_t lanes;              /* threads that run in step (a warp, a subgroup); 1: none do */
  int32_t max_threads;        /* of a block (work-group) */
  uint64_t shared_bytes;      /* shared (local) memory of a block, the most that may be asked for */
  uint64_t cache_bytes;       /* the largest cache */
  uint64_t max_alloc;         /* bytes of one buffer */
  double bandwidth;           /* of its memory, bytes per second, as the driver reports it; 0: not known */
  int fp64;                   /* 1: double precision */
  int32_t compute_capability; /* CUDA: 90 for 9.0; else 0 */
  int is_gpu;
  int kernels;       /* 1: compiles and runs kernels; 0: `why` may say what is missing */
  char driver[96];   /* its version */
  char compiler[96]; /* of kernels */
} kugel_device_info;

/// How many devices kugel_device_describe knows, available or not.
/// @return at least 1; a backend without a device counts as one that is not available
/// @cost   the first call looks for drivers: up to seconds on a machine with GPUs
KUGEL_API int kugel_device_count(void);

/// Describes device `index`.
/// @param[in]     index  0 <= index < kugel_device_count()
/// @param[in,out] info   set info->size before the call
/// @errors KUGEL_EINVAL if index is out of range or info is NULL
KUGEL_API kugel_status kugel_device_describe(int index, kugel_device_info *info);

/// Describes the device of a context.
/// @param[in]     ctx   NULL: the default context, on the CPU
/// @param[in,out] info  set info->size before the call
/// @errors KUGEL_EINVAL if info is NULL
KUGEL_API kugel_status kugel_ctx_describe(kugel_ctx *ctx, kugel_device_info *info);

/// Memory of the context's device now.
/// @param[in]  ctx        NULL: the default context
/// @param[out] available  bytes that are free (OpenCL does not report this: the total); may be NULL
/// @param[out] total      bytes in all; may be NULL
/// @errors KUGEL_EDEVICE
KUGEL_API kugel_status kugel_device_memory(kugel_ctx *ctx, uint64_t *available, uint64_t *total);

/// Device memory that this process has allocated through Kugel: plans, buffers, and scratch cached for the next call.
/// @param[in]  ctx   NULL: the default context
/// @param[out] now   bytes; may be NULL
/// @param[out] peak  the most since the device was opened, bytes; may be NULL
/// @errors none
KUGEL_API kugel_status kugel_device_usage(kugel_ctx *ctx, uint64_t *now, uint64_t *peak);

/* What this process has spent on kernels, on all devices together. */
typedef struct kugel_kernels_info {
  size_t size;      /* sizeof(kugel_kernels_info) as the caller compiled it */
  int64_t compiled; /* modules of kernels that a driver compiled from text, or took from a cache of its own (PoCL) */
  int64_t cached;   /* modules loaded from the cache on disk (KUGEL_CACHE) instead */
  int64_t written;  /* texts that were generated; compiling or a look into the cache follows */
  double seconds;   /* of compiling, summed over the threads that compile side by side */
} kugel_kernels_info;

/// Reports the kernels that were compiled and loaded since the process began: why a first call took seconds, and
/// whether the cache on disk works.
/// @param[in,out] info  set info->size before the call
/// @errors KUGEL_EINVAL if info is NULL or its size is 0
KUGEL_API kugel_status kugel_kernels_get_info(kugel_kernels_info *info);

/* ---- memory ------------------------------------------------------------------------------------------------ */

/// Allocates memory of the context's device, aligned to at least 64 bytes, contents unspecified.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  bytes  at least 1
/// @param[out] out    for kugel_device_free
/// @errors KUGEL_EINVAL for 0 bytes; KUGEL_ENOMEM; KUGEL_EDEVICE
KUGEL_API kugel_status kugel_device_alloc(kugel_ctx *ctx, size_t bytes, void **out);

/// Frees memory from kugel_device_alloc, after waiting for the work that uses it.
/// @param[in] ctx  the same context
/// @param[in] ptr  may be NULL
KUGEL_API void kugel_device_free(kugel_ctx *ctx, void *ptr);

/// Allocates host memory that the device copies from and to at full speed (page-locked; on the CPU plain memory).
/// @param[in]  ctx    NULL: the default context
/// @param[in]  bytes  at least 1
/// @param[out] out    for kugel_device_free_host
/// @errors KUGEL_EINVAL for 0 bytes; KUGEL_ENOMEM; KUGEL_EDEVICE
KUGEL_API kugel_status kugel_device_alloc_host(kugel_ctx *ctx, size_t bytes, void **out);

/// Frees memory from kugel_device_alloc_host.
/// @param[in] ctx  the same context
/// @param[in] ptr  may be NULL
KUGEL_API void kugel_device_free_host(kugel_ctx *ctx, void *ptr);

/// Copies host memory to the device.
/// @param[in]  ctx     NULL: the default context
/// @param[out] dst     device memory
/// @param[in]  offset  bytes into dst
/// @param[in]  src     host memory; with a queue it must stay until the queue has been waited for
/// @param[in]  bytes   0: nothing is done
/// @param[in]  queue   NULL: returns when done
/// @errors KUGEL_EINVAL for NULL pointers or a queue of another device; KUGEL_EDEVICE
KUGEL_API kugel_status kugel_device_upload(kugel_ctx *ctx, void *dst, size_t offset, const void *src,
                                           size_t bytes, kugel_queue *queue);

/// Copies device memory to the host.
/// @param[in]  ctx     NULL: the default context
/// @param[out] dst     host memory; with a queue it is filled once the queue has been waited for
/// @param[in]  src     device memory
/// @param[in]  offset  bytes into src
/// @param[in]  bytes   0: nothing is done
/// @param[in]  queue   NULL: returns when done
/// @errors KUGEL_EINVAL for NULL pointers or a queue of another device; KUGEL_EDEVICE
KUGEL_API kugel_status kugel_device_download(kugel_ctx *ctx, void *dst, const void *src, size_t offset,
                                             size_t bytes, kugel_queue *queue);

/// Sets each byte of device memory.
/// @param[in]  ctx     NULL: the default context
/// @param[out] dst     device memory
/// @param[in]  offset  bytes into dst
/// @param[in]  byte    0 to 255
/// @param[in]  bytes   0: nothing is done
/// @param[in]  queue   NULL: returns when done
/// @errors KUGEL_EINVAL for a NULL pointer, a byte out of range or a queue of another device; KUGEL_EDEVICE
KUGEL_API kugel_status kugel_device_fill(kugel_ctx *ctx, void *dst, size_t offset, int byte, size_t bytes,
                                         kugel_queue *queue);

/* ---- queues ------------------------------------------------------------------------------------------------ */

/// Makes a queue on the context's device. The work of one queue runs in order; different queues run concurrently.
/// @param[in]  ctx  NULL: the default context
/// @param[out] out  for kugel_queue_destroy
/// @errors KUGEL_ENOMEM; KUGEL_EDEVICE
KUGEL_API kugel_status kugel_queue_create(kugel_ctx *ctx, kugel_queue **out);

/// Wraps a queue that another library made, such as the stream of PyTorch or CuPy, or a cl_command_queue.
/// While a CUstream is captured into a graph, calls that return before the work is done are recorded in the graph; one
/// call before the capture must load their kernels. Launches of the graph are not ordered with the plan's other
/// executions.
/// @param[in]  ctx     a context on the same device; for OpenCL one made with native_context = the queue's
///                     cl_context
/// @param[in]  native  CUstream (NULL: CUDA's default stream) or cl_command_queue, which must outlive the wrapper
/// @param[out] out     for kugel_queue_destroy, which does not destroy `native`
/// @errors KUGEL_EINVAL if the queue belongs to another device or context; KUGEL_ENOTSUP on the CPU
KUGEL_API kugel_status kugel_queue_wrap(kugel_ctx *ctx, void *native, kugel_queue **out);

/// Waits until all work of the queue is done.
/// @param[in] queue  NULL: nothing to wait for
/// @errors KUGEL_EDEVICE, also for failures of earlier work
KUGEL_API kugel_status kugel_queue_wait(kugel_queue *queue);

/// Waits for the queue's work, then frees the queue.
/// @param[in] queue  may be NULL
KUGEL_API void kugel_queue_destroy(kugel_queue *queue);

/* ---- copies of arrays ---------------------------------------------------------------------------------- */

typedef struct kugel_copy_opts {
  size_t size;   /* sizeof(kugel_copy_opts) */
  double scale;  /* factor on every element, of results that are floats or complex; 0 (default): 1 */
  int conjugate; /* 1: complex conjugates; from complex to complex only */
} kugel_copy_opts;

/// Copies an array into another of the same shape and converts the elements. Both arrays may have any strides, negative
/// ones too; `in` may also have strides of 0, which repeat elements. On devices one kernel does this without the host.
/// @param[in]  ctx    NULL: the default context
/// @param[in]  in     integers, bool, float16 to float64 or complex32 to complex128, in the memory of the context's device
/// @param[out] out    in the same memory; of in's type, or float16 to float64 from real types, or complex32 to
///                    complex128 from all types (imaginary parts are 0 from real ones). Either out has no element in
///                    common with in, or it is exactly in's elements
/// @param[in]  opts   NULL for defaults
/// @param[in]  queue  of the context's device: returns before the work is done; NULL: when it is. On the CPU: NULL
/// @errors KUGEL_EINVAL for a type that does not convert, or a byte_offset that is not a multiple of an element;
///         KUGEL_ESHAPE for different shapes; KUGEL_EDEVICE for arrays elsewhere; KUGEL_ENOTSUP for more than 8 axes
///         that remain after merging contiguous ones, and for doubles on a device without double precision;
///         KUGEL_ENOMEM; KUGEL_ECOMPILE
/// @accuracy each element is rounded once to the type of out (to float16 via float)
/// @cost   one pass over both arrays; the first copy between two types compiles a kernel
KUGEL_API kugel_status kugel_array_copy(kugel_ctx *ctx, const kugel_array *in, const kugel_array *out,
                                        const kugel_copy_opts *opts, kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
