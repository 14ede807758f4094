/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing FITS tables: cfitsio makes headers in memory; they and the bytes of tables, packed here, are written in
 * bulk. */
#ifndef KUGEL_IO_WRITER_H
#define KUGEL_IO_WRITER_H

#include <fitsio.h>
#include <kugel/io.h>
#include "core/base.h"
#include "core/replace.h"

typedef struct kugel__writer {
  kugel_ctx *ctx;
  kugel__replace file;
  fitsfile *f; // headers alone: tables of no rows, in `head`
  void *head;
  size_t head_bytes;
  int fd; // of the temporary
  unsigned char *buffer;
  int64_t end;              // of the file as far as it is written or reserved
  int64_t nrows, row_bytes; // of the table at hand
  int64_t data;             // where its bytes begin
  int64_t used, written;    // of them: buffered, written in order
  int filler;               // fills its last block: 0, or blanks for text
  int overwrite;
  bool gzip;
  bool sums;      // the table carries DATASUM and CHECKSUM
  int64_t header; // where its header begins
  uint64_t sum;   // of its bytes so far as numbers of 32 bits, with the carries added: below 2^33
} kugel__writer;

/* Copies opts and checks what all writers share. */
kugel_status kugel__writer_opts(kugel_fits_write_opts *o, const kugel_fits_write_opts *opts);
kugel_status kugel__writer_begin(kugel_ctx *ctx, const char *path, int overwrite, kugel__writer *w);
/* After success so far (KUGEL_OK) commits the file, else removes it. Returns the first failure. */
kugel_status kugel__writer_end(kugel__writer *w, kugel_status so_far);

/* A new table of nrows rows; units and extname may be NULL, units' entries too. */
kugel_status kugel__writer_table(kugel__writer *w, bool ascii, int64_t nrows, int ncols,
                                 const char *const *names, const char *const *forms, const char *const *units,
                                 const char *extname);
kugel_status kugel__writer_text(kugel__writer *w, const char *key, const char *value, const char *comment);
kugel_status kugel__writer_int(kugel__writer *w, const char *key, int64_t value, const char *comment);
kugel_status kugel__writer_double(kugel__writer *w, const char *key, double value, const char *comment);
/* COORDSYS, CREATOR, further cards, history: last of the header. */
kugel_status kugel__writer_common(kugel__writer *w, const kugel_fits_write_opts *o);
kugel_status kugel__writer_fail(kugel__writer *w, int status);

/* The table's header is complete; it must be sealed before its values. */
kugel_status kugel__writer_seal(kugel__writer *w);
/* The buffer's first n bytes to byte `at` of the table; for tables in pieces. */
kugel_status kugel__writer_bytes(kugel__writer *w, int64_t at, int64_t n);
/* Values of the table one after another as they lie in the file; bytes 4 or 8, integers also 1 and 2. */
kugel_status kugel__writer_drain(kugel__writer *w);
enum { KUGEL__WRITE_BUFFER = 1 << 20 };

static inline kugel_status kugel__writer_integer(kugel__writer *w, int64_t value, int bytes)
{
  if (w->used + bytes > KUGEL__WRITE_BUFFER)
    KUGEL_TRY(kugel__writer_drain(w));
  for (int i = 0; i < bytes; i++)
    w->buffer[w->used + i] = (unsigned char)((uint64_t)value >> (8 * (bytes - 1 - i)));
  w->used += bytes;
  return KUGEL_OK;
}

static inline kugel_status kugel__writer_real(kugel__writer *w, double value, int bytes)
{
  int64_t bits = 0;
  if (bytes == 8) {
    __builtin_memcpy(&bits, &value, 8);
  } else {
    float narrow = (float)value;
    int32_t half;
    __builtin_memcpy(&half, &narrow, 4);
    bits = half;
  }
  return kugel__writer_integer(w, bits, bytes);
}

/* The table is complete; not for tables in pieces. */
kugel_status kugel__writer_flush(kugel__writer *w);

/* fits_checksum.c: adds n bytes that begin at byte `at` of a table to a sum. */
void kugel__checksum_add(uint64_t *sum, int64_t at, const unsigned char *bytes, int64_t n);
/* Writes DATASUM and CHECKSUM into the header of the table at hand, whose bytes are complete, if it carries them. */
kugel_status kugel__writer_sign(kugel__writer *w);
kugel_status kugel__writer_at(kugel__writer *w, int64_t at, const void *bytes, int64_t n);

#endif
