/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of a TIFF stack: libtiff's readers over pread, the list of directories. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "stack/tiff.h"

enum { MAX_PAGES = 1 << 26 };

static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
  kugel__tiff_handle *h = user;
  (void)tiff;
  (void)module;
  if (!h->error[0]) // the first says most
    vsnprintf(h->error, sizeof h->error, format, args);
  return 1;
}

static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list args)
{
  (void)tiff, (void)user, (void)module, (void)format, (void)args;
  return 1;
}

static tmsize_t do_read(thandle_t user, void *to, tmsize_t n)
{
  kugel__tiff_handle *h = user;
  tmsize_t done = 0;
  while (done < n) {
    ssize_t got = pread(h->fd, (char *)to + done, (size_t)(n - done), (off_t)h->at);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    done += got;
    h->at += got;
  }
  return done;
}

static tmsize_t no_write(thandle_t user, void *from, tmsize_t n)
{
  (void)user, (void)from, (void)n;
  return 0;
}

static toff_t do_seek(thandle_t user, toff_t to, int whence)
{
  kugel__tiff_handle *h = user;
  int64_t base = whence == SEEK_CUR ? h->at : whence == SEEK_END ? h->bytes : 0;
  h->at = to > INT64_MAX / 2 ? h->bytes : base + (int64_t)to;
  return (toff_t)h->at;
}

static int no_close(thandle_t user)
{
  (void)user;
  return 0;
}

static toff_t do_size(thandle_t user)
{
  return (toff_t)((kugel__tiff_handle *)user)->bytes;
}

kugel_status kugel__tiff_trouble(const kugel__tiff_handle *h, const char *what)
{
  return KUGEL_FAIL(KUGEL_EFORMAT, "'%s' is damaged: %s at byte %lld%s%s", kugel__tail(h->path), what,
                    (long long)h->page, h->error[0] ? ": " : "", h->error);
}

kugel_status kugel__tiff_take(kugel__tiff *t, int64_t file, kugel__tiff_handle **out)
{
  kugel__tiff_file *f = &t->files[file];
  pthread_mutex_lock(&t->lock);
  kugel__tiff_handle *h = f->idle;
  if (h)
    f->idle = h->next;
  pthread_mutex_unlock(&t->lock);
  *out = h;
  if (h) {
    h->error[0] = 0;
    return KUGEL_OK;
  }
  h = kugel__calloc(t->ctx, sizeof *h);
  TIFFOpenOptions *options = h ? TIFFOpenOptionsAlloc() : NULL;
  if (options) {
    *h = (kugel__tiff_handle){.path = f->path, .fd = f->fd, .bytes = f->bytes};
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, h);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, h);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)kugel__max(1 << 24, 2 * f->bytes));
    h->tiff = TIFFClientOpenExt(f->path, "rm", h, do_read, no_write, do_seek, no_close, do_size, NULL, NULL,
                                options);
    TIFFOpenOptionsFree(options);
  }
  kugel_status s = KUGEL_OK;
  if (!h || !options)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a reader of '%s'", kugel__tail(f->path));
  else if (!h->tiff)
    s = kugel__tiff_trouble(h, "the first directory cannot be read");
  if (s)
    kugel__free(t->ctx, h);
  else
    h->page = TIFFCurrentDirOffset(h->tiff);
  *out = s ? NULL : h;
  return s;
}

void kugel__tiff_give(kugel__tiff *t, int64_t file, kugel__tiff_handle *h)
{
  pthread_mutex_lock(&t->lock);
  h->next = t->files[file].idle;
  t->files[file].idle = h;
  pthread_mutex_unlock(&t->lock);
}

kugel_status kugel__tiff_turn(kugel__tiff_handle *h, uint64_t page)
{
  if (h->page == page)
    return KUGEL_OK;
  h->page = page;
  return TIFFSetSubDirectory(h->tiff, page) ? KUGEL_OK : kugel__tiff_trouble(h, "there is no directory");
}

static bool known_compression(uint16_t c)
{
  return c == COMPRESSION_NONE || c == COMPRESSION_LZW || c == COMPRESSION_PACKBITS ||
         c == COMPRESSION_ADOBE_DEFLATE || c == COMPRESSION_DEFLATE || c == COMPRESSION_ZSTD ||
         c == COMPRESSION_LZMA;
}

kugel_status kugel__tiff_describe(kugel__tiff_handle *h, kugel__tiff_page *p)
{
  uint32_t width = 0, height = 0, rows = 0, tw = 0, th = 0;
  const char *name = kugel__tail(h->path);
  memset(p, 0, sizeof *p);
  if (!TIFFGetField(h->tiff, TIFFTAG_IMAGEWIDTH, &width) ||
      !TIFFGetField(h->tiff, TIFFTAG_IMAGELENGTH, &height))
    return kugel__tiff_trouble(h, "the directory has no ImageWidth or ImageLength");
  TIFFGetFieldDefaulted(h->tiff, TIFFTAG_BITSPERSAMPLE, &p->bits);
  TIFFGetFieldDefaulted(h->tiff, TIFFTAG_SAMPLEFORMAT, &p->format);
  TIFFGetFieldDefaulted(h->tiff, TIFFTAG_SAMPLESPERPIXEL, &p->samples);
  TIFFGetFieldDefaulted(h->tiff, TIFFTAG_PLANARCONFIG, &p->planar);
  TIFFGetFieldDefaulted(h->tiff, TIFFTAG_COMPRESSION, &p->compression);
  TIFFGetFieldDefaulted(h->tiff, TIFFTAG_ROWSPERSTRIP, &rows);
  if (TIFFIsTiled(h->tiff) && (!TIFFGetField(h->tiff, TIFFTAG_TILEWIDTH, &tw) ||
                               !TIFFGetField(h->tiff, TIFFTAG_TILELENGTH, &th) || !tw || !th))
    return kugel__tiff_trouble(h, "the directory has tiles of no size");
  if (!width || !height || !p->samples)
    return kugel__tiff_trouble(h, "the page is empty");
  p->width = width;
  p->height = height;
  p->rows = rows && rows < height ? rows : height;
  p->tile_width = tw;
  p->tile_height = th;
  if (p->samples == 1)
    p->planar = PLANARCONFIG_CONTIG;
  bool real = p->format == SAMPLEFORMAT_UINT || p->format == SAMPLEFORMAT_INT ||
              p->format == SAMPLEFORMAT_IEEEFP || p->format == SAMPLEFORMAT_VOID;
  bool size = p->bits == 8 || p->bits == 16 || p->bits == 32 || p->bits == 64;
  KUGEL_CHECK(real && size && !(p->format == SAMPLEFORMAT_IEEEFP && p->bits == 8), KUGEL_ENOTSUP,
              "'%s' has pixels of %d bits and sample format %d: 8, 16, 32 and 64 bits of integers and floats "
              "are read",
              name, p->bits, p->format);
  KUGEL_CHECK(known_compression(p->compression) && TIFFIsCODECConfigured(p->compression), KUGEL_ENOTSUP,
              "'%s' has compression %d: none, LZW, PackBits, deflate, zstd and LZMA are read", name,
              p->compression);
  return KUGEL_OK;
}

bool kugel__tiff_same(const kugel__tiff_page *a, const kugel__tiff_page *b)
{
  return a->width == b->width && a->height == b->height && a->bits == b->bits && a->format == b->format &&
         a->samples == b->samples;
}

static kugel_status grow(kugel__tiff *t, kugel__tiff_file *f, int64_t *room)
{
  if (f->npages < *room)
    return KUGEL_OK;
  int64_t next = 2 * *room + 16;
  uint64_t *pages;
  KUGEL_ALLOC(t->ctx, pages, (size_t)next * sizeof *pages);
  if (f->npages)
    memcpy(pages, f->pages, (size_t)f->npages * sizeof *pages);
  kugel__free(t->ctx, f->pages);
  f->pages = pages;
  *room = next;
  return KUGEL_OK;
}

static kugel_status walk(kugel__tiff *t, kugel__tiff_file *f, kugel__tiff_handle *h)
{
  int64_t room = 0;
  do {
    KUGEL_CHECK(f->npages < MAX_PAGES, KUGEL_ENOTSUP, "'%s' has more than %d pages", kugel__tail(f->path),
                MAX_PAGES);
    KUGEL_TRY(grow(t, f, &room));
    h->page = TIFFCurrentDirOffset(h->tiff);
    f->pages[f->npages++] = h->page;
    h->error[0] = 0;
  } while (TIFFReadDirectory(h->tiff));
  return h->error[0] ? kugel__tiff_trouble(h, "the directory after the one") : KUGEL_OK;
}

kugel_status kugel__tiff_list(kugel__tiff *t, int64_t file)
{
  kugel__tiff_file *f = &t->files[file];
  kugel__tiff_handle *h;
  KUGEL_TRY(kugel__tiff_take(t, file, &h));
  kugel_status s = walk(t, f, h);
  kugel__tiff_give(t, file, h);
  return s;
}

void kugel__tiff_free(kugel__tiff *t)
{
  for (int64_t i = 0; i < t->nfiles; i++) {
    kugel__tiff_file *f = &t->files[i];
    for (kugel__tiff_handle *h = f->idle, *next; h; h = next) {
      next = h->next;
      TIFFClose(h->tiff);
      kugel__free(t->ctx, h);
    }
    if (f->fd >= 0 && i > 0) // the first is the image's
      close(f->fd);
    kugel__free(t->ctx, f->pages);
    kugel__free(t->ctx, f->path);
  }
  kugel__free(t->ctx, t->files);
  kugel__free(t->ctx, t->planes);
  pthread_mutex_destroy(&t->lock);
  kugel__free(t->ctx, t);
}
