/* SPDX-License-Identifier: BSD-3-Clause */
/* Creating stacks, by one process or by ranks together. */
#include <string.h>
#include "stack/stack.h"

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
    if (im->supposed)
      return kugel__stack_complete(im);
    im->arrived = kugel__calloc(im->ctx, (size_t)pieces * sizeof *im->arrived);
    KUGEL_CHECK(im->arrived, KUGEL_ENOMEM, "no memory for a table of %lld pieces: give a larger chunk",
                (long long)pieces);
  }
  return kugel__stack_complete(im);
}

static kugel_status create(kugel_image *im, const kugel_image_opts *given)
{
  im->writing = true;
  im->opts = *given;
  KUGEL_TRY(choose_format(im, &im->opts.format));
  KUGEL_CHECK(!given->comm || im->opts.format == KUGEL_IMAGE_ZARR || im->opts.format == KUGEL_IMAGE_ZARR2,
              KUGEL_ENOTSUP, "'%s' is no Zarr: ranks write Zarr together", kugel__tail(im->path));
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
  if (!im->supposed && im->opts.format != KUGEL_IMAGE_ZARR &&
      im->opts.format != KUGEL_IMAGE_ZARR2) { // those are folders
    KUGEL_TRY(kugel__replace_begin(im->ctx, im->path, im->opts.overwrite, &im->file));
    im->has_file = true;
    KUGEL_TRY(kugel__replace_create(&im->file, &im->fd));
  }
  bool header = im->opts.format >= KUGEL_IMAGE_NPY && im->opts.format <= KUGEL_IMAGE_MHD;
  if (im->supposed && header) { // and then numbers
    im->raw = true;
    if (im->opts.compression == KUGEL_COMPRESS_DEFLATE)
      strcpy(im->compression, "deflate");
    return prepare_pieces(im);
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

/* Each rank's own stack; rank 0 makes the folder. */
static kugel_status create_joined(kugel_image *im, const kugel_image_opts *o)
{
  char temp[4096] = "";
  kugel_status s = im->rank ? KUGEL_OK : create(im, o);
  KUGEL_TRY(kugel_comm_agree(im->comm, s));
  if (!im->rank)
    snprintf(temp, sizeof temp, "%s", kugel__zarr_temp(im));
  KUGEL_TRY(kugel_comm_bcast(im->comm, temp, sizeof temp, 0));
  im->joined = temp;
  s = im->rank ? create(im, o) : KUGEL_OK;
  im->joined = NULL;
  KUGEL_TRY(kugel_comm_agree(im->comm, s));
  int64_t v[20] = {im->info.dtype.bits, im->info.dtype.code, im->opts.compression, im->opts.level};
  memcpy(v + 4, im->info.shape, sizeof im->info.shape);
  memcpy(v + 9, im->chunk + 2, 3 * sizeof *v);
  for (int i = 0; i < 12; i++)
    v[i] = v[i] * 4 + im->opts.format % 4; // 12 numbers, and the format
  int64_t both[24];
  for (int i = 0; i < 12; i++) {
    both[2 * i] = v[i];
    both[2 * i + 1] = -v[i];
  }
  KUGEL_TRY(kugel_comm_reduce(im->comm, both, 24, KUGEL_COMM_MIN));
  for (int i = 0; i < 12; i++)
    KUGEL_CHECK(both[2 * i] == -both[2 * i + 1], KUGEL_EINVAL,
                "the ranks differ in shape, type, chunks, compression or format of '%s': give all the same",
                kugel__tail(im->path));
  return KUGEL_OK;
}

static kugel_status create_together(kugel_ctx *ctx, const char *path, const kugel_image_opts *o,
                                    kugel_image **out)
{
  kugel_image *im = NULL;
  kugel_status s = kugel__stack_make(ctx, path, &im);
  s = s ? s : kugel__stack_join(im, o->comm);
  s = kugel_comm_agree(o->comm, s);
  s = s ? s : create_joined(im, o);
  if (s && im) {
    im->comm = NULL; // known to all
    kugel_image_close(im, 0);
  }
  *out = s ? NULL : im;
  return s;
}

kugel_status kugel_image_create(kugel_ctx *ctx, const char *path, const kugel_image_opts *opts,
                                kugel_image **out)
{
  kugel_image_opts o;
  kugel_image *im;
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  *out = NULL;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_image_opts"));
  if (o.comm)
    return create_together(ctx, path, &o, out);
  KUGEL_TRY(kugel__stack_make(ctx, path, &im));
  kugel_status s = create(im, &o);
  if (s) {
    kugel_image_close(im, 0);
    return s;
  }
  *out = im;
  return KUGEL_OK;
}

kugel_status kugel_image_estimate(kugel_ctx *ctx, const char *path, const kugel_image_opts *opts,
                                  kugel_image_info *out)
{
  kugel_image_opts o;
  kugel_image *im;
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_image_opts"));
  KUGEL_TRY(kugel__stack_make(ctx, path, &im));
  im->supposed = true;
  o.comm = NULL;
  kugel_status s = create(im, &o);
  kugel_image_info info = im->info;
  kugel_image_close(im, 0);
  return s ? s : kugel__give_info(out, &info, sizeof info, "kugel_image_info");
}
