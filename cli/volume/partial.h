/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of a run that may be killed: a file beside the output with the boxes that are finished, and how many there
 * are. The next run with the same inputs and options goes on after them. */
#ifndef KUGEL_CLI_VOLUME_PARTIAL_H
#define KUGEL_CLI_VOLUME_PARTIAL_H

#include "volume/stacks.h"

typedef struct partial {
  int fd; /* 0: none */
  char path[4200];
  int64_t volumes, boxes; /* volumes that are finished, and boxes of the one after them */
  int64_t all;            /* boxes of that one, */
  int64_t plan[4];        /* whose plan had this engine and these tiles */
  int64_t voxel_bytes;
} partial;

/* Opens or makes the file for `target`. identity: what the results depend on, line by line; a file of another run is an
 * error. all_bytes: of all volumes together. */
int partial_open(partial *p, const char *target, const char *identity, double all_bytes);
/* Without deleting it. */
void partial_close(partial *p);
#define PARTIAL __attribute__((cleanup(partial_close))) partial
int partial_delete(partial *p);
/* Deletes that of an output that has its name already, unless another run is at work. */
void partial_forget(const char *target);
/* A box of the volume that begins at byte `at`, m: its lengths. Returns 0, or an errno. */
int partial_put(const partial *p, int64_t at, const int64_t m[3], const int64_t lo[3], const int64_t n[3],
                const void *values);
int partial_get(const partial *p, int64_t at, void *values, size_t bytes);
/* These are finished, of a volume of `all` boxes: they are on disk before the number is. Returns 0, or an errno. */
int partial_mark(partial *p, int64_t volumes, int64_t boxes, int64_t all);

#endif
