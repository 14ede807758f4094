/* SPDX-License-Identifier: BSD-3-Clause */
/* With W_n^l = const (1+x)^{l/2} P~_n^{(a,b)}(x), x = 2 r^2 - 1, b = l + shift, and the maps of polynomial/jacobi.h:
 *
 *   f' - l f / r        = 2 sqrt2 (1+x)^{(l+1)/2} dp/dx:                            2 sqrt2 U^{-1} D
 *   f' + (l + 1) f / r  = 2 sqrt2 (1+x)^{(l-1)/2} (l + 1/2 + (1+x) d/dx) p:         2 sqrt2 (U^{-1} C + (1/2 - shift) V^{-1})
 *   r f                 = V / sqrt2 to degree l + 1, V^T / sqrt2 to degree l - 1
 *
 * U, V are upper bidiagonal, solved from the last row up; D and C are diagonal, D one term shorter. A table has, n numbers each: of RAISE
 * the diagonal of D, 1 / diagonal and superdiagonal of U; of LOWER that of C, both of U, both of V; of LAPLACIAN these one
 * after another; of UP and DOWN diagonal and superdiagonal of V. */
#include <math.h>
#include <string.h>
#include "ball/ladder.h"
#include "polynomial/jacobi.h"

static void raise_table(double a, double b, int64_t n, double *t)
{
  for (int64_t i = 0; i < n; i++) {
    t[i] = 2 * M_SQRT2 * jacobi_derivative((double)i + 1, a, b);
    t[n + i] = 1 / jacobi_gamma((double)i, b + 1, a);
    t[2 * n + i] = -jacobi_zeta((double)i + 1, b + 1, a);
  }
}

static void lower_table(double a, double b, double shift, int64_t n, double *t)
{
  for (int64_t i = 0; i < n; i++) {
    double k = (double)i;
    t[i] = 2 * M_SQRT2 * sqrt((k + b) * (k + a + 1));
    t[n + i] = 1 / jacobi_gamma(k, b - 1, a);
    t[2 * n + i] = -jacobi_zeta(k + 1, b - 1, a);
    if (shift < 0.5) {
      t[3 * n + i] = 1 / jacobi_gamma(k, a, b - 1);
      t[4 * n + i] = jacobi_zeta(k + 1, a, b - 1);
    }
  }
}

void kugel__ladder_table(kugel__ladder kind, double a, double shift, int64_t l, int64_t n, double *t)
{
  double b = (double)l + shift, low = kind == KUGEL__LADDER_UP ? b : b - 1;
  if (kind == KUGEL__LADDER_RAISE || kind == KUGEL__LADDER_LAPLACIAN)
    raise_table(a, b, n, t);
  if (kind == KUGEL__LADDER_LAPLACIAN)
    lower_table(a, b + 1, shift, n, t + 3 * n);
  if (kind == KUGEL__LADDER_LOWER)
    lower_table(a, b, shift, n, t);
  if (kind == KUGEL__LADDER_UP || kind == KUGEL__LADDER_DOWN)
    for (int64_t i = 0; i < n; i++) {
      t[i] = jacobi_gamma((double)i, a, low);
      t[n + i] = jacobi_zeta((double)i + 1, a, low);
    }
}

/* x := R^{-1} x or R^{-T} x; inverse: of the diagonal, above: the superdiagonal. */
static void solve(bool transposed, int64_t n, const double *inverse, const double *above, double *x)
{
  double re = 0, im = 0; /* transposed: what goes down, else the row below */
  for (int64_t k = 0; k < n; k++) {
    int64_t i = transposed ? k : n - 1 - k;
    double z = transposed ? (i ? above[i - 1] : 0) : above[i];
    x[2 * i] = re = (x[2 * i] - z * re) * inverse[i];
    x[2 * i + 1] = im = (x[2 * i + 1] - z * im) * inverse[i];
  }
}

/* x := V x or V^T x, in place: from the side from which no row needs what is overwritten. */
static void multiply(bool transposed, int64_t n, const double *diagonal, const double *above, double *x)
{
  for (int64_t k = 0; k < n; k++) {
    int64_t i = transposed ? n - 1 - k : k, j = transposed ? i - 1 : i + 1;
    bool inside = j >= 0 && j < n;
    double z = inside ? above[transposed ? j : i] : 0;
    for (int c = 0; c < 2; c++)
      x[2 * i + c] = diagonal[i] * x[2 * i + c] + (inside ? z * x[2 * j + c] : 0);
  }
}

static void derivative(bool transposed, int64_t n, const double *d, double *x)
{
  for (int64_t k = 0; k + 1 < n; k++) {
    int64_t i = transposed ? n - 2 - k : k;
    for (int c = 0; c < 2; c++)
      if (transposed)
        x[2 * i + 2 + c] = d[i] * x[2 * i + c];
      else
        x[2 * i + c] = d[i] * x[2 * i + 2 + c];
  }
  int64_t end = transposed ? 0 : n - 1;
  x[2 * end] = x[2 * end + 1] = 0;
}

static void raise(bool transposed, int64_t n, const double *t, double *x)
{
  if (!transposed)
    derivative(false, n, t, x);
  solve(transposed, n, t + n, t + 2 * n, x);
  if (transposed)
    derivative(true, n, t, x);
}

static void diagonal(int64_t n, const double *d, double *x)
{
  for (int64_t i = 0; i < n; i++)
    for (int c = 0; c < 2; c++)
      x[2 * i + c] *= d[i];
}

static void lower(bool transposed, double shift, int64_t n, const double *t, double *x, double *work)
{
  double rest = 2 * M_SQRT2 * (0.5 - shift);
  memcpy(work, x, (size_t)n * 16);
  if (!transposed)
    diagonal(n, t, x);
  solve(transposed, n, t + n, t + 2 * n, x);
  if (transposed)
    diagonal(n, t, x);
  if (!(rest > 0))
    return;
  solve(transposed, n, t + 3 * n, t + 4 * n, work);
  for (int64_t i = 0; i < 2 * n; i++)
    x[i] += rest * work[i];
}

void kugel__ladder_add(kugel__ladder kind, bool transposed, double shift, int64_t n, const double *t,
                       double factor, const double *in, double *out, double *work)
{
  double *x = work, *more = work + 2 * n;
  memcpy(x, in, (size_t)n * 16);
  switch (kind) {
  case KUGEL__LADDER_SAME:
    break;
  case KUGEL__LADDER_RAISE:
    raise(transposed, n, t, x);
    break;
  case KUGEL__LADDER_LOWER:
    lower(transposed, shift, n, t, x, more);
    break;
  case KUGEL__LADDER_LAPLACIAN:
    if (!transposed)
      raise(false, n, t, x);
    lower(transposed, shift, n, t + 3 * n, x, more);
    if (transposed)
      raise(true, n, t, x);
    break;
  case KUGEL__LADDER_UP:
    multiply(transposed, n, t, t + n, x);
    break;
  case KUGEL__LADDER_DOWN:
    multiply(!transposed, n, t, t + n, x);
    break;
  }
  if (kind == KUGEL__LADDER_UP || kind == KUGEL__LADDER_DOWN)
    factor *= M_SQRT1_2;
  for (int64_t i = 0; i < 2 * n; i++)
    out[i] += factor * x[i];
}
