/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution and cross-correlation of arrays in one to eight dimensions, by Fourier transforms.
 *
 *   int64_t n[2] = {2048, 2048}, k[2] = {31, 31};
 *   kugel_conv_opts opts = {sizeof opts, .extent = KUGEL_CONV_SAME};
 *   kugel_conv *plan;
 *   kugel_conv_create(NULL, 2, n, k, KUGEL_ARRAY(psf, KUGEL_F64, 31, 31), &opts, &plan);
 *   kugel_conv_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, 2048, 2048), KUGEL_ARRAY(y, KUGEL_F64, 2048, 2048), NULL);
 *
 * With data x_j, 0 <= j < n, and kernel h_j, 0 <= j < k, along each axis, x zero elsewhere,
 *   convolution         f_o = sum_j h_j x_{o-j},               o = 0 ... n + k - 2
 *   cross-correlation   f_o = sum_j conj(h_j) x_{o-(k-1)+j}
 * A plan computes the results o in [lo, hi): FULL, all of them; SAME, n results from o = (k - 1) / 2 (rounded down);
 * VALID, o = k - 1 ... n - 1, the results that need no element beyond the ends of x. Circular plans take indices of x
 * modulo n and compute n results: FULL starts where h_0 meets x_0 (convolution o = 0, correlation o = k - 1), SAME at
 * o = (k - 1) / 2.
 */
#ifndef KUGEL_CONV_H
#define KUGEL_CONV_H

#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kugel_conv_extent {
  KUGEL_CONV_FULL = 0,
  KUGEL_CONV_SAME = 1,
  KUGEL_CONV_VALID = 2 /* needs k <= n; not for circular plans */
} kugel_conv_extent;

typedef struct kugel_conv kugel_conv;

typedef struct kugel_conv_opts {
  size_t size; /* sizeof(kugel_conv_opts) */
  kugel_conv_extent extent;
  int circular;         /* 1: data are periodic */
  int correlate;        /* 1: cross-correlation */
  int complex_data;     /* 1: data and results are complex; kernels may be */
  kugel_precision precision; /* of data: KUGEL_PRECISION_F64 (0, default) or KUGEL_PRECISION_F32 */
  int inputs;           /* 0 (default): data have no axis of channels; else its extent */
  int outputs;          /* the same for results: result o = sum over inputs i of kernel (o, i) with data i */
  int each;             /* 1: inputs = outputs channels, each with one kernel of its own */
} kugel_conv_opts;

/// Makes a plan, which holds the kernels' spectra. The plan cuts data into tiles of the cheapest length. On devices one
/// kernel convolves data of one dimension tile by tile if a tile can hold the convolution kernels. Other data take one
/// pass per axis in each direction and one kernel for the last axis, the product and the inverse of the last axis.
/// Padding is neither stored nor read.
/// @param[in]  ctx      NULL: the default context
/// @param[in]  ndim     1 to 8
/// @param[in]  n        ndim lengths of the data, each at least 1
/// @param[in]  k        ndim lengths of the kernels, each at least 1
/// @param[in]  kernels  host array in C order of float, double or complex of these (complex only with
///                      complex_data): [outputs, inputs, k[0], ..., k[ndim-1]] without the channel axes that
///                      opts leaves at 0; with opts.each [outputs, k...]
/// @param[in]  opts     NULL for defaults
/// @param[out] out      the plan
/// @errors KUGEL_EINVAL for lengths or options out of range; KUGEL_ESHAPE; KUGEL_ENOMEM; on devices
///         KUGEL_ENOTSUP for circular lengths that the passes cannot hold
/// @cost   one transform of a tile for each kernel, on the host
KUGEL_API kugel_status kugel_conv_create(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                         const kugel_array *kernels, const kugel_conv_opts *opts,
                                         kugel_conv **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_conv_destroy(kugel_conv *plan);

/* What a plan does. */
typedef struct kugel_conv_info {
  size_t size;         /* sizeof (kugel_conv_info), set by the caller */
  int ndim;            /* of the data: 1 to 8 */
  int inputs, outputs; /* channels, 0 without such an axis */
  kugel_precision precision;
  int64_t n[8];        /* lengths of the data; [ndim] and beyond: 0 */
  int64_t m[8];        /* lengths of the results */
} kugel_conv_info;

/// Reports what a plan does, the lengths of its results first of all.
/// @param[in]     plan  from kugel_conv_create
/// @param[in,out] info  size set by the caller, the rest by the call
/// @errors KUGEL_EINVAL if an argument is NULL or the size is 0
KUGEL_API kugel_status kugel_conv_get_info(const kugel_conv *plan, kugel_conv_info *info);

/// Convolves. Arrays may have leading axes beyond the plan's, which form a batch, and any strides.
/// @param[in]  plan   from kugel_conv_create
/// @param[in]  in     [..., inputs, n[0], ..., n[ndim-1]], without `inputs` if opts left it 0
/// @param[out] out    [..., outputs, m[0], ..., m[ndim-1]], m from kugel_conv_get_info; no overlap with in
/// @param[in]  queue  of the plan's device: returns before the work is done; NULL: when it is.
///                    On the CPU: NULL
/// @errors KUGEL_EINVAL for overlapping arrays; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_EDEVICE; KUGEL_ECANCELED
/// @accuracy error about 1e-16 (float: 6e-8) sqrt(log2) of the tile's length times |h|_2 |x|_2 over the tile
/// @cost   O(n log k) per axis: tiles of a few times k, or one tile of n + k - 1 if that is cheaper
KUGEL_API kugel_status kugel_conv_execute(const kugel_conv *plan, const kugel_array *in,
                                          const kugel_array *out, kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
