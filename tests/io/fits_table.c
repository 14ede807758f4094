/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of reals, and copies of tables with further columns: bytes, scales and keywords of the old ones are kept. */
#include "check.h"
#include <unistd.h>
#include <kugel/io.h>
#include "core/alloc.h"
#include "io/by_hand.h"
#include "io/folder.h"

#define OPTS(...) (&(kugel_fits_write_opts){.size = sizeof(kugel_fits_write_opts), __VA_ARGS__})
static const char *const names[2] = {"FLUX", "SIZE"}, *const units[2] = {"Jy", ""};
static char to[64];

/* Text, scaled integers, pairs of floats; `heap`: elements of variable length. */
static void catalogue(int64_t rows, bool heap)
{
  begin(8 + 2 + 8, (int)rows, 3);
  card("TTYPE1  = 'NAME'");
  card(heap ? "TFORM1  = '1PE'" : "TFORM1  = '8A'");
  card("TTYPE2  = 'MAG'");
  card("TFORM2  = 'I'");
  card("TSCAL2  = 0.001");
  card("TZERO2  = 20.0");
  card("TNULL2  = -32768");
  card("TUNIT2  = 'mag'");
  card("TTYPE3  = 'XY'");
  card("TFORM3  = '2E'");
  card("TELESCOP= 'eye     '");
  end_header();
  for (int64_t i = 0; i < rows; i++) {
    for (int k = 0; k < 8; k++)
      big((uint64_t)(heap ? 0 : 'a' + (i + k) % 26), 1);
    big((uint64_t)(uint16_t)(i * 7 - 300), 2);
    big_float((float)i);
    big_float(-0.5f * (float)i);
  }
  finish();
}

static void check_new(void)
{
  double x[6] = {1, 2, 3, -1e300, 0, 1e-300}, y[3];
  float f[2] = {0.25f, -3};
  kugel_fits_column column;
  CHECK_OK(kugel_fits_write_table(NULL, to, OPTS(.names = names, .units = units), NULL,
                                  KUGEL_ARRAY(x, KUGEL_F64, 2, 3)));
  kugel_fits *file = NULL;
  CHECK_OK(kugel_fits_open(NULL, to, NULL, &file));
  const kugel_fits_info *info = kugel_fits_get_info(file);
  CHECK(info->ncolumns == 2 && info->nvalues == 3 && !strcmp(info->extname, "TABLE"));
  for (int64_t c = 0; c < 2; c++) {
    CHECK_OK(kugel_fits_get_column(file, c, &column));
    CHECK(!strcmp(column.name, names[c]) && !strcmp(column.unit, units[c]) && column.dtype.bits == 64);
    CHECK_OK(kugel_fits_read_values(file, c, 0, KUGEL_ARRAY(y, KUGEL_F64, 3)));
    CHECK(!memcmp(y, x + 3 * c, sizeof y));
  }
  kugel_fits_close(file);
  CHECK_IS(kugel_fits_write_table(NULL, to, OPTS(.names = names), NULL, KUGEL_ARRAY(x, KUGEL_F64, 2, 3)),
           KUGEL_EIO);
  CHECK_OK(kugel_fits_write_table(NULL, to, OPTS(.names = names, .overwrite = 1), NULL,
                                  KUGEL_ARRAY(f, KUGEL_F32, 2, 1)));
  CHECK_OK(kugel_fits_open(NULL, to, NULL, &file));
  CHECK_OK(kugel_fits_get_column(file, 1, &column));
  CHECK(column.dtype.bits == 32);
  CHECK_OK(kugel_fits_read_values(file, 1, 0, KUGEL_ARRAY(f, KUGEL_F32, 1)));
  CHECK(f[0] == -3);
  kugel_fits_close(file);
  unlink(to);
}

static void check_copies(void)
{
  const int64_t rows = 2000;
  double *x = malloc((size_t)rows * 16), *a = malloc((size_t)rows * 16), *b = malloc((size_t)rows * 16);
  char text[72];
  for (int64_t i = 0; i < 2 * rows; i++)
    x[i] = (double)i * 0.1;
  catalogue(rows, false);
  kugel_fits *from = open_it(), *file = NULL;
  CHECK_OK(kugel_fits_write_table(NULL, to, OPTS(.names = names, .coordsys = "G"), from,
                                  KUGEL_ARRAY(x, KUGEL_F64, 2, rows)));
  CHECK_OK(kugel_fits_open(NULL, to, NULL, &file));
  const kugel_fits_info *info = kugel_fits_get_info(file), *old = kugel_fits_get_info(from);
  CHECK(info->ncolumns == old->ncolumns + 2 && !strcmp(info->coordsys, "G") &&
        !strcmp(info->extname, old->extname));
  CHECK_OK(kugel_fits_get_keyword(file, "TELESCOP", text, sizeof text));
  CHECK(!strcmp(text, "eye"));
  CHECK_OK(kugel_fits_get_keyword(file, "TFORM1", text, sizeof text));
  CHECK(!strcmp(text, "8A"));
  int64_t mag, column;
  for (int64_t c = 0; c < 2; c++) {
    CHECK_OK(kugel_fits_find_column(file, names[c], &column));
    CHECK_OK(kugel_fits_read_values(file, column, 0, KUGEL_ARRAY(a, KUGEL_F64, rows)));
    CHECK(!memcmp(a, x + c * rows, (size_t)rows * 8));
  }
  CHECK_OK(kugel_fits_find_column(from, "MAG", &mag));
  CHECK_OK(kugel_fits_find_column(file, "MAG", &column));
  CHECK_OK(kugel_fits_read_values(from, mag, 0, KUGEL_ARRAY(a, KUGEL_F64, rows)));
  CHECK_OK(kugel_fits_read_values(file, column, 0, KUGEL_ARRAY(b, KUGEL_F64, rows)));
  CHECK(!memcmp(a, b, (size_t)rows * 8));
  CHECK_LE(fabs(b[1] - (20 + 0.001 * -293)), 1e-12);
  kugel_fits_close(file);
  CHECK_OK(kugel_fits_write_table(NULL, path, OPTS(.names = names, .overwrite = 1), from, /* onto itself */
                                  KUGEL_ARRAY(x, KUGEL_F64, 1, rows)));
  kugel_fits_close(from);
  from = open_it();
  CHECK_OK(kugel_fits_find_column(from, "FLUX", &column));
  kugel_fits_close(from);
  unlink(to), unlink(path);
  free(x), free(a), free(b);
}

/* Rows beyond one buffer of 1 MiB. */
static void check_long(void)
{
  const int64_t rows = 70000;
  double *x = malloc((size_t)rows * 16), *a = malloc((size_t)rows * 8);
  kugel_fits *from = NULL, *file = NULL;
  for (int64_t i = 0; i < 2 * rows; i++)
    x[i] = (double)i * 0.1;
  CHECK_OK(
      kugel_fits_write_table(NULL, path, OPTS(.names = names), NULL, KUGEL_ARRAY(x, KUGEL_F64, 2, rows)));
  CHECK_OK(kugel_fits_open(NULL, path, NULL, &from));
  const char *const more[1] = {"MORE"};
  CHECK_OK(kugel_fits_write_table(NULL, to, OPTS(.names = more), from, KUGEL_ARRAY(x, KUGEL_F64, 1, rows)));
  CHECK_OK(kugel_fits_open(NULL, to, NULL, &file));
  for (int64_t c = 0; c < 3; c++) {
    CHECK_OK(kugel_fits_read_values(file, c, 0, KUGEL_ARRAY(a, KUGEL_F64, rows)));
    CHECK(!memcmp(a, x + c % 2 * rows, (size_t)rows * 8));
  }
  kugel_fits_close(from), kugel_fits_close(file);
  unlink(to), unlink(path);
  free(x), free(a);
}

static void check_refused(void)
{
  double x[2000] = {0};
  const char *many[1000], *empty[2] = {"A", ""};
  for (int i = 0; i < 1000; i++)
    many[i] = "A";
  CHECK_IS(kugel_fits_write_table(NULL, to, NULL, NULL, KUGEL_ARRAY(x, KUGEL_F64, 2, 3)), KUGEL_EINVAL);
  CHECK_IS(kugel_fits_write_table(NULL, to, OPTS(.names = empty), NULL, KUGEL_ARRAY(x, KUGEL_F64, 2, 3)),
           KUGEL_EINVAL);
  CHECK_IS(kugel_fits_write_table(NULL, to, OPTS(.names = names), NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_fits_write_table(NULL, to, OPTS(.names = names), NULL, KUGEL_ARRAY(x, KUGEL_F64, 6)),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_fits_write_table(NULL, to, OPTS(.names = names), NULL, KUGEL_ARRAY(x, KUGEL_I64, 2, 3)),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_fits_write_table(NULL, to, OPTS(.names = many), NULL, KUGEL_ARRAY(x, KUGEL_F64, 1000, 2)),
           KUGEL_ESHAPE);
  catalogue(5, false);
  kugel_fits *from = open_it();
  CHECK_IS(kugel_fits_write_table(NULL, to, OPTS(.names = names), from, KUGEL_ARRAY(x, KUGEL_F64, 2, 3)),
           KUGEL_ESHAPE);
  CHECK(strstr(kugel_last_error(), "5"));
  kugel_fits_close(from);
  catalogue(5, true);
  from = open_it();
  CHECK_IS(kugel_fits_write_table(NULL, to, OPTS(.names = names), from, KUGEL_ARRAY(x, KUGEL_F64, 2, 5)),
           KUGEL_ENOTSUP);
  CHECK(strstr(kugel_last_error(), "variable length"));
  kugel_fits_close(from);
  CHECK(access(to, F_OK) != 0);
  unlink(path);
}

static void check_memory(void)
{
  double x[10] = {0};
  catalogue(5, false);
  kugel_fits *from = open_it();
  kugel_status s = KUGEL_ENOMEM;
  for (int k = 1; s == KUGEL_ENOMEM && k < 200; k++) {
    kugel__fault_alloc(k);
    s = kugel_fits_write_table(NULL, to, OPTS(.names = names, .overwrite = 1), from,
                               KUGEL_ARRAY(x, KUGEL_F64, 2, 5));
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_OK || access(to, F_OK) != 0);
  }
  CHECK_OK(s);
  kugel_fits_close(from);
  unlink(path), unlink(to);
}

int main(void)
{
  snprintf(path, sizeof path, "/tmp/kugel-table-%d.fits", getpid());
  snprintf(to, sizeof to, "/tmp/kugel-table-to-%d.fits", getpid());
  CASE("new tables") check_new();
  CASE("copies with further columns") check_copies();
  CASE("long tables") check_long();
  CASE("refused") check_refused();
  CASE("allocation failures") check_memory();
  END();
}
