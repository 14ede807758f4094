/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include "core/parallel.h"
#include "stack/data.h"

enum { PIECE = 1 << 18 };

/* ---- reading ---- */

/* Packed bytes [at, end) of `from` to `want` bytes of `to`. */
static kugel_status unpack(kugel_image *im, int from, const char *path, int64_t at, int64_t end, int to,
                           int64_t want)
{
  z_stream z = {0};
  unsigned char *in;
  KUGEL_ALLOC(im->ctx, in, 2 * PIECE);
  unsigned char *out = in + PIECE;
  int64_t done = 0;
  int code = inflateInit2(&z, 15 + 32); // zlib or gzip
  kugel_status s =
      code == Z_OK ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for unpacking '%s'", kugel__tail(path));
  kugel__progress_stage(0, 1, "unpacking");
  while (!s && done < want) {
    if (!z.avail_in) {
      int64_t n = kugel__min(PIECE, end - at);
      if (n <= 0)
        s = KUGEL_FAIL(KUGEL_EFORMAT,
                       "'%s' is cut short: its packed data hold %lld bytes, its header promises %lld",
                       kugel__tail(path), (long long)done, (long long)want);
      else
        s = kugel__stack_pread(from, path, in, (size_t)n, at);
      if (s)
        break;
      z.next_in = in;
      z.avail_in = (unsigned)n;
      at += n;
    }
    z.next_out = out;
    z.avail_out = (unsigned)kugel__min(PIECE, want - done);
    unsigned room = z.avail_out;
    code = inflate(&z, Z_NO_FLUSH);
    int64_t got = room - z.avail_out;
    if (code != Z_OK && code != Z_STREAM_END && !(code == Z_BUF_ERROR && !z.avail_in))
      s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' is damaged: its data cannot be unpacked near byte %lld: %s",
                     kugel__tail(path), (long long)(at - z.avail_in), z.msg ? z.msg : "zlib gives no reason");
    else if (code == Z_STREAM_END && done + got < want)
      s = KUGEL_FAIL(KUGEL_EFORMAT,
                     "'%s' is cut short: its packed data hold %lld bytes, its header promises %lld",
                     kugel__tail(path), (long long)(done + got), (long long)want);
    if (!s && got)
      s = kugel__stack_pwrite(to, path, out, (size_t)got, done);
    done += got;
    if (!s)
      s = kugel__progress_step((double)done / (double)want);
  }
  inflateEnd(&z);
  kugel__free(im->ctx, in);
  return s;
}

static int temporary(void)
{
  FILE *f = tmpfile();
  int fd = f ? dup(fileno(f)) : -1;
  if (f)
    fclose(f);
  return fd;
}

static int64_t total(const kugel_image *im)
{
  int64_t bytes = (int64_t)kugel__stack_bytes(im);
  for (int i = 0; i < 5; i++)
    bytes *= im->info.shape[i];
  return bytes;
}

kugel_status kugel__data_open(kugel_image *im, const char *data, int64_t at, const kugel__stack_place *place,
                              bool swap, bool packed)
{
  int64_t bytes = im->info.file_bytes, all = total(im);
  if (data) {
    char *path;
    KUGEL_TRY(kugel__stack_beside(im->ctx, im->path, data, &path));
    int fd;
    kugel_status s = kugel__stack_open_file(path, &fd, &bytes);
    kugel__free(im->ctx, path);
    KUGEL_TRY(s);
    close(im->fd);
    im->fd = fd;
    im->info.file_bytes += bytes;
  }
  kugel__stack_place own = *place;
  if (packed) {
    KUGEL_CHECK(at >= 0, KUGEL_ENOTSUP,
                "'%s' has packed data at the end of the file: only those at its start are read",
                kugel__tail(im->path));
    KUGEL_CHECK(all / 1040 <= bytes, KUGEL_EFORMAT,
                "'%s' promises %lld bytes of data, more than %lld packed ones can hold",
                kugel__tail(im->path), (long long)all, (long long)bytes);
    int to = temporary();
    if (to < 0)
      return kugel__io_fail("create a temporary file for", im->path, errno);
    kugel_status s = unpack(im, im->fd, im->path, at, bytes, to, all);
    close(im->fd);
    im->fd = to;
    strcpy(im->compression, "deflate");
    KUGEL_TRY(s);
    bytes = all;
    own.at = place->at;
  } else {
    own.at += at < 0 ? bytes - all : at;
    KUGEL_CHECK(own.at >= 0, KUGEL_EFORMAT, "'%s' is cut short: its header promises %lld bytes, it has %lld",
                kugel__tail(im->path), (long long)all, (long long)bytes);
  }
  KUGEL_TRY(kugel__stack_check_place(im, &own, bytes));
  return kugel__stack_read_raw(im, &own, swap);
}

/* ---- writing ---- */

typedef struct sink {
  kugel__replace other; // the data's file
  bool has_other;
  int out; // where packed data go; the numbers wait in im->fd
  int64_t at;
  int packing;
} sink;

kugel_status kugel__data_name(kugel_image *im, const char *suffix, bool whole_path, char **out)
{
  const char *slash = strrchr(im->path, '/'), *name = slash && !whole_path ? slash + 1 : im->path;
  const char *dot = strrchr(slash ? slash : im->path, '.');
  size_t n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
  KUGEL_ALLOC(im->ctx, *out, n + strlen(suffix) + 1);
  memcpy(*out, name, n);
  strcpy(*out + n, suffix);
  return KUGEL_OK;
}

static kugel_status pack(kugel_image *im, sink *k)
{
  z_stream z = {0};
  unsigned char *in;
  int64_t all = total(im), at = k->at;
  KUGEL_ALLOC(im->ctx, in, 2 * PIECE);
  kugel_status s = KUGEL_OK;
  if (deflateInit2(&z, im->opts.level ? im->opts.level : Z_DEFAULT_COMPRESSION, Z_DEFLATED, k->packing, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for packing");
  for (int64_t done = 0; !s && done < all;) {
    int64_t n = kugel__min(PIECE, all - done);
    s = kugel__stack_pread(im->fd, im->path, in, (size_t)n, done);
    done += n;
    z.next_in = in;
    z.avail_in = (unsigned)n;
    do {
      z.next_out = in + PIECE;
      z.avail_out = PIECE;
      if (!s)
        deflate(&z, done < all ? Z_NO_FLUSH : Z_FINISH);
      int64_t got = PIECE - z.avail_out;
      if (!s && got)
        s = kugel__stack_pwrite(k->out, im->path, in + PIECE, (size_t)got, at);
      at += got;
    } while (!s && !z.avail_out);
  }
  deflateEnd(&z);
  kugel__free(im->ctx, in);
  return s;
}

static kugel_status finish(kugel_image *im)
{
  sink *k = im->state;
  KUGEL_TRY(kugel__stack_extend(im));
  if (k->packing)
    KUGEL_TRY(pack(im, k));
  if (!k->has_other)
    return KUGEL_OK;
  k->has_other = false;
  int *fd = k->packing ? &k->out : &im->fd;
  int code = close(*fd);
  *fd = -1;
  if (code) {
    kugel_status s = kugel__io_fail("write", im->path, errno);
    kugel__replace_abort(&k->other);
    return s;
  }
  return kugel__replace_commit(&k->other);
}

static void close_data(kugel_image *im)
{
  sink *k = im->state;
  if (k->has_other)
    kugel__replace_abort(&k->other);
  if (k->out >= 0)
    close(k->out);
  kugel__free(im->ctx, k);
}

static kugel_status make_other(kugel_image *im, sink *k, const char *suffix)
{
  char *path;
  KUGEL_TRY(kugel__data_name(im, suffix, true, &path));
  kugel_status s = kugel__replace_begin(im->ctx, path, im->opts.overwrite, &k->other);
  kugel__free(im->ctx, path);
  KUGEL_TRY(s);
  k->has_other = true;
  close(im->fd);
  return kugel__replace_create(&k->other, &im->fd);
}

kugel_status kugel__data_create(kugel_image *im, const char *header, size_t n, const char *suffix,
                                int packing)
{
  sink *k = kugel__calloc(im->ctx, sizeof *k);
  KUGEL_CHECK(k, KUGEL_ENOMEM, "no memory for a file");
  k->out = -1;
  k->packing = packing;
  im->state = k;
  im->close = close_data;
  im->finish = finish;
  im->raw = true;
  KUGEL_TRY(kugel__stack_pwrite(im->fd, im->path, header, n, 0));
  if (suffix)
    KUGEL_TRY(make_other(im, k, suffix));
  k->at = suffix ? 0 : (int64_t)n;
  if (packing) {
    k->out = im->fd;
    im->fd = temporary();
    if (im->fd < 0)
      return kugel__io_fail("create a temporary file for", im->path, errno);
    strcpy(im->compression, "deflate");
  }
  kugel__stack_c_order(im, packing ? 0 : k->at, &im->place);
  return KUGEL_OK;
}
