/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps that ranks write into one file: the bytes of one process, checksums that cfitsio accepts, and no file if a rank fails.
 * ISA: once */
#include <fitsio.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <kugel/io.h>
#include "comm/faults.h"
#include "io/folder.h"
#include "sweep.h"

enum { NSIDE = 32, N = 12 * NSIDE * NSIDE, PIECE = 500 };
static char folder[64], whole[128], together[128];
static double map[2 * N];

/* What a run has of its own. */
typedef struct job {
  int64_t columns;
  kugel_fits_write_opts o;
  kugel_ctx *ctx;
  int fails, drops; /* rank that stops writing, or keeps nothing; -1: none */
  int64_t disk;     /* bytes of a file that fit while pixels are written; 0: all */
  kugel_status status[7];
  char said[7][600];
} job;

static char *slurp(const char *path, size_t *size)
{
  FILE *in = fopen(path, "rb");
  char *text = malloc(1 << 22);
  *size = in ? fread(text, 1, 1 << 22, in) : 0;
  if (in)
    fclose(in);
  return text;
}

static void limit_files(int64_t bytes)
{
  struct rlimit now;
  getrlimit(RLIMIT_FSIZE, &now);
  now.rlim_cur = bytes ? (rlim_t)bytes : now.rlim_max;
  setrlimit(RLIMIT_FSIZE, &now);
}

/* Pieces are dealt out, so that every rank writes all over the file. */
static kugel_status put_pieces(const job *j, kugel_fits_writer *w, int rank, int ranks)
{
  kugel_status s = KUGEL_OK;
  for (int64_t i = rank; i * PIECE < N && !s; i += ranks)
    for (int64_t c = 0; c < j->columns && !s; c++) {
      int64_t n = N - i * PIECE < PIECE ? N - i * PIECE : PIECE;
      s = kugel_fits_writer_put(w, c, i * PIECE, KUGEL_ARRAY(map + c * N + i * PIECE, KUGEL_F64, n));
    }
  return s;
}

static kugel_status write_together(kugel_ctx *ctx, kugel_comm *comm, void *arg)
{
  const job *j = arg;
  int rank = rank_of(comm);
  kugel_fits_write_opts o = j->o;
  kugel_fits_writer *w = NULL;
  o.comm = comm;
  kugel_status s = kugel_fits_writer_create(ctx, together, &o, NSIDE, j->columns, &w);
  if (s)
    return s;
  kugel_comm_barrier(comm);
  if (j->disk && !rank)
    limit_files(j->disk);
  kugel_comm_barrier(comm);
  put_pieces(j, w, rank, ranks_of(comm)); /* closing says the failure again */
  if (j->fails == rank)
    kugel_fits_writer_put(w, 9, 0,
                          KUGEL_ARRAY(map, KUGEL_F64, 1)); /* refused: writes nothing, ends nothing */
  kugel_comm_barrier(comm);
  if (j->disk && !rank)
    limit_files(0);
  kugel_comm_barrier(comm);
  return kugel_fits_writer_close(w, j->drops != rank);
}

static void over_ranks(kugel_comm *comm, void *arg)
{
  job *j = arg;
  int rank = rank_of(comm);
  j->status[rank] = write_together(j->ctx, comm, j);
  snprintf(j->said[rank], sizeof j->said[rank], "%s", kugel_last_error());
}

static int verified(const char *path, int hdu)
{
  fitsfile *f = NULL;
  int status = 0, data = 0, all = 0;
  fits_open_file(&f, path, READONLY, &status);
  fits_movabs_hdu(f, hdu, NULL, &status);
  fits_verify_chksum(f, &data, &all, &status);
  if (f)
    fits_close_file(f, &status);
  return !status && data == 1 && all == 1;
}

static void same_bytes(int64_t columns, kugel_dtype dtype, int checksum)
{
  static const int counts[] = {1, 2, 3, 5, 7};
  static const char *const history[] = {"a line"};
  kugel_fits_write_opts o = {
      .size = sizeof o, .overwrite = 1, .dtype = dtype, .coordsys = "G", .checksum = checksum};
  o.history = history, o.nhistory = 1;
  CHECK_OK(kugel_fits_write_maps(NULL, whole, &o, KUGEL_ARRAY(map, KUGEL_F64, columns, N)));
  CHECK(!checksum || verified(whole, 2));
  size_t a, b;
  char *want = slurp(whole, &a);
  for (int i = 0; i < 5; i++) {
    job j = {.columns = columns, .o = o, .fails = -1, .drops = -1};
    run_ranks(NULL, counts[i], over_ranks, &j);
    for (int r = 0; r < counts[i]; r++)
      CHECK(j.status[r] == KUGEL_OK);
    char *got = slurp(together, &b);
    CHECK(a && a == b && !memcmp(want, got, a));
    CHECK(!checksum || verified(together, 2));
    free(got);
    unlink(together);
  }
  free(want);
  unlink(whole);
  CHECK(count_files(folder) == 0);
}

/* All ranks say `said`, and leave nothing. */
static void refused(job j, int ranks, kugel_status status, const char *said)
{
  run_ranks(NULL, ranks, over_ranks, &j);
  for (int r = 0; r < ranks; r++)
    if (j.status[r] != status || (said && !strstr(j.said[r], said)))
      CHECK_FAIL("rank %d: %s, not %s", r, j.status[r] ? j.said[r] : "no failure", said ? said : "nothing");
  CHECK(count_files(folder) == 0);
}

static void differ(kugel_comm *comm, void *arg)
{
  int *bad = arg, rank = rank_of(comm);
  kugel_fits_writer *w = NULL;
  kugel_fits_write_opts o = {.size = sizeof o, .comm = comm};
  bad[rank] += kugel_fits_writer_create(NULL, together, &o, 8 + 8 * (rank == 1), 1, &w) != KUGEL_EINVAL ||
               w ||
               !strstr(kugel_last_error(), "the ranks differ in nside, which is 8 on one and 16 on another");
  bad[rank] += kugel_fits_writer_create(NULL, rank == 1 ? "" : together, &o, 8, 1, &w) != KUGEL_EINVAL || w ||
               !strstr(kugel_last_error(), "rank 1: the path is empty");
  o.checksum = 2 * (rank == 2);
  bad[rank] += kugel_fits_writer_create(NULL, together, &o, 8, 1, &w) != KUGEL_EINVAL || w ||
               !strstr(kugel_last_error(), "rank 2: checksum is 2");
  o.checksum = 0;
  bad[rank] += kugel_fits_writer_create(NULL, "/tmp/x.fits.gz", &o, 8, 1, &w) != KUGEL_ENOTSUP || w;
  bad[rank] += kugel_fits_writer_create(NULL, "/nowhere/x.fits", &o, 8, 1, &w) != KUGEL_EIO || w ||
               !strstr(kugel_last_error(), "rank 0: cannot write '/nowhere/x.fits'");
  int64_t v[2] = {rank, -rank};
  bad[rank] += kugel_comm_reduce(comm, v, 2, KUGEL_COMM_SUM) != KUGEL_OK || v[0] != 3 || v[1] != -3;
  bad[rank] += kugel_comm_reduce(comm, v, 0, KUGEL_COMM_SUM) != KUGEL_EINVAL;
  bad[rank] += kugel_comm_reduce(comm, v, 1, (kugel_comm_reduction)3) != KUGEL_EINVAL;
}

static kugel_status one_rank(void *comm)
{
  job j = {.columns = 1, .o = {.size = sizeof j.o, .checksum = 1, .overwrite = 1}, .fails = -1, .drops = -1};
  return write_together(NULL, comm, &j);
}

static void other_tables(void)
{
  const char *path = whole;
  static const kugel_dtype odd[] = {{KUGEL_INT, 16, 1}, {KUGEL_UINT, 8, 1}};
  kugel_fits_write_opts o = {.size = sizeof o, .overwrite = 1, .checksum = 1};
  CHECK_OK(kugel_fits_write_alm(NULL, path, &o, 20, 20, KUGEL_ARRAY(map, KUGEL_C128, 3, 231)));
  CHECK(verified(path, 2) && verified(path, 3) && verified(path, 4));
  CHECK_OK(kugel_cl_write(NULL, path, &o, 4, 200, map));
  CHECK(verified(path, 2));
  o.ascii = 1;
  CHECK_OK(kugel_cl_write(NULL, path, &o, 2, 100, map));
  CHECK(verified(path, 2));
  o.ascii = 0;
  double counts[2 * 192]; /* rows of 3 bytes */
  for (int i = 0; i < 384; i++)
    counts[i] = i % 100;
  o.dtypes = odd;
  CHECK_OK(kugel_fits_write_maps(NULL, path, &o, KUGEL_ARRAY(counts, KUGEL_F64, 2, 192)));
  CHECK(verified(path, 2));
  FILE *f = fopen(path, "r+b"); /* one bit of the last row */
  fseek(f, -2880 + 3 * 192 - 1, SEEK_END);
  fputc(0x55, f);
  fclose(f);
  CHECK(!verified(path, 2));
  unlink(path);
}

int main(void)
{
  alarm(100); /* a rank that waits for ever ends the test */
  signal(SIGXFSZ, SIG_IGN);
  uint64_t seed = 2;
  for (int i = 0; i < 2 * N; i++)
    map[i] = i % 13 ? check_random(&seed) : KUGEL_UNSEEN;
  snprintf(folder, sizeof folder, "/tmp/kugel-ranks-XXXXXX");
  CHECK(mkdtemp(folder));
  snprintf(whole, sizeof whole, "%s/whole.fits", folder);
  snprintf(together, sizeof together, "%s/together.fits", folder);
  const job good = {.columns = 1, .o = {.size = sizeof good.o, .overwrite = 1}, .fails = -1, .drops = -1};
  CASE("one column") same_bytes(1, KUGEL_F32, 0);
  CASE("two columns, checksums") same_bytes(2, KUGEL_F64, 1);
  CASE("one column, checksums") same_bytes(1, KUGEL_F32, 1);
  CASE("checksums of other tables") other_tables();
  CASE("a rank that is refused goes on; one keeps nothing")
  {
    job j = good;
    j.drops = 1;
    refused(j, 3, KUGEL_OK, NULL);
    j = good;
    j.fails = 2;
    run_ranks(NULL, 3, over_ranks, &j);
    CHECK(!j.status[0] && !j.status[1] && !j.status[2] && count_files(folder) == 1);
    unlink(together);
  }
  CASE("the disk is full where one rank writes")
  {
    job j = good;
    j.disk = 2 * 2880 + 4 * (N - PIECE / 2); /* the last piece does not fit */
    refused(j, 3, KUGEL_EIO, "cannot write");
    j.disk = 10000;
    refused(j, 5, KUGEL_EIO, "cannot write");
  }
  CASE("ranks that differ")
  {
    int bad[3] = {0};
    run_ranks(NULL, 3, differ, bad);
    CHECK(!bad[0] && !bad[1] && !bad[2] && count_files(folder) == 0);
  }
  CASE("allocations")
  {
    job j = good;
    j.o.checksum = 1;
    for (int rank = 0; rank < SWEPT; rank++)
      sweep_rank(rank, 1, write_together, &j, 3);
    kugel_comm *one = NULL;
    CHECK_OK(kugel_comm_open(NULL, NULL, &one));
    sweep_allocations(one_rank, one);
    kugel_comm_destroy(one);
    unlink(together);
    CHECK(count_files(folder) == 0);
  }
  rmdir(folder);
  END();
}
