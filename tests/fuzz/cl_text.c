/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text against the reader of power spectra; what it read is written and read again. The first byte
 * chooses how many spectra, multipoles and which units are asked for. */
#include <kugel/io.h>
#include "fuzz.h"

enum { LMAX = 200, SPECTRA = 6 };

static void write_again(int64_t n, int64_t lmax, const double *cl)
{
  static double again[SPECTRA * (LMAX + 1)];
  char path[80];
  snprintf(path, sizeof path, "%s.txt", fuzz_path());
  const kugel_fits_write_opts o = {.size = sizeof o, .overwrite = 1};
  REQUIRE(!kugel_cl_write(NULL, path, &o, n, lmax, cl));
  if (!kugel_cl_read(NULL, path, 0, n, lmax, again))
    for (int64_t i = 0; i < n * (lmax + 1); i++)
      REQUIRE(again[i] == cl[i] || (again[i] != again[i] && cl[i] != cl[i]));
  unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static double cl[SPECTRA * (LMAX + 1)];
  kugel_cl_info info;
  if (size < 2 || !fuzz_write(NULL, 0, data + 1, size - 1))
    return 0;
  if (kugel_cl_inspect(NULL, fuzz_path(), &info)) {
    REQUIRE(kugel_last_error()[0]);
    return 0;
  }
  REQUIRE(info.nspectra > 0 && info.lmax >= 0);
  const int64_t n = 1 + data[0] / 2 % SPECTRA, lmax = data[0] & 128 && info.lmax < LMAX ? info.lmax : LMAX;
  if (kugel_cl_read(NULL, fuzz_path(), data[0] & 1, n, lmax, cl))
    REQUIRE(kugel_last_error()[0]);
  else
    write_again(n, lmax, cl);
  return 0;
}
