/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution and correlation of images and volumes with kernels of any size: point-spread functions, Green's functions,
 * templates. Images may have integer voxels, values beyond their edges, and exact adjoints.
 *
 *   int64_t n[3] = {64, 512, 512}, k[3] = {33, 65, 65};
 *   kugel_volume_opts opts = {sizeof opts, .extent = KUGEL_CONV_SAME, .boundary = KUGEL_BOUNDARY_REFLECT,
 *                             .precision = KUGEL_PRECISION_F32};
 *   kugel_volume *plan;
 *   kugel_volume_create(NULL, 3, n, k, KUGEL_ARRAY(psf, KUGEL_F32, 33, 65, 65), &opts, &plan);
 *   kugel_volume_execute(plan, KUGEL_ARRAY(x, KUGEL_U16, 64, 512, 512), KUGEL_ARRAY(y, KUGEL_U16, 64, 512, 512), NULL,
 *                        NULL);
 *
 * With an image x_i, 0 <= i < n, a kernel h_j, 0 <= j < k, and its centre c, 0 <= c < k, along each axis,
 *   convolution   y_o = sum_j h_j x_{o+c-j}
 *   correlation   y_o = sum_j conj(h_j) x_{o-c+j}
 * Results are y_o for o in [lo, lo + m): SAME, lo = 0 and m = n; VALID, the m = n - k + 1 results that need no voxel beyond
 * the edges; FULL, the m = n + k - 1 results that meet the image. The boundary says what x_i is for i outside [0, n). For
 * convolution and correlation alike the kernel's centre lies on the result's own place, so that the correlation is the
 * adjoint of the convolution (SAME, zero boundary). kugel_conv_create and SciPy place correlations by element k - 1 -
 * (k - 1) / 2, which is another element for even k.
 *
 * docs/volume.md has the theory.
 */
#ifndef KUGEL_VOLUME_H
#define KUGEL_VOLUME_H

#include <kugel/comm.h>
#include <kugel/conv.h>
#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef __cplusplus
#  define KUGEL_U8  ((kugel_dtype){KUGEL_UINT, 8, 1})
#  define KUGEL_U16 ((kugel_dtype){KUGEL_UINT, 16, 1})
#  define KUGEL_I16 ((kugel_dtype){KUGEL_INT, 16, 1})
#else
#  define KUGEL_U8  (kugel_dtype{KUGEL_UINT, 8, 1})
#  define KUGEL_U16 (kugel_dtype{KUGEL_UINT, 16, 1})
#  define KUGEL_I16 (kugel_dtype{KUGEL_INT, 16, 1})
#endif

/* What lies beyond the edges of an image a b c d. */
typedef enum kugel_boundary {
  KUGEL_BOUNDARY_ZERO = 0,      /* 0 0 0 | a b c d | 0 0 0 */
  KUGEL_BOUNDARY_REPLICATE = 1, /* a a a | a b c d | d d d */
  KUGEL_BOUNDARY_REFLECT = 2,   /* c b a | a b c d | d c b, and so on with period 2 n; "reflect" of scipy.ndimage */
  KUGEL_BOUNDARY_PERIODIC = 3,  /* b c d | a b c d | a b c */
  KUGEL_BOUNDARY_UNKNOWN = 4    /* zeros, and each result is divided by the part of the kernel's sum that met the image:
                                 * a constant image stays constant. Results that met less than 1 % of it are 0. Real
                                 * data, and kernels whose sum is not 0 */
} kugel_boundary;

/* How a plan does its work; all give the same results to rounding. */
typedef enum kugel_volume_engine {
  KUGEL_VOLUME_AUTO = 0,
  KUGEL_VOLUME_RESIDENT = 1, /* the padded volume is in memory as a whole */
  KUGEL_VOLUME_TILES = 2,    /* overlapping tiles, one after another (overlap-save); on devices copies of some overlap with
                              * the convolution of others, and all devices of the context take part: for arrays in host
                              * memory */
  KUGEL_VOLUME_DIF = 3,      /* exact parts of the whole transform, one after another: kernels that are too large for tiles; on
                              * devices for arrays in host memory, which folds and unfolds the parts; all devices of the context
                              * share them */
  KUGEL_VOLUME_PENCIL = 4,   /* the whole transform by way of a file, slices along axis 0 and then lines across them: images
                              * larger than memory with kernels as large as they are. Three axes. The file has
                              * no name and ends with the plan or the process. On devices for arrays in host memory: pieces
                              * are copied there and back while others are worked on, all devices of the context take part,
                              * and host memory takes the place of the file where there is enough (opts.memory) */
  KUGEL_VOLUME_GLOBAL = 5    /* the whole transform over ranks: with opts.comm, or of rank 0 in a context that leads (comm.h). Three
                              * axes; on the CPU with the bits of RESIDENT, or on a device per rank */
} kugel_volume_engine;

typedef struct kugel_volume kugel_volume;

typedef struct kugel_volume_opts {
  size_t size;             /* sizeof(kugel_volume_opts) */
  kugel_conv_extent extent; /* KUGEL_CONV_FULL (0), _SAME, _VALID */
  kugel_boundary boundary;
  int correlate;             /* 1: correlation */
  int complex_data;          /* 1: images and results are complex; kernels may be */
  kugel_precision precision; /* of the arithmetic between memory and lines: KUGEL_PRECISION_F64 (0) or _F32 */
  const int64_t *centre;     /* ndim elements of the kernel; NULL: (k - 1) / 2, rounded down */
  int kernels;               /* 0: the kernel array has no axis of kernels; else its extent, and results have it too */
  kugel_volume_engine engine;
  int parts;                 /* KUGEL_VOLUME_DIF: their number, 1 to 4096; 0: chosen */
  const int64_t *tile;       /* KUGEL_VOLUME_TILES: ndim lengths of results of a tile; NULL: chosen. PENCIL: tile[0] is the
                              * number of slices in memory, on devices in a piece;
                              * others are not used */
  double scale;              /* factor on results before they are converted; 0: 1 */
  const char *scratch;       /* KUGEL_VOLUME_PENCIL: folder of its files, on a disk; NULL: $TMPDIR, or /var/tmp */
  uint64_t memory;           /* bytes, on the CPU, in place of the limit of kugel_ctx_limit_memory; 0: that limit. PENCIL on
                              * devices: of host memory, above which slices go to a file; 0: a quarter of this machine's */
  int64_t depths;            /* kernels that vary with depth: their number, 1 to 4096, and the kernel array is [depths, k[0],
                              * k[1], k[2]]; 0: one for all planes. Three axes, kernels 0; on the CPU and on devices */
  const double *depth;       /* [depths] the image's planes along axis 0 that they belong to, counted from 0, rising; a voxel
                              * is spread by the kernel interpolated linearly at its own plane, beyond the first and the
                              * last of these planes by the first and the last kernel. What a boundary repeats beyond the
                              * edges is spread as the plane that it repeats */
  /* NULL: this process alone, or rank 0 that leads. Else the ranks that share every execution (comm.h), images of three axes:
   * each makes the plan with the same options and the same kernel, and passes and gets its parts of images and results,
   * planes along axis 0, as kugel_volume_layout says. AUTO takes TILES, if planes of 8 rows of tiles (tile[0] = max(32, 4 (k[0] -
   * 1)), whatever the number of ranks) cost at most a quarter more than the whole, else GLOBAL. A rank has whole rows of
   * tiles, and fetches planes around them; TILES have no adjoint. The context of each rank is of the CPU or of one device, of the same
   * type on all; devices send each other what they exchange (NCCL, or by way of the host), take arrays in their memory, or host
   * arrays in C order, and a plan that does not fit device_memory fails with the bytes that it needs. Must outlive the plan. */
  kugel_comm *comm;
  /* Kernels that need not be in memory: fills values, [n[0], ...] in C order, from the kernel array's elements at lo, and returns
   * 0, or another number to stop; lo and n have the axes of the kernel array, whose data are NULL. Each element is read once:
   * with PENCIL tile[0] planes at a time, with other engines each kernel as a whole. Called by the thread of kugel_volume_create
   * before it returns. NULL: the array has the data */
  int (*read_kernel)(void *user, const int64_t *lo, const int64_t *n, void *values);
  void *kernel_user;
  uint64_t device_memory;    /* bytes on each device, in place of the limit of kugel_ctx_limit_memory; 0: that limit */
  /* Types of the voxels of images and results, where they are known: on devices tiles are chosen by the time of their copies.
   * bits 0: the plan's own type, 32 or 64 bits. Executions take arrays of any type all the same. */
  kugel_dtype image_dtype, results_dtype;
  int adjoint;               /* 1: the adjoint runs, too: a limit of device memory has room for both directions of TILES at once; 0:
                              * the adjoint keeps to the limit by fewer tiles under way, and the directions make their
                              * memory anew when they take turns */
} kugel_volume_opts;

/* What a plan does and what it needs. */
typedef struct kugel_volume_info {
  size_t size; /* sizeof(kugel_volume_info), set by the caller */
  int ndim;
  kugel_volume_engine engine; /* the one chosen */
  int parts;                  /* DIF: parts; else 1 */
  int64_t tiles;              /* how many; PENCIL: slabs of slices along axis 0; 1 for other engines */
  int64_t tile[3];            /* results of a tile or slab; m for other engines */
  int64_t transform[3];       /* lengths of the transforms */
  int64_t results[3];         /* m */
  uint64_t host_bytes;        /* that the plan holds and an execution allocates at the most, scratch of its threads included; the
                               * adjoint of TILES has the image once more, as doubles where many tiles meet, and on
                               * devices three tiles of each */
  uint64_t device_bytes;      /* of each device: what the plan holds and an execution of host arrays allocates */
  uint64_t moved_bytes;       /* between the arrays, host memory and device memory, in one execution */
  double seconds;             /* predicted for one execution without a batch; on devices from rates that are measured once a
                               * process, for arrays in host memory if they are tiled, else in device memory */
  uint64_t kernel_bytes;      /* read and written by the kernels of one execution in device memory, for arrays of the plan's
                               * precision; 0 on the CPU and for boxes of kugel_conv */
  uint64_t scratch_bytes;     /* PENCIL: of files on disk, which the plan holds and an execution makes; 0: it uses memory */
  int64_t image_first, image_count;     /* with opts.comm: this rank's planes of images along axis 0, */
  int64_t results_first, results_count; /* and of results; without: 0 and all */
} kugel_volume_info;

/// Makes a plan, which holds the kernel's spectrum.
/// @param[in]  ctx     NULL: the default context. kugel_ctx_limit_memory() limits what the plan holds and an execution
///                     allocates, on the CPU too: KUGEL_VOLUME_AUTO takes the engine that is predicted to be the fastest within
///                     it (a byte of PENCIL's files counts 1 ns); on devices, whose limit is their free memory if none is set:
///                     RESIDENT if that fits, else TILES, DIF or PENCIL, which is predicted to be the fastest
/// @param[in]  ndim    1 to 3
/// @param[in]  n       ndim lengths of images, each at least 1
/// @param[in]  k       ndim lengths of kernels, each at least 1, also more than n (VALID: at most n)
/// @param[in]  kernel  host array [k[0], ..., k[ndim-1]], with opts.kernels [kernels, k[0], ...], with opts.depths [depths,
///                     k[0], ...], any strides: uint8,
///                     uint16, int16, int32, float16, float32, float64, and with complex_data complex64, complex128
/// @param[in]  opts    NULL for defaults: FULL, zeros beyond the edges, real doubles
/// @param[out] out     the plan
/// @errors KUGEL_EIO if read_kernel returns a number other than 0; KUGEL_EINVAL for lengths or options out of range, a kernel with NaN or infinity or of zeros alone; KUGEL_ESHAPE;
///         KUGEL_ENOMEM; KUGEL_ENOTSUP; KUGEL_EIO for scratch files; on devices KUGEL_EDEVICE
/// @cost   one transform per kernel
KUGEL_API kugel_status kugel_volume_create(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                           const kugel_array *kernel, const kugel_volume_opts *opts, kugel_volume **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_volume_destroy(kugel_volume *plan);

/// Reports what a plan does: its engine, lengths, memory, time.
/// @param[in]     plan  from kugel_volume_create
/// @param[in,out] info  its size is set, the rest is filled
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_volume_get_info(const kugel_volume *plan, kugel_volume_info *info);

/// Reports what a plan would do, without a kernel and without making the plan.
/// @param[in]     ctx   as for kugel_volume_create
/// @param[in]     ndim  as for kugel_volume_create
/// @param[in]     n     as for kugel_volume_create
/// @param[in]     k     as for kugel_volume_create
/// @param[in]     opts  as for kugel_volume_create
/// @param[in,out] info  its size is set, the rest is filled
/// @errors KUGEL_EINVAL for lengths or options out of range; KUGEL_ENOMEM; KUGEL_ENOTSUP
/// @cost   microseconds
KUGEL_API kugel_status kugel_volume_estimate(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                             const kugel_volume_opts *opts, kugel_volume_info *info);

/* With opts.comm, plans are made and executed collectively. */
typedef enum kugel_volume_side { KUGEL_VOLUME_IMAGE = 0, KUGEL_VOLUME_RESULTS = 1 } kugel_volume_side;

/// The layout of a plan's arrays over ranks, for kugel_layout_move and its companions: planes along axis 0, shared out evenly,
/// to one; results of TILES by whole rows of tiles. With opts.kernels that of the results of one kernel: kernels are a batch.
/// @param[in]  plan  a plan with opts.comm
/// @param[in]  side  KUGEL_VOLUME_IMAGE or KUGEL_VOLUME_RESULTS
/// @param[out] out   a layout of its own, to be destroyed before the communicator
/// @errors KUGEL_EINVAL without opts.comm; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_volume_layout(const kugel_volume *plan, kugel_volume_side side, kugel_layout **out);

/// Convolves (or correlates). Arrays may have any strides and leading axes beyond the plan's, which form a batch. Real
/// types are uint8, uint16, int16, int32, float16, float32 and float64, complex_data takes complex64 and complex128; in and
/// out may differ. Integer results are rounded to the nearest, halves to even, and saturate. One NaN or infinity in an image
/// makes all its results NaN.
/// @param[in]  plan     from kugel_volume_create
/// @param[in]  in       [..., n[0], ..., n[ndim-1]]
/// @param[out] out      [..., m[0], ..., m[ndim-1]], m from kugel_volume_get_info; with opts.kernels [..., kernels, m...];
///                      no overlap with in
///                      With opts.comm the rank's parts: image_count and results_count for n[0] and m[0]
/// @param[out] clipped  how many integer results saturated or were NaN (which become 0), on all ranks together; may be NULL
/// @param[in]  queue    of the plan's device, whose earlier work is waited for; on the CPU: NULL. The call returns when its
///                      work is done. A resident plan on a device, and one over ranks with devices, takes arrays in its
///                      memory, or on the host in C order; another one of tiles, parts or pencils takes arrays in host memory of any strides, page-locked ones without copying them there
/// @errors KUGEL_EINVAL for overlapping arrays; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_EDEVICE; KUGEL_ECANCELED; KUGEL_EIO
///         for scratch files
/// @accuracy of the largest result, for images and kernels of random numbers: 1e-14 (F64), 3e-7 (F32; on devices, whose
///         transforms are in float then, 5e-7, and 8e-7 where image and kernel have one sign); results that
///         KUGEL_BOUNDARY_UNKNOWN divides by a part p of the kernel's sum: 1 / p times this. The same bits for any number
///         of threads
/// @cost   O(N log N) with N the padded volume (get_info: transform); with opts.depths the lines along axis 0, about a third
///         of the work, once per kernel
KUGEL_API kugel_status kugel_volume_execute(const kugel_volume *plan, const kugel_array *in, const kugel_array *out,
                                            int64_t *clipped, kugel_queue *queue);

/// Applies the exact adjoint H* of what kugel_volume_execute applies, H, with its boundary, extent and scale:
/// <H x, y> = <x, H* y> for all x and y. With opts.kernels the kernels' adjoints are summed.
/// @param[in]  plan     from kugel_volume_create
/// @param[in]  in       [..., m[0], ...]; with opts.kernels [..., kernels, m[0], ...]
/// @param[out] out      [..., n[0], ...]
/// @param[out] clipped  as for kugel_volume_execute; may be NULL
/// @param[in]  queue    as for kugel_volume_execute
/// @errors as kugel_volume_execute
/// @accuracy as kugel_volume_execute, on the CPU for all boundaries; on devices, of several axes that KUGEL_BOUNDARY_REPLICATE
///         or _REFLECT extends, F32 2e-6: all that H spreads beyond a corner goes to one voxel, where errors of float transforms
///         add up; use F64, whose arrays may be float
/// @cost   as kugel_volume_execute
KUGEL_API kugel_status kugel_volume_adjoint(const kugel_volume *plan, const kugel_array *in, const kugel_array *out,
                                            int64_t *clipped, kugel_queue *queue);

/* ---- the decomposition by itself ---- */

/* Real data x_j of N = 2 Q n points along an axis are Q complex problems of n points, p = 0 ... Q - 1, with
 *   x_p(j) = W_N^{(p + 1/2) j} sum_{q < 2 Q} W_{2Q}^{(p + 1/2) q} x(j + q n),   W_N = e^{-2 pi i / N}, j = 0 ... n - 1,
 * each of which is convolved on its own, by DFTs of n points along the axis and the ordinary ones along all others:
 * y_p = IDFT(DFT x_p . DFT h_p). kugel_dif_decompose computes the sums of real data in place, kugel_dif_twist the factors
 * before them, kugel_dif_compose goes back. The convolution changes its sign at each wrap: linear ones are exact if N is long
 * enough. docs/volume.md derives this. */

/// The least length at least `least` that splits into parts: 2 parts n with no prime factor of n above 7.
/// @param[in] least  1 to 2^40
/// @param[in] parts  Q, 1 to 4096
/// @return the length; 0 for arguments out of range
KUGEL_API int64_t kugel_dif_length(int64_t least, int parts);

/// The twist of a part: W_N^{(part + 1/2) j}, j = 0 ... length / (2 parts) - 1.
/// @param[in]  length  N, a multiple of 2 parts
/// @param[in]  parts   Q, 1 to 4096
/// @param[in]  part    0 to parts - 1
/// @param[out] twist   re, im of length / (2 parts) numbers
/// @errors KUGEL_EINVAL
/// @accuracy 0.51 ulp
KUGEL_API kugel_status kugel_dif_twist(int64_t length, int parts, int part, double *twist);

/// Decomposes real data in place along the first axis: slabs 2 p and 2 p + 1 of the 2 parts slabs become the real and the
/// imaginary parts of sum_q W_{2Q}^{(p + 1/2) q} x(j + q n).
/// @param[in]     parts  Q, 1 to 4096
/// @param[in,out] data   host array in C order of float32 or float64, [length, ...], length a multiple of 2 parts
/// @errors KUGEL_EINVAL; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @accuracy rounding of the results: sums are in double
/// @cost   4 parts operations per number
KUGEL_API kugel_status kugel_dif_decompose(kugel_ctx *ctx, int parts, const kugel_array *data);

/// The inverse of kugel_dif_decompose.
/// @param[in]     parts  as for kugel_dif_decompose
/// @param[in,out] data   as for kugel_dif_decompose
/// @errors as kugel_dif_decompose
/// @accuracy as kugel_dif_decompose
/// @cost   as kugel_dif_decompose
KUGEL_API kugel_status kugel_dif_compose(kugel_ctx *ctx, int parts, const kugel_array *data);

/* ---- streams ---- */

/* Convolves a volume that is read and written in boxes. Callbacks run on the thread of the call and return 0, or another
 * number to stop it. */
typedef struct kugel_volume_stream_opts {
  size_t size;         /* sizeof(kugel_volume_stream_opts) */
  kugel_dtype in, out; /* types of the values */
  /* Fills values, [n[0], ..., n[ndim-1]] in C order, from the image's voxels at lo. Whole rows and planes where memory
   * allows, and no voxel twice unless tiles cut the other axes too. */
  int (*read)(void *user, const int64_t *lo, const int64_t *n, void *values);
  /* Takes the results at lo, [n...]; with opts.kernels [kernels, n...]. */
  int (*write)(void *user, const int64_t *lo, const int64_t *n, const void *values);
  /* Box `box` of `boxes` has been written. May be NULL. */
  int (*done)(void *user, int64_t box, int64_t boxes);
  void *user;
  int64_t first;     /* boxes written by an earlier call with the same plan and options, which are left out */
  int64_t *clipped;  /* as for kugel_volume_execute; may be NULL */
  int64_t boxes;     /* how many there were in all for that call, as `done` was told: if there are others now, since memory, threads,
                      * ranks or devices differ, none is left out; 0: not compared */
} kugel_volume_stream_opts;

/// Convolves an image that need not be in memory: with KUGEL_VOLUME_TILES box by box along axis 0, where the limit of
/// kugel_ctx_limit_memory() leaves too little for whole planes also along the other axes; with
/// KUGEL_VOLUME_PENCIL slab by slab, which are all read before the first one is written; with other engines in one box.
/// A call that was stopped continues with `first` = the boxes for which `done` was called (PENCIL does its passes again and
/// leaves out what was written). Boxes follow from engine and tile of kugel_volume_get_info, which another plan of the same
/// image may have otherwise, and their number. On devices boxes are read while
/// tiles of earlier ones are convolved, some boxes ahead of what is written; callbacks must not use the plan.
/// @param[in] plan  from kugel_volume_create
/// @param[in] opts  not NULL
/// @errors KUGEL_EINVAL; KUGEL_ESHAPE for types that execute does not take; KUGEL_ENOMEM; KUGEL_EIO if read or write, and
///         KUGEL_ECANCELED if done returns a number other than 0; KUGEL_ECANCELED
/// @accuracy as kugel_volume_execute
/// @cost   as kugel_volume_execute; memory: get_info's host_bytes and the voxels of a box and its surroundings
KUGEL_API kugel_status kugel_volume_stream(const kugel_volume *plan, const kugel_volume_stream_opts *opts);

#ifdef __cplusplus
}
#endif
#endif
