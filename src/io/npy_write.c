/* SPDX-License-Identifier: BSD-3-Clause */
/* NPY arrays, written: version 1 of the format that io/npy.c reads. */
#include <stdio.h>
#include "core/array.h"
#include "core/parallel.h"
#include "core/replace.h"
#include <kugel/io.h>

enum { PIECE = 1 << 16 }; // elements between two questions whether to go on

static kugel_status check_written(const kugel_array *a)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "array is NULL: pass an array");
  KUGEL_CHECK(a->ndim >= 0 && a->ndim <= 32 && (a->shape || !a->ndim), KUGEL_ESHAPE,
              "array has ndim %d, must be 0 to 32", a->ndim);
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EDEVICE, "array is on device type %d: copy it to the host",
              a->device.type);
  int64_t count = 1;
  for (int i = 0; i < a->ndim; i++)
    KUGEL_CHECK(a->shape[i] >= 0 && !__builtin_mul_overflow(count, a->shape[i], &count), KUGEL_ESHAPE,
                "array has extent %lld on axis %d", (long long)a->shape[i], i);
  KUGEL_CHECK(a->data || !count, KUGEL_EINVAL, "array has data NULL");
  int bits = a->dtype.bits;
  bool known = false;
  switch (a->dtype.code) {
  case KUGEL_INT:
  case KUGEL_UINT:
    known = bits == 8 || bits == 16 || bits == 32 || bits == 64;
    break;
  case KUGEL_FLOAT:
    known = bits == 16 || bits == 32 || bits == 64;
    break;
  case KUGEL_COMPLEX:
    known = bits == 64 || bits == 128;
    break;
  case KUGEL_BOOL:
    known = bits == 8;
  }
  KUGEL_CHECK(known && a->dtype.lanes == 1, KUGEL_ENOTSUP,
              "elements of type (%d, %d bits, %d lanes) are not written", a->dtype.code, bits,
              a->dtype.lanes);
  return KUGEL_OK;
}

static void write_header(FILE *out, const kugel_array *a)
{
  static const char letters[] = {
      [KUGEL_INT] = 'i', [KUGEL_UINT] = 'u', [KUGEL_FLOAT] = 'f', [KUGEL_COMPLEX] = 'c', [KUGEL_BOOL] = 'b'};
  char dict[1024];
  int n = snprintf(dict, sizeof dict, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (",
                   a->dtype.bits == 8 ? '|' : '<', letters[a->dtype.code], a->dtype.bits / 8);
  for (int i = 0; i < a->ndim; i++)
    n += snprintf(dict + n, sizeof dict - (size_t)n, "%lld%s", (long long)a->shape[i],
                  a->ndim == 1      ? ","
                  : i + 1 < a->ndim ? ", "
                                    : "");
  n += snprintf(dict + n, sizeof dict - (size_t)n, "), }");
  int total = (10 + n + 1 + 63) / 64 * 64; // data aligned to 64 bytes
  fprintf(out, "%cNUMPY%c%c%c%c%s%*s\n", 0x93, 1, 0, (total - 10) & 255, (total - 10) >> 8, dict,
          total - 11 - n, "");
}

static kugel_status write_data(FILE *out, const kugel_array *a)
{
  size_t bytes = a->dtype.bits / 8;
  const char *data = kugel__array_data(a);
  int64_t count = kugel__array_count(a), index[32] = {0}, at = 0;
  if (count && kugel__array_contiguous(a)) {
    for (int64_t k = 0; k < count && !ferror(out); k += PIECE) {
      KUGEL_TRY(kugel__progress_step((double)k / (double)count));
      fwrite(data + k * (int64_t)bytes, bytes, (size_t)kugel__min(PIECE, count - k), out);
    }
    return KUGEL_OK;
  }
  for (int64_t k = 0; k < count && !ferror(out); k++) {
    if (k % 1024 == 0)
      KUGEL_TRY(kugel__progress_step((double)k / (double)count));
    fwrite(data + at * (int64_t)bytes, bytes, 1, out);
    for (int i = a->ndim - 1; i >= 0; i--) {
      at += a->strides[i];
      if (++index[i] < a->shape[i])
        break;
      at -= index[i] * a->strides[i];
      index[i] = 0;
    }
  }
  return KUGEL_OK;
}

kugel_status kugel_npy_write(kugel_ctx *ctx, const char *path, int overwrite, const kugel_array *array)
{
  KUGEL_TRY(check_written(array));
  kugel__replace file;
  FILE *out;
  KUGEL_TRY(kugel__replace_begin(ctx, path, overwrite, &file));
  kugel_status s = kugel__replace_open(&file, &out);
  if (!s) {
    write_header(out, array);
    kugel__span outer = kugel__progress_enter(0, 1);
    kugel__progress_stage(0, 1, "writing");
    s = write_data(out, array);
    kugel__progress_leave(outer);
  }
  return kugel__replace_finish(&file, s, out);
}
