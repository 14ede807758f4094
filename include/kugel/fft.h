/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast Fourier, cosine and sine transforms of any length in one to eight dimensions, of half, float, double
 * and double-double arrays.
 *
 *   int64_t n[2] = {512, 1024};
 *   kugel_fft_opts opts = {sizeof opts, .kind = KUGEL_FFT_R2C};
 *   kugel_fft *plan;
 *   kugel_fft_create(NULL, 2, n, &opts, &plan);
 *   kugel_fft_execute(plan, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_F64, 512, 1024),
 *                     KUGEL_ARRAY(y, KUGEL_C128, 512, 513), NULL);
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
 * Types 2 and 3 are each other's inverses; types 1 and 4 are their own inverses. The scaling is FFTW's.
 *
 * With opts.comm the processes of mpirun or srun share one transform (kugel_fft_layout).
 *
 * Numbers of KUGEL_PRECISION_DD are sums of two doubles, hi + lo with |lo| <= ulp(hi), about 31 digits. Their
 * arrays have one more axis, the last one, of extent 2 for high and low parts: float64[..., n, 2] for reals,
 * complex128[..., n, 2] for complex numbers (z[..., 0] + z[..., 1]). The two parts are adjacent in memory; all other
 * strides are even.
 *
 * Arrays of KUGEL_PRECISION_F16 hold halves, float16[..., n] for reals and complex32[..., n] or float16[..., n, 2]
 * for complex numbers. Plans convert halves to float when they read them, transform all axes in float, and round
 * results to the nearest half. Results beyond 65519 round to infinity, so scale forward transforms.
 */
#ifndef KUGEL_FFT_H
#define KUGEL_FFT_H

#include <kugel/comm.h>
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

enum { KUGEL_FORWARD = -1, KUGEL_INVERSE = 1 };

/* How a plan chooses among its algorithms. */
typedef enum kugel_fft_effort {
  KUGEL_FFT_ESTIMATE = 0, /* a cost model chooses */
  KUGEL_FFT_MEASURE = 1   /* on devices the plan times splits, lengths of convolutions and shapes of kernels on arrays
                             of up to 64 MiB, which takes seconds for a new problem, and caches the fastest in the
                             kernel cache's folder. On the CPU and for double-double: as KUGEL_FFT_ESTIMATE */
} kugel_fft_effort;

typedef struct kugel_fft kugel_fft;

/* Factors along one transformed axis by which a plan multiplies what it reads (a window, a mask) or what it writes (a
 * filter, shift or derivative of the spectrum). On devices this costs no additional pass over memory. */
typedef struct kugel_fft_hook {
  int sign;  /* KUGEL_FORWARD or KUGEL_INVERSE: the transforms that the hook applies to */
  int write; /* 0: elements are multiplied as they are read; 1: results as they are written */
  int axis;  /* 0 ... ndim - 1 */
  const kugel_array
      *factor; /* host array with one element per element of the array read or written along the axis:
                * float, double, or complex of these (real only for the real data of R2C); copied */
} kugel_fft_hook;

/* What forward transforms (C2C, R2C) write for each complex number z; all but z itself go to an array of reals. */
typedef enum kugel_fft_modulus {
  KUGEL_FFT_COMPLEX = 0,
  KUGEL_FFT_MAGNITUDE = 1,    /* |z| */
  KUGEL_FFT_POWER = 2,        /* |z|^2 */
  KUGEL_FFT_LOG_MAGNITUDE = 3 /* ln |z|, computed as half of ln |z|^2: -inf for 0, and |z|^2 must not overflow */
} kugel_fft_modulus;

typedef struct kugel_fft_opts {
  size_t size;          /* sizeof(kugel_fft_opts) */
  kugel_fft_kind kind;  /* the same for all axes; for R2C the last of them is halved */
  kugel_precision precision; /* of the arrays; KUGEL_PRECISION_F64 (0): double */
  int naxes;            /* 0 (default): all axes are transformed */
  const int *axes;      /* naxes of 0 ... ndim - 1, each once; copied */
  double forward_scale; /* factor on the forward result; 0: 1 */
  double inverse_scale; /* factor on the inverse result; 0: 1. With 1 / kugel_fft_gain() inverse undoes forward */
  int nhooks;           /* 0 (default): none */
  const kugel_fft_hook *hooks;   /* nhooks; several hooks of one sign, side and axis multiply */
  double forward_scale_low;      /* KUGEL_PRECISION_DD: low parts of the two scales */
  double inverse_scale_low;
  kugel_fft_modulus modulus; /* of forward results, after their hooks; not double-double */
  kugel_fft_effort effort;   /* to spend on making the plan */
  /* C2C and R2C: ndim lengths, at most n, of the arrays that forward reads and inverse writes. Forward takes elements
   * beyond as 0, inverse does not write them; devices neither store, read nor transform lines of such zeros. NULL
   * (default): n. Copied. */
  const int64_t *extent;
  /* NULL: this process alone. Else the ranks that share every transform (comm.h): each makes the plan with the same options.
   * C2C and R2C of doubles and floats over all of 2 to 8 axes, on the CPU, without hooks, modulus and extent. Arrays are
   * the rank's parts, see kugel_fft_layout. The plan must be destroyed before the communicator. */
  kugel_comm *comm;
  int pieces; /* with comm: in how many pieces, 1 to 64, numbers go between ranks, so that they fly during work; 0: chosen */
  int grid[2]; /* with comm: ranks along axes 0 and 1 of the data, which multiply to all; {ranks, 1}: slabs. One or both 0:
                * chosen, as kugel_fft_grid does. The bits of results do not depend on it */
} kugel_fft_opts;

/// Makes a plan for transforms of one shape. Immutable: any number of threads may execute it.
/// @param[in]  ctx   NULL: the default context
/// @param[in]  ndim  1 to 8
/// @param[in]  n     ndim lengths of the real or complex array that forward transforms, each at least 1
///                   (DCT1: at least 2); any prime factors
/// @param[in]  opts  NULL for defaults: C2C of doubles over all axes
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL for a length, kind, axis, scale or effort out of range; KUGEL_ENOMEM; KUGEL_ENOTSUP
///         on devices for a line of more than 2^32 points, and with opts.comm for what ranks do not share; with opts.comm all
///         are agreed on
/// @cost   O(n) sines and cosines per axis. On devices a plan that was made before on the same machine compiles
///         nothing; made again in the same process it takes less than 5 ms. Device memory: tables of a few thousand
///         numbers per axis; lines too long for a block also need work memory of one line or 256 MiB. Long lines whose
///         length has a prime factor that no block holds become convolutions of 2 n to 2.2 n points: about 64 n bytes
///         of tables and 32 n bytes of work memory (half of it for floats, twice for double-doubles; for n = 2^24 1 GiB
///         and 0.5 GiB), and 100 n bytes of host memory while the plan is made
KUGEL_API kugel_status kugel_fft_create(kugel_ctx *ctx, int ndim, const int64_t *n,
                                        const kugel_fft_opts *opts, kugel_fft **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_fft_destroy(kugel_fft *plan);

/// Transforms. Arrays may have leading axes beyond the plan's, which form a batch, and any strides, negative ones too.
/// The input does not change unless the transform is in place: input and output are then the same memory with the same
/// strides (R2C: the complex array lies over the real one, whose rows are padded to 2 (n / 2 + 1)).
/// @param[in]  plan  from kugel_fft_create
/// @param[in]  sign  KUGEL_FORWARD or KUGEL_INVERSE; the inverse of R2C takes complex to real, and treats the
///                   imaginary parts that are zero for every real signal as zero (with one transformed axis,
///                   those of k = 0 and n / 2)
/// @param[in]  in    [..., n[0], ..., n[ndim-1]], for the inverse of R2C with n / 2 + 1 along the last transformed
///                   axis; double-double: one more axis of extent 2
/// @param[out] out   the same; for forward R2C n / 2 + 1 along the last transformed axis; forward with opts.modulus:
///                   reals of that shape that do not overlap in. Elements must not overlap each other: each stride is
///                   larger than the span of the axes with smaller strides
///                   With opts.comm: the rank's parts in C order, apart from each other, [..., parts as kugel_fft_info has
///                   them], with the same batch on all ranks
/// @param[in]  queue of the plan's device; with device arrays the call returns before the work is done. NULL: it
///                   returns when the work is done. On the CPU: NULL. A plan on a device takes both arrays in its
///                   memory, or both in C order on the host
/// @errors KUGEL_EINVAL for partly overlapping arrays, strides out of range, elements that are not aligned or a
///         bad sign; KUGEL_ESHAPE; KUGEL_EDEVICE; KUGEL_ENOTSUP for host arrays of a device plan that are not in
///         C order; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy rms about 0.3 eps sqrt(log2 n) relative, at most 0.5 eps sqrt(log2 n) or, if n has a prime factor above 23,
///         eps sqrt(log2 n), with eps = 2^-52; float on the CPU within 0.6 2^-23, because floats are summed in
///         double, on devices as double with eps = 2^-23;
///         double-double rms below 1e-30 sqrt(log2 n) / 2; half 3e-4, by the rounding of results
/// @cost   O(n log n) for every n. With opts.comm each rank sends its part of the spectrum but for 1 / grid[0], and with grid[1] above 1
///         before it but for 1 / grid[1], as numbers of the plan's precision; memory: a part of the spectrum and four pieces of
///         it, by pencils five (slabs, inverse C2C: the pieces)
/// @cite   Frigo & Johnson 2005, doi:10.1109/JPROC.2004.840301; Makhoul 1980, doi:10.1109/TASSP.1980.1163351
KUGEL_API kugel_status kugel_fft_execute(const kugel_fft *plan, int sign, const kugel_array *in,
                                         const kugel_array *out, kugel_queue *queue);

/* With opts.comm, transforms are collective. The order of the axes is the same on both sides; arrays are shared out evenly, to one.
 * By slabs, grid[1] = 1: of the data that forward reads and inverse writes, each rank has planes along axis
 * 0, [data_count, n[1], ...]; of the spectrum, which stays as the one exchange leaves it, rows along axis 1,
 * [n[0], spectrum_count, ...] (R2C in two dimensions: of the n[1] / 2 + 1 of that axis).
 * By pencils, where there are more ranks than planes or rows: rank p grid[1] + q has of the data planes p and rows q,
 * [data_count, data_row_count, n[2], ...]; of the spectrum rows p and columns q, [n[0], spectrum_count,
 * spectrum_column_count, ...], after two exchanges. Where even these do not suffice (two axes, few lines), some ranks have nothing, and
 * pass arrays of extent 0. */
typedef enum kugel_fft_side { KUGEL_FFT_DATA = 0, KUGEL_FFT_SPECTRUM = 1 } kugel_fft_side;

/// The layout of a plan's arrays over ranks, for kugel_layout_move and its companions.
/// @param[in]  plan  a plan with opts.comm
/// @param[in]  side  KUGEL_FFT_DATA or KUGEL_FFT_SPECTRUM
/// @param[out] out   a layout of its own, to be destroyed before the communicator
/// @errors KUGEL_EINVAL without opts.comm; KUGEL_ENOMEM
/// @cost   24 bytes per rank; of the spectrum, per rank and n[0]. Of pencils 24 grid[1] n[0] bytes, of their spectrum as many for each
///         of its rows along axis 1
KUGEL_API kugel_status kugel_fft_layout(const kugel_fft *plan, kugel_fft_side side, kugel_layout **out);

/// The grid of ranks that plans with opts.comm choose: slabs, {ranks, 1}, where each rank gets a plane and a row, and in two
/// dimensions; else the grid whose largest parts of data, spectrum and what lies between are the smallest in sum.
/// @param[in]  ndim   2 to 8
/// @param[in]  n      [ndim] lengths, as of kugel_fft_create
/// @param[in]  kind   KUGEL_FFT_C2C or KUGEL_FFT_R2C
/// @param[in]  ranks  at least 1
/// @param[out] grid   [2] ranks along axes 0 and 1 of the data
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_fft_grid(int ndim, const int64_t *n, kugel_fft_kind kind, int ranks, int *grid);

/// The factor by which forward followed by inverse multiplies the data, without the scales of the options.
/// @param[in] plan  from kugel_fft_create
/// @return the product over the transformed axes of n (C2C, R2C), 2 (n - 1) (DCT1), 2 (n + 1) (DST1),
///         2 n (others)
KUGEL_API double kugel_fft_gain(const kugel_fft *plan);

/// The least number of generated kernels that a transform of this plan launches on its device.
/// @param[in] plan  from kugel_fft_create
/// @return the number of kernels; 0 for a plan on the CPU
KUGEL_API int kugel_fft_kernel_count(const kugel_fft *plan);

/// The source of one kernel of a plan, in the dialect of docs/kernels.md that CUDA and OpenCL share.
/// @param[in]  plan    from kugel_fft_create with a context on a device
/// @param[in]  sign    KUGEL_FORWARD or KUGEL_INVERSE
/// @param[in]  index   0 to kugel_fft_kernel_count(plan) - 1, in the order they run
/// @param[in]  size    bytes of text; 0 with text NULL: only the length is wanted
/// @param[out] text    the source, truncated to size - 1 characters and terminated by 0
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
  kugel_precision precision;
  kugel_fft_modulus modulus;
  double forward_scale, inverse_scale;
  int64_t data_first, data_count;         /* with opts.comm: what this rank has of the data along axis 0, */
  int64_t spectrum_first, spectrum_count; /* and of the spectrum along axis 1; without: 0 and all of it */
  int64_t data_row_first, data_row_count; /* the same of the data along axis 1, */
  int64_t spectrum_column_first, spectrum_column_count; /* and of the spectrum along axis 2, of plans with as many axes */
  int grid[2];                                          /* ranks along axes 0 and 1 of the data */
} kugel_fft_info;

/// Reports what a plan transforms.
/// @param[in]     plan  from kugel_fft_create or kugel_fft_load
/// @param[in,out] info  its size is set, the rest is filled
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_fft_get_info(const kugel_fft *plan, kugel_fft_info *info);

/// Writes a plan of a device to a file, with the machine code of all its kernels, for machines where kernels should not
/// be compiled, such as the nodes of a cluster whose home folder is slow or read-only.
/// @param[in] plan  from kugel_fft_create with a context on a device, or from kugel_fft_load
/// @param[in] path  of the file; an existing file is replaced atomically, so that other processes may load it at any
///                  time
/// @errors KUGEL_EINVAL; KUGEL_EIO if the file cannot be written; KUGEL_ENOTSUP for a plan on the CPU;
///         KUGEL_ENOMEM; KUGEL_ECOMPILE
/// @cost   kernels that are not in the kernel cache are compiled, 0.1 to 1 s each; 20 to 200 KB per kernel
KUGEL_API kugel_status kugel_fft_save(const kugel_fft *plan, const char *path);

/// Makes the plan that kugel_fft_save wrote to a file, with all its options. Neither this call nor the plan compiles
/// kernels, reads the kernel cache or writes it. The file holds machine code: load only files that you trust. Arrays in
/// an order other than C's are slower than with a plan of kugel_fft_create, because the file has kernels for C order.
/// @param[in]  ctx   on a device of the same kind, driver and compiler as the one the plan was saved for
/// @param[in]  path  of the file
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL; KUGEL_EIO for a file that cannot be read, is damaged (checksum) or is not a plan;
///         KUGEL_ENOTSUP for a file of another device, driver, compiler or version of Kugel; KUGEL_ENOMEM
/// @cost   milliseconds, and O(n) sines and cosines per axis for its tables
KUGEL_API kugel_status kugel_fft_load(kugel_ctx *ctx, const char *path, kugel_fft **out);

/// The smallest length at least n with no prime factor above 7, for padding.
/// @param[in] n  at least 1
/// @return that length; n itself if n < 1 or above 2^62
KUGEL_API int64_t kugel_fft_good_size(int64_t n);

#ifdef __cplusplus
}
#endif
#endif
