/* SPDX-License-Identifier: BSD-3-Clause */
/* Points: their places on the torus, and the phases that centre the orders. */
#include <math.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/points/points.h"

enum { PART = 1 << 14 }; /* points per task */

typedef struct placing {
  kugel_sht_points *p;
  const void *given; /* theta, phi */
  bool floats;
  double *torus; /* phi, theta */
} placing;

/* e^{i shift phi}; a longitude of very many turns is reduced. The error of the product is a second number. */
static void find_phase(int64_t shift, double *phi, double *phase)
{
  double hi = (double)shift * *phi, lo = fma((double)shift, *phi, -hi);
  if (fabs(hi) < 0x1p26) {
    double c = cos(hi), s = sin(hi);
    phase[0] = c - s * lo;
    phase[1] = s + c * lo;
    return;
  }
  long double turn = atan2l(sinl(*phi), cosl(*phi)), angle = (long double)shift * turn;
  *phi = (double)turn;
  phase[0] = (double)cosl(angle);
  phase[1] = (double)sinl(angle);
}

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
    find_phase(t->p->plan->shift, &x[1], t->p->phase + 2 * i);
    t->torus[2 * i] = x[1];
    t->torus[2 * i + 1] = x[0];
  }
  return KUGEL_OK;
}

static kugel_status fill(kugel_sht_points *p, const kugel_array *points)
{
  kugel_ctx *ctx = p->plan->ctx;
  KUGEL_ALLOC(ctx, p->phase, kugel__max(1, p->n) * 16);
  placing t = {.p = p, .given = kugel__array_data(points), .floats = points->dtype.bits == 32};
  t.torus = kugel__scratch_get(ctx, (size_t)kugel__max(1, p->n) * 16);
  KUGEL_CHECK(t.torus, KUGEL_ENOMEM, "no memory for %lld points", (long long)p->n);
  kugel__span whole = kugel__progress_enter(0, 1);
  kugel__progress_stage(0, 0.5, "points");
  kugel_status s = kugel__parallel(ctx, (p->n + PART - 1) / PART, place, &t);
  kugel__span part = kugel__progress_enter(0.5, 1);
  if (!s)
    s = kugel_nufft_points_create(p->plan->nufft, KUGEL_ARRAY(t.torus, KUGEL_F64, p->n, 2), &p->places);
  kugel__progress_leave(part);
  kugel__progress_leave(whole);
  kugel__scratch_put(ctx, t.torus);
  return s;
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
  KUGEL_TRY(kugel__array_check(points, "points", type, 1, (int64_t[]){2}, &n));
  KUGEL_CHECK(points->ndim == 2, KUGEL_ESHAPE, "points has %d axes, must be [N, 2]", points->ndim);
  KUGEL_CHECK(n < (int64_t)1 << 31, KUGEL_ESHAPE, "there are %lld points, must be fewer than 2^31",
              (long long)n);
  kugel_sht_points *p = kugel__calloc(plan->ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for points");
  p->plan = (kugel_sht_points_plan *)(uintptr_t)plan;
  atomic_fetch_add(&p->plan->references, 1);
  p->n = n;
  kugel_status s = fill(p, points);
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
  kugel__free(plan->ctx, p->phase);
  kugel__free(plan->ctx, p);
  kugel__points_release(plan);
}
