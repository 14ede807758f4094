/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds without libhdf5. */
#include "stack/stack.h"

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
