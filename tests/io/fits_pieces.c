/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps written in pieces are, byte for byte, those written whole; failures leave nothing behind. */
#include "check.h"
#include <unistd.h>
#include <kugel/io.h>
#include "core/alloc.h"
#include "io/folder.h"

static char folder[64], whole[128], pieces[128];

static char *slurp(const char *path, long *size)
{
  FILE *in = fopen(path, "rb");
  char *text = NULL;
  *size = -1;
  if (!in)
    return NULL;
  fseek(in, 0, SEEK_END);
  *size = ftell(in);
  rewind(in);
  text = malloc((size_t)*size + 1);
  if (fread(text, 1, (size_t)*size, in) != (size_t)*size)
    *size = -1;
  fclose(in);
  return text;
}

/* Pieces from both ends towards the middle. */
static kugel_status write_pieces(int64_t nside, int64_t nc, const kugel_fits_write_opts *o, const double *map,
                                 int64_t piece)
{
  int64_t n = 12 * nside * nside;
  kugel_fits_writer *w = NULL;
  kugel_status s = kugel_fits_writer_create(NULL, pieces, o, nside, nc, &w);
  for (int64_t a = 0, b = n; a < b && !s; a += piece, b -= piece)
    for (int64_t c = 0; c < nc && !s; c++) {
      int64_t first = a + piece < b - piece ? piece : b - a,
              last = b - a - first < piece ? b - a - first : piece;
      s = kugel_fits_writer_put(w, c, a, KUGEL_ARRAY((double *)map + c * n + a, KUGEL_F64, first));
      if (!s && last)
        s = kugel_fits_writer_put(w, c, b - last,
                                  KUGEL_ARRAY((double *)map + c * n + b - last, KUGEL_F64, last));
    }
  kugel_status end = kugel_fits_writer_close(w, s == KUGEL_OK);
  return s ? s : end;
}

static void same_bytes(int64_t nside, int64_t nc, kugel_dtype dtype, int64_t piece)
{
  int64_t n = 12 * nside * nside;
  uint64_t seed = 3;
  double *map = malloc((size_t)(n * nc) * 8);
  static const char *const history[] = {"a line"};
  kugel_fits_write_opts o = {
      .size = sizeof o, .overwrite = 1, .dtype = dtype, .coordsys = "G", .history = history};
  o.nhistory = 1;
  for (int64_t i = 0; i < n * nc; i++)
    map[i] = i % 11 ? check_random(&seed) : -1.6375e30;
  CHECK_OK(kugel_fits_write_maps(NULL, whole, &o, KUGEL_ARRAY(map, KUGEL_F64, nc, n)));
  CHECK_OK(write_pieces(nside, nc, &o, map, piece));
  long a, b;
  char *x = slurp(whole, &a), *y = slurp(pieces, &b);
  CHECK(a > 0 && a == b && !memcmp(x, y, (size_t)a));
  free(x), free(y), free(map);
}

static void failures(void)
{
  double map[768] = {0};
  kugel_fits_writer *w = NULL;
  kugel_fits_write_opts o = {.size = sizeof o};
  unlink(pieces);
  int before = count_files(folder);
  CHECK_OK(kugel_fits_writer_create(NULL, pieces, &o, 8, 1, &w));
  CHECK_IS(kugel_fits_writer_put(w, 1, 0, KUGEL_ARRAY(map, KUGEL_F64, 768)), KUGEL_EINVAL);
  CHECK_IS(kugel_fits_writer_put(w, 0, 1, KUGEL_ARRAY(map, KUGEL_F64, 768)), KUGEL_EINVAL);
  CHECK_IS(kugel_fits_writer_put(w, 0, 0, KUGEL_ARRAY(map, KUGEL_C128, 10)), KUGEL_ESHAPE);
  CHECK_IS(kugel_fits_writer_put(w, 0, 0, NULL), KUGEL_EINVAL);
  CHECK_OK(kugel_fits_writer_close(w, 0));
  CHECK(count_files(folder) == before);
  CHECK_IS(kugel_fits_writer_create(NULL, whole, &o, 8, 1, &w), KUGEL_EIO); /* it exists */
  CHECK_IS(kugel_fits_writer_create(NULL, pieces, &o, 0, 1, &w), KUGEL_EINVAL);
  CHECK_IS(kugel_fits_writer_create(NULL, pieces, &o, 8, 0, &w), KUGEL_EINVAL);
  o.skip_unseen = 1;
  CHECK_IS(kugel_fits_writer_create(NULL, pieces, &o, 8, 1, &w), KUGEL_ENOTSUP);
  o = (kugel_fits_write_opts){.size = sizeof o, .dtype = KUGEL_I32};
  CHECK_IS(kugel_fits_writer_create(NULL, pieces, &o, 8, 1, &w), KUGEL_ENOTSUP);
  kugel_status last = KUGEL_ENOMEM;
  for (int64_t k = 1; k < 100 && last; k++) {
    kugel__fault_alloc(k);
    last = write_pieces(8, 1, NULL, map, 100);
    CHECK(!last || last == KUGEL_ENOMEM);
    CHECK(!last || count_files(folder) == before);
  }
  kugel__fault_alloc(0);
  CHECK_OK(last);
  CHECK_OK(kugel_fits_writer_close(NULL, 1));
}

int main(void)
{
  snprintf(folder, sizeof folder, "/tmp/kugel-pieces-XXXXXX");
  CHECK(mkdtemp(folder));
  snprintf(whole, sizeof whole, "%s/whole.fits", folder);
  snprintf(pieces, sizeof pieces, "%s/pieces.fits", folder);
  CASE("one column") same_bytes(64, 1, KUGEL_F32, 10007);
  CASE("three columns") same_bytes(32, 3, KUGEL_F64, 777);
  CASE("a pixel a row") same_bytes(5, 2, KUGEL_F32, 31);
  CASE("bad input and failures") failures();
  unlink(whole);
  unlink(pieces);
  rmdir(folder);
  END();
}
