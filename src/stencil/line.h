/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences along one axis, as the rows of a matrix: one row for all nodes inside, and those of the nodes next to the ends, in
 * which the boundary's condition is folded. The transpose has the same form. */
#ifndef KUGEL_STENCIL_LINE_H
#define KUGEL_STENCIL_LINE_H

#include <kugel/stencil.h>
#include "core/base.h"

enum {
  KUGEL__STENCIL_REACH = 4, /* of order 8 */
  KUGEL__STENCIL_ENTRIES =
      20, /* of a row: 10 with one-sided ends; of the transpose of an axis of fewer than 20 nodes, all */
  KUGEL__STENCIL_EDGES = 20 /* rows of both ends: 2 (2 REACH + 2) in the transpose */
};

typedef struct kugel__stencil_row {
  int count;
  int64_t at[KUGEL__STENCIL_ENTRIES];
  double weight[KUGEL__STENCIL_ENTRIES];
} kugel__stencil_row;

typedef struct kugel__stencil_line {
  int64_t n, lo, hi; /* rows 0 to lo - 1 and n - hi to n - 1 are in `edge` */
  int reach;
  double weight[2 * KUGEL__STENCIL_REACH + 1]; /* of nodes i - reach to i + reach, inside */
  kugel__stencil_row edge[KUGEL__STENCIL_EDGES];
} kugel__stencil_line;

/* Row i, without zeros. */
void kugel__stencil_get_row(const kugel__stencil_line *l, int64_t i, kugel__stencil_row *row);

/* The difference of a derivative (0 to 2) of n nodes at distance h. */
void kugel__stencil_line_make(kugel__stencil_line *l, int64_t n, int derivative, int order, double h,
                              const kugel_stencil_boundary *boundary);
/* The right side B of a compact difference A^-1 B of order 4; derivative 0: the field itself. */
void kugel__stencil_line_make_compact(kugel__stencil_line *l, int64_t n, int derivative, int order, double h,
                                      const kugel_stencil_boundary *boundary);
void kugel__stencil_line_transpose(const kugel__stencil_line *l, kugel__stencil_line *out);

/* The largest sum of absolute values of a row. */
double kugel__stencil_line_bound(const kugel__stencil_line *l);

#endif
