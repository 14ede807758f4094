/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening, describing, closing; what all formats share (create.c: creating). */
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

kugel_status kugel__stack_make(kugel_ctx *ctx, const char *path, kugel_image **out)
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

kugel_status kugel__stack_complete(kugel_image *im)
{
  im->info.ndim = im->info.shape[2] > 1 ? 3 : 2;
  if (!im->names)
    KUGEL_TRY(kugel__stack_names(im));
  if (!im->text)
    KUGEL_TRY(kugel__stack_text(im, "", 0));
  memcpy(im->info.chunk, im->chunk, sizeof im->chunk);
  if (!im->compression[0])
    strcpy(im->compression, "none");
  im->info.thread_bytes = kugel__stack_thread_bytes(im);
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
  KUGEL_TRY(kugel__stack_make(ctx, path, &im));
  kugel_status s = dispatch(im, &o);
  if (!s)
    s = kugel__stack_complete(im);
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

/* Rank 0 gives the name when all have written what they have. */
static kugel_status finish_together(kugel_image *im, int keep)
{
  kugel_status s = keep && im->spool ? kugel__spool_flush(im) : KUGEL_OK;
  KUGEL_TRY(kugel_comm_agree(im->comm, s));
  int64_t all = keep != 0;
  KUGEL_TRY(kugel_comm_reduce(im->comm, &all, 1, KUGEL_COMM_MIN));
  if (!all)
    return keep ? KUGEL_FAIL(KUGEL_ECANCELED, "'%s' is not kept, as another rank says", kugel__tail(im->path))
                : KUGEL_OK;
  return kugel_comm_agree(im->comm, im->rank ? KUGEL_OK : finish(im, 1));
}

kugel_status kugel_image_close(kugel_image *im, int keep)
{
  kugel_status s = KUGEL_OK;
  if (!im)
    return s;
  if (im->comm)
    s = finish_together(im, keep);
  else if (im->writing && (im->has_file || keep))
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
