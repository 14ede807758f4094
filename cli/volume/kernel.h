/* SPDX-License-Identifier: BSD-3-Clause */
/* Images with one kernel or PSF: what kugel convolve and kugel deconvolve share. */
#ifndef KUGEL_CLI_VOLUME_KERNEL_H
#define KUGEL_CLI_VOLUME_KERNEL_H

#include "volume/arrays.h"
#include "volume/stacks.h"

/* One kernel or PSF. */
typedef struct kernel {
  const char *path;
  ndarray array; /* data NULL: planes are read as they are needed, as doubles */
  int64_t channel;
  double sum;           /* by which planes that are read are divided, 0: none */
  int64_t shape[3];     /* z, y, x */
  int64_t centre[3];    /* of kernels_centre */
  bool between;         /* the brightest part lies between voxels */
  int64_t depths;       /* kernels by depth, of which the array has 4 axes; 0: one */
  double voxel[3];      /* um, 0 where not known */
  int64_t thread_bytes; /* of its file: memory of a thread that reads it */
} kernel;

/* One for all channels, or one a channel: a file of several channels, or files with commas between. */
typedef struct kernels {
  char *text;
  int64_t count;
  int64_t files; /* of[] that are open: more than count where kernels by depth are one */
  kernel *of;
} kernels;

/* bits: as for volume_read; most: bytes of all kernels as doubles beyond which they stay in their files, 0: any. */
int kernels_read(kernels *k, const char *operand, int bits, double most);
void kernels_close(kernels *k);
/* Bytes in memory. */
double kernels_bytes(const kernels *k);
/* --centre of each: "middle", (k - 1) / 2, rounded down; "auto", along axes of even length the brighter one of the two middle
 * elements; or an element Z,Y,X of all. */
#define CENTRE_HELP                                                                                          \
  "the element that lies on a result's own place: middle, (k - 1) / 2; auto: along even lengths the "        \
  "brighter one of the two in the middle; or Z,Y,X, counted from 0"
int kernels_centre(kernels *k, const char *text);
/* Divides each by its sum. */
int kernels_normalise(kernels *k);
/* A number for the values and lengths of all. */
int kernels_hash(const kernels *k, uint64_t *hash);
/* --depths: planes, with commas between, that the kernels belong to, which become one of 4 axes, for all channels. */
enum { MOST_DEPTHS = 256 };
int kernels_join(kernels *k, const char *depths, double plane[MOST_DEPTHS]);

/* Planes of kernels that stayed in their files, as kugel_volume_opts.read_kernel; `of`: one, or those by depth. */
typedef struct kernel_reader {
  const kernel *of;
  int64_t now; /* the one that is open, if `file` is */
  stack file;
  int code; /* of the failure that is said */
} kernel_reader;
void kernel_reader_close(kernel_reader *r);
#define KERNEL_READER __attribute__((cleanup(kernel_reader_close))) kernel_reader
int kernel_read(void *reader, const int64_t *lo, const int64_t *n, void *values);

/* The kernel of an image's channel. */
int kernels_choose(const kernels *k, const stack *image, int64_t channel, int64_t *which);
/* Refuses numbers of kernels and channels that do not fit, and, unless any_voxel, voxel sizes that differ by more than
 * 1 % along axes on which a kernel is longer than 1. */
int kernels_check(const kernels *k, const stack *image, int64_t first, int64_t channels, bool any_voxel);
/* First channel and number of channels of --channel. */
int choose_channels(const stack *image, const arg *chosen, int64_t *first, int64_t *count);

#endif
