/* SPDX-License-Identifier: BSD-3-Clause */
/* Files written byte by byte: all numeric TFORMs, scaling, nulls, partial maps of several makers, missing and
 * contradicting keywords. */
#include "io/by_hand.h"

static void check_types(void)
{
  begin(1 + 1 + 2 + 4 + 8 + 4 + 8 + 3, 12, 8);
  static const char *const cards[] = {"TTYPE1  = 'L'",
                                      "TFORM1  = 'L'",
                                      "TTYPE2  = 'B'",
                                      "TFORM2  = '1B'",
                                      "TZERO2  =                 -128",
                                      "TTYPE3  = 'I'",
                                      "TFORM3  = 'I'",
                                      "TZERO3  =                32768",
                                      "TTYPE4  = 'J'",
                                      "TFORM4  = 'J'",
                                      "TNULL4  =                  -99",
                                      "TSCAL4  =                  0.5",
                                      "TZERO4  =                 10.0",
                                      "TTYPE5  = 'K'",
                                      "TFORM5  = 'K'",
                                      "TZERO5  =  9223372036854775808",
                                      "TTYPE6  = 'E'",
                                      "TFORM6  = 'E'",
                                      "TSCAL6  =              2.0D0",
                                      "TTYPE7  = 'D'",
                                      "TFORM7  = 'D'",
                                      "TTYPE8  = 'A'",
                                      "TFORM8  = '3A'",
                                      "ORDERING= 'RING'",
                                      "BAD_DATA=                 -7.0"};
  for (size_t i = 0; i < sizeof cards / sizeof *cards; i++)
    card(cards[i]);
  end_header();
  for (int k = 0; k < 12; k++) {
    bytes[used++] = k == 2 ? 0 : k % 2 ? 'T' : 'F';
    big((uint64_t)(k + 100), 1);
    big((uint64_t)(k * 1000), 2);
    big(k == 5 ? (uint64_t)-99 : (uint64_t)k, 4);
    big((uint64_t)k << 40, 8);
    big_float((float)k + 0.25f);
    big_double(k == 3 ? NAN : k == 4 ? -7.0 : k == 6 ? -1.63750001e30 : k);
    memcpy(bytes + used, "abc", 3);
    used += 3;
  }
  finish();
  kugel_fits *file = open_it();
  if (!file)
    return;
  const kugel_fits_info *info = kugel_fits_get_info(file);
  CHECK(info->kind == KUGEL_FITS_MAP && info->nside == 1 && info->ncolumns == 8 && info->has_bad_data);
  double m[8][12];
  for (int64_t c = 0; c < 7; c++)
    CHECK_OK(kugel_fits_read_maps(file, 1, &c, KUGEL_ORDER_RING, KUGEL_ARRAY(m[c], KUGEL_F64, 12)));
  for (int k = 0; k < 12; k++) {
    CHECK(m[0][k] == (k == 2 ? UNSEEN : k % 2));
    CHECK(m[1][k] == k - 28);
    CHECK(m[2][k] == (double)(k * 1000 < 32768 ? k * 1000 + 32768 : 0));
    CHECK(m[3][k] == (k == 5 ? UNSEEN : 10 + 0.5 * k));
    CHECK(m[4][k] == (double)((uint64_t)k << 40) + 9223372036854775808.);
    CHECK(m[5][k] == 2 * (k + 0.25));
    CHECK(k == 3 ? isnan(m[6][k]) : m[6][k] == (k == 4 || k == 6 ? UNSEEN : k));
  }
  int64_t seven = 7, four = 4, zero = 0, wide[12];
  int32_t narrow[12];
  CHECK_IS(kugel_fits_read_maps(file, 1, &seven, 0, KUGEL_ARRAY(m[7], KUGEL_F64, 12)), KUGEL_ENOTSUP);
  CHECK_IS(kugel_fits_read_maps(file, 1, &four, 0, KUGEL_ARRAY(wide, KUGEL_I64, 12)), KUGEL_EFORMAT);
  CHECK_OK(kugel_fits_read_maps(file, 1, &zero, 0, KUGEL_ARRAY(narrow, KUGEL_I32, 12)));
  CHECK(narrow[2] == INT32_MIN && narrow[3] == 1);
  kugel_fits_close(file);
}

/* Masks as bits: one a row, and 5 or 48 a row beside numbers; of a row longer than what is read at once. */
static void check_bits(void)
{
  double map[48];
  begin(1 + 4, 48, 2);
  card("TFORM1  = '1X'");
  card("TFORM2  = 'J'");
  card("ORDERING= 'RING'");
  end_header();
  for (int k = 0; k < 48; k++) {
    bytes[used++] = k % 3 ? 0x80 : 0x7f;
    big((uint64_t)k, 4);
  }
  finish();
  kugel_fits *file = open_it();
  kugel_fits_column column;
  const int64_t both[2] = {0, 1};
  double two[2][48];
  CHECK_OK(kugel_fits_get_column(file, 0, &column));
  CHECK(column.dtype.code == KUGEL_BOOL && column.repeat == 1);
  CHECK_OK(kugel_fits_read_maps(file, 2, both, KUGEL_ORDER_RING, KUGEL_ARRAY(two, KUGEL_F64, 2, 48)));
  for (int k = 0; k < 48; k++)
    CHECK(two[0][k] == (k % 3 != 0) && two[1][k] == k);
  kugel_fits_close(file);
  begin(6, 1, 1);
  card("TFORM1  = '48X'");
  card("NSIDE   =                    2");
  card("ORDERING= 'RING'");
  end_header();
  big(0xa50000ff0001, 6);
  finish();
  file = open_it();
  CHECK_OK(kugel_fits_read_maps(file, 1, NULL, KUGEL_ORDER_RING, KUGEL_ARRAY(map, KUGEL_F64, 48)));
  for (int k = 0; k < 48; k++)
    CHECK(map[k] == (double)(0xa50000ff0001 >> (47 - k) & 1));
  CHECK_OK(kugel_fits_read_values(file, 0, 13, KUGEL_ARRAY(map, KUGEL_F64, 12)));
  for (int k = 0; k < 12; k++)
    CHECK(map[k] == (double)(0xa50000ff0001 >> (34 - k) & 1));
  kugel_fits_close(file);
  begin(1, 7, 1);
  card("TFORM1  = '5X'");
  end_header();
  for (int k = 0; k < 7; k++)
    bytes[used++] = (unsigned char)(0x28 * (k + 1)); /* bits 0, 1, 0 ... */
  finish();
  file = open_it();
  CHECK_OK(kugel_fits_read_values(file, 0, 0, KUGEL_ARRAY(map, KUGEL_F64, 35)));
  for (int k = 0; k < 35; k++)
    CHECK(map[k] == (0x28 * (k / 5 + 1) >> (7 - k % 5) & 1));
  kugel_fits_close(file);
}

static void check_long_bits(void)
{
  enum { N = 9000000, BYTES = (N + 7) / 8 };
  begin(BYTES + 1, 2, 2);
  card("TFORM1  = 'B'");
  card("TFORM2  = '9000000X'");
  end_header();
  uint8_t *rows = calloc(2, BYTES + 1), *block = calloc(2880, 1);
  FILE *f = fopen(path, "wb");
  for (int64_t k = 0; k < 2 * N; k += 7) /* each seventh bit */
    rows[k / N * (BYTES + 1) + 1 + k % N / 8] |= (uint8_t)(0x80 >> k % N % 8);
  fwrite(bytes, 1, used, f);
  fwrite(rows, 1, 2 * (BYTES + 1), f);
  fwrite(block, 1, 2880 - 2 * (BYTES + 1) % 2880, f);
  fclose(f);
  float *values = malloc(2 * N * sizeof *values);
  kugel_fits *file = open_it();
  CHECK_OK(kugel_fits_read_values(file, 1, 0, KUGEL_ARRAY(values, KUGEL_F32, 2 * N)));
  int64_t wrong = 0;
  for (int64_t k = 0; k < 2 * N; k++)
    wrong += values[k] != (k % 7 == 0);
  CHECK(!wrong);
  CHECK_OK(kugel_fits_read_values(file, 1, N - 10, KUGEL_ARRAY(values, KUGEL_F32, 20)));
  for (int64_t k = 0; k < 20; k++)
    wrong += values[k] != ((N - 10 + k) % 7 == 0);
  CHECK(!wrong);
  kugel_fits_close(file);
  free(values);
  free(block);
  free(rows);
}

/* The last pixel of nside 2^29 needs 62 bits; doubles skip integers from 2^53 on. */
static void check_largest_nside(void)
{
  const int64_t nside = 1 << 29, npix = 12 * nside * nside, limit = (int64_t)1 << 53;
  const struct {
    const char *form;
    int64_t last;
    int fine;
  } cases[] = {{"K", npix - 1, 1}, {"K", npix, 0},      {"K", -1, 0},       {"K", limit + 1, 1},
               {"D", limit, 1},    {"D", limit + 2, 0}, {"D", npix - 1, 0}, {"D", -1, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    write_partial_of(nside, "PIXEL", cases[i].form, "INDXSCHM= 'EXPLICIT'", cases[i].last);
    kugel_fits *file = open_it();
    int64_t pixels[3] = {0};
    kugel_status s = kugel_fits_read_pixels(file, 0, 3, pixels);
    if (s != (cases[i].fine ? KUGEL_OK : KUGEL_EFORMAT))
      CHECK_FAIL("%s %lld: %s", cases[i].form, (long long)cases[i].last, kugel_last_error());
    CHECK(s || pixels[2] == cases[i].last);
    kugel_fits_close(file);
  }
}

static void check_partial(const char *name, const char *form, const char *scheme)
{
  write_partial(name, form, scheme, 47);
  kugel_fits *file = open_it();
  if (!file)
    return;
  const kugel_fits_info *info = kugel_fits_get_info(file);
  double map[48];
  int64_t pixels[3];
  kugel_fits_column c;
  CHECK(info->partial && info->nvalues == 3 && info->ncolumns == 1 && info->order == KUGEL_ORDER_NESTED);
  CHECK_OK(kugel_fits_get_column(file, 0, &c));
  CHECK(!strcmp(c.unit, "K_CMB"));
  CHECK_OK(kugel_fits_read_pixels(file, 0, 3, pixels));
  CHECK(pixels[0] == 1 && pixels[1] == 6 && pixels[2] == 47);
  CHECK_OK(kugel_fits_read_maps(file, 1, NULL, KUGEL_ORDER_ANY, KUGEL_ARRAY(map, KUGEL_F64, 48)));
  CHECK(map[1] == 0.5 && map[6] == 1.5 && map[47] == 2.5 && map[0] == UNSEEN);
  kugel_fits_close(file);
  write_partial(name, form, scheme, 48);
  file = open_it();
  CHECK_IS(kugel_fits_read_maps(file, 1, NULL, KUGEL_ORDER_ANY, KUGEL_ARRAY(map, KUGEL_F64, 48)),
           KUGEL_EFORMAT);
  CHECK(strstr(kugel_last_error(), "48"));
  kugel_fits_close(file);
}

static void check_keywords(void)
{
  kugel_fits *file;
  double map[48];
  write_whole(12, "ORDERING= 'RING'", NULL, NULL);
  if ((file = open_it())) { /* NSIDE from the size */
    CHECK(kugel_fits_get_info(file)->nside == 2);
    CHECK_OK(kugel_fits_read_maps(file, 1, NULL, 0, KUGEL_ARRAY(map, KUGEL_F64, 48)));
    CHECK(map[47] == 47);
    kugel_fits_close(file);
  }
  write_whole(12, NULL, NULL, NULL);
  if ((file = open_it())) { /* no keyword at all */
    CHECK(kugel_fits_get_info(file)->nside == 2 && kugel_fits_get_info(file)->order == KUGEL_ORDER_ANY);
    kugel_fits_close(file);
  }
  write_whole(13, "PIXTYPE = 'HEALPIX'", "ORDERING= 'RING'", "NSIDE   =                    4");
  CHECK_IS(try_open(), KUGEL_EFORMAT);
  CHECK(strstr(kugel_last_error(), "192") && strstr(kugel_last_error(), "52"));
  write_whole(11, "PIXTYPE = 'HEALPIX'", "ORDERING= 'RING'", NULL);
  CHECK_IS(try_open(), KUGEL_EFORMAT);
  write_whole(12, "PIXTYPE = 'HEALPIX'", "ORDERING= 'SPIRAL'", NULL);
  CHECK_IS(try_open(), KUGEL_EFORMAT);
  CHECK(strstr(kugel_last_error(), "SPIRAL"));
  write_whole(27, "PIXTYPE = 'HEALPIX'", "ORDERING= 'NESTED'", "NSIDE   =                    3");
  CHECK_IS(try_open(), KUGEL_EFORMAT);
  write_whole(12, "PIXTYPE = 'HEALPIX'", "NSIDE   =                   -2", NULL);
  CHECK_IS(try_open(), KUGEL_EFORMAT);
  write_whole(12, "PIXTYPE = 'HEALPIX'", "NSIDE   =    99999999999999999", NULL);
  CHECK_IS(try_open(), KUGEL_EFORMAT);
  write_whole(12, "PIXTYPE = 'HEALPIX'", "INDXSCHM= 'EXPLICIT'", "NSIDE   =                    2");
  CHECK_IS(try_open(), KUGEL_EFORMAT);
  write_whole(3, "NSIDE   =                    2", "FIRSTPIX=                   10",
              "LASTPIX =                   21");
  CHECK_OK(try_open());
  begin(32, 3, 1); /* a range of pixels */
  static const char *const cards[] = {"TFORM1  = '4D'", "PIXTYPE = 'HEALPIX'",
                                      "NSIDE   =                    2", "FIRSTPIX=                   10",
                                      "LASTPIX =                   21"};
  for (int i = 0; i < 5; i++)
    card(cards[i]);
  end_header();
  for (int k = 0; k < 12; k++)
    big_double(k);
  finish();
  if ((file = open_it())) {
    CHECK(kugel_fits_get_info(file)->partial);
    CHECK_OK(kugel_fits_read_maps(file, 1, NULL, 0, KUGEL_ARRAY(map, KUGEL_F64, 48)));
    CHECK(map[9] == UNSEEN && map[10] == 0 && map[21] == 11 && map[22] == UNSEEN);
    kugel_fits_close(file);
  }
}

int main(void)
{
  snprintf(path, sizeof path, "/tmp/kugel-test-%d.fits", (int)getpid());
  CASE("column types, scales, nulls") check_types();
  CASE("bit columns")
  {
    check_bits();
    check_long_bits();
  }
  CASE("pixel numbers of the largest nside")
  {
    check_largest_nside();
  }
  CASE("partial maps of many makers")
  {
    check_partial("PIXEL", "J", "INDXSCHM= 'EXPLICIT'");
    check_partial("pixel", "I", "OBJECT  = 'PARTIAL'");
    check_partial("HPXINDEX", "K", "INDXSCHM= 'EXPLICIT'");
    check_partial("PIXEL", "D", "INDXSCHM= 'EXPLICIT'");
    check_partial("PIX", "J", "");
    check_partial("WHATEVER", "J", "INDXSCHM= 'EXPLICIT'");
  }
  CASE("keywords missing or at odds") check_keywords();
  unlink(path);
  END();
}
