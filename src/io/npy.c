/* SPDX-License-Identifier: BSD-3-Clause */
/* NPY arrays, read. Format: NEP 1 of NumPy: magic, version, length, a Python dict literal, padding, data. */
#include <complex.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "core/replace.h"
#include <kugel/io.h>
#include "io/input.h"

enum { MAX_HEADER = 65536, PIECE = 1 << 16 };

typedef struct npy_file {
  FILE *in;
  const char *path;
  int64_t bytes;
  kugel_npy_info info;
} npy_file;

/* ---- header
 * ------------------------------------------------------------------------------------------------- */

/* The text after 'key': in the dict, or NULL. */
static const char *find_value(const char *dict, const char *key)
{
  char quoted[32];
  for (const char *quote = "'\""; *quote; quote++) {
    snprintf(quoted, sizeof quoted, "%c%s%c", *quote, key, *quote);
    const char *at = strstr(dict, quoted);
    if (at) {
      at += strlen(quoted);
      at += strspn(at, " \t");
      return *at == ':' ? at + 1 + strspn(at + 1, " \t") : NULL;
    }
  }
  return NULL;
}

static kugel_status parse_type(npy_file *f, const char *at)
{
  static const struct {
    char letter;
    uint8_t code;
  } kinds[] = {
      {'f', KUGEL_FLOAT}, {'i', KUGEL_INT}, {'u', KUGEL_UINT}, {'c', KUGEL_COMPLEX}, {'b', KUGEL_BOOL}};
  const char *path = kugel__tail(f->path);
  KUGEL_CHECK(at && (*at == '\'' || *at == '"'), KUGEL_ENOTSUP,
              "'%s' holds records or has no 'descr': only arrays of numbers are read", path);
  at++;
  char order = *at;
  if (strchr("<>|=", order) && order)
    at++;
  char letter = *at ? *at++ : 0;
  long bytes = isdigit((unsigned char)*at) ? strtol(at, NULL, 10) : letter == '?' ? 1 : 0;
  if (letter == '?')
    letter = 'b';
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].letter == letter) {
      bool fits = letter == 'b'   ? bytes == 1
                  : letter == 'f' ? bytes == 2 || bytes == 4 || bytes == 8
                  : letter == 'c' ? bytes == 8 || bytes == 16
                                  : bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
      KUGEL_CHECK(fits, KUGEL_ENOTSUP, "'%s' has elements of type %c%ld, which are not read", path, letter,
                  bytes);
      f->info.dtype = (kugel_dtype){kinds[i].code, (uint8_t)(8 * bytes), 1};
      f->info.big_endian = order == '>' && bytes > 1;
      return KUGEL_OK;
    }
  return KUGEL_FAIL(KUGEL_ENOTSUP, "'%s' has elements of type %.*s: only numbers are read", path,
                    (int)strcspn(at - 1, "'\","), at - 1);
}

static kugel_status parse_shape(npy_file *f, const char *at)
{
  const char *path = kugel__tail(f->path);
  KUGEL_CHECK(at && *at == '(', KUGEL_EFORMAT, "'%s' has no 'shape' in its header", path);
  at++;
  kugel_npy_info *info = &f->info;
  info->count = 1;
  for (;;) {
    at += strspn(at, " \t,");
    if (*at == ')')
      break;
    KUGEL_CHECK(isdigit((unsigned char)*at) && info->ndim < 32, KUGEL_EFORMAT,
                "'%s' has a shape that is no tuple of at most 32 numbers", path);
    char *end;
    errno = 0;
    long long extent = strtoll(at, &end, 10);
    at = end + (*end == 'L');
    KUGEL_CHECK(!errno, KUGEL_EFORMAT, "'%s' has an extent above 2^63", path);
    info->shape[info->ndim++] = extent;
  }
  for (int i = 0; i < info->ndim; i++)
    if (info->shape[i] == 0)
      info->count = 0;
  for (int i = 0; i < info->ndim && info->count; i++)
    KUGEL_CHECK(!__builtin_mul_overflow(info->count, info->shape[i], &info->count) &&
                    info->count < INT64_MAX / 16,
                KUGEL_EFORMAT, "'%s' has a shape of more than 2^63 bytes", path);
  return KUGEL_OK;
}

static kugel_status read_header(npy_file *f)
{
  const char *path = kugel__tail(f->path);
  unsigned char head[12];
  size_t got = fread(head, 1, 10, f->in);
  KUGEL_CHECK(got == 10 && !memcmp(head, "\x93NUMPY", 6), KUGEL_EFORMAT, "'%s' is not an NPY file%s", path,
              kugel__input_guess(head, got));
  KUGEL_CHECK(head[6] >= 1 && head[6] <= 3, KUGEL_ENOTSUP, "'%s' is of NPY version %d, 1 to 3 are read", path,
              head[6]);
  int64_t length = head[8] | head[9] << 8, start = 10;
  if (head[6] > 1) {
    KUGEL_CHECK(fread(head + 10, 1, 2, f->in) == 2, KUGEL_EFORMAT, "'%s' is cut short within its header",
                path);
    length |= (int64_t)head[10] << 16 | (int64_t)head[11] << 24;
    start = 12;
  }
  KUGEL_CHECK(length > 0 && length <= MAX_HEADER, KUGEL_EFORMAT,
              "'%s' has a header of %lld bytes, must be 1 to %d", path, (long long)length, MAX_HEADER);
  char *dict = malloc((size_t)length + 1); // small, gone at the end of the call
  KUGEL_CHECK(dict, KUGEL_ENOMEM, "no memory for a header of %lld bytes", (long long)length);
  kugel_status s = KUGEL_OK;
  if (fread(dict, 1, (size_t)length, f->in) != (size_t)length)
    s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' is cut short within its header", path);
  dict[length] = 0;
  if (!s)
    s = parse_type(f, find_value(dict, "descr"));
  if (!s)
    s = parse_shape(f, find_value(dict, "shape"));
  const char *order = s ? NULL : find_value(dict, "fortran_order");
  if (!s && !(order && (!strncmp(order, "True", 4) || !strncmp(order, "False", 5))))
    s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' has no 'fortran_order' in its header", path);
  f->info.fortran_order = order && *order == 'T';
  free(dict);
  if (s)
    return s;
  int64_t need = start + length + f->info.count * (f->info.dtype.bits / 8);
  if (f->bytes < need)
    s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' is cut short: its header promises %lld bytes, it has %lld", path,
                   (long long)need, (long long)f->bytes);
  return s;
}

static kugel_status open_npy(npy_file *f, const char *path)
{
  memset(f, 0, sizeof *f);
  f->path = path;
  KUGEL_TRY(kugel__input_open(path, &f->in, &f->bytes));
  kugel_status s = read_header(f);
  if (s && ferror(f->in))
    s = kugel__io_fail("read", path, errno);
  if (s) {
    fclose(f->in);
    f->in = NULL;
  }
  return s;
}

kugel_status kugel_npy_inspect(kugel_ctx *ctx, const char *path, kugel_npy_info *out)
{
  (void)ctx;
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  npy_file f;
  kugel_status s = open_npy(&f, path);
  *out = f.info;
  if (!s)
    fclose(f.in);
  return s;
}

/* ---- reading
 * ------------------------------------------------------------------------------------------------ */

static void swap_bytes(char *p, int64_t n, int bytes)
{
  for (int64_t k = 0; k < n; k++, p += bytes)
    for (int i = 0; i < bytes / 2; i++) {
      char c = p[i];
      p[i] = p[bytes - 1 - i];
      p[bytes - 1 - i] = c;
    }
}

/* One real number of the file's (native-endian) type. */
static double real_at(const char *p, kugel_dtype t)
{
#define AS(type)                                                                                             \
  {                                                                                                          \
    type x;                                                                                                  \
    memcpy(&x, p, sizeof x);                                                                                 \
    return (double)x;                                                                                        \
  }
  switch (t.code << 8 | t.bits) {
  case KUGEL_FLOAT << 8 | 64:
    AS(double)
  case KUGEL_FLOAT << 8 | 32:
    AS(float)
  case KUGEL_INT << 8 | 64:
    AS(int64_t)
  case KUGEL_INT << 8 | 32:
    AS(int32_t)
  case KUGEL_INT << 8 | 16:
    AS(int16_t)
  case KUGEL_INT << 8 | 8:
    AS(int8_t)
  case KUGEL_UINT << 8 | 64:
    AS(uint64_t)
  case KUGEL_UINT << 8 | 32:
    AS(uint32_t)
  case KUGEL_UINT << 8 | 16:
    AS(uint16_t)
  default: // uint8, bool
    AS(uint8_t)
  }
#undef AS
}

static bool convertible(kugel_dtype from, kugel_dtype to)
{
  if (kugel__dtype_is(from, to))
    return true;
  bool wide = (to.bits == 32 || to.bits == 64) && to.code == KUGEL_FLOAT && to.lanes == 1;
  if (from.code == KUGEL_COMPLEX)
    return to.code == KUGEL_COMPLEX && (to.bits == 64 || to.bits == 128) && to.lanes == 1;
  return wide && !(from.code == KUGEL_FLOAT && from.bits == 16);
}

static void store(char *out, kugel_dtype to, const char *in, kugel_dtype from)
{
  if (kugel__dtype_is(from, to)) {
    memcpy(out, in, from.bits / 8);
    return;
  }
  int parts = from.code == KUGEL_COMPLEX ? 2 : 1;
  kugel_dtype part = {parts == 2 ? KUGEL_FLOAT : from.code, (uint8_t)(from.bits / parts), 1};
  for (int i = 0; i < parts; i++) {
    double x = real_at(in + i * part.bits / 8, part);
    if (to.bits / parts == 64) {
      memcpy(out + 8 * i, &x, 8);
    } else {
      float narrow = (float)x;
      memcpy(out + 4 * i, &narrow, 4);
    }
  }
}

/* File element number k (in file order) goes to C-order place *at; advances the counters of a Fortran-order
 * walk. */
static void advance(const kugel_npy_info *info, int64_t *index, const int64_t *stride, int64_t *at)
{
  for (int i = 0; i < info->ndim; i++) {
    *at += stride[i];
    if (++index[i] < info->shape[i])
      return;
    *at -= index[i] * stride[i];
    index[i] = 0;
  }
}

static kugel_status read_data(npy_file *f, const kugel_array *array, char *piece)
{
  const kugel_npy_info *info = &f->info;
  int bytes = info->dtype.bits / 8, out_bytes = array->dtype.bits / 8;
  char *out = kugel__array_data(array);
  int64_t index[32] = {0}, stride[33], at = 0, per_piece = PIECE / bytes;
  stride[info->ndim] = 1;
  for (int i = info->ndim - 1; i >= 0; i--)
    stride[i] = stride[i + 1] * info->shape[i];
  bool transpose = info->fortran_order && info->ndim > 1;
  int swap = info->dtype.code == KUGEL_COMPLEX ? bytes / 2 : bytes;
  for (int64_t k = 0; k < info->count; k += per_piece) {
    int64_t n = kugel__min(per_piece, info->count - k);
    KUGEL_TRY(kugel__progress_step((double)k / (double)info->count));
    errno = 0;
    if (fread(piece, (size_t)bytes, (size_t)n, f->in) != (size_t)n)
      return ferror(f->in) ? kugel__io_fail("read", f->path, errno)
                           : KUGEL_FAIL(KUGEL_EFORMAT, "'%s' is cut short", kugel__tail(f->path));
    if (info->big_endian)
      swap_bytes(piece, n * bytes / swap, swap);
    for (int64_t i = 0; i < n; i++) {
      store(out + at * out_bytes, array->dtype, piece + i * bytes, info->dtype);
      if (transpose)
        advance(info, index, stride + 1, &at);
      else
        at++;
    }
  }
  return KUGEL_OK;
}

kugel_status kugel_npy_read(kugel_ctx *ctx, const char *path, const kugel_array *array)
{
  int64_t lead = -1;
  KUGEL_CHECK(array, KUGEL_EINVAL, "array is NULL: pass an array");
  KUGEL_TRY(kugel__array_check(array, "array", array->dtype, 0, NULL, &lead));
  npy_file f;
  KUGEL_TRY(open_npy(&f, path));
  kugel_status s = KUGEL_OK;
  char have[256];
  char *piece = NULL;
  if (kugel__array_count(array) != f.info.count)
    s = KUGEL_FAIL(KUGEL_ESHAPE, "array is %s, '%s' has %lld elements",
                   kugel__array_describe(array, have, sizeof have), kugel__tail(path),
                   (long long)f.info.count);
  else if (!convertible(f.info.dtype, array->dtype))
    s = KUGEL_FAIL(KUGEL_ESHAPE,
                   "array is %s, '%s' has elements of type (%d, %d bits): take that type or float64",
                   kugel__array_describe(array, have, sizeof have), kugel__tail(path), f.info.dtype.code,
                   f.info.dtype.bits);
  if (!s) {
    piece = kugel__alloc(ctx, PIECE);
    kugel__span outer = kugel__progress_enter(0, 1);
    kugel__progress_stage(0, 1, "reading");
    s = piece ? read_data(&f, array, piece) : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a read buffer");
    kugel__progress_leave(outer);
  }
  kugel__free(ctx, piece);
  fclose(f.in);
  return s;
}
