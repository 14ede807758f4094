/* SPDX-License-Identifier: BSD-3-Clause */
/* Element-wise work on maps, in parallel chunks. */
#ifndef KUGEL_SPHERE_GRID_MAPOPS_H
#define KUGEL_SPHERE_GRID_MAPOPS_H

#include <math.h>
#include "core/base.h"
#include "sphere/grid/grid.h"

/* NaN, infinity, or UNSEEN to 1e-5. */
static inline bool kugel__bad_pixel(double x)
{
  return !(fabs(x - KUGEL_UNSEEN) > 1e-5 * -KUGEL_UNSEEN) || isinf(x);
}

void kugel__widen(const void *in, bool f32, int64_t n, double *out);
void kugel__narrow(const double *in, int64_t n, void *out, bool f32);

/* out = factor . in; in and out may be the same doubles. */
kugel_status kugel__map_scale(kugel_ctx *ctx, int64_t n, const void *in, bool f32, const double *factor,
                              double *out);
/* model = map - model */
kugel_status kugel__map_residual(kugel_ctx *ctx, int64_t n, const void *map, bool f32, double *model);
/* out = in, or += with add */
kugel_status kugel__map_add(kugel_ctx *ctx, int64_t n, const double *in, bool add, void *out, bool f32);
/* Each pixel times the factor of its ring, given by ring pairs. */
kugel_status kugel__map_scale_rings(kugel_ctx *ctx, const kugel_grid *grid, const double *north,
                                    const double *south, double *map);
/* *at: index of the first bad pixel, or -1. Fails when the caller cancels. */
kugel_status kugel__map_find_bad(kugel_ctx *ctx, int64_t n, const void *map, bool f32, int64_t *at);
/* out = in with bad pixels zero. */
kugel_status kugel__map_zero_bad(kugel_ctx *ctx, int64_t n, const void *in, bool f32, void *out);
/* Sum of squares, in a fixed order. */
double kugel__map_norm2(int64_t n, const double *map);

#endif
