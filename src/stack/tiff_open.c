/* SPDX-License-Identifier: BSD-3-Clause */
/* A TIFF as a stack: which page is which plane, by OME-XML, ImageJ's description, or in their order. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include "stack/tiff.h"

/* ---- the planes ---- */

static kugel_status make_planes(kugel_image *im, kugel__tiff *t, int64_t per_channel)
{
  const int64_t *n = im->info.shape;
  t->nplanes = n[0] * per_channel * n[2];
  KUGEL_ALLOC(im->ctx, t->planes, (size_t)t->nplanes * sizeof *t->planes);
  for (int64_t i = 0; i < t->nplanes; i++)
    t->planes[i] = (kugel__tiff_plane){0, -1, 0};
  return KUGEL_OK;
}

/* Pages in the order of planes [slowest][][fastest], each a letter of "tcz". */
static void number_planes(kugel_image *im, kugel__tiff *t, const char order[3], const int32_t *pages,
                          int64_t npages)
{
  const int64_t *n = im->info.shape;
  int64_t nc = t->nplanes / (n[0] * n[2]), extent[3], at[3];
  for (int i = 0; i < 3; i++)
    extent[i] = order[i] == 't' ? n[0] : order[i] == 'c' ? nc : n[2];
  for (int64_t k = 0; k < npages && k < t->nplanes; k++) {
    int64_t rest = k, index[3] = {0};
    for (int i = 2; i >= 0; i--) {
      at[i] = rest % extent[i];
      rest /= extent[i];
      index[order[i] == 't' ? 0 : order[i] == 'c' ? 1 : 2] = at[i];
    }
    t->planes[(index[0] * nc + index[1]) * n[2] + index[2]].page = pages ? pages[k] : (int32_t)k;
  }
}

static kugel_status as_plain(kugel_image *im, kugel__tiff *t, const int32_t *pages, int64_t npages)
{
  im->info.shape[0] = 1;
  im->info.shape[1] = t->page.samples;
  im->info.shape[2] = npages;
  KUGEL_TRY(kugel__stack_check_shape(im));
  KUGEL_TRY(make_planes(im, t, 1));
  number_planes(im, t, "tcz", pages, npages);
  return KUGEL_OK;
}

/* ---- ImageJ ---- */

/* The size of a pixel. libtiff gives the quotient as a float: of the sizes that it may stand for, the shortest decimal. */
static double resolution(kugel__tiff_handle *h, uint32_t tag)
{
  float r = 0;
  if (!TIFFGetField(h->tiff, tag, &r) || !(r > 0) || !isfinite(r))
    return 0;
  double size = 1 / (double)r, power = pow(10, floor(log10(size)));
  for (int digits = 0; digits < 9; digits++) {
    double shift = pow(10, digits), x = rint(size / power * shift) / shift * power;
    float back = (float)(1 / x);
    if (!(back < r || back > r))
      return x;
  }
  return size;
}

/* More than 4 GB: one page, the others right behind it. */
static kugel_status behind_the_first(kugel_image *im, kugel__tiff *t, kugel__tiff_handle *h, int64_t images)
{
  int64_t bytes = t->page.width * t->page.height * t->page.samples * (t->page.bits / 8);
  int64_t at = (int64_t)TIFFGetStrileOffset(h->tiff, 0);
  int64_t room = at > 0 && at < t->files[0].bytes ? (t->files[0].bytes - at) / bytes : 0;
  KUGEL_CHECK(
      images <= room, KUGEL_EFORMAT,
      "'%s' is cut short: ImageJ's description promises %lld images from byte %lld on, there are %lld",
      kugel__tail(im->path), (long long)images, (long long)at, (long long)room);
  for (int64_t i = 0; i < t->nplanes; i++)
    t->planes[i].at = at + t->planes[i].page * bytes;
  return KUGEL_OK;
}

static kugel_status as_imagej(kugel_image *im, kugel__tiff *t, kugel__tiff_handle *h, const kugel__imagej *ij,
                              const int32_t *pages, int64_t npages)
{
  bool behind =
      npages == 1 && ij->images > 1 && t->page.compression == COMPRESSION_NONE && !t->page.tile_width;
  int64_t images = behind ? ij->images : npages, c = kugel__max(ij->channels, 1),
          f = kugel__max(ij->frames, 1);
  int64_t z = kugel__max(ij->slices, 1);
  if (t->page.samples > 1)
    c = 1;
  int64_t all;
  if (__builtin_mul_overflow(c, f, &all) || __builtin_mul_overflow(all, z, &all) || all != images) {
    c = f = 1;
    z = images;
  }
  KUGEL_CHECK(images <= im->info.file_bytes, KUGEL_EFORMAT, "'%s' claims %lld images in %lld bytes",
              kugel__tail(im->path), (long long)images, (long long)im->info.file_bytes);
  im->info.shape[0] = f;
  im->info.shape[1] = c * t->page.samples;
  im->info.shape[2] = z;
  KUGEL_TRY(kugel__stack_check_shape(im));
  KUGEL_TRY(make_planes(im, t, c));
  number_planes(im, t, "tzc", behind ? NULL : pages, images);
  strcpy(im->format_name, "ImageJ TIFF");
  strcpy(im->unit, ij->unit);
  double unit = kugel__stack_length_unit(ij->unit),
         zunit = ij->zunit[0] ? kugel__stack_length_unit(ij->zunit) : unit;
  im->info.voxel[0] = ij->spacing * zunit;
  im->info.voxel[1] = resolution(h, TIFFTAG_YRESOLUTION) * unit;
  im->info.voxel[2] = resolution(h, TIFFTAG_XRESOLUTION) * unit;
  im->info.time_step = ij->interval;
  return behind ? behind_the_first(im, t, h, images) : KUGEL_OK;
}

/* The slices' labels, of which ImageJ has one per plane; those of the first plane of each channel name it. Tag 50839 holds
 * texts in UTF-16 behind a header, 50838 their lengths. */
static void imagej_names(kugel_image *im, kugel__tiff_handle *h)
{
  uint32_t n = 0, m = 0;
  const uint32_t *counts = NULL;
  const uint8_t *bytes = NULL;
  if (!TIFFGetField(h->tiff, 50838, &n, &counts) || !TIFFGetField(h->tiff, 50839, &m, &bytes) || n < 2 ||
      counts[0] > m || counts[0] < 12)
    return;
  bool big = !memcmp(bytes, "IJIJlabl", 8);
  if (!big && memcmp(bytes, "JIJIlbal", 8))
    return;
  int64_t at = counts[0];
  uint32_t labels = big ? bytes[11] | bytes[10] << 8 | bytes[9] << 16 | (uint32_t)bytes[8] << 24
                        : bytes[8] | bytes[9] << 8 | bytes[10] << 16 | (uint32_t)bytes[11] << 24;
  for (uint32_t i = 1; i < n && i <= labels && i <= im->info.shape[1] && at + counts[i] <= m;
       at += counts[i++]) {
    char name[KUGEL__NAME_BYTES * 4] = "";
    size_t used = 0;
    for (int64_t k = at; k + 1 < at + counts[i] && used + 4 < sizeof name; k += 2) {
      unsigned u = bytes[k + big] | (unsigned)bytes[k + !big] << 8;
      if (u < 0x80) {
        name[used++] = (char)u;
      } else if (u < 0x800) {
        name[used++] = (char)(0xc0 | u >> 6);
        name[used++] = (char)(0x80 | (u & 63));
      } else {
        name[used++] = (char)(0xe0 | u >> 12);
        name[used++] = (char)(0x80 | (u >> 6 & 63));
        name[used++] = (char)(0x80 | (u & 63));
      }
    }
    name[used] = 0;
    kugel__stack_name(im, i - 1, name);
  }
}

/* ---- OME ---- */

static kugel_status check_ome(kugel_image *im, const kugel__tiff *t, const kugel__ome *o, int64_t samples)
{
  const char *path = kugel__tail(im->path);
  KUGEL_CHECK(o->images, KUGEL_EFORMAT, "'%s' has OME-XML without an Image", path);
  KUGEL_CHECK(o->size[0] == t->page.width && o->size[1] == t->page.height, KUGEL_EFORMAT,
              "'%s' contradicts itself: its OME-XML says %lld x %lld, its pages have %lld x %lld", path,
              (long long)o->size[0], (long long)o->size[1], (long long)t->page.width,
              (long long)t->page.height);
  bool order = strlen(o->order) == 5 && !strncmp(o->order, "XY", 2) && strchr(o->order, 'Z') &&
               strchr(o->order, 'C') && strchr(o->order, 'T');
  KUGEL_CHECK(order, KUGEL_EFORMAT, "'%s' has DimensionOrder \"%s\", must be one like XYZCT", path, o->order);
  for (int i = 2; i < 5; i++)
    KUGEL_CHECK(o->size[i] >= 1 && o->size[i] < 1 << 28, KUGEL_EFORMAT,
                "'%s' has Size%c %lld, must be 1 to 2^28", path, "XYZCT"[i], (long long)o -> size[i]);
  KUGEL_CHECK(o->size[3] % samples == 0, KUGEL_EFORMAT,
              "'%s' has %lld channels in its OME-XML, and %lld samples per pixel", path,
              (long long)o->size[3], (long long)samples);
  return KUGEL_OK;
}

/* The number of the file that TiffData names; its size is added to *bytes. */
static kugel_status find_file(kugel_image *im, kugel__tiff *t, const kugel__ome *o, const kugel__ome_data *d,
                              int32_t *file, int64_t *bytes)
{
  const char *slash = strrchr(im->path, '/'), *own = slash ? slash + 1 : im->path;
  const char *name = d->file >= 0 ? o->names + d->file : own, *uuid = d->uuid >= 0 ? o->names + d->uuid : "";
  struct stat st;
  char *path;
  *file = 0;
  if (!strcmp(name, own) || (o->uuid[0] && !strcmp(uuid, o->uuid)))
    return KUGEL_OK;
  KUGEL_TRY(kugel__stack_beside(im->ctx, im->path, name, &path));
  for (int64_t i = t->nfiles - 1; i > 0; i--) // they come in order, mostly
    if (!strcmp(t->files[i].path, path)) {
      kugel__free(im->ctx, path);
      *file = (int32_t)i;
      return KUGEL_OK;
    }
  if (stat(path, &st) != 0)
    st.st_size = 1 << 16; // it may come yet; reading of its planes fails till then
  *bytes += st.st_size;
  *file = (int32_t)t->nfiles;
  t->files[t->nfiles++] = (kugel__tiff_file){.path = path, .fd = -1};
  return KUGEL_OK;
}

static kugel_status more_files(kugel_image *im, kugel__tiff *t, int64_t more)
{
  kugel__tiff_file *files;
  KUGEL_ALLOC(im->ctx, files, (size_t)(1 + more) * sizeof *files);
  files[0] = t->files[0];
  kugel__free(im->ctx, t->files);
  t->files = files;
  return KUGEL_OK;
}

static void place_data(kugel__tiff *t, const kugel__ome *o, const kugel__ome_data *d, int32_t file,
                       const int64_t extent[3])
{
  int64_t count = d->count >= 0 ? d->count
                  : d->ifd >= 0 ? 1
                                : t->nplanes,
          ifd = d->ifd > 0 ? d->ifd : 0, at[3];
  memcpy(at, d->first, sizeof at);
  for (int64_t k = 0; k < count; k++) {
    if (at[0] >= extent[0] || at[1] >= extent[1] || at[2] >= extent[2] || ifd + k > INT32_MAX)
      return;
    t->planes[(at[2] * extent[1] + at[1]) * extent[0] + at[0]] =
        (kugel__tiff_plane){file, (int32_t)(ifd + k), 0};
    for (int i = 2; i < 5; i++) {
      int axis = o->order[i] == 'Z' ? 0 : o->order[i] == 'C' ? 1 : 2;
      if (++at[axis] < extent[axis])
        break;
      at[axis] = i < 4 ? 0 : at[axis];
    }
  }
}

static kugel_status as_ome(kugel_image *im, kugel__tiff *t, const kugel__ome *o)
{
  int64_t samples = t->page.samples, bytes = im->info.file_bytes;
  KUGEL_TRY(check_ome(im, t, o, samples));
  im->info.shape[0] = o->size[4];
  im->info.shape[1] = o->size[3];
  im->info.shape[2] = o->size[2];
  KUGEL_TRY(kugel__stack_check_shape(im));
  KUGEL_TRY(more_files(im, t, o->ndata));
  int32_t *file;
  KUGEL_ALLOC(im->ctx, file, (size_t)(o->ndata + 1) * sizeof *file);
  kugel_status s = KUGEL_OK;
  for (int64_t i = 0; i < o->ndata && !s; i++)
    s = find_file(im, t, o, &o->data[i], &file[i], &bytes);
  int64_t extent[3] = {o->size[2], o->size[3] / samples, o->size[4]};
  int64_t planes = extent[0] * extent[1] * extent[2]; // below 2^61, by the check of the shape
  if (!s && planes > bytes / 8)
    s = KUGEL_FAIL(KUGEL_EFORMAT, "'%s' claims %lld planes in %lld bytes", kugel__tail(im->path),
                   (long long)planes, (long long)bytes);
  if (!s)
    s = make_planes(im, t, extent[1]);
  if (!s && !o->ndata)
    place_data(t, o, &(kugel__ome_data){-1, -1, {0}, -1, -1}, 0, extent);
  for (int64_t i = 0; i < o->ndata && !s; i++)
    place_data(t, o, &o->data[i], file[i], extent);
  kugel__free(im->ctx, file);
  KUGEL_TRY(s);
  strcpy(im->format_name, "OME-TIFF");
  im->info.format = KUGEL_IMAGE_OME_TIFF;
  strcpy(im->unit, o->unit[0]);
  for (int i = 0; i < 3; i++)
    im->info.voxel[i] = o->voxel[2 - i] * kugel__stack_length_unit(o->unit[2 - i]);
  im->info.time_step = o->time_step * kugel__stack_time_unit(o->time_unit);
  KUGEL_TRY(kugel__stack_names(im));
  for (int64_t c = 0; c < o->nchannels; c++)
    kugel__stack_name(im, c * o->samples, o->names + o->channel[c]);
  return KUGEL_OK;
}

/* ---- opening ---- */

/* The pages that are like the first one; others (thumbnails, scales) are left out. */
static kugel_status like_the_first(kugel__tiff *t, kugel__tiff_handle *h, int32_t **pages, int64_t *n)
{
  const kugel__tiff_file *f = &t->files[0];
  *n = 0;
  KUGEL_ALLOC(t->ctx, *pages, (size_t)f->npages * sizeof **pages);
  for (int64_t i = 0; i < f->npages; i++) {
    kugel__tiff_page p;
    uint32_t kind = 0;
    KUGEL_TRY(kugel__tiff_turn(h, f->pages[i]));
    TIFFGetField(h->tiff, TIFFTAG_SUBFILETYPE, &kind);
    if (!i ||
        (!(kind & FILETYPE_REDUCEDIMAGE) && !kugel__tiff_describe(h, &p) && kugel__tiff_same(&p, &t->page)))
      (*pages)[(*n)++] = (int32_t)i;
  }
  return kugel__tiff_turn(h, f->pages[0]);
}

static kugel_status arrange(kugel_image *im, kugel__tiff *t, kugel__tiff_handle *h)
{
  char *text = NULL;
  int32_t *pages = NULL;
  int64_t npages;
  kugel__imagej ij;
  TIFFGetField(h->tiff, TIFFTAG_IMAGEDESCRIPTION, &text);
  KUGEL_TRY(kugel__stack_text(im, text ? text : "", text ? strlen(text) : 0));
  strcpy(im->format_name, "TIFF");
  im->info.format = KUGEL_IMAGE_TIFF;
  if (kugel__ome_is(im->text)) {
    kugel__ome ome;
    kugel_status s = kugel__ome_parse(im->ctx, im->path, im->text, &ome);
    if (!s)
      s = as_ome(im, t, &ome);
    kugel__ome_free(&ome);
    return s;
  }
  kugel_status s = like_the_first(t, h, &pages, &npages);
  if (!s && kugel__imagej_parse(im->text, &ij)) {
    s = as_imagej(im, t, h, &ij, pages, npages);
    if (!s)
      s = kugel__stack_names(im);
    if (!s)
      imagej_names(im, h);
  } else if (!s) {
    s = as_plain(im, t, pages, npages);
  }
  kugel__free(im->ctx, pages);
  return s;
}

static void close_tiff(kugel_image *im)
{
  kugel__tiff_free(im->state);
}

static const char *compression_name(uint16_t c)
{
  return c == COMPRESSION_NONE       ? "none"
         : c == COMPRESSION_LZW      ? "LZW"
         : c == COMPRESSION_PACKBITS ? "PackBits"
         : c == COMPRESSION_ZSTD     ? "zstd"
         : c == COMPRESSION_LZMA     ? "LZMA"
                                     : "deflate";
}

kugel_status kugel__tiff_open(kugel_image *im, int64_t bytes)
{
  kugel__tiff *t = kugel__calloc(im->ctx, sizeof *t);
  KUGEL_CHECK(t, KUGEL_ENOMEM, "no memory for a TIFF");
  t->ctx = im->ctx;
  pthread_mutex_init(&t->lock, NULL);
  im->state = t;
  im->close = close_tiff;
  KUGEL_ALLOC(im->ctx, t->files, sizeof *t->files);
  t->files[0] = (kugel__tiff_file){.fd = im->fd, .bytes = bytes};
  t->nfiles = 1;
  KUGEL_ALLOC(im->ctx, t->files[0].path, strlen(im->path) + 1);
  strcpy(t->files[0].path, im->path);
  KUGEL_TRY(kugel__tiff_list(t, 0));
  kugel__tiff_handle *h;
  KUGEL_TRY(kugel__tiff_take(t, 0, &h));
  kugel_status s = kugel__tiff_turn(h, t->files[0].pages[0]);
  if (!s)
    s = kugel__tiff_describe(h, &t->page);
  if (!s) {
    const kugel__tiff_page *p = &t->page;
    im->info.dtype = (kugel_dtype){p->format == SAMPLEFORMAT_IEEEFP ? KUGEL_FLOAT
                                   : p->format == SAMPLEFORMAT_INT  ? KUGEL_INT
                                                                    : KUGEL_UINT,
                                   (uint8_t)p->bits, 1};
    im->info.big_endian = TIFFIsBigEndian(h->tiff);
    t->swap = TIFFIsByteSwapped(h->tiff);
    im->info.shape[3] = p->height;
    im->info.shape[4] = p->width;
    strcpy(im->compression, compression_name(p->compression));
    s = arrange(im, t, h);
  }
  if (!s)
    s = kugel__tiff_prepare(im, t, h);
  kugel__tiff_give(t, 0, h);
  return s;
}
