/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of TIFF planes: straight from the file where numbers lie there as they are, else through libtiff. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "stack/tiff.h"

enum { GROUP_BYTES = 1 << 16 };

/* The planes' bytes lie together without packing: *at is where, 0 if they do not. */
static kugel_status find_plane(kugel__tiff *t, kugel__tiff_handle *h, int64_t *at)
{
  kugel__tiff_page p;
  KUGEL_TRY(kugel__tiff_describe(h, &p));
  *at = 0;
  bool together = p.samples == 1 || p.planar == PLANARCONFIG_CONTIG;
  if (p.compression != COMPRESSION_NONE || p.tile_width || !together || !kugel__tiff_same(&p, &t->page))
    return KUGEL_OK;
  int64_t row = p.width * p.samples * (p.bits / 8), strips = kugel__ceil(p.height, p.rows), next = 0;
  for (int64_t i = 0; i < strips; i++) {
    int64_t start = (int64_t)TIFFGetStrileOffset(h->tiff, (uint32_t)i),
            rows = kugel__min(p.rows, p.height - i * p.rows);
    int64_t count = (int64_t)TIFFGetStrileByteCount(h->tiff, (uint32_t)i);
    if (start <= 0 || (i && start != next) || count < rows * row) // a count above 2^63 is negative
      return KUGEL_OK;
    if (!i)
      *at = start;
    next = start + rows * row;
    if (start > h->bytes || next > h->bytes) {
      return KUGEL_FAIL(KUGEL_EFORMAT,
                        "'%s' is cut short: a strip at byte %lld has %lld bytes, the file has %lld",
                        kugel__tail(h->path), (long long)start, (long long)(rows * row), (long long)h->bytes);
    }
    if (i + 1 < strips && count != rows * row)
      *at = 0;
  }
  return KUGEL_OK;
}

static kugel_status find_planes(kugel__tiff *t, kugel__tiff_handle *h)
{
  t->raw = true;
  const kugel__tiff_file *f = &t->files[0];
  for (int64_t i = 0; i < t->nplanes && t->raw; i++) {
    kugel__tiff_plane *p = &t->planes[i];
    if (p->at)
      continue; // known
    if (p->file || p->page < 0 || p->page >= f->npages) {
      t->raw = false;
      break;
    }
    KUGEL_TRY(kugel__tiff_turn(h, f->pages[p->page]));
    KUGEL_TRY(find_plane(t, h, &p->at));
    t->raw = p->at > 0;
  }
  return KUGEL_OK;
}

static kugel_status read_raw(kugel_image *im, const int64_t index[5], char *buffer)
{
  const kugel__tiff *t = im->state;
  const int64_t *n = im->info.shape;
  int64_t channels = t->nplanes / (n[0] * n[2]);
  const kugel__tiff_plane *p = &t->planes[(index[0] * channels + index[1]) * n[2] + index[2]];
  int64_t first = index[3] * im->chunk[3], rows = kugel__min(im->chunk[3], n[3] - first),
          row = n[4] * t->page.samples;
  size_t bytes = kugel__stack_bytes(im);
  KUGEL_TRY(kugel__stack_pread(im->fd, im->path, buffer, (size_t)(rows * row) * bytes,
                               p->at + first * row * (int64_t)bytes));
  if (t->swap)
    kugel__stack_swap(buffer, rows * row, bytes);
  return KUGEL_OK;
}

/* ---- through libtiff ---- */

/* Files of a set are opened when one of their planes is wanted. */
static kugel_status open_file(kugel__tiff *t, int64_t file)
{
  kugel__tiff_file *f = &t->files[file];
  kugel_status s = KUGEL_OK;
  static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&opening);
  if (!f->npages) {
    if (f->fd < 0)
      s = kugel__stack_open_file(f->path, &f->fd, &f->bytes);
    if (!s)
      s = kugel__tiff_list(t, file);
    if (s)
      f->npages = 0;
  }
  pthread_mutex_unlock(&opening);
  return s;
}

static kugel_status read_strile(kugel__tiff *t, kugel__tiff_handle *h, uint32_t k, char *to, int64_t bytes)
{
  int64_t at = (int64_t)TIFFGetStrileOffset(h->tiff, k), count = (int64_t)TIFFGetStrileByteCount(h->tiff, k);
  const char *kind = t->page.tile_width ? "tile" : "strip";
  KUGEL_CHECK(at > 0 && count > 0 && at <= h->bytes && count <= h->bytes - at, KUGEL_EFORMAT,
              "'%s' is damaged or cut short: %s %u of the page at byte %lld has %lld bytes at %lld, the file "
              "has %lld",
              kugel__tail(h->path), kind, k, (long long)h->page, (long long)count, (long long)at,
              (long long)h->bytes);
  h->error[0] = 0;
  tmsize_t got = t->page.tile_width ? TIFFReadEncodedTile(h->tiff, k, to, (tmsize_t)bytes)
                                    : TIFFReadEncodedStrip(h->tiff, k, to, (tmsize_t)bytes);
  KUGEL_CHECK(got == (tmsize_t)bytes, KUGEL_EFORMAT,
              "'%s' is damaged: %s %u at byte %lld cannot be unpacked%s%s", kugel__tail(h->path), kind, k,
              (long long)at, h->error[0] ? ": " : "", h->error);
  return KUGEL_OK;
}

static kugel_status read_page(kugel_image *im, kugel__tiff *t, kugel__tiff_handle *h, const int64_t index[5],
                              int64_t sample, char *buffer)
{
  const kugel__tiff_page *p = &t->page;
  kugel__tiff_page here;
  KUGEL_TRY(kugel__tiff_describe(h, &here));
  KUGEL_CHECK(kugel__tiff_same(&here, p) && here.tile_width == p->tile_width &&
                  here.tile_height == p->tile_height && here.rows == p->rows && here.planar == p->planar,
              KUGEL_EFORMAT,
              "'%s' has a page at byte %lld of another size, type or tiling than the first one",
              kugel__tail(h->path), (long long)h->page);
  int64_t bytes = (int64_t)kugel__stack_bytes(im), per = p->planar == PLANARCONFIG_CONTIG ? p->samples : 1;
  if (p->tile_width) {
    int64_t across = kugel__ceil(p->width, p->tile_width), down = kugel__ceil(p->height, p->tile_height);
    int64_t k = (sample * down + index[3]) * across + index[4];
    return read_strile(t, h, (uint32_t)k, buffer, p->tile_width * p->tile_height * per * bytes);
  }
  int64_t strips = kugel__ceil(p->height, p->rows), group = im->chunk[3] / p->rows,
          row = p->width * per * bytes;
  for (int64_t i = index[3] * group; i < kugel__min((index[3] + 1) * group, strips); i++) {
    int64_t rows = kugel__min(p->rows, p->height - i * p->rows);
    KUGEL_TRY(read_strile(t, h, (uint32_t)(sample * strips + i), buffer, rows * row));
    buffer += rows * row;
  }
  return KUGEL_OK;
}

static kugel_status read_packed(kugel_image *im, const int64_t index[5], char *buffer)
{
  kugel__tiff *t = im->state;
  const int64_t *n = im->info.shape;
  int64_t channels = t->nplanes / (n[0] * n[2]), per = im->chunk[1] == 1 ? t->page.samples : 1;
  const kugel__tiff_plane *p = &t->planes[(index[0] * channels + index[1] / per) * n[2] + index[2]];
  KUGEL_CHECK(p->page >= 0, KUGEL_EFORMAT, "'%s' has no plane for time %lld, channel %lld, z %lld",
              kugel__tail(im->path), (long long)index[0], (long long)index[1], (long long)index[2]);
  KUGEL_TRY(open_file(t, p->file));
  const kugel__tiff_file *f = &t->files[p->file];
  KUGEL_CHECK(p->page < f->npages, KUGEL_EFORMAT,
              "'%s' has %lld pages, and page %d is wanted for time %lld, channel %lld, z %lld",
              kugel__tail(f->path), (long long)f->npages, p->page, (long long)index[0], (long long)index[1],
              (long long)index[2]);
  kugel__tiff_handle *h;
  KUGEL_TRY(kugel__tiff_take(t, p->file, &h));
  kugel_status s = kugel__tiff_turn(h, f->pages[p->page]);
  if (!s)
    s = read_page(im, t, h, index, index[1] % per, buffer);
  kugel__tiff_give(t, p->file, h);
  return s;
}

/* The most that a byte of each packing can stand for, generously. */
static int64_t expansion(uint16_t compression)
{
  return compression == COMPRESSION_NONE                                                  ? 1
         : compression == COMPRESSION_PACKBITS                                            ? 64
         : compression == COMPRESSION_LZW                                                 ? 4096
         : compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE ? 1040
                                                                                          : 1 << 17;
}

kugel_status kugel__tiff_prepare(kugel_image *im, kugel__tiff *t, kugel__tiff_handle *h)
{
  const kugel__tiff_page *p = &t->page;
  int64_t bytes = (int64_t)kugel__stack_bytes(im), samples = p->samples;
  KUGEL_TRY(find_planes(t, h));
  bool contig = t->raw || p->planar == PLANARCONFIG_CONTIG;
  int64_t per = contig ? samples : 1, row = p->width * per * bytes;
  im->chunk[0] = im->chunk[2] = 1;
  im->chunk[1] = per;
  im->chunk[4] = p->tile_width ? p->tile_width : p->width;
  if (t->raw)
    im->chunk[3] = kugel__max(1, kugel__min(p->height, kugel__stack_run(im) / row));
  else if (p->tile_width)
    im->chunk[3] = p->tile_height;
  else
    im->chunk[3] =
        p->rows * kugel__max(1, kugel__min(GROUP_BYTES / (p->rows * row), kugel__ceil(p->height, p->rows)));
  int64_t size = im->chunk[4] * per;
  bool small = !__builtin_mul_overflow(size, im->chunk[3] * bytes, &size) &&
               size / expansion(p->compression) <= im->info.file_bytes + (1 << 20);
  KUGEL_CHECK(t->raw || t->nfiles > 1 || small, KUGEL_EFORMAT,
              "'%s' has %s of %lld x %lld pixels, more than its %lld bytes can hold", kugel__tail(im->path),
              p->tile_width ? "tiles" : "strips", (long long)im->chunk[4], (long long)im->chunk[3],
              (long long)im->info.file_bytes);
  im->piece_bytes = (size_t)size;
  im->stride[1] = per > 1 ? 1 : 0;
  im->stride[4] = per;
  im->stride[3] = im->chunk[4] * per;
  im->read = t->raw ? read_raw : read_packed;
  return KUGEL_OK;
}
