/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening, describing, closing; what all formats share. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/ctx.h"
#include "stack/stack.h"

enum { HEAD = 16 };

/* ---- opening ---- */

static kugel_status dispatch(kugel_image *im, const kugel_image_open_opts *opts)
{
  struct stat st;
  unsigned char head[HEAD] = {0};
  int64_t bytes;
  if (stat(im->path, &st) == 0 && S_ISDIR(st.st_mode)) {
    KUGEL_CHECK(kugel__zarr_is(im->path), KUGEL_EFORMAT,
                "'%s' is a folder without zarr.json, .zattrs or .zarray: not a Zarr", kugel__tail(im->path));
    return kugel__zarr_open(im, opts->level);
  }
  KUGEL_TRY(kugel__stack_open_file(im->path, &im->fd, &bytes));
  im->info.file_bytes = bytes;
  KUGEL_CHECK(bytes, KUGEL_EFORMAT, "'%s' is empty", kugel__tail(im->path));
  KUGEL_TRY(kugel__stack_pread(im->fd, im->path, head, (size_t)kugel__min(HEAD, bytes), 0));
  if (!memcmp(head, "\x89HDF\r\n\x1a\n", 8))
    return kugel__hdf5_open(im, opts->level);
  KUGEL_CHECK(!opts->level, KUGEL_EINVAL, "level is %d, '%s' has one level: give 0", opts->level,
              kugel__tail(im->path));
  if (!memcmp(head, "II*\0", 4) || !memcmp(head, "MM\0*", 4) || !memcmp(head, "II+\0", 4) ||
      !memcmp(head, "MM\0+", 4))
    return kugel__tiff_open(im, bytes);
  if (!memcmp(head, "\x93NUMPY", 6))
    return kugel__npy_open(im, bytes);
  if (!memcmp(head, "NRRD000", 7))
    return kugel__nrrd_open(im, bytes);
  if (!memcmp(head, "ObjectType", 10) || !memcmp(head, "NDims", 5) || !memcmp(head, "Comment =", 9))
    return kugel__mhd_open(im, bytes);
  return KUGEL_FAIL(KUGEL_EFORMAT,
                    "'%s' is not a stack that can be read (TIFF, NPY, NRRD, MetaImage, HDF5 or Zarr)",
                    kugel__tail(im->path));
}

static kugel_status make(kugel_ctx *ctx, const char *path, kugel_image **out)
{
  KUGEL_CHECK(path && *path, KUGEL_EINVAL, "the path is %s: give a file name", path ? "empty" : "NULL");
  kugel_image *im = kugel__calloc(ctx, sizeof *im);
  KUGEL_CHECK(im, KUGEL_ENOMEM, "no memory for an image");
  size_t n = strlen(path);
  im->path = kugel__alloc(ctx, n + 1);
  if (!im->path) {
    kugel__free(ctx, im);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a path of %zu bytes", n);
  }
  memcpy(im->path, path, n + 1);
  while (n > 1 && im->path[n - 1] == '/') // folders
    im->path[--n] = 0;
  im->ctx = kugel__ctx_retain(ctx);
  im->fd = -1;
  im->info.nlevels = 1;
  pthread_mutex_init(&im->lock, NULL);
  *out = im;
  return KUGEL_OK;
}

static kugel_status complete(kugel_image *im)
{
  im->info.ndim = im->info.shape[2] > 1 ? 3 : 2;
  if (!im->names)
    KUGEL_TRY(kugel__stack_names(im));
  if (!im->text)
    KUGEL_TRY(kugel__stack_text(im, "", 0));
  memcpy(im->info.chunk, im->chunk, sizeof im->chunk);
  if (!im->compression[0])
    strcpy(im->compression, "none");
  for (int i = 0; i < 3; i++)
    if (!(im->info.voxel[i] > 0 && im->info.voxel[i] < 1e12))
      im->info.voxel[i] = 0;
  if (!(im->info.time_step > 0 && im->info.time_step < 1e15))
    im->info.time_step = 0;
  return KUGEL_OK;
}

kugel_status kugel_image_open(kugel_ctx *ctx, const char *path, const kugel_image_open_opts *opts,
                              kugel_image **out)
{
  kugel_image_open_opts o;
  kugel_image *im;
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  *out = NULL;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_image_open_opts"));
  KUGEL_CHECK(o.level >= 0, KUGEL_EINVAL, "level is %d, must be 0 (the finest) or more", o.level);
  KUGEL_TRY(make(ctx, path, &im));
  kugel_status s = dispatch(im, &o);
  if (!s)
    s = complete(im);
  if (s) {
    kugel_image_close(im, 0);
    return s;
  }
  *out = im;
  return KUGEL_OK;
}

kugel_status kugel_image_get_info(const kugel_image *im, kugel_image_info *out)
{
  KUGEL_CHECK(im, KUGEL_EINVAL, "image is NULL");
  kugel_image_info info = im->info;
  info.clipped = atomic_load(&im->clipped);
  info.missing = atomic_load(&im->missing);
  info.format_name = im->format_name;
  info.compression = im->compression;
  info.unit = im->unit;
  info.channel_names = im->name_list;
  info.text = im->text;
  return kugel__give_info(out, &info, sizeof info, "kugel_image_info");
}

/* ---- creating ---- */

static bool ends_with(const char *path, const char *end)
{
  size_t n = strlen(path), m = strlen(end);
  if (n < m)
    return false;
  for (size_t i = 0; i < m; i++) {
    char c = path[n - m + i];
    if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != end[i])
      return false;
  }
  return true;
}

static kugel_status choose_format(const kugel_image *im, int32_t *format)
{
  static const struct {
    const char *end;
    kugel_image_format format;
  } ends[] = {{".ome.tif", KUGEL_IMAGE_OME_TIFF}, {".ome.tiff", KUGEL_IMAGE_OME_TIFF},
              {".ome.tf8", KUGEL_IMAGE_OME_TIFF}, {".tif", KUGEL_IMAGE_TIFF},
              {".tiff", KUGEL_IMAGE_TIFF},        {".tf8", KUGEL_IMAGE_TIFF},
              {".npy", KUGEL_IMAGE_NPY},          {".nrrd", KUGEL_IMAGE_NRRD},
              {".nhdr", KUGEL_IMAGE_NRRD},        {".mha", KUGEL_IMAGE_MHD},
              {".mhd", KUGEL_IMAGE_MHD},          {".zarr", KUGEL_IMAGE_ZARR},
              {".ims", KUGEL_IMAGE_IMARIS},       {".h5", KUGEL_IMAGE_BDV}};
  KUGEL_CHECK(*format >= 0 && *format <= KUGEL_IMAGE_BDV, KUGEL_EINVAL, "format is %d, must be 0 to %d",
              *format, KUGEL_IMAGE_BDV);
  for (size_t i = 0; !*format && i < sizeof ends / sizeof ends[0]; i++)
    if (ends_with(im->path, ends[i].end))
      *format = ends[i].format;
  KUGEL_CHECK(*format, KUGEL_EINVAL,
              "'%s' ends like no format: name it .ome.tif, .tif, .npy, .nrrd, .mha, .mhd, .zarr, .ims or "
              ".h5, or give a format",
              kugel__tail(im->path));
  return KUGEL_OK;
}

static kugel_status check_compression(const kugel_image_opts *o)
{
  static const char *const names[] = {"auto", "none", "deflate", "LZW", "PackBits", "zstd", "blosc", "lz4"};
  static const uint8_t allowed[] = {
      [KUGEL_IMAGE_TIFF] = 0x3f,  [KUGEL_IMAGE_OME_TIFF] = 0x3f, [KUGEL_IMAGE_NPY] = 0x03,
      [KUGEL_IMAGE_NRRD] = 0x07,  [KUGEL_IMAGE_MHD] = 0x07,      [KUGEL_IMAGE_ZARR] = 0xe7,
      [KUGEL_IMAGE_ZARR2] = 0xe7, [KUGEL_IMAGE_IMARIS] = 0x07,   [KUGEL_IMAGE_BDV] = 0x07};
  KUGEL_CHECK(o->compression >= 0 && o->compression <= KUGEL_COMPRESS_LZ4, KUGEL_EINVAL,
              "compression is %d, must be 0 to %d", o->compression, KUGEL_COMPRESS_LZ4);
  KUGEL_CHECK(allowed[o->format] >> o->compression & 1, KUGEL_ENOTSUP,
              "compression %s is not one of this format: take none%s", names[o->compression],
              o->format <= KUGEL_IMAGE_OME_TIFF ? ", deflate, lzw, packbits or zstd"
              : o->format == KUGEL_IMAGE_NPY    ? ""
              : o->format == KUGEL_IMAGE_ZARR   ? ", blosc, zstd, lz4 or deflate"
              : o->format == KUGEL_IMAGE_ZARR2  ? ", blosc, zstd, lz4 or deflate"
                                                : " or deflate");
  KUGEL_CHECK(o->level >= 0 && o->level <= 9, KUGEL_EINVAL,
              "level is %d, must be 1 to 9, or 0 for the usual one", o->level);
  return KUGEL_OK;
}

static kugel_status take_shape(kugel_image *im, const kugel_image_opts *o)
{
  const kugel_image_info *like = o->like ? &o->like->info : NULL;
  bool given = false;
  for (int i = 0; i < 5; i++)
    given |= o->shape[i] != 0;
  KUGEL_CHECK(given || like, KUGEL_EINVAL, "shape is all 0: give t, c, z, y, x");
  for (int i = 0; i < 5; i++) {
    im->info.shape[i] = given ? o->shape[i] : like->shape[i];
    KUGEL_CHECK(im->info.shape[i] >= 1, KUGEL_EINVAL, "shape[%d] is %lld, must be at least 1", i,
                (long long)im->info.shape[i]);
  }
  im->npy_axes = like && o->like->npy_axes ? (int)kugel__min(o->like->npy_axes, 3) : 3;
  bool typed = o->dtype.bits || o->dtype.code || o->dtype.lanes;
  im->info.dtype = typed || !like ? o->dtype : like->dtype;
  KUGEL_CHECK(kugel__stack_number(im->info.dtype), KUGEL_ENOTSUP,
              "dtype is (%d, %d bits, %d lanes), must be int8 to uint64, float16, float32 or float64",
              im->info.dtype.code, im->info.dtype.bits, im->info.dtype.lanes);
  for (int i = 0; i < 3; i++) {
    KUGEL_CHECK(o->voxel[i] >= 0 && o->voxel[i] < 1e12, KUGEL_EINVAL,
                "voxel[%d] is %g micrometres, must be positive, or 0 if not known", i, o->voxel[i]);
    im->info.voxel[i] = o->voxel[i] > 0 || !like ? o->voxel[i] : like->voxel[i];
    KUGEL_CHECK(o->chunk[i] >= 0, KUGEL_EINVAL, "chunk[%d] is %lld, must be at least 1, or 0 for one chosen",
                i, (long long)o->chunk[i]);
  }
  KUGEL_CHECK(o->time_step >= 0 && o->time_step < 1e15, KUGEL_EINVAL,
              "time_step is %g s, must be positive, or 0 if not known", o->time_step);
  im->info.time_step = o->time_step > 0 || !like ? o->time_step : like->time_step;
  KUGEL_TRY(kugel__stack_check_shape(im));
  KUGEL_TRY(kugel__stack_names(im));
  for (int64_t c = 0; c < im->info.shape[1]; c++)
    kugel__stack_name(im, c,
                      o->channel_names                        ? o->channel_names[c]
                      : o->like && c < o->like->info.shape[1] ? o->like->name_list[c]
                                                              : "");
  return KUGEL_OK;
}

/* Pieces and what is known of them. */
static kugel_status prepare_pieces(kugel_image *im)
{
  if (im->raw) {
    for (int i = 0; i < 5; i++)
      im->chunk[i] = i < 3 ? 1 : im->info.shape[i];
  } else {
    int64_t pieces = 1, bytes = (int64_t)kugel__stack_bytes(im);
    for (int i = 4; i >= 0; i--) {
      im->stride[i] = bytes / (int64_t)kugel__stack_bytes(im);
      pieces *= kugel__ceil(im->info.shape[i], im->chunk[i]);
      KUGEL_CHECK(!__builtin_mul_overflow(bytes, im->chunk[i], &bytes) && bytes < (int64_t)1 << 40,
                  KUGEL_EINVAL, "a piece of '%s' has more than 2^40 bytes: give a smaller chunk",
                  kugel__tail(im->path));
    }
    im->piece_bytes = (size_t)bytes;
    im->arrived = kugel__calloc(im->ctx, (size_t)pieces * sizeof *im->arrived);
    KUGEL_CHECK(im->arrived, KUGEL_ENOMEM, "no memory for a table of %lld pieces: give a larger chunk",
                (long long)pieces);
  }
  return complete(im);
}

static kugel_status create(kugel_image *im, const kugel_image_opts *given)
{
  im->writing = true;
  im->opts = *given;
  KUGEL_TRY(choose_format(im, &im->opts.format));
  KUGEL_TRY(check_compression(&im->opts));
  KUGEL_TRY(take_shape(im, given));
  im->info.format = im->opts.format;
  KUGEL_TRY(kugel__stack_text(im, given->description ? given->description : "",
                              given->description ? strlen(given->description) : 0));
  im->opts.like = NULL;
  im->opts.channel_names = NULL;
  im->opts.description = NULL;
  if (im->info.voxel[0] > 0 || im->info.voxel[1] > 0 || im->info.voxel[2] > 0)
    strcpy(im->unit, "\xc2\xb5m");
  if (im->opts.format != KUGEL_IMAGE_ZARR && im->opts.format != KUGEL_IMAGE_ZARR2) { // those are folders
    KUGEL_TRY(kugel__replace_begin(im->ctx, im->path, im->opts.overwrite, &im->file));
    im->has_file = true;
    KUGEL_TRY(kugel__replace_create(&im->file, &im->fd));
  }
  switch (im->opts.format) {
  case KUGEL_IMAGE_NPY:
    KUGEL_TRY(kugel__npy_create(im));
    break;
  case KUGEL_IMAGE_NRRD:
    KUGEL_TRY(kugel__nrrd_create(im));
    break;
  case KUGEL_IMAGE_MHD:
    KUGEL_TRY(kugel__mhd_create(im));
    break;
  case KUGEL_IMAGE_ZARR:
  case KUGEL_IMAGE_ZARR2:
    KUGEL_TRY(kugel__zarr_create(im));
    break;
  case KUGEL_IMAGE_IMARIS:
  case KUGEL_IMAGE_BDV:
    KUGEL_TRY(kugel__hdf5_create(im));
    break;
  default:
    KUGEL_TRY(kugel__tiff_create(im));
  }
  return prepare_pieces(im);
}

kugel_status kugel_image_create(kugel_ctx *ctx, const char *path, const kugel_image_opts *opts,
                                kugel_image **out)
{
  kugel_image_opts o;
  kugel_image *im;
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  *out = NULL;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_image_opts"));
  KUGEL_TRY(make(ctx, path, &im));
  kugel_status s = create(im, &o);
  if (s) {
    kugel_image_close(im, 0);
    return s;
  }
  *out = im;
  return KUGEL_OK;
}

/* ---- closing ---- */

static kugel_status finish(kugel_image *im, int keep)
{
  kugel_status s = keep ? KUGEL_OK : KUGEL_ECANCELED;
  if (keep && im->spool)
    s = kugel__spool_flush(im);
  if (!s && im->finish)
    s = im->finish(im);
  if (im->fd >= 0 && close(im->fd) != 0 && !s)
    s = kugel__io_fail("write", im->path, errno);
  im->fd = -1;
  if (im->has_file && s)
    kugel__replace_abort(&im->file);
  else if (im->has_file)
    s = kugel__replace_commit(&im->file);
  return keep ? s : KUGEL_OK;
}

kugel_status kugel_image_close(kugel_image *im, int keep)
{
  kugel_status s = KUGEL_OK;
  if (!im)
    return s;
  if (im->writing && (im->has_file || keep))
    s = finish(im, keep);
  if (im->close)
    im->close(im);
  if (im->fd >= 0)
    close(im->fd);
  kugel__spool_close(im);
  kugel__free(im->ctx, im->arrived);
  kugel__free(im->ctx, im->names);
  kugel__free(im->ctx, im->name_list);
  kugel__free(im->ctx, im->text);
  kugel__free(im->ctx, im->path);
  pthread_mutex_destroy(&im->lock);
  kugel_ctx *ctx = im->ctx;
  kugel__free(ctx, im);
  kugel_ctx_destroy(ctx);
  return s;
}
