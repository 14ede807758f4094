/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps of rank 0 that its ranks write: the bytes of kugel_fits_write_maps, and what is left to rank 0. ISA: once */
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>
#include <kugel/io.h>
#include "comm/faults.h"
#include "io/folder.h"

enum { NSIDE = 512, N = 12 * NSIDE * NSIDE }; /* more than a piece of 2^20 for each of two ranks */
static char folder[64], alone[128], together[128];
static char said[512]; /* by rank 0 */
static double *map;

typedef struct job {
  kugel_fits_write_opts o;
  int64_t columns, npix;
  kugel_dtype type;
  int64_t disk; /* bytes of a file that fit; 0: all */
} job;

static void limit_files(int64_t bytes)
{
  struct rlimit now;
  getrlimit(RLIMIT_FSIZE, &now);
  now.rlim_cur = bytes ? (rlim_t)bytes : now.rlim_max;
  setrlimit(RLIMIT_FSIZE, &now);
}

static kugel_status write_map(kugel_ctx *ctx, kugel_comm *comm, const job *j, const char *path)
{
  return kugel_lead_write_maps(ctx, comm, path, &j->o, KUGEL_ARRAY(map, j->type, j->columns, j->npix));
}

typedef struct run {
  job *j;
  kugel_status status;
  long fails_at;
  char said[512];
} run;

static void led(kugel_comm *comm, void *arg)
{
  run *r = arg;
  if (rank_of(comm)) {
    CHECK_OK(kugel_serve(NULL, comm, NULL));
    return;
  }
  limit_files(r->j->disk);
  kugel__fault_alloc(r->fails_at);
  r->status = write_map(NULL, comm, r->j, together);
  kugel__fault_alloc(0);
  limit_files(0);
  snprintf(r->said, sizeof r->said, "%s", kugel_last_error());
  CHECK_OK(kugel_dismiss(comm, 0));
}

static kugel_status write_led(job *j, int ranks, long fails_at)
{
  run r = {.j = j, .status = KUGEL_EINTERNAL, .fails_at = fails_at};
  run_ranks(NULL, ranks, led, &r);
  snprintf(said, sizeof said, "%s", r.said);
  return r.status;
}

static int same_files(void)
{
  FILE *a = fopen(alone, "rb"), *b = fopen(together, "rb");
  static char x[1 << 16], y[1 << 16];
  size_t n = 1;
  int same = a && b;
  while (same && n) {
    n = fread(x, 1, sizeof x, a);
    same = fread(y, 1, sizeof y, b) == n && !memcmp(x, y, n);
  }
  if (a)
    fclose(a);
  if (b)
    fclose(b);
  return same;
}

static void check(job j)
{
  static const int counts[] = {1, 2, 3, 7};
  j.o.size = sizeof j.o;
  j.o.coordsys = "G";
  CHECK_OK(write_map(NULL, NULL, &j, alone));
  for (int i = 0; i < 4; i++) {
    CHECK_OK(write_led(&j, counts[i], 0));
    if (!same_files())
      CHECK_FAIL("%d ranks: other bytes", counts[i]);
    unlink(together);
  }
  unlink(alone);
  CHECK(count_files(folder) == 0);
}

static void not_0(kugel_comm *comm, void *arg)
{
  (void)arg;
  job j = {.columns = 1, .npix = 12, .type = KUGEL_F64};
  if (rank_of(comm)) {
    CHECK_IS(kugel_lead_write_maps(NULL, comm, together, NULL, KUGEL_ARRAY(map, KUGEL_F64, j.npix)),
             KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "rank 0 leads"));
  }
}

int main(void)
{
  uint64_t seed = 2;
  alarm(100);
  signal(SIGXFSZ, SIG_IGN);
  strcpy(folder, "/tmp/kugel-lead-XXXXXX");
  CHECK(mkdtemp(folder) != NULL);
  snprintf(alone, sizeof alone, "%s/alone.fits", folder);
  snprintf(together, sizeof together, "%s/together.fits", folder);
  map = malloc(3 * (size_t)N * 8);
  for (int64_t i = 0; i < 3 * N; i++)
    map[i] = floor(1000 * check_random(&seed)); // integers, too
  CASE("the bytes of one process: one map, three, of both types, with checksums, NESTED, rows of one pixel")
  {
    check((job){.columns = 1, .npix = N, .type = KUGEL_F64});
    check((job){.columns = 3, .npix = N, .type = KUGEL_F32, .o = {.checksum = 1}});
    check((job){.columns = 2, .npix = 12 * 16, .type = KUGEL_F64, .o = {.order = KUGEL_ORDER_NESTED}});
    check((job){.columns = 2, .npix = 12, .type = KUGEL_F32, .o = {.dtype = KUGEL_F64, .nowrap = 1}});
  }
  CASE("rank 0 alone: integers, parts of the sky")
  {
    check((job){.columns = 1, .npix = 12 * 64, .type = KUGEL_F64, .o = {.dtype = KUGEL_I32}});
    check((job){.columns = 1, .npix = 12 * 64, .type = KUGEL_F64, .o = {.skip_unseen = 1}});
  }
  CASE("a full disk, a file that is there, no folder, other ranks, allocations that fail: no file")
  {
    job j = {.columns = 2, .npix = 12 * 64 * 64, .type = KUGEL_F32, .o = {.size = sizeof j.o}};
    for (j.disk = 20000; j.disk < 400000; j.disk += 60000)
      CHECK_IS(write_led(&j, 3, 0), KUGEL_EIO);
    CHECK(strstr(said, "too large")); // tests/cli/ranks.py fills the disk of one rank
    j.disk = 0;
    CHECK(count_files(folder) == 0);
    CHECK_OK(write_led(&j, 3, 0));
    CHECK_IS(write_led(&j, 3, 0), KUGEL_EIO);
    CHECK(strstr(said, "exists") && !strstr(said, "rank"));
    unlink(together);
    kugel_status s = KUGEL_ENOMEM;
    for (long n = 1; s && n < 200; n++) {
      s = write_led(&j, 3, n);
      CHECK(!s || s == KUGEL_ENOMEM);
      if (s && count_files(folder))
        CHECK_FAIL("allocation %ld: a file is left", n);
    }
    CHECK_OK(s);
    unlink(together);
    snprintf(together, sizeof together, "%s/none/m.fits", folder);
    CHECK_IS(write_led(&j, 3, 0), KUGEL_EIO);
    run_ranks(NULL, 3, not_0, NULL);
  }
  free(map);
  rmdir(folder);
  END();
}
