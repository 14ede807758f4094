/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops over the points of one tile of the fine grid, whose cells, with a margin for the kernel, are in a buffer
 * [plane][row][cell] of complex or real numbers that stays in cache. */
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

/* Points are records of sorted order: t along each axis, float or double as the plan; then int32_t, the first cell that the point
 * reaches in its tile's buffer, and uint32_t, which of the caller's points it is. The other arrays are float or double too. */
typedef struct kugel__nufft_tile {
  int ndim, width, degree;
  int64_t row, plane; /* strides of a buffer, in its numbers */
  const void
      *across; /* [degree + 1][KUGEL__NUFFT_ACROSS] of the last axis: each coefficient twice, for real and
                              imaginary parts; 0 beyond the width */
  const void
      *along; /* [degree + 1][KUGEL__NUFFT_ALONG] of the other axes, and of the last one of real data */
  const char *points; /* the first record */
  int64_t record;     /* bytes of one */
  double slope[3];    /* dt/dx of the axes, for derivatives */
} kugel__nufft_tile;

/* By precision: 0 double, 1 float; and numbers: 0 complex, 1 real. Points first ... first + n - 1; strengths and values lie
 * `stride` numbers apart. add: y += x, n reals. */
typedef struct kugel__nufft_ops {
  void (*spread[2][2])(const kugel__nufft_tile *t, int64_t first, int64_t n, const void *strengths,
                       int64_t stride, void *buffer);
  void (*interpolate[2][2])(const kugel__nufft_tile *t, int64_t first, int64_t n, const void *buffer,
                            void *values, int64_t stride);
  /* Complex, with derivatives: 1 + ndim numbers per point, `part` numbers apart. */
  void (*spread_gradient[2])(const kugel__nufft_tile *t, int64_t first, int64_t n, const void *strengths,
                             int64_t stride, int64_t part, void *buffer);
  void (*interpolate_gradient[2])(const kugel__nufft_tile *t, int64_t first, int64_t n, const void *buffer,
                                  void *values, int64_t stride, int64_t part);
  void (*add[2])(int64_t n, const void *x, void *y);
} kugel__nufft_ops;

static inline int64_t kugel__nufft_record(bool single, int ndim)
{
  return (single ? 4 : 8) * ndim + 8;
}

#endif
