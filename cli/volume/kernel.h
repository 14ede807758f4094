/* SPDX-License-Identifier: BSD-3-Clause */
/* Images with one kernel or PSF: what kugel convolve and kugel deconvolve share. */
#ifndef KUGEL_CLI_VOLUME_KERNEL_H
#define KUGEL_CLI_VOLUME_KERNEL_H

#include "volume/arrays.h"
#include "volume/stacks.h"

/* One kernel or PSF. */
typedef struct kernel {
  const char *path;
  ndarray array;
  int64_t shape[3]; /* z, y, x */
  double voxel[3];  /* um, 0 where not known */
} kernel;

/* One for all channels, or one a channel: a file of several channels, or files with commas between. */
typedef struct kernels {
  char *text;
  int64_t count;
  kernel *of;
} kernels;

/* bits: as for volume_read. */
int kernels_read(kernels *k, const char *operand, int bits);
void kernels_close(kernels *k);
/* The kernel of an image's channel. */
int kernels_choose(const kernels *k, const stack *image, int64_t channel, int64_t *which);
/* Refuses numbers of kernels and channels that do not fit, and, unless any_voxel, voxel sizes that differ by more than
 * 1 % along axes on which a kernel is longer than 1. */
int kernels_check(const kernels *k, const stack *image, int64_t first, int64_t channels, bool any_voxel);
/* First channel and number of channels of --channel. */
int choose_channels(const stack *image, const arg *chosen, int64_t *first, int64_t *count);

#endif
