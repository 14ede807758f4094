/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution and cross-correlation of arrays in one to eight dimensions, by Fourier transforms.
 *
 *   int64_t n[2] = {2048, 2048}, k[2] = {31, 31};
 *   kugel_conv_opts opts = {sizeof opts, .extent = KUGEL_CONV_SAME};
 *   kugel_conv *plan;
 *   kugel_conv_create(NULL, 2, n, k, KUGEL_ARRAY(psf, KUGEL_F64, 31, 31), &opts, &plan);
 *   kugel_conv_execute(plan, KUGEL_ARRAY(x, KUGEL_F64, 2048, 2048), KUGEL_ARRAY(y, KUGEL_F64, 2048, 2048),
 * NULL);
 *
 * With data x_j, 0 <= j < n, and kernel h_j, 0 <= j < k, along each axis, x zero elsewhere,
 *   convolution         f_o = sum_j h_j x_{o-j},               o = 0 ... n + k - 2
 *   cross-correlation   f_o = sum_j conj(h_j) x_{o-(k-1)+j}
 * A plan gives the part [lo, hi) of these o: FULL all; SAME n of them from (k - 1) / 2 on (rounded down);
 * VALID those that no end of x touches, k - 1 ... n - 1. Circular plans take indices of x modulo n and give n
 * results: FULL from the o on that has h_0 at x_0 (convolution o = 0, correlation o = k - 1), SAME from (k -
 * 1) / 2 on.
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
  KUGEL_CONV_VALID = 2 /* needs k <= n; not of circular plans */
} kugel_conv_extent;

typedef struct kugel_conv kugel_conv;

typedef struct kugel_conv_opts {
  size_t size; /* sizeof(kugel_conv_opts) */
  kugel_conv_extent extent;
  int circular;         /* 1: data are periodic */
  int correlate;        /* 1: cross-correlation */
  int complex_data;     /* 1: data and results are complex; kernels may be */
  int single_precision; /* 1: float data; 0 (default): double */
  int inputs;           /* 0 (default): data have no axis of channels; else its extent */
  int outputs;          /* the same of results: result o = sum over inputs i of kernel (o, i) with data i */
  int each;             /* 1: inputs = outputs channels, each with one kernel of its own */
} kugel_conv_opts;

/// Makes a plan, which holds the kernels' spectra: data are cut into tiles of a length that costs least. On
/// devices data of one dimension are convolved tile by tile in one kernel, if its tiles hold the kernels;
/// others go through one pass an axis each way and one kernel for the last axis, the product and the way
/// back. Padding is neither stored nor read.
/// @param[in]  ctx      NULL: the default context
/// @param[in]  ndim     1 to 8
/// @param[in]  n        ndim lengths of the data, each at least 1
/// @param[in]  k        ndim lengths of the kernels, each at least 1
/// @param[in]  kernels  host array in C order of float, double or complex of these (complex only with
///                      complex_data): [outputs, inputs, k[0], ..., k[ndim-1]] without the axes that opts
///                      leaves out; with opts.each [outputs, k...]
/// @param[in]  opts     NULL for defaults
/// @param[out] out      the plan
/// @errors KUGEL_EINVAL for lengths or options out of range; KUGEL_ESHAPE; KUGEL_ENOMEM; on devices
///         KUGEL_ENOTSUP for circular lengths that no passes hold
/// @cost   one transform of a tile for each kernel, on the host
KUGEL_API kugel_status kugel_conv_create(kugel_ctx *ctx, int ndim, const int64_t *n, const int64_t *k,
                                         const kugel_array *kernels, const kugel_conv_opts *opts,
                                         kugel_conv **out);

/// Frees a plan.
/// @param[in] plan  may be NULL
KUGEL_API void kugel_conv_destroy(kugel_conv *plan);

/// The lengths of the results.
/// @param[in]  plan  from kugel_conv_create
/// @param[out] m     ndim lengths hi - lo
/// @errors KUGEL_EINVAL for NULL
KUGEL_API kugel_status kugel_conv_shape(const kugel_conv *plan, int64_t *m);

/// Convolves. Arrays may have leading axes beyond the plan's, which are a batch, and any strides.
/// @param[in]  plan   from kugel_conv_create
/// @param[in]  in     [..., inputs, n[0], ..., n[ndim-1]], without `inputs` if opts left it 0
/// @param[out] out    [..., outputs, m[0], ..., m[ndim-1]], m from kugel_conv_shape; apart from in
/// @param[in]  queue  of the plan's device: returns before the work is done; NULL: when it is. On the CPU:
/// NULL
/// @errors KUGEL_EINVAL for overlapping arrays; KUGEL_ESHAPE; KUGEL_ENOMEM; KUGEL_EDEVICE; KUGEL_ECANCELED
/// @accuracy error about 1e-16 (float: 6e-8) sqrt(log2) of the tile's length times |h|_2 |x|_2 over the tile
/// @cost   O(n log k) an axis: tiles of a few times k, or one of n + k - 1 where that is less
KUGEL_API kugel_status kugel_conv_execute(const kugel_conv *plan, const kugel_array *in,
                                          const kugel_array *out, kugel_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
