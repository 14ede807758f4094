/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of Jones-Worland plans.
 *
 * A series of degree l has b = l + shift. Synthesis: bands of the operator (to degree l' = l or l +- 1), then either a table of
 * W_n^{l'}(r_k), or rotations down to l0 = l' mod 2, where the functions are cosines of t = acos(r):
 *   Chebyshev, l0 = 0: W_n = sqrt(4 / pi) cos(2 n t), n = 0: sqrt(2 / pi);   l0 = 1: sqrt(4 / pi) cos((2 n + 1) t).
 * Other types pass through the triangular matrix of their functions in those of type Chebyshev. */
#ifndef KUGEL_POLYNOMIAL_JWT_H
#define KUGEL_POLYNOMIAL_JWT_H

#include <kugel/polynomial.h>
#include "polynomial/jacobi.h"
#include "polynomial/program.h"
#include "polynomial/systems.h"

struct kugel_jwt {
  kugel_ctx *ctx;
  kugel_jwt_opts opts; /* its pointers are not used */
  kugel__blocks blocks;
  bool single;
  int chains; /* kugel__poly_chains, of engine CONNECTION on a device */
  size_t word;
  double a, shift;     /* Jacobi parameters: a, b = l + shift */
  int64_t n, nr, lmax; /* lmax: highest degree that an operator may reach */
  void **
      rotations; /* [lmax]: of the step l -> l + 2, as many as its longest chain takes; steps point into one array */
  const void **
      lowering; /* [lmax + 1]: the same in the order of lowering, even l from 0 on and odd l from lmax / 2 + 1 on */
  void *rotation_store;
  kugel__bidiagonal *bands; /* [lmax + 1]: of engine bidiagonal, or NULL */
  void *band_store;         /* [lmax + 1][3][band_rows] */
  int64_t band_rows;
  double *norm0;                      /* [lmax + 1]: squared norm of W_0^l */
  kugel__axis wave[2][2];             /* [l0][analysis] */
  void *connect[2], *connect_back[2]; /* [l0]: of types other than Chebyshev, [nr + 1][nr + 1] */
  double *r;
  void *inverse_r, *times_r; /* [nr] in the plan's precision */
  void *points[2];           /* [l0][nr][rows]: of radii of the caller */
  int64_t points_rows;
  void **dense; /* [lmax + 1]: tables [nr][n] of W_n^l(r_k), NULL where there is none */
  int64_t *
      dense_rows; /* [lmax + 1]: functions that a table holds, the most of its degree's blocks; the others are zero */
  int64_t dense_blocks;
  uint64_t bytes;    /* of tables */
  kugel_jwt *energy; /* with radii enough for squares; NULL: none */
  double *energy_weight;
  struct kugel__poly_gpu *gpu; /* NULL on the CPU */
  struct kugel__jwt_dd *dd;    /* in double-double, jwt_dd.c, in place of all tables but r; NULL: not */
};

/* Of a worker. */
kugel__space kugel__jwt_space(const kugel_jwt *p);

/* What fewest radii analysis with an operator needs for a block. */
int64_t kugel__jwt_needs(int op, int64_t l, int64_t n);

/* Programs of a block: coefficients to values and values to coefficients. `out` rows 0: the result is zero. */
void kugel__jwt_synthesis_program(const kugel_jwt *p, int op, int64_t l, int64_t n, kugel__poly_program *out);
void kugel__jwt_analysis_program(const kugel_jwt *p, int op, int64_t l, int64_t n, kugel__poly_program *out);
/* The last stages of a synthesis: from coefficients of degree l to values; by rotations if `rotate`. */
void kugel__jwt_to_grid(const kugel_jwt *p, int64_t l, bool rotate, kugel__poly_program *out);

#endif
