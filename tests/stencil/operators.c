/* SPDX-License-Identifier: BSD-3-Clause */
/* Stencils against closed forms: weights, polynomials, orders of convergence, waves, boundaries, coefficients and masks. */
#include <stdbool.h>
#include "stencil/problem.h"

/* The rows of the published tables, by an impulse. */
static void weights(void)
{
  static const double second[4][5] = {{-2, 1},
                                      {-5.0 / 2, 4.0 / 3, -1.0 / 12},
                                      {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90},
                                      {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560}};
  static const double first[4][5] = {{0, 1.0 / 2},
                                     {0, 2.0 / 3, -1.0 / 12},
                                     {0, 3.0 / 4, -3.0 / 20, 1.0 / 60},
                                     {0, 4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}};
  static const double ends[6] = {15.0 / 4, -77.0 / 6, 107.0 / 6, -13, 61.0 / 12, -5.0 / 6};
  const int64_t n = 64;
  double in[64] = {0}, out[64];
  in[30] = 1;
  for (int order = 2; order <= 8; order += 2)
    for (int derivative = 1; derivative <= 2; derivative++) {
      const kugel_stencil_term term = {.derivative = {derivative}, .factor = 1};
      kugel_stencil_opts o = {
          .size = sizeof o, .ndim = 1, .n = &n, .order = order, .nterms = 1, .terms = &term};
      apply_once(&o, false, in, out);
      for (int k = -20; k <= 20; k++) { // row 30 - k has the weight of + k
        const int away = abs(k);
        double want = away > 4          ? 0
                      : derivative == 2 ? second[order / 2 - 1][away]
                                        : first[order / 2 - 1][away];
        want = derivative == 1 && k < 0 ? -want : want;
        CHECK_LE(fabs(out[30 - k] - want), 4e-16);
      }
    }
  const kugel_stencil_term term = {.derivative = {2}, .factor = 1};
  kugel_stencil_opts o = {.size = sizeof o, .ndim = 1, .n = &n, .order = 4, .nterms = 1, .terms = &term};
  set_boundary(&o, KUGEL_STENCIL_ONE_SIDED);
  for (int k = 0; k < 6; k++) {
    memset(in, 0, sizeof in);
    in[k] = 1;
    apply_once(&o, false, in, out);
    CHECK_LE(fabs(out[0] - ends[k]), 4e-15);
  }
}

/* Polynomials of all degrees for which differences are exact, with one-sided ends, along each axis. */
static void polynomials(void)
{
  static const int64_t sizes[3][3] = {{40}, {23, 31}, {12, 17, 21}};
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int axis = 0; axis < ndim; axis++)
      for (int order = 2; order <= 8; order += 2)
        for (int derivative = 1; derivative <= 2; derivative++) {
          kugel_stencil_term term = {.factor = 1};
          term.derivative[axis] = derivative;
          const double h[3] = {0.1, 0.05, 0.07};
          kugel_stencil_opts o = {.size = sizeof o,
                                  .ndim = ndim,
                                  .n = sizes[ndim - 1],
                                  .h = h,
                                  .order = order,
                                  .nterms = 1,
                                  .terms = &term};
          set_boundary(&o, KUGEL_STENCIL_ONE_SIDED);
          const int64_t n = nodes_of(&o);
          double *in = malloc((size_t)n * 8), *out = malloc((size_t)n * 8), *want = malloc((size_t)n * 8);
          for (int degree = 0; degree <= order + derivative - 1; degree++) {
            for (int64_t i = 0; i < n; i++) {
              int64_t at = i;
              for (int d = ndim - 1; d > axis; d--)
                at /= o.n[d];
              const double x = (double)(at % o.n[axis]) * h[axis] * 0.5, x0 = 0.3;
              in[i] = pow(x - x0, degree);
              want[i] = degree < derivative ? 0
                        : derivative == 1   ? 0.5 * degree * pow(x - x0, degree - 1)
                                            : 0.25 * degree * (degree - 1) * pow(x - x0, degree - 2);
            }
            apply_once(&o, false, in, out);
            for (int64_t i = 0; degree < derivative && i < n; i++) // zero, by sums of weights of up to 1e4
              CHECK_LE(fabs(out[i]), 3e-11);
            if (degree >= derivative)
              CHECK_CLOSE(out, want, (size_t)n, 3e-10);
          }
          free(in), free(out), free(want);
        }
}

/* u = e^{sin x} cos 2y sin 3z and its Laplacian, periodic. */
static double error_of(int order, int64_t m)
{
  const kugel_stencil_term terms[3] = {{.derivative = {2, 0, 0}, .factor = 1},
                                       {.derivative = {0, 2, 0}, .factor = 1},
                                       {.derivative = {0, 0, 2}, .factor = 1}};
  const int64_t n[3] = {m, m, m};
  const double step = 2 * M_PI / (double)m, h[3] = {step, step, step};
  kugel_stencil_opts o = {
      .size = sizeof o, .ndim = 3, .n = n, .h = h, .order = order, .nterms = 3, .terms = terms};
  double *in = malloc((size_t)(m * m * m) * 8), *out = malloc((size_t)(m * m * m) * 8), worst = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t i = 0; i < m * m * m; i++) {
      const double x = step * (double)(i / m / m), y = step * (double)(i / m % m), z = step * (double)(i % m);
      const double u = exp(sin(x)) * cos(2 * y) * sin(3 * z);
      if (pass)
        worst = fmax(worst, fabs(out[i] - u * (cos(x) * cos(x) - sin(x) - 13)));
      else
        in[i] = u;
    }
    if (!pass)
      apply_once(&o, false, in, out);
  }
  free(in), free(out);
  return worst;
}

static void orders(void)
{
  for (int order = 2; order <= 8; order += 2)
    CHECK_LE(order - 0.3, log2(error_of(order, 32) / error_of(order, 64)));
}

/* Waves are eigenvectors; eigenvalues are the symbol. */
static void symbols(void)
{
  static const double c[4][5] = {{-2, 1},
                                 {-5.0 / 2, 4.0 / 3, -1.0 / 12},
                                 {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90},
                                 {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560}};
  const int64_t n[2] = {48, 60};
  const kugel_stencil_term terms[2] = {{.derivative = {2}, .factor = 1}, {.derivative = {0, 2}, .factor = 1}};
  double in[2880], out[2880], want[2880];
  for (int order = 2; order <= 8; order += 2)
    for (int mode = 0; mode < 24; mode += 5) {
      const double k[2] = {2 * M_PI * mode / 48, 2 * M_PI * (mode + 3) / 60};
      double symbol = 0;
      for (int d = 0; d < 2; d++)
        for (int j = 0; j <= order / 2; j++)
          symbol += c[order / 2 - 1][j] * (j ? 2 * cos(k[d] * j) : 1);
      for (int i = 0; i < 2880; i++) {
        in[i] = cos(2 * M_PI / 2880 * ((mode * (i / 60) * 60 + (mode + 3) * (i % 60) * 48) % 2880));
        want[i] = symbol * in[i];
      }
      kugel_stencil_opts o = {
          .size = sizeof o, .ndim = 2, .n = n, .order = order, .nterms = 2, .terms = terms};
      apply_once(&o, false, in, out);
      for (int i = 0; i < 2880; i++)
        CHECK_LE(fabs(out[i] - want[i]), 3e-14);
      kugel_stencil *plan; // the bound is the symbol of the fastest wave
      kugel_stencil_info info = {.size = sizeof info};
      CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
      CHECK_OK(kugel_stencil_get_info(plan, &info));
      static const double fastest[4] = {4, 16.0 / 3, 272.0 / 45, 2048.0 / 315};
      CHECK_LE(fabs(info.bound - 2 * fastest[order / 2 - 1]), 1e-14);
      CHECK(info.reach == order / 2 && info.n[1] == 60 && info.bytes == 0);
      kugel_stencil_destroy(plan);
    }
}

/* Each boundary as the periodic or longer grid that continues the field beyond the end. */
static void boundaries(void)
{
  enum { N = 24 };
  double in[N], out[N], wide[2 * N + N], far[3 * N];
  const int64_t n = N, longer = 3 * N, circle[2] = {2 * (N - 1), 2 * (N - 1)};
  double *random = random_reals(N, 5);
  for (int order = 2; order <= 8; order += 2)
    for (int derivative = 1; derivative <= 2; derivative++)
      for (int b = 1; b < 4; b++) {
        const kugel_stencil_term term = {.derivative = {derivative}, .factor = 1};
        kugel_stencil_opts o = {
            .size = sizeof o, .ndim = 1, .n = &n, .order = order, .nterms = 1, .terms = &term};
        memcpy(in, random, sizeof in);
        if (b == KUGEL_STENCIL_ODD)
          in[0] = in[N - 1] = 0;
        memset(wide, 0, sizeof wide);
        kugel_stencil_opts w = o;
        w.n = b == KUGEL_STENCIL_ZERO ? &longer : circle;
        const int from = b == KUGEL_STENCIL_ZERO ? N : 0;
        memcpy(wide + from, in, sizeof in);
        for (int i = 1; from == 0 && i < N - 1; i++)
          wide[2 * (N - 1) - i] = b == KUGEL_STENCIL_ODD ? -in[i] : in[i];
        set_boundary(&o, every_boundary[b]);
        apply_once(&o, false, in, out);
        apply_once(&w, false, wide, far);
        for (int i = 0; i < N; i++)
          CHECK_LE(fabs(out[i] - far[from + i]), 1e-14);
      }
  free(random);
}

/* factor coefficient D field, summed and masked, against separate applications; mixed derivatives as products. */
static void terms_and_masks(void)
{
  const int64_t n[3] = {11, 12, 37}, size = 11 * 12 * 37;
  const double h[3] = {0.5, 2, 1.5};
  double *c = random_reals(size, 1), *mask = random_reals(size, 2), *in = random_reals(2 * size, 3);
  double *out = malloc((size_t)size * 16), *part = malloc((size_t)size * 8), *want = calloc((size_t)size, 16);
  for (int64_t i = 0; i < size; i++)
    mask[i] = mask[i] > 0;
  const kugel_stencil_term terms[8] = {
      {.field = 0, .out = 1, .derivative = {2, 0, 0}, .factor = 3, .coefficient = c},
      {.field = 1, .out = 0, .derivative = {0, 1, 1}, .factor = -2},
      {.field = 1, .out = 1, .derivative = {1, 0, 1}, .factor = 0.5, .coefficient = c},
      {.field = 0, .out = 0, .derivative = {0, 0, 2}, .factor = 1, .coefficient = mask},
      {.field = 0, .out = 1, .derivative = {0, 0, 0}, .factor = 7},
      {.field = 1, .out = 1, .derivative = {1, 1, 0}, .factor = 1},
      {.field = 0, .out = 1, .derivative = {1, 1, 0}, .factor = -1}, // more than 96 shifted rows
      {.field = 0, .out = 1, .derivative = {0, 1, 1}, .factor = 2}};
  for (int b = 0; b < 5; b++) {
    kugel_stencil_opts o = {.size = sizeof o,
                            .ndim = 3,
                            .n = n,
                            .h = h,
                            .order = 8,
                            .fields = 2,
                            .outs = 2,
                            .nterms = 8,
                            .terms = terms,
                            .mask = mask};
    set_boundary(&o, every_boundary[b]);
    apply_once(&o, false, in, out);
    memset(want, 0, (size_t)size * 16);
    for (int t = 0; t < 8; t++) { // one axis after the other
      memcpy(part, in + terms[t].field * size, (size_t)size * 8);
      for (int d = 0; d < 3; d++) {
        kugel_stencil_term one = {.factor = 1};
        one.derivative[d] = terms[t].derivative[d];
        kugel_stencil_opts along = o;
        along.fields = along.outs = along.nterms = 1;
        along.terms = &one;
        along.mask = NULL;
        double *next = malloc((size_t)size * 8);
        apply_once(&along, false, part, next);
        free(part);
        part = next;
      }
      const double *coefficient = terms[t].coefficient;
      for (int64_t i = 0; i < size; i++)
        want[terms[t].out * size + i] +=
            terms[t].factor * part[i] * (coefficient ? coefficient[i] : 1) * mask[i];
    }
    CHECK_CLOSE(out, want, (size_t)(2 * size), 2e-15);
    double *back = malloc((size_t)size * 16), *other = random_reals(2 * size, 4);
    apply_once(&o, true, other, back);
    long double left = 0, right = 0, scale = 0;
    for (int64_t i = 0; i < 2 * size; i++) {
      left += (long double)out[i] * other[i];
      right += (long double)in[i] * back[i];
      scale += fabsl((long double)out[i] * other[i]);
    }
    CHECK_LE((double)(fabsl(left - right) / scale), 1e-15);
    free(back), free(other);
  }
  free(c), free(mask), free(in), free(out), free(part), free(want);
}

/* First derivatives of waves: sin kx becomes the symbol 2 (g_1 sin k + g_2 sin 2k + ...) times cos kx. */
static void first_symbols(void)
{
  static const double g[4][4] = {{1.0 / 2},
                                 {2.0 / 3, -1.0 / 12},
                                 {3.0 / 4, -3.0 / 20, 1.0 / 60},
                                 {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}};
  const int64_t n[2] = {3 * 9, 48};
  const kugel_stencil_term term = {.derivative = {0, 1}, .factor = 1};
  double in[27 * 48], out[27 * 48];
  for (int order = 2; order <= 8; order += 2)
    for (int mode = 0; mode <= 24; mode += 3) {
      double symbol = 0;
      for (int j = 1; j <= order / 2; j++)
        symbol += 2 * g[order / 2 - 1][j - 1] * sin(2 * M_PI / 48 * (mode * j % 48));
      for (int i = 0; i < 27 * 48; i++)
        in[i] = sin(2 * M_PI / 48 * (mode * (i % 48) % 48));
      kugel_stencil_opts o = {
          .size = sizeof o, .ndim = 2, .n = n, .order = order, .nterms = 1, .terms = &term};
      apply_once(&o, false, in, out);
      for (int i = 0; i < 27 * 48; i++)
        CHECK_LE(fabs(out[i] - symbol * cos(2 * M_PI / 48 * (mode * (i % 48) % 48))), 3e-15);
    }
}

/* A spiral of spins m = (cos qx, sin qx, 0) is parallel to its exchange field, -A(qh) / h^2 m. */
static void spiral(int order)
{
  static const double c[4][5] = {{-2, 1},
                                 {-5.0 / 2, 4.0 / 3, -1.0 / 12},
                                 {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90},
                                 {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560}};
  const int64_t n[1] = {40};
  const double h = 0.25, q = 2 * M_PI * 3 / (40 * h);
  double symbol = 0;
  for (int j = 0; j <= order / 2; j++)
    symbol += c[order / 2 - 1][j] * (j ? 2 * cos(q * h * j) : 1) / (h * h);
  kugel_stencil_term terms[3];
  double in[120] = {0}, out[120], want[120];
  for (int f = 0; f < 3; f++)
    terms[f] = (kugel_stencil_term){.field = f, .out = f, .derivative = {2}, .factor = 1};
  for (int i = 0; i < 40; i++) {
    in[i] = cos(q * h * i);
    in[40 + i] = sin(q * h * i);
  }
  for (int i = 0; i < 120; i++)
    want[i] = symbol * in[i];
  kugel_stencil_opts o = {.size = sizeof o,
                          .ndim = 1,
                          .n = n,
                          .h = &h,
                          .order = order,
                          .fields = 3,
                          .outs = 3,
                          .nterms = 3,
                          .terms = terms};
  apply_once(&o, false, in, out);
  CHECK_CLOSE(out, want, 120, 4e-14); // rounding of phases, over (qh)^2
}

/* Grids as short as the difference, blocks that end within one, floats; an out without terms is zero. */
static void sizes(void)
{
  for (int64_t m = 9; m < 80; m += 7)
    for (int b = 0; b < 5; b++) {
      const int64_t n[2] = {m + (b == 4), m + (b == 4)}, size = n[0] * n[1];
      const kugel_stencil_term terms[2] = {{.derivative = {2}, .factor = 1},
                                           {.derivative = {0, 2}, .factor = 1}};
      kugel_stencil_opts o = {
          .size = sizeof o, .ndim = 2, .n = n, .order = 8, .outs = 2, .nterms = 2, .terms = terms};
      set_boundary(&o, every_boundary[b]);
      double *in = random_reals(size, 3), *out = malloc((size_t)size * 16),
             *turned = malloc((size_t)size * 16);
      float *in32 = malloc((size_t)size * 4), *out32 = malloc((size_t)size * 8);
      apply_once(&o, false, in, out);
      double *columns = malloc((size_t)size * 8);
      for (int64_t i = 0; i < size; i++) {
        in32[i] = (float)in[i];
        columns[i % n[0] * n[0] + i / n[0]] = in[i];
      }
      apply_once(&o, false, columns, turned); // the Laplacian commutes with transposition
      for (int64_t i = 0; i < size; i++)
        CHECK_LE(fabs(out[i] - turned[i % n[0] * n[0] + i / n[0]]), 2e-13);
      for (int64_t i = 0; i < size; i++)
        CHECK(out[size + i] == 0);
      o.precision = KUGEL_PRECISION_F32;
      apply_once(&o, false, in32, out32);
      for (int64_t i = 0; i < size; i++)
        CHECK_LE(fabs(out32[i] - out[i]), 1e-4);
      free(in), free(out), free(turned), free(in32), free(out32), free(columns);
    }
}

/* Rows of several blocks, against the same numbers as columns. */
static void long_rows(void)
{
  const int64_t n = 4101, tall[2] = {4101, 3}; // the last block holds nodes next to the end alone
  const kugel_stencil_term term = {.derivative = {2}, .factor = 1};
  double *in = random_reals(n, 9), *out = malloc((size_t)n * 8), *columns = malloc((size_t)n * 24),
         *across = malloc((size_t)n * 24);
  for (int64_t i = 0; i < 3 * n; i++)
    columns[i] = in[i / 3];
  for (int b = 0; b < 5; b++)
    for (int adjoint = 0; adjoint < 2; adjoint++) {
      kugel_stencil_opts o = {.size = sizeof o, .ndim = 1, .n = &n, .order = 8, .nterms = 1, .terms = &term},
                         w = o;
      set_boundary(&o, every_boundary[b]);
      apply_once(&o, adjoint, in, out);
      w.ndim = 2;
      w.n = tall;
      w.boundary[0][0] = w.boundary[0][1] = every_boundary[b];
      apply_once(&w, adjoint, columns, across);
      for (int64_t i = 0; i < 3 * n; i++)
        CHECK_LE(fabs(across[i] - out[i / 3]), 2e-13);
    }
  free(in), free(out), free(columns), free(across);
}

int main(void)
{
  CASE("weights of the tables") weights();
  CASE("exact on polynomials, one-sided ends included") polynomials();
  CASE("orders of convergence") orders();
  CASE("waves and their symbols") symbols();
  CASE("boundaries as continued fields") boundaries();
  CASE("terms, coefficients, masks") terms_and_masks();
  CASE("first derivatives of waves") first_symbols();
  CASE("exchange field of a spiral")
  for (int order = 2; order <= 8; order += 2)
    spiral(order);
  CASE("short grids, floats") sizes();
  CASE("long rows") long_rows();
  END();
}
