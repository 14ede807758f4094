/* SPDX-License-Identifier: BSD-3-Clause */
/* FITS files written byte by byte, into `bytes`, then to `path`. */
#ifndef KUGEL_TESTS_BY_HAND_H
#define KUGEL_TESTS_BY_HAND_H

#include <unistd.h>
#include <kugel/io.h>
#include "check.h"

#define UNSEEN (-1.6375e30)
static char path[64];
static unsigned char bytes[1 << 16];
static size_t used;

static inline void card(const char *text)
{
  memset(bytes + used, ' ', 80);
  memcpy(bytes + used, text, strlen(text));
  used += 80;
}

static inline void end_header(void)
{
  card("END");
  while (used % 2880)
    bytes[used++] = ' ';
}

/* A primary HDU and the head of a table; more cards may follow. */
static inline void begin(int row_bytes, int rows, int fields)
{
  char text[81];
  used = 0;
  card("SIMPLE  =                    T");
  card("BITPIX  =                    8");
  card("NAXIS   =                    0");
  card("EXTEND  =                    T");
  end_header();
  card("XTENSION= 'BINTABLE'");
  card("BITPIX  =                    8");
  card("NAXIS   =                    2");
  snprintf(text, sizeof text, "NAXIS1  = %20d", row_bytes);
  card(text);
  snprintf(text, sizeof text, "NAXIS2  = %20d", rows);
  card(text);
  card("PCOUNT  =                    0");
  card("GCOUNT  =                    1");
  snprintf(text, sizeof text, "TFIELDS = %20d", fields);
  card(text);
}

static inline void big(uint64_t value, int n)
{
  for (int i = n - 1; i >= 0; i--)
    bytes[used++] = (unsigned char)(value >> (8 * i));
}

static inline void big_double(double x)
{
  uint64_t b;
  memcpy(&b, &x, 8);
  big(b, 8);
}

static inline void big_float(float x)
{
  uint32_t b;
  memcpy(&b, &x, 4);
  big(b, 4);
}

static inline void save(size_t n)
{
  FILE *f = fopen(path, "wb");
  fwrite(bytes, 1, n, f);
  fclose(f);
}

static inline void finish(void)
{
  while (used % 2880)
    bytes[used++] = 0;
  save(used);
}

static inline kugel_fits *open_it(void)
{
  kugel_fits *file = NULL;
  CHECK_OK(kugel_fits_open(NULL, path, NULL, &file));
  return file;
}

static inline kugel_status try_open(void)
{
  kugel_fits *file = NULL;
  kugel_status s = kugel_fits_open(NULL, path, NULL, &file);
  if (s)
    CHECK(!file && strstr(kugel_last_error(), path));
  kugel_fits_close(file);
  return s;
}

/* A partial map with three pixels, 1, 6 and `last`, the pixel column named and typed as asked. */
static inline void write_partial_of(int64_t nside, const char *name, const char *form, const char *scheme,
                                    int64_t last)
{
  char text[81];
  int size = form[0] == 'K' || form[0] == 'D' ? 8 : form[0] == 'J' ? 4 : 2;
  begin(size + 8, 3, 2);
  snprintf(text, sizeof text, "TTYPE1  = '%s'", name);
  card(text);
  snprintf(text, sizeof text, "TFORM1  = '%s'", form);
  card(text);
  card("TTYPE2  = 'SIGNAL'");
  card("TFORM2  = 'D'");
  card("TUNIT2  = 'K_CMB'");
  card("PIXTYPE = 'HEALPIX'");
  snprintf(text, sizeof text, "NSIDE   = %20lld", (long long)nside);
  card(text);
  card("ORDERING= 'NESTED'");
  if (*scheme)
    card(scheme);
  end_header();
  for (int k = 0; k < 3; k++) {
    int64_t pixel = k < 2 ? 5 * k + 1 : last;
    if (form[0] == 'D')
      big_double((double)pixel);
    else
      big((uint64_t)pixel, size);
    big_double(k + 0.5);
  }
  finish();
}

static inline void write_partial(const char *name, const char *form, const char *scheme, int last)
{
  write_partial_of(2, name, form, scheme, last);
}

/* A whole map of 48 doubles with the given cards. */
static inline void write_whole(int rows, const char *one, const char *two, const char *three)
{
  begin(8 * 4, rows, 1);
  card("TTYPE1  = 'T'");
  card("TFORM1  = '4D'");
  card("TDIM1   = '(2,2)'");
  const char *more[3] = {one, two, three};
  for (int i = 0; i < 3; i++)
    if (more[i])
      card(more[i]);
  end_header();
  for (int k = 0; k < 4 * rows; k++)
    big_double(k);
  finish();
}

#endif
