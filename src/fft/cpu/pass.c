/* SPDX-License-Identifier: BSD-3-Clause */
/* A pass: which solver of fft/solvers.def takes which of its lines. */
#include "core/ctx.h"
#include "fft/cpu/solver.h"

const kugel__line_solver kugel__line_solvers[] = {
#define LINE_SOLVER(name, apply, plan, cost, run, free) {#name, apply, plan, cost, run, free},
#include "fft/solvers.def"
};
const int kugel__line_solver_count = sizeof kugel__line_solvers / sizeof *kugel__line_solvers;

kugel_status kugel__step_create(kugel_ctx *ctx, kugel_fft_kind kind, bool inverse, int64_t n,
                                kugel__step *out)
{
  *out = (kugel__step){0};
  kugel__line_problem problem = {kind, inverse, n};
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < kugel__line_solver_count && !s; i++)
    if (kugel__line_solvers[i].apply(&problem, out))
      s = kugel__line_solvers[i].plan(ctx, &problem, out);
  if (s)
    kugel__step_destroy(ctx, out);
  return s;
}

void kugel__step_destroy(kugel_ctx *ctx, kugel__step *step)
{
  for (int i = 0; i < kugel__line_solver_count; i++)
    kugel__line_solvers[i].free(ctx, step);
}

static const kugel__line_solver *cheapest(const kugel__pass *t, int64_t lines)
{
  const kugel__line_solver *best = &kugel__line_solvers[0];
  double least = best->cost(t, lines);
  for (int i = 1; i < kugel__line_solver_count; i++) {
    double cost = kugel__line_solvers[i].cost(t, lines);
    if (cost < least) {
      least = cost;
      best = &kugel__line_solvers[i];
    }
  }
  return best;
}

// Full vectors of lines may go by another solver than those left over.
kugel_status kugel__pass_run(kugel_ctx *ctx, const kugel__pass *t)
{
  int64_t lines = 1, vlen = kugel__lanes_ops_now()->vlen;
  for (int d = 0; d < t->in->ndim; d++)
    lines *= d == t->at ? 1 : t->in->shape[d];
  int64_t rest = lines & (vlen - 1), full = lines - rest;
  if (!lines)
    return KUGEL_OK;
  if (t->alike)
    return cheapest(t, vlen)->run(ctx, t, 0, lines);
  const kugel__line_solver *first = cheapest(t, full ? full : rest), *last = rest ? cheapest(t, rest) : first;
  if (first == last)
    return first->run(ctx, t, 0, lines);
  KUGEL_TRY(first->run(ctx, t, 0, full));
  return last->run(ctx, t, full, lines);
}
