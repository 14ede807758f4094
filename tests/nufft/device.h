/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-uniform transforms on a device, of host arrays. */
#ifndef KUGEL_TESTS_NUFFT_DEVICE_H
#define KUGEL_TESTS_NUFFT_DEVICE_H

#include "device/every.h"
#include "nufft/problem.h"

/* A transform or its adjoint. */
static inline void on_device(kugel_ctx *ctx, const problem *p, const double *x, bool adjoint, const void *in,
                             void *out)
{
  int64_t n[4] = {0}, m = p->m;
  kugel_nufft *plan = NULL;
  kugel_nufft_points *points = NULL;
  kugel_dtype type = p->opts.precision == KUGEL_PRECISION_F32 ? KUGEL_C64 : KUGEL_C128;
  memcpy(n, p->n, sizeof p->n);
  kugel_array c = {.data = to_modes(p, adjoint) ? (void *)(uintptr_t)in : out,
                   .device = {KUGEL_CPU, 0},
                   .ndim = 1,
                   .dtype = type,
                   .shape = &m},
              f = {.data = to_modes(p, adjoint) ? out : (void *)(uintptr_t)in,
                   .device = {KUGEL_CPU, 0},
                   .ndim = p->ndim,
                   .dtype = type,
                   .shape = n};
  int64_t shape[2] = {m, p->ndim};
  kugel_array coordinates = {
      .data = (void *)(uintptr_t)x, .device = {KUGEL_CPU, 0}, .ndim = 2, .dtype = KUGEL_F64, .shape = shape};
  CHECK_OK(kugel_nufft_create(ctx, p->ndim, p->n, &p->opts, &plan));
  if (plan)
    CHECK_OK(kugel_nufft_points_create(plan, &coordinates, &points));
  if (points && adjoint)
    CHECK_OK(
        kugel_nufft_adjoint(points, to_modes(p, adjoint) ? &c : &f, to_modes(p, adjoint) ? &f : &c, NULL));
  else if (points)
    CHECK_OK(
        kugel_nufft_execute(points, to_modes(p, adjoint) ? &c : &f, to_modes(p, adjoint) ? &f : &c, NULL));
  kugel_nufft_points_destroy(points);
  kugel_nufft_destroy(plan);
}

/* Relative l2 distance of n floats or doubles. */
static inline double distance(bool single, const void *a, const void *b, int64_t n)
{
  double error = 0, size = 0;
  for (int64_t i = 0; i < n; i++) {
    const double u = single ? (double)((const float *)a)[i] : ((const double *)a)[i],
                 v = single ? (double)((const float *)b)[i] : ((const double *)b)[i];
    error += (u - v) * (u - v);
    size += v * v;
  }
  return sqrt(error / size);
}

#endif
