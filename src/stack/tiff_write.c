/* SPDX-License-Identifier: BSD-3-Clause */
/* Writing TIFF: the numbers first, in any order, then the directories. Little-endian; above 4 GB BigTIFF. */
#include <string.h>
#include <sys/stat.h>
#include "stack/tiff.h"

enum { STRIP_BYTES = 1 << 18 };

typedef struct writer {
  bool big, imagej;
  uint16_t compression, predictor;
  atomic_llong end;         // where the next piece goes
  int64_t *offset, *length; // of pieces; raw stacks have none
  kugel__grow out;          // directories
  int64_t out_at;           // where they begin
} writer;

/* ---- pieces ---- */

static kugel_status put_piece(kugel_image *im, const int64_t index[5], char *piece)
{
  writer *w = im->state;
  int64_t k = kugel__stack_piece(im, index), rows = im->chunk[3], bytes;
  bool tiles = im->chunk[4] < im->info.shape[4];
  if (!tiles)
    rows = kugel__min(rows, im->info.shape[3] - index[3] * im->chunk[3]);
  char *packed = NULL;
  if (w->compression == COMPRESSION_NONE)
    bytes = rows * im->chunk[4] * (int64_t)kugel__stack_bytes(im);
  else
    KUGEL_TRY(kugel__tiff_pack(im, w->compression, w->predictor, im->chunk[4], rows, piece, &packed, &bytes));
  int64_t at = atomic_fetch_add(&w->end, kugel__round_up(bytes, 2));
  kugel_status s = KUGEL_OK;
  if (!w->big && at + bytes > 0xffff0000LL)
    s = KUGEL_FAIL(KUGEL_EIO, "'%s' grows beyond 4 GB: set bigtiff", kugel__tail(im->path));
  if (!s)
    s = kugel__stack_pwrite(im->fd, im->path, packed ? packed : piece, (size_t)bytes, at);
  kugel__free(im->ctx, packed);
  w->offset[k] = at;
  w->length[k] = bytes;
  return s;
}

/* Pieces that were never written hold zeros; all full ones share one place. */
static kugel_status put_zeros(kugel_image *im)
{
  writer *w = im->state;
  const int64_t *n = im->info.shape;
  int64_t down = kugel__ceil(n[3], im->chunk[3]), across = kugel__ceil(n[4], im->chunk[4]),
          per = down * across;
  int64_t pieces = n[0] * n[1] * n[2] * per, full = -1, last = -1;
  char *zeros = NULL;
  kugel_status s = KUGEL_OK;
  for (int64_t k = 0; k < pieces && !s; k++) {
    if (w->length[k])
      continue;
    int64_t y = k / across % down, *same = y == down - 1 ? &last : &full;
    if (*same < 0) {
      int64_t plane = k / per,
              index[5] = {plane / (n[1] * n[2]), plane / n[2] % n[1], plane % n[2], y, k % across};
      if (!zeros)
        zeros = kugel__alloc(im->ctx, im->piece_bytes);
      if (!zeros)
        return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a piece of %zu bytes", im->piece_bytes);
      memset(zeros, 0, im->piece_bytes);
      s = put_piece(im, index, zeros);
      *same = k;
    }
    w->offset[k] = w->offset[*same];
    w->length[k] = w->length[*same];
  }
  kugel__free(im->ctx, zeros);
  return s;
}

/* ---- directories ---- */

typedef struct entry {
  uint16_t tag, type;
  int64_t count;
  const void *data; // in this machine's order, which is the file's
} entry;

static size_t type_bytes(uint16_t type)
{
  return type == TIFF_SHORT ? 2 : type == TIFF_LONG ? 4 : type == TIFF_RATIONAL || type == TIFF_LONG8 ? 8 : 1;
}

static void pad(kugel__grow *out)
{
  if (out->size & 1)
    kugel__grow_bytes(out, "", 1);
}

/* One directory: values that do not fit in their entry go before it. Returns its offset. */
static int64_t add_directory(writer *w, entry *entries, int n)
{
  kugel__grow *out = &w->out;
  size_t word = w->big ? 8 : 4;
  uint64_t value[24] = {0};
  for (int i = 0; i < n; i++) {
    size_t bytes = (size_t)entries[i].count * type_bytes(entries[i].type);
    if (bytes <= word) {
      memcpy(&value[i], entries[i].data, bytes);
    } else {
      pad(out);
      value[i] = (uint64_t)w->out_at + out->size;
      kugel__grow_bytes(out, entries[i].data, bytes);
    }
  }
  pad(out);
  int64_t at = w->out_at + (int64_t)out->size;
  uint64_t count = (uint64_t)n;
  kugel__grow_bytes(out, &count, w->big ? 8 : 2);
  for (int i = 0; i < n; i++) {
    kugel__grow_bytes(out, &entries[i].tag, 2);
    kugel__grow_bytes(out, &entries[i].type, 2);
    kugel__grow_bytes(out, &entries[i].count, word);
    kugel__grow_bytes(out, &value[i], word);
  }
  return at;
}

/* Pixels per micrometre as a quotient that reads back as 1 / size. */
static void rational(double size, uint32_t out[2])
{
  double scale = 1e9;
  while (size * scale > 4.2e9 && scale > 1)
    scale /= 10;
  out[0] = (uint32_t)scale;
  out[1] = (uint32_t)(size * scale + 0.5);
  if (!out[1])
    out[1] = 1;
}

typedef struct directories {
  kugel__grow description, labels, counts;
  uint32_t x[2], y[2];
} directories;

/* The directory of one plane; strips: [n] offsets and lengths. */
static int64_t add_plane(kugel_image *im, const directories *d, bool first, int64_t n, const int64_t *offset,
                         const int64_t *length)
{
  writer *w = im->state;
  const int64_t *shape = im->info.shape;
  bool tiles = !im->raw && im->chunk[4] < shape[4];
  uint32_t width = (uint32_t)shape[4], height = (uint32_t)shape[3], tw = (uint32_t)im->chunk[4];
  uint32_t rows = im->raw ? height : (uint32_t)im->chunk[3];
  uint16_t bits = im->info.dtype.bits, black = PHOTOMETRIC_MINISBLACK, one = 1, contig = PLANARCONFIG_CONTIG,
           none = 1;
  uint16_t format = im->info.dtype.code == KUGEL_FLOAT ? 3 : im->info.dtype.code == KUGEL_UINT ? 1 : 2;
  entry e[24];
  int k = 0;
#define ADD(tag, type, count, data) e[k++] = (entry){tag, type, count, data}
  ADD(TIFFTAG_IMAGEWIDTH, TIFF_LONG, 1, &width);
  ADD(TIFFTAG_IMAGELENGTH, TIFF_LONG, 1, &height);
  ADD(TIFFTAG_BITSPERSAMPLE, TIFF_SHORT, 1, &bits);
  ADD(TIFFTAG_COMPRESSION, TIFF_SHORT, 1, &w->compression);
  ADD(TIFFTAG_PHOTOMETRIC, TIFF_SHORT, 1, &black);
  if (first && d->description.size)
    ADD(TIFFTAG_IMAGEDESCRIPTION, TIFF_ASCII, (int64_t)d->description.size + 1, d->description.data);
  if (!tiles)
    ADD(TIFFTAG_STRIPOFFSETS, TIFF_LONG8, n, offset);
  ADD(TIFFTAG_SAMPLESPERPIXEL, TIFF_SHORT, 1, &one);
  if (!tiles) {
    ADD(TIFFTAG_ROWSPERSTRIP, TIFF_LONG, 1, &rows);
    ADD(TIFFTAG_STRIPBYTECOUNTS, TIFF_LONG8, n, length);
  }
  if (d->x[1] && d->y[1]) {
    ADD(TIFFTAG_XRESOLUTION, TIFF_RATIONAL, 1, d->x);
    ADD(TIFFTAG_YRESOLUTION, TIFF_RATIONAL, 1, d->y);
  }
  ADD(TIFFTAG_PLANARCONFIG, TIFF_SHORT, 1, &contig);
  if (d->x[1] && d->y[1])
    ADD(TIFFTAG_RESOLUTIONUNIT, TIFF_SHORT, 1, &none);
  if (first)
    ADD(TIFFTAG_SOFTWARE, TIFF_ASCII, 6, "Kugel");
  if (w->predictor > 1)
    ADD(TIFFTAG_PREDICTOR, TIFF_SHORT, 1, &w->predictor);
  if (tiles) {
    ADD(TIFFTAG_TILEWIDTH, TIFF_LONG, 1, &tw);
    ADD(TIFFTAG_TILELENGTH, TIFF_LONG, 1, &rows);
    ADD(TIFFTAG_TILEOFFSETS, TIFF_LONG8, n, offset);
    ADD(TIFFTAG_TILEBYTECOUNTS, TIFF_LONG8, n, length);
  }
  ADD(TIFFTAG_SAMPLEFORMAT, TIFF_SHORT, 1, &format);
  if (first && d->labels.size) {
    ADD(50838, TIFF_LONG, (int64_t)d->counts.size / 4, d->counts.data);
    ADD(50839, TIFF_BYTE, (int64_t)d->labels.size, d->labels.data);
  }
#undef ADD
  uint32_t *narrow = NULL;
  if (!w->big) { // 32 bits each
    narrow = kugel__alloc(im->ctx, (size_t)n * 8);
    if (!narrow) {
      w->out.failed = true;
      return 0;
    }
    for (int64_t i = 0; i < n; i++) {
      narrow[i] = (uint32_t)offset[i];
      narrow[n + i] = (uint32_t)length[i];
    }
    for (int i = 0; i < k; i++)
      if (e[i].type == TIFF_LONG8) {
        e[i].type = TIFF_LONG;
        e[i].data = e[i].data == offset ? narrow : narrow + n;
      }
  }
  int64_t at = add_directory(w, e, k);
  kugel__free(im->ctx, narrow);
  return at;
}

/* The directories in the file's order of planes, each with the offset of the next behind its entries. */
static kugel_status add_planes(kugel_image *im, const directories *d, int64_t *first)
{
  writer *w = im->state;
  const int64_t *n = im->info.shape;
  int64_t planes = n[0] * n[1] * n[2],
          per = im->raw ? 1 : kugel__ceil(n[3], im->chunk[3]) * kugel__ceil(n[4], im->chunk[4]);
  int64_t length = n[3] * n[4] * (int64_t)kugel__stack_bytes(im);
  int64_t link = -1; // where in `out` the next offset goes
  for (int64_t k = 0; k < planes; k++) {
    int64_t t = k / (n[1] * n[2]), c = w->imagej ? k % n[1] : k / n[2] % n[1],
            z = w->imagej ? k / n[1] % n[2] : k % n[2];
    int64_t plane = (t * n[1] + c) * n[2] + z;
    int64_t offset =
        im->place.at + t * im->place.stride[0] + c * im->place.stride[1] + z * im->place.stride[2];
    int64_t at = add_plane(im, d, !k, per, im->raw ? &offset : w->offset + plane * per,
                           im->raw ? &length : w->length + plane * per);
    if (w->out.failed)
      break;
    if (link >= 0)
      memcpy(w->out.data + link, &at, w->big ? 8 : 4);
    else
      *first = at;
    link = (int64_t)w->out.size;
    kugel__grow_bytes(&w->out, "\0\0\0\0\0\0\0", w->big ? 8 : 4);
  }
  KUGEL_CHECK(!w->out.failed, KUGEL_ENOMEM, "no memory for the directories of %lld planes",
              (long long)planes);
  return KUGEL_OK;
}

static kugel_status write_directories(kugel_image *im, const directories *d)
{
  writer *w = im->state;
  int64_t first = 0;
  w->out_at = kugel__round_up(w->end, 16);
  KUGEL_TRY(add_planes(im, d, &first));
  KUGEL_CHECK(w->big || w->out_at + (int64_t)w->out.size < 0xffffffffLL, KUGEL_EIO,
              "'%s' grows beyond 4 GB: set bigtiff", kugel__tail(im->path));
  KUGEL_TRY(kugel__stack_pwrite(im->fd, im->path, w->out.data, w->out.size, w->out_at));
  char head[16] = {'I', 'I', w->big ? 43 : 42, 0, w->big ? 8 : 0};
  memcpy(head + (w->big ? 8 : 4), &first, w->big ? 8 : 4);
  return kugel__stack_pwrite(im->fd, im->path, head, w->big ? 16 : 8, 0);
}

static kugel_status finish(kugel_image *im)
{
  writer *w = im->state;
  directories d = {.description.ctx = im->ctx, .labels.ctx = im->ctx, .counts.ctx = im->ctx};
  if (!im->raw)
    KUGEL_TRY(put_zeros(im));
  if (w->imagej)
    kugel__imagej_describe(im, &d.description);
  else
    kugel__ome_describe(im, &d.description);
  if (w->imagej)
    kugel__imagej_labels(im, &d.labels, &d.counts);
  if (im->info.voxel[1] > 0 && im->info.voxel[2] > 0) {
    rational(im->info.voxel[2], d.x);
    rational(im->info.voxel[1], d.y);
  }
  kugel_status s = d.description.failed || d.labels.failed || d.counts.failed
                       ? KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the metadata of '%s'", kugel__tail(im->path))
                       : write_directories(im, &d);
  kugel__grow_free(&d.description);
  kugel__grow_free(&d.labels);
  kugel__grow_free(&d.counts);
  return s;
}

/* ---- creating ---- */

static void close_writer(kugel_image *im)
{
  writer *w = im->state;
  kugel__grow_free(&w->out);
  kugel__free(im->ctx, w->offset);
  kugel__free(im->ctx, w->length);
  kugel__free(im->ctx, w);
}

static void choose_pieces(kugel_image *im)
{
  const int64_t *n = im->info.shape, *want = im->opts.chunk;
  int64_t row = n[4] * (int64_t)kugel__stack_bytes(im);
  im->chunk[0] = im->chunk[1] = im->chunk[2] = 1;
  im->chunk[4] = want[2] && want[2] < n[4] ? kugel__round_up(want[2], 16) : n[4];
  if (im->chunk[4] >= n[4])
    im->chunk[4] = n[4];
  bool tiles = im->chunk[4] < n[4];
  im->chunk[3] = want[1] ? kugel__min(want[1], n[3]) : kugel__max(1, kugel__min(n[3], STRIP_BYTES / row));
  if (tiles)
    im->chunk[3] = kugel__round_up(want[1] ? im->chunk[3] : im->chunk[4], 16);
}

static kugel_status check_type(const kugel_image *im)
{
  const int64_t *n = im->info.shape;
  kugel_dtype t = im->info.dtype;
  bool ome = im->opts.format == KUGEL_IMAGE_OME_TIFF;
  KUGEL_CHECK(!ome || (t.code == KUGEL_FLOAT ? t.bits >= 32 : t.bits <= 32), KUGEL_ENOTSUP,
              "OME-TIFF has no type %s: take (u)int8 to 32, float32 or float64", kugel__stack_dtype_name(t));
  KUGEL_CHECK(n[3] <= INT32_MAX && n[4] <= INT32_MAX && n[0] * n[1] * n[2] <= 1 << 26, KUGEL_ENOTSUP,
              "TIFF takes planes of at most 2^31 x 2^31 voxels, and Kugel writes at most 2^26 of them: %lld "
              "of %lld x %lld "
              "are asked for; take Zarr",
              (long long)(n[0] * n[1] * n[2]), (long long)n[4], (long long)n[3]);
  return KUGEL_OK;
}

kugel_status kugel__tiff_create(kugel_image *im)
{
  static const uint16_t codes[] = {COMPRESSION_NONE, COMPRESSION_NONE,     COMPRESSION_ADOBE_DEFLATE,
                                   COMPRESSION_LZW,  COMPRESSION_PACKBITS, COMPRESSION_ZSTD};
  KUGEL_TRY(check_type(im));
  writer *w = kugel__calloc(im->ctx, sizeof *w);
  KUGEL_CHECK(w, KUGEL_ENOMEM, "no memory for a TIFF");
  im->state = w;
  im->close = close_writer;
  im->put = put_piece;
  im->finish = finish;
  w->out.ctx = im->ctx;
  w->imagej = im->opts.format == KUGEL_IMAGE_TIFF;
  w->compression = codes[im->opts.compression];
  KUGEL_CHECK(TIFFIsCODECConfigured(w->compression), KUGEL_ENOTSUP,
              "this machine's libtiff was built without compression %d", w->compression);
  const int64_t *n = im->info.shape;
  int64_t bytes = (int64_t)kugel__stack_bytes(im), all = n[0] * n[1] * n[2] * n[3] * n[4] * bytes,
          planes = n[0] * n[1] * n[2];
  choose_pieces(im);
  im->raw = w->compression == COMPRESSION_NONE &&
            im->chunk[4] == n[4]; // planes one after another: ImageJ and others count on that
  bool pack = w->compression != COMPRESSION_NONE && w->compression != COMPRESSION_PACKBITS;
  w->predictor = pack && im->info.dtype.code != KUGEL_FLOAT && bytes <= 4 ? 2 : 1;
  int64_t per = im->raw ? 1 : kugel__ceil(n[3], im->chunk[3]) * kugel__ceil(n[4], im->chunk[4]);
  int64_t most = all + all / 100 + planes * (400 + 16 * per) + (1 << 20);
  w->big = im->opts.bigtiff || most > 0xf0000000LL;
  atomic_init(&w->end, 16);
  strcpy(im->format_name, w->imagej ? "ImageJ TIFF" : "OME-TIFF");
  strcpy(im->compression, im->opts.compression == KUGEL_COMPRESS_DEFLATE    ? "deflate"
                          : im->opts.compression == KUGEL_COMPRESS_LZW      ? "LZW"
                          : im->opts.compression == KUGEL_COMPRESS_PACKBITS ? "PackBits"
                          : im->opts.compression == KUGEL_COMPRESS_ZSTD     ? "zstd"
                                                                            : "none");
  if (!im->raw) {
    w->offset = kugel__calloc(im->ctx, (size_t)(planes * per) * sizeof *w->offset);
    w->length = kugel__calloc(im->ctx, (size_t)(planes * per) * sizeof *w->length);
    KUGEL_CHECK(w->offset && w->length, KUGEL_ENOMEM, "no memory for a table of %lld strips or tiles",
                (long long)(planes * per));
    return KUGEL_OK;
  }
  kugel__stack_c_order(im, 16, &im->place);
  if (w->imagej) { // channels are next to each other
    int64_t plane = im->place.stride[2];
    im->place.stride[1] = plane;
    im->place.stride[2] = plane * n[1];
  }
  atomic_store(&w->end, 16 + all);
  return KUGEL_OK;
}
