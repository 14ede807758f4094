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

#endif
