/* SPDX-License-Identifier: BSD-3-Clause */
/* Factors of the matrices of a plan, without exchange of rows, in double-double whatever the plan's
 * precision. Bounds after Higham, Accuracy and Stability of Numerical Algorithms (2002), chapters 8 and 9. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include "banded/banded.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/dd.h"
#include "core/parallel.h"

typedef enum fault { FINE, NOT_FINITE, NO_PIVOT, GROWN, OUT_OF_RANGE } fault_kind;

/* What one matrix turned out to be. */
typedef struct verdict {
  fault_kind fault;
  int64_t row;
  double growth, propagation, value;
} verdict;

typedef struct job {
  kugel_banded *p;
  const kugel_banded_opts *opts;
  verdict *verdicts; /* [matrices] */
} job;

static double precision_eps(const kugel_banded *p)
{
  return p->opts.precision == KUGEL_PRECISION_DD ? 0x1p-104 : p->word == 4 ? FLT_EPSILON : DBL_EPSILON;
}

/* Element i of matrix m of one of the caller's diagonals. */
static kugel__dd take(const kugel_banded *p, const void *diagonal, int64_t m, int64_t i)
{
  int64_t at = p->opts.layout == KUGEL_BANDED_ROWS ? m * p->n + i : i * p->matrices + m;
  if (p->word == 4)
    return dd_from((double)((const float *)diagonal)[at]);
  const double *x = diagonal;
  return p->planes == 2 ? dd_quick(x[2 * at], x[2 * at + 1]) : dd_from(x[at]);
}

/* Rounds x into a coefficient array; the value as it is stored. */
static double put(const kugel_banded *p, void *array, int64_t m, int64_t i, kugel__dd x)
{
  int64_t at = i * p->width + m;
  if (p->word == 4) {
    float f = (float)x.hi;
    ((float *)array)[at] = f;
    return (double)f;
  }
  ((double *)array)[at] = x.hi;
  if (p->planes == 2)
    ((double *)array)[p->n * p->width + at] = x.lo;
  return x.hi;
}

static bool subnormal(const kugel_banded *p, double x)
{
  return fabs(x) < (p->word == 4 ? (double)FLT_MIN : DBL_MIN);
}

static void blame(verdict *v, fault_kind fault, int64_t row, double value)
{
  if (v->fault)
    return;
  v->fault = fault;
  v->row = row;
  v->value = value;
}

/* Copies the diagonals of matrix m for products; false if one is not finite. */
static bool copy_diagonals(const job *j, int64_t m, verdict *v)
{
  kugel_banded *p = j->p;
  const void *from[] = {j->opts->lower, j->opts->diagonal, j->opts->upper};
  void *to[] = {p->lower, p->diagonal, p->upper};
  for (int d = 0; d < 3; d++)
    for (int64_t i = 0; to[d] && i < p->n; i++) {
      bool inside = d == 1 || (d == 0 ? i > 0 : i < p->n - 1);
      kugel__dd x = !inside ? dd_from(0) : from[d] ? take(p, from[d], m, i) : dd_from(1);
      if (!isfinite(x.hi) || !isfinite(x.lo)) {
        blame(v, NOT_FINITE, i, x.hi);
        return false;
      }
      put(p, to[d], m, i, x);
    }
  return true;
}

/* Stores row i of a recurrence with pivot d: s = 1/d, a = off/d. reach: largest product of a's that ends
 * here. */
static void put_row(kugel_banded *p, const kugel__recurrence *r, int64_t m, int64_t i, kugel__dd off,
                    kugel__dd pivot, double *reach, verdict *v)
{
  kugel__dd a = off;
  if (r->scale) {
    kugel__dd s = dd_div(dd_from(1), pivot);
    double stored = put(p, r->scale, m, i, s);
    if (!isfinite(stored) || subnormal(p, stored))
      blame(v, OUT_OF_RANGE, i, pivot.hi);
    a = dd_div(off, pivot);
  }
  if (off.hi == 0)
    a = dd_from(0);
  double size = fabs(put(p, r->off, m, i, a));
  if (!isfinite(size))
    blame(v, OUT_OF_RANGE, i, pivot.hi);
  *reach = size * fmax(1, *reach);
  v->propagation = fmax(v->propagation, *reach);
}

static void factor_two(job *j, int64_t m, verdict *v)
{
  kugel_banded *p = j->p;
  bool lower = p->opts.kind == KUGEL_BANDED_LOWER;
  const kugel__recurrence *r = lower ? &p->forward : &p->backward;
  double reach = 0;
  for (int64_t k = 0; k < p->n; k++) {
    int64_t i = lower ? k : p->n - 1 - k;
    kugel__dd d = j->opts->diagonal ? take(p, j->opts->diagonal, m, i) : dd_from(1);
    kugel__dd off = k ? take(p, lower ? j->opts->lower : j->opts->upper, m, i) : dd_from(0);
    if (d.hi == 0) {
      blame(v, NO_PIVOT, i, 0);
      return;
    }
    put_row(p, r, m, i, off, d, &reach, v);
  }
}

static void factor_three(job *j, int64_t m, verdict *v)
{
  kugel_banded *p = j->p;
  double eps = precision_eps(p), down = 0;
  kugel__dd pivot = {0, 0}, above = {0, 0};
  for (int64_t i = 0; i < p->n; i++) {
    kugel__dd d = j->opts->diagonal ? take(p, j->opts->diagonal, m, i) : dd_from(1);
    kugel__dd l = i ? take(p, j->opts->lower, m, i) : dd_from(0);
    kugel__dd u = i + 1 < p->n ? take(p, j->opts->upper, m, i) : dd_from(0);
    kugel__dd factor = i && l.hi != 0 ? dd_div(l, pivot) : dd_from(0);
    kugel__dd spent = dd_mul(factor, above);
    put_row(p, &p->forward, m, i, factor, dd_from(1), &down, v);
    pivot = dd_sub(d, spent);
    if (!(fabs(pivot.hi) > eps * fabs(spent.hi))) {
      blame(v, NO_PIVOT, i, pivot.hi);
      return;
    }
    double largest = fmax(fabs(l.hi), fmax(fabs(d.hi), fabs(u.hi)));
    double growth = (fabs(spent.hi) + fabs(pivot.hi)) / largest;
    v->growth = fmax(v->growth, growth);
    if (!(growth * growth * eps <= 1)) {
      blame(v, GROWN, i, growth);
      return;
    }
    /* The backward recurrence of row i; how far it propagates is known once all rows are. */
    double unused = 0;
    put_row(p, &p->backward, m, i, u, pivot, &unused, v);
    above = u;
  }
  double up = 0;
  for (int64_t i = p->n - 1; i >= 0; i--) {
    int64_t at = i * p->width + m;
    double a = p->word == 4 ? (double)((float *)p->backward.off)[at] : ((double *)p->backward.off)[at];
    up = fabs(a) * fmax(1, up);
    v->propagation = fmax(v->propagation, up);
  }
}

static kugel_status factor_matrix(void *arg, int64_t m)
{
  job *j = arg;
  verdict *v = &j->verdicts[m];
  *v = (verdict){.growth = 1};
  if (!copy_diagonals(j, m, v))
    return KUGEL_OK;
  if (j->p->opts.kind == KUGEL_BANDED_TRIDIAGONAL)
    factor_three(j, m, v);
  else
    factor_two(j, m, v);
  return KUGEL_OK;
}

static kugel_status judge(kugel_banded *p, const verdict *v, int64_t m)
{
  KUGEL_CHECK(v->fault != NOT_FINITE, KUGEL_EINVAL,
              "row %lld of matrix %lld has the element %g, must be finite", (long long)v->row, (long long)m,
              v->value);
  p->info.growth = fmax(p->info.growth, v->growth);
  p->info.propagation = fmax(p->info.propagation, v->propagation);
  if (!v->fault || !p->info.solvable)
    return KUGEL_OK;
  static const char *const what[] = {
      [NO_PIVOT] =
          "has the pivot %.3g, which vanishes but for rounding: the matrix, or a leading part of it, is "
          "singular",
      [GROWN] =
          "makes the factors grow to %.3g times its largest element, which would lose more than half of the "
          "digits without exchange of rows; plans on the CPU exchange them",
      [OUT_OF_RANGE] = "has the pivot %.3g, whose inverse leaves the range of the numbers: scale the rows"};
  char why[200];
  p->info.solvable = 0;
  p->info.bad_matrix = m;
  p->info.bad_row = v->row;
  snprintf(why, sizeof why, what[v->fault], v->value);
  snprintf(p->reason, sizeof p->reason, "row %lld of matrix %lld %s", (long long)v->row, (long long)m, why);
  return KUGEL_OK;
}

static kugel_status make_array(kugel_banded *p, bool wanted, void **out)
{
  size_t bytes = p->word * (size_t)p->planes * (size_t)p->n * (size_t)p->width;
  if (!wanted)
    return KUGEL_OK;
  *out = kugel__calloc(p->ctx, bytes);
  KUGEL_CHECK(*out, KUGEL_ENOMEM, "no memory for a diagonal of %zu bytes", bytes);
  return KUGEL_OK;
}

// Matrices that need an exchange of rows get it, on the CPU.
static kugel_status exchange_rows(kugel_banded *p)
{
  int64_t matrix, row;
  KUGEL_TRY(kugel__banded_pivot(p, &matrix, &row));
  if (row < 0) {
    p->info.solvable = 1;
    p->info.bad_matrix = p->info.bad_row = -1;
    return KUGEL_OK;
  }
  kugel__banded_unpivot(p);
  p->info.bad_matrix = matrix;
  p->info.bad_row = row;
  snprintf(p->reason, sizeof p->reason,
           "row %lld of matrix %lld has no pivot, whichever rows are exchanged: the matrix is singular, or "
           "its elements "
           "leave the range of the numbers",
           (long long)row, (long long)matrix);
  return KUGEL_OK;
}

kugel_status kugel__banded_factorise(kugel_banded *p, const kugel_banded_opts *opts)
{
  bool lower = p->opts.kind != KUGEL_BANDED_UPPER, upper = p->opts.kind != KUGEL_BANDED_LOWER;
  bool three = lower && upper;
  KUGEL_TRY(make_array(p, lower, &p->lower));
  KUGEL_TRY(make_array(p, true, &p->diagonal));
  KUGEL_TRY(make_array(p, upper, &p->upper));
  KUGEL_TRY(make_array(p, lower, &p->forward.off));
  KUGEL_TRY(make_array(p, lower && !three && opts->diagonal, &p->forward.scale));
  KUGEL_TRY(make_array(p, upper, &p->backward.off));
  KUGEL_TRY(make_array(p, three || (upper && opts->diagonal), &p->backward.scale));
  job j = {p, opts, NULL};
  KUGEL_ALLOC(p->ctx, j.verdicts, sizeof *j.verdicts * (size_t)p->matrices);
  p->info.solvable = 1;
  p->info.bad_matrix = p->info.bad_row = -1;
  p->info.growth = 1;
  kugel_status s = kugel__parallel(p->ctx, p->matrices, factor_matrix, &j);
  for (int64_t m = 0; !s && m < p->matrices; m++)
    s = judge(p, &j.verdicts[m], m);
  kugel__free(p->ctx, j.verdicts);
  if (!s && !p->info.solvable && three && p->ctx->device.type == KUGEL_CPU)
    s = exchange_rows(p);
  return s;
}
