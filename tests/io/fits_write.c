/* SPDX-License-Identifier: BSD-3-Clause */
/* What is written reads back bit for bit, keeps keywords, and never leaves half a file. */
#include "check.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <kugel/io.h>
#include <kugel/plot.h>
#include "core/alloc.h"
#include "io/folder.h"

#define UNSEEN (-1.6375e30)
static char folder[64];

static const char *in_folder(const char *name)
{
  static char path[4][256];
  static int turn;
  turn = (turn + 1) % 4;
  snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
  return path[turn];
}

static void fill(double *map, int64_t n, uint64_t seed)
{
  for (int64_t k = 0; k < n; k++)
    map[k] = check_random(&seed) * 1e-3;
}

static void round_trip(int64_t nside, int64_t nc, const char *name, const kugel_fits_write_opts *o,
                       kugel_order order)
{
  int64_t n = 12 * nside * nside;
  double *a = malloc((size_t)(n * nc) * 8), *b = malloc((size_t)(n * nc) * 8);
  fill(a, n * nc, 1);
  a[3] = UNSEEN;
  const char *path = in_folder(name);
  CHECK_OK(kugel_fits_write_maps(NULL, path, o, KUGEL_ARRAY(a, KUGEL_F64, nc, n)));
  kugel_fits *file = NULL;
  CHECK_OK(kugel_fits_open(NULL, path, NULL, &file));
  if (file) {
    const kugel_fits_info *info = kugel_fits_get_info(file);
    CHECK(info->nside == nside && info->ncolumns == nc && info->order == order);
    CHECK_OK(kugel_fits_read_maps(file, nc, NULL, KUGEL_ORDER_ANY, KUGEL_ARRAY(b, KUGEL_F64, nc, n)));
    CHECK(!memcmp(a, b, (size_t)(n * nc) * 8));
  }
  kugel_fits_close(file);
  unlink(path);
  free(a);
  free(b);
}

#define OPTS(...) (&(kugel_fits_write_opts){.size = sizeof(kugel_fits_write_opts), __VA_ARGS__})

static void check_types(void)
{
  static const kugel_dtype types[] = {{KUGEL_FLOAT, 32, 1}, {KUGEL_FLOAT, 64, 1}, {KUGEL_INT, 16, 1},
                                      {KUGEL_INT, 32, 1},   {KUGEL_INT, 64, 1},   {KUGEL_UINT, 8, 1}};
  for (int t = 0; t < 6; t++) {
    double a[192], b[192];
    int64_t i[192];
    for (int k = 0; k < 192; k++)
      a[k] = k;
    a[17] = UNSEEN;
    CHECK_OK(kugel_fits_write_maps(NULL, in_folder("t.fits"), OPTS(.dtype = types[t]),
                                   KUGEL_ARRAY(a, KUGEL_F64, 192)));
    kugel_fits *file = NULL;
    CHECK_OK(kugel_fits_open(NULL, in_folder("t.fits"), NULL, &file));
    kugel_fits_column c;
    CHECK_OK(kugel_fits_get_column(file, 0, &c));
    CHECK(c.dtype.code == types[t].code && c.dtype.bits == types[t].bits);
    CHECK_OK(kugel_fits_read_maps(file, 1, NULL, 0, KUGEL_ARRAY(b, KUGEL_F64, 192)));
    CHECK(!memcmp(a, b, sizeof a));
    CHECK_OK(kugel_fits_read_maps(file, 1, NULL, 0, KUGEL_ARRAY(i, KUGEL_I64, 192)));
    CHECK(i[17] == INT64_MIN && i[191] == 191);
    kugel_fits_close(file);
    unlink(in_folder("t.fits"));
  }
}

static void check_type_per_column(void)
{
  enum { N = 192, COLUMNS = 4 };
  const kugel_dtype types[COLUMNS] = {
      {KUGEL_FLOAT, 32, 1}, KUGEL_F64, {KUGEL_INT, 16, 1}, {KUGEL_BOOL, 8, 1}};
  double a[COLUMNS][N], b[COLUMNS][N];
  for (int k = 0; k < N; k++) {
    a[0][k] = k * 0.5;
    a[1][k] = 1 + 1e-9 * k;
    a[2][k] = k - 90;
    a[3][k] = k % 3 == 0;
  }
  a[2][17] = a[3][18] = UNSEEN;
  CHECK_OK(kugel_fits_write_maps(NULL, in_folder("t.fits"), OPTS(.dtypes = types),
                                 KUGEL_ARRAY(a, KUGEL_F64, COLUMNS, N)));
  kugel_fits *file = NULL;
  CHECK_OK(kugel_fits_open(NULL, in_folder("t.fits"), NULL, &file));
  for (int c = 0; c < COLUMNS; c++) {
    kugel_fits_column column;
    CHECK_OK(kugel_fits_get_column(file, c, &column));
    CHECK(column.dtype.code == types[c].code && column.dtype.bits == types[c].bits);
  }
  CHECK_OK(kugel_fits_read_maps(file, COLUMNS, NULL, 0, KUGEL_ARRAY(b, KUGEL_F64, COLUMNS, N)));
  CHECK(!memcmp(a, b, sizeof a));
  kugel_fits_close(file);
  unlink(in_folder("t.fits"));
  const kugel_dtype wrong[COLUMNS] = {KUGEL_F64, KUGEL_F64, {KUGEL_COMPLEX, 64, 1}, KUGEL_F64};
  CHECK_IS(kugel_fits_write_maps(NULL, in_folder("t.fits"), OPTS(.dtypes = wrong),
                                 KUGEL_ARRAY(a, KUGEL_F64, COLUMNS, N)),
           KUGEL_EINVAL);
  kugel_fits_writer *pieces = NULL;
  CHECK_IS(kugel_fits_writer_create(NULL, in_folder("t.fits"), OPTS(.dtypes = types), 4, COLUMNS, &pieces),
           KUGEL_ENOTSUP);
}

static void check_cards(void)
{
  double a[48];
  fill(a, 48, 3);
  const char *cards[] = {"TELESCOP= 'WMAP    '           / who",
                         "NSIDE   =                  512 / a lie",
                         "OBJECT  = 'Virgo   '",
                         "COMMENT as seen",
                         "TTYPE1  = 'LIE'",
                         "COORDSYS= 'E'",
                         "HIERARCH Long name = 12.5"};
  const char *history[] = {"smoothed by 1 degree"}, *names[] = {"I_STOKES"}, *units[] = {"mK"};
  CHECK_OK(kugel_fits_write_maps(NULL, in_folder("c.fits"),
                                 OPTS(.cards = cards, .ncards = 7, .history = history, .nhistory = 1,
                                      .names = names, .units = units, .coordsys = "G", .extname = "SKY"),
                                 KUGEL_ARRAY(a, KUGEL_F64, 48)));
  kugel_fits *file = NULL;
  CHECK_OK(kugel_fits_open(NULL, in_folder("c.fits"), NULL, &file));
  const kugel_fits_info *info = kugel_fits_get_info(file);
  kugel_fits_column c;
  char text[80];
  CHECK_OK(kugel_fits_get_column(file, 0, &c));
  CHECK(!strcmp(c.name, "I_STOKES") && !strcmp(c.unit, "mK") && !strcmp(info->coordsys, "G") &&
        info->nside == 2);
  CHECK(!strcmp(info->extname, "SKY") && !strncmp(info->creator, "kugel ", 6));
  CHECK_OK(kugel_fits_get_keyword(file, "OBJECT", text, sizeof text));
  CHECK(!strcmp(text, "Virgo"));
  CHECK_OK(kugel_fits_get_keyword(file, "TELESCOP", text, sizeof text));
  CHECK(!strcmp(text, "WMAP"));
  int comment = 0, hist = 0, longer = 0;
  for (int64_t i = 0; i < info->ncards; i++) {
    comment += !strcmp(info->cards[i], "COMMENT as seen");
    hist += !strcmp(info->cards[i], "HISTORY smoothed by 1 degree");
    longer += !strncmp(info->cards[i], "HIERARCH", 8);
  }
  CHECK(comment == 1 && hist == 1 && longer == 1);
  /* and on to the next file */
  CHECK_OK(kugel_fits_write_maps(NULL, in_folder("d.fits"),
                                 OPTS(.cards = info->cards, .ncards = info->ncards),
                                 KUGEL_ARRAY(a, KUGEL_F64, 48)));
  kugel_fits_close(file);
  CHECK_OK(kugel_fits_open(NULL, in_folder("d.fits"), NULL, &file));
  CHECK(file && !strcmp(kugel_fits_get_info(file)->coordsys, "G"));
  kugel_fits_close(file);
  const char *bad[] = {"TELE\nSCOP= 'X'"};
  CHECK_IS(kugel_fits_write_maps(NULL, in_folder("e.fits"), OPTS(.cards = bad, .ncards = 1),
                                 KUGEL_ARRAY(a, KUGEL_F64, 48)),
           KUGEL_EINVAL);
  unlink(in_folder("c.fits"));
  unlink(in_folder("d.fits"));
  CHECK(count_files(folder) == 0);
}

static void check_partial(void)
{
  int64_t pixels[5] = {700, 3, 12, 40, 41};
  double a[10], b[2 * 768];
  fill(a, 10, 4);
  CHECK_OK(kugel_fits_write_maps(NULL, in_folder("p.fits"), OPTS(.pixels = pixels, .npixels = 5, .nside = 8),
                                 KUGEL_ARRAY(a, KUGEL_F64, 2, 5)));
  kugel_fits *file = NULL;
  CHECK_OK(kugel_fits_open(NULL, in_folder("p.fits"), NULL, &file));
  const kugel_fits_info *info = kugel_fits_get_info(file);
  CHECK(info->partial && info->nvalues == 5 && info->ncolumns == 2 && info->nside == 8);
  CHECK_OK(kugel_fits_read_maps(file, 2, NULL, 0, KUGEL_ARRAY(b, KUGEL_F64, 2, 768)));
  for (int k = 0; k < 5; k++)
    CHECK(b[pixels[k]] == a[k] && b[768 + pixels[k]] == a[5 + k]);
  int unseen = 0;
  for (int k = 0; k < 1536; k++)
    unseen += b[k] == UNSEEN;
  CHECK(unseen == 1526);
  kugel_fits_close(file);
  /* the same by leaving out what is not seen */
  CHECK_OK(kugel_fits_write_maps(NULL, in_folder("p.fits"), OPTS(.skip_unseen = 1, .overwrite = 1),
                                 KUGEL_ARRAY(b, KUGEL_F64, 2, 768)));
  CHECK_OK(kugel_fits_open(NULL, in_folder("p.fits"), NULL, &file));
  double c[2 * 768];
  CHECK(kugel_fits_get_info(file)->nvalues == 5);
  CHECK_OK(kugel_fits_read_maps(file, 2, NULL, 0, KUGEL_ARRAY(c, KUGEL_F64, 2, 768)));
  CHECK(!memcmp(b, c, sizeof b));
  kugel_fits_close(file);
  /* nothing seen at all */
  for (int k = 0; k < 1536; k++)
    b[k] = UNSEEN;
  CHECK_OK(kugel_fits_write_maps(NULL, in_folder("p.fits"), OPTS(.skip_unseen = 1, .overwrite = 1),
                                 KUGEL_ARRAY(b, KUGEL_F64, 2, 768)));
  CHECK_OK(kugel_fits_open(NULL, in_folder("p.fits"), NULL, &file));
  CHECK(file && kugel_fits_get_info(file)->nvalues == 0);
  CHECK_OK(kugel_fits_read_maps(file, 2, NULL, 0, KUGEL_ARRAY(c, KUGEL_F64, 2, 768)));
  CHECK(!memcmp(b, c, sizeof b));
  kugel_fits_close(file);
  pixels[1] = 700;
  CHECK_IS(kugel_fits_write_maps(NULL, in_folder("q.fits"), OPTS(.pixels = pixels, .npixels = 5, .nside = 8),
                                 KUGEL_ARRAY(a, KUGEL_F64, 2, 5)),
           KUGEL_EINVAL);
  pixels[1] = 768;
  CHECK_IS(kugel_fits_write_maps(NULL, in_folder("q.fits"), OPTS(.pixels = pixels, .npixels = 5, .nside = 8),
                                 KUGEL_ARRAY(a, KUGEL_F64, 2, 5)),
           KUGEL_EINVAL);
  unlink(in_folder("p.fits"));
  CHECK(count_files(folder) == 0);
}

static void check_alm(void)
{
  int64_t n = 11 * (2 * 16 - 10) / 2;
  double *x = malloc((size_t)(4 * n) * 8), *y = malloc((size_t)(2 * n) * 8);
  fill(x, 4 * n, 10);
  CHECK_OK(kugel_fits_write_alm(NULL, in_folder("a.fits"), NULL, 15, 10, KUGEL_ARRAY(x, KUGEL_C128, 2, n)));
  kugel_fits *file = NULL;
  CHECK_OK(kugel_fits_open(NULL, in_folder("a.fits"), NULL, &file));
  const kugel_fits_info *info = kugel_fits_get_info(file);
  CHECK(info->kind == KUGEL_FITS_ALM && info->lmax == 15 && info->mmax == 10 && info->ncomponents == 2);
  for (int c = 0; c < 2; c++) {
    CHECK_OK(kugel_fits_read_alm(file, c, 15, 10, KUGEL_ARRAY(y, KUGEL_C128, n)));
    CHECK(!memcmp(y, x + c * 2 * n, (size_t)(2 * n) * 8));
  }
  kugel_fits_close(file);
  unlink(in_folder("a.fits"));
  free(x);
  free(y);
}

static void check_cl(const char *name, int ascii)
{
  double a[4 * 33], b[4 * 33];
  fill(a, 132, 12);
  CHECK_OK(kugel_cl_write(NULL, in_folder(name), OPTS(.ascii = ascii), 4, 32, a));
  kugel_cl_info info;
  CHECK_OK(kugel_cl_inspect(NULL, in_folder(name), &info));
  CHECK(info.nspectra == 4 && info.lmax == 32);
  CHECK_OK(kugel_cl_read(NULL, in_folder(name), 0, 4, 32, b));
  for (int i = 0; i < 132; i++) /* cfitsio reads decimals of ASCII tables to an ulp or two */
    CHECK(fabs(a[i] - b[i]) <= (ascii ? 5e-16 : 0) * fabs(a[i]));
  CHECK_IS(kugel_cl_write(NULL, in_folder(name), NULL, 4, 32, a), KUGEL_EIO);
  CHECK(strstr(kugel_last_error(), "exists"));
  unlink(in_folder(name));
}

/* Writes with the file size limited to `bytes`: fails by one sentence and leaves nothing. */
static void check_full_disk(rlim_t bytes, const char *name)
{
  struct rlimit old, small;
  double *a = malloc(12 * 64 * 64 * 8);
  fill(a, 12 * 64 * 64, 14);
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &old);
  small = old;
  small.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &small);
  kugel_status s =
      kugel_fits_write_maps(NULL, in_folder(name), NULL, KUGEL_ARRAY(a, KUGEL_F64, 12 * 64 * 64));
  const char *end = strrchr(name, '.');
  if (!strcmp(end, ".npy"))
    s = kugel_npy_write(NULL, in_folder(name), 0, KUGEL_ARRAY(a, KUGEL_F64, 12 * 64 * 64));
  else if (!strcmp(end, ".txt"))
    s = kugel_cl_write(NULL, in_folder(name), NULL, 1, 12 * 64 * 64 - 1, a);
  else if (!strcmp(end, ".png")) {
    kugel_plot *p = NULL;
    s = kugel_plot_healpix(NULL, NULL, 0, KUGEL_ARRAY(a, KUGEL_F64, 12 * 64 * 64), &p);
    s = s ? s : kugel_plot_write(p, in_folder(name), 0);
    kugel_plot_destroy(p);
  }
  setrlimit(RLIMIT_FSIZE, &old);
  CHECK_IS(s, KUGEL_EIO);
  CHECK(strstr(kugel_last_error(), name) && strstr(kugel_last_error(), "File too large"));
  CHECK(count_files(folder) == 0);
  free(a);
}

static kugel_status write_and_read(void)
{
  double a[3 * 48];
  memset(a, 0, sizeof a);
  kugel_status s = kugel_fits_write_maps(NULL, in_folder("s.fits"), OPTS(.overwrite = 1, .skip_unseen = 1),
                                         KUGEL_ARRAY(a, KUGEL_F64, 3, 48));
  kugel_fits *file = NULL;
  if (!s)
    s = kugel_fits_open(NULL, in_folder("s.fits"), NULL, &file);
  if (!s)
    s = kugel_fits_read_maps(file, 3, NULL, 0, KUGEL_ARRAY(a, KUGEL_F64, 3, 48));
  kugel_fits_close(file);
  if (!s)
    s = kugel_cl_write(NULL, in_folder("s.txt"), OPTS(.overwrite = 1), 1, 40, a);
  if (!s)
    s = kugel_cl_read(NULL, in_folder("s.txt"), 0, 1, 40, a);
  if (!s)
    s = kugel_fits_write_alm(NULL, in_folder("s.fits.gz"), OPTS(.overwrite = 1), 6, 6,
                             KUGEL_ARRAY(a, KUGEL_C128, 28));
  if (!s)
    s = kugel_fits_open(NULL, in_folder("s.fits.gz"), NULL, &file);
  if (!s) {
    s = kugel_fits_read_alm(file, 0, 6, 6, KUGEL_ARRAY(a, KUGEL_C128, 28));
    kugel_fits_close(file);
  }
  if (!s)
    s = kugel_npy_write(NULL, in_folder("s.npy"), 1, KUGEL_ARRAY(a, KUGEL_F64, 56));
  if (!s)
    s = kugel_npy_read(NULL, in_folder("s.npy"), KUGEL_ARRAY(a, KUGEL_F64, 56));
  return s;
}

static void forget_files(void)
{
  static const char *const names[] = {"s.fits", "s.txt", "s.fits.gz", "s.npy"};
  for (int i = 0; i < 4; i++)
    unlink(in_folder(names[i]));
}

int main(void)
{
  snprintf(folder, sizeof folder, "/tmp/kugel-test-%d", (int)getpid());
  mkdir(folder, 0777);
  CASE("maps round trip bit for bit")
  {
    round_trip(1, 1, "a.fits", NULL, KUGEL_ORDER_RING);
    round_trip(3, 2, "a.fits", NULL, KUGEL_ORDER_RING);
    round_trip(32, 3, "a.fits", NULL, KUGEL_ORDER_RING);
    round_trip(32, 5, "a.fits", OPTS(.order = KUGEL_ORDER_NESTED), KUGEL_ORDER_NESTED);
    round_trip(64, 3, "a.fits.gz", OPTS(.nowrap = 1), KUGEL_ORDER_RING);
    round_trip(8, 1, "with space (1)[2].fits", NULL, KUGEL_ORDER_RING);
  }
  CASE("column types")
  {
    check_types();
    check_type_per_column();
  }
  CASE("cards, units, history") check_cards();
  CASE("partial maps") check_partial();
  CASE("a_lm") check_alm();
  CASE("spectra")
  {
    check_cl("c.fits", 0);
    check_cl("c.fits", 1);
    check_cl("c.txt", 0);
    check_cl("c.csv", 0);
    check_cl("c.fits.gz", 0);
  }
  CASE("full disk")
  {
    check_full_disk(0, "f.fits");
    check_full_disk(4000, "f.fits");
    check_full_disk(100000, "f.fits");
    check_full_disk(2000, "f.fits.gz");
    check_full_disk(5000, "f.npy");
    check_full_disk(5000, "f.txt");
    check_full_disk(5000, "f.png");
  }
  CASE("refused places")
  {
    double a[12] = {0};
    const kugel_array *m = KUGEL_ARRAY(a, KUGEL_F64, 12);
    CHECK_IS(kugel_fits_write_maps(NULL, "/no/such/folder/x.fits", NULL, m), KUGEL_EIO);
    CHECK(strstr(kugel_last_error(), "/no/such/folder/"));
    CHECK_IS(kugel_fits_write_maps(NULL, "/tmp", NULL, m), KUGEL_EIO);
    CHECK_IS(kugel_fits_write_maps(NULL, "/dev/full", OPTS(.overwrite = 1), m), KUGEL_EIO);
    CHECK_IS(kugel_fits_write_maps(NULL, "", NULL, m), KUGEL_EINVAL);
    CHECK_IS(kugel_fits_write_maps(NULL, NULL, NULL, m), KUGEL_EINVAL);
    CHECK_IS(kugel_fits_write_maps(NULL, in_folder("x.fits"), NULL, KUGEL_ARRAY(a, KUGEL_F64, 11)),
             KUGEL_ESHAPE);
    CHECK_IS(kugel_fits_write_maps(NULL, in_folder("x.fits"), NULL, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_fits_write_maps(NULL, in_folder("x.fits"), OPTS(.order = 9), m), KUGEL_EINVAL);
    CHECK_IS(kugel_fits_write_maps(NULL, in_folder("x.fits"), OPTS(.dtype = {KUGEL_COMPLEX, 64, 1}), m),
             KUGEL_EINVAL);
    a[2] = 0.5;
    CHECK_IS(kugel_fits_write_maps(NULL, in_folder("x.fits"), OPTS(.dtype = KUGEL_I32), m), KUGEL_EINVAL);
    CHECK(count_files(folder) == 0);
    CHECK_OK(kugel_fits_write_maps(NULL, in_folder("x.fits"), NULL, m));
    CHECK_IS(kugel_fits_write_maps(NULL, in_folder("x.fits"), NULL, m), KUGEL_EIO);
    chmod(in_folder("x.fits"), 0640);
    CHECK(symlink(in_folder("x.fits"), in_folder("link.fits")) == 0);
    CHECK_OK(kugel_fits_write_maps(NULL, in_folder("link.fits"), OPTS(.overwrite = 1), m));
    struct stat st;
    CHECK(lstat(in_folder("link.fits"), &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(stat(in_folder("x.fits"), &st) == 0 && (st.st_mode & 0777) == 0640);
    unlink(in_folder("x.fits"));
    unlink(in_folder("link.fits"));
  }
  CASE("allocation failures")
  {
    kugel_status s = KUGEL_ENOMEM;
    int64_t n = 0;
    CHECK_OK(write_and_read());
    forget_files();
    while (s == KUGEL_ENOMEM && n < 500) {
      kugel__fault_alloc(++n);
      s = write_and_read();
      kugel__fault_alloc(0);
      CHECK(count_files(folder) <= 4);
    }
    CHECK_OK(s);
    CHECK(n > 10);
    forget_files();
    CHECK(count_files(folder) == 0);
  }
  rmdir(folder);
  END();
}
