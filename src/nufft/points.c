/* SPDX-License-Identifier: BSD-3-Clause */
/* Points of a plan: made, sorted, freed. */
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/dd.h"
#include "nufft/gpu.h"
#include "nufft/ranks.h"

static kugel_status take(const kugel_nufft *plan, const kugel_array *a, kugel__nufft_places *places,
                         int64_t *n)
{
  char text[256];
  KUGEL_CHECK(a && a->shape, KUGEL_EINVAL, "points is NULL: pass an array [M, %d]", plan->ndim);
  KUGEL_CHECK(a->device.type == KUGEL_CPU || plan->gpu, KUGEL_EDEVICE,
              "points is on device type %d, this plan takes host memory", a->device.type);
  const bool twofold = plan->dd && a->ndim == 3 && a->shape[2] == 2; // numbers of two doubles
  KUGEL_CHECK((kugel__dtype_is(a->dtype, KUGEL_F64) || (kugel__dtype_is(a->dtype, KUGEL_F32) && !twofold)) &&
                  (a->ndim == 2 || twofold) && a->shape[1] == plan->ndim && a->shape[0] >= 0 &&
                  a->shape[0] <= INT32_MAX,
              KUGEL_ESHAPE, "points is %s, must be float64 or float32 [M, %d] with M of 0 to 2^31 - 1",
              kugel__array_describe(a, text, sizeof text), plan->ndim);
  KUGEL_TRY(kugel__array_check_reach(a, "points", false));
  KUGEL_CHECK(a->data || a->shape[0] == 0, KUGEL_EINVAL, "points has data NULL");
  *n = a->shape[0];
  *places = (kugel__nufft_places){.plan = plan,
                                  .data = kugel__array_data(a),
                                  .stride = a->strides ? a->strides[0] : plan->ndim,
                                  .axis_stride = a->strides ? a->strides[1] : 1,
                                  .floats = a->dtype.bits == 32};
  return KUGEL_OK;
}

static kugel_status create(const kugel_nufft *plan, const kugel_array *points, kugel_nufft_points **out)
{
  kugel__nufft_places places;
  int64_t n = 0;
  KUGEL_TRY(take(plan, points, &places, &n));
  kugel_nufft_points *p = kugel__calloc(plan->ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for points");
  p->plan = (kugel_nufft *)(uintptr_t)plan;
  atomic_fetch_add(&p->plan->references, 1);
  p->n = n;
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status status = plan->gpu     ? kugel__nufft_gpu_sort(p, points)
                        : plan->dd    ? kugel__nufft_dd_points(p, points)
                        : plan->ranks ? kugel__nufft_ranks_points(p, &places)
                                      : kugel__nufft_sort(p, &places, false);
  kugel__progress_leave(span);
  if (status) {
    kugel_nufft_points_destroy(p);
    return status;
  }
  *out = p;
  return KUGEL_OK;
}

kugel_status kugel_nufft_points_create(const kugel_nufft *plan, const kugel_array *points,
                                       kugel_nufft_points **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the points");
  *out = NULL;
  KUGEL_CHECK(plan, KUGEL_EINVAL, "plan is NULL: make one by kugel_nufft_create");
  KUGEL_CHECK(!plan->third, KUGEL_EINVAL, "the plan is of type 3: use kugel_nufft_frequencies_create");
  if (!plan->ranks)
    return create(plan, points, out);
  kugel__comm_enter(plan->ranks->comm);
  kugel_status s = kugel__comm_leave(plan->ranks->comm, create(plan, points, out));
  if (s) {
    kugel_nufft_points_destroy(*out);
    *out = NULL;
  }
  return s;
}

void kugel_nufft_points_destroy(kugel_nufft_points *p)
{
  if (!p)
    return;
  kugel_nufft *plan = p->plan;
  if (p->third)
    p->third->destroy(plan->ctx, p->third);
  if (p->normal)
    p->normal->destroy(plan, p->normal);
  kugel__nufft_gpu_points_destroy(p);
  kugel__nufft_ranks_points_destroy(p);
  kugel__nufft_dd_points_destroy(p);
  kugel__nufft_points_clear(p, plan->ctx);
  kugel__free(plan->ctx, p);
  kugel__nufft_release(plan);
}
