/* SPDX-License-Identifier: BSD-3-Clause */
#include "sphere/grid/stretch.h"
#include <stdlib.h>

static int by_first(const void *a, const void *b)
{
  const kugel__stretch *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

int64_t kugel__stretch_merge(int64_t n, kugel__stretch *s, int64_t *pixels)
{
  int64_t kept = 0;
  *pixels = 0;
  if (n > 0)
    qsort(s, (size_t)n, sizeof *s, by_first);
  for (int64_t i = 0; i < n; i++) {
    kugel__stretch now = s[i], *last = kept ? &s[kept - 1] : NULL;
    now.at = *pixels;
    *pixels += now.count;
    if (last && last->first + last->count == now.first)
      last->count += now.count;
    else
      s[kept++] = now;
  }
  return kept;
}

int64_t kugel__stretch_place(int64_t n, const kugel__stretch *s, int64_t first)
{
  int64_t lo = 0, hi = n;
  while (hi - lo > 1) {
    int64_t mid = (lo + hi) / 2;
    if (s[mid].first <= first)
      lo = mid;
    else
      hi = mid;
  }
  return s[lo].at + first - s[lo].first;
}
