/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening and closing FITS files. Compressed files are unpacked into memory by zlib, so that a damaged one is
 * reported by name, and cfitsio sees only plain FITS. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "io/fits.h"
#include "io/input.h"
#include "core/replace.h"
#include "io/words.h"

enum { BLOCK = 2880 };

/* Room for at least one more block, doubled as the file grows but never beyond what its headers promise. */
static kugel_status grow(kugel_fits *file, size_t *room, int64_t reach)
{
  size_t more = *room ? 2 * *room : (size_t)1 << 20;
  if (more > (size_t)reach + BLOCK)
    more = (size_t)reach + BLOCK;
  if (more <= *room)
    return KUGEL_OK;
  char *larger = kugel__alloc(file->ctx, more);
  KUGEL_CHECK(larger, KUGEL_ENOMEM, "no memory to unpack '%s': %zu bytes so far", kugel__tail(file->path),
              file->bytes);
  if (file->bytes)
    memcpy(larger, file->mem, file->bytes);
  kugel__free(file->ctx, file->mem);
  file->mem = larger;
  *room = more;
  return KUGEL_OK;
}

/* Unpacks into file->mem, no more than the headers, looked at on the way, promise: a small file can unpack to any
 * size. */
static kugel_status unpack_all(kugel_fits *file, gzFile gz)
{
  size_t room = 0;
  int64_t at = 0, reach = BLOCK;
  for (;;) {
    if (file->bytes >= (size_t)reach) {
      kugel_status s = kugel__fits_reach(file, &at, &reach);
      if (s)
        return s;
      KUGEL_CHECK(file->bytes < (size_t)reach, KUGEL_EFORMAT,
                  "'%s' unpacks to more than the %lld bytes that its headers promise",
                  kugel__tail(file->path), (long long)at);
    }
    if (room - file->bytes < BLOCK)
      KUGEL_TRY(grow(file, &room, reach));
    size_t ask = room - file->bytes < (1u << 24) ? room - file->bytes : 1u << 24;
    if (ask > (size_t)reach - file->bytes)
      ask = (size_t)reach - file->bytes;
    int got = gzread(gz, (char *)file->mem + file->bytes, (unsigned)ask);
    int code = Z_OK;
    const char *why = gzerror(gz, &code);
    KUGEL_CHECK(got >= 0 && (code == Z_OK || code == Z_STREAM_END), KUGEL_EFORMAT, "cannot unpack '%s': %s",
                kugel__tail(file->path), code == Z_BUF_ERROR ? "the file is cut short" : why);
    if (got == 0)
      return KUGEL_OK;
    file->bytes += (size_t)got;
  }
}

static kugel_status unpack(kugel_fits *file)
{
  gzFile gz = gzopen(file->path, "rb");
  if (!gz)
    return kugel__io_fail("open", file->path, errno);
  gzbuffer(gz, 1 << 17);
  file->bytes = 0;
  kugel_status s = unpack_all(file, gz);
  gzclose(gz);
  return s;
}

/* Looks at the first bytes before cfitsio does: what is not a FITS file gets a clear answer, and none of
 * cfitsio's other drivers (compress, bzip2, PKZIP, IRAF, remote) is ever reached. */
static kugel_status check_file(kugel_fits *file)
{
  const char *path = file->path;
  FILE *in;
  int64_t size;
  KUGEL_TRY(kugel__input_open(path, &in, &size));
  unsigned char head[16] = {0};
  size_t got = fread(head, 1, sizeof head, in);
  int error = ferror(in) ? errno : 0;
  fclose(in);
  if (error)
    return kugel__io_fail("read", path, error);
  KUGEL_CHECK(size > 0, KUGEL_EFORMAT, "'%s' is empty", kugel__tail(path));
  file->bytes = (size_t)size;
  if (got > 2 && head[0] == 0x1f && head[1] == 0x8b) {
    KUGEL_TRY(unpack(file));
    memset(head, 0, sizeof head);
    got = file->bytes < sizeof head ? file->bytes : sizeof head;
    if (got)
      memcpy(head, file->mem, got);
  }
  const char *guess = kugel__input_guess(head, got);
  KUGEL_CHECK(!memcmp(head, "SIMPLE  =", 9), KUGEL_EFORMAT, "'%s' is not a FITS file%s", kugel__tail(path),
              *guess ? guess : ": it does not start with SIMPLE");
  KUGEL_CHECK(file->bytes >= BLOCK, KUGEL_EFORMAT,
              "'%s' is cut short: %zu bytes, a FITS header has at least 2880", kugel__tail(path),
              file->bytes);
  return KUGEL_OK;
}

static kugel_status open_cfitsio(kugel_fits *file)
{
  int status = 0;
  kugel__cfitsio_lock();
  fits_clear_errmsg();
  if (file->mem)
    fits_open_memfile(&file->f, "unpacked", READONLY, &file->mem, &file->bytes, 0, NULL, &status);
  else
    fits_open_diskfile(&file->f, file->path, READONLY, &status);
  kugel_status s = status ? kugel__fits_fail("open", file->path, status) : KUGEL_OK;
  kugel__cfitsio_unlock();
  if (s)
    file->f = NULL;
  return s;
}

/* The first HDU with data, or the one that was asked for; 0 with a message if there is none. */
static int choose_hdu(kugel_fits *file, const kugel_fits_opts *o, kugel_status *s)
{
  int n = file->hdus, status = 0;
  *s = KUGEL_OK;
  if (o->hdu) {
    if (o->hdu >= 1 && o->hdu <= n)
      return (int)o->hdu;
    *s = KUGEL_FAIL(KUGEL_EINVAL, "hdu is %lld, '%s' has %d (1 is the primary)", (long long)o->hdu,
                    kugel__tail(file->path), n);
    return 0;
  }
  for (int hdu = 1; hdu <= n; hdu++) {
    int type = 0, naxis = 0;
    LONGLONG axes[2] = {0, 0};
    fits_movabs_hdu(file->f, hdu, &type, &status);
    if (o->extname) {
      char name[72] = "";
      kugel__key_text(file->f, "EXTNAME", name, sizeof name);
      if (!status && kugel__same_word(name, o->extname))
        return hdu;
    } else {
      if (type == IMAGE_HDU) {
        fits_get_img_dim(file->f, &naxis, &status);
        fits_get_img_sizell(file->f, 2, axes, &status);
      }
      if (!status && (type != IMAGE_HDU || (naxis > 0 && axes[0] > 0)))
        return hdu;
    }
    if (status) {
      *s = kugel__fits_fail("read", file->path, status);
      return 0;
    }
  }
  if (o->extname)
    *s = KUGEL_FAIL(KUGEL_EINVAL, "'%s' has no extension named '%s' among its %d HDUs",
                    kugel__tail(file->path), kugel__tail(o->extname), n);
  else
    *s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' holds no data: its %d HDUs are empty", kugel__tail(file->path), n);
  return 0;
}

static kugel_status describe(kugel_fits *file, const kugel_fits_opts *o)
{
  kugel_status s;
  kugel__fits_lock(file);
  fits_clear_errmsg();
  int hdu = choose_hdu(file, o, &s);
  if (!s)
    s = kugel__table_read(file, hdu, &file->table);
  if (!s)
    s = kugel__fits_collect_cards(file);
  if (!s)
    s = kugel__fits_classify(file);
  fits_clear_errmsg();
  kugel__fits_unlock(file);
  return s;
}

kugel_status kugel_fits_open(kugel_ctx *ctx, const char *path, const kugel_fits_opts *opts, kugel_fits **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  *out = NULL;
  KUGEL_CHECK(path && *path, KUGEL_EINVAL, "the path is %s: give a file name", path ? "empty" : "NULL");
  kugel_fits_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_fits_opts"));
  KUGEL_CHECK(o.hdu >= 0, KUGEL_EINVAL, "hdu is %lld, must be 0 (any) or from 1 (primary) on",
              (long long)o.hdu);
  size_t n = strlen(path);
  KUGEL_CHECK(n + 3 < FLEN_FILENAME, KUGEL_EINVAL, "the path has %zu bytes, at most %d can be opened", n,
              FLEN_FILENAME - 4);
  ctx = kugel__ctx_retain(ctx);
  KUGEL_CHECK(ctx, KUGEL_ENOMEM, "no memory for the default context");
  kugel_fits *file = kugel__calloc(ctx, sizeof *file);
  if (!file) {
    kugel_ctx_destroy(ctx);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory to open '%s'", kugel__tail(path));
  }
  file->ctx = ctx;
  file->pixel_col = -1;
  file->lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  kugel_status s = KUGEL_OK;
  file->path = kugel__alloc(ctx, n + 3);
  if (!file->path)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory to open '%s'", kugel__tail(path));
  else // "./": no name then looks like "-" or "~user" to cfitsio
    snprintf(file->path, n + 3, "%s%s", path[0] == '/' ? "" : "./", path);
  if (!s)
    s = check_file(file);
  if (!s)
    s = kugel__fits_scan(file);
  if (!s)
    s = open_cfitsio(file);
  if (!s)
    s = describe(file, &o);
  if (s) {
    kugel_fits_close(file);
    return s;
  }
  *out = file;
  return KUGEL_OK;
}

void kugel_fits_close(kugel_fits *file)
{
  if (!file)
    return;
  kugel_ctx *ctx = file->ctx;
  if (file->f) {
    int status = 0;
    kugel__cfitsio_lock();
    fits_close_file(file->f, &status);
    fits_clear_errmsg();
    kugel__cfitsio_unlock();
  }
  pthread_mutex_destroy(&file->lock);
  kugel__table_free(ctx, &file->table);
  kugel__free(ctx, file->columns);
  kugel__free(ctx, file->cards);
  kugel__free(ctx, file->card_text);
  kugel__free(ctx, file->mem);
  kugel__free(ctx, file->path);
  kugel__free(ctx, file);
  kugel_ctx_destroy(ctx);
}

const kugel_fits_info *kugel_fits_get_info(const kugel_fits *file)
{
  return file ? &file->info : NULL;
}

kugel_status kugel_fits_get_column(const kugel_fits *file, int64_t column, kugel_fits_column *out)
{
  KUGEL_CHECK(file && out, KUGEL_EINVAL, "%s is NULL", file ? "out" : "file");
  KUGEL_CHECK(column >= 0 && column < file->info.ncolumns, KUGEL_EINVAL,
              "column is %lld, '%s' has %lld, counted from 0", (long long)column, kugel__tail(file->path),
              (long long)file->info.ncolumns);
  const kugel__col *c = &file->table.cols[file->columns[column]];
  memset(out, 0, sizeof *out);
  memcpy(out->name, c->name, sizeof c->name);
  memcpy(out->unit, c->unit, sizeof c->unit);
  out->dtype = c->dtype;
  out->repeat = c->repeat;
  return KUGEL_OK;
}

kugel_status kugel_fits_find_column(const kugel_fits *file, const char *name, int64_t *column)
{
  KUGEL_CHECK(file && name && column, KUGEL_EINVAL, "%s is NULL", !file ? "file" : !name ? "name" : "column");
  for (int64_t c = 0; c < file->info.ncolumns; c++)
    if (kugel__same_word(name, file->table.cols[file->columns[c]].name) && *name) {
      *column = c;
      return KUGEL_OK;
    }
  char *end;
  long long number = strtoll(name, &end, 10);
  if (end != name && !*end && number >= 0 && number < file->info.ncolumns) {
    *column = number;
    return KUGEL_OK;
  }
  char names[256] = "";
  size_t used = 0;
  for (int64_t c = 0; c < file->info.ncolumns && used < sizeof names - 1; c++) {
    int n = snprintf(names + used, sizeof names - used, "%s%s", c ? ", " : "",
                     file->table.cols[file->columns[c]].name);
    used += (size_t)n;
  }
  return KUGEL_FAIL(KUGEL_EINVAL, "'%s' has no column '%.40s'; it has %s (or give 0 to %lld)",
                    kugel__tail(file->path), name, names, (long long)file->info.ncolumns - 1);
}

kugel_status kugel_fits_get_keyword(const kugel_fits *file, const char *keyword, char *text, size_t size)
{
  KUGEL_CHECK(file && keyword && text && size, KUGEL_EINVAL, "an argument is NULL or size is 0");
  kugel_fits *open = (kugel_fits *)file; // only its lock and cfitsio's read position change
  KUGEL_CHECK(strlen(keyword) < FLEN_KEYWORD, KUGEL_EINVAL, "the keyword has %zu letters, at most %d",
              strlen(keyword), FLEN_KEYWORD - 1);
  kugel__fits_lock(open);
  bool found = kugel__key_text(open->f, keyword, text, size);
  kugel__fits_unlock(open);
  KUGEL_CHECK(found, KUGEL_EINVAL, "'%s' has no keyword %s", kugel__tail(file->path), keyword);
  return KUGEL_OK;
}
