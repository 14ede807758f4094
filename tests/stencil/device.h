/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators of stencils on a device, of host arrays. */
#ifndef KUGEL_TESTS_STENCIL_DEVICE_H
#define KUGEL_TESTS_STENCIL_DEVICE_H

#include "device/every.h"
#include "stencil/problem.h"

/* An operator of a context on host arrays. */
static inline void apply_there(kugel_ctx *ctx, const kugel_stencil_opts *o, bool adjoint, int64_t lead,
                               const void *in, void *out)
{
  kugel_stencil *plan = NULL;
  const kugel_dtype type = o->precision == KUGEL_PRECISION_F32 ? KUGEL_F32 : KUGEL_F64;
  const int64_t fields = o->fields ? o->fields : 1, outs = o->outs ? o->outs : 1;
  int64_t from[5] = {lead, adjoint ? outs : fields}, to[5] = {lead, adjoint ? fields : outs};
  memcpy(from + 2, o->n, sizeof *from * (size_t)o->ndim);
  memcpy(to + 2, o->n, sizeof *to * (size_t)o->ndim);
  const kugel_array a = {.data = (void *)(uintptr_t)in,
                         .device = {KUGEL_CPU, 0},
                         .ndim = 2 + o->ndim,
                         .dtype = type,
                         .shape = from},
                    b = {.data = out,
                         .device = {KUGEL_CPU, 0},
                         .ndim = 2 + o->ndim,
                         .dtype = type,
                         .shape = to};
  CHECK_OK(kugel_stencil_create(ctx, o, &plan));
  if (plan)
    CHECK_OK((adjoint ? kugel_stencil_adjoint : kugel_stencil_apply)(plan, &a, &b, NULL));
  kugel_stencil_destroy(plan);
}

static inline float *floats_of(const double *x, int64_t n)
{
  float *f = malloc((size_t)n * sizeof *f);
  for (int64_t i = 0; i < n; i++)
    f[i] = (float)x[i];
  return f;
}

static inline double value(bool single, const void *x, int64_t i)
{
  return single ? (double)((const float *)x)[i] : ((const double *)x)[i];
}

static inline double distance(bool single, const void *a, const void *b, int64_t n)
{
  double most = 0, size = 0;
  for (int64_t i = 0; i < n; i++) {
    most = fmax(most, fabs(value(single, a, i) - value(single, b, i)));
    size = fmax(size, fabs(value(single, b, i)));
  }
  return most / size;
}

#endif
