/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "fft/ndarray.h"

int64_t ndarray_count(const ndarray *a)
{
  int64_t count = 1;
  for (int i = 0; i < a->ndim; i++)
    count *= a->shape[i];
  return count;
}

static size_t element(const ndarray *a)
{
  unsigned real = a->number == NUMBER_HALF ? 2 : a->number == NUMBER_DOUBLE_DOUBLE ? 16 : a->single ? 4 : 8;
  return real * (a->is_complex ? 2u : 1u);
}

double ndarray_bytes(const ndarray *a)
{
  return (double)ndarray_count(a) * (double)element(a);
}

bool ndarray_has_parts(const ndarray *a)
{
  return a->number == NUMBER_DOUBLE_DOUBLE || (a->number == NUMBER_HALF && a->is_complex);
}

int ndarray_take_parts(ndarray *a)
{
  if (!ndarray_has_parts(a))
    return EXIT_DONE;
  bool half = a->number == NUMBER_HALF;
  if (a->ndim < 2 || a->shape[a->ndim - 1] != 2)
    return fail("%s has no last axis of 2, for %s parts of each number", a->path,
                half ? "real and imaginary" : "high and low");
  a->ndim--;
  return EXIT_DONE;
}

// The type of the elements in memory and in the file.
static kugel_dtype type_of(const ndarray *a)
{
  if (a->number == NUMBER_HALF)
    return (kugel_dtype){KUGEL_FLOAT, 16, 1};
  unsigned bytes = a->is_complex ? 16 : 8;
  return (kugel_dtype){a->is_complex ? KUGEL_COMPLEX : KUGEL_FLOAT,
                       (uint8_t)(a->single ? 4 * bytes : 8 * bytes), 1};
}

kugel_array ndarray_view(ndarray *a)
{
  a->shape[a->ndim] = 2;
  return (kugel_array){.data = a->data,
                       .device = {KUGEL_CPU, 0},
                       .ndim = a->ndim + ndarray_has_parts(a),
                       .dtype = type_of(a),
                       .shape = a->shape};
}

int ndarray_open(ndarray *a, const char *path)
{
  kugel_npy_info info;
  kugel_status status = kugel_npy_inspect(NULL, path, &info);
  *a = (ndarray){.path = path};
  if (status != KUGEL_OK)
    return fail_library(status, NULL);
  if (info.ndim < 1 || info.ndim > MAX_NDIM)
    return fail("%s has %d dimensions; must have 1 to %d", path, (int)info.ndim, MAX_NDIM);
  a->ndim = info.ndim;
  for (int i = 0; i < info.ndim; i++) {
    if (info.shape[i] < 1)
      return fail("%s is empty: extent %lld on axis %d", path, (long long)info.shape[i], i);
    a->shape[i] = info.shape[i];
  }
  a->is_complex = info.dtype.code == KUGEL_COMPLEX;
  a->number = info.dtype.code == KUGEL_FLOAT && info.dtype.bits == 16 ? NUMBER_HALF : NUMBER_PLAIN;
  a->single = (info.dtype.code == KUGEL_FLOAT && info.dtype.bits == 32) ||
              (info.dtype.code == KUGEL_COMPLEX && info.dtype.bits == 64);
  return EXIT_DONE;
}

/* Reals at the start of the memory become complex numbers, the last one first. */
static void widen(ndarray *a)
{
  double *x = a->data;
  float *f = a->data;
  for (int64_t i = ndarray_count(a) * (a->number == NUMBER_DOUBLE_DOUBLE ? 2 : 1) - 1; i >= 0; i--)
    if (a->single) {
      f[2 * i] = f[i];
      f[2 * i + 1] = 0;
    } else {
      x[2 * i] = x[i];
      x[2 * i + 1] = 0;
    }
}

int ndarray_read(ndarray *a)
{
  kugel_npy_info info;
  LIB(kugel_npy_inspect(NULL, a->path, &info));
  if (info.dtype.code == KUGEL_COMPLEX && !a->is_complex)
    return fail("%s holds complex numbers; reals are needed", a->path);
  STEP(ndarray_make(a));
  bool to_widen = a->is_complex && info.dtype.code != KUGEL_COMPLEX && a->number != NUMBER_HALF;
  kugel_array view = ndarray_view(a);
  if (to_widen)
    view.dtype = (kugel_dtype){KUGEL_FLOAT, a->single ? 32 : 64, 1};
  progress_reading(0, 1, "reading");
  LIB(kugel_npy_read(NULL, a->path, &view));
  if (to_widen)
    widen(a);
  return interrupted() ? fail_interrupted() : EXIT_DONE;
}

int ndarray_make(ndarray *a)
{
  char text[32];
  a->data = malloc((size_t)ndarray_count(a) * element(a));
  return a->data ? EXIT_DONE : fail("no memory for %s", bytes_text(ndarray_bytes(a), text, sizeof text));
}

int ndarray_write(const ndarray *a, const char *path)
{
  if (interrupted())
    return fail_interrupted();
  ndarray whole = *a;
  kugel_array view = ndarray_view(&whole);
  progress_writing();
  LIB(kugel_npy_write(NULL, path, run.overwrite, &view));
  return EXIT_DONE;
}

void ndarray_close(ndarray *a)
{
  free(a->data);
  a->data = NULL;
}

static const char *type_name(const ndarray *a, char *name, size_t size)
{
  kugel_dtype t = type_of(a);
  snprintf(name, size, "%s%d", t.code == KUGEL_COMPLEX ? "complex" : "float", t.bits);
  return name;
}

const char *ndarray_text(const ndarray *a, char *buffer, size_t size)
{
  char name[16];
  size_t at = 0;
  for (int i = 0; i < a->ndim && at < size; i++)
    at += (size_t)snprintf(buffer + at, size - at, "%s%lld", i ? " x " : "", (long long)a->shape[i]);
  if (at < size)
    snprintf(buffer + at, size - at, " %s%s", type_name(a, name, sizeof name),
             a->number == NUMBER_DOUBLE_DOUBLE ? " hi, lo"
             : ndarray_has_parts(a)            ? " re, im"
                                               : "");
  return buffer;
}

void ndarray_json(const ndarray *a, const char *name)
{
  char key[64], type[16];
  snprintf(key, sizeof key, "%s_shape", name);
  json_array(key);
  for (int i = 0; i < a->ndim; i++)
    json_int(NULL, a->shape[i]);
  if (ndarray_has_parts(a))
    json_int(NULL, 2);
  json_end();
  snprintf(key, sizeof key, "%s_type", name);
  json_text(key, type_name(a, type, sizeof type));
}

int numbers_parse(const char *name, const char *text, int64_t *n, int *count)
{
  *count = 0;
  for (const char *at = text;; at++) {
    char *end;
    errno = 0;
    long long value = strtoll(at, &end, 10);
    if (end == at || (*end && *end != ',') || errno)
      return fail_usage("%s %.60s: needs whole numbers with commas between", name, text);
    if (*count == MAX_NDIM)
      return fail_usage("%s %.60s: names more than %d", name, text, MAX_NDIM);
    n[(*count)++] = value;
    at = end;
    if (!*at)
      return EXIT_DONE;
  }
}
