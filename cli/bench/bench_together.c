/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of what several processes do together. */
#include <stdlib.h>
#include "bench/bench.h"
#include "common/json.h"

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int bench_together(int (*once)(void *user), void *user, kugel_comm *comm, double seconds, double *median)
{
  enum { MAX = 200 };
  double times[MAX];
  int64_t runs = 0;
  for (int64_t i = -1; i < runs || i < 0; i++) {
    LIB(kugel_comm_barrier(comm));
    double start = now();
    STEP(once(user));
    LIB(kugel_comm_barrier(comm));
    double took = now() - start;
    if (i >= 0) {
      times[i] = took;
      continue;
    }
    runs = took * MAX < seconds ? MAX : took * 5 > seconds ? 5 : (int64_t)(seconds / took);
    LIB(kugel_comm_bcast(comm, &runs, sizeof runs, 0));
  }
  qsort(times, (size_t)runs, sizeof *times, compare);
  *median = times[runs / 2];
  json_number("median_seconds", *median);
  json_number("min_seconds", times[0]);
  json_int("runs", runs);
  return EXIT_DONE;
}
