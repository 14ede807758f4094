/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds without libhdf5. */
#include "stack/stack.h"
#include <kugel/hdf5.h>

kugel_status kugel__hdf5_open(kugel_image *im, int level)
{
  (void)level;
  return KUGEL_FAIL(KUGEL_ENOTSUP,
                    "'%s' is HDF5, which this build cannot read: build Kugel with libhdf5 (KUGEL_HDF5), or "
                    "export it as OME-TIFF or OME-Zarr",
                    kugel__tail(im->path));
}

kugel_status kugel__hdf5_create(kugel_image *im)
{
  return KUGEL_FAIL(KUGEL_ENOTSUP,
                    "'%s' would be HDF5, which this build cannot write: build Kugel with libhdf5 "
                    "(KUGEL_HDF5), or name it .ome.tif or .zarr",
                    kugel__tail(im->path));
}

static kugel_status none(const char *path)
{
  return KUGEL_FAIL(
      KUGEL_ENOTSUP,
      "'%s' is HDF5, which this build neither reads nor writes: build Kugel with libhdf5 (KUGEL_HDF5), or "
      "use NPY",
      path ? kugel__tail(path) : "(NULL)");
}

/* No file is ever open: what takes one is told to open one. */
static kugel_status no_file(void)
{
  return KUGEL_FAIL(KUGEL_EINVAL, "file is NULL: this build has no HDF5 files");
}

kugel_status kugel_hdf5_open(kugel_ctx *ctx, const char *path, kugel_hdf5 **out)
{
  (void)ctx;
  if (out)
    *out = NULL;
  return none(path);
}

kugel_status kugel_hdf5_create(kugel_ctx *ctx, const char *path, int overwrite, kugel_hdf5 **out)
{
  (void)ctx;
  (void)overwrite;
  if (out)
    *out = NULL;
  return none(path);
}

kugel_status kugel_hdf5_put_array(kugel_hdf5 *file, const char *name, const kugel_array *array)
{
  (void)file;
  (void)name;
  (void)array;
  return no_file();
}

kugel_status kugel_hdf5_put_text(kugel_hdf5 *file, const char *object, const char *attribute,
                                 const char *text)
{
  (void)file;
  (void)object;
  (void)attribute;
  (void)text;
  return no_file();
}

kugel_status kugel_hdf5_put_int(kugel_hdf5 *file, const char *object, const char *attribute, int64_t value)
{
  (void)file;
  (void)object;
  (void)attribute;
  (void)value;
  return no_file();
}

kugel_status kugel_hdf5_commit(kugel_hdf5 *file)
{
  (void)file;
  return no_file();
}

kugel_status kugel_hdf5_has(kugel_hdf5 *file, const char *name, int *out)
{
  (void)file;
  (void)name;
  (void)out;
  return no_file();
}

kugel_status kugel_hdf5_get_info(kugel_hdf5 *file, const char *name, kugel_hdf5_info *info)
{
  (void)file;
  (void)name;
  (void)info;
  return no_file();
}

kugel_status kugel_hdf5_get_array(kugel_hdf5 *file, const char *name, const kugel_array *array)
{
  (void)file;
  (void)name;
  (void)array;
  return no_file();
}

kugel_status kugel_hdf5_get_text(kugel_hdf5 *file, const char *object, const char *attribute, char *text,
                                 size_t bytes)
{
  (void)file;
  (void)object;
  (void)attribute;
  (void)text;
  (void)bytes;
  return no_file();
}

kugel_status kugel_hdf5_get_int(kugel_hdf5 *file, const char *object, const char *attribute, int64_t preset,
                                int64_t *value)
{
  (void)file;
  (void)object;
  (void)attribute;
  (void)preset;
  (void)value;
  return no_file();
}

void kugel_hdf5_close(kugel_hdf5 *file)
{
  (void)file;
}
