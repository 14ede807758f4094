/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Leapfrog in three dimensions, several steps per pass in tiles of rows as a small cache asks for: the bits of single steps, for
 * every boundary, both ways, by any number of threads. */
#include "check.h"
#include <kugel/stencil.h>
#include "stencil/plan.h"

enum { N0 = 64, N1 = 75, N2 = 21, NODES = N0 * N1 * N2, STEPS = 19 };
static double start[2 * NODES], coefficient[NODES], out[2][2 * NODES];

typedef struct problem {
  int order;
  kugel_precision precision;
  kugel_stencil_boundary low[3], high[3];
  bool coefficient;
} problem;

static void run(const problem *q, kugel_ctx *ctx, int steps_per_pass, bool adjoint, double *to)
{
  static const int64_t n[3] = {N0, N1, N2};
  const bool single = q->precision == KUGEL_PRECISION_F32;
  static float narrow[NODES];
  for (int i = 0; i < NODES; i++)
    narrow[i] = (float)coefficient[i];
  const void *c = !q->coefficient ? NULL : single ? (void *)narrow : coefficient;
  const kugel_stencil_term terms[4] = {{.derivative = {2}, .factor = 1, .coefficient = c},
                                       {.derivative = {0, 2}, .factor = 0.9, .coefficient = c},
                                       {.derivative = {0, 0, 2}, .factor = 1.1, .coefficient = c},
                                       {.derivative = {1, 1}, .factor = 0.2, .coefficient = c}};
  kugel_stencil_opts o = {.size = sizeof o,
                          .ndim = 3,
                          .n = n,
                          .order = q->order,
                          .precision = q->precision,
                          .nterms = 4,
                          .terms = terms,
                          .steps_per_pass = steps_per_pass};
  for (int d = 0; d < 3; d++) {
    o.boundary[d][0] = q->low[d];
    o.boundary[d][1] = q->high[d];
  }
  const kugel_array state = {.data = to,
                             .device = {KUGEL_CPU, 0},
                             .ndim = 5,
                             .dtype = single ? KUGEL_F32 : KUGEL_F64,
                             .shape = (int64_t[]){2, 1, N0, N1, N2}};
  for (int i = 0; i < 2 * NODES; i++)
    if (single)
      ((float *)(void *)to)[i] = (float)start[i];
    else
      to[i] = start[i];
  kugel_stencil *plan = NULL;
  CHECK_OK(kugel_stencil_create(ctx, &o, &plan));
  CHECK_OK((adjoint ? kugel_stencil_advance_adjoint : kugel_stencil_advance)(plan, KUGEL_STENCIL_LEAPFROG,
                                                                             0.3, STEPS, &state, NULL));
  kugel_stencil_destroy(plan);
}

#define P KUGEL_STENCIL_PERIODIC
#define O KUGEL_STENCIL_ODD
#define E KUGEL_STENCIL_EVEN
#define Z KUGEL_STENCIL_ZERO
#define S KUGEL_STENCIL_ONE_SIDED

int main(void)
{
  static const problem list[] = {{2, KUGEL_PRECISION_F64, {P, P, P}, {P, P, P}, false},
                                 {2, KUGEL_PRECISION_F32, {O, P, E}, {E, P, O}, true},
                                 {2, KUGEL_PRECISION_F64, {P, O, Z}, {P, E, S}, true},
                                 {2, KUGEL_PRECISION_F64, {S, S, P}, {Z, S, P}, false},
                                 {4, KUGEL_PRECISION_F64, {Z, P, P}, {O, P, P}, false},
                                 {4, KUGEL_PRECISION_F32, {P, S, S}, {P, S, S}, false}};
  uint64_t seed = 3;
  for (int i = 0; i < 2 * NODES; i++)
    start[i] = check_random(&seed);
  for (int i = 0; i < NODES; i++)
    coefficient[i] = 1 + 0.3 * check_random(&seed);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++)
    CASE(list[i].order == 2 ? "order 2" : "order 4")
    {
      const problem *q = &list[i];
      const size_t bytes = NODES * 2 * (q->precision == KUGEL_PRECISION_F32 ? 4 : 8);
      for (int adjoint = 0; adjoint < 2; adjoint++) {
        run(q, NULL, 1, adjoint, out[0]);
        for (int threads = 1; threads <= 3; threads += 2)
          for (int64_t cache = 1 << 16; cache <= 1 << 20; cache *= 2) {
            kugel_ctx *ctx = NULL;
            kugel_ctx_opts how = {.size = sizeof how, .threads = threads};
            CHECK_OK(kugel_ctx_create(&how, &ctx));
            kugel__stencil_cache(cache);
            run(q, ctx, cache % 3 ? 0 : 6, adjoint, out[1]);
            kugel__stencil_cache(0);
            kugel_ctx_destroy(ctx);
            if (memcmp(out[0], out[1], bytes))
              CHECK_FAIL("problem %d, adjoint %d, %d threads, cache of %lld bytes: other bits", (int)i,
                         adjoint, threads, (long long)cache);
          }
      }
    }
  END();
}
