/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over the points of one tile of the fine grid, whose cells, with a margin for the kernel, are in a buffer
 * [plane][row][cell] of complex numbers that stays in cache. */
#ifndef KUGEL_NUFFT_TILE_H
#define KUGEL_NUFFT_TILE_H

#include "core/cpu.h"
#include "nufft/kernel.h"

/* Numbers per power of t in the two tables of coefficients, and spare reals behind a buffer: rows are read and written
 * in whole vectors, beyond the kernel with weights of 0. */
enum {
  KUGEL__NUFFT_ACROSS = 2 * KUGEL__NUFFT_WIDTH,
  KUGEL__NUFFT_ALONG = KUGEL__NUFFT_WIDTH,
  KUGEL__NUFFT_SPARE = 64
};

/* All arrays but at and source are float or double, as the plan. */
typedef struct kugel__nufft_tile {
  int ndim, width, degree;
  int64_t row, plane; /* strides of a buffer, in complex numbers */
  const void
      *across; /* [degree + 1][KUGEL__NUFFT_ACROSS] of the last axis: each coefficient twice, for real and
                              imaginary parts; 0 beyond the width */
  const void *along;       /* [degree + 1][KUGEL__NUFFT_ALONG] of the other axes */
  const void *fraction[3]; /* t of each point, of the axes; those of ndim are used */
  double slope[3];         /* dt/dx of the axes, for derivatives */
  const int32_t *at;       /* the first cell that a point reaches, in its tile's buffer */
  const uint32_t *source;  /* which of the caller's points it is */
} kugel__nufft_tile;

/* By precision: 0 double, 1 float. Points first ... first + n - 1; strengths and values are complex, `stride` complex
 * numbers apart. add: y += x, n reals. */
typedef struct kugel__nufft_ops {
  void (*spread[2])(const kugel__nufft_tile *t, int64_t first, int64_t n, const void *strengths,
                    int64_t stride, void *buffer);
  void (*interpolate[2])(const kugel__nufft_tile *t, int64_t first, int64_t n, const void *buffer,
                         void *values, int64_t stride);
  /* With derivatives: 1 + ndim numbers per point, `part` complex numbers apart. */
  void (*spread_gradient[2])(const kugel__nufft_tile *t, int64_t first, int64_t n, const void *strengths,
                             int64_t stride, int64_t part, void *buffer);
  void (*interpolate_gradient[2])(const kugel__nufft_tile *t, int64_t first, int64_t n, const void *buffer,
                                  void *values, int64_t stride, int64_t part);
  void (*add[2])(int64_t n, const void *x, void *y);
} kugel__nufft_ops;

#endif
