/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums at points that a lens has moved, with the directions of their values turned back; and the exact adjoint. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/points/gpu.h"

enum { PART = 1 << 14 }; /* points per task */

struct kugel_lens {
  kugel_ctx *ctx;
  kugel_sht_points *points; /* where the light comes from */
  int n_alm, n_map, first;  /* values first and first + 1 have a direction, if there are as many */
  int64_t nalm;
  double *turn; /* [n][2]: cos and sin of spin times the turn; NULL: no value has a direction */
};

/* ---- directions ---- */

typedef struct turning {
  const kugel_lens *lens;
  const char *from; /* [n_map][n] */
  char *to;         /* may be from */
  bool f32;
  double sign; /* of the angle */
} turning;

static double get(const turning *t, int64_t i)
{
  return t->f32 ? (double)((const float *)(const void *)t->from)[i]
                : ((const double *)(const void *)t->from)[i];
}

static void put(const turning *t, int64_t i, double x)
{
  if (t->f32)
    ((float *)(void *)t->to)[i] = (float)x;
  else
    ((double *)(void *)t->to)[i] = x;
}

static kugel_status turn_part(void *arg, int64_t part)
{
  const turning *t = arg;
  const kugel_lens *l = t->lens;
  const int64_t n = l->points->n, end = kugel__min(n, (part + 1) * PART);
  for (int64_t i = part * PART; i < end; i++) {
    const double c = l->turn[2 * i], s = t->sign * l->turn[2 * i + 1];
    const int64_t at = l->first * n + i;
    const double x = get(t, at), y = get(t, at + n);
    put(t, at, c * x - s * y);
    put(t, at + n, s * x + c * y);
  }
  for (int64_t i = part * PART; l->first && t->from != t->to && i < end; i++)
    put(t, i, get(t, i));
  return KUGEL_OK;
}

static kugel_status turn(turning t)
{
  return kugel__parallel(t.lens->ctx, (t.lens->points->n + PART - 1) / PART, turn_part, &t);
}

/* ---- making ---- */

/* On a device: the points turn directions themselves. */
static kugel_status make_there(kugel_lens *l, const kugel_sht_points_plan *plan, const kugel_array *points,
                               const kugel_array *deflection)
{
  const kugel_device *here = &plan->gpu->dev->info.device;
  int64_t n = -1, one = 1;
  KUGEL_TRY(kugel__array_check_on(here, points, "points", KUGEL_F64, 1, (int64_t[]){2}, &n));
  KUGEL_CHECK(points->ndim == 2, KUGEL_ESHAPE, "points has %d axes, must be [N, 2]", points->ndim);
  KUGEL_CHECK(n < (int64_t)1 << 31, KUGEL_ESHAPE, "there are %lld points, must be fewer than 2^31",
              (long long)n);
  KUGEL_TRY(kugel__array_check_on(here, deflection, "deflection", KUGEL_F64, 2, (int64_t[]){2, n}, &one));
  KUGEL_TRY(kugel__points_open(plan, n, &l->points));
  return kugel__points_gpu_place(l->points, points, deflection);
}

static kugel_status make(kugel_lens *l, const kugel_sht_points_plan *plan, const kugel_array *points,
                         const kugel_array *deflection)
{
  KUGEL_CHECK(points && points->ndim >= 1 && points->shape, KUGEL_EINVAL, "points is NULL: pass an array");
  int64_t n = points->shape[0];
  KUGEL_CHECK(n >= 0 && n < (int64_t)1 << 31, KUGEL_ESHAPE, "points has %lld rows, must be 0 to 2^31 - 1",
              (long long)n);
  double *moved = kugel__scratch_get(l->ctx, (size_t)kugel__max(n, 1) * 24);
  if (l->n_map > 1)
    l->turn = kugel__alloc(l->ctx, (size_t)kugel__max(n, 1) * 16);
  kugel_status s = moved && (l->turn || l->n_map == 1) ? KUGEL_OK : KUGEL_ENOMEM;
  if (s)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld points", (long long)n);
  double *angle = s ? NULL : moved + 2 * n;
  if (!s)
    s = kugel_points_deflect(l->ctx, points, deflection, KUGEL_ARRAY(moved, KUGEL_F64, n, 2),
                             KUGEL_ARRAY(angle, KUGEL_F64, n));
  for (int64_t i = 0; !s && l->turn && i < n; i++) {
    l->turn[2 * i] = cos(plan->spin * angle[i]);
    l->turn[2 * i + 1] = sin(plan->spin * angle[i]);
  }
  if (!s)
    s = kugel_sht_points_create(plan, KUGEL_ARRAY(moved, KUGEL_F64, n, 2), &l->points);
  kugel__scratch_put(l->ctx, moved);
  return s;
}

kugel_status kugel_lens_create(const kugel_sht_points_plan *plan, const kugel_array *points,
                               const kugel_array *deflection, kugel_lens **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the lens");
  *out = NULL;
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one with kugel_sht_points_plan_create");
  kugel_lens *l = kugel__calloc(plan->ctx, sizeof *l);
  KUGEL_CHECK(l, KUGEL_ENOMEM, "no memory for a lens");
  l->ctx = kugel__ctx_retain(plan->ctx);
  l->n_alm = plan->n_alm;
  l->n_map = plan->n_map;
  l->first = plan->n_map == 3;
  l->nalm = plan->nalm;
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status s = plan->gpu ? make_there(l, plan, points, deflection) : make(l, plan, points, deflection);
  kugel__progress_leave(span);
  if (s)
    kugel_lens_destroy(l);
  else
    *out = l;
  return s;
}

void kugel_lens_destroy(kugel_lens *l)
{
  if (!l)
    return;
  kugel_ctx *ctx = l->ctx;
  kugel_sht_points_destroy(l->points);
  kugel__free(ctx, l->turn);
  kugel__free(ctx, l);
  kugel_ctx_destroy(ctx);
}

/* ---- sums ---- */

static char *values_of(const kugel_lens *l, const kugel_array *values, int64_t b)
{
  return (char *)kugel__array_data(values) + b * l->n_map * l->points->n * (values->dtype.bits / 8);
}

kugel_status kugel_lens_synthesis(const kugel_lens *l, const kugel_array *alm, const kugel_array *values,
                                  kugel_queue *queue)
{
  int64_t batch;
  KUGEL_CHECK(l, KUGEL_EINVAL, "lens is NULL: make one with kugel_lens_create");
  KUGEL_TRY(kugel__points_check(l->points, alm, values, queue, &batch));
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status s = kugel_sht_points_synthesis(l->points, alm, values, queue);
  for (int64_t b = 0; !s && l->turn && b < batch; b++) {
    char *x = values_of(l, values, b);
    s = turn((turning){l, x, x, values->dtype.bits == 32, 1});
  }
  kugel__progress_leave(span);
  return s;
}

static kugel_status adjoint_set(const kugel_lens *l, const kugel_array *values, const kugel_array *alm,
                                int64_t b, char *copy)
{
  const bool f32 = values->dtype.bits == 32;
  KUGEL_TRY(turn((turning){l, values_of(l, values, b), copy, f32, -1}));
  kugel_array to = *KUGEL_ARRAY((char *)kugel__array_data(alm) +
                                    b * l->n_alm * l->nalm * (alm->dtype.bits / 8),
                                KUGEL_C128, l->n_alm, l->nalm),
              from = *KUGEL_ARRAY(copy, KUGEL_F64, l->n_map, l->points->n);
  to.dtype = alm->dtype;
  from.dtype = values->dtype;
  return kugel_sht_points_adjoint(l->points, &from, &to, NULL);
}

kugel_status kugel_lens_adjoint(const kugel_lens *l, const kugel_array *values, const kugel_array *alm,
                                kugel_queue *queue)
{
  int64_t batch;
  KUGEL_CHECK(l, KUGEL_EINVAL, "lens is NULL: make one with kugel_lens_create");
  KUGEL_TRY(kugel__points_check(l->points, alm, values, queue, &batch));
  if (!l->turn)
    return kugel_sht_points_adjoint(l->points, values, alm, queue);
  const size_t bytes = (size_t)(l->n_map * kugel__max(l->points->n, 1)) * values->dtype.bits / 8;
  char *copy = kugel__scratch_get(l->ctx, bytes);
  KUGEL_CHECK(copy, KUGEL_ENOMEM, "no memory for %zu bytes of values", bytes);
  kugel_status s = KUGEL_OK;
  for (int64_t b = 0; !s && b < batch; b++) {
    kugel__span span = kugel__progress_enter((double)b / (double)batch, (double)(b + 1) / (double)batch);
    s = adjoint_set(l, values, alm, b, copy);
    kugel__progress_leave(span);
  }
  kugel__scratch_put(l->ctx, copy);
  return s;
}
