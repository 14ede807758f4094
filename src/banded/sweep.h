/* SPDX-License-Identifier: BSD-3-Clause */
/* Inner loops of banded solves and products on the CPU: systems in SIMD lanes. Steps and planes count real
 * numbers; double-double has its low parts `plane` after the high ones. */
#ifndef KUGEL_BANDED_SWEEP_H
#define KUGEL_BANDED_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

enum {
  KUGEL__LANES = 16, /* systems side by side come in multiples of this */
  KUGEL__CHUNKS = 64 /* of a partition */
};

/* n rows of `width` systems (a multiple of KUGEL__LANES), row i at data + i step; out may be in.
 * Coefficients: one a row, or with `each` one a system. A recurrence that runs backwards starts at the last
 * row with negative steps. */
typedef struct kugel__banded_sweep {
  int64_t n, width;
  const void *in;
  void *out;
  int64_t in_step, out_step, plane;
  const void *scale, *off;              /* of a recurrence; scale may be NULL */
  const void *lower, *diagonal, *upper; /* of a product; lower and upper may be NULL */
  void *before;                         /* [planes][width], a product's own */
  int64_t c_step, c_plane;
  bool each;
} kugel__banded_sweep;

/* The way of a call's arrays to a tile [planes][n][width] and back: element i of system r is at data +
 * r step + i of a limit of `limit` elements beyond which there is nothing (read as zeros). */
typedef struct kugel__pack {
  void *data, *tile;
  int64_t n, width, step, limit;
} kugel__pack;

typedef struct kugel__banded_ops {
  void (*recur)(const kugel__banded_sweep *k);
  void (*product)(const kugel__banded_sweep *k);
  void (*product_row)(
      const kugel__banded_sweep *k); /* one system of elements side by side; NULL: double-double */
  void (*pack_rows)(const kugel__pack *k);
  void (*unpack_rows)(const kugel__pack *k);
  /* Layout COLUMNS: element i of system r at data + i step + r, r < limit. */
  void (*pack_columns)(const kugel__pack *k);
  void (*unpack_columns)(const kugel__pack *k);
  /* A tile of n rows of `width` chunks, each solved from nothing before it, becomes one solution. */
  void (*join)(void *tile, const void *reach, int64_t n, int64_t width, bool backward);
} kugel__banded_ops;

/* By kugel_precision. */
typedef struct kugel__banded_table {
  kugel__banded_ops ops[3];
} kugel__banded_table;

#endif
