/* SPDX-License-Identifier: BSD-3-Clause */
/* Zarrs that ranks write together: the files of one process, for any number of ranks and planes that never match the shards. ISA: once. LABEL: long */
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>
#include <kugel/image.h>
#include <kugel/volume.h>
#include "comm/faults.h"
#include "io/folder.h"

enum { NZ = 37, NY = 9, NX = 10, C = 2, PLANE = NY * NX };
static char folder[64];
static float values[C][NZ * PLANE];

typedef struct job {
  kugel_image_opts o;
  kugel_dtype type; // of the file
  int drops;        // rank that keeps nothing; -1: none
  kugel_status status[8];
} job;

static kugel_image_opts options(const job *j, kugel_comm *comm)
{
  kugel_image_opts o = j->o;
  o.size = sizeof o;
  o.shape[0] = 1, o.shape[1] = C, o.shape[2] = NZ, o.shape[3] = NY, o.shape[4] = NX;
  o.dtype = j->type;
  o.voxel[0] = 0.3, o.voxel[1] = o.voxel[2] = 0.1;
  o.comm = comm;
  return o;
}

/* Planes [lo, hi) of a channel, cut evenly. */
static kugel_status put(kugel_image *im, int c, int64_t lo, int64_t hi, int rank, int ranks)
{
  int64_t a = lo + (hi - lo) * rank / ranks, b = lo + (hi - lo) * (rank + 1) / ranks;
  int64_t at[3] = {a, 0, 0}, n[3] = {b - a, NY, NX};
  return kugel_image_write(im, 0, c, at, n, KUGEL_ARRAY(values[c] + a * PLANE, KUGEL_F32, b - a, NY, NX));
}

static kugel_status write_zarr(kugel_ctx *ctx, kugel_comm *comm, const job *j, const char *path)
{
  kugel_image_opts o = options(j, comm);
  kugel_image *im = NULL;
  int rank = comm ? rank_of(comm) : 0, ranks = comm ? ranks_of(comm) : 1;
  kugel_status s = kugel_image_create(ctx, path, &o, &im);
  s = s ? s : put(im, 0, 0, NZ, rank, ranks);
  s = s ? s : put(im, 1, 11, NZ, rank, ranks); // in two slabs, which share a row of shards
  s = s ? s : put(im, 1, 0, 11, rank, ranks);
  kugel_status closed = kugel_image_close(im, !s && j->drops != rank);
  return s ? s : closed;
}

static kugel_status together(kugel_ctx *ctx, kugel_comm *comm, void *arg)
{
  char path[128];
  snprintf(path, sizeof path, "%s/b/x.zarr", folder);
  return write_zarr(ctx, comm, arg, path);
}

static void over_ranks(kugel_comm *comm, void *arg)
{
  job *j = arg;
  j->status[rank_of(comm)] = together(NULL, comm, j);
}

static int shell(const char *format)
{
  char command[300];
  snprintf(command, sizeof command, format, folder, folder);
  return system(command);
}

static int left(void)
{
  char b[80];
  snprintf(b, sizeof b, "%s/b", folder);
  return count_files(b);
}

static void check(job j)
{
  static const int counts[] = {1, 2, 3, 4, 5, 7};
  char path[128];
  j.drops = -1;
  snprintf(path, sizeof path, "%s/a/x.zarr", folder);
  CHECK_OK(write_zarr(NULL, NULL, &j, path));
  for (int i = 0; i < 6; i++) {
    run_ranks(NULL, counts[i], over_ranks, &j);
    for (int r = 0; r < counts[i]; r++)
      CHECK_OK(j.status[r]);
    if (shell("diff -r %s/a %s/b"))
      CHECK_FAIL("%d ranks: other files", counts[i]);
    CHECK(left() == 1);
    shell("rm -r %s/b/x.zarr");
  }
  shell("rm -r %s/a/x.zarr");
}

static void odd(kugel_comm *comm, void *arg)
{
  job *j = arg;
  char path[128];
  int rank = rank_of(comm);
  kugel_image *im = NULL;
  kugel_image_opts o = options(j, comm);
  snprintf(path, sizeof path, "%s/b/x.tif", folder);
  CHECK_IS(kugel_image_create(NULL, path, &o, &im), KUGEL_ENOTSUP);
  snprintf(path, sizeof path, "%s/b/x.zarr", folder);
  o.chunk[0] = 4 + rank;
  CHECK_IS(kugel_image_create(NULL, path, &o, &im), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "the ranks differ in shape") && !im);
  CHECK_IS(kugel_image_create(NULL, rank == 1 ? "" : path, &o, &im), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "rank 1: the path is empty"));
  o.chunk[0] = 4;
  CHECK_OK(kugel_image_create(NULL, path, &o, &im));
  int64_t at[3] = {rank, 0, 0}, n[3] = {1, NY, NX}, wide[3] = {1, NY, NX - 1}, twice[3] = {0, 0, 0};
  kugel_array *x = KUGEL_ARRAY(values[0], KUGEL_F32, 1, NY, NX);
  CHECK_IS(kugel_image_write(im, 0, 0, at, rank == 2 ? wide : n, x), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "rank 2: the box is 1 x 9 x 9"));
  CHECK_IS(kugel_image_write(im, 0, 0, twice, n, x), KUGEL_EINVAL);
  CHECK(strstr(kugel_last_error(), "3 planes of 0 to 0"));
  CHECK_IS(kugel_image_write(im, 0, rank == 0, at, n, x), KUGEL_EINVAL);
  CHECK_OK(kugel_image_write(im, 0, 0, at, n, x));
  CHECK_IS(kugel_image_write(im, 0, 5, at, n, x), KUGEL_EINVAL);
  CHECK_OK(kugel_image_close(im, 0));
}

int main(void)
{
  uint64_t seed = 1;
  alarm(100);
  strcpy(folder, "/tmp/kugel-zarr-XXXXXX");
  CHECK(mkdtemp(folder) != NULL);
  shell("mkdir %s/a %s/b");
  for (int i = 0; i < C * NZ * PLANE; i++)
    values[i / (NZ * PLANE)][i % (NZ * PLANE)] = (float)(100 + 90 * check_random(&seed));
  CASE("shards, chunks, both versions, types, compressions: the files of one process")
  {
    check((job){.o = {.chunk = {4, 5, 6}, .shard = 2}, .type = KUGEL_F32});
    check((job){.o = {.chunk = {3, 4, 10}, .compression = KUGEL_COMPRESS_NONE}, .type = KUGEL_U16});
    check(
        (job){.o = {.chunk = {8, 9, 10}, .compression = KUGEL_COMPRESS_DEFLATE, .format = KUGEL_IMAGE_ZARR2},
              .type = KUGEL_F64});
    check((job){.type = KUGEL_F32}); /* one row of chunks */
  }
  CASE("what ranks refuse, or do not keep")
  {
    job j = {.o = {.chunk = {4, 5, 6}}, .type = KUGEL_F32, .drops = 1};
    run_ranks(NULL, 3, over_ranks, &j);
    CHECK(left() == 0);
    run_ranks(NULL, 3, odd, &j);
    CHECK(left() == 0);
  }
  CASE("failures of each rank leave nothing")
  {
    job j = {.o = {.chunk = {4, 5, 6}, .shard = 2, .overwrite = 1}, .type = KUGEL_F32, .drops = -1};
    for (int rank = 0; rank < SWEPT; rank++) {
      sweep_rank(rank, 1, together, &j, 10);
      CHECK(left() == 1); // of the last, which is whole
      shell("rm -r %s/b/x.zarr");
      sweep_exchanges(rank, together, &j);
      CHECK(left() == 1);
      shell("rm -r %s/b/x.zarr");
    }
  }
  shell("rm -r %s");
  END();
}
