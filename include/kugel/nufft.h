/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast Fourier transforms between a grid of modes and points at any places, in one to three dimensions.
 *
 *   int64_t n[2] = {512, 1024};
 *   kugel_nufft_opts opts = {sizeof opts, .type = KUGEL_NUFFT_TO_MODES, .tolerance = 1e-9};
 *   kugel_nufft *plan;
 *   kugel_nufft_points *points;
 *   kugel_nufft_create(NULL, 2, n, &opts, &plan);
 *   kugel_nufft_points_create(plan, KUGEL_ARRAY(x, KUGEL_F64, m, 2), &points);
 *   kugel_nufft_execute(points, KUGEL_ARRAY(c, KUGEL_C128, m), KUGEL_ARRAY(f, KUGEL_C128, 512, 1024), NULL);
 *
 * With points x_j, 0 <= j < M, and integer modes k, -floor(n/2) <= k <= floor((n-1)/2) along each axis, a plan computes
 *   KUGEL_NUFFT_TO_MODES   (type 1)   f_k = sum_j c_j e^{i sign k.x_j}
 *   KUGEL_NUFFT_TO_POINTS  (type 2)   c_j = sum_k f_k e^{i sign k.x_j}
 * and with frequencies s_k, 0 <= k < K, that are any reals, as the x_j then are (no period),
 *   KUGEL_NUFFT_TO_FREQUENCIES (type 3)   f_k = sum_j c_j e^{i sign s_k.x_j}
 * Sums are not normalised. Coordinates are angles in radians with period 2 pi, or of any other period P, where x_j
 * stands for 2 pi x_j / P. Any finite coordinate is allowed.
 *
 * A plan on a device sorts points and transforms there; results have the same bits in every run. Its arrays are in the
 * device's memory, with any strides, or on the host in C order.
 *
 * A plan holds what depends on the modes and the tolerance, a kugel_nufft_points what depends on the points. Both are
 * immutable: any number of threads may execute them, and one plan serves many sets of points.
 *
 * With opts.comm the ranks of a communicator (comm.h) share transforms of all their points together: each rank brings points
 * and their strengths, or wants values at them, and has rows of the modes. Points are in the order of the ranks, and of each rank
 * as they come; results have the same bits for any number of ranks that share out the same points in the same order.
 */
#ifndef KUGEL_NUFFT_H
#define KUGEL_NUFFT_H

#include <kugel/comm.h>
#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_nufft_type {
  KUGEL_NUFFT_TO_MODES = 1, /* type 1: strengths at points to modes */
  KUGEL_NUFFT_TO_POINTS = 2, /* type 2: modes to values at points */
  KUGEL_NUFFT_TO_FREQUENCIES = 3 /* type 3: strengths at points to any frequencies */
} kugel_nufft_type;

typedef struct kugel_nufft kugel_nufft;
typedef struct kugel_nufft_points kugel_nufft_points;

typedef struct kugel_nufft_opts {
  size_t size;           /* sizeof(kugel_nufft_opts) */
  kugel_nufft_type type; /* required */
  int sign;              /* of the exponent: KUGEL_INVERSE (+1) or KUGEL_FORWARD (-1); 0 (default): +1 of types 1 and
                            3, -1 of type 2, so that defaults are each other's adjoints */
  kugel_precision precision; /* of strengths and modes: KUGEL_PRECISION_F64 (0, default) or KUGEL_PRECISION_F32.
                                Coordinates may be double with either. KUGEL_PRECISION_DD: double-double, on the
                                CPU without gradient, real and comm. Arrays have one more axis, the last one, of extent 2 for
                                high and low parts, as those of kugel_fft: complex128 [..., M, 2], [..., n..., 2] and [..., K, 2];
                                coordinates are [M, ndim] as of other plans or float64 [M, ndim, 2] */
  double tolerance;      /* relative error, see kugel_nufft_execute: 1e-14 to 0.1, floats 5e-7 (type 3: 2e-6) to 0.1,
                            double-double 1e-28 to 0.1; 0 (default): 1e-9, floats 1e-6 (2e-6), double-double 1e-28 */
  int fft_order;         /* 0 (default): modes ascend from -floor(n/2); 1: 0, 1, ..., then negative ones, as numpy.fft */
  const double *period;  /* ndim positive periods; NULL (default): 2 pi. Copied */
  double upsampling;     /* fine grid points per mode, 1.2 to 4; 0 (default): the cheapest for `density`, of double-double 2 */
  double density;        /* expected points per mode, for that choice; 0 (default): 1 */
  int gradient;          /* 1: a point has 1 + ndim numbers, arrays of strengths and values are [..., 1 + ndim, M]. Type 2:
                            the value c_j and its derivatives by x_j0, x_j1, ...; type 1: the strength c_j and dipoles
                            m_jd, f_k = sum_j (c_j + sum_d m_jd d/dx_jd) e^{i sign k.x_j}. 0 (default): not. Not of type 3 */
  int real;              /* 1: strengths and values are real, arrays of double or float; of modes those with 0 <= k <= n/2 along
                            the last axis stand for all, as numpy.fft.rfft gives them: arrays are [..., n[ndim-1] / 2 + 1].
                            The others are conjugates, f_{-k} = conj(f_k), and count in values: type 2 computes
                              c_j = Re sum_k w_k f_k e^{i sign k.x_j},   w = 1 for 0 and, of even n, n/2 along the last axis,
                              else 2
                            and the adjoint is that for the inner product with w. 0 (default): complex. Types 1 and 2 on the
                            CPU, without gradient */
  /* NULL: this process alone. Else the ranks that share every transform (comm.h): each makes the plan with the same options.
   * Types 1 and 2 in two and three dimensions on the CPU. Each rank passes points of its own, and has some of the modes, see
   * kugel_nufft_layout. Plan and points must be destroyed before the communicator. */
  kugel_comm *comm;
} kugel_nufft_opts;

/// Makes a plan for one grid of modes.
/// @param[in]  ctx   NULL: the default context. On the CPU or on a device that has double precision
/// @param[in]  ndim  1 to 3
/// @param[in]  n     ndim numbers of modes, each 1 to 2^31; in all at most 2^40. NULL of type 3
/// @param[in]  opts  type is required
/// @param[out] out   the plan
/// @errors KUGEL_EINVAL for a value out of range, or a tolerance that the upsampling or the precision cannot meet;
///         KUGEL_ENOTSUP for type 3, real data or double-double on a device, a device without double precision, or a fine grid
///         of more than 2^32 lists of points there; for double-double with what it has not; KUGEL_EDEVICE;
///         KUGEL_ECOMPILE; KUGEL_ENOMEM; with opts.comm KUGEL_ENOTSUP for what ranks do not share, and all are agreed on
/// @cost   about a millisecond, and the FFT plans of the fine grid. On a device a kernel width or upsampling that is new to
///         the kernel cache compiles for some seconds
KUGEL_API kugel_status kugel_nufft_create(kugel_ctx *ctx, int ndim, const int64_t *n, const kugel_nufft_opts *opts,
                                          kugel_nufft **out);

/// Frees a plan. Sets of points made from it stay valid.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_nufft_destroy(kugel_nufft *plan);

/* What a plan does. */
typedef struct kugel_nufft_info {
  size_t size; /* sizeof(kugel_nufft_info), set by the caller */
  int ndim;
  kugel_nufft_type type;
  int sign;
  kugel_precision precision;
  int width;         /* of the kernel, in cells of the fine grid */
  double upsampling; /* the one in use; the fine grid's lengths are rounded up from it */
  double error;      /* expected relative error, without rounding */
  int64_t n[3];      /* modes */
  int64_t fine[3];   /* points of the fine grid */
  uint64_t bytes;    /* of work memory of one execution, on a device of its memory; a set of M points holds (ndim + 1)
                        numbers for each besides, on a device also the lists of the fine grid's lines. With opts.comm:
                        of all ranks together, of the parts of the fine grid without their margins */
  int64_t modes_first, modes_count; /* with opts.comm: the modes along axis 1 that this rank has, in their order in arrays;
                                       without: 0 and all of them (of one dimension 0) */
} kugel_nufft_info;

/// Reports what a plan does. Of type 3, whose kernels and grids are chosen with the points, width, upsampling, error, n and
/// fine are 0 or 1.
/// @param[in]     plan  from kugel_nufft_create
/// @param[in,out] info  its size is set, the rest is filled
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_nufft_get_info(const kugel_nufft *plan, kugel_nufft_info *info);

/// The layout of the modes of a plan with opts.comm over ranks, for kugel_layout_move and its companions: each rank has rows along
/// axis 1, [n[0], modes_count, n[2]] (real plans: of the halved last axis), shared out evenly; with more ranks than rows some have
/// none, and pass arrays of extent 0.
/// @param[in]  plan  a plan with opts.comm
/// @param[out] out   a layout of its own, to be destroyed before the communicator
/// @errors KUGEL_EINVAL without opts.comm; KUGEL_ENOMEM
/// @cost   24 bytes per rank and n[0]
KUGEL_API kugel_status kugel_nufft_layout(const kugel_nufft *plan, kugel_layout **out);

/// Sorts points for a plan. Each coordinate is reduced to a cell of the fine grid and a fraction with twice the digits
/// of double, so that large coordinates and many modes cost no accuracy.
/// @param[in]  plan    from kugel_nufft_create
/// @param[in]  points  [M, ndim], float or double, any strides, in double-double also [M, ndim, 2]; M is 0 to 2^31 - 1; copied. Of a plan on a device also
///                     in the device's memory, complete: wait for the queue that writes it. The call returns when they
///                     are sorted. With opts.comm this rank's points, of which it may have none; collective
/// @param[out] out     the points
/// @errors KUGEL_EINVAL for a coordinate that is not finite; KUGEL_ESHAPE; KUGEL_EDEVICE; KUGEL_ENOTSUP for a host array with
///         strides and a plan on a device; KUGEL_ENOMEM; KUGEL_ECANCELED; with opts.comm also KUGEL_EINVAL if more than 2^31 - 1
///         points come to one rank, and KUGEL_EIO
/// @cost   O(M); about 10 ns per point and core. With opts.comm a point goes once to the rank that has its part of the fine grid, as
///         8 ndim + 12 bytes (float 4 ndim + 12); ranks get parts by the time that their points and cells take
KUGEL_API kugel_status kugel_nufft_points_create(const kugel_nufft *plan, const kugel_array *points,
                                                 kugel_nufft_points **out);

/// Makes the points and frequencies of a plan of type 3. The grid between them has about
///   prod over axes of (2 u X S / pi + 8)
/// points for points within X and frequencies within S of the centres of their ranges, and upsampling u: the product of the
/// two widths decides, not the numbers M and K.
/// @param[in]  plan         from kugel_nufft_create, of type 3
/// @param[in]  points       [M, ndim], float or double, any strides, in double-double also [M, ndim, 2]; M is 0 to 2^31 - 1; copied
/// @param[in]  frequencies  [K, ndim], the same
/// @param[out] out          the pair, executed and freed as points are
/// @errors KUGEL_EINVAL for a coordinate that is not finite or beyond 1e140, in double-double also for centres of both ranges whose
///         phases exceed 5.5e11; KUGEL_ESHAPE; KUGEL_ENOMEM, also when the grids
///         would not fit in the machine's memory: the sentence names their sizes; KUGEL_ECANCELED
/// @cost   O(M + K); about 100 ns per point and core, in double-double 1.5 us
KUGEL_API kugel_status kugel_nufft_frequencies_create(const kugel_nufft *plan, const kugel_array *points,
                                                      const kugel_array *frequencies, kugel_nufft_points **out);

/// Frees a set of points.
/// @param[in] points  may be NULL
KUGEL_API void kugel_nufft_points_destroy(kugel_nufft_points *points);

/// Transforms. Arrays may have leading axes, which form a batch, and any strides. The result is the same for any number
/// of threads. With opts.comm the call is collective: arrays are the rank's parts, in C order, [..., M] of its points and
/// [..., n[0], modes_count, ...] of its modes, with the same batch on all ranks.
/// @param[in]  points  from kugel_nufft_points_create
/// @param[in]  in      complex (of real plans strengths and values are real): strengths [..., M] of types 1 and 3, modes [..., n[0], ..., n[ndim-1]] of type 2
/// @param[out] out     the other of the two (type 3: [..., K]), with the same leading axes; no overlap with in
/// @param[in]  queue   of the plan's device: with device arrays the call returns before the work is done, and the points
///                     must stay until it is. NULL: it returns when the work is done. On the CPU: NULL
/// @errors KUGEL_EINVAL for overlapping arrays or a queue of another device; KUGEL_ESHAPE; KUGEL_EDEVICE; KUGEL_ENOTSUP for
///         host arrays with strides and a plan on a device; KUGEL_ENOMEM; KUGEL_ECANCELED; with opts.comm KUGEL_EIO, and all are
///         agreed on
/// @accuracy the l2 norm of the error is at most the tolerance times that of the result, for generic strengths; for sums
///         that cancel, each error is at most 6 tolerances times the sum of all |c_j| or |f_k|. Rounding adds about 1e-15
///         (float 4e-7), for any number of modes; in double-double 3e-29 and 1e-32 per mode (type 3: node of the grid) of an axis. Derivatives keep the tolerance from 16 modes on each axis, 10 times it with
///         fewer
/// @cost   O(M width^ndim) and an FFT of the fine grid, for each element of the batch. With gradients 1.5 (type 1) to 2 times (type 2) that,
///         with real data half to two thirds. In double-double 30 to 50 times the time of 1e-14 in double: widths are 30 to 32
///         at 1e-28, and a number takes 32 bytes. Lines of the last axes that no point is near are left out of the FFT. With
///         opts.comm each rank sends its points' numbers, width - 1 planes of the fine grid, and about fine[0] n[1] n[2] / ranks
///         modes; memory: its part of the grid, margins of width - 1 planes for each 16 and more (2-D: 64), twice those modes
/// @cite   Barnett, Magland & af Klinteberg 2019, doi:10.1137/18M120885X; Slepian & Pollak 1961 (prolate kernel)
KUGEL_API kugel_status kugel_nufft_execute(const kugel_nufft_points *points, const kugel_array *in,
                                           const kugel_array *out, kugel_queue *queue);

/// Applies the adjoint (conjugate transpose) of kugel_nufft_execute: a transform of the other type with the other sign.
/// It is the adjoint of the computed transform to rounding, at any tolerance.
/// @param[in]  points  from kugel_nufft_points_create
/// @param[in]  in      what kugel_nufft_execute writes
/// @param[out] out     what kugel_nufft_execute reads; no overlap with in
/// @param[in]  queue   as kugel_nufft_execute
/// @errors as kugel_nufft_execute
/// @accuracy as kugel_nufft_execute
/// @cost   as kugel_nufft_execute
KUGEL_API kugel_status kugel_nufft_adjoint(const kugel_nufft_points *points, const kugel_array *in,
                                           const kugel_array *out, kugel_queue *queue);

/// Spreads strengths on the fine grid alone: the first step of type 1, without FFT and division.
/// @param[in]  points  of a plan of type 1 or 2
/// @param[in]  in      complex, of real plans real, [..., M]; with gradients [..., 1 + ndim, M]
/// @param[out] out     the same, [..., fine[0], ..., fine[ndim-1]] as kugel_nufft_get_info says, those axes in C order. Node l
///         lies at l period / fine; a strength reaches `width` nodes along each axis, with weights of about 1 and less
/// @param[in]  queue   as kugel_nufft_execute
/// @errors as kugel_nufft_execute; KUGEL_ENOTSUP with opts.comm and in double-double
/// @cost   O(M width^ndim)
KUGEL_API kugel_status kugel_nufft_spread(const kugel_nufft_points *points, const kugel_array *in,
                                          const kugel_array *out, kugel_queue *queue);

/// Interpolates the fine grid at the points alone: the last step of type 2, and the transpose of kugel_nufft_spread.
/// @param[in]  points  of a plan of type 1 or 2
/// @param[in]  in      what kugel_nufft_spread writes
/// @param[out] out     what kugel_nufft_spread reads; no overlap with in
/// @param[in]  queue   as kugel_nufft_execute
/// @errors as kugel_nufft_execute; KUGEL_ENOTSUP with opts.comm and in double-double
/// @cost   O(M width^ndim)
KUGEL_API kugel_status kugel_nufft_interpolate(const kugel_nufft_points *points, const kugel_array *in,
                                               const kugel_array *out, kugel_queue *queue);

/// Makes the normal operator A^H W A of modes, where A takes modes to points (execute of type 2, adjoint of type 1), as a
/// convolution of modes: its cost does not depend on the points. It is what least squares and conjugate gradients apply.
/// @param[in]  plan     of type 1 or 2
/// @param[in]  points   [M, ndim], as of kugel_nufft_points_create
/// @param[in]  weights  W, float or double [M]; NULL: 1. Of a plan on a device also in the device's memory, complete
/// @param[out] out      executed and freed as points are: kugel_nufft_execute takes modes to modes, [..., n...] (of real
///         plans halved ones, [..., n[ndim-1] / 2 + 1]); its adjoint is the same
/// @errors as kugel_nufft_points_create; KUGEL_ENOTSUP with opts.comm and in double-double
/// @accuracy errors relative to the l2 norm of A^H W A f are a few tolerances of the plan, for generic f
/// @cost   a type 1 of 2 n - 1 modes along each axis (of real plans 2 n + 1); an execution is two FFTs of 2 n points along each axis,
///         of real plans real ones, of which the lines without modes are left out. It holds 2^ndim n reals
/// @cite   Fessler et al. 2005, doi:10.1109/TSP.2005.853152
KUGEL_API kugel_status kugel_nufft_normal_create(const kugel_nufft *plan, const kugel_array *points,
                                                 const kugel_array *weights, kugel_nufft_points **out);

/// Density weights of points: w <- w / |S' S w| from w = 1, with spreading S and interpolation S'. The result is scaled to
/// volumes in the units of the coordinates: sum_j w_j g(x_j) is about the integral of g over the places where points are closer than the kernel is wide. Points
/// of equal coordinates share their volume.
/// @param[in]  points      of a plan of type 1 or 2 without gradients; `upsampling` and `width` of the plan set the distance over
///         which density is averaged, width / upsampling periods / n
/// @param[in]  iterations  1 to 10000; 10 to 30 are usual
/// @param[out] weights     [M], real, of the plan's precision; of a plan on a device also in the device's memory. The call returns
///         when they are there
/// @errors KUGEL_EINVAL; KUGEL_ESHAPE; KUGEL_EDEVICE; KUGEL_ENOTSUP with opts.comm, in double-double, and for a host array with strides and a plan on a
///         device; KUGEL_ENOMEM; KUGEL_ECANCELED
/// @cost   one spreading and one interpolation per iteration, no FFT
/// @cite   PipeMenon1999
KUGEL_API kugel_status kugel_nufft_density(const kugel_nufft_points *points, int iterations, const kugel_array *weights);

#ifdef __cplusplus
}
#endif
#endif
