/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of float or double, real or complex, between NPY files and memory. */
#ifndef KUGEL_CLI_NDARRAY_H
#define KUGEL_CLI_NDARRAY_H

#include "report.h"

enum { MAX_NDIM = 8 };

typedef struct ndarray {
  const char *path;
  int ndim;
  int64_t shape[MAX_NDIM];
  bool single, is_complex;
  void *data; /* C order */
} ndarray;

/* Reads the header; files of float32 and complex64 are single, all others double. */
int ndarray_open(ndarray *a, const char *path);
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
