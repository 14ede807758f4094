/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel texts of the tests. */
#ifndef KUGEL_TESTS_KERNELS_H
#define KUGEL_TESTS_KERNELS_H

#include <stdio.h>
#include <stdlib.h>

/* The text of tests/data/kernels/<name>.cl, to be freed; NULL if it cannot be read. */
static inline char *kernel_text(const char *name)
{
  char path[1024];
  const char *root = getenv("KUGEL_TEST_DATA");
  snprintf(path, sizeof path, "%s/kernels/%s.cl", root ? root : "tests/data", name);
  FILE *f = fopen(path, "rb");
  if (!f)
    return NULL;
  static const size_t room = 1 << 20;
  char *text = calloc(room, 1);
  size_t n = text ? fread(text, 1, room - 1, f) : 0;
  fclose(f);
  if (n)
    return text;
  free(text);
  return NULL;
}

#endif
