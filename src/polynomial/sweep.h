/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner loops on tiles: [rows][width] real numbers, one right-hand side in each SIMD lane, width = `width` of the table. All
 * sweeps are in place. Tables are of the tile's precision. */
#ifndef KUGEL_POLYNOMIAL_SWEEP_H
#define KUGEL_POLYNOMIAL_SWEEP_H

#include <stdint.h>
#include "core/cpu.h"

enum { KUGEL__TILE_LANES = 32 /* most lanes of a tile: floats, AVX-512 */ };

typedef enum kugel__band_kind {
  KUGEL__BAND_PRODUCT,            /* y_i = d_i x_{i+s} + e_i x_{i+s+1}, 0 <= i < n; rows to n + s are read */
  KUGEL__BAND_PRODUCT_TRANSPOSED, /* y_{i+s} = d_i x_i + e_{i-1} x_{i-1}, 0 <= i <= n with d_n = 0; y = 0 above */
  KUGEL__BAND_SOLVE,              /* d_i y_i + e_i y_{i+1} = x_i, y_n = 0 */
  KUGEL__BAND_SOLVE_TRANSPOSED /* d_i y_i + e_{i-1} y_{i-1} = x_i */
} kugel__band_kind;

/* Solves read 1 / d_i in place of d_i. */
typedef struct kugel__band {
  kugel__band_kind kind;
  int64_t n, s;
  const void *d, *e;
} kugel__band;

/* out[i] = sum_j a[i row + j column] x[j], j of [0, columns), or with `upper` j >= i, with `lower` j <= i. */
typedef struct kugel__matrix {
  const void *a;
  int64_t rows, columns, row, column; /* the last two are strides */
  int upper, lower;
} kugel__matrix;

/* Where lane r of a tile has its numbers: at[r] + i step, in reals of the array. */
typedef struct kugel__rows {
  void *at[KUGEL__TILE_LANES];
  int64_t n, step, lanes;
} kugel__rows;

typedef struct kugel__sweep_ops {
  int width;
  /* One chain: `steps` steps, of which step j uses the rotations table[j], pairs (C_k, S_k).
   * lower: n rows become n + steps, rotation k of step j < n + j; raise: n rows become n - steps, step j has n - 1 - j. */
  void (*lower)(void *x, int64_t n, int64_t steps, const void *const *table);
  void (*raise)(void *x, int64_t n, int64_t steps, const void *const *table);
  /* The same one step at a time: the plain order, for comparison. */
  void (*lower_plain)(void *x, int64_t n, int64_t steps, const void *const *table);
  void (*raise_plain)(void *x, int64_t n, int64_t steps, const void *const *table);
  void (*band)(void *x, const kugel__band *band);
  void (*scale)(void *x, int64_t n, const void *factor); /* x_i *= factor_i; */
  void (*matrix)(const kugel__matrix *m, const void *x, void *out);
  void (*pack)(void *x, const kugel__rows *rows); /* lanes beyond the last become 0 */
  void (*unpack)(const void *x, const kugel__rows *rows);
} kugel__sweep_ops;

/* By kugel_precision: F64, F32. */
typedef struct kugel__sweep_table {
  kugel__sweep_ops ops[2];
} kugel__sweep_table;

const kugel__sweep_ops *kugel__sweeps(int precision);

#endif
