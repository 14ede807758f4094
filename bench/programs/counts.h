/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers of ranks, such as "0,1,4". */
#ifndef KUGEL_BENCH_COUNTS_H
#define KUGEL_BENCH_COUNTS_H

#include <stdbool.h>
#include <stdlib.h>

/* At most `most` + 1 numbers from 0 to `most` to counts; false: text is no such list. */
static inline bool read_counts(const char *text, int most, int *counts, int *count)
{
  char *end;
  for (*count = 0; *text && *count <= most; text = *end ? end + 1 : end) {
    long n = strtol(text, &end, 10);
    if (end == text || n < 0 || n > most)
      return false;
    counts[(*count)++] = (int)n;
  }
  return *count > 0;
}

#endif
