/* SPDX-License-Identifier: BSD-3-Clause */
/* Least-squares analysis of values at points by conjugate gradients (CGLS: Hestenes and Stiefel 1952; Bjorck 1996, section
 * 7.4). */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/points/gpu.h"

typedef struct solver {
  const kugel_sht_points *points;
  int64_t alm, values; /* reals in all sets of alm, and at all points */
  double *r, *q;       /* residual at the points; S d */
  double *x, *s, *d;   /* solution; S^T r; direction */
} solver;

static double dot(int64_t n, const double *a, const double *b)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* The inner product of sphere.h. */
static double norm2(const solver *v, const double *a)
{
  const kugel_sht_points_plan *p = v->points->plan;
  double sum = 2 * dot(v->alm, a, a);
  for (int c = 0; c < p->n_alm; c++)
    sum -= dot(2 * (p->lmax + 1), a + 2 * c * p->nalm, a + 2 * c * p->nalm);
  return sum;
}

/* One of 1 + 2 max_iterations passes. */
static kugel_status apply(const solver *v, bool adjoint, double *alm, double *values, double pass,
                          double passes)
{
  const kugel_sht_points_plan *p = v->points->plan;
  kugel_array a = *KUGEL_ARRAY(alm, KUGEL_C128, p->n_alm, p->nalm),
              f = *KUGEL_ARRAY(values, KUGEL_F64, p->n_map, v->points->n);
  kugel__span outer = kugel__progress_enter(pass / passes, (pass + 1) / passes);
  kugel_status s = adjoint ? kugel_sht_points_adjoint(v->points, &f, &a, NULL)
                           : kugel_sht_points_synthesis(v->points, &a, &f, NULL);
  kugel__progress_leave(outer);
  return s;
}

static kugel_status iterate(const solver *v, const kugel_solve_opts *o, kugel_solve_stats *stats)
{
  double given = dot(v->values, v->r, v->r), passes = 1 + 2 * o->max_iterations;
  KUGEL_TRY(apply(v, true, v->s, v->r, 0, passes));
  memset(v->x, 0, (size_t)v->alm * 8);
  memcpy(v->d, v->s, (size_t)v->alm * 8);
  double first = norm2(v, v->s), gamma = first;
  int k = 0;
  for (; k < o->max_iterations && gamma > o->tolerance * o->tolerance * first && gamma > 0; k++) {
    KUGEL_TRY(apply(v, false, v->d, v->q, 1 + 2 * k, passes));
    double step = gamma / dot(v->values, v->q, v->q);
    for (int64_t i = 0; i < v->alm; i++)
      v->x[i] += step * v->d[i];
    for (int64_t i = 0; i < v->values; i++)
      v->r[i] -= step * v->q[i];
    KUGEL_TRY(apply(v, true, v->s, v->r, 2 + 2 * k, passes));
    double next = norm2(v, v->s), ratio = next / gamma;
    gamma = next;
    for (int64_t i = 0; i < v->alm; i++)
      v->d[i] = v->s[i] + ratio * v->d[i];
  }
  *stats = (kugel_solve_stats){k, given > 0 ? sqrt(dot(v->values, v->r, v->r) / given) : 0,
                               first > 0 ? sqrt(gamma / first) : 0};
  return KUGEL_OK;
}

static kugel_status load(const solver *v, const kugel_array *values)
{
  const void *data = kugel__array_data(values);
  for (int64_t i = 0; i < v->values; i++) {
    v->r[i] = values->dtype.bits == 32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
    KUGEL_CHECK(isfinite(v->r[i]), KUGEL_EINVAL,
                "value %lld of point %lld is %g, must be finite: leave such points out",
                (long long)(i / v->points->n), (long long)(i % v->points->n), v->r[i]);
  }
  return KUGEL_OK;
}

static void store(const solver *v, const kugel_array *alm)
{
  void *data = kugel__array_data(alm);
  for (int64_t i = 0; i < v->alm; i++)
    if (alm->dtype.bits == 64)
      ((float *)data)[i] = (float)v->x[i];
    else
      ((double *)data)[i] = v->x[i];
}

static kugel_status check_opts(const kugel_solve_opts *given, kugel_solve_opts *o)
{
  KUGEL_TRY(kugel__take_opts(o, sizeof *o, given, "kugel_solve_opts"));
  KUGEL_CHECK(o->tolerance >= 0 && o->tolerance < 1, KUGEL_EINVAL, "tolerance is %g, must be in [0, 1)",
              o->tolerance);
  KUGEL_CHECK(o->max_iterations >= 0, KUGEL_EINVAL, "max_iterations is %d, must not be negative",
              o->max_iterations);
  o->tolerance = o->tolerance > 0 ? o->tolerance : 1e-10;
  o->max_iterations = o->max_iterations ? o->max_iterations : 50;
  return KUGEL_OK;
}

static kugel_status end(kugel_status s, const kugel_solve_stats *st, double tolerance,
                        kugel_solve_stats *stats)
{
  if (stats)
    *stats = *st;
  if (!s && st->normal_residual > tolerance)
    s = KUGEL_FAIL(KUGEL_ECONVERGE,
                   "residual is %.3g after %d iterations, wanted %.3g: allow more iterations",
                   st->normal_residual, st->iterations, tolerance);
  return s;
}

kugel_status kugel_sht_points_solve(const kugel_sht_points *points, const kugel_array *values,
                                    const kugel_array *alm, const kugel_solve_opts *opts,
                                    kugel_solve_stats *stats, kugel_queue *queue)
{
  kugel_solve_opts o;
  kugel_solve_stats st = {0};
  int64_t batch;
  KUGEL_TRY(kugel__points_check(points, alm, values, queue, &batch));
  KUGEL_TRY(check_opts(opts, &o));
  const kugel_sht_points_plan *p = points->plan;
  KUGEL_CHECK(p->n_alm == p->n_map, KUGEL_ENOTSUP, "gradient modes cannot be solved for: use mode SCALAR");
  KUGEL_CHECK(batch == 1, KUGEL_ESHAPE, "the batch is %lld, must be 1: solve one set of values at a time",
              (long long)batch);
  if (p->gpu) {
    kugel_status there = kugel__points_gpu_solve(points, values, alm, &o, &st, queue);
    return end(there, &st, o.tolerance, stats);
  }
  solver v = {.points = points, .alm = 2 * p->n_alm * p->nalm, .values = p->n_map * points->n};
  size_t bytes = (size_t)(2 * kugel__round_up(v.values + 1, 8) + 3 * kugel__round_up(v.alm, 8)) * 8;
  v.r = kugel__scratch_get(p->ctx, bytes);
  KUGEL_CHECK(v.r, KUGEL_ENOMEM, "no memory for %zu bytes of iterations", bytes);
  v.q = v.r + kugel__round_up(v.values + 1, 8);
  v.x = v.q + kugel__round_up(v.values + 1, 8);
  v.s = v.x + kugel__round_up(v.alm, 8);
  v.d = v.s + kugel__round_up(v.alm, 8);
  kugel__span whole = kugel__progress_enter(0, 1);
  kugel_status s = load(&v, values);
  s = s ? s : iterate(&v, &o, &st);
  kugel__progress_leave(whole);
  if (!s)
    store(&v, alm);
  kugel__scratch_put(p->ctx, v.r);
  return end(s, &st, o.tolerance, stats);
}
