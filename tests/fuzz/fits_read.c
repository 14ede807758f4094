/* SPDX-License-Identifier: BSD-3-Clause */
/* Any file against the readers of FITS maps, coefficients and spectra: they return, with one sentence if they
 * fail. The first byte tells how the rest becomes a file: as it is; or as the cards (one a line) of an
 * extension's header and, after an empty line, its data, which finds more than raw bytes would. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <kugel/io.h>
#include "fuzz.h"

enum { LARGEST = 4096 }; // values read from a file

static uint8_t file_bytes[1 << 18];
static size_t file_size;

static void put(const void *bytes, size_t n)
{
  n = n < sizeof file_bytes - file_size ? n : sizeof file_bytes - file_size;
  memcpy(file_bytes + file_size, bytes, n);
  file_size += n;
}

static void put_card(const char *text, size_t n)
{
  char card[80];
  memset(card, ' ', sizeof card);
  memcpy(card, text, n < 80 ? n : 80);
  put(card, sizeof card);
}

static void pad(int fill)
{
  static uint8_t block[2880];
  memset(block, fill, sizeof block);
  put(block, (2880 - file_size % 2880) % 2880);
}

static void put_cards(const char *text, size_t size)
{
  static const char *const primary[] = {"SIMPLE  =                    T", "BITPIX  =                    8",
                                        "NAXIS   =                    0", "EXTEND  =                    T",
                                        "END"};
  file_size = 0;
  for (int k = 0; k < 5; k++)
    put_card(primary[k], strlen(primary[k]));
  pad(' ');
  while (size) {
    const char *end = memchr(text, '\n', size);
    size_t n = end ? (size_t)(end - text) : size;
    if (n == 0 && end) { // an empty line ends the header
      put_card("END", 3);
      pad(' ');
      put(end + 1, size - 1);
      pad(0);
      return;
    }
    put_card(text, n);
    text += n + (end != NULL);
    size -= n + (end != NULL);
  }
  put_card("END", 3);
  pad(' ');
}

static void read_fits(const char *path)
{
  static double values[2 * LARGEST];
  kugel_fits *file;
  if (kugel_fits_open(NULL, path, NULL, &file)) {
    if (!kugel_last_error()[0])
      abort();
    return;
  }
  const kugel_fits_info *info = kugel_fits_get_info(file);
  for (int64_t c = 0; c < info->ncolumns && c < 4; c++) {
    kugel_fits_column column;
    if (kugel_fits_get_column(file, c, &column))
      abort();
    if (info->npix && info->npix <= LARGEST) {
      kugel_fits_read_maps(file, 1, &c, KUGEL_ORDER_RING, KUGEL_ARRAY(values, KUGEL_F64, info->npix));
      kugel_fits_read_maps(file, 1, &c, KUGEL_ORDER_ANY, KUGEL_ARRAY(values, KUGEL_I32, info->npix));
    }
    kugel_fits_read_values(file, c, 0,
                           KUGEL_ARRAY(values, KUGEL_F32, info->nvalues < 100 ? info->nvalues : 100));
  }
  if (info->partial && info->nvalues > 0) {
    int64_t pixel;
    kugel_fits_read_pixels(file, info->nvalues - 1, 1, &pixel);
  }
  if (info->kind == KUGEL_FITS_ALM)
    for (int64_t c = 0; c < info->ncomponents && c < 3; c++)
      kugel_fits_read_alm(file, c, 5, 3, KUGEL_ARRAY(values, KUGEL_C128, 18));
  kugel_fits_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static double values[101];
  if (size < 1)
    return 0;
  const char *path = fuzz_path();
  if (data[0] % 2)
    put_cards((const char *)data + 1, size - 1);
  if (!(data[0] % 2 ? fuzz_write(NULL, 0, file_bytes, file_size) : fuzz_write(NULL, 0, data + 1, size - 1)))
    return 0;
  read_fits(path);
  kugel_cl_info cl;
  if (!kugel_cl_inspect(NULL, path, &cl) && cl.nspectra > 0)
    kugel_cl_read(NULL, path, 1, 1, 100, values);
  return 0;
}
