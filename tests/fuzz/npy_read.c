/* SPDX-License-Identifier: BSD-3-Clause */
/* Any file against the reader of NPY arrays. An even first byte: the rest is the file; an odd one: the second
 * byte is the version, and the rest follows the magic string. What is read and written again reads the same.
 */
#include <kugel/io.h>
#include "fuzz.h"

enum { LARGEST = 4096 };

static void read_into(const kugel_npy_info *info, kugel_dtype type, double *values)
{
  kugel_array a = {.data = values, .device = {KUGEL_CPU, 0}, .ndim = 1, .dtype = type};
  int64_t count = info->count;
  a.shape = &count;
  if (kugel_npy_read(NULL, fuzz_path(), &a))
    REQUIRE(kugel_last_error()[0]);
}

static void write_again(int64_t count, const double *values)
{
  static double again[2 * LARGEST];
  char path[80];
  kugel_npy_info info;
  snprintf(path, sizeof path, "%s.npy", fuzz_path());
  REQUIRE(!kugel_npy_write(NULL, path, 1, KUGEL_ARRAY((void *)values, KUGEL_F64, count)));
  REQUIRE(!kugel_npy_inspect(NULL, path, &info) && info.count == count);
  REQUIRE(!kugel_npy_read(NULL, path, KUGEL_ARRAY(again, KUGEL_F64, count)));
  REQUIRE(!memcmp(again, values, (size_t)count * sizeof *values));
  unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static double values[2 * LARGEST];
  kugel_npy_info info;
  if (size < 2)
    return 0;
  const char before[8] = {(char)0x93, 'N', 'U', 'M', 'P', 'Y', (char)data[1], 0};
  const int raw = data[0] % 2 == 0, written = raw ? fuzz_write(NULL, 0, data + 1, size - 1)
                                                  : fuzz_write(before, sizeof before, data + 2, size - 2);
  if (!written)
    return 0;
  if (kugel_npy_inspect(NULL, fuzz_path(), &info)) {
    REQUIRE(kugel_last_error()[0]);
    return 0;
  }
  if (info.count > LARGEST)
    return 0;
  read_into(&info, KUGEL_F32, values);
  read_into(&info, KUGEL_I32, values);
  read_into(&info, KUGEL_I64, values);
  read_into(&info, KUGEL_C128, values);
  memset(values, 0, sizeof values);
  read_into(&info, KUGEL_F64, values);
  write_again(info.count, values);
  return 0;
}
