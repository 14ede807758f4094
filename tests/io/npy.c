/* SPDX-License-Identifier: BSD-3-Clause */
/* NPY: all types, orders, endiannesses, versions; damaged headers. */
#include "check.h"
#include <unistd.h>
#include <kugel/io.h>

static char path[64];

static void write_raw(const char *dict, int version, const void *data, size_t size)
{
  FILE *f = fopen(path, "wb");
  size_t n = strlen(dict);
  fprintf(f, "%cNUMPY%c%c%c%c", 0x93, version, 0, (int)(n & 255), (int)(n >> 8));
  if (version > 1)
    fprintf(f, "%c%c", 0, 0);
  fwrite(dict, 1, n, f);
  fwrite(data, 1, size, f);
  fclose(f);
}

int main(void)
{
  snprintf(path, sizeof path, "/tmp/kugel-test-%d.npy", (int)getpid());
  CASE("all types round trip")
  {
    static const kugel_dtype types[] = {{KUGEL_INT, 8, 1},       {KUGEL_INT, 16, 1},   {KUGEL_INT, 32, 1},
                                        {KUGEL_INT, 64, 1},      {KUGEL_UINT, 8, 1},   {KUGEL_UINT, 16, 1},
                                        {KUGEL_UINT, 32, 1},     {KUGEL_UINT, 64, 1},  {KUGEL_FLOAT, 16, 1},
                                        {KUGEL_FLOAT, 32, 1},    {KUGEL_FLOAT, 64, 1}, {KUGEL_COMPLEX, 64, 1},
                                        {KUGEL_COMPLEX, 128, 1}, {KUGEL_BOOL, 8, 1}};
    unsigned char a[16 * 24], b[16 * 24];
    for (size_t i = 0; i < sizeof a; i++)
      a[i] = (unsigned char)(37 * i + 11);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
      size_t bytes = 24 * types[t].bits / 8;
      CHECK_OK(kugel_npy_write(NULL, path, 1, KUGEL_ARRAY(a, types[t], 2, 3, 4)));
      kugel_npy_info info;
      CHECK_OK(kugel_npy_inspect(NULL, path, &info));
      CHECK(info.ndim == 3 && info.shape[2] == 4 && info.count == 24 && !info.fortran_order &&
            !info.big_endian);
      CHECK(info.dtype.code == types[t].code && info.dtype.bits == types[t].bits);
      CHECK_OK(kugel_npy_read(NULL, path, KUGEL_ARRAY(b, types[t], 24)));
      CHECK(!memcmp(a, b, bytes));
    }
  }
  CASE("scalars, empty arrays, strides")
  {
    double x = 2.5, y = 0, m[12], back[6];
    kugel_array scalar = {.data = &x, .device = {KUGEL_CPU, 0}, .dtype = KUGEL_F64};
    CHECK_OK(kugel_npy_write(NULL, path, 1, &scalar));
    scalar.data = &y;
    CHECK_OK(kugel_npy_read(NULL, path, &scalar));
    CHECK(y == 2.5);
    CHECK_OK(kugel_npy_write(NULL, path, 1, KUGEL_ARRAY(NULL, KUGEL_F64, 0, 3)));
    CHECK_OK(kugel_npy_read(NULL, path, KUGEL_ARRAY(NULL, KUGEL_F64, 0)));
    for (int k = 0; k < 12; k++)
      m[k] = k;
    kugel_array view = *KUGEL_ARRAY(m, KUGEL_F64, 3, 2);
    int64_t strides[2] = {4, 2};
    view.strides = strides;
    CHECK_OK(kugel_npy_write(NULL, path, 1, &view));
    CHECK_OK(kugel_npy_read(NULL, path, KUGEL_ARRAY(back, KUGEL_F64, 3, 2)));
    CHECK(back[0] == 0 && back[1] == 2 && back[2] == 4 && back[5] == 10);
    CHECK_IS(kugel_npy_write(NULL, path, 0, KUGEL_ARRAY(m, KUGEL_F64, 12)), KUGEL_EIO);
  }
  CASE("Fortran order, big endian, versions 2 and 3, conversion")
  {
    const unsigned char big[] = {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 255, 250};
    double d[6];
    float f[6];
    for (int version = 1; version <= 3; version++) {
      write_raw("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }   \n", version, big, sizeof big);
      CHECK_OK(kugel_npy_read(NULL, path, KUGEL_ARRAY(d, KUGEL_F64, 2, 3)));
      CHECK(d[0] == 1 && d[1] == 3 && d[2] == 5 && d[3] == 2 && d[4] == 4 && d[5] == -6);
    }
    CHECK_OK(kugel_npy_read(NULL, path, KUGEL_ARRAY(f, KUGEL_F32, 6)));
    CHECK(f[5] == -6);
    CHECK_IS(kugel_npy_read(NULL, path, KUGEL_ARRAY(d, KUGEL_I32, 6)), KUGEL_ESHAPE);
    CHECK_IS(kugel_npy_read(NULL, path, KUGEL_ARRAY(d, KUGEL_F64, 5)), KUGEL_ESHAPE);
  }
  CASE("damaged files")
  {
    static const char *const dicts[] = {
        "",
        "{}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, ",
        "{'descr': '<f8', 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999, 9999999999)}",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (4611686018427387904, 7)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,,,,1 2)}"};
    double d[2] = {0};
    kugel_npy_info info;
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++) {
      write_raw(dicts[i], 1, d, 8);
      CHECK(kugel_npy_inspect(NULL, path, &info) != KUGEL_OK);
      CHECK(strstr(kugel_last_error(), path));
    }
    write_raw("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", 1, d, 8);
    CHECK_IS(kugel_npy_inspect(NULL, path, &info), KUGEL_ENOTSUP);
    CHECK(strstr(kugel_last_error(), "type U1:"));
    CHECK_IS(kugel_npy_inspect(NULL, "/no/file.npy", &info), KUGEL_EIO);
    CHECK_IS(kugel_npy_inspect(NULL, "", &info), KUGEL_EINVAL);
    CHECK_IS(kugel_npy_inspect(NULL, path, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_npy_read(NULL, path, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_npy_write(NULL, path, 1, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_npy_write(NULL, path, 1, KUGEL_ARRAY(NULL, KUGEL_F64, 3)), KUGEL_EINVAL);
  }
  unlink(path);
  END();
}
