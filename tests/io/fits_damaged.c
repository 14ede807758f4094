/* SPDX-License-Identifier: BSD-3-Clause */
/* FITS files that are cut off at any place, damaged or hostile, and reading without memory. */
#include "core/alloc.h"
#include "io/by_hand.h"

static void check_cuts(void)
{
  write_whole(12, "ORDERING= 'RING'", NULL, NULL);
  size_t all = used, needed = 2 * 2880 + 12 * 32;
  int wrong = 0;
  for (size_t n = 0; n < all; n += n < needed ? 97 : 500) {
    save(n);
    kugel_fits *file = NULL;
    kugel_status s = kugel_fits_open(NULL, path, NULL, &file);
    kugel_fits_close(file);
    wrong += n < needed ? s != KUGEL_EFORMAT : s != KUGEL_OK;
  }
  CHECK(wrong == 0);
  memcpy(bytes + all, bytes + 2880, 5760); /* a second table, cut short in its header or its data */
  for (size_t n = 8; n < 2880 + 12 * 32; n += 97) {
    save(all + n);
    CHECK_IS(try_open(), KUGEL_EFORMAT);
  }
  save(all + 5760);
  CHECK_OK(try_open());
  memcpy(bytes + all, "what comes after", 16); /* but not the standard's */
  save(all + 1000);
  CHECK_OK(try_open());
  save(0);
  CHECK_IS(try_open(), KUGEL_EFORMAT);
  CHECK(strstr(kugel_last_error(), "empty"));
  memcpy(bytes, "Simple text, no FITS", 20);
  save(used);
  CHECK_IS(try_open(), KUGEL_EFORMAT);
  CHECK(strstr(kugel_last_error(), "not a FITS file"));
  bytes[0] = 0x1f;
  bytes[1] = 0x8b;
  save(1000);
  CHECK_IS(try_open(), KUGEL_EFORMAT);
}

/* Each byte of the headers changed to something else: any status, no crash; see also tests/fuzz. */
static void check_damage(void)
{
  write_whole(12, "ORDERING= 'RING'", "NSIDE   =                    2", "INDXSCHM= 'IMPLICIT'");
  static const unsigned char other[] = {0, '9', '\'', ' ', 200};
  size_t all = used;
  for (size_t at = 2880; at < 2880 + 16 * 80; at += 7)
    for (size_t i = 0; i < sizeof other; i++) {
      unsigned char old = bytes[at];
      bytes[at] = other[i];
      save(all);
      kugel_fits *file = NULL;
      double map[48];
      if (!kugel_fits_open(NULL, path, NULL, &file) && kugel_fits_get_info(file)->npix == 48)
        kugel_fits_read_maps(file, 1, NULL, KUGEL_ORDER_RING, KUGEL_ARRAY(map, KUGEL_F64, 48));
      kugel_fits_close(file);
      bytes[at] = old;
    }
}

/* An image of one tile of four integers, in gzip's format, whose descriptor promises `length` bytes and whose header `points` of
 * them per tile. */
static void compressed_image(uint32_t length, int points)
{
  char tile[81];
  static const unsigned char data[16] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4};
  static const unsigned char head[15] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 16, 0, 0xef, 0xff};
  uint32_t crc = UINT32_MAX;
  for (int i = 0; i < 16; i++) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; bit++)
      crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  begin(8, 1, 1);
  memcpy(bytes + used - 3 * 80, "PCOUNT  =                   39", 30);
  card("TTYPE1  = 'COMPRESSED_DATA'");
  card("TFORM1  = '1PB(39)'");
  card("ZIMAGE  =                    T");
  card("ZCMPTYPE= 'GZIP_1'");
  card("ZBITPIX =                   32");
  card("ZNAXIS  =                    1");
  card("ZNAXIS1 =                    4");
  snprintf(tile, sizeof tile, "ZTILE1  = %20d", points);
  card(tile);
  end_header();
  big(length, 4);
  big(0, 4);
  memcpy(bytes + used, head, sizeof head);
  memcpy(bytes + used + sizeof head, data, sizeof data);
  used += sizeof head + sizeof data;
  for (int i = 0; i < 4; i++)
    bytes[used++] = (unsigned char)(~crc >> (8 * i));
  memcpy(bytes + used, "\x10\0\0\0", 4);
  used += 4;
  while (used % 2880)
    bytes[used++] = 0;
  save(used);
}

/* Room for a tile is made by its descriptor: beyond the file's size it is refused. */
static void check_tiles(void)
{
  double v[4] = {0};
  kugel_fits *file = NULL;
  compressed_image(39, 4);
  CHECK_OK(kugel_fits_open(NULL, path, NULL, &file));
  if (file)
    CHECK_OK(kugel_fits_read_values(file, 0, 0, KUGEL_ARRAY(v, KUGEL_F64, 4)));
  CHECK(v[0] == 1 && v[3] == 4);
  kugel_fits_close(file);
  file = NULL;
  compressed_image(0x7c000000, 4);
  CHECK_IS(kugel_fits_open(NULL, path, NULL, &file), KUGEL_EFORMAT);
  CHECK(strstr(kugel_last_error(), "compressed tile 1"));
  kugel_fits_close(file);
  for (int points = 0; points >= -1; points--) { // cfitsio would divide by it
    compressed_image(39, points);
    CHECK_IS(kugel_fits_open(NULL, path, NULL, &file), KUGEL_EFORMAT);
    CHECK(strstr(kugel_last_error(), "ZTILEn is"));
  }
}

static kugel_status read_column_and_pixels(void)
{
  double map[48];
  int64_t pixels[3], column;
  kugel_fits *file = NULL;
  kugel_status s = kugel_fits_open(NULL, path, NULL, &file);
  if (!s)
    s = kugel_fits_find_column(file, "SIGNAL", &column);
  if (!s)
    s = kugel_fits_read_pixels(file, 0, 3, pixels);
  if (!s)
    s = kugel_fits_read_values(file, column, 0, KUGEL_ARRAY(map, KUGEL_F64, 3));
  kugel_fits_close(file);
  return s;
}

/* Each allocation of a reading fails once; the sanitizers see what is not given back. */
static void check_no_memory(void)
{
  write_partial("PIXEL", "J", "INDXSCHM= 'EXPLICIT'", 47);
  kugel_status s = KUGEL_ENOMEM;
  int64_t n = 0;
  while (s == KUGEL_ENOMEM && n < 200) {
    kugel__fault_alloc(++n);
    s = read_column_and_pixels();
    kugel__fault_alloc(0);
  }
  CHECK_OK(s);
  CHECK(n > 3);
}

/* Tables of three coefficients, of which one index asks for 9.6 GB: from opening to closing. */
static kugel_status open_alm(int l, int m)
{
  static const char *const cards[] = {"TTYPE1  = 'INDEX'", "TFORM1  = 'J'",    "TTYPE2  = 'REAL'",
                                      "TFORM2  = 'E'",     "TTYPE3  = 'IMAG'", "TFORM3  = 'E'"};
  begin(12, 3, 3);
  for (int i = 0; i < 6; i++)
    card(cards[i]);
  end_header();
  for (int i = 0; i < 3; i++)
    big(i < 2 ? (uint64_t)(2 * i + 1) : (uint64_t)(l * l + l + m + 1), 4), big_float(1), big_float(0);
  finish();
  return try_open();
}

/* A number of columns that goes on behind column 30 of its card: cfitsio reads all of it. */
static void check_long_number(void)
{
  char text[81];
  begin(12, 3, 3);
  snprintf(text, sizeof text, "TFIELDS = %38s", "2147483648");
  memcpy(bytes + used - 80, text, strlen(text));
  end_header();
  finish();
  CHECK_IS(try_open(), KUGEL_EFORMAT);
  CHECK(strstr(kugel_last_error(), "TFIELDS is 2147483648"));
}

/* cfitsio takes "=" in any column for the end of a name, and copies what follows into 10 or 70 bytes. */
static void check_equals(void)
{
  static const char *const cards[] = {
      "TTYPE1=JJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJ",
      "TFORM1     =JJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJ"};
  for (int i = 0; i < 2; i++) {
    begin(48, 1, 1);
    card(cards[i]);
    card("TFORM1  = '12E'");
    end_header();
    finish();
    CHECK_IS(try_open(), KUGEL_EFORMAT);
    CHECK(strstr(kugel_last_error(), "a value without end"));
  }
  begin(4, 12, 1); // sloppy, but nothing to cfitsio
  card("COMMENT= no column of its own for the sign");
  card("TTYPE1  = 'SIGNAL'");
  card("TFORM1  = 'E'");
  card("EXTRA   =                    7  a remark without its stroke");
  end_header();
  for (int i = 0; i < 12; i++)
    big_float(1);
  finish();
  CHECK_OK(try_open());
}

int main(void)
{
  snprintf(path, sizeof path, "/tmp/kugel-test-%d.fits", (int)getpid());
  CASE("no memory") check_no_memory();
  CASE("files cut short") check_cuts();
  CASE("compressed images") check_tiles();
  CASE("damaged headers") check_damage();
  CASE("numbers behind column 30") check_long_number();
  CASE("equals signs anywhere") check_equals();
  CASE("a damaged index of coefficients")
  CHECK(!open_alm(3, 2) && !open_alm(30000, 0) && open_alm(44187, 16847) == KUGEL_EFORMAT);
  unlink(path);
  END();
}
