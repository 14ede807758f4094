/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields in the ball of any kind, and calls of plans with them. */
#ifndef KUGEL_TESTS_BALL_FIELDS_H
#define KUGEL_TESTS_BALL_FIELDS_H

#include "truth.h"

/* One grid for all, whose kernels are compiled once. Its 15 radii are no multiple of what the Legendre stage takes at a time. */
#define GRID .nr = 15, .ntheta = 12, .nphi = 24
#define FIRST_SHAPE                                                                                          \
  {                                                                                                          \
    .lmax = 11, .n = 8, .vectors = 1, GRID                                                                   \
  }
enum { VERBS = 4 };

typedef kugel_status (*verb)(const kugel_ball *, kugel_ball_kind, const kugel_array *, const kugel_array *,
                             kugel_queue *);
static const verb verbs[VERBS] = {kugel_ball_synthesis, kugel_ball_analysis, kugel_ball_synthesis_adjoint,
                                  kugel_ball_analysis_adjoint};

static inline int parts_of(int kind)
{
  return kind == KUGEL_BALL_SCALAR ? 1 : 3;
}

/* Reals of a field. */
static inline int64_t reals(const ball *b, int kind, bool coeffs)
{
  return coeffs                    ? 2 * parts_of(kind) * b->coeffs
         : kind == KUGEL_BALL_SPIN ? 6 * b->points
                                   : parts_of(kind) * b->points;
}

/* A view of `batch` fields. */
typedef struct view {
  int64_t shape[5];
  kugel_array a;
} view;
static inline kugel_array *view_of(view *v, const ball *b, int kind, bool coeffs, int64_t batch, void *data)
{
  int n = 0;
  bool single = b->o.precision == KUGEL_PRECISION_F32, pairs = coeffs || kind == KUGEL_BALL_SPIN;
  v->shape[n++] = batch;
  if (kind)
    v->shape[n++] = 3;
  v->shape[n++] = coeffs ? b->s.nlm : b->s.nr;
  v->shape[n++] = coeffs ? b->s.n : b->s.ntheta;
  if (!coeffs)
    v->shape[n++] = b->s.nphi;
  v->a = (kugel_array){.data = data,
                       .device = {KUGEL_CPU, 0},
                       .ndim = n,
                       .shape = v->shape,
                       .dtype = pairs ? (single ? KUGEL_C64 : KUGEL_C128) : (single ? KUGEL_F32 : KUGEL_F64)};
  return &v->a;
}

static inline double *random_field(const ball *b, int kind, bool coeffs, uint64_t seed)
{
  if (coeffs)
    return ball_random(b, parts_of(kind), seed);
  double *f = malloc((size_t)reals(b, kind, false) * 8);
  for (int64_t i = 0; i < reals(b, kind, false); i++)
    f[i] = check_random(&seed);
  return f;
}

/* Profiles of a field of three components. */
#define PROFILES(b, f) KUGEL_ARRAY(f, KUGEL_C128, 3, (b).s.nlm, (b).s.nr)

/* <forward c, f> = <c, adjoint f> by `plan`, one of b's shape; f: values, which may be no real field's, or profiles in radius. */
static inline void one_adjoint(const ball *b, const kugel_ball *plan, int kind, bool profiles, verb forward,
                               verb adjoint, double bound)
{
  const int parts = parts_of(kind);
  const int64_t count = profiles ? 2 * parts * b->s.nlm * b->s.nr : reals(b, kind, false);
  double *c = ball_random(b, parts, 4), *f = malloc((size_t)count * 8), *fc = malloc((size_t)count * 8),
         *cf = malloc((size_t)(parts * b->coeffs) * 16), of_values, of_series;
  uint64_t seed = 5;
  view there, back;
  for (int64_t i = 0; i < count; i++)
    f[i] = check_random(&seed);
  CHECK_OK(forward(plan, kind, COEFFS(*b, c, parts),
                   profiles ? PROFILES(*b, fc) : view_of(&there, b, kind, false, 1, fc), NULL));
  CHECK_OK(adjoint(plan, kind, profiles ? PROFILES(*b, f) : view_of(&back, b, kind, false, 1, f),
                   COEFFS(*b, cf, parts), NULL));
  long double left = profiles ? ball_inner(b, parts, b->s.nr, fc, f, &of_values) : dot(count, fc, f),
              right = ball_inner(b, parts, b->s.n, c, cf, &of_series);
  if (!profiles)
    of_values = (double)sqrtl(dot(count, fc, fc) * dot(count, f, f));
  CHECK_LE((double)fabsl(left - right) / fmin(of_values, of_series), bound);
  free(c);
  free(f);
  free(fc);
  free(cf);
}

static inline kugel_ball *plan_on(kugel_ctx *ctx, const ball *b)
{
  kugel_ball *plan;
  CHECK_OK(kugel_ball_create(ctx, &b->o, &plan));
  if (!plan)
    exit(1);
  return plan;
}

#endif
