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

static void put_card(FILE *f, const char *text, size_t n)
{
  fwrite(text, 1, n < 80 ? n : 80, f);
  for (size_t k = n; k < 80; k++)
    fputc(' ', f);
}

static void pad(FILE *f, int c)
{
  while (ftell(f) % 2880)
    fputc(c, f);
}

static void write_cards(FILE *f, const char *text, size_t size)
{
  static const char *const primary[] = {"SIMPLE  =                    T", "BITPIX  =                    8",
                                        "NAXIS   =                    0", "EXTEND  =                    T",
                                        "END"};
  for (int k = 0; k < 5; k++)
    put_card(f, primary[k], strlen(primary[k]));
  pad(f, ' ');
  while (size) {
    const char *end = memchr(text, '\n', size);
    size_t n = end ? (size_t)(end - text) : size;
    if (n == 0 && end) { // an empty line ends the header
      put_card(f, "END", 3);
      pad(f, ' ');
      fwrite(end + 1, 1, size - 1, f);
      pad(f, 0);
      return;
    }
    put_card(f, text, n);
    text += n + (end != NULL);
    size -= n + (end != NULL);
  }
  put_card(f, "END", 3);
  pad(f, ' ');
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
  FILE *f = fopen(path, "wb");
  if (!f)
    return 0;
  if (data[0] % 2)
    write_cards(f, (const char *)data + 1, size - 1);
  else
    fwrite(data + 1, 1, size - 1, f);
  fclose(f);
  read_fits(path);
  kugel_cl_info cl;
  if (!kugel_cl_inspect(NULL, path, &cl) && cl.nspectra > 0)
    kugel_cl_read(NULL, path, 1, 1, 100, values);
  return 0;
}
