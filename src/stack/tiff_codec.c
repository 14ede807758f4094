/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing by libtiff: a page of one strip in memory, of which the strip's bytes are taken. Any thread may pack. */
#include <string.h>
#include "stack/tiff.h"

typedef struct memory {
  kugel_ctx *ctx;
  char *data;
  int64_t size, room, at;
  bool failed;
} memory;

static tmsize_t mem_read(thandle_t user, void *to, tmsize_t n)
{
  memory *m = user;
  tmsize_t got = (tmsize_t)kugel__min(n, kugel__max(0, m->size - m->at));
  if (got)
    memcpy(to, m->data + m->at, (size_t)got);
  m->at += got;
  return got;
}

static tmsize_t mem_write(thandle_t user, void *from, tmsize_t n)
{
  memory *m = user;
  if (m->at + n > m->room) {
    int64_t room = 2 * (m->at + n) + 4096;
    char *data = kugel__alloc(m->ctx, (size_t)room);
    if (!data) {
      m->failed = true;
      return 0;
    }
    if (m->size)
      memcpy(data, m->data, (size_t)m->size);
    kugel__free(m->ctx, m->data);
    m->data = data;
    m->room = room;
  }
  if (m->at > m->size)
    memset(m->data + m->size, 0, (size_t)(m->at - m->size));
  memcpy(m->data + m->at, from, (size_t)n);
  m->at += n;
  m->size = kugel__max(m->size, m->at);
  return n;
}

static toff_t mem_seek(thandle_t user, toff_t to, int whence)
{
  memory *m = user;
  m->at = (int64_t)to + (whence == SEEK_CUR ? m->at : whence == SEEK_END ? m->size : 0);
  return (toff_t)m->at;
}

static int mem_close(thandle_t user)
{
  (void)user;
  return 0;
}

static toff_t mem_size(thandle_t user)
{
  return (toff_t)((memory *)user)->size;
}

static int silent(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
  (void)tiff, (void)user, (void)module, (void)format, (void)args;
  return 1;
}

static bool pack(TIFF *tiff, const kugel_image *im, uint16_t compression, uint16_t predictor, int64_t width,
                 int64_t rows, char *numbers)
{
  uint16_t format = im->info.dtype.code == KUGEL_FLOAT  ? SAMPLEFORMAT_IEEEFP
                    : im->info.dtype.code == KUGEL_UINT ? SAMPLEFORMAT_UINT
                                                        : SAMPLEFORMAT_INT;
  int64_t bytes = width * rows * (int64_t)kugel__stack_bytes(im);
  bool ok = TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)width) &&
            TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, (uint32_t)rows) &&
            TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, (uint32_t)rows) &&
            TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, im->info.dtype.bits) &&
            TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1) &&
            TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format) &&
            TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) &&
            TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK) &&
            TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
  if (ok && predictor > 1)
    ok = TIFFSetField(tiff, TIFFTAG_PREDICTOR, predictor);
  if (ok && im->opts.level && (compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_ZSTD))
    ok = TIFFSetField(tiff, compression == COMPRESSION_ZSTD ? TIFFTAG_ZSTD_LEVEL : TIFFTAG_ZIPQUALITY,
                      im->opts.level);
  return ok && TIFFWriteEncodedStrip(tiff, 0, numbers, (tmsize_t)bytes) == (tmsize_t)bytes;
}

kugel_status kugel__tiff_pack(const kugel_image *im, uint16_t compression, uint16_t predictor, int64_t width,
                              int64_t rows, char *numbers, char **packed, int64_t *bytes)
{
  memory m = {.ctx = im->ctx};
  *packed = NULL;
  TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
  KUGEL_CHECK(options, KUGEL_ENOMEM, "no memory for packing");
  TIFFOpenOptionsSetErrorHandlerExtR(options, silent, NULL);
  TIFFOpenOptionsSetWarningHandlerExtR(options, silent, NULL);
  TIFF *tiff = TIFFClientOpenExt("memory", "w8l", &m, mem_read, mem_write, mem_seek, mem_close, mem_size,
                                 NULL, NULL, options);
  TIFFOpenOptionsFree(options);
  bool ok = tiff && pack(tiff, im, compression, predictor, width, rows, numbers);
  int64_t at = ok ? (int64_t)TIFFGetStrileOffset(tiff, 0) : 0;
  *bytes = ok ? (int64_t)TIFFGetStrileByteCount(tiff, 0) : 0;
  ok = ok && at > 0 && *bytes > 0 && at + *bytes <= m.size;
  if (tiff)
    TIFFCleanup(tiff); // no directory is wanted
  if (!ok) {
    kugel__free(im->ctx, m.data);
    return KUGEL_FAIL(m.failed || !tiff ? KUGEL_ENOMEM : KUGEL_EINTERNAL,
                      "%lld x %lld numbers of '%s' could not be packed%s", (long long)width, (long long)rows,
                      kugel__tail(im->path), m.failed ? ": no memory" : "");
  }
  memmove(m.data, m.data + at, (size_t)*bytes);
  *packed = m.data;
  return KUGEL_OK;
}
