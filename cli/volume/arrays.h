/* SPDX-License-Identifier: BSD-3-Clause */
/* Images, PSFs and masks of the commands that deconvolve, as arrays of float or double. */
#ifndef KUGEL_CLI_VOLUME_ARRAYS_H
#define KUGEL_CLI_VOLUME_ARRAYS_H

#include "fft/ndarray.h"

/* Reads a volume, that of one channel or (channel < 0) of a file that must have one only, from NPY or as a stack, of one to three axes; bits: 32 as floats, 64 as doubles, 0 as the
 * file has it;
 * voxel: z, y, x in um, 0 where it is not known, or NULL. */
int volume_read(ndarray *a, const char *path, int64_t channel, int bits, double voxel[3]);
/* As volume_read, without the values. */
int volume_inspect(ndarray *a, const char *path, int64_t channel, double voxel[3], int64_t *thread_bytes);
/* Writes three axes: NPY files as they are, others as stacks with their voxel size in um. */
int volume_write(const ndarray *a, const char *path, const double voxel[3]);
/* The lengths z, y, x, of which the first are 1 where the array has fewer axes. */
void volume_shape(const ndarray *a, int64_t shape[3]);
/* "z,y,x" or one length for all; lo above 0. */
int three_numbers(const char *name, const char *text, double out[3]);
/* Says what kugel_psf_check finds, as warnings; image: lengths, or NULL; key: of the JSON object. */
int report_psf(const char *key, ndarray *psf, const int64_t *image, unsigned but);

#endif
