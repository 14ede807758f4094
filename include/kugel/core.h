/* SPDX-License-Identifier: BSD-3-Clause */
/* Kugel core: status, last error, arrays, context, allocator, executor, progress, version.
 *
 * Rules that hold for the whole API and are not repeated at each function:
 *  - Every function returns kugel_status unless stated; KUGEL_OK is 0, failures are negative.
 *  - On failure output arguments are unset (pointers NULL) and output arrays hold unspecified numbers;
 *    kugel_last_error() has one sentence with the value, the allowed range and the remedy.
 *  - The library prints nothing, never aborts, never exits, and installs no signal handlers.
 *  - `ctx` may be NULL everywhere: the process-wide default context is used.
 *  - `destroy` functions accept NULL. Objects made from a context keep it alive.
 *  - Arrays are borrowed for the call and never freed; small inputs are copied at create.
 *  - All functions may be called from several threads at once; a plan may be executed by any number of threads.
 *  - Angles are radians, colatitude theta in [0, pi] from the north pole, longitude phi eastwards.
 */
#ifndef KUGEL_CORE_H
#define KUGEL_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(KUGEL_BUILD) && defined(__GNUC__)
#  define KUGEL_API __attribute__((visibility("default")))
#else
#  define KUGEL_API
#endif

/* ---- status ------------------------------------------------------------------------------------------------ */

/* One list makes the enum, the names and the texts. Values are frozen. */
#define KUGEL_STATUS_LIST(X)                                                                                 \
  X(KUGEL_OK, 0, "success")                                                                                  \
  X(KUGEL_EINVAL, -1, "invalid argument")                                                                    \
  X(KUGEL_ESHAPE, -2, "array shape, stride or dtype mismatch")                                               \
  X(KUGEL_ENOMEM, -3, "out of memory")                                                                       \
  X(KUGEL_ENOTSUP, -4, "not supported")                                                                      \
  X(KUGEL_EDEVICE, -5, "device failure")                                                                     \
  X(KUGEL_ECOMPILE, -6, "kernel compilation failed")                                                         \
  X(KUGEL_EIO, -7, "input or output failed")                                                                 \
  X(KUGEL_EFORMAT, -8, "file is damaged or of an unknown format")                                            \
  X(KUGEL_ECANCELED, -9, "cancelled by the caller")                                                          \
  X(KUGEL_ECONVERGE, -10, "iteration did not converge")                                                      \
  X(KUGEL_EINTERNAL, -11, "internal error, please report")

typedef enum kugel_status {
#define KUGEL_STATUS_ENUM_(name, value, text) name = value,
  KUGEL_STATUS_LIST(KUGEL_STATUS_ENUM_)
#undef KUGEL_STATUS_ENUM_
} kugel_status;

/// The text of a status, such as "invalid argument".
/// @param[in] status  any value
/// @return a static string, never NULL
KUGEL_API const char *kugel_status_text(kugel_status status);

/// The name of a status, such as "KUGEL_EINVAL".
/// @param[in] status  any value
/// @return a static string, never NULL
KUGEL_API const char *kugel_status_name(kugel_status status);

/// This thread's latest failure as one sentence with the values and the remedy.
/// @return a string owned by the library, "" before the first failure; valid until this thread's next failure.
///         Success leaves it alone.
KUGEL_API const char *kugel_last_error(void);

/* ---- version ----------------------------------------------------------------------------------------------- */

/// Version of the library in use, such as "0.1.0"; compare with KUGEL_VERSION of the header compiled against.
/// @return a static string
KUGEL_API const char *kugel_version(void);

/* ---- arrays ------------------------------------------------------------------------------------------------ */

/* The element type of a plan's arrays; each plan's header lists the ones that the plan accepts. */
typedef enum kugel_precision {
  KUGEL_PRECISION_F64 = 0,
  KUGEL_PRECISION_F32 = 1,
  KUGEL_PRECISION_DD = 2, /* double-double: sums of two doubles, about 31 digits */
  KUGEL_PRECISION_F16 = 3 /* half in memory, float in computation */
} kugel_precision;

/* kugel_dtype, kugel_device and kugel_array have the fields of DLPack's DLDataType, DLDevice and DLTensor. */
typedef struct kugel_dtype {
  uint8_t code;   /* KUGEL_INT ... KUGEL_BOOL */
  uint8_t bits;   /* of one element; a complex of two doubles has 128 */
  uint16_t lanes; /* 1 */
} kugel_dtype;

enum { KUGEL_INT = 0, KUGEL_UINT = 1, KUGEL_FLOAT = 2, KUGEL_COMPLEX = 5, KUGEL_BOOL = 6 };
enum { KUGEL_CPU = 1, KUGEL_CUDA = 2, KUGEL_OPENCL = 4 };

typedef struct kugel_device {
  int32_t type; /* KUGEL_CPU, KUGEL_CUDA, KUGEL_OPENCL */
  int32_t id;
} kugel_device;

/* A borrowed strided view, never an owner. Strides are in elements; NULL means C order. */
typedef struct kugel_array {
  void *data;
  kugel_device device;
  int32_t ndim;
  kugel_dtype dtype;
  int64_t *shape;
  int64_t *strides; /* of results: each above the reach of smaller ones (elements neither overlap nor interleave) */
  uint64_t byte_offset;
} kugel_array;

#ifndef __cplusplus
#  define KUGEL_I32 ((kugel_dtype){KUGEL_INT, 32, 1})
#  define KUGEL_I64 ((kugel_dtype){KUGEL_INT, 64, 1})
#  define KUGEL_F16 ((kugel_dtype){KUGEL_FLOAT, 16, 1})
#  define KUGEL_F32 ((kugel_dtype){KUGEL_FLOAT, 32, 1})
#  define KUGEL_F64 ((kugel_dtype){KUGEL_FLOAT, 64, 1})
#  define KUGEL_C32 ((kugel_dtype){KUGEL_COMPLEX, 32, 1})
#  define KUGEL_C64 ((kugel_dtype){KUGEL_COMPLEX, 64, 1})
#  define KUGEL_C128 ((kugel_dtype){KUGEL_COMPLEX, 128, 1})
/* A pointer to a C-order host array that lives to the end of the block:
 * kugel_sht_synthesis(plan, KUGEL_ARRAY(alm, KUGEL_C128, nalm), KUGEL_ARRAY(map, KUGEL_F64, npix), NULL); */
#  define KUGEL_ARRAY(ptr, type, ...)                                                                        \
    (&(kugel_array){.data = (void *)(ptr),                                                                   \
                    .device = {KUGEL_CPU, 0},                                                                \
                    .ndim = (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)),                   \
                    .dtype = type,                                                                           \
                    .shape = (int64_t[]){__VA_ARGS__}})
#else /* C++11 and later: the same names; KUGEL_ARRAY lives to the end of the full expression */
#  define KUGEL_I32  (kugel_dtype{KUGEL_INT, 32, 1})
#  define KUGEL_I64  (kugel_dtype{KUGEL_INT, 64, 1})
#  define KUGEL_F16  (kugel_dtype{KUGEL_FLOAT, 16, 1})
#  define KUGEL_F32  (kugel_dtype{KUGEL_FLOAT, 32, 1})
#  define KUGEL_F64  (kugel_dtype{KUGEL_FLOAT, 64, 1})
#  define KUGEL_C32  (kugel_dtype{KUGEL_COMPLEX, 32, 1})
#  define KUGEL_C64  (kugel_dtype{KUGEL_COMPLEX, 64, 1})
#  define KUGEL_C128 (kugel_dtype{KUGEL_COMPLEX, 128, 1})
#  define KUGEL_ARRAY(ptr, type, ...) (kugel_view_of(ptr, type, __VA_ARGS__).array())
#endif

/* ---- degrees and orders ------------------------------------------------------------------------------------ */

/* Special values of mmax, the highest order of a set of coefficients to degree lmax, besides 1 to lmax. Every function
 * and options struct uses them alike. In options, 0 means KUGEL_ALL; as an argument, 0 is rejected unless lmax is 0,
 * because it could mean either value. */
#define KUGEL_ALL     (-1) /* lmax */
#define KUGEL_ONLY_M0 (-2) /* order 0 alone */

/* ---- context ----------------------------------------------------------------------------------------------- */

typedef struct kugel_ctx kugel_ctx;

/* Where memory comes from. alloc returns `bytes` (> 0) aligned to `align` (a power of two, at most 4096), or NULL.
 * Both are called from any thread. */
typedef struct kugel_allocator {
  void *(*alloc)(size_t bytes, size_t align, void *user);
  void (*free)(void *ptr, size_t bytes, void *user);
  void *user;
} kugel_allocator;

/* Where parallel work runs. `run` calls task(arg, i) once for each i in [0, n), on any threads, in any order, even
 * one after another, and returns when all are done. n never exceeds `threads`. Adapters for OpenMP and TBB take
 * three lines; see docs/conventions.md. */
typedef struct kugel_executor {
  void (*run)(int n, void (*task)(void *arg, int index), void *arg, void *user);
  int threads; /* at least 1 */
  void *user;
} kugel_executor;

typedef struct kugel_ctx_opts {
  size_t size;                      /* sizeof(kugel_ctx_opts) */
  const char *device;               /* "cpu" (default), "cuda:0", "opencl:0", "auto", "cuda:0,1"; see device.h */
  int threads;                      /* 0: kugel_get_num_threads() at each call */
  const kugel_allocator *allocator; /* NULL: the C library's; copied */
  const kugel_executor *executor;   /* NULL: Kugel's own pool; copied */
  void *native_context;             /* a CUcontext or cl_context to share; must outlive Kugel's; NULL: Kugel's own */
} kugel_ctx_opts;

/// Makes a context: a device, an allocator and an executor that plans share.
/// @param[in]  opts  NULL for defaults
/// @param[out] out   the context, with one reference owned by the caller
/// @errors KUGEL_EINVAL for an unknown device string or negative thread count; KUGEL_ENOMEM; KUGEL_ENOTSUP if the
///         device's driver is missing; KUGEL_EDEVICE
/// @cost   microseconds; the first context on a GPU up to a second; threads start at the first parallel call
KUGEL_API kugel_status kugel_ctx_create(const kugel_ctx_opts *opts, kugel_ctx **out);

/// Releases the caller's reference. Plans made from the context keep it alive until they are destroyed.
/// @param[in] ctx  may be NULL
KUGEL_API void kugel_ctx_destroy(kugel_ctx *ctx);

/// Limits the memory of each plan made in a context from now on, including the plans that other calls (smoothing,
/// regridding) make. On a device: what the plan may allocate there; transforms and radial convolutions that need more run
/// in parts, and Fourier transforms of host arrays some at a time (their tables do not count). On the CPU: the scratch memory that a spherical-harmonic transform aims at, and the host memory of plans of
/// volumes.
/// @param[in] ctx    a context, not NULL
/// @param[in] bytes  limit per plan and device; 0 (as the context was made): on a device the memory that is free; on the
///                   CPU no limit for volumes, and for transforms the size of the maps, at least 32 MiB
/// @errors KUGEL_EINVAL if ctx is NULL
KUGEL_API kugel_status kugel_ctx_limit_memory(kugel_ctx *ctx, uint64_t bytes);

/// Frees the scratch memory that the context caches for the next call.
/// @param[in] ctx  NULL: the default context
KUGEL_API void kugel_ctx_trim(kugel_ctx *ctx);

/// Bytes allocated through the context's allocator, now and at the peak.
/// @param[in]  ctx   NULL: the default context
/// @param[out] now   bytes allocated now, scratch included; may be NULL
/// @param[out] peak  the highest so far; may be NULL
KUGEL_API void kugel_ctx_memory(const kugel_ctx *ctx, uint64_t *now, uint64_t *peak);

/// Sets the number of threads for contexts that leave it open (among them the default context).
/// @param[in] threads  at least 1; 0 returns to the default: KUGEL_NUM_THREADS, else the CPUs this process may use
/// @errors KUGEL_EINVAL if negative or above 4096
KUGEL_API kugel_status kugel_set_num_threads(int threads);

/// The number of threads that contexts without a number of their own use now.
/// @return at least 1
KUGEL_API int kugel_get_num_threads(void);

/// Name of the instruction set in use: "avx512", "avx2" or "generic". KUGEL_ISA in the environment lowers it.
/// @return a static string
KUGEL_API const char *kugel_isa(void);

/* The value of unobserved pixels in HEALPix files; anything within 1e-5 of it, relatively, counts as unobserved. */
#define KUGEL_UNSEEN (-1.6375e30)

/* ---- progress and cancellation ------------------------------------------------------------------------------ */

/* Called on the thread that made the call, with the fraction of the call's work that is done, in [0, 1], and the
 * stage's name. Within one call the fraction never decreases. On the CPU it is proportional to the elapsed time to
 * about a tenth in transforms on the sphere, radial convolutions and files; FFTs of several axes restart at 0 with each
 * axis.
 * A return other than 0 cancels: the call returns KUGEL_ECANCELED soon after. */
typedef int (*kugel_progress_fn)(double fraction, const char *stage, void *user);

/// Sets this thread's progress callback for its later calls; fn NULL removes it.
/// @param[in] fn    called during work of more than a few milliseconds, at most every 20 ms
/// @param[in] user  handed to fn
KUGEL_API void kugel_set_progress(kugel_progress_fn fn, void *user);

#ifdef __cplusplus
}

/* A kugel_array with its shape, made by KUGEL_ARRAY. */
template <int N> struct kugel_view {
  int64_t shape[N];
  kugel_array view;
  kugel_array *array()
  {
    view.shape = shape; // here, not where it was made: the object may have moved since
    return &view;
  }
};
template <typename... I> inline kugel_view<int(sizeof...(I))> kugel_view_of(const void *data, kugel_dtype type, I... shape)
{
  return {{int64_t(shape)...}, {const_cast<void *>(data), {KUGEL_CPU, 0}, int32_t(sizeof...(I)), type, nullptr, nullptr, 0}};
}
#endif
#endif
