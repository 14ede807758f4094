/* SPDX-License-Identifier: BSD-3-Clause */
/* What the targets share: the file that the bytes are put into. */
#ifndef KUGEL_TESTS_FUZZ_H
#define KUGEL_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition) ((condition) ? (void)0 : abort())

static char fuzz_file[64];

static void fuzz_remove(void)
{
  unlink(fuzz_file);
}

/* A file in memory where there is such a folder; removed at the end. */
static inline const char *fuzz_path(void)
{
  if (!fuzz_file[0]) {
    snprintf(fuzz_file, sizeof fuzz_file, "%s/kugel-fuzz-%d", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm",
             (int)getpid());
    atexit(fuzz_remove);
  }
  return fuzz_file;
}

/* Bytes before (may be NULL) and the input, as the file's contents; 0 if that failed. */
static inline int fuzz_write(const void *before, size_t n_before, const void *data, size_t size)
{
  FILE *f = fopen(fuzz_path(), "wb");
  if (!f)
    return 0;
  if (n_before)
    fwrite(before, 1, n_before, f);
  fwrite(data, 1, size, f);
  return fclose(f) == 0;
}

#endif
