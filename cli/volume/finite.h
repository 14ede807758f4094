/* SPDX-License-Identifier: BSD-3-Clause */
/* Voxels that are NaN or infinite, in boxes that are read: a NaN would make all results of its tile NaN, of other engines those of
 * the whole volume. */
#ifndef KUGEL_CLI_VOLUME_FINITE_H
#define KUGEL_CLI_VOLUME_FINITE_H

#include "volume/arrays.h"

typedef struct finite_box {
  const char *path;
  kugel_dtype type; /* others than float32 and float64 are finite */
  int mode;         /* 0: such a voxel is a failure, 1: it becomes 0, 2: it stays */
  int64_t count;    /* receives how many more there are */
  char text[300];   /* of a failure */
} finite_box;

/* 1 with text set for a failure, else 0. */
int finite_check(finite_box *f, const int64_t lo[3], const int64_t n[3], void *values);

#endif
