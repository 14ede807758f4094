/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "ndarray.h"

int64_t ndarray_count(const ndarray *a)
{
  int64_t count = 1;
  for (int i = 0; i < a->ndim; i++)
    count *= a->shape[i];
  return count;
}

static size_t element(const ndarray *a)
{
  return (a->single ? 4u : 8u) * (a->is_complex ? 2u : 1u);
}

double ndarray_bytes(const ndarray *a)
{
  return (double)ndarray_count(a) * (double)element(a);
}

kugel_array ndarray_view(ndarray *a)
{
  return (kugel_array){.data = a->data,
                       .device = {KUGEL_CPU, 0},
                       .ndim = a->ndim,
                       .dtype = {a->is_complex ? KUGEL_COMPLEX : KUGEL_FLOAT, (uint8_t)(8 * element(a)), 1},
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
  a->single = (info.dtype.code == KUGEL_FLOAT && info.dtype.bits <= 32) ||
              (info.dtype.code == KUGEL_COMPLEX && info.dtype.bits == 64);
  return EXIT_DONE;
}

/* Reals at the start of the memory become complex numbers, the last one first. */
static void widen(ndarray *a)
{
  double *x = a->data;
  float *f = a->data;
  for (int64_t i = ndarray_count(a) - 1; i >= 0; i--)
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
  bool to_widen = a->is_complex && info.dtype.code != KUGEL_COMPLEX;
  kugel_array view = ndarray_view(a);
  if (to_widen)
    view.dtype = (kugel_dtype){KUGEL_FLOAT, a->single ? 32 : 64, 1};
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
  LIB(kugel_npy_write(NULL, path, run.overwrite, &view));
  return EXIT_DONE;
}

void ndarray_close(ndarray *a)
{
  free(a->data);
  a->data = NULL;
}

const char *ndarray_text(const ndarray *a, char *buffer, size_t size)
{
  size_t at = 0;
  for (int i = 0; i < a->ndim && at < size; i++)
    at += (size_t)snprintf(buffer + at, size - at, "%s%lld", i ? " x " : "", (long long)a->shape[i]);
  if (at < size)
    snprintf(buffer + at, size - at, " %s%d", a->is_complex ? "complex" : "float", (int)(8 * element(a)));
  return buffer;
}

void ndarray_json(const ndarray *a, const char *name)
{
  char key[64], type[16];
  snprintf(key, sizeof key, "%s_shape", name);
  json_array(key);
  for (int i = 0; i < a->ndim; i++)
    json_int(NULL, a->shape[i]);
  json_end();
  snprintf(key, sizeof key, "%s_type", name);
  snprintf(type, sizeof type, "%s%d", a->is_complex ? "complex" : "float", (int)(8 * element(a)));
  json_text(key, type);
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
