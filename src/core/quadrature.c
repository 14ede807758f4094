/* SPDX-License-Identifier: BSD-3-Clause */
/* Gauss-Legendre and Gauss-Lobatto nodes by Newton's method in long double, O(n) in all.
 * Near the pole P_n comes from the difference form of its recurrence, which does not cancel there; elsewhere
 * from Stieltjes' asymptotic series. Source: Hale and Townsend, SIAM J. Sci. Comput. 35 (2013), section 3.1.
 */
#include <math.h>
#include "core/parallel.h"
#include "core/quadrature.h"

enum { BOUNDARY = 40, TERMS = 30, CHUNK = 256 };

typedef struct value {
  long double p, dp; // P_n(cos theta) and its derivative by theta
} value;

// P_{l+1} - P_l = l/(l+1) (P_l - P_{l-1}) - (2l+1)/(l+1) (1-x) P_l, 1-x = 2 sin^2(theta/2).
static value by_recurrence(int64_t n, long double theta)
{
  long double h = sinl(theta / 2), y = 2 * h * h, p = 1, d = -y; // d = P_1 - P_0
  for (int64_t l = 1; l <= n; l++) {
    p += d;
    if (l < n)
      d = ((long double)l * d - (long double)(2 * l + 1) * y * p) / (long double)(l + 1);
  }
  // dP/dtheta = n (x P_n - P_{n-1}) / sin theta with x P_n - P_{n-1} = d - (1-x) P_n
  return (value){p, (long double)n * (d - y * p) / sinl(theta)};
}

// P_n(cos t) = C sum_m h_m cos((n+m+1/2) t - (m+1/2) pi/2) / (2 sin t)^(m+1/2).
static value by_series(int64_t n, long double theta, long double c)
{
  long double s = sinl(theta), x = cosl(theta), scale = c / sqrtl(2 * s), p = 0, dp = 0;
  for (int m = 0; m < TERMS; m++) {
    long double a = ((long double)(n + m) + 0.5L) * theta - ((long double)m + 0.5L) * (M_PIl / 2);
    long double ca = cosl(a), sa = sinl(a);
    p += scale * ca;
    dp -= scale * (((long double)(n + m) + 0.5L) * sa + ((long double)m + 0.5L) * x / s * ca);
    long double up = (long double)m + 0.5L;
    scale *= up * up / ((long double)(m + 1) * ((long double)(n + m) + 1.5L) * 2 * s);
    if (scale < 1e-22L * c)
      break;
  }
  return (value){p, dp};
}

typedef struct job {
  int64_t n;
  long double c; // of the series of P_n; Lobatto: of P_{n-1}
  double *theta, *cth, *sth, *weight;
} job;

// Node k from the north, and its mirror image. `middle`: on the equator.
static void put(const job *j, int64_t k, long double t, long double w, bool middle)
{
  int64_t n = j->n;
  j->theta[k] = middle ? M_PI / 2 : (double)t;
  if (!middle)
    j->theta[n - 1 - k] = (double)(M_PIl - t);
  j->weight[k] = j->weight[n - 1 - k] = (double)w;
  if (j->cth) {
    j->cth[k] = middle ? 0 : (double)cosl(t);
    j->cth[n - 1 - k] = middle ? 0 : -j->cth[k];
    j->sth[k] = j->sth[n - 1 - k] = middle ? 1 : (double)sinl(t);
  }
}

static kugel_status solve(void *arg, int64_t chunk)
{
  const job *j = arg;
  int64_t n = j->n, half = (n + 1) / 2;
  for (int64_t k = chunk * CHUNK; k < kugel__min(half, (chunk + 1) * CHUNK); k++) {
    long double t = ((long double)k + 0.75L) * M_PIl / ((long double)n + 0.5L);
    value v = {0, 1};
    bool middle = 2 * k + 1 == n;
    for (int round = 0; round < 8; round++) {
      v = k < BOUNDARY || n < 4 * BOUNDARY ? by_recurrence(n, t) : by_series(n, t, j->c);
      long double step = middle ? 0 : v.p / v.dp;
      t -= step;
      if (middle)
        t = M_PIl / 2;
      if (fabsl(step) < 1e-17L * t) // converges quadratically: t is final, v.dp is good to 1e-16
        break;
    }
    v = k < BOUNDARY || n < 4 * BOUNDARY ? by_recurrence(n, t) : by_series(n, t, j->c);
    put(j, k, t, 2 / (v.dp * v.dp), middle);
  }
  return KUGEL_OK;
}

kugel_status kugel__gauss_legendre(kugel_ctx *ctx, int64_t n, double *theta, double *cth, double *sth,
                                   double *weight)
{
  KUGEL_CHECK(n >= 1 && n <= 1000000, KUGEL_EINVAL, "Gauss-Legendre order is %lld, must be 1 to 1000000",
              (long long)n);
  job j = {n, 4 / M_PIl, theta, cth, sth, weight};
  for (int64_t i = 1; i <= n; i++) // C = (4/pi) prod j/(j+1/2)
    j.c *= (long double)i / ((long double)i + 0.5L);
  return kugel__parallel(ctx, ((n + 1) / 2 + CHUNK - 1) / CHUNK, solve, &j);
}

// Inner nodes k = 1 ...: zeros of dP/dtheta, P = P_{n-1}, whose derivative is -N (N + 1) P - cot theta
// dP/dtheta.
static kugel_status solve_lobatto(void *arg, int64_t chunk)
{
  const job *j = arg;
  int64_t n = j->n - 1, half = (j->n + 1) / 2;
  long double nn = (long double)n * (long double)(n + 1);
  for (int64_t k = kugel__max(1, chunk * CHUNK); k < kugel__min(half, (chunk + 1) * CHUNK); k++) {
    long double beta = ((long double)k + 0.25L) * M_PIl; // zeros of the Bessel function J_1
    long double t = (beta - 3 / (8 * beta)) / ((long double)n + 0.5L);
    bool middle = 2 * k == n, near = k < BOUNDARY || n < 4 * BOUNDARY;
    value v = {1, 0};
    t = middle ? M_PIl / 2 : t;
    for (int round = 0; round < 8 && !middle; round++) {
      v = near ? by_recurrence(n, t) : by_series(n, t, j->c);
      long double step = v.dp / (-nn * v.p - cosl(t) / sinl(t) * v.dp);
      t -= step;
      if (fabsl(step) < 1e-17L * t)
        break;
    }
    v = near ? by_recurrence(n, t) : by_series(n, t, j->c);
    put(j, k, t, 2 / (nn * v.p * v.p), middle);
  }
  return KUGEL_OK;
}

kugel_status kugel__gauss_lobatto(kugel_ctx *ctx, int64_t n, double *theta, double *cth, double *sth,
                                  double *weight)
{
  KUGEL_CHECK(n >= 2 && n <= 1000000, KUGEL_EINVAL, "Gauss-Lobatto order is %lld, must be 2 to 1000000",
              (long long)n);
  job j = {n, 4 / M_PIl, theta, cth, sth, weight};
  for (int64_t i = 1; i < n; i++)
    j.c *= (long double)i / ((long double)i + 0.5L);
  put(&j, 0, 0, 2 / ((long double)n * (long double)(n - 1)), false);
  return kugel__parallel(ctx, ((n + 1) / 2 + CHUNK - 1) / CHUNK, solve_lobatto, &j);
}
