/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the little-endian .npy files of the shared data folder. */
#ifndef KUGEL_TESTS_GOLDEN_H
#define KUGEL_TESTS_GOLDEN_H

#include "check.h"

/* The data of a .npy file, or NULL (and the case skipped) when it is not there; free() it. *bytes: its size.
 */
static inline void *golden_npy(const char *relative, size_t *bytes)
{
  const char *path = check_shared(relative);
  FILE *f = path ? fopen(path, "rb") : NULL;
  unsigned char head[10];
  void *data = NULL;
  *bytes = 0;
  if (f && fread(head, 1, 10, f) == 10 && fseek(f, 0, SEEK_END) == 0) {
    const long start = 10 + head[8] + 256 * head[9], end = ftell(f);
    *bytes = (size_t)(end - start);
    data = malloc(*bytes);
    fseek(f, start, SEEK_SET);
    if (fread(data, 1, *bytes, f) != *bytes) {
      free(data);
      data = NULL;
    }
  }
  if (f)
    fclose(f);
  if (!data)
    SKIP(relative);
  return data;
}

/* Big-endian doubles of a FITS file from byte `offset` on; NULL when it is not there. */
static inline double *golden_fits(const char *relative, long offset, size_t n)
{
  const char *path = check_shared(relative);
  FILE *f = path ? fopen(path, "rb") : NULL;
  if (!f) {
    SKIP(relative);
    return NULL;
  }
  double *out = malloc(n * sizeof *out);
  fseek(f, offset, SEEK_SET);
  for (size_t i = 0; i < n; i++) {
    unsigned char b[8] = {0};
    uint64_t u = 0;
    if (fread(b, 1, 8, f) != 8)
      break;
    for (int k = 0; k < 8; k++)
      u = u << 8 | b[k];
    memcpy(out + i, &u, 8);
  }
  fclose(f);
  return out;
}

#endif
