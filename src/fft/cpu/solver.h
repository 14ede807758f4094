/* SPDX-License-Identifier: BSD-3-Clause */
/* What a row of fft/solvers.def has to offer. */
#ifndef KUGEL_FFT_CPU_SOLVER_H
#define KUGEL_FFT_CPU_SOLVER_H

#include "fft/cpu/pass.h"

/* Lines of n elements, real ones of R2C and of cosine and sine kinds. */
typedef struct kugel__line_problem {
  kugel_fft_kind kind;
  bool inverse; /* of R2C: complex to real; other kinds: not used, an inverse is a kind of its own */
  int64_t n;
} kugel__line_problem;

/* The kind of the line of C2C and R2C problems. */
static inline kugel__long_kind kugel__long_kind_of(const kugel__line_problem *p)
{
  return p->kind == KUGEL_FFT_C2C ? KUGEL__LONG_C2C : p->inverse ? KUGEL__LONG_C2R : KUGEL__LONG_R2C;
}

typedef struct kugel__line_solver {
  const char *name;
  /* Whether to plan at all; the rows above have left what they planned in the step. */
  bool (*apply)(const kugel__line_problem *problem, const kugel__step *step);
  /* Puts what the solver needs into the step, or nothing if it has no plan for that length. */
  kugel_status (*plan)(kugel_ctx *ctx, const kugel__line_problem *problem, kugel__step *step);
  /* Expected time of `lines` lines of a pass, in units of one line of full lanes; INFINITY: cannot do them. */
  double (*cost)(const kugel__pass *pass, int64_t lines);
  /* Does lines first to end - 1 of a pass, by the context's threads. */
  kugel_status (*run)(kugel_ctx *ctx, const kugel__pass *pass, int64_t first, int64_t end);
  /* Frees what plan made; the step may have nothing of it. */
  void (*free)(kugel_ctx *ctx, kugel__step *step);
} kugel__line_solver;

extern const kugel__line_solver kugel__line_solvers[];
extern const int kugel__line_solver_count;

#define LINE_SOLVER(name, apply, plan, cost, run, free)                                                      \
  bool apply(const kugel__line_problem *, const kugel__step *);                                              \
  kugel_status plan(kugel_ctx *, const kugel__line_problem *, kugel__step *);                                \
  double cost(const kugel__pass *, int64_t);                                                                 \
  kugel_status run(kugel_ctx *, const kugel__pass *, int64_t, int64_t);                                      \
  void free(kugel_ctx *, kugel__step *);
#include "fft/solvers.def"

#endif
