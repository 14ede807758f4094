/* SPDX-License-Identifier: BSD-3-Clause */
/* Alternating directions with coefficients that do not commute, against short explicit steps; adjoints of steps; bits. */
#include <stdbool.h>
#include "stencil/problem.h"

static const kugel_stencil_boundary taken[4] = {KUGEL_STENCIL_PERIODIC, KUGEL_STENCIL_ODD, KUGEL_STENCIL_EVEN,
                                                KUGEL_STENCIL_ONE_SIDED};

/* Coefficients that differ from node to node, first derivatives, a term without one, a mask, two fields; a reference of short steps
 * of Runge-Kutta. */
typedef struct mixture {
  int64_t n[3];
  double h[3], *c, *mask;
  kugel_stencil_term terms[8];
  kugel_stencil_opts o;
} mixture;

static void mix(mixture *x, int ndim, kugel_stencil_boundary b)
{
  const int64_t sizes[3][3] = {{40}, {14, 17}, {9, 8, 10}};
  memset(x, 0, sizeof *x);
  x->o = (kugel_stencil_opts){
      .size = sizeof x->o, .ndim = ndim, .n = x->n, .h = x->h, .terms = x->terms, .fields = 2, .outs = 2};
  memcpy(x->n, sizes[ndim - 1], sizeof x->n);
  const int64_t size = nodes_of(&x->o);
  x->c = random_reals(size, 5);
  x->mask = random_reals(size, 6);
  for (int64_t i = 0; i < size; i++) {
    x->c[i] = 0.1 + 0.05 * x->c[i];
    x->mask[i] = x->mask[i] > -0.8;
  }
  for (int d = 0; d < 3; d++)
    x->h[d] = 0.8 + 0.1 * d;
  int t = 0;
  for (int d = 0; d < ndim; d++)
    for (int field = 0; field < 2; field++) {
      x->terms[t] =
          (kugel_stencil_term){.field = field, .out = field, .factor = 1 + field, .coefficient = x->c};
      x->terms[t++].derivative[d] = 2;
    }
  x->terms[t] = (kugel_stencil_term){.factor = 0.3, .coefficient = x->c};
  x->terms[t++].derivative[ndim - 1] = 1;
  x->terms[t++] = (kugel_stencil_term){.field = 1, .out = 1, .factor = -0.2};
  x->o.nterms = t;
  x->o.mask = x->mask;
  set_boundary(&x->o, b);
}

static void varying(void)
{
  static const kugel_stencil_boundary ends[4] = {KUGEL_STENCIL_PERIODIC, KUGEL_STENCIL_ODD,
                                                 KUGEL_STENCIL_EVEN, KUGEL_STENCIL_ZERO};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int b = 0; b < 4; b++) {
      mixture x;
      mix(&x, ndim, ends[b]);
      const int64_t size = 2 * nodes_of(&x.o);
      double *start = random_reals(size, 8), *want = malloc((size_t)size * 8), *u = malloc((size_t)size * 8),
             *v = random_reals(size, 9), error[2] = {0};
      int64_t shape[4];
      kugel_array a;
      kugel_stencil *plan;
      CHECK_OK(kugel_stencil_create(NULL, &x.o, &plan));
      memcpy(want, start, (size_t)size * 8);
      CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_RUNGE_KUTTA, 0.005, 200,
                                     view_of(&a, shape, want, &x.o, 2), NULL));
      for (int half = 0; half < 2; half++) {
        memcpy(u, start, (size_t)size * 8);
        CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_ADI, half ? 0.05 : 0.1, half ? 20 : 10,
                                       view_of(&a, shape, u, &x.o, 2), NULL));
        for (int64_t i = 0; i < size; i++)
          error[half] = fmax(error[half], fabs(u[i] - want[i]));
      }
      CHECK_LE(error[1], 2e-4);
      CHECK_LE(1.9, log2(error[0] / error[1]));
      for (int method = KUGEL_STENCIL_RUNGE_KUTTA; method <= KUGEL_STENCIL_ADI;
           method++) { // <v, A u> = <A^T v, u>
        long double left = 0, right = 0, scale = 0;
        memcpy(u, start, (size_t)size * 8);
        CHECK_OK(kugel_stencil_advance(plan, (kugel_stencil_method)method, 0.3, 5,
                                       view_of(&a, shape, u, &x.o, 2), NULL));
        for (int64_t i = 0; i < size; i++) {
          left += (long double)u[i] * v[i];
          scale += fabsl((long double)u[i] * v[i]);
        }
        memcpy(u, v, (size_t)size * 8);
        CHECK_OK(kugel_stencil_advance_adjoint(plan, (kugel_stencil_method)method, 0.3, 5,
                                               view_of(&a, shape, u, &x.o, 2), NULL));
        for (int64_t i = 0; i < size; i++)
          right += (long double)u[i] * start[i];
        CHECK_LE((double)(fabsl(left - right) / scale), 2e-15);
      }
      kugel_stencil_destroy(plan);
      free(start), free(want), free(u), free(v), free(x.c), free(x.mask);
    }
}

/* Adjoints of compact steps and of leapfrog, in and out of slabs. */
static void adjoints_of_steps(void)
{
  for (int kind = 0; kind < 3; kind++)
    for (int b = 0; b < 4; b++) {
      if (kind < 2 && taken[b] == KUGEL_STENCIL_ONE_SIDED)
        continue;
      const int64_t n[2] = {kind == 2 ? 120 : 13, 15}, size = n[0] * n[1] * (kind == 2 ? 2 : 1);
      const kugel_stencil_term terms[3] = {{.derivative = {2, 0}, .factor = 1},
                                           {.derivative = {0, 2}, .factor = 0.5},
                                           {.derivative = {0, 0}, .factor = 0.1}};
      kugel_stencil_opts o = {.size = sizeof o,
                              .ndim = 2,
                              .n = n,
                              .order = kind ? 0 : 2,
                              .compact = kind == 1,
                              .nterms = 3,
                              .terms = terms};
      set_boundary(&o, taken[b]);
      kugel_stencil *plan;
      CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
      double *u = random_reals(size, 1), *v = random_reals(size, 2), *au = malloc((size_t)size * 8);
      const kugel_stencil_method method = kind == 2 ? KUGEL_STENCIL_LEAPFROG : KUGEL_STENCIL_ADI;
      kugel_array a = *(kind == 2 ? KUGEL_ARRAY(au, KUGEL_F64, 2, 1, n[0], n[1])
                                  : KUGEL_ARRAY(au, KUGEL_F64, 1, n[0], n[1]));
      for (int steps = 1; steps < 14; steps += 6) {
        long double left = 0, right = 0, scale = 0;
        memcpy(au, u, (size_t)size * 8);
        CHECK_OK(kugel_stencil_advance(plan, method, 0.2, steps, &a, NULL));
        for (int64_t i = 0; i < size; i++) {
          left += (long double)au[i] * v[i];
          scale += fabsl((long double)au[i] * v[i]);
        }
        memcpy(au, v, (size_t)size * 8);
        CHECK_OK(kugel_stencil_advance_adjoint(plan, method, 0.2, steps, &a, NULL));
        for (int64_t i = 0; i < size; i++)
          right += (long double)au[i] * u[i];
        CHECK_LE((double)(fabsl(left - right) / scale), 5e-15);
      }
      kugel_stencil_destroy(plan);
      free(u), free(v), free(au);
    }
}

/* Bits: steps of one call, numbers of threads. Floats follow doubles. */
static void bits(void)
{
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int b = 0; b < 2; b++) {
      mixture x;
      mix(&x, ndim, b ? KUGEL_STENCIL_EVEN : KUGEL_STENCIL_PERIODIC);
      const int64_t size = 2 * nodes_of(&x.o);
      double *start = random_reals(size, 8), *want = malloc((size_t)size * 8), *u = malloc((size_t)size * 8);
      float *f = malloc((size_t)size * 4), *c = malloc((size_t)size * 2), *mask = malloc((size_t)size * 2);
      int64_t shape[4];
      kugel_array a;
      kugel_stencil *plan;
      CHECK_OK(kugel_stencil_create(NULL, &x.o, &plan));
      memcpy(want, start, (size_t)size * 8);
      for (int i = 0; i < 5; i++)
        CHECK_OK(
            kugel_stencil_advance(plan, KUGEL_STENCIL_ADI, 0.7, 1, view_of(&a, shape, want, &x.o, 2), NULL));
      for (int threads = 1; threads < 8; threads += 3) {
        kugel_set_num_threads(threads);
        memcpy(u, start, (size_t)size * 8);
        CHECK_OK(
            kugel_stencil_advance(plan, KUGEL_STENCIL_ADI, 0.7, 5, view_of(&a, shape, u, &x.o, 2), NULL));
        CHECK(!memcmp(u, want, (size_t)size * 8));
      }
      kugel_set_num_threads(0);
      kugel_stencil_destroy(plan);
      for (int64_t i = 0; i < size; i++)
        f[i] = (float)start[i];
      for (int64_t i = 0; i < size / 2; i++) {
        c[i] = (float)x.c[i];
        mask[i] = (float)x.mask[i];
      }
      for (int t = 0; t < x.o.nterms; t++)
        x.terms[t].coefficient = x.terms[t].coefficient ? c : NULL;
      x.o.mask = mask;
      x.o.precision = KUGEL_PRECISION_F32;
      CHECK_OK(kugel_stencil_create(NULL, &x.o, &plan));
      CHECK_OK(kugel_stencil_advance(plan, KUGEL_STENCIL_ADI, 0.7, 5, view_of(&a, shape, f, &x.o, 2), NULL));
      for (int64_t i = 0; i < size; i++)
        CHECK_LE(fabs(f[i] - want[i]), 3e-6);
      kugel_stencil_destroy(plan);
      free(start), free(want), free(u), free(f), free(c), free(mask), free(x.c), free(x.mask);
    }
}

int main(void)
{
  CASE("coefficients, masks, several fields") varying();
  CASE("adjoints of steps") adjoints_of_steps();
  CASE("the same bits") bits();
  END();
}
