/* SPDX-License-Identifier: BSD-3-Clause */
/* The data of NRRD and MetaImage: behind a header or in a file of their own, as they are or packed by zlib. */
#ifndef KUGEL_STACK_DATA_H
#define KUGEL_STACK_DATA_H

#include "stack/stack.h"

/* Reading: numbers of [t, c, z, y, x] at `place` in the bytes from `at` on of the image's own file (data NULL) or of the
 * file `data`. Packed ones are unpacked to a temporary file as far as they are asked for. at -1: the numbers are the last
 * bytes of the file. */
kugel_status kugel__data_open(kugel_image *im, const char *data, int64_t at, const kugel__stack_place *place,
                              bool swap, bool packed);

/* Writing: header, and data behind it or, with a suffix, in a file whose name's end is replaced by it. packing: 0 none, or
 * windowBits of zlib (31: gzip, 15: zlib). C order. */
kugel_status kugel__data_create(kugel_image *im, const char *header, size_t n, const char *suffix,
                                int packing);

/* The last part of a path with another end: "a/b.mhd", ".raw": "b.raw"; to be freed by kugel__free. */
kugel_status kugel__data_name(kugel_image *im, const char *suffix, bool whole_path, char **out);

/* ---- what the headers of NRRD and MetaImage have in common: up to five axes, the fastest first ---- */

enum { KUGEL__DATA_AXES = 5 };

typedef struct kugel__data_header {
  const char *suffix; /* of the file of the data; NULL: they follow the header */
  int packing;        /* as kugel__data_create's */
} kugel__data_header;

/* The file that a header names, at most 1023 bytes: one, not a list or a pattern of several. */
kugel_status kugel__data_take_name(const kugel_image *im, const char *name, char out[1024]);
/* Bytes to skip before the data, -1 or more; `key` is the header's word for it. */
kugel_status kugel__data_take_skip(const kugel_image *im, const char *key, const char *value, int64_t *skip);
/* Strides of axes of size[i] numbers, where axis[i] is the place in [t, c, z, y, x] of the i-th; `step`: of the first. */
void kugel__data_strides(int naxes, const int *axis, const int64_t *size, int64_t step,
                         kugel__stack_place *place);
/* Names of channels: lines of the image's text that begin with `word`, a number and `equals`. */
void kugel__data_channels(kugel_image *im, const char *word, const char *equals);
/* Reads the header's text up to `end(text)`, which is kept as the image's, and runs parse, then names. */
kugel_status kugel__data_read(kugel_image *im, int64_t most, size_t (*end)(const char *text),
                              kugel_status (*parse)(kugel_image *im, char *text),
                              void (*names)(kugel_image *im));
/* The axes that are written: x, y, z, and channels and times where there are several. */
int kugel__data_axes(const kugel_image *im, int axes[KUGEL__DATA_AXES]);
/* Writes the header that `describe` adds and begins the data; `data` is the name of their file, or NULL. */
kugel_status kugel__data_write(kugel_image *im, const kugel__data_header *of,
                               void (*describe)(const kugel_image *im, kugel__grow *out, const char *data,
                                                bool packed));

/* The finish of raw stacks: the file has its whole length though voxels were never written. */
kugel_status kugel__stack_extend(kugel_image *im);

#endif
