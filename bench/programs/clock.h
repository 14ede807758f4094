/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of the programs that time by the host's, and medians. */
#ifndef KUGEL_BENCH_CLOCK_H
#define KUGEL_BENCH_CLOCK_H

#include <stdlib.h>
#include <time.h>

/* Seconds. */
static inline double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

#endif
