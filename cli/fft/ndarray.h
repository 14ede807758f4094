/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of float or double, real or complex, between NPY files and memory; for transforms also of halves
 * (float16; complex numbers have a last axis of 2 more, real and imaginary parts) and of double-doubles
 * (float64 or complex128 with a last axis of 2 more, high and low parts). */
#ifndef KUGEL_CLI_NDARRAY_H
#define KUGEL_CLI_NDARRAY_H

#include "common/report.h"

enum { MAX_NDIM = 8 };

typedef enum number { NUMBER_PLAIN, NUMBER_HALF, NUMBER_DOUBLE_DOUBLE } number;

typedef struct ndarray {
  const char *path;
  int ndim;                    /* without the last axis of 2, */
  int64_t shape[MAX_NDIM + 1]; /* which has room here */
  bool single, is_complex;
  number number;
  void *data; /* C order */
} ndarray;

/* Reads the header; files of float32 and complex64 are single, of float16 halves, all others double. */
int ndarray_open(ndarray *a, const char *path);
/* Whether the array has a last axis of 2 for the parts of its numbers. */
bool ndarray_has_parts(const ndarray *a);
/* Takes the last axis of an open file for that of the parts, if there are any. */
int ndarray_take_parts(ndarray *a);
/* Reads the numbers; reals become complex where `is_complex` was set since. */
int ndarray_read(ndarray *a);
/* Memory for the shape that is set. */
int ndarray_make(ndarray *a);
int ndarray_write(const ndarray *a, const char *path);
void ndarray_close(ndarray *a);
#define NDARRAY __attribute__((cleanup(ndarray_close))) ndarray

int64_t ndarray_count(const ndarray *a);
double ndarray_bytes(const ndarray *a);
kugel_array ndarray_view(ndarray *a);
/* "512 x 1024 complex64"; returns buffer. */
const char *ndarray_text(const ndarray *a, char *buffer, size_t size);
/* Shape and type as keys `NAME_shape` and `NAME_type` of the JSON object. */
void ndarray_json(const ndarray *a, const char *name);

/* Whole numbers with commas between, into n[0 .. *count), at most MAX_NDIM. */
int numbers_parse(const char *name, const char *text, int64_t *n, int *count);

#endif
