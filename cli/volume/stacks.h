/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks of images as the commands use them. */
#ifndef KUGEL_CLI_STACKS_H
#define KUGEL_CLI_STACKS_H

#include <kugel/image.h>
#include "common/report.h"

typedef struct stack {
  const char *path;
  kugel_image *image;
  kugel_image_info info;
} stack;

int stack_open(stack *s, const char *path, int level);
/* Without keeping what was not finished. */
void stack_close(stack *s);
#define STACK __attribute__((cleanup(stack_close))) stack
/* Gives a stack that was written its name. */
int stack_finish(stack *s);
/* As check_output, but a folder may be a Zarr. */
int stack_check_output(const char *path);
int stack_create(stack *s, const char *path, const kugel_image_opts *opts);

/* Is it a file or folder that kugel_image_open is for, by its first bytes? NPY files are not counted. */
bool stack_is(const char *path);
const char *stack_type(kugel_dtype t); /* "uint16" */
/* "2 channels, 40 x 201 x 101 uint16"; returns buffer. */
const char *stack_text(const kugel_image_info *info, char *buffer, size_t size);
/* "0.3 x 0.13 x 0.13 um", "" if nothing is known. */
const char *stack_voxel_text(const kugel_image_info *info, char *buffer, size_t size);
void stack_json(const char *key, const kugel_image_info *info);
double stack_bytes(const kugel_image_info *info);

/* --dtype: the index among STACK_TYPES; 0 keeps the input's. */
#define STACK_TYPES "keep|u8|i8|u16|i16|u32|i32|f16|f32|f64"
kugel_dtype stack_choose_type(int64_t choice, kugel_dtype keep);
#define STACK_COMPRESSIONS "auto|none|deflate|lzw|packbits|zstd|blosc|lz4"

/* Says how many chunks that were read are not there. */
int stack_report_missing(const stack *in);

/* Planes of a slab of about 64 MB, whole pieces of the file. */
int64_t stack_slab(const kugel_image_info *info);

/* "z0:z1,y0:y1,x0:x1", each part may be empty: lo and n within shape (z, y, x). */
int stack_crop(const char *text, const int64_t *shape, int64_t lo[3], int64_t n[3]);

/* --voxel Z,Y,X in micrometres; text NULL leaves it. */
int stack_take_voxel(const char *text, double voxel[3]);

int describe_stack(const char *path, bool stats);

#endif
