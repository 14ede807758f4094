/* SPDX-License-Identifier: BSD-3-Clause */
/* Points: checks, and their places on the torus. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/points/gpu.h"

enum { PART = 1 << 14 }; /* points per task */

typedef struct placing {
  kugel_sht_points *p;
  const void *given; /* theta, phi */
  bool floats;
  double *torus; /* theta, phi; NULL: as they are given */
} placing;

static kugel_status place(void *arg, int64_t part)
{
  const placing *t = arg;
  int64_t end = kugel__min(t->p->n, (part + 1) * PART);
  for (int64_t i = part * PART; i < end; i++) {
    double x[2];
    for (int d = 0; d < 2; d++)
      x[d] = t->floats ? (double)((const float *)t->given)[2 * i + d] : ((const double *)t->given)[2 * i + d];
    if (t->floats && x[0] == (double)(float)M_PI) // which is above pi
      x[0] = M_PI;
    KUGEL_CHECK(x[0] >= 0 && x[0] <= M_PI, KUGEL_EINVAL,
                "theta of point %lld is %.17g, must be 0 to pi: points are (theta, phi), colatitude first",
                (long long)i, x[0]);
    KUGEL_CHECK(isfinite(x[1]), KUGEL_EINVAL, "phi of point %lld is %g, must be finite", (long long)i, x[1]);
    if (t->torus)
      memcpy(t->torus + 2 * i, x, sizeof x);
  }
  return KUGEL_OK;
}

static kugel_status fill(kugel_sht_points *p, const kugel_array *points)
{
  kugel_ctx *ctx = p->plan->ctx;
  placing t = {.p = p, .given = kugel__array_data(points), .floats = points->dtype.bits == 32};
  if (t.floats) {
    t.torus = kugel__scratch_get(ctx, (size_t)kugel__max(1, p->n) * 16);
    KUGEL_CHECK(t.torus, KUGEL_ENOMEM, "no memory for %lld points", (long long)p->n);
  }
  kugel__span whole = kugel__progress_enter(0, 1);
  kugel__progress_stage(0, 0.1, "points");
  kugel_status s = kugel__parallel(ctx, (p->n + PART - 1) / PART, place, &t);
  kugel__span part = kugel__progress_enter(0.1, 1);
  if (!s)
    s = kugel_nufft_points_create(
        p->plan->nufft, KUGEL_ARRAY(t.floats ? t.torus : (void *)(uintptr_t)t.given, KUGEL_F64, p->n, 2),
        &p->places);
  kugel__progress_leave(part);
  kugel__progress_leave(whole);
  kugel__scratch_put(ctx, t.torus);
  return s;
}

kugel_status kugel__points_open(const kugel_sht_points_plan *plan, int64_t n, kugel_sht_points **out)
{
  kugel_sht_points *p = kugel__calloc(plan->ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for points");
  p->plan = (kugel_sht_points_plan *)(uintptr_t)plan;
  atomic_fetch_add(&p->plan->references, 1);
  p->n = n;
  *out = p;
  return KUGEL_OK;
}

kugel_status kugel_sht_points_create(const kugel_sht_points_plan *plan, const kugel_array *points,
                                     kugel_sht_points **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the points");
  *out = NULL;
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one by kugel_sht_points_plan_create");
  KUGEL_CHECK(points, KUGEL_EINVAL, "points is NULL: pass an array [N, 2] of theta and phi");
  kugel_dtype type = kugel__dtype_is(points->dtype, KUGEL_F32) ? KUGEL_F32 : KUGEL_F64;
  int64_t n = -1;
  KUGEL_TRY(kugel__array_check_on(plan->gpu ? &plan->gpu->dev->info.device : NULL, points, "points", type, 1,
                                  (int64_t[]){2}, &n));
  KUGEL_CHECK(points->ndim == 2, KUGEL_ESHAPE, "points has %d axes, must be [N, 2]", points->ndim);
  KUGEL_CHECK(n < (int64_t)1 << 31, KUGEL_ESHAPE, "there are %lld points, must be fewer than 2^31",
              (long long)n);
  kugel_sht_points *p = NULL;
  KUGEL_TRY(kugel__points_open(plan, n, &p));
  kugel_status s = plan->gpu ? kugel__points_gpu_place(p, points, NULL) : fill(p, points);
  if (s) {
    kugel_sht_points_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

void kugel_sht_points_destroy(kugel_sht_points *p)
{
  if (!p)
    return;
  kugel_sht_points_plan *plan = p->plan;
  kugel_nufft_points_destroy(p->places);
  kugel__points_gpu_points_destroy(p);
  kugel__free(plan->ctx, p);
  kugel__points_release(plan);
}
