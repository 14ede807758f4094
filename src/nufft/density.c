/* SPDX-License-Identifier: BSD-3-Clause */
/* Weights of points by their density: w <- w / |S' S w| with the spreading S and its transpose (Pipe & Menon 1999,
 * doi:10.1002/(SICI)1522-2594(199901)41:1<179::AID-MRM25>3.0.CO;2-V). */
#include <math.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/gpu.h"

static double real_at(bool single, const void *x, int64_t i)
{
  return single ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static void put_real(bool single, void *x, int64_t i, double value)
{
  if (single)
    ((float *)x)[i] = (float)value;
  else
    ((double *)x)[i] = value;
}

/* At the fixed point the weights, spread and interpolated, sum up to 1 everywhere. A weight reaches a volume of phihat(0)^2
 * cells along each axis: times that it is the volume of space that is the point's own. */
static double volume(const kugel_nufft *p)
{
  double v = 1, reach = kugel__nufft_transform(&p->kernel, 0);
  for (int d = 0; d < p->ndim; d++)
    v *= reach * reach / p->axis[d].cells;
  return v;
}

static kugel_status iterate(const kugel_nufft_points *p, int iterations, void *weights, int64_t stride,
                            void *c, void *v, void *grid)
{
  const kugel_nufft *plan = p->plan;
  const bool single = plan->single;
  const int64_t parts = plan->real ? 1 : 2;
  const double unit = volume(plan);
  for (int64_t j = 0; j < p->n; j++)
    put_real(single, weights, j * stride, 1);
  for (int i = 0; i < iterations; i++) {
    kugel__span span = kugel__progress_enter((double)i / iterations, (double)(i + 1) / iterations);
    for (int64_t j = 0; j < p->n; j++) {
      put_real(single, c, parts * j, real_at(single, weights, j * stride));
      if (parts == 2)
        put_real(single, c, 2 * j + 1, 0);
    }
    kugel_status s = kugel__nufft_clear(plan, grid);
    if (!s)
      s = kugel__nufft_spread(p, c, 1, 0, plan->pitch, grid);
    if (!s)
      s = kugel__nufft_interpolate(p, grid, plan->pitch, v, 1, 0);
    kugel__progress_leave(span);
    if (s)
      return s;
    for (int64_t j = 0; j < p->n; j++)
      put_real(single, weights, j * stride,
               real_at(single, c, parts * j) / fabs(real_at(single, v, parts * j)));
  }
  for (int64_t j = 0; j < p->n; j++)
    put_real(single, weights, j * stride, unit * real_at(single, weights, j * stride));
  return KUGEL_OK;
}

kugel_status kugel_nufft_density(const kugel_nufft_points *points, int iterations, const kugel_array *weights)
{
  char text[256];
  KUGEL_CHECK(points, KUGEL_EINVAL, "points is NULL: make them by kugel_nufft_points_create");
  const kugel_nufft *plan = points->plan;
  KUGEL_CHECK(!plan->ranks, KUGEL_ENOTSUP,
              "no rank has all points: make density weights by a plan without comm");
  KUGEL_CHECK(!plan->dd, KUGEL_ENOTSUP,
              "density weights have digits of double at most: make them by a plan of KUGEL_PRECISION_F64");
  KUGEL_CHECK(!points->third && !points->normal && !plan->gradient, KUGEL_EINVAL,
              "density weights need points of a plan of type 1 or 2 without gradients");
  KUGEL_CHECK(iterations >= 1 && iterations <= 10000, KUGEL_EINVAL, "iterations is %d, must be 1 to 10000",
              iterations);
  KUGEL_CHECK(weights && weights->shape, KUGEL_EINVAL, "weights is NULL: pass an array [M]");
  KUGEL_CHECK((weights->device.type == KUGEL_CPU || plan->gpu) && weights->ndim == 1 &&
                  weights->shape[0] == points->n &&
                  kugel__dtype_is(weights->dtype, plan->single ? KUGEL_F32 : KUGEL_F64),
              KUGEL_ESHAPE, "weights is %s, must be float%d [%lld]%s",
              kugel__array_describe(weights, text, sizeof text), plan->single ? 32 : 64, (long long)points->n,
              plan->gpu ? "" : " in host memory");
  KUGEL_TRY(kugel__array_check_reach(weights, "weights", true));
  KUGEL_CHECK(weights->data || points->n == 0, KUGEL_EINVAL, "weights has data NULL");
  if (plan->gpu)
    return kugel__nufft_gpu_density(points, iterations, volume(plan), weights);
  size_t number = (size_t)kugel__nufft_number(plan), cells = (size_t)kugel__nufft_grid(plan);
  char *work = kugel__scratch_get(plan->ctx, cells + (size_t)(2 * points->n) * number);
  KUGEL_CHECK(work, KUGEL_ENOMEM, "no memory for a fine grid of %lld points", (long long)plan->fine);
  char *c = work + cells;
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status s =
      iterate(points, iterations, kugel__array_data(weights), weights->strides ? weights->strides[0] : 1, c,
              c + (size_t)points->n * number, work);
  kugel__progress_leave(span);
  kugel__scratch_put(plan->ctx, work);
  return s;
}
