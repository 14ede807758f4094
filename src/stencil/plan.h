/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan behind kugel_stencil. Grids of fewer dimensions have leading axes of one node. */
#ifndef KUGEL_STENCIL_PLAN_H
#define KUGEL_STENCIL_PLAN_H

#include "core/ctx.h"
#include "stencil/line.h"
#include "stencil/rows.h"
#include "stencil/solver.h"

/* A term of the operator or of its transpose. */
typedef struct kugel__stencil_part {
  int from, to;
  double factor;
  int derivative[3];
  const kugel__stencil_line *line[3];
  const char
      *coefficient; /* NULL: 1; of the transpose multiplied with what is read, else with what is written */
} kugel__stencil_part;

/* A node's sum: weights of what is `at` numbers from the node in the field that begins at `from`. */
typedef struct kugel__stencil_tap {
  int64_t from, at;
  double weight;
} kugel__stencil_tap;
typedef struct kugel__stencil_node {
  int count;
  kugel__stencil_tap tap[KUGEL__STENCIL_TAPS];
} kugel__stencil_node;

/* Rows lo[0] <= i < n[0] - hi[0], lo[1] <= j < n[1] - hi[1] of a target, whose sums are alike: `node` at columns lo[2] to n[2] - hi[2],
 * `edge` at those before and, after them, behind. All of its terms have one coefficient, or none. */
typedef struct kugel__stencil_inside {
  int64_t lo[3], hi[3];
  bool whole; /* columns at the ends may read beyond them, where the rows beside are */
  const char *coefficient;
  kugel__stencil_node node, edge[];
} kugel__stencil_inside;

typedef struct kugel__stencil_side {
  kugel__stencil_part *parts; /* by what they write; those without a difference along the last axis first */
  int *first;                 /* of each target, and the end */
  kugel__stencil_inside **inside; /* of each target, on the CPU; NULL: its rows are summed term by term */
  int sources, targets;
  bool transposed;
} kugel__stencil_side;

struct kugel_stencil {
  kugel_ctx *ctx;
  int ndim, order, nterms;
  bool single;
  kugel_precision precision;
  bool compact;
  int steps_per_pass; /* wanted; 0: chosen */
  int64_t n[3], nodes;
  double h[3];
  kugel_stencil_boundary boundary[3][2];
  kugel__stencil_line (*lines)[3][3]; /* [transposed][axis][derivative] */
  kugel__stencil_side side[2];        /* the operator, its transpose */
  char **coefficients; /* the plan's own, one a term; of terms that share one the first has it */
  const char **names;  /* as the coefficients were when terms got them; on a device nobody follows them */
  kugel__stencil_solver
      *solver[2][3][2]; /* compact: [transposed][axis][derivative - 1]; NULL: no term has it */
  uint64_t bytes;
  double bound;
  struct kugel__stencil_gpu *gpu; /* stencil/gpu.h; NULL: on the CPU */
};

/* Sorts `count` parts by target into a side whose sources, targets and transposed are set. */
kugel_status kugel__stencil_side_make(const kugel_stencil *p, kugel__stencil_side *side,
                                      const kugel__stencil_part *parts, int count);
void kugel__stencil_side_free(kugel_ctx *ctx, kugel__stencil_side *side);

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

/* Compact differences, whose terms share solvers along axes. The operator is C A^-1 B of each term. */
double kugel__stencil_compact_growth(int derivative); /* a bound of A^-1 */
kugel_status kugel__stencil_compact_make(kugel_stencil *p);
void kugel__stencil_compact_free(kugel_stencil *p);
kugel_status kugel__stencil_compact_run(const kugel_stencil *p, bool transposed,
                                        const kugel__stencil_use *use);

/* For tests: bytes of the second-level cache that tiles of rows are chosen for, 0: those of the machine. Returns what it was. */
int64_t kugel__stencil_cache(int64_t bytes);
/* Leapfrog: `steps` steps in one pass over memory, of as many as kugel__stencil_leaps says that the cache holds. The newest
 * level is `now` after an even number of them, else `before`. */
int kugel__stencil_leaps(const kugel_stencil *p, bool transposed);
kugel_status kugel__stencil_leap(const kugel_stencil *p, bool transposed, double dt, int steps, char *before,
                                 char *now);

/* Steps of alternating directions, see kugel_stencil_method. */
kugel_status kugel__stencil_adi_check(const kugel_stencil *p);
kugel_status kugel__stencil_adi_run(const kugel_stencil *p, bool transposed, double dt, int64_t steps,
                                    char *state);

#endif
