/* SPDX-License-Identifier: BSD-3-Clause */
/* FITS files are written beside their place and moved there when whole; see replace.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <kugel/version.h>
#include "core/alloc.h"
#include "io/fits.h"
#include "io/writer.h"
#include "io/words.h"

enum { BLOCK = 2880 }; // FITS files are made of these

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
  KUGEL_CHECK(o->checksum == 0 || o->checksum == 1, KUGEL_EINVAL, "checksum is %d, must be 0 or 1",
              o->checksum);
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
  return kugel__fits_fail("write", w->file.path, status);
}

/* n bytes to where they belong in the file. Every failed write is seen here: nothing is buffered after it. */
kugel_status kugel__writer_at(kugel__writer *w, int64_t at, const void *bytes, int64_t n)
{
  const char *p = bytes;
  while (n > 0) {
    ssize_t done = pwrite(w->fd, p, (size_t)n, at);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return kugel__io_fail("write", w->file.path, done < 0 ? errno : 0);
    p += done;
    at += done;
    n -= done;
  }
  return KUGEL_OK;
}

/* The header at hand, from cfitsio's memory to the end of the file, with `nrows` rows. */
static kugel_status write_header(kugel__writer *w, int64_t nrows)
{
  int status = 0, n = 0, room = 0;
  char card[FLEN_CARD];
  w->used = 0; // the buffer is free until the header is complete
  kugel__cfitsio_lock();
  fits_get_hdrspace(w->f, &n, &room, &status);
  kugel_status s = KUGEL_OK;
  for (int i = 1; !s && !status && i <= n + 1; i++) {
    strcpy(card, "END");
    if (i <= n && fits_read_record(w->f, i, card, &status))
      break;
    if (!strncmp(card, "NAXIS2  =", 9)) {
      char count[21];
      snprintf(count, sizeof count, "%20lld", (long long)nrows);
      memcpy(card + 10, count, 20);
    }
    if (w->used + 2 * BLOCK > KUGEL__WRITE_BUFFER) { // whole cards
      s = kugel__writer_at(w, w->end, w->buffer, w->used);
      w->end += w->used;
      w->used = 0;
    }
    memset(w->buffer + w->used, ' ', 80);
    memcpy(w->buffer + w->used, card, strlen(card));
    w->used += 80;
  }
  if (!s && status)
    s = kugel__writer_fail(w, status);
  kugel__cfitsio_unlock();
  int64_t padded = kugel__round_up(w->end + w->used, BLOCK) - w->end;
  if (!s) {
    memset(w->buffer + w->used, ' ', (size_t)(padded - w->used));
    s = kugel__writer_at(w, w->end, w->buffer, padded);
  }
  w->end += padded;
  w->used = 0;
  return s;
}

kugel_status kugel__writer_begin(kugel_ctx *ctx, const char *path, int overwrite, kugel__writer *w)
{
  *w = (kugel__writer){.ctx = ctx, .overwrite = overwrite, .fd = -1};
  KUGEL_TRY(kugel__replace_begin(ctx, path, overwrite, &w->file));
  size_t n = strlen(path);
  w->gzip = n > 3 && kugel__same_word(path + n - 3, ".gz");
  w->buffer = kugel__alloc(ctx, KUGEL__WRITE_BUFFER);
  KUGEL_CHECK(w->buffer, KUGEL_ENOMEM, "no memory for a write buffer of %d bytes", KUGEL__WRITE_BUFFER);
  KUGEL_TRY(kugel__replace_create(&w->file, &w->fd));
  int status = 0;
  kugel__cfitsio_lock();
  fits_clear_errmsg();
  fits_create_memfile(&w->f, &w->head, &w->head_bytes, 8 * BLOCK, realloc, &status);
  if (!status)
    fits_create_img(w->f, BYTE_IMG, 0, NULL, &status);
  kugel_status s = status ? kugel__writer_fail(w, status) : KUGEL_OK;
  kugel__cfitsio_unlock();
  return s ? s : write_header(w, 0);
}

/* Moves the file's bytes, compressed, into another temporary. */
static kugel_status compress_to(kugel__writer *w, FILE *out)
{
  kugel_status s = KUGEL_OK;
  FILE *in = fopen(kugel__replace_path(&w->file), "rb");
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

/* The file must have arrived whole: some file systems tell of a full disk only when it is closed. */
static kugel_status close_whole(kugel__writer *w, kugel_status s)
{
  struct stat st;
  errno = 0;
  bool bad = fstat(w->fd, &st) != 0;
  int error = bad ? errno : 0;
  bool is_short = !bad && st.st_size != w->end;
  if (close(w->fd) != 0 && !error)
    error = errno;
  w->fd = -1;
  if (s)
    return s;
  KUGEL_CHECK(!is_short, KUGEL_EIO, "cannot write '%s': %lld of %lld bytes arrived (is the disk full?)",
              kugel__tail(w->file.path), (long long)st.st_size, (long long)w->end);
  return error ? kugel__io_fail("write", w->file.path, error) : KUGEL_OK;
}

kugel_status kugel__writer_end(kugel__writer *w, kugel_status s)
{
  if (w->f) {
    int status = 0;
    kugel__cfitsio_lock();
    fits_close_file(w->f, &status); // memory only
    fits_clear_errmsg();
    kugel__cfitsio_unlock();
  }
  free(w->head); // cfitsio's, by realloc
  if (w->fd >= 0)
    s = close_whole(w, s);
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
  fits_create_tbl(w->f, ascii ? ASCII_TBL : BINARY_TBL, 0, ncols, (char **)names, (char **)forms, NULL,
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
  w->nrows = nrows;
  w->filler = ascii ? ' ' : 0;
  w->data = w->written = w->used = 0;
  return s;
}

kugel_status kugel__writer_text(kugel__writer *w, const char *key, const char *value, const char *comment)
{
  int status = 0;
  kugel__cfitsio_lock();
  fits_update_key(w->f, TSTRING, key, (void *)value, comment, &status);
  kugel_status s = status ? kugel__writer_fail(w, status) : KUGEL_OK;
  kugel__cfitsio_unlock();
  return s;
}

kugel_status kugel__writer_int(kugel__writer *w, const char *key, int64_t value, const char *comment)
{
  int status = 0;
  LONGLONG number = value;
  kugel__cfitsio_lock();
  fits_update_key(w->f, TLONGLONG, key, &number, comment, &status);
  kugel_status s = status ? kugel__writer_fail(w, status) : KUGEL_OK;
  kugel__cfitsio_unlock();
  return s;
}

kugel_status kugel__writer_double(kugel__writer *w, const char *key, double value, const char *comment)
{
  int status = 0;
  kugel__cfitsio_lock();
  fits_update_key_dbl(w->f, key, value, -12, comment, &status);
  kugel_status s = status ? kugel__writer_fail(w, status) : KUGEL_OK;
  kugel__cfitsio_unlock();
  return s;
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
  w->sums = o->checksum;
  if (w->sums) {
    KUGEL_TRY(kugel__writer_text(w, "CHECKSUM", "0000000000000000", "of the HDU"));
    KUGEL_TRY(kugel__writer_text(w, "DATASUM", "0000000000", "of the table"));
  }
  bool dropped = true;
  kugel_status s = KUGEL_OK;
  int status = 0;
  kugel__cfitsio_lock();
  for (int64_t i = 0; !s && i < o->ncards; i++)
    s = write_card(w, o->cards[i], &dropped);
  for (int64_t i = 0; !s && i < o->nhistory; i++)
    fits_write_history(w->f, o->history[i], &status);
  if (status)
    s = kugel__writer_fail(w, status);
  kugel__cfitsio_unlock();
  return s;
}

kugel_status kugel__writer_seal(kugel__writer *w)
{
  w->header = w->end;
  w->sum = 0;
  KUGEL_TRY(write_header(w, w->nrows));
  w->data = w->end;
  w->end += kugel__round_up(w->nrows * w->row_bytes, BLOCK);
  if (w->filler || ftruncate(w->fd, w->end) == 0) // a table of its full length, of zeros
    return KUGEL_OK;
  return kugel__io_fail("write", w->file.path, errno);
}

kugel_status kugel__writer_bytes(kugel__writer *w, int64_t at, int64_t n)
{
  if (w->sums)
    kugel__checksum_add(&w->sum, at, w->buffer, n);
  return kugel__writer_at(w, w->data + at, w->buffer, n);
}

kugel_status kugel__writer_drain(kugel__writer *w)
{
  KUGEL_TRY(kugel__writer_bytes(w, w->written, w->used));
  w->written += w->used;
  w->used = 0;
  return KUGEL_OK;
}

kugel_status kugel__writer_flush(kugel__writer *w)
{
  KUGEL_TRY(kugel__writer_drain(w));
  int64_t rest = w->end - w->data - w->written;
  KUGEL_CHECK(rest >= 0 && rest < BLOCK, KUGEL_EINVAL, "%lld bytes of a table of %lld were given",
              (long long)w->written, (long long)(w->nrows * w->row_bytes));
  memset(w->buffer, w->filler, (size_t)rest);
  KUGEL_TRY(kugel__writer_bytes(w, w->written, rest));
  return kugel__writer_sign(w);
}
