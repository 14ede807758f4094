/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps in pieces that several ranks write into one file: rank 0 makes it, with its header and its full length; the others open it; closing
 * it, they agree, add up the checksums of what each wrote, and rank 0 renames it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "io/fits.h"
#include "io/map_writer.h"

enum { LONGEST = 4096 };

/* What rank 0 tells the others of its file. */
typedef struct card {
  int64_t data, row_bytes, sums;
  char temp[LONGEST];
} card;

static kugel_status same_file(kugel_comm *comm, const kugel_fits_writer *f)
{
  static const char *const names[] = {"nside", "ncolumns", "bits of the dtype", "pixels per row", "checksum"};
  int64_t v[] = {f->m.nside, f->m.ncolumns, f->m.dtype.bits, f->repeat, f->m.o.checksum}, w[10];
  for (int i = 0; i < 5; i++) {
    w[2 * i] = v[i];
    w[2 * i + 1] = -v[i];
  }
  KUGEL_TRY(kugel_comm_reduce(comm, w, 10, KUGEL_COMM_MIN));
  for (int i = 0; i < 5; i++)
    KUGEL_CHECK(w[2 * i] == -w[2 * i + 1], KUGEL_EINVAL,
                "the ranks differ in %s, which is %lld on one and %lld on another: give all the same",
                names[i], (long long)w[2 * i], (long long)-w[2 * i + 1]);
  return KUGEL_OK;
}

/* Rank 0. */
static kugel_status make_file(kugel_fits_writer *f, const char *path, card *of)
{
  size_t n = strlen(path);
  KUGEL_CHECK(n < 3 || strcmp(path + n - 3, ".gz") != 0, KUGEL_ENOTSUP,
              "'%s' is to be compressed, which one process does: leave out .gz", kugel__tail(path));
  KUGEL_TRY(kugel__pieces_begin(f, path));
  kugel__writer *w = &f->m.w;
  KUGEL_TRY(kugel__replace_name(&w->file));
  KUGEL_CHECK(strlen(w->file.temp) < LONGEST, KUGEL_EINVAL, "the path '...%s' is too long",
              kugel__tail(path));
  *of = (card){w->data, w->row_bytes, w->sums, ""};
  strcpy(of->temp, w->file.temp);
  return KUGEL_OK;
}

/* The others. */
static kugel_status join_file(kugel_fits_writer *f, const char *path, const card *of)
{
  kugel__writer *w = &f->m.w;
  w->data = of->data;
  w->row_bytes = of->row_bytes;
  w->sums = of->sums != 0;
  w->buffer = kugel__alloc(f->ctx, KUGEL__WRITE_BUFFER);
  w->file.path = kugel__alloc(f->ctx, strlen(path) + 1);
  KUGEL_CHECK(w->buffer && w->file.path, KUGEL_ENOMEM, "no memory for a write buffer of %d bytes",
              KUGEL__WRITE_BUFFER);
  strcpy(w->file.path, path);
  w->fd = open(of->temp, O_RDWR | O_CLOEXEC);
  return w->fd < 0 ? kugel__io_fail("open the file of rank 0 for", path, errno) : KUGEL_OK;
}

static kugel_status open_together(kugel_fits_writer *f, const char *path, card *of)
{
  kugel_status s = f->rank ? KUGEL_OK : make_file(f, path, of);
  KUGEL_TRY(kugel_comm_agree(f->comm, s));
  s = kugel_comm_bcast(f->comm, of, sizeof *of, 0);
  if (!s && f->rank)
    s = join_file(f, path, of);
  return kugel_comm_agree(f->comm, s);
}

/* What this rank holds of the file; `s`: whether it has failed. Rank 0 keeps the file or removes it. */
static kugel_status release(kugel_fits_writer *f, kugel_status s)
{
  kugel__writer *w = &f->m.w;
  kugel_ctx *ctx = f->ctx;
  if (!f->rank && w->file.path) {
    s = kugel__writer_end(w, s);
  } else {
    if (w->fd >= 0)
      close(w->fd);
    kugel__free(ctx, w->buffer);
    kugel__free(ctx, w->file.path);
  }
  kugel__free(ctx, f);
  kugel_ctx_destroy(ctx);
  return s;
}

kugel_status kugel__pieces_create_together(kugel_ctx *ctx, kugel_status s, const char *path,
                                           const kugel_fits_write_opts *o, int64_t nside, int64_t ncolumns,
                                           kugel_fits_writer **out)
{
  kugel_comm_info info = {.size = sizeof info};
  KUGEL_TRY(kugel_comm_get_info(o->comm, &info));
  kugel_fits_writer *f = s ? NULL : kugel__calloc(ctx, sizeof *f);
  card *of = s ? NULL : kugel__calloc(ctx, sizeof *of);
  if (!s && (!f || !of))
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory to write a map");
  if (!s && (!path || !*path))
    s = KUGEL_FAIL(KUGEL_EINVAL, "the path is %s: give a file name", path ? "empty" : "NULL");
  if (f) {
    f->ctx = kugel__ctx_retain(ctx);
    f->comm = o->comm;
    f->rank = info.rank;
    f->m = (kugel__map_writer){.o = *o, .nside = nside, .ncolumns = ncolumns, .w = {.ctx = ctx, .fd = -1}};
    f->m.dtype = o->dtype.bits ? o->dtype : KUGEL_F32;
    f->m.w.ctx = f->ctx;
    s = s ? s : kugel__pieces_check(f);
  }
  s = kugel_comm_agree(o->comm, s);
  s = s ? s : same_file(o->comm, f);
  s = s ? s : open_together(f, path, of);
  kugel__free(ctx, of);
  if (s && f)
    return release(f, s);
  if (f)
    memset(&f->m.o, 0, sizeof f->m.o); /* the caller's texts need live no longer */
  *out = s ? NULL : f;
  return s;
}

kugel_status kugel__pieces_close_together(kugel_fits_writer *f, int keep)
{
  kugel__writer *w = &f->m.w;
  kugel_status s = f->status;
  if (!s && keep && f->rank && fsync(w->fd) != 0 && errno != EINVAL && errno != ENOTSUP)
    s = kugel__io_fail("write", w->file.path, errno);
  s = kugel_comm_agree(f->comm, s);
  int64_t all[] = {keep != 0};
  s = s ? s : kugel_comm_reduce(f->comm, all, 1, KUGEL_COMM_MIN);
  if (s || !all[0]) {
    release(f, s ? s : KUGEL_ECANCELED);
    return s;
  }
  int64_t sum[] = {(int64_t)w->sum};
  kugel_comm *comm = f->comm;
  s = kugel_comm_reduce(comm, sum, 1, KUGEL_COMM_SUM);
  w->sum = (uint64_t)sum[0];
  if (!s && !f->rank)
    s = kugel__writer_sign(w);
  return kugel_comm_agree(comm, release(f, s));
}
