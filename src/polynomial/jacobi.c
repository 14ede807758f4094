/* SPDX-License-Identifier: BSD-3-Clause */
/* Entries of the maps between families of Jacobi polynomials. */
#include <string.h>
#include "core/alloc.h"
#include "polynomial/jacobi.h"

void kugel__jacobi_rotations(double a, double b, double sign, int64_t n, bool single, void *out)
{
  for (int64_t i = 0; i < n; i++) {
    double k = (double)i, d = (k + b + 2) * (k + a + b + 2);
    double c = sqrt((b + 1) * (2 * k + a + b + 3) / d), s = sign * sqrt((k + 1) * (k + a + 1) / d);
    if (single) {
      ((float *)out)[2 * i] = (float)c;
      ((float *)out)[2 * i + 1] = (float)s;
    } else {
      ((double *)out)[2 * i] = c;
      ((double *)out)[2 * i + 1] = s;
    }
  }
}

kugel__dd kugel__jacobi_half_beta(double p, double q)
{
  const kugel__dd half_pi = {1.5707963267948966, 6.123233995736766e-17};
  double u = p > floor(p) ? 0.5 : 1, v = q > floor(q) ? 0.5 : 1;
  kugel__dd out = u + v > 1.5 ? dd_from(0.5) : u + v > 1 ? dd_from(1) : half_pi;
  for (; u < p; u++)
    out = dd_div(dd_mul_d(out, u), dd_from(u + v));
  for (; v < q; v++)
    out = dd_div(dd_mul_d(out, v), dd_from(u + v));
  return out;
}

static kugel__dd ratio(double numerator, double other, double denominator)
{
  return dd_div(dd_two_prod(numerator, other), dd_from(denominator));
}

void kugel__jacobi_recurrence(double a, double b, int64_t n, kugel__dd *p, kugel__dd *q)
{
  for (int64_t i = 0; i < n; i++) {
    double k = (double)i, s = 2 * k + a + b;
    q[i] = i ? ratio(b - a, b + a, s * (s + 2)) : dd_div(dd_from(b - a), dd_from(a + b + 2));
    /* p_k = 2 / (s+2) sqrt((k+1)(k+1+a)(k+1+b)(k+1+a+b) / ((s+1)(s+3))), (k+1+a+b) / (s+1) = 1 for k = 0 */
    kugel__dd root = ratio(k + 1 + a, k + 1 + b, s + 3);
    root = dd_mul_d(root, k + 1);
    if (i)
      root = dd_mul(root, ratio(k + 1 + a + b, 1, s + 1));
    p[i] = dd_div(dd_mul_d(dd_sqrt(root), 2), dd_from(s + 2));
  }
}

/* Column j + 1 = ((X - q_j) column j - p_{j-1} column j-1) / p_j with X the multiplication by x in the target family. */
static void next_column(int64_t j, const kugel__dd *p, const kugel__dd *q, const kugel__dd *tp,
                        const kugel__dd *tq, const kugel__dd *now, kugel__dd *before)
{
  for (int64_t i = 0; i <= j + 1; i++) {
    kugel__dd v = {0, 0};
    if (i <= j)
      v = dd_mul(dd_sub(tq[i], q[j]), now[i]);
    if (i > 0)
      v = dd_add(v, dd_mul(tp[i - 1], now[i - 1]));
    if (i + 1 <= j)
      v = dd_add(v, dd_mul(tp[i], now[i + 1]));
    if (j > 0 && i < j)
      v = dd_sub(v, dd_mul(p[j - 1], before[i]));
    before[i] = dd_div(v, p[j]);
  }
}

kugel_status kugel__jacobi_connection(kugel_ctx *ctx, double a, double b, double c, double d,
                                      kugel__dd factor, int64_t n, double *out)
{
  kugel__dd *room;
  KUGEL_ALLOC(ctx, room, sizeof *room * 6 * (size_t)(n + 1));
  kugel__dd *p = room, *q = p + n, *tp = q + n, *tq = tp + n, *now = tq + n, *next = now + n + 1;
  kugel__jacobi_recurrence(a, b, n, p, q);
  kugel__jacobi_recurrence(c, d, n, tp, tq);
  memset(now, 0, sizeof *now * 2 * (size_t)(n + 1));
  memset(out, 0, sizeof *out * (size_t)(n * n));
  now[0] = factor;
  for (int64_t j = 0; j < n; j++) {
    for (int64_t i = 0; i <= j; i++)
      out[i * n + j] = dd_value(now[i]);
    if (j + 1 < n)
      next_column(j, p, q, tp, tq, now, next);
    kugel__dd *swap = now;
    now = next;
    next = swap;
  }
  kugel__free(ctx, room);
  return KUGEL_OK;
}
