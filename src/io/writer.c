/* SPDX-License-Identifier: BSD-3-Clause */
/* FITS files are written beside their place and moved there when whole; see replace.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zlib.h>
#include <kugel/version.h>
#include "core/alloc.h"
#include "io/fits.h"
#include "io/writer.h"

static bool printable(const char *text)
{
  for (; *text; text++)
    if ((unsigned char)*text < 32 || (unsigned char)*text > 126)
      return false;
  return true;
}

static kugel_status check_text(const char *what, const char *text, size_t longest)
{
  if (!text)
    return KUGEL_OK;
  KUGEL_CHECK(strlen(text) <= longest, KUGEL_EINVAL, "%s '%.30s...' has %zu characters, FITS takes %zu", what,
              text, strlen(text), longest);
  KUGEL_CHECK(printable(text), KUGEL_EINVAL,
              "%s '%.60s' has a character that FITS headers cannot hold: use ASCII", what, text);
  return KUGEL_OK;
}

kugel_status kugel__writer_opts(kugel_fits_write_opts *o, const kugel_fits_write_opts *opts)
{
  KUGEL_TRY(kugel__take_opts(o, sizeof *o, opts, "kugel_fits_write_opts"));
  KUGEL_TRY(check_text("coordsys", o->coordsys, 15));
  KUGEL_TRY(check_text("extname", o->extname, 68));
  KUGEL_TRY(check_text("creator", o->creator, 68));
  KUGEL_CHECK(o->order >= KUGEL_ORDER_ANY && o->order <= KUGEL_ORDER_NESTED, KUGEL_EINVAL,
              "order is %d, must be KUGEL_ORDER_ANY, _RING or _NESTED", (int)o->order);
  KUGEL_CHECK(o->ncards >= 0 && (o->cards || !o->ncards), KUGEL_EINVAL, "ncards is %lld with cards %s",
              (long long)o->ncards, o->cards ? "given" : "NULL");
  KUGEL_CHECK(o->nhistory >= 0 && (o->history || !o->nhistory), KUGEL_EINVAL,
              "nhistory is %lld with history %s", (long long)o->nhistory, o->history ? "given" : "NULL");
  for (int64_t i = 0; i < o->ncards; i++) {
    KUGEL_CHECK(o->cards[i], KUGEL_EINVAL, "card %lld is NULL", (long long)i);
    KUGEL_TRY(check_text("header card", o->cards[i], 80));
  }
  for (int64_t i = 0; i < o->nhistory; i++)
    KUGEL_CHECK(o->history[i] && printable(o->history[i]), KUGEL_EINVAL,
                "history line %lld is NULL or has a character that FITS headers cannot hold: use ASCII",
                (long long)i);
  return KUGEL_OK;
}

kugel_status kugel__writer_fail(kugel__writer *w, int status)
{
  int error = errno;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO || error == EROFS ||
      error == EACCES) {
    fits_clear_errmsg();
    return kugel__io_fail("write", w->file.path, error);
  }
  return kugel__fits_fail("write", w->file.path, status);
}

kugel_status kugel__writer_begin(kugel_ctx *ctx, const char *path, int overwrite, kugel__writer *w)
{
  *w = (kugel__writer){.ctx = ctx, .overwrite = overwrite};
  KUGEL_TRY(kugel__replace_begin(ctx, path, overwrite, &w->file));
  size_t n = strlen(path);
  w->gzip = n > 3 && !strcasecmp(path + n - 3, ".gz");
  w->buffer = kugel__alloc(ctx, KUGEL__WRITE_BUFFER);
  KUGEL_CHECK(w->buffer, KUGEL_ENOMEM, "no memory for a write buffer of %d bytes", KUGEL__WRITE_BUFFER);
  KUGEL_CHECK(strlen(w->file.temp) < FLEN_FILENAME, KUGEL_EINVAL, "the path '...%s' is too long",
              kugel__tail(path));
  int status = 0;
  kugel__cfitsio_lock();
  fits_clear_errmsg();
  errno = 0;
  fits_create_diskfile(&w->f, w->file.temp, &status);
  if (!status)
    fits_create_img(w->f, BYTE_IMG, 0, NULL, &status);
  kugel_status s = status ? kugel__writer_fail(w, status) : KUGEL_OK;
  kugel__cfitsio_unlock();
  return s;
}

/* Moves the file's bytes, compressed, into another temporary. */
static kugel_status compress_to(kugel__writer *w, FILE *out)
{
  kugel_status s = KUGEL_OK;
  FILE *in = fopen(w->file.temp, "rb");
  gzFile gz = NULL;
  int fd = dup(fileno(out));
  if (fd >= 0)
    gz = gzdopen(fd, "wb6");
  if (!in || !gz) {
    s = kugel__io_fail("write", w->file.path, errno);
    if (fd >= 0 && !gz)
      close(fd);
  }
  while (!s) {
    size_t n = fread(w->buffer, 1, KUGEL__WRITE_BUFFER, in);
    errno = 0;
    if (ferror(in) || (n && gzwrite(gz, w->buffer, (unsigned)n) != (int)n))
      s = kugel__io_fail("write", w->file.path, errno);
    if (!n)
      break;
  }
  errno = 0;
  if (gz && gzclose(gz) != Z_OK && !s)
    s = kugel__io_fail("write", w->file.path, errno);
  if (in)
    fclose(in);
  return s;
}

static kugel_status finish_gzip(kugel__writer *w)
{
  kugel__replace packed;
  FILE *out;
  KUGEL_TRY(kugel__replace_begin(w->ctx, w->file.path, w->overwrite, &packed));
  kugel_status s = kugel__replace_open(&packed, &out);
  if (!s)
    s = compress_to(w, out);
  return kugel__replace_finish(&packed, s, out);
}

kugel_status kugel__writer_end(kugel__writer *w, kugel_status s)
{
  if (w->f) {
    int status = 0;
    kugel__cfitsio_lock();
    errno = 0;
    fits_close_file(w->f, &status);
    if (status && !s)
      s = kugel__writer_fail(w, status);
    fits_clear_errmsg();
    kugel__cfitsio_unlock();
  }
  if (!s && w->gzip)
    s = finish_gzip(w);
  else if (!s)
    s = kugel__replace_commit(&w->file);
  kugel__free(w->ctx, w->buffer);
  kugel__replace_abort(&w->file);
  return s;
}

kugel_status kugel__writer_table(kugel__writer *w, bool ascii, int64_t nrows, int ncols,
                                 const char *const *names, const char *const *forms, const char *const *units,
                                 const char *extname)
{
  int status = 0;
  char key[FLEN_KEYWORD];
  for (int c = 0; c < ncols; c++) {
    KUGEL_TRY(check_text("column name", names[c], 68));
    KUGEL_TRY(check_text("unit", units ? units[c] : NULL, 68));
  }
  kugel__cfitsio_lock();
  errno = 0;
  fits_create_tbl(w->f, ascii ? ASCII_TBL : BINARY_TBL, nrows, ncols, (char **)names, (char **)forms, NULL,
                  extname && *extname ? (char *)extname : NULL, &status);
  for (int c = 0; !status && units && c < ncols; c++)
    if (units[c] && *units[c]) {
      snprintf(key, sizeof key, "TUNIT%d", c + 1);
      fits_write_key(w->f, TSTRING, key, (void *)units[c], "unit", &status);
    }
  LONGLONG width = 0;
  fits_read_key(w->f, TLONGLONG, "NAXIS1", &width, NULL, &status);
  kugel_status s = status ? kugel__writer_fail(w, status) : KUGEL_OK;
  kugel__cfitsio_unlock();
  w->row_bytes = width;
  w->written = w->used = 0;
  return s;
}

kugel_status kugel__writer_text(kugel__writer *w, const char *key, const char *value, const char *comment)
{
  int status = 0;
  fits_update_key(w->f, TSTRING, key, (void *)value, comment, &status);
  return status ? kugel__writer_fail(w, status) : KUGEL_OK;
}

kugel_status kugel__writer_int(kugel__writer *w, const char *key, int64_t value, const char *comment)
{
  int status = 0;
  LONGLONG number = value;
  fits_update_key(w->f, TLONGLONG, key, &number, comment, &status);
  return status ? kugel__writer_fail(w, status) : KUGEL_OK;
}

kugel_status kugel__writer_double(kugel__writer *w, const char *key, double value, const char *comment)
{
  int status = 0;
  fits_update_key_dbl(w->f, key, value, -12, comment, &status);
  return status ? kugel__writer_fail(w, status) : KUGEL_OK;
}

/* A card of another file, unless its keyword is structure or written already. */
static kugel_status write_card(kugel__writer *w, const char *card, bool *dropped)
{
  int status = 0, length = 0;
  char name[FLEN_KEYWORD] = "", old[FLEN_CARD], copy[FLEN_CARD];
  snprintf(copy, sizeof copy, "%s", card);
  bool commentary =
      !strncmp(copy, "COMMENT", 7) || !strncmp(copy, "HISTORY", 7) || !strncmp(copy, "        ", 8);
  if (!strncmp(copy, "CONTINUE", 8)) {
    if (*dropped)
      return KUGEL_OK;
  } else {
    *dropped = kugel__card_structural(copy);
    if (!*dropped && !commentary) {
      if (fits_get_keyname(copy, name, &length, &status) || !name[0])
        return KUGEL_FAIL(KUGEL_EINVAL, "'%s' is no FITS header card", copy);
      *dropped = fits_read_card(w->f, name, old, &status) == 0;
      status = 0;
      fits_clear_errmsg();
    }
    if (*dropped)
      return KUGEL_OK;
  }
  errno = 0;
  if (fits_write_record(w->f, copy, &status)) {
    if (status >= 200 && status < 300) { // a keyword FITS forbids
      fits_clear_errmsg();
      return KUGEL_FAIL(KUGEL_EINVAL, "'%s' is no FITS header card", copy);
    }
    return kugel__writer_fail(w, status);
  }
  return KUGEL_OK;
}

kugel_status kugel__writer_common(kugel__writer *w, const kugel_fits_write_opts *o)
{
  if (o->coordsys && *o->coordsys)
    KUGEL_TRY(kugel__writer_text(w, "COORDSYS", o->coordsys, "G galactic, E ecliptic, C celestial"));
  KUGEL_TRY(kugel__writer_text(w, "CREATOR", o->creator ? o->creator : "kugel " KUGEL_VERSION, "software"));
  bool dropped = true;
  for (int64_t i = 0; i < o->ncards; i++)
    KUGEL_TRY(write_card(w, o->cards[i], &dropped));
  int status = 0;
  errno = 0;
  for (int64_t i = 0; i < o->nhistory; i++)
    fits_write_history(w->f, o->history[i], &status);
  return status ? kugel__writer_fail(w, status) : KUGEL_OK;
}

kugel_status kugel__writer_drain(kugel__writer *w)
{
  int status = 0;
  if (!w->used)
    return KUGEL_OK;
  kugel__cfitsio_lock();
  errno = 0;
  fits_write_tblbytes(w->f, w->written / w->row_bytes + 1, w->written % w->row_bytes + 1, w->used, w->buffer,
                      &status);
  w->written += w->used;
  w->used = 0;
  kugel_status s = status ? kugel__writer_fail(w, status) : KUGEL_OK;
  kugel__cfitsio_unlock();
  return s;
}

kugel_status kugel__writer_flush(kugel__writer *w)
{
  KUGEL_TRY(kugel__writer_drain(w));
  int status = 0;
  kugel__cfitsio_lock();
  errno = 0;
  fits_flush_file(w->f, &status);
  kugel_status s = status ? kugel__writer_fail(w, status) : KUGEL_OK;
  kugel__cfitsio_unlock();
  return s;
}
