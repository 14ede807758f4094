/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids and plans of the tests of stencils. */
#ifndef KUGEL_TESTS_STENCIL_PROBLEM_H
#define KUGEL_TESTS_STENCIL_PROBLEM_H

#include <kugel/stencil.h>
#include "check.h"

static const kugel_stencil_boundary every_boundary[5] = {KUGEL_STENCIL_PERIODIC, KUGEL_STENCIL_ODD,
                                                         KUGEL_STENCIL_EVEN, KUGEL_STENCIL_ZERO,
                                                         KUGEL_STENCIL_ONE_SIDED};

static inline void set_boundary(kugel_stencil_opts *o, kugel_stencil_boundary b)
{
  for (int d = 0; d < 3; d++)
    o->boundary[d][0] = o->boundary[d][1] = b;
}

static inline double *random_reals(int64_t n, uint64_t seed)
{
  double *x = malloc((size_t)n * sizeof *x + 1);
  uint64_t s = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t i = 0; i < n; i++) {
    s ^= s << 13, s ^= s >> 7, s ^= s << 17;
    x[i] = (double)(s >> 11) * 0x1p-52 - 1;
  }
  return x;
}

/* A view [lead, n...] in double or float. */
static inline kugel_array *view_of(kugel_array *a, int64_t *shape, void *data, const kugel_stencil_opts *o,
                                   int64_t lead)
{
  shape[0] = lead;
  memcpy(shape + 1, o->n, sizeof *shape * (size_t)o->ndim);
  *a = (kugel_array){.data = data,
                     .device = {KUGEL_CPU, 0},
                     .ndim = o->ndim + 1,
                     .dtype = o->precision == KUGEL_PRECISION_F32 ? KUGEL_F32 : KUGEL_F64,
                     .shape = shape};
  return a;
}

static inline int64_t nodes_of(const kugel_stencil_opts *o)
{
  int64_t n = 1;
  for (int d = 0; d < o->ndim; d++)
    n *= o->n[d];
  return n;
}

/* Makes a plan, applies it once. */
static inline void apply_once(const kugel_stencil_opts *o, bool adjoint, const void *in, void *out)
{
  kugel_stencil *plan;
  kugel_array a, b;
  int64_t sa[4], sb[4], fields = o->fields ? o->fields : 1, outs = o->outs ? o->outs : 1;
  CHECK_OK(kugel_stencil_create(NULL, o, &plan));
  CHECK_OK((adjoint ? kugel_stencil_adjoint
                    : kugel_stencil_apply)(plan, view_of(&a, sa, (void *)in, o, adjoint ? outs : fields),
                                           view_of(&b, sb, out, o, adjoint ? fields : outs), NULL));
  kugel_stencil_destroy(plan);
}

#endif
