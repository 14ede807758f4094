/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums at points: points all over the sphere, and plans on the CPU or a device for them. */
#ifndef KUGEL_TESTS_POINTS_PROBLEM_H
#define KUGEL_TESTS_POINTS_PROBLEM_H

#include <stdbool.h>
#include "sphere/truth.h"
#include <kugel/alm.h>
#include <kugel/points.h>

/* Both poles with several longitudes, close to them, the equator, longitudes far outside, random ones. */
static inline double *some_points(int64_t n)
{
  static const double fixed[][2] = {{0, 0},      {0, 1.25},        {M_PI, 0},     {M_PI, -2.5},
                                    {1e-9, 0.5}, {M_PI - 1e-9, 4}, {M_PI / 2, 0}, {M_PI / 2, 1000.5},
                                    {1, -1e6},   {0.3, M_PI},      {2, 2 * M_PI}};
  double *x = malloc((size_t)n * 16);
  uint64_t own = 77;
  for (int64_t i = 0; i < n; i++) {
    x[2 * i] = acos(check_random(&own));
    x[2 * i + 1] = 4 * check_random(&own);
  }
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed && (int64_t)i < n; i++)
    memcpy(x + 2 * i, fixed[i], 16);
  return x;
}

static inline double *random_numbers(int64_t n, uint64_t own)
{
  double *x = malloc((size_t)n * 8);
  for (int64_t i = 0; i < n; i++)
    x[i] = check_random(&own);
  return x;
}

typedef struct problem {
  kugel_sht_points_opts opts;
  int64_t n, nalm;
  shape sets;
  double *x, *by; /* by: deflections of a lens, or NULL */
} problem;

/* Points of a plan, or a lens. */
typedef struct object {
  kugel_sht_points *points;
  kugel_lens *lens;
} object;

static inline problem problem_of(kugel_sht_mode mode, int spin, int64_t lmax, int64_t mmax, double tolerance,
                                 int64_t n)
{
  problem p = {.opts = {.size = sizeof p.opts,
                        .lmax = lmax,
                        .mmax = mmax ? mmax : KUGEL_ONLY_M0,
                        .mode = mode,
                        .spin = spin,
                        .tolerance = tolerance},
               .n = n};
  p.sets = shape_of(mode, spin);
  p.nalm = kugel_alm_count(lmax, p.opts.mmax);
  p.x = some_points(n);
  return p;
}

static inline object make(kugel_ctx *ctx, const problem *p)
{
  kugel_sht_points_plan *plan = NULL;
  object o = {NULL, NULL};
  CHECK_OK(kugel_sht_points_plan_create(ctx, &p->opts, &plan));
  if (plan && p->by)
    CHECK_OK(kugel_lens_create(plan, KUGEL_ARRAY(p->x, KUGEL_F64, p->n, 2),
                               KUGEL_ARRAY(p->by, KUGEL_F64, 2, p->n), &o.lens));
  else if (plan)
    CHECK_OK(kugel_sht_points_create(plan, KUGEL_ARRAY(p->x, KUGEL_F64, p->n, 2), &o.points));
  kugel_sht_points_plan_destroy(plan);
  return o;
}

static inline void drop(object *o)
{
  kugel_sht_points_destroy(o->points);
  kugel_lens_destroy(o->lens);
}

static inline kugel_status apply(const object *o, bool adjoint, const kugel_array *alm,
                                 const kugel_array *values, kugel_queue *queue)
{
  return o->lens && adjoint ? kugel_lens_adjoint(o->lens, values, alm, queue)
         : o->lens          ? kugel_lens_synthesis(o->lens, alm, values, queue)
         : adjoint          ? kugel_sht_points_adjoint(o->points, values, alm, queue)
                            : kugel_sht_points_synthesis(o->points, alm, values, queue);
}

static inline void host_apply(const object *o, const problem *p, bool adjoint, double *alm, double *values)
{
  if (o->points || o->lens)
    CHECK_OK(apply(o, adjoint, KUGEL_ARRAY(alm, KUGEL_C128, p->sets.alm, p->nalm),
                   KUGEL_ARRAY(values, KUGEL_F64, p->sets.map, p->n), NULL));
}

/* Values [map][n] by direct sums. */
static inline void direct(const problem *p, const double *alm, double *values)
{
  const int64_t mmax = p->opts.mmax == KUGEL_ONLY_M0 ? 0 : p->opts.mmax;
  double point[3] = {0};
  for (int64_t i = 0; i < p->n; i++) {
    truth(p->opts.mode, p->opts.spin, p->opts.lmax, mmax, alm, p->nalm, p->x[2 * i], p->x[2 * i + 1], point);
    for (int c = 0; c < p->sets.map; c++)
      values[c * p->n + i] = point[c];
  }
}

#endif
