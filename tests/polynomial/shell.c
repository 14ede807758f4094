/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of shells: closed forms of r^k and of cosines, round trips, adjoints, layouts, bad input, faults. */
#include "check.h"
#include <kugel/shell.h>
#include "core/alloc.h"

static kugel_shell *make(kugel_shell_opts o)
{
  kugel_shell *plan;
  o.size = sizeof o;
  CHECK_OK(kugel_shell_create(NULL, &o, &plan));
  return plan;
}

/* T_n at the radii, and of r^3 all operators. */
static void closed_forms(void)
{
  enum { SIZE = 20, NR = 27 };
  kugel_shell *plan = make(
      (kugel_shell_opts){.norm = KUGEL_WORLAND_NATURAL, .n = SIZE, .nr = NR, .inner = 0.35, .outer = 1.75});
  kugel_array *values;
  double r[NR], f[NR], want[NR], c[SIZE] = {0};
  CHECK_OK(kugel_shell_grid(plan, r));
  values = KUGEL_ARRAY(f, KUGEL_F64, NR);
  for (int n = 0; n < SIZE; n++) {
    memset(c, 0, sizeof c);
    c[n] = 1;
    CHECK_OK(kugel_shell_synthesis(plan, KUGEL_SHELL_P, KUGEL_ARRAY(c, KUGEL_F64, SIZE), values, NULL));
    for (int k = 0; k < NR; k++)
      want[k] = cos(n * M_PI * (2 * k + 1) / (2 * NR));
    CHECK_CLOSE(f, want, NR, 2e-15 * (1 + n));
  }
  for (int k = 0; k < NR; k++) {
    CHECK_LE(fabs(r[k] - 1.05 - 0.7 * cos(M_PI * (2 * k + 1) / (2 * NR))), 4e-16);
    f[k] = r[k] * r[k] * r[k];
  }
  CHECK_OK(kugel_shell_analysis(plan, values, KUGEL_ARRAY(c, KUGEL_F64, SIZE), NULL));
  for (int op = 0; op <= KUGEL_SHELL_DIV_R1_D1; op++) {
    static const double factor[] = {1, 3, 6, 1, 1, 1, 3};
    static const int power[] = {3, 2, 1, 4, 2, 1, 1};
    CHECK_OK(kugel_shell_synthesis(plan, op, KUGEL_ARRAY(c, KUGEL_F64, SIZE), values, NULL));
    for (int k = 0; k < NR; k++)
      want[k] = factor[op] * pow(r[k], power[op]);
    CHECK_CLOSE(f, want, NR, op == KUGEL_SHELL_D2 ? 2e-11 : op == 1 || op == 6 ? 2e-13 : 1e-14);
  }
  kugel_shell_destroy(plan);
}

static double dot(const double *a, const double *b, int n)
{
  long double sum = 0;
  for (int i = 0; i < n; i++)
    sum += (long double)a[i] * b[i];
  return (double)sum;
}

static void round_trips(void)
{
  static const int sizes[] = {1, 2, 3, 64, 1000}, extra[] = {0, 1, 0, 32, 24};
  enum { MOST = 1024, B = 5 };
  double *c = malloc(sizeof(double) * B * MOST), *d = malloc(sizeof(double) * B * MOST),
         *f = malloc(sizeof(double) * B * MOST), *g = malloc(sizeof(double) * B * MOST);
  uint64_t seed = 3;
  for (int i = 0; i < 5; i++)
    for (int norm = 0; norm < 2; norm++) {
      int n = sizes[i], nr = n + extra[i];
      kugel_shell *plan = make((kugel_shell_opts){.norm = norm, .n = n, .nr = nr, .inner = 1e-3, .outer = 2});
      for (int k = 0; k < B * nr; k++)
        g[k] = check_random(&seed);
      for (int k = 0; k < B * n; k++)
        c[k] = check_random(&seed);
      kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_F64, B, n), *back = KUGEL_ARRAY(d, KUGEL_F64, B, n);
      kugel_array *values = KUGEL_ARRAY(f, KUGEL_F64, B, nr), *other = KUGEL_ARRAY(g, KUGEL_F64, B, nr);
      CHECK_OK(kugel_shell_synthesis(plan, KUGEL_SHELL_P, coeffs, values, NULL));
      CHECK_OK(kugel_shell_analysis(plan, values, back, NULL));
      CHECK_CLOSE(d, c, (size_t)(B * n), 3e-15);
      for (int op = 0; op <= KUGEL_SHELL_DIV_R1_D1; op++) {
        CHECK_OK(kugel_shell_synthesis(plan, op, coeffs, values, NULL));
        CHECK_OK(kugel_shell_synthesis_adjoint(plan, op, other, back, NULL));
        double scale =
            sqrt(dot(f, f, B * nr) * dot(g, g, B * nr)) + sqrt(dot(c, c, B * n) * dot(d, d, B * n));
        CHECK_LE(fabs(dot(f, g, B * nr) - dot(c, d, B * n)), 1e-14 * scale);
      }
      CHECK_OK(kugel_shell_analysis(plan, other, back, NULL));
      CHECK_OK(kugel_shell_analysis_adjoint(plan, coeffs, values, NULL));
      CHECK_LE(fabs(dot(f, g, B * nr) - dot(c, d, B * n)), 1e-14 * sqrt(dot(c, c, B * n) * dot(d, d, B * n)));
      kugel_shell_destroy(plan);
    }
  free(c);
  free(d);
  free(f);
  free(g);
}

static void layouts(void)
{
  enum { SIZE = 12, B = 3 };
  double c[B * SIZE], f[B * SIZE], z[2 * B * SIZE], zf[2 * B * SIZE];
  float cf[B * SIZE], ff[B * SIZE];
  uint64_t seed = 4;
  for (int i = 0; i < B * SIZE; i++)
    cf[i] = (float)(c[i] = (double)(float)check_random(&seed));
  kugel_shell_opts o = {.n = SIZE, .inner = 1, .outer = 2};
  kugel_shell *plan = make(o);
  CHECK_OK(kugel_shell_synthesis(plan, KUGEL_SHELL_D1, KUGEL_ARRAY(c, KUGEL_F64, B, SIZE),
                                 KUGEL_ARRAY(f, KUGEL_F64, B, SIZE), NULL));
  kugel_shell_destroy(plan);
  o.complex_data = 1;
  plan = make(o);
  for (int b = 0; b < B; b++) /* complex, systems side by side */
    for (int i = 0; i < SIZE; i++) {
      z[2 * (i * B + b)] = c[b * SIZE + i];
      z[2 * (i * B + b) + 1] = -c[b * SIZE + i];
    }
  int64_t shape[] = {B, SIZE}, stride[] = {1, B};
  kugel_array in = {.data = z,
                    .device = {KUGEL_CPU, 0},
                    .dtype = KUGEL_C128,
                    .ndim = 2,
                    .shape = shape,
                    .strides = stride},
              out = in;
  out.data = zf;
  CHECK_OK(kugel_shell_synthesis(plan, KUGEL_SHELL_D1, &in, &out, NULL));
  for (int b = 0; b < B; b++)
    for (int i = 0; i < SIZE; i++)
      CHECK(zf[2 * (i * B + b)] == f[b * SIZE + i] && zf[2 * (i * B + b) + 1] == -f[b * SIZE + i]);
  kugel_shell_destroy(plan);
  o.complex_data = 0;
  o.precision = KUGEL_PRECISION_F32;
  plan = make(o);
  CHECK_OK(kugel_shell_synthesis(plan, KUGEL_SHELL_D1, KUGEL_ARRAY(cf, KUGEL_F32, B, SIZE),
                                 KUGEL_ARRAY(ff, KUGEL_F32, B, SIZE), NULL));
  for (int i = 0; i < B * SIZE; i++)
    c[i] = (double)ff[i];
  CHECK_CLOSE(c, f, B * SIZE, 3e-6);
  kugel_shell_destroy(plan);
}

static void refusals(void)
{
  kugel_shell_opts good = {.size = sizeof good, .n = 8, .inner = 1, .outer = 2}, o;
  kugel_shell *plan;
  double c[8] = {0}, f[8];
#define TRY(change, word)                                                                                    \
  o = good;                                                                                                  \
  change;                                                                                                    \
  CHECK_IS(kugel_shell_create(NULL, &o, &plan), KUGEL_EINVAL);                                               \
  CHECK(!plan && strstr(kugel_last_error(), word))
  TRY(o.n = 0, "n is 0");
  TRY(o.nr = 7, "nr is 7");
  TRY(o.inner = 0, "inner is 0");
  TRY(o.inner = NAN, "inner is");
  TRY(o.outer = 1, "outer is 1");
  TRY(o.outer = INFINITY, "outer is inf");
  TRY(o.norm = 2, "norm is 2");
  TRY(o.precision = KUGEL_PRECISION_DD, "precision is 2");
  CHECK_IS(kugel_shell_create(NULL, NULL, &plan), KUGEL_EINVAL);
  CHECK_IS(kugel_shell_create(NULL, &good, NULL), KUGEL_EINVAL);
  plan = make(good);
  kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_F64, 8), *values = KUGEL_ARRAY(f, KUGEL_F64, 8);
  CHECK_IS(kugel_shell_synthesis(plan, (kugel_shell_operator)7, coeffs, values, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_shell_synthesis(plan, 0, KUGEL_ARRAY(c, KUGEL_F64, 7), values, NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_shell_synthesis(plan, 0, coeffs, coeffs, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_shell_analysis(plan, NULL, coeffs, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_shell_analysis(NULL, values, coeffs, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_shell_grid(plan, NULL), KUGEL_EINVAL);
  kugel_shell_destroy(plan);
  kugel_shell_destroy(NULL);
}

static kugel_status all(const kugel_shell_opts *o)
{
  static double c[8], f[8];
  kugel_shell *plan;
  kugel_status s = kugel_shell_create(NULL, o, &plan);
  if (s)
    return s;
  kugel_array *coeffs = KUGEL_ARRAY(c, KUGEL_F64, 8), *values = KUGEL_ARRAY(f, KUGEL_F64, 8);
  s = kugel_shell_grid(plan, f);
  if (!s)
    s = kugel_shell_synthesis(plan, KUGEL_SHELL_D2, coeffs, values, NULL);
  if (!s)
    s = kugel_shell_synthesis_adjoint(plan, KUGEL_SHELL_D2, values, coeffs, NULL);
  if (!s)
    s = kugel_shell_analysis(plan, values, coeffs, NULL);
  if (!s)
    s = kugel_shell_analysis_adjoint(plan, coeffs, values, NULL);
  kugel_shell_destroy(plan);
  return s;
}

static void sweep(void)
{
  kugel_shell_opts o = {.size = sizeof o, .n = 8, .inner = 1, .outer = 2};
  kugel_status s = KUGEL_ENOMEM;
  int k = 1;
  for (; k < 500 && s; k++) {
    kugel__fault_alloc(k);
    s = all(&o);
    kugel__fault_alloc(0);
    CHECK(!s || s == KUGEL_ENOMEM);
  }
  CHECK(!s && k > 10);
}

int main(void)
{
  CASE("closed forms")
  {
    closed_forms();
  }
  CASE("round trips and adjoints")
  {
    round_trips();
  }
  CASE("strides, complex numbers, floats")
  {
    layouts();
  }
  CASE("bad input")
  {
    refusals();
  }
  CASE("each allocation fails once")
  {
    sweep();
  }
  END();
}
