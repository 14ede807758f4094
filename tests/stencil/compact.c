/* SPDX-License-Identifier: BSD-3-Clause */
/* Compact differences against closed forms: orders, eigenvalues, boundaries, adjoints. */
#include <stdbool.h>
#include "stencil/problem.h"

static const kugel_stencil_boundary taken[4] = {KUGEL_STENCIL_PERIODIC, KUGEL_STENCIL_ODD, KUGEL_STENCIL_EVEN,
                                                KUGEL_STENCIL_ONE_SIDED};

/* The largest error of a derivative of e^{sin x} cos 2y with m nodes an axis. */
static double compact_error(int64_t m, int dx, int dy)
{
  const kugel_stencil_term term = {.derivative = {dx, dy}, .factor = 1};
  const int64_t n[2] = {m, m};
  const double step = 2 * M_PI / (double)m, h[2] = {step, step};
  kugel_stencil_opts o = {
      .size = sizeof o, .ndim = 2, .n = n, .h = h, .compact = 1, .nterms = 1, .terms = &term};
  double *in = malloc((size_t)(m * m) * 8), *out = malloc((size_t)(m * m) * 8), worst = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t i = 0; i < m * m; i++) {
      const double x = step * (double)(i / m), y = step * (double)(i % m), u = exp(sin(x));
      const double along = dx == 2 ? u * (cos(x) * cos(x) - sin(x)) : dx ? u * cos(x) : u;
      const double across = dy == 2 ? -4 * cos(2 * y) : dy ? -2 * sin(2 * y) : cos(2 * y);
      if (pass)
        worst = fmax(worst, fabs(out[i] - along * across));
      else
        in[i] = u * cos(2 * y);
    }
    if (!pass)
      apply_once(&o, false, in, out);
  }
  free(in), free(out);
  return worst;
}

static void compact_orders(void)
{
  static const int derivatives[5][2] = {{2, 0}, {0, 2}, {1, 0}, {0, 1}, {1, 1}};
  for (int d = 0; d < 5; d++) {
    const double coarse = compact_error(32, derivatives[d][0], derivatives[d][1]),
                 fine = compact_error(64, derivatives[d][0], derivatives[d][1]);
    CHECK_LE(3.7, log2(coarse / fine));
  }
}

/* Waves are eigenvectors: 6/5 (2 cos - 2) / (1 + cos / 5), and 3/2 sin / (1 + cos / 2). */
static void compact_symbols(void)
{
  enum { N = 40 };
  const int64_t n[2] = {3, N};
  double in[3 * N], out[3 * N];
  for (int axis = 0; axis < 2; axis++)
    for (int mode = 0; mode <= N / 2; mode += 4)
      for (int derivative = 1; derivative <= 2; derivative++) {
        kugel_stencil_term term = {.factor = 1};
        term.derivative[axis] = derivative;
        const int64_t turned[2] = {n[1], n[0]};
        kugel_stencil_opts o = {
            .size = sizeof o, .ndim = 2, .n = axis ? n : turned, .compact = 1, .nterms = 1, .terms = &term};
        const double k = 2 * M_PI * mode / N;
        for (int i = 0; i < 3 * N; i++)
          in[i] = cos(2 * M_PI * (mode * (axis ? i % N : i / 3) % N) / N);
        apply_once(&o, false, in, out);
        for (int i = 0; i < 3 * N; i++) {
          const double phase = 2 * M_PI * (mode * (axis ? i % N : i / 3) % N) / N;
          const double want = derivative == 2 ? 1.2 * (2 * cos(k) - 2) / (1 + cos(k) / 5) * cos(phase)
                                              : -1.5 * sin(k) / (1 + cos(k) / 2) * sin(phase);
          CHECK_LE(fabs(out[i] - want), 1e-14);
        }
        kugel_stencil *plan;
        kugel_stencil_info info = {.size = sizeof info};
        CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
        CHECK_OK(kugel_stencil_get_info(plan, &info));
        CHECK(info.compact == 1 && info.order == 4 && info.reach == 1);
        CHECK_LE(derivative == 2 ? fabs(info.bound - 6) : sqrt(3) - info.bound, 1e-14);
        kugel_stencil_destroy(plan);
      }
}

/* Mirrors: the periodic grid that continues the field. One-sided ends: exact on polynomials of degree order + derivative - 1. */
static void compact_boundaries(void)
{
  enum { N = 24 };
  double in[N], out[N], wide[2 * N], far[2 * N];
  const int64_t n = N, circle = 2 * (N - 1);
  double *random = random_reals(N, 5);
  for (int derivative = 1; derivative <= 2; derivative++) {
    const kugel_stencil_term term = {.derivative = {derivative}, .factor = 1};
    kugel_stencil_opts o = {.size = sizeof o, .ndim = 1, .n = &n, .compact = 1, .nterms = 1, .terms = &term};
    for (int odd = 0; odd < 2; odd++) {
      memcpy(in, random, sizeof in);
      if (odd)
        in[0] = in[N - 1] = 0;
      memcpy(wide, in, sizeof in);
      for (int i = 1; i < N - 1; i++)
        wide[2 * (N - 1) - i] = odd ? -in[i] : in[i];
      kugel_stencil_opts w = o;
      w.n = &circle;
      set_boundary(&w, KUGEL_STENCIL_PERIODIC);
      set_boundary(&o, odd ? KUGEL_STENCIL_ODD : KUGEL_STENCIL_EVEN);
      apply_once(&o, false, in, out);
      apply_once(&w, false, wide, far);
      for (int i = 0; i < N; i++)
        CHECK_LE(fabs(out[i] - far[i]), 1e-14);
    }
    set_boundary(&o, KUGEL_STENCIL_ONE_SIDED);
    for (int i = 0; i < N; i++)
      in[i] = pow(0.1 * i - 0.7, 3 + derivative);
    apply_once(&o, false, in, out);
    for (int i = 0; i < N; i++) {
      const double x = 0.1 * i - 0.7, want = derivative == 1 ? 0.4 * x * x * x : 0.2 * x * x * x;
      CHECK_LE(fabs(out[i] - want), 2e-14);
    }
  }
  free(random);
}

/* <v, L u> = <L^T v, u> with coefficients, mask, mixed derivatives, two fields; and the terms one by one. */
static void compact_adjoint(void)
{
  const int64_t n[3] = {7, 9, 21}, size = 7 * 9 * 21;
  double *c = random_reals(size, 1), *mask = random_reals(size, 2), *u = random_reals(2 * size, 3),
         *v = random_reals(size, 4), *lu = malloc((size_t)size * 8), *lv = malloc((size_t)size * 16),
         *part = malloc((size_t)size * 8);
  for (int64_t i = 0; i < size; i++)
    mask[i] = mask[i] > 0;
  const kugel_stencil_term terms[5] = {{.derivative = {2, 0, 0}, .factor = 3, .coefficient = c},
                                       {.field = 1, .derivative = {0, 1, 1}, .factor = -2},
                                       {.derivative = {0, 2, 0}, .factor = 1},
                                       {.field = 1, .derivative = {0, 0, 0}, .factor = 5, .coefficient = c},
                                       {.field = 1, .derivative = {1, 0, 0}, .factor = 1}};
  for (int b = 0; b < 4; b++) {
    kugel_stencil_opts o = {.size = sizeof o,
                            .ndim = 3,
                            .n = n,
                            .compact = 1,
                            .fields = 2,
                            .nterms = 5,
                            .terms = terms,
                            .mask = mask};
    set_boundary(&o, taken[b]);
    apply_once(&o, false, u, lu);
    apply_once(&o, true, v, lv);
    long double left = 0, right = 0, scale = 0;
    for (int64_t i = 0; i < size; i++) {
      left += (long double)v[i] * lu[i];
      scale += fabsl((long double)v[i] * lu[i]);
    }
    for (int64_t i = 0; i < 2 * size; i++)
      right += (long double)u[i] * lv[i];
    CHECK_LE((double)(fabsl(left - right) / scale), 1e-15);
    for (int t = 0; t < 5; t++) {
      kugel_stencil_opts one = o;
      one.nterms = 1;
      one.terms = &terms[t];
      apply_once(&one, false, u, part);
      for (int64_t i = 0; i < size; i++)
        lu[i] -= part[i];
    }
    for (int64_t i = 0; i < size; i++)
      CHECK_LE(fabs(lu[i]), 1e-13);
  }
  free(c), free(mask), free(u), free(v), free(lu), free(lv), free(part);
}

int main(void)
{
  CASE("derivatives are of order 4") compact_orders();
  CASE("eigenvalues of waves") compact_symbols();
  CASE("boundaries") compact_boundaries();
  CASE("terms and adjoints") compact_adjoint();
  END();
}
