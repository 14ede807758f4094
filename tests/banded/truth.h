/* SPDX-License-Identifier: BSD-3-Clause */
/* Banded systems with known answers, for tests of the CPU and of devices. Truth has 113 bits. */
#ifndef KUGEL_TESTS_BANDED_TRUTH_H
#define KUGEL_TESTS_BANDED_TRUTH_H

#include <stdbool.h>
#include <kugel/banded.h>
#include "check.h"

/* 113 bits */
#if __LDBL_MANT_DIG__ == 113
typedef long double quad;
#else
typedef __float128 quad;
#endif

typedef struct problem {
  kugel_banded_opts opts;
  int64_t n, batch, matrices;
  quad *lower, *diagonal, *upper; /* [matrices][n] */
  void *a[3];                     /* the caller's diagonals */
  quad *x, *b;                    /* [batch][n], A x = b */
} problem;

static inline size_t number_bytes(const problem *p)
{
  return p->opts.precision == KUGEL_PRECISION_F32 ? 4 : p->opts.precision == KUGEL_PRECISION_F64 ? 8 : 16;
}

static inline double eps_of(const problem *p)
{
  return p->opts.precision == KUGEL_PRECISION_F32   ? 0x1p-23
         : p->opts.precision == KUGEL_PRECISION_F64 ? 0x1p-52
                                                    : 0x1p-102;
}

static inline void number_put(const problem *p, void *array, int64_t at, quad x)
{
  if (p->opts.precision == KUGEL_PRECISION_F32) {
    ((float *)array)[at] = (float)x;
  } else if (p->opts.precision == KUGEL_PRECISION_F64) {
    ((double *)array)[at] = (double)x;
  } else {
    double hi = (double)x;
    ((double *)array)[2 * at] = hi;
    ((double *)array)[2 * at + 1] = (double)(x - hi);
  }
}

static inline quad number_get(const problem *p, const void *array, int64_t at)
{
  if (p->opts.precision == KUGEL_PRECISION_F32)
    return ((const float *)array)[at];
  if (p->opts.precision == KUGEL_PRECISION_F64)
    return ((const double *)array)[at];
  return (quad)((const double *)array)[2 * at] + ((const double *)array)[2 * at + 1];
}

/* Where element i of system r is, among `count` systems. */
static inline int64_t place(const problem *p, int64_t count, int64_t r, int64_t i)
{
  return p->opts.layout == KUGEL_BANDED_ROWS ? r * p->n + i : i * count + r;
}

/* Random in [-1, 1), exact in the precision. */
static inline quad number_random(const problem *p, uint64_t *seed)
{
  double hi = check_random(seed);
  if (p->opts.precision == KUGEL_PRECISION_F32)
    return (float)hi;
  return p->opts.precision == KUGEL_PRECISION_F64 ? (quad)hi
                                                  : (quad)hi + (quad)(check_random(seed) * 0x1p-54);
}

static inline quad quad_abs(quad x)
{
  return x < 0 ? -x : x;
}

/* A x (or |A| |x|) of system r at row i. */
static inline quad row_product(const problem *p, int64_t r, const quad *x, int64_t i, bool sizes)
{
  int64_t at = (p->matrices > 1 ? r : 0) * p->n + i;
  quad t[3] = {p->lower && i ? p->lower[at] * x[i - 1] : 0, p->diagonal[at] * x[i],
               p->upper && i + 1 < p->n ? p->upper[at] * x[i + 1] : 0};
  if (sizes)
    for (int k = 0; k < 3; k++)
      t[k] = quad_abs(t[k]);
  return t[0] + t[1] + t[2];
}

/* Diagonally dominant by rows, with off-diagonal elements up to `spread` of the diagonal's half. */
static inline void problem_make(problem *p, kugel_banded_opts opts, int64_t batch, double spread,
                                uint64_t seed)
{
  *p =
      (problem){.opts = opts, .n = opts.n, .batch = batch, .matrices = opts.matrices > 1 ? opts.matrices : 1};
  p->opts.size = sizeof p->opts;
  size_t entries = (size_t)(p->matrices * p->n), all = (size_t)(batch * p->n);
  quad **bands[] = {&p->lower, &p->diagonal, &p->upper};
  bool has[] = {opts.kind != KUGEL_BANDED_UPPER, true, opts.kind != KUGEL_BANDED_LOWER};
  for (int d = 0; d < 3; d++) {
    if (!has[d])
      continue;
    *bands[d] = malloc(entries * sizeof(quad));
    p->a[d] = malloc(entries * number_bytes(p));
    for (int64_t m = 0; m < p->matrices; m++)
      for (int64_t i = 0; i < p->n; i++) {
        quad v = number_random(p, &seed);
        v = d == 1 ? (v < 0 ? v - 1 : v + 1) : v * (float)spread;
        int64_t at = place(p, p->matrices, m, i);
        number_put(p, p->a[d], at, v);
        (*bands[d])[m * p->n + i] = number_get(p, p->a[d], at);
      }
  }
  p->opts.lower = p->a[0];
  p->opts.diagonal = p->a[1];
  p->opts.upper = p->a[2];
  p->x = malloc(all * sizeof(quad));
  p->b = malloc(all * sizeof(quad));
  for (size_t k = 0; k < all; k++)
    p->x[k] = number_random(p, &seed);
  for (int64_t r = 0; r < batch; r++)
    for (int64_t i = 0; i < p->n; i++)
      p->b[r * p->n + i] = row_product(p, r, p->x + r * p->n, i, false);
}

static inline void problem_free(problem *p)
{
  void *all[] = {p->lower, p->diagonal, p->upper, p->a[0], p->a[1], p->a[2], p->x, p->b};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
}

/* The array of `from` ([batch][n]) in the problem's layout and precision. */
static inline void problem_fill(const problem *p, const quad *from, void *array)
{
  for (int64_t r = 0; r < p->batch; r++)
    for (int64_t i = 0; i < p->n; i++)
      number_put(p, array, place(p, p->batch, r, i), from[r * p->n + i]);
}

/* Largest |b - A x| / (eps |A| |x|) over all rows, for x and b as arrays: 1 is one rounding. A NaN yields
 * one. */
static inline double problem_residual(const problem *p, const void *x, const void *b)
{
  double worst = 0;
  quad *own = malloc((size_t)p->n * sizeof *own);
  for (int64_t r = 0; r < p->batch; r++) {
    for (int64_t i = 0; i < p->n; i++)
      own[i] = number_get(p, x, place(p, p->batch, r, i));
    for (int64_t i = 0; i < p->n; i++) {
      quad e = quad_abs(number_get(p, b, place(p, p->batch, r, i)) - row_product(p, r, own, i, false));
      double ratio = (double)(e / (row_product(p, r, own, i, true) + 1e-300)) / eps_of(p);
      if (!(ratio <= worst))
        worst = ratio;
    }
  }
  free(own);
  return worst;
}

/* The kugel_array of the whole batch; shape has room for 3. */
static inline kugel_array problem_array(const problem *p, void *data, int64_t *shape)
{
  bool rows = p->opts.layout == KUGEL_BANDED_ROWS;
  shape[0] = rows ? p->batch : p->n;
  shape[1] = rows ? p->n : p->batch;
  shape[2] = 2;
  return (kugel_array){.data = data,
                       .device = {KUGEL_CPU, 0},
                       .shape = shape,
                       .ndim = p->opts.precision == KUGEL_PRECISION_DD ? 3 : 2,
                       .dtype = p->opts.precision == KUGEL_PRECISION_F32 ? KUGEL_F32 : KUGEL_F64};
}

/* Runs one solve or product of the plan on host arrays with guard words; in place if `same`. Yields the
 * residual. */
static inline double problem_run(const problem *p, const kugel_banded *plan, bool solve, bool same)
{
  enum { GUARD = 64 };
  size_t bytes = (size_t)(p->n * p->batch) * number_bytes(p);
  unsigned char *in = malloc(bytes + 2 * GUARD), *out = malloc(bytes + 2 * GUARD);
  void *kept = malloc(bytes + 1);
  memset(in, 0xa5, bytes + 2 * GUARD);
  memset(out, 0xa5, bytes + 2 * GUARD);
  problem_fill(p, solve ? p->b : p->x, in + GUARD);
  memcpy(kept, in + GUARD, bytes);
  int64_t shape[2][3];
  kugel_array a = problem_array(p, in + GUARD, shape[0]), b = problem_array(p, out + GUARD, shape[1]);
  unsigned char *got = same ? in : out;
  CHECK_OK((solve ? kugel_banded_solve : kugel_banded_product)(plan, &a, same ? &a : &b, NULL));
  for (int k = 0; k < GUARD; k++)
    if (in[k] != 0xa5 || out[k] != 0xa5 || in[GUARD + bytes + (size_t)k] != 0xa5 ||
        out[GUARD + bytes + (size_t)k] != 0xa5)
      CHECK_FAIL("guard word %d was written", k);
  CHECK(same || !memcmp(kept, in + GUARD, bytes));
  double worst = solve ? problem_residual(p, got + GUARD, kept) : problem_residual(p, kept, got + GUARD);
  free(in);
  free(out);
  free(kept);
  return worst;
}

/* Solves the golden systems x_i + a_i x_{i-1} = y_i of the file; yields their number. */
static inline long golden_solves(kugel_ctx *ctx, const char *path)
{
  FILE *f = fopen(path, "r");
  char line[256], name[32];
  static double a[4096], y[4096], x[4096], got[4096];
  long n = 0, i, have = 0, systems = 0;
  while (f) {
    char *more = fgets(line, sizeof line, f);
    long next_n = 0;
    double v[3] = {0};
    bool row = more && sscanf(line, "%31[^,],%ld,%ld,%lf,%lf,%lf", name, &next_n, &i, v, v + 1, v + 2) == 6;
    if (have && (!more || (row && i == 0))) {
      kugel_banded_opts opts = {.size = sizeof opts, .n = n, .lower = a};
      kugel_banded *plan;
      CHECK_OK(kugel_banded_create(ctx, &opts, &plan));
      CHECK_OK(kugel_banded_solve(plan, KUGEL_ARRAY(y, KUGEL_F64, n), KUGEL_ARRAY(got, KUGEL_F64, n), NULL));
      CHECK_CLOSE(got, x, (size_t)n, 2e-15 * (double)n);
      kugel_banded_destroy(plan);
      systems++;
      have = 0;
    }
    if (!more)
      break;
    if (!row || i >= 4096)
      continue;
    n = next_n;
    a[i] = v[0];
    y[i] = v[1];
    x[i] = v[2];
    have++;
  }
  if (f)
    fclose(f);
  return systems;
}

#endif
