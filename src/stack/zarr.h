/* SPDX-License-Identifier: BSD-3-Clause */
/* Zarr arrays, versions 2 and 3, and OME's metadata above them (0.4, 0.5). */
#ifndef KUGEL_STACK_ZARR_H
#define KUGEL_STACK_ZARR_H

#include <cjson/cJSON.h>
#include "stack/stack.h"

enum { KUGEL__ZARR_PATH = 4096 };

typedef enum kugel__packing { PACK_NONE, PACK_BLOSC, PACK_GZIP, PACK_ZSTD } kugel__packing;

/* How the bytes of a chunk were made, in order: numbers, packing, checksum. */
typedef struct kugel__zarr_codec {
  kugel__packing packing;
  bool big, checksum; // checksum: CRC-32C behind the bytes
} kugel__zarr_codec;

typedef struct kugel__zarr {
  char folder[KUGEL__ZARR_PATH]; // of the array
  bool v3, slash, fortran, sharded, index_first, index_checksum;
  int naxes, axis[5];        // of [t, c, z, y, x]
  int64_t shape[5], file[5]; // in the array's order of axes; file: numbers of one file along each
  int64_t chunk[5];          // of one chunk
  kugel__zarr_codec codec;
  char fill[8];
} kugel__zarr;

/* zarr_codec.c; `to` has `bytes`, no more and no less */
uint32_t kugel__crc32c(const void *data, size_t n);
kugel_status kugel__zarr_unpack(const kugel_image *im, const char *path, const kugel__zarr_codec *c,
                                const char *from, size_t packed, char *to, size_t bytes);
/* Adds a packed chunk to `out`. */
kugel_status kugel__zarr_pack(const kugel_image *im, const char *chunk, size_t bytes, kugel__grow *out);

/* zarr_meta.c: z from the metadata of an array's folder */
kugel_status kugel__zarr_array(kugel_image *im, kugel__zarr *z, const char *folder);
/* A JSON file, NULL in *json if there is none. */
kugel_status kugel__zarr_json(kugel_image *im, const char *folder, const char *name, cJSON **json);

/* zarr.c: the file of a chunk or shard below the folder */
kugel_status kugel__zarr_key(const kugel_image *im, const kugel__zarr *z, const int64_t *index,
                             char path[KUGEL__ZARR_PATH]);

#endif
