/* SPDX-License-Identifier: BSD-3-Clause */
/* LU factors of small dense matrices, by rows. */
#include <math.h>
#include "sphere/spectra/factor.h"

static void exchange(double *a, double *b, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    double t = a[i];
    a[i] = b[i];
    b[i] = t;
  }
}

int64_t kugel__lu_factor(kugel__lu *f)
{
  int64_t n = f->n;
  f->norm = 0;
  for (int64_t c = 0; c < n; c++) {
    double sum = 0;
    for (int64_t r = 0; r < n; r++)
      sum += fabs(f->a[r * n + c]);
    f->norm = fmax(f->norm, sum);
  }
  for (int64_t i = 0; i < n; i++) {
    int64_t best = i;
    for (int64_t r = i + 1; r < n; r++)
      if (fabs(f->a[r * n + i]) > fabs(f->a[best * n + i]))
        best = r;
    f->pivot[i] = (int32_t)best;
    if (!(fabs(f->a[best * n + i]) > 0))
      return i;
    if (best != i)
      exchange(f->a + i * n, f->a + best * n, n);
    const double *top = f->a + i * n;
    for (int64_t r = i + 1; r < n; r++) {
      double *row = f->a + r * n, q = row[i] / top[i];
      row[i] = q;
      if (q != 0)
        for (int64_t c = i + 1; c < n; c++)
          row[c] -= q * top[c];
    }
  }
  return -1;
}

static void subtract(double *row, const double *other, double q, int64_t columns)
{
  for (int64_t c = 0; c < columns; c++)
    row[c] -= q * other[c];
}

void kugel__lu_solve(const kugel__lu *f, int64_t columns, double *x)
{
  int64_t n = f->n;
  for (int64_t i = 0; i < n; i++)
    if (f->pivot[i] != i)
      exchange(x + i * columns, x + f->pivot[i] * columns, columns);
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < i; k++)
      subtract(x + i * columns, x + k * columns, f->a[i * n + k], columns);
  for (int64_t i = n - 1; i >= 0; i--) {
    double *row = x + i * columns, inverse = 1 / f->a[i * n + i];
    for (int64_t k = i + 1; k < n; k++)
      subtract(row, x + k * columns, f->a[i * n + k], columns);
    for (int64_t c = 0; c < columns; c++)
      row[c] *= inverse;
  }
}

/* A^T x = b, in place. */
static void solve_transposed(const kugel__lu *f, double *x)
{
  int64_t n = f->n;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < i; k++)
      x[i] -= f->a[k * n + i] * x[k];
    x[i] /= f->a[i * n + i];
  }
  for (int64_t i = n - 1; i >= 0; i--)
    for (int64_t k = i + 1; k < n; k++)
      x[i] -= f->a[k * n + i] * x[k];
  for (int64_t i = n - 1; i >= 0; i--)
    if (f->pivot[i] != i)
      exchange(x + i, x + f->pivot[i], 1);
}

double kugel__lu_condition(const kugel__lu *f, double *work)
{
  int64_t n = f->n;
  double *x = work, *y = work + n, estimate = 0;
  for (int64_t i = 0; i < n; i++)
    x[i] = 1 / (double)n;
  for (int step = 0; step < 5; step++) {
    double sum = 0, most = 0, inner = 0;
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++)
      y[i] = x[i];
    kugel__lu_solve(f, 1, y);
    for (int64_t i = 0; i < n; i++) {
      sum += fabs(y[i]);
      y[i] = y[i] < 0 ? -1 : 1;
    }
    if (sum <= estimate)
      break;
    estimate = sum;
    solve_transposed(f, y);
    for (int64_t i = 0; i < n; i++) {
      inner += y[i] * x[i];
      if (fabs(y[i]) > most) {
        most = fabs(y[i]);
        at = i;
      }
    }
    if (most <= inner)
      break;
    for (int64_t i = 0; i < n; i++)
      x[i] = i == at;
  }
  return estimate * f->norm;
}
