/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan behind kugel_stencil. Grids of fewer dimensions have leading axes of one node. */
#ifndef KUGEL_STENCIL_PLAN_H
#define KUGEL_STENCIL_PLAN_H

#include "core/ctx.h"
#include "stencil/line.h"
#include "stencil/rows.h"

/* A term of the operator or of its transpose. */
typedef struct kugel__stencil_part {
  int from, to;
  double factor;
  const kugel__stencil_line *line[3];
  const char
      *coefficient; /* NULL: 1; of the transpose multiplied with what is read, else with what is written */
} kugel__stencil_part;

typedef struct kugel__stencil_side {
  kugel__stencil_part *parts; /* by what they write; those without a difference along the last axis first */
  int *first;                 /* of each target, and the end */
  int sources, targets;
  bool transposed;
} kugel__stencil_side;

struct kugel_stencil {
  kugel_ctx *ctx;
  int ndim, order, nterms;
  bool single;
  kugel_precision precision;
  int64_t n[3], nodes;
  kugel__stencil_line (*lines)[3][3]; /* [transposed][axis][derivative] */
  kugel__stencil_side side[2];        /* the operator, its transpose */
  char **coefficients; /* the plan's own, one a term; of terms that share one the first has it */
  uint64_t bytes;
  double bound;
};

/* What is done with a result: out = a L in + b p + c q, arrays [targets, n...]; p and q may be NULL, out may be p or q. */
typedef struct kugel__stencil_use {
  const void *in;
  void *out;
  double a, b, c;
  const void *p, *q;
} kugel__stencil_use;

kugel_status kugel__stencil_run(const kugel_stencil *p, const kugel__stencil_side *side,
                                const kugel__stencil_use *use);

/* The same of rows (i, j), lo <= (i, j) < hi, by the calling thread. */
void kugel__stencil_rows(const kugel_stencil *p, const kugel__stencil_side *side,
                         const kugel__stencil_use *use, const int64_t *lo, const int64_t *hi);

/* Leapfrog: `steps` steps in one pass over memory, of as many as kugel__stencil_leaps says that the cache holds. The newest
 * level is `now` after an even number of them, else `before`. */
int kugel__stencil_leaps(const kugel_stencil *p);
kugel_status kugel__stencil_leap(const kugel_stencil *p, double dt, int steps, char *before, char *now);

#endif
