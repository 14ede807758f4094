/* SPDX-License-Identifier: BSD-3-Clause */
/* TIFF: its files, pages, and the metadata of OME and ImageJ. libtiff reads directories and unpacks. */
#ifndef KUGEL_STACK_TIFF_H
#define KUGEL_STACK_TIFF_H

#include <tiffio.h>
#include "stack/stack.h"

/* One reader of a file; libtiff's are for one thread each. */
typedef struct kugel__tiff_handle {
  struct kugel__tiff_handle *next;
  TIFF *tiff;
  const char *path;
  int fd;
  int64_t bytes, at; // at: libtiff's place in the file
  uint64_t page;     // offset of the current directory
  char error[256];
} kugel__tiff_handle;

/* What all pages of a stack have in common. */
typedef struct kugel__tiff_page {
  int64_t width, height, rows, tile_width, tile_height; // rows of a strip; tile_*: 0 for strips
  uint16_t bits, format, samples, planar, compression;
} kugel__tiff_page;

typedef struct kugel__tiff_file {
  char *path;
  int fd;
  int64_t bytes, npages;
  uint64_t *pages; // offsets of the directories
  kugel__tiff_handle *idle;
} kugel__tiff_file;

typedef struct kugel__tiff_plane {
  int32_t file, page; // page -1: there is none
  int64_t at;         // of a plane whose bytes lie together unpacked, else 0
} kugel__tiff_plane;

typedef struct kugel__tiff {
  kugel_ctx *ctx;
  pthread_mutex_t lock; // of files
  kugel__tiff_file *files;
  int64_t nfiles, nplanes;
  kugel__tiff_plane *planes; // [t][c / samples][z]
  kugel__tiff_page page;
  bool swap, raw;
} kugel__tiff;

/* ---- tiff_file.c ---- */

kugel_status kugel__tiff_take(kugel__tiff *t, int64_t file, kugel__tiff_handle **out);
void kugel__tiff_give(kugel__tiff *t, int64_t file, kugel__tiff_handle *h);
/* Makes the directory at this offset the handle's own. */
kugel_status kugel__tiff_turn(kugel__tiff_handle *h, uint64_t page);
kugel_status kugel__tiff_describe(kugel__tiff_handle *h, kugel__tiff_page *p);
/* Lists the pages of a file that was not opened yet. */
kugel_status kugel__tiff_list(kugel__tiff *t, int64_t file);
void kugel__tiff_free(kugel__tiff *t);
kugel_status kugel__tiff_trouble(const kugel__tiff_handle *h, const char *what);
bool kugel__tiff_same(const kugel__tiff_page *a, const kugel__tiff_page *b);

/* ---- metadata: imagej.c, ome.c ---- */

typedef struct kugel__ome_data {
  int64_t ifd, count, first[3]; // first: z, c, t; ifd, count -1: not given
  int64_t file;                 // byte offset of the name in `names`, -1: this file
  int64_t uuid;                 // likewise
} kugel__ome_data;

typedef struct kugel__ome {
  kugel_ctx *ctx;
  int64_t size[5];                   // x, y, z, c, t
  char order[8], type[16], uuid[80]; // order: "XYZCT"
  char unit[3][24], time_unit[24];
  double voxel[3], time_step; // x, y, z in the units
  int64_t nchannels, samples;
  char *names; // NUL-terminated texts one after the other
  int64_t names_used, names_room;
  int64_t *channel; // offsets in names
  int64_t channel_room;
  kugel__ome_data *data;
  int64_t ndata, data_room;
  int depth, images; // of the parser
  bool in_uuid, in_pixels, bad_memory;
  char text[80];
} kugel__ome;

bool kugel__ome_is(const char *text);
/* The first image of OME-XML; `ome` to be freed by kugel__ome_free whatever the result. */
kugel_status kugel__ome_parse(kugel_ctx *ctx, const char *path, const char *text, kugel__ome *ome);
void kugel__ome_free(kugel__ome *ome);
/* The OME-XML of a stack that is written, to be freed by kugel__free. */
kugel_status kugel__ome_write(const kugel_image *im, const char *uuid, char **out);

typedef struct kugel__imagej {
  int64_t images, channels, slices, frames;
  double spacing, interval;
  char unit[24], zunit[24];
} kugel__imagej;

bool kugel__imagej_parse(const char *text, kugel__imagej *ij);

/* ---- tiff_codec.c: packing by libtiff in memory ---- */

/* Packs rows of `width` numbers into kugel__alloc'd memory. */
kugel_status kugel__tiff_pack(const kugel_image *im, uint16_t compression, uint16_t predictor, int64_t width,
                              int64_t rows, char *numbers, char **packed, int64_t *bytes);

/* ---- pieces of planes ---- */

/* Once the planes are known: how they lie in the file, the pieces, the reader. */
kugel_status kugel__tiff_prepare(kugel_image *im, kugel__tiff *t, kugel__tiff_handle *h);

/* ---- metadata that is written ---- */

/* The ImageDescription. */
void kugel__ome_describe(const kugel_image *im, kugel__grow *out);
void kugel__imagej_describe(const kugel_image *im, kugel__grow *out);
/* Tag 50839 with the labels of all planes, which begin with their channel's name, and the lengths for tag 50838; nothing
 * when no channel has a name. */
void kugel__imagej_labels(const kugel_image *im, kugel__grow *labels, kugel__grow *counts);

#endif
