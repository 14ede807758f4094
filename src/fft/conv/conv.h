/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution plans: boxes of data are transformed, multiplied by the kernels' spectra, transformed back, and
 * the part of each that no wrap-around touches is kept (overlap-save in any number of dimensions). */
#ifndef KUGEL_FFT_CONV_CONV_H
#define KUGEL_FFT_CONV_CONV_H

#include <kugel/conv.h>
#include <kugel/fft.h>
#include "core/array.h"
#include "core/cpu.h"
#include "fft/cpu/pass.h"

enum { KUGEL__CONV_DIMS = 8 };

/* Along one axis: tile t computes results o = lo + t step + i, 0 <= i < step, which lie at skip + i in its
 * box; position p of the box holds datum lo + t step - skip + p. */
typedef struct kugel__conv_axis {
  int64_t n, k;   /* points of data and, folded into n if circular, kernel */
  int64_t lo, hi; /* results, as kugel/conv.h counts o */
  int64_t box, step, skip, tiles;
  int64_t fill; /* data reach positions 0 ... fill - 1 only */
} kugel__conv_axis;

/* All results from one box, or tiles of a given box, at least k. */
kugel__conv_axis kugel__conv_one_tile(kugel__conv_axis a, bool circular);
int64_t kugel__conv_least_box(const kugel__conv_axis *a); /* of one tile, not circular */
kugel__conv_axis kugel__conv_many_tiles(kugel__conv_axis a, int64_t box);
/* Chooses the box by the cost of its transforms: one for all results, or tiles. */
void kugel__conv_choose(kugel__conv_axis *a, bool circular);

struct kugel_conv {
  kugel_ctx *ctx;
  kugel_conv_opts opts;
  int ndim, inputs, outputs, kernels; /* 1 where opts says 0; kernels: inputs * outputs, or one each */
  kugel__conv_axis axis[KUGEL__CONV_DIMS];
  int64_t row, points,
      spectrum;  /* complex numbers of a box's row and box; spectrum = points of all kernels */
  int64_t tiles; /* of one array */
  kugel_fft *plan[KUGEL__CONV_DIMS]; /* of one axis of the box; NULL: one point */
  struct kugel__conv_gpu *gpu;       /* of a context on a device, instead of transforms and spectra */
  void *spectra;                     /* [kernels, box], over the points of the box; complex, as the data */
  int64_t room; /* bytes that device arrays between passes may take, if one box does not take more */
};

/* Number i of an array of any kind that kernels may have: real and imaginary part. */
static inline void kugel__conv_number(const kugel_array *a, int64_t i, double x[2])
{
  const char *data = kugel__array_data(a);
  bool single = a->dtype.bits == (a->dtype.code == KUGEL_COMPLEX ? 64 : 32);
  int parts = a->dtype.code == KUGEL_COMPLEX ? 2 : 1;
  x[1] = 0;
  for (int part = 0; part < parts; part++)
    x[part] = single ? (double)((const float *)(const void *)data)[i * parts + part]
                     : ((const double *)(const void *)data)[i * parts + part];
}

/* Boxes of complex numbers [count, box..., row]: real data in rows padded to 2 row reals. */
kugel_status kugel__conv_forward(const kugel_conv *p, void *boxes, int64_t count, const int64_t *fill);
kugel_status kugel__conv_backward(const kugel_conv *p, void *boxes, int64_t count);

/* Bytes of a datum. */
static inline size_t kugel__conv_element(const kugel_conv *p)
{
  return (p->opts.precision == KUGEL_PRECISION_F32 ? 4u : 8u) * (p->opts.complex_data ? 2u : 1u);
}

/* y[i] (+)= h[i] x[i], complex. */
typedef struct kugel__conv_ops {
  void (*multiply)(bool single, bool add, int64_t n, const void *h, const void *x, void *y);
} kugel__conv_ops;

#endif
