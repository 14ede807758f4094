/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves of three diagonals along one axis of an array [outer, n, inner], periodic ones too. */
#ifndef KUGEL_STENCIL_SOLVER_H
#define KUGEL_STENCIL_SOLVER_H

#include <kugel/banded.h>
#include <stdbool.h>
#include "core/base.h"

typedef struct kugel__stencil_solver {
  kugel_ctx *ctx;
  int64_t outer, n, inner, plans;
  bool each, periodic, single;
  kugel_banded **plan;    /* one, or one per slab */
  char *z;                /* periodic: as the diagonals */
  double *ratio, *divide; /* per matrix: b / g, 1 / (1 + v z) */
  void *
      tables; /* on a device: z, then ratio and divide in the plan's precision, each at multiples of 512 bytes */
} kugel__stencil_solver;

/* Diagonals are doubles [matrices..., n] of all lines, [n] if !each, else [outer, n, inner] as the array. */
typedef struct kugel__stencil_bands {
  int64_t outer, n, inner;
  bool each;     /* line has a matrix of its own */
  bool periodic; /* lower[0] is element (0, n - 1), upper[n - 1] element (n - 1, 0); n is at least 3 */
  kugel_precision precision;
  double *lower, *diagonal, *upper; /* element (i, i - 1), (i, i), (i, i + 1); changed */
} kugel__stencil_bands;

/* Of a context on a device the matrices are there; lines of an array [outer, n, inner] with outer and inner above 1 are then columns of
 * [n, outer inner], and so are bands of lines with matrices of their own. */
kugel_status kugel__stencil_solver_make(kugel_ctx *ctx, const kugel__stencil_bands *b,
                                        kugel__stencil_solver **out);
void kugel__stencil_solver_free(kugel__stencil_solver *s);

/* x = A^-1 x. */
kugel_status kugel__stencil_solver_run(const kugel__stencil_solver *s, char *x);

#endif
