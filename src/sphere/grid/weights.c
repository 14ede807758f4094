/* SPDX-License-Identifier: BSD-3-Clause */
/* Quadrature weights of the equidistant grids as sums of cosines with exactly reduced arguments.
 * Sources: Waldvogel, BIT 46 (2006) (Fejer, Clenshaw-Curtis); McEwen and Wiaux, IEEE TSP 59 (2011), eq. 5. */
#include <math.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "sphere/grid/grid.h"

/* All angles are multiples of pi / period: table[i] = cos(i pi / period), i < 2 period. */
typedef struct job {
  kugel_grid_kind kind;
  int64_t n, period;
  const double *cosine;
  double *weight;
} job;

static double cosine(const job *j, int64_t multiple)
{
  return j->cosine[multiple % (2 * j->period)];
}

// sum_{k=1}^{n/2} b_k cos(2 k i pi / N) / (4 k^2 - 1)
static double cosine_sum(const job *j, int64_t step, int64_t terms, bool halve_last)
{
  long double sum = 0;
  int64_t at = 0;
  for (int64_t k = 1; k <= terms; k++) {
    at = (at + step) % (2 * j->period);
    double b = halve_last && k == terms ? 1 : 2;
    sum += b * j->cosine[at] / (4.0L * (long double)k * (long double)k - 1);
  }
  return (double)sum;
}

// sum_{k=1}^{terms} sin((2k-1) x) / (2k-1), x = step pi / period; sin a = cos(pi/2 - a) needs an even period
static double sine_sum(const job *j, int64_t step, int64_t terms)
{
  long double sum = 0;
  int64_t around = 2 * j->period, at = ((j->period / 2 - step) % around + around) % around; // sin(step)
  for (int64_t k = 1; k <= terms; k++) {
    sum += j->cosine[at] / (long double)(2 * k - 1);
    at = (at - 2 * step % around + around) % around;
  }
  return (double)sum;
}

static kugel_status one_weight(void *arg, int64_t i)
{
  const job *j = arg;
  int64_t n = j->n;
  double w = 0;
  switch (j->kind) {
  case KUGEL_GRID_FEJER1: // period 2 n, theta = (2 i + 1) pi / (2 n)
    w = 2.0 / (double)n * (1 - cosine_sum(j, 2 * (2 * i + 1), n / 2, false));
    break;
  case KUGEL_GRID_CLENSHAW_CURTIS: { // period N = n - 1
    int64_t intervals = n - 1;
    bool end = i == 0 || i == intervals;
    w = (end ? 1.0 : 2.0) / (double)intervals * (1 - cosine_sum(j, 2 * i, intervals / 2, intervals % 2 == 0));
    break;
  }
  case KUGEL_GRID_FEJER2:           // period 2 (n + 1), theta = (i + 1) pi / (n + 1)
  case KUGEL_GRID_DRISCOLL_HEALY: { // the same with n - 1 inner nodes and a pole of weight 0
    int64_t intervals = j->kind == KUGEL_GRID_FEJER2 ? n + 1 : n,
            k = j->kind == KUGEL_GRID_FEJER2 ? i + 1 : i;
    double s = cosine(j, 2 * j->period - 2 * k + j->period / 2);
    w = 4 * s / (double)intervals * sine_sum(j, 2 * k, intervals / 2);
    break;
  }
  case KUGEL_GRID_MCEWEN_WIAUX: { // period 2 n - 1, theta = (2 i + 1) pi / (2 n - 1); even |m| <= n - 1
    double around = 1 - cosine_sum(j, 2 * (2 * i + 1), (n - 1) / 2, false);
    w = (i == n - 1 ? 2.0 : 4.0) / (double)(2 * n - 1) * around;
    break;
  }
  default:
    break;
  }
  j->weight[i] = w;
  return KUGEL_OK;
}

kugel_status kugel__grid_theta_weights(kugel_ctx *ctx, kugel_grid_kind kind, int64_t n, double *weight)
{
  job j = {kind, n, 1, NULL, weight};
  switch (kind) {
  case KUGEL_GRID_FEJER1:
    j.period = 2 * n;
    break;
  case KUGEL_GRID_CLENSHAW_CURTIS:
    j.period = n - 1;
    break;
  case KUGEL_GRID_FEJER2:
    j.period = 2 * (n + 1);
    break;
  case KUGEL_GRID_DRISCOLL_HEALY:
    j.period = 2 * n;
    break;
  default:
    j.period = 2 * n - 1;
    break;
  }
  double *table;
  KUGEL_ALLOC(ctx, table, 16 * j.period);
  for (int64_t i = 0; i < 2 * j.period; i++)
    table[i] = (double)cosl(M_PIl * (long double)i / (long double)j.period);
  j.cosine = table;
  kugel_status s = kugel__parallel(ctx, n, one_weight, &j);
  kugel__free(ctx, table);
  return s;
}
