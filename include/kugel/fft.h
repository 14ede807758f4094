/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast Fourier, cosine and sine transforms of any length in one to eight dimensions, of half, float, double
 * and double-double arrays.
 *
 *   int64_t n[2] = {512, 1024};
 *   kugel_fft_opts opts = {sizeof opts, .kind = KUGEL_FFT_R2C};
 *   kugel_fft *plan;
 *   kugel_fft_create(NULL, 2, n, &opts, &plan);
 *   kugel_fft_execute(plan, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_F64, 512, 1024),
 *                     KUGEL_ARRAY(y, KUGEL_C128, 512, 513));
 *
 * With x_j, j = 0 ... n - 1, along each axis the unnormalised transforms are
 * - C2C   y_k = sum_j x_j e^{-2 pi i j k / n}; the inverse has e^{+2 pi i j k / n}
 * - R2C   the same of real x, k = 0 ... n / 2 along the last axis; the inverse takes these to n reals
 * - DCT1  y_k = x_0 + (-1)^k x_{n-1} + 2 sum_{0 < j < n-1} x_j cos(pi j k / (n - 1)), n >= 2
 * - DCT2  y_k = 2 sum_j x_j cos(pi (j + 1/2) k / n)
 * - DCT3  y_k = x_0 + 2 sum_{j > 0} x_j cos(pi j (k + 1/2) / n)
 * - DCT4  y_k = 2 sum_j x_j cos(pi (j + 1/2) (k + 1/2) / n)
 * - DST1  y_k = 2 sum_j x_j sin(pi (j + 1) (k + 1) / (n + 1))
 * - DST2  y_k = 2 sum_j x_j sin(pi (j + 1/2) (k + 1) / n)
 * - DST3  y_k = (-1)^k x_{n-1} + 2 sum_{j < n-1} x_j sin(pi (j + 1) (k + 1/2) / n)
 * - DST4  y_k = 2 sum_j x_j sin(pi (j + 1/2) (k + 1/2) / n)
 *
 * The inverse of kind 2 is kind 3 and of kind 3 kind 2; kinds 1 and 4 are their own. The same scaling as
 * FFTW's.
 *
 * Numbers of KUGEL_FFT_DD are sums of two doubles, hi + lo with |lo| <= ulp(hi), about 31 digits. Arrays of
 * them have a last extent of 2 more, high parts and low parts: float64[..., n, 2] for reals, complex128[...,
 * n, 2] for complex numbers (z[..., 0] + z[..., 1]). The two lie side by side; all other strides are even.
 *
 * Arrays of KUGEL_FFT_F16 hold halves, float16[..., n] for reals and complex32[..., n] or float16[..., n, 2]
 * for complex numbers; what is read becomes float, all axes are transformed in float, and results round to
 * the nearest half: beyond 65519 to infinity, so scale forward transforms.
 */
#ifndef KUGEL_FFT_H
#define KUGEL_FFT_H

#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_fft_kind {
  KUGEL_FFT_C2C = 0,
  KUGEL_FFT_R2C = 1,
  KUGEL_FFT_DCT1 = 2,
  KUGEL_FFT_DCT2 = 3,
  KUGEL_FFT_DCT3 = 4,
  KUGEL_FFT_DCT4 = 5,
  KUGEL_FFT_DST1 = 6,
  KUGEL_FFT_DST2 = 7,
  KUGEL_FFT_DST3 = 8,
  KUGEL_FFT_DST4 = 9
} kugel_fft_kind;

typedef enum kugel_fft_precision {
  KUGEL_FFT_F64 = 0,
  KUGEL_FFT_F32 = 1,
  KUGEL_FFT_DD = 2, /* double-double, see above */
  KUGEL_FFT_F16 = 3 /* half in memory, float on the way, see above */
} kugel_fft_precision;

enum { KUGEL_FORWARD = -1, KUGEL_INVERSE = 1 };

/* How much trouble a plan takes to be fast. */
typedef enum kugel_fft_effort {
  KUGEL_FFT_ESTIMATE = 0, /* a cost model chooses */
  KUGEL_FFT_MEASURE = 1   /* on devices: splits, lengths of convolutions and shapes of kernels are timed, in
                             seconds for a new problem, and the fastest are remembered in the kernel cache's
                             folder; with arrays of up to 64 MiB. On the CPU and for double-double:
                             as KUGEL_FFT_ESTIMATE */
} kugel_fft_effort;

typedef struct kugel_fft kugel_fft;

/* Factors along one transformed axis, which a plan multiplies by on the way: a window or mask before, a
 * filter, shift or derivative of the spectrum after. On devices this costs no pass over memory of its own. */
typedef struct kugel_fft_hook {
  int sign;  /* KUGEL_FORWARD or KUGEL_INVERSE: the transforms that it belongs to */
  int write; /* 0: elements are multiplied as they are read; 1: results as they are written */
  int axis;  /* 0 ... ndim - 1 */
  const kugel_array
      *factor; /* host array of as many elements as that side has along the axis: float, double, or
                * complex of these unless it multiplies a real side (R2C: real data); copied */
} kugel_fft_hook;

/* What forward transforms (C2C, R2C) write of each complex number z, into an array of reals if not z itself.
 */
typedef enum kugel_fft_modulus {
  KUGEL_FFT_COMPLEX = 0,
  KUGEL_FFT_MAGNITUDE = 1,    /* |z| */
  KUGEL_FFT_POWER = 2,        /* |z|^2 */
  KUGEL_FFT_LOG_MAGNITUDE = 3 /* ln |z|, -inf of 0; as half of ln |z|^2, which must not overflow */
} kugel_fft_modulus;

typedef struct kugel_fft_opts {
  size_t size;          /* sizeof(kugel_fft_opts) */
  kugel_fft_kind kind;  /* the same for all axes; for R2C the last of them is halved */
  int single_precision; /* 1: float arrays; 0 (default): double */
  int naxes;            /* 0 (default): all axes are transformed */
  const int *axes;      /* naxes of 0 ... ndim - 1, each once; copied */
  double forward_scale; /* factor on the forward result; 0: 1 */
  double inverse_scale; /* factor on the inverse result; 0: 1. 1 / kugel_fft_gain() makes it undo forward */
  int nhooks;           /* 0 (default): none */
  const kugel_fft_hook *hooks;   /* nhooks; those of one place multiply */
  kugel_fft_precision precision; /* of the arrays; KUGEL_FFT_F64 (0): as single_precision says */
  double forward_scale_low;      /* KUGEL_FFT_DD: added to the scales, whose low parts they are */
  double inverse_scale_low;
  kugel_fft_modulus modulus; /* of forward results, after their hooks; not double-double */
  kugel_fft_effort effort;   /* of making the plan */
  /* C2C and R2C: ndim lengths, at most n, of the arrays that forward starts from and inverse ends in. Forward
   * takes what is beyond as 0, inverse does not yield it; on devices such lines are neither stored, read nor
   * transformed. NULL (default): n. Copied. */
  const int64_t *extent;
} kugel_fft_opts;

/// Makes a plan for transforms of one shape. Immutable: any number of threads may execute it.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  ndim  1 to 8
/// @param[in]  n     ndim lengths of the real or complex array that forward starts from, each at least 1
///                   (DCT1: at least 2); any primes
/// @param[in]  opts  NULL for defaults: C2C of doubles over all axes
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL for a length, kind, axis, scale or effort out of range; KUGEL_ENOMEM; KUGEL_ENOTSUP
///         on devices for a line of more than 2^32 points
/// @cost   O(n) sines and cosines an axis. On devices a plan that was made before on the machine compiles
///         nothing, and again in the same process takes less than 5 ms. Device memory: tables of a few
///         thousand numbers an axis; lines too long for a block also take work memory of one line or 256 MiB.
///         Long lines whose length has a prime factor that no block holds become convolutions of 2 n to 2.2 n
///         points: about 64 n bytes of tables and 32 n of work memory (half that for floats, twice for
///         double-doubles; an n of 2^24: 1 GiB and 0.5 GiB), and 100 n bytes of the host's while they are
///         made
KUGEL_API kugel_status kugel_fft_create(kugel_ctx *ctx, int ndim, const int64_t *n,
                                        const kugel_fft_opts *opts, kugel_fft **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_fft_destroy(kugel_fft *plan);

/// Transforms. Arrays may have leading axes beyond the plan's, which are a batch, and any strides, negative
/// ones too. The input is never changed, unless it is the output: the same memory with the same strides (R2C:
/// the complex array over the real one, whose rows are padded to 2 (n / 2 + 1)).
/// @param[in]  plan  from kugel_fft_create
/// @param[in]  sign  KUGEL_FORWARD or KUGEL_INVERSE; of R2C the inverse takes complex to real, and reads the
///                   imaginary parts that a real signal makes zero as zero (those of k = 0 and n / 2 when one
///                   axis is transformed)
/// @param[in]  in    [..., n[0], ..., n[ndim-1]], for the inverse of R2C with the last transformed axis n / 2
/// + 1; double-double: a last extent of 2 more
/// @param[out] out   the same, for forward R2C with the last transformed axis n / 2 + 1; forward with
///                   opts.modulus: reals of that shape, apart from in
/// @errors KUGEL_EINVAL for partly overlapping arrays or a bad sign, KUGEL_ESHAPE, KUGEL_ENOMEM,
/// KUGEL_ECANCELED
/// @accuracy rms about 0.3 eps sqrt(log2 n) relative, float within 0.6 eps: floats are summed in double;
/// double-double rms below 1e-30 sqrt(log2 n) / 2; half 3e-4, by the rounding of results
/// @cost   O(n log n) for every n
/// @cite   Frigo & Johnson 2005, doi:10.1109/JPROC.2004.840301; Makhoul 1980, doi:10.1109/TASSP.1980.1163351
KUGEL_API kugel_status kugel_fft_execute(const kugel_fft *plan, int sign, const kugel_array *in,
                                         const kugel_array *out);

/// The same on a device's queue.
/// @param[in]  plan   from kugel_fft_create, with a context on a device
/// @param[in]  sign   KUGEL_FORWARD or KUGEL_INVERSE
/// @param[in]  in     as kugel_fft_execute takes it: in the device's memory, or in C order on the host
/// @param[out] out    beside in: both on the device or both on the host
/// @param[in]  queue  of the plan's device; device arrays: returns before the work is done. NULL: returns
///                    when done. On the CPU: NULL
/// @errors as kugel_fft_execute; KUGEL_EDEVICE; KUGEL_ENOTSUP for host arrays that are not in C order
KUGEL_API kugel_status kugel_fft_execute_on(const kugel_fft *plan, int sign, const kugel_array *in,
                                            const kugel_array *out, kugel_queue *queue);

/// The factor that forward and then inverse multiply by, without the scales of the options.
/// @param[in] plan  from kugel_fft_create
/// @return the product over the transformed axes of n (C2C, R2C), 2 (n - 1) (DCT1), 2 (n + 1) (DST1), 2 n
/// (others)
KUGEL_API double kugel_fft_gain(const kugel_fft *plan);

/// How many generated kernels a transform of this plan launches on its device, at least.
/// @param[in] plan  from kugel_fft_create
/// @return their number; 0 for a plan on the CPU
KUGEL_API int kugel_fft_kernel_count(const kugel_fft *plan);

/// The source of one of those kernels, in the dialect of docs/kernels.md that CUDA and OpenCL share.
/// @param[in]  plan    from kugel_fft_create with a context on a device
/// @param[in]  sign    KUGEL_FORWARD or KUGEL_INVERSE
/// @param[in]  index   0 to kugel_fft_kernel_count(plan) - 1, in the order they run
/// @param[in]  size    bytes of text; 0 with text NULL asks for the length only
/// @param[out] text    the source, cut to size - 1 characters and ended by 0
/// @param[out] length  characters of the whole source without the 0; may be NULL
/// @errors KUGEL_EINVAL; KUGEL_ENOTSUP for a plan on the CPU; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_fft_kernel_source(const kugel_fft *plan, int sign, int index, size_t size,
                                               char *text, size_t *length);

/* What a plan transforms. */
typedef struct kugel_fft_info {
  size_t size; /* sizeof(kugel_fft_info), set by the caller */
  int ndim, naxes;
  int64_t n[8], extent[8]; /* ndim of each */
  int axes[8];             /* naxes */
  kugel_fft_kind kind;
  kugel_fft_precision precision;
  kugel_fft_modulus modulus;
  double forward_scale, inverse_scale;
} kugel_fft_info;

/// Tells what a plan transforms.
/// @param[in]     plan  from kugel_fft_create or kugel_fft_load
/// @param[in,out] info  its size is set, the rest is filled
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_fft_describe(const kugel_fft *plan, kugel_fft_info *info);

/// Writes a plan of a device to a file, with the machine code of all its kernels: to be loaded where nothing
/// shall be compiled, as on the nodes of a cluster whose home folder is slow or read-only.
/// @param[in] plan  from kugel_fft_create with a context on a device, or from kugel_fft_load
/// @param[in] path  of the file; one that is there is replaced, whole or not at all, so that others may load
///                  it meanwhile
/// @errors KUGEL_EINVAL; KUGEL_EIO if the file cannot be written; KUGEL_ENOTSUP for a plan on the CPU;
///         KUGEL_ENOMEM; KUGEL_ECOMPILE
/// @cost   kernels that are not in the kernel cache are compiled, 0.1 to 1 s each; 20 to 200 KB a kernel
KUGEL_API kugel_status kugel_fft_save(const kugel_fft *plan, const char *path);

/// Makes the plan of a file of kugel_fft_save, with all its options, and compiles nothing, now or later. The
/// file holds machine code: load only what you trust. The kernel cache is neither read nor written. Arrays in
/// another order than C's go through the kernels for that order, slower than with a plan that was made here.
/// @param[in]  ctx   on a device of the same kind, driver and compiler as the one the plan was saved for
/// @param[in]  path  of the file
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL; KUGEL_EIO for a file that cannot be read, is damaged (checksum) or no plan;
///         KUGEL_ENOTSUP for one of another device, driver, compiler or version of Kugel; KUGEL_ENOMEM
/// @cost   milliseconds, and O(n) sines and cosines an axis for its tables
KUGEL_API kugel_status kugel_fft_load(kugel_ctx *ctx, const char *path, kugel_fft **out);

/// The smallest length at least n with no prime factor above 7, for padding.
/// @param[in] n  at least 1
/// @return that length; n itself if n < 1 or above 2^62
KUGEL_API int64_t kugel_fft_good_size(int64_t n);

#ifdef __cplusplus
}
#endif
#endif
