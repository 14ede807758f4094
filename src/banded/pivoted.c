/* SPDX-License-Identifier: BSD-3-Clause */
/* Solves with three diagonals whose rows must be exchanged, on the CPU: Gaussian elimination with partial pivoting,
 * P A = L U with two diagonals above that of U (Higham 2002, section 9.5). Factors and solutions are double, of
 * double-double plans double-double. */
#include <float.h>
#include <math.h>
#include "banded/banded.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/dd.h"
#include "core/parallel.h"

/* Factors of one matrix: row i of L below the diagonal, of U on it and above. */
typedef struct factors {
  kugel__dd *lower, *diagonal, *upper, *second; // each [n]
  uint8_t *swapped;                             // [n]: row i was exchanged with row i + 1
} factors;

struct kugel__pivoted {
  kugel__dd *numbers; // [matrices][4][n]
  uint8_t *swapped;   // [matrices][n]
};

static factors factors_of(const kugel_banded *p, int64_t m)
{
  kugel__dd *x = p->pivoted->numbers + 4 * m * p->n;
  return (factors){x, x + p->n, x + 2 * p->n, x + 3 * p->n, p->pivoted->swapped + m * p->n};
}

// Element i of a diagonal of matrix m, as products have it.
static kugel__dd element(const kugel_banded *p, const void *diagonal, int64_t m, int64_t i)
{
  int64_t at = i * p->width + m;
  if (p->word == 4)
    return dd_from((double)((const float *)diagonal)[at]);
  const double *x = diagonal;
  return p->planes == 2 ? dd_quick(x[at], x[at + p->n * p->width]) : dd_from(x[at]);
}

// Eliminates below row i; `spent`: what was subtracted from the diagonal below.
static double eliminate(const factors *f, int64_t i, int64_t n)
{
  kugel__dd below = f->lower[i], next = f->diagonal[i + 1], spent;
  f->swapped[i] = fabs(below.hi) > fabs(f->diagonal[i].hi);
  if (!f->swapped[i]) {
    f->lower[i] = below.hi == 0 ? dd_from(0) : dd_div(below, f->diagonal[i]);
    spent = dd_mul(f->lower[i], f->upper[i]);
    f->diagonal[i + 1] = dd_sub(next, spent);
    return fmax(fabs(next.hi), fabs(spent.hi));
  }
  kugel__dd factor = dd_div(f->diagonal[i], below), above = f->upper[i];
  f->diagonal[i] = below;
  f->lower[i] = factor;
  f->upper[i] = next;
  spent = dd_mul(factor, next);
  f->diagonal[i + 1] = dd_sub(above, spent);
  if (i + 2 < n) {
    f->second[i] = f->upper[i + 1];
    f->upper[i + 1] = dd_neg(dd_mul(factor, f->upper[i + 1]));
  }
  return fmax(fabs(above.hi), fabs(spent.hi));
}

// The first row without a pivot, n: there is none.
static int64_t factorise(const kugel_banded *p, int64_t m)
{
  factors f = factors_of(p, m);
  double eps = p->planes == 2 ? 0x1p-104 : p->word == 4 ? FLT_EPSILON : DBL_EPSILON, size = 0;
  int64_t n = p->n;
  for (int64_t i = 0; i < n; i++) {
    f.diagonal[i] = element(p, p->diagonal, m, i);
    f.upper[i] = i + 1 < n ? element(p, p->upper, m, i) : dd_from(0);
    f.lower[i] = i + 1 < n ? element(p, p->lower, m, i + 1) : dd_from(0); // of the row below
    f.second[i] = dd_from(0);
  }
  for (int64_t i = 0; i < n; i++) {
    double before = size;
    size = i + 1 < n ? eliminate(&f, i, n) : 0;
    double pivot = fabs(f.diagonal[i].hi);
    if (!isfinite(pivot) || !isfinite(1 / pivot) || (!f.swapped[i] && pivot <= eps * before))
      return i;
  }
  return n;
}

typedef struct job {
  const kugel_banded *p;
  int64_t *bad; // [matrices]
  int64_t batch;
  const char *in;
  char *out;
  char *room; // n numbers of each worker
} job;

static kugel_status factor_task(void *arg, int64_t m)
{
  const job *j = arg;
  j->bad[m] = factorise(j->p, m);
  return KUGEL_OK;
}

kugel_status kugel__banded_pivot(kugel_banded *p, int64_t *bad_matrix, int64_t *bad_row)
{
  size_t rows = (size_t)(p->matrices * p->n);
  *bad_matrix = *bad_row = -1;
  kugel__pivoted *v = p->pivoted = kugel__calloc(p->ctx, sizeof *v);
  KUGEL_CHECK(v, KUGEL_ENOMEM, "no memory for factors");
  v->numbers = kugel__alloc(p->ctx, 4 * rows * sizeof *v->numbers);
  v->swapped = kugel__calloc(p->ctx, rows);
  KUGEL_CHECK(v->numbers && v->swapped, KUGEL_ENOMEM, "no memory for factors of %zu rows", rows);
  job j = {.p = p};
  KUGEL_ALLOC(p->ctx, j.bad, sizeof *j.bad * (size_t)p->matrices);
  kugel_status s = kugel__parallel(p->ctx, p->matrices, factor_task, &j);
  for (int64_t m = 0; m < p->matrices && !s && *bad_row < 0; m++)
    if (j.bad[m] < p->n) {
      *bad_matrix = m;
      *bad_row = j.bad[m];
    }
  kugel__free(p->ctx, j.bad);
  return s;
}

void kugel__banded_unpivot(kugel_banded *p)
{
  if (!p->pivoted)
    return;
  kugel__free(p->ctx, p->pivoted->numbers);
  kugel__free(p->ctx, p->pivoted->swapped);
  kugel__free(p->ctx, p->pivoted);
  p->pivoted = NULL;
}

/* ---- solves ---- */

static void solve(const factors *f, int64_t n, double *x)
{
  for (int64_t i = 0; i + 1 < n; i++) {
    double a = x[f->swapped[i] ? i + 1 : i], b = x[f->swapped[i] ? i : i + 1];
    x[i] = a;
    x[i + 1] = b - f->lower[i].hi * a;
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    double known = i + 1 < n ? f->upper[i].hi * x[i + 1] : 0;
    known += i + 2 < n ? f->second[i].hi * x[i + 2] : 0;
    x[i] = (x[i] - known) / f->diagonal[i].hi;
  }
}

static void solve_dd(const factors *f, int64_t n, kugel__dd *x)
{
  for (int64_t i = 0; i + 1 < n; i++) {
    kugel__dd a = x[f->swapped[i] ? i + 1 : i], b = x[f->swapped[i] ? i : i + 1];
    x[i] = a;
    x[i + 1] = dd_sub(b, dd_mul(f->lower[i], a));
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    if (i + 1 < n)
      x[i] = dd_sub(x[i], dd_mul(f->upper[i], x[i + 1]));
    if (i + 2 < n)
      x[i] = dd_sub(x[i], dd_mul(f->second[i], x[i + 2]));
    x[i] = dd_div(x[i], f->diagonal[i]);
  }
}

static kugel_status solve_task(void *arg, int64_t system, int worker)
{
  const job *j = arg;
  const kugel_banded *p = j->p;
  factors f = factors_of(p, p->matrices == 1 ? 0 : system);
  bool rows = p->opts.layout == KUGEL_BANDED_ROWS;
  int64_t n = p->n, at = rows ? system * n : system, step = rows ? 1 : j->batch;
  kugel__dd *pairs = (kugel__dd *)(void *)j->room + worker * n;
  double *x = (double *)(void *)j->room + worker * n;
  const double *in = (const double *)(const void *)j->in;
  double *out = (double *)(void *)j->out;
  if (p->planes == 2) {
    for (int64_t i = 0; i < n; i++)
      pairs[i] = (kugel__dd){in[2 * (at + i * step)], in[2 * (at + i * step) + 1]};
    solve_dd(&f, n, pairs);
    for (int64_t i = 0; i < n; i++) {
      out[2 * (at + i * step)] = pairs[i].hi;
      out[2 * (at + i * step) + 1] = pairs[i].lo;
    }
    return KUGEL_OK;
  }
  for (int64_t i = 0; i < n; i++)
    x[i] = p->word == 4 ? (double)((const float *)(const void *)j->in)[at + i * step] : in[at + i * step];
  solve(&f, n, x);
  for (int64_t i = 0; i < n; i++)
    if (p->word == 4)
      ((float *)(void *)j->out)[at + i * step] = (float)x[i];
    else
      out[at + i * step] = x[i];
  return KUGEL_OK;
}

kugel_status kugel__banded_solve_pivoted(const kugel_banded *p, int64_t batch, const void *in, void *out)
{
  job j = {.p = p, .batch = batch, .in = in, .out = out};
  size_t number = p->planes == 2 ? sizeof(kugel__dd) : sizeof(double);
  int64_t workers = kugel__min(kugel__ctx_threads(p->ctx), batch);
  j.room = kugel__scratch_get(p->ctx, (size_t)(workers * p->n) * number);
  KUGEL_CHECK(j.room, KUGEL_ENOMEM, "no memory for %lld systems", (long long)workers);
  kugel_status s = kugel__parallel_on(p->ctx, workers, batch, solve_task, &j);
  kugel__scratch_put(p->ctx, j.room);
  return s;
}
