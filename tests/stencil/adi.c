/* SPDX-License-Identifier: BSD-3-Clause */
/* Alternating directions against closed forms: orders in space and time, waves, rules. */
#include <stdbool.h>
#include "core/alloc.h"
#include "stencil/problem.h"

static kugel_stencil *heat_plan(int ndim, int64_t m, double h, int compact, kugel_stencil_boundary b)
{
  const kugel_stencil_term terms[3] = {{.derivative = {2, 0, 0}, .factor = 1},
                                       {.derivative = {0, 2, 0}, .factor = 1},
                                       {.derivative = {0, 0, 2}, .factor = 1}};
  const int64_t n[3] = {m, m, m};
  const double steps[3] = {h, h, h};
  kugel_stencil_opts o = {
      .size = sizeof o, .ndim = ndim, .n = n, .h = steps, .compact = compact, .nterms = ndim, .terms = terms};
  kugel_stencil *plan = NULL;
  set_boundary(&o, b);
  CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
  return plan;
}

static int64_t power(int64_t n, int p)
{
  return p == 1 ? n : n * power(n, p - 1);
}

static void advance(const kugel_stencil *plan, bool adjoint, int ndim, int64_t m, double dt, int64_t steps,
                    double *u)
{
  int64_t shape[4] = {1, m, m, m};
  const kugel_array a = {
      .data = u, .device = {KUGEL_CPU, 0}, .ndim = 1 + ndim, .dtype = KUGEL_F64, .shape = shape};
  CHECK_OK((adjoint ? kugel_stencil_advance_adjoint : kugel_stencil_advance)(plan, KUGEL_STENCIL_ADI, dt,
                                                                             steps, &a, NULL));
}

/* Walls at 0 and pi: sum of two modes per axis at time t, as the heat equation has it. */
static double heat(int ndim, int64_t m, int64_t i, double t)
{
  double u = 1;
  for (int d = 0; d < ndim; d++, i /= m) {
    const double x = M_PI * (double)(i % m) / (double)(m - 1);
    u *= sin(x) * exp(-t) + 0.5 * sin(3 * x) * exp(-9 * t);
  }
  return u;
}

static double heat_error(int ndim, int64_t cells, int compact, double dt, double t)
{
  const int64_t m = cells + 1, size = power(m, ndim);
  kugel_stencil *plan = heat_plan(ndim, m, M_PI / (double)cells, compact, KUGEL_STENCIL_ODD);
  double *u = malloc((size_t)size * 8), worst = 0;
  for (int64_t i = 0; i < size; i++)
    u[i] = heat(ndim, m, i, 0);
  advance(plan, false, ndim, m, dt, llround(t / dt), u);
  for (int64_t i = 0; i < size; i++)
    worst = fmax(worst, fabs(u[i] - heat(ndim, m, i, t)));
  free(u);
  kugel_stencil_destroy(plan);
  return worst;
}

/* Peaceman-Rachford and its kin are of order 2, Mitchell-Fairweather and its kin of order 4 with dt ~ h^2. */
static void heat_orders(void)
{
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int compact = 0; compact < 2; compact++) {
      const int last = ndim == 3 ? 32 : 64;
      const double coarse = heat_error(ndim, last / 2, compact, 0.25 / (last / 2 * last / 2), 0.25);
      const double fine = heat_error(ndim, last, compact, 0.25 / (last * last), 0.25);
      CHECK_LE(compact ? 3.95 : 1.95, log2(coarse / fine));
      CHECK_LE(log2(coarse / fine), compact ? 4.1 : 2.1);
    }
}

/* A wave is multiplied by the product of (1 + k s) / (1 - k s) of its eigenvalues s along the axes, for steps of any length. */
static void growth_of_waves(void)
{
  enum { M = 12 };
  const double h = 0.5;
  for (int ndim = 1; ndim <= 3; ndim++)
    for (int compact = 0; compact < 2; compact++)
      for (int mode = 0; mode <= M / 2; mode += 2)
        for (double dt = 0.01; dt < 1e5; dt *= 100) {
          const int64_t size = power(M, ndim);
          kugel_stencil *plan = heat_plan(ndim, M, h, compact, KUGEL_STENCIL_PERIODIC);
          double u[M * M * M], want[M * M * M], factor = 1;
          for (int d = 0; d < ndim; d++) {
            const double q = 2 * M_PI * (mode + d) / M,
                         s = (2 * cos(q) - 2) / (h * h) / (compact ? 1 + (2 * cos(q) - 2) / 12 : 1);
            factor *= (1 + dt / 2 * s) / (1 - dt / 2 * s);
          }
          for (int64_t i = 0; i < size; i++) {
            u[i] = 1;
            for (int64_t d = ndim - 1, at = i; d >= 0; d--, at /= M)
              u[i] *= cos(2 * M_PI * (double)((mode + d) * (at % M) % M) / M);
            want[i] = factor * factor * factor * u[i];
          }
          advance(plan, false, ndim, M, dt, 3, u);
          for (int64_t i = 0; i < size; i++)
            CHECK_LE(fabs(u[i] - want[i]), 3 * 2.3e-16 * (1 + dt / 2 * 24) + 1e-14);
          kugel_stencil_destroy(plan);
        }
}

static void refused(void)
{
  double u[400] = {0}, ones[400];
  const int64_t n[2] = {20, 20};
  for (int i = 0; i < 400; i++)
    ones[i] = 1;
  for (int kind = 0; kind < 7; kind++) {
    kugel_stencil_term terms[2] = {{.derivative = {2, 0}, .factor = 1}, {.derivative = {0, 2}, .factor = 1}};
    kugel_stencil_opts o = {.size = sizeof o, .ndim = 2, .n = n, .nterms = 2, .terms = terms};
    const char *words[7] = {"order is 4",  "mixed derivative", "one-sided", "field 0 to out 1",
                            "coefficient", "first derivative", "outs"};
    if (kind == 0)
      o.order = 4;
    else if (kind == 1)
      terms[0].derivative[0] = terms[0].derivative[1] = 1;
    else if (kind == 2)
      set_boundary(&o, KUGEL_STENCIL_ONE_SIDED);
    else if (kind == 3) {
      o.fields = o.outs = 2;
      terms[0].out = 1;
    } else if (kind == 4) {
      o.compact = 1;
      terms[0].coefficient = ones;
    } else if (kind == 5) {
      o.compact = 1;
      terms[1].derivative[1] = 1;
    } else
      o.outs = 2;
    kugel_stencil *plan;
    CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
    const kugel_array *a =
        kind == 3 ? KUGEL_ARRAY(ones, KUGEL_F64, 2, 20, 10) : KUGEL_ARRAY(u, KUGEL_F64, 1, 20, 20);
    CHECK_IS(kugel_stencil_advance(plan, KUGEL_STENCIL_ADI, 0.1, 1, a, NULL), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), words[kind]));
    kugel_stencil_destroy(plan);
  }
  const kugel_stencil_term term = {.derivative = {2, 0}, .factor = 1};
  kugel_stencil_opts o = {.size = sizeof o, .ndim = 2, .n = n, .compact = 1, .nterms = 1, .terms = &term};
  kugel_stencil *plan;
  o.order = 6;
  CHECK_IS(kugel_stencil_create(NULL, &o, &plan), KUGEL_EINVAL);
  o.order = 4;
  o.compact = 2;
  CHECK_IS(kugel_stencil_create(NULL, &o, &plan), KUGEL_EINVAL);
  o.compact = 1;
  set_boundary(&o, KUGEL_STENCIL_ZERO);
  CHECK_IS(kugel_stencil_create(NULL, &o, &plan), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "compact"));
  CHECK_IS(kugel_stencil_advance(NULL, KUGEL_STENCIL_ADI, 0.1, 1, NULL, NULL), KUGEL_EINVAL);
  /* 1 - dt/2 L is singular where dt is minus two over an eigenvalue: of the wave that changes sign from node to node, -4 */
  o.compact = o.order = 0;
  set_boundary(&o, KUGEL_STENCIL_PERIODIC);
  CHECK_OK(kugel_stencil_create(NULL, &o, &plan));
  CHECK_IS(
      kugel_stencil_advance(plan, KUGEL_STENCIL_ADI, -0.5, 1, KUGEL_ARRAY(u, KUGEL_F64, 1, 20, 20), NULL),
      KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "singular"));
  CHECK_OK(
      kugel_stencil_advance(plan, KUGEL_STENCIL_ADI, -0.5, 0, KUGEL_ARRAY(u, KUGEL_F64, 1, 20, 20), NULL));
  kugel_stencil_destroy(plan);
}

static kugel_status all_calls(int compact, double *u, double *v, const double *c)
{
  const int64_t n[2] = {8, 9};
  const kugel_stencil_term terms[2] = {{.derivative = {2, 0}, .factor = 1, .coefficient = compact ? NULL : c},
                                       {.derivative = {0, 2}, .factor = 1}};
  const kugel_stencil_opts o = {
      .size = sizeof o, .ndim = 2, .n = n, .compact = compact, .nterms = 2, .terms = terms};
  kugel_stencil *plan = NULL;
  kugel_status s = kugel_stencil_create(NULL, &o, &plan);
  if (!s)
    s = kugel_stencil_apply(plan, KUGEL_ARRAY(u, KUGEL_F64, 1, 8, 9), KUGEL_ARRAY(v, KUGEL_F64, 1, 8, 9),
                            NULL);
  if (!s)
    s = kugel_stencil_advance(plan, KUGEL_STENCIL_ADI, 0.1, 2, KUGEL_ARRAY(u, KUGEL_F64, 1, 8, 9), NULL);
  if (!s)
    s = kugel_stencil_advance_adjoint(plan, KUGEL_STENCIL_ADI, 0.1, 1, KUGEL_ARRAY(u, KUGEL_F64, 1, 8, 9),
                                      NULL);
  kugel_stencil_destroy(plan);
  return s;
}

static void no_memory(void)
{
  uint64_t before, after;
  double u[72] = {0}, v[72], *c = random_reals(72, 1);
  for (int compact = 0; compact < 2; compact++) {
    bool done = false;
    kugel_ctx_trim(NULL);
    kugel_ctx_memory(NULL, &before, NULL);
    for (int k = 1; k < 1000 && !done; k++) {
      kugel_ctx_trim(NULL);
      kugel__fault_alloc(k);
      kugel_status s = all_calls(compact, u, v, c);
      kugel__fault_alloc(0);
      CHECK(!s || s == KUGEL_ENOMEM);
      kugel_ctx_trim(NULL);
      kugel_ctx_memory(NULL, &after, NULL);
      CHECK(before == after);
      done = !s && k > 20;
    }
    CHECK(done);
  }
  free(c);
}

int main(void)
{
  CASE("heat: orders of alternating directions") heat_orders();
  CASE("waves under steps of any length") growth_of_waves();
  CASE("plans that alternating directions do not take") refused();
  CASE("allocations that fail") no_memory();
  END();
}
