/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests that compare transforms made in two ways share: grids, random numbers, differences. */
#ifndef KUGEL_TESTS_COMPARE_H
#define KUGEL_TESTS_COMPARE_H

#include "check.h"
#include <kugel/sphere.h>

static uint64_t seed = 7;

static inline kugel_grid *make_grid(kugel_grid_kind kind, int64_t a, int64_t b)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = kind, .nside = a, .ntheta = a, .nphi = b, .phi0 = 0.3};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static inline double *random_numbers(int64_t n)
{
  double *x = malloc((size_t)n * 8 + 8);
  for (int64_t i = 0; i < n; i++)
    x[i] = check_random(&seed);
  return x;
}

static inline double difference(int64_t n, const double *x, const double *y)
{
  double sum = 0, all = 0;
  for (int64_t i = 0; i < n; i++) {
    sum += isfinite(x[i]) ? (x[i] - y[i]) * (x[i] - y[i]) : INFINITY;
    all += y[i] * y[i];
  }
  return sum > 0 ? sqrt(sum / all) : 0;
}

#endif
