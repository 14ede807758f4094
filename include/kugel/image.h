/* SPDX-License-Identifier: BSD-3-Clause */
/* Kugel image: stacks of microscopes and scanners on disk: volumes with channels and time points, read and written in
 * boxes, so that a stack may be larger than memory.
 *
 *   kugel_image *in, *out;
 *   kugel_image_info info = {.size = sizeof info};
 *   if (kugel_image_open(NULL, "cells.ome.tif", NULL, &in)) fprintf(stderr, "%s\n", kugel_last_error());
 *   kugel_image_get_info(in, &info);
 *   int64_t lo[3] = {0, 0, 0}, n[3] = {info.shape[2], info.shape[3], info.shape[4]};
 *   float *volume = malloc(n[0] * n[1] * n[2] * sizeof *volume);
 *   kugel_image_read(in, 0, 0, lo, n, KUGEL_ARRAY(volume, KUGEL_F32, n[0], n[1], n[2]));
 *   kugel_image_opts opts = {.size = sizeof opts, .dtype = KUGEL_F32, .like = in};
 *   kugel_image_create(NULL, "copy.zarr", &opts, &out);
 *   kugel_image_write(out, 0, 0, lo, n, KUGEL_ARRAY(volume, KUGEL_F32, n[0], n[1], n[2]));
 *   if (kugel_image_close(out, 1)) fprintf(stderr, "%s\n", kugel_last_error());
 *   kugel_image_close(in, 1);
 *
 * Formats: TIFF and BigTIFF (plain, ImageJ, OME), NPY, NRRD, MetaImage (.mhd, .mha), OME-Zarr 0.4 and 0.5, Imaris,
 * BigDataViewer and other HDF5. When reading,
 * the contents decide, not the name; when writing, the end of the name: .ome.tif, .tif, .tiff, .npy, .nrrd, .nhdr, .mha,
 * .mhd, .zarr, .ims, .h5. HDF5 is there if the library was built with libhdf5; else its files are KUGEL_ENOTSUP.
 * docs/stacks.md tells what of each format is read and written.
 *
 * Rules of this header, beside those of core.h:
 *  - A stack has the axes [t, c, z, y, x]: time, channel, depth, row, column; those that a file lacks have length 1.
 *  - Lengths are micrometres, times seconds.
 *  - Conversions between types never scale. To integers, values are rounded to the nearest (ties to even) and saturated,
 *    and NaN becomes 0; `clipped` of the info counts the values that were saturated or NaN.
 *  - Sizes that a file claims are checked against the file before anything is allocated for them.
 *  - A stack is written in the same folder, a file without a name as in io.h, Zarr and HDF5 under a temporary one, named by
 *    kugel_image_close. A failed write leaves the old file.
 *  - Errors name the file, and the place in it where that helps: KUGEL_EIO (cannot open, read, write), KUGEL_EFORMAT
 *    (damaged), KUGEL_ENOTSUP (a variant that is not read; the sentence says which), KUGEL_EINVAL, KUGEL_ESHAPE,
 *    KUGEL_ENOMEM.
 *  - Several threads may read one stack at once; writes to one stack are serialised.
 */
#ifndef KUGEL_IMAGE_H
#define KUGEL_IMAGE_H

#include <kugel/comm.h>
#include <kugel/core.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kugel_image kugel_image;

typedef enum kugel_image_format {
  KUGEL_IMAGE_AUTO = 0, /* when writing: by the end of the name */
  KUGEL_IMAGE_TIFF = 1, /* classic or BigTIFF, with ImageJ's description when written */
  KUGEL_IMAGE_OME_TIFF = 2,
  KUGEL_IMAGE_NPY = 3,  /* [t, c, z, y, x] without t and c of length 1, and of no more axes than an NPY file `like`
                              has; no metadata */
  KUGEL_IMAGE_NRRD = 4, /* .nhdr: header and data in two files */
  KUGEL_IMAGE_MHD = 5,  /* MetaImage; .mha: header and data in one file */
  KUGEL_IMAGE_ZARR = 6, /* OME-Zarr 0.5 (Zarr 3), a folder */
  KUGEL_IMAGE_ZARR2 = 7, /* OME-Zarr 0.4 (Zarr 2), a folder */
  KUGEL_IMAGE_IMARIS = 8, /* Imaris 5.5 (HDF5): uint8, uint16, uint32, float32 */
  KUGEL_IMAGE_BDV = 9     /* BigDataViewer: HDF5, and XML with the same name beside it; uint16. Other HDF5 files are read:
                              their largest dataset, whose last axes are z, y, x */
} kugel_image_format;

typedef enum kugel_image_compression {
  KUGEL_COMPRESS_AUTO = 0, /* Zarr: Blosc with Zstandard; others: none */
  KUGEL_COMPRESS_NONE = 1,
  KUGEL_COMPRESS_DEFLATE = 2,  /* all but NPY; gzip in NRRD, zlib in MetaImage, gzip in Zarr, shuffled in HDF5 */
  KUGEL_COMPRESS_LZW = 3,      /* TIFF */
  KUGEL_COMPRESS_PACKBITS = 4, /* TIFF */
  KUGEL_COMPRESS_ZSTD = 5,     /* TIFF, Zarr */
  KUGEL_COMPRESS_BLOSC = 6,    /* Zarr: Blosc with Zstandard, bytes shuffled */
  KUGEL_COMPRESS_LZ4 = 7       /* Zarr: Blosc with LZ4, bytes shuffled */
} kugel_image_compression;

typedef struct kugel_image_open_opts {
  size_t size;   /* sizeof(kugel_image_open_opts) */
  int32_t level; /* of a multi-scale Zarr, Imaris or BigDataViewer: 0 the finest */
} kugel_image_open_opts;

/* What a stack is. Pointers belong to the kugel_image and live as long as it. */
typedef struct kugel_image_info {
  size_t size;       /* sizeof(kugel_image_info), set by the caller */
  int32_t format;    /* a kugel_image_format */
  int32_t ndim;      /* 3, or 2 if there is one plane */
  int64_t shape[5];  /* t, c, z, y, x */
  kugel_dtype dtype; /* bool reads as uint8 */
  int32_t big_endian;
  int32_t nlevels;  /* of a multi-scale Zarr; else 1 */
  int32_t reserved; /* 0 */
  double voxel[3];  /* z, y, x in micrometres; 0: unknown */
  double time_step; /* seconds; 0: unknown */
  int64_t chunk[5]; /* the pieces in which the file is read: whole ones are read fastest */
  int64_t file_bytes;
  int64_t clipped;                  /* values that conversions saturated, and NaN made 0, since the stack was opened */
  const char *format_name;          /* "TIFF", "ImageJ TIFF", "OME-TIFF", "NPY", "NRRD", "MetaImage", "OME-Zarr 0.5" ... */
  const char *compression;          /* "none", "deflate", "LZW", "PackBits", "zstd", "blosc", ... */
  const char *unit;                 /* of lengths, as in the file, "" if there is none */
  const char *const *channel_names; /* [shape[1]], "" where there is none */
  const char *text;                 /* the metadata as text: ImageDescription, attributes, header; "" if none */
  int64_t missing; /* chunks of a Zarr that were read as its fill value, since they are not there, since the stack was opened */
  int64_t thread_bytes; /* of memory that each thread takes, at the most, while it reads or writes pieces */
} kugel_image_info;

/// Opens a stack. The contents decide which format it is.
/// @param[in]  path  a file; or the folder of a Zarr
/// @param[in]  opts  NULL for defaults
/// @param[out] out   to be closed by kugel_image_close
/// @errors KUGEL_EIO; KUGEL_EFORMAT if it is none of the formats, is truncated or contradicts itself; KUGEL_ENOTSUP
/// @cost   headers only; of a TIFF every directory: about a microsecond for each plane
KUGEL_API kugel_status kugel_image_open(kugel_ctx *ctx, const char *path, const kugel_image_open_opts *opts,
                                        kugel_image **out);

/// Describes an open stack, or one that is being written.
/// @param[in]  image  open
/// @param[out] out    its field `size` set by the caller
/// @errors KUGEL_EINVAL if image or out is NULL, or out->size is none
KUGEL_API kugel_status kugel_image_get_info(const kugel_image *image, kugel_image_info *out);

/// Reads a box of one channel at one time point. Pieces of the file are decoded in parallel.
/// @param[in]  image    from kugel_image_open
/// @param[in]  time     in [0, shape[0])
/// @param[in]  channel  in [0, shape[1])
/// @param[in]  lo       [3] first voxel z, y, x
/// @param[in]  n        [3] lengths, at least 1; the box must lie within the stack
/// @param[out] values   host array of n[0] * n[1] * n[2] numbers: shape n, with further axes of length 1 in front, or
///                      without axes of length 1; any strides; int8 to uint64, float16, float32, float64
/// @errors KUGEL_EINVAL if the box is not within the stack; KUGEL_ESHAPE; KUGEL_EFORMAT if a piece is damaged; KUGEL_EIO
/// @cost   one decoded piece of memory per thread, and what unpacks it (thread_bytes of the info); within a limit of the
///         context's memory (kugel_ctx_limit_memory, CPU) on as many threads as have room in a 32nd of it, at least one
KUGEL_API kugel_status kugel_image_read(kugel_image *image, int64_t time, int64_t channel, const int64_t *lo,
                                        const int64_t *n, const kugel_array *values);

typedef struct kugel_image_opts {
  size_t size;              /* sizeof(kugel_image_opts) */
  const kugel_image *like;  /* NULL, or a stack whose shape, type, voxel, time step, and channel names stand for those
                               that are 0 or NULL here */
  int64_t shape[5];         /* t, c, z, y, x; all 0: that of `like` */
  kugel_dtype dtype;        /* int8 to uint64, float16, float32, float64; all 0: that of `like` */
  int32_t format;           /* a kugel_image_format; 0: by the name */
  int32_t compression;      /* a kugel_image_compression */
  double voxel[3];          /* z, y, x in micrometres; 0: unknown, or that of `like` */
  double time_step;         /* seconds; likewise */
  const char *const *channel_names; /* [shape[1]], copied; NULL: none, or those of `like` */
  int64_t chunk[3];         /* z, y, x; 0: chosen. TIFF: a y below the height gives strips, an x below the width tiles,
                               whose y and x are multiples of 16; z is 1. Zarr, HDF5: chunks. Ignored by the others */
  int32_t level;            /* of compression, 1 (fast) to 9 (small); 0: the library's usual one */
  int32_t bigtiff;          /* 0: above 4 GB; 1: always */
  int32_t shard;            /* Zarr 3: chunks along each axis z, y, x in one file; 0 or 1: one file per chunk */
  int32_t overwrite;        /* 1: an existing file is replaced; an existing folder only if it is a Zarr */
  const char *description;  /* text to keep in the file's metadata; NULL: none */
  kugel_comm *comm;         /* NULL, or ranks that write a Zarr together, in a folder that all hosts see: every rank creates, writes
                               and closes it. In kugel_image_write each gives whole planes that it has, in C order, or none (n[0] 0);
                               the planes of all ranks touch. Each chunk, or shard, is written by one rank, and the bytes do not
                               depend on their number. Failures are agreed on, and leave nothing. Must outlive the stack */
} kugel_image_opts;

/// Creates a stack, which kugel_image_close names. Voxels that are never written are 0.
/// @param[in]  path  file or, for Zarr, folder
/// @param[in]  opts  shape, type and so on
/// @param[out] out   to be closed by kugel_image_close
/// @errors KUGEL_EINVAL for values out of range or a name whose end is no format's; KUGEL_ENOTSUP for a type or a
///         compression that the format does not have; KUGEL_EIO
KUGEL_API kugel_status kugel_image_create(kugel_ctx *ctx, const char *path, const kugel_image_opts *opts,
                                          kugel_image **out);

/// Describes the stack that kugel_image_create would make, of which nothing is made: its pieces, and what threads take.
/// @param[in]  path  file or, for Zarr, folder; need not be writable
/// @param[in]  opts  shape, type and so on; comm is not used
/// @param[out] out   its field `size` set by the caller; pointers are NULL
/// @errors as kugel_image_create, but KUGEL_EIO
KUGEL_API kugel_status kugel_image_estimate(kugel_ctx *ctx, const char *path, const kugel_image_opts *opts,
                                            kugel_image_info *out);

/// Writes a box of one channel at one time point, in any order; each voxel once. Boxes of whole pieces (`chunk` of the
/// info) are compressed in parallel and written at once. Of others the pieces are collected in a temporary file beside
/// the output until they are whole.
/// @param[in] image    from kugel_image_create
/// @param[in] time     in [0, shape[0])
/// @param[in] channel  in [0, shape[1])
/// @param[in] lo       [3] first voxel z, y, x
/// @param[in] n        [3] lengths, at least 1
/// @param[in] values   as for kugel_image_read
/// @errors as agreed with opts.comm; KUGEL_EINVAL if the box is not within the stack or meets a piece that is whole already; KUGEL_ESHAPE; KUGEL_EIO
KUGEL_API kugel_status kugel_image_write(kugel_image *image, int64_t time, int64_t channel, const int64_t *lo,
                                         const int64_t *n, const kugel_array *values);

/// Closes a stack. One that was created gets its header and its name, unless keep is 0.
/// @param[in] image  may be NULL
/// @param[in] keep   0: what was written is deleted, and an old file remains; of no meaning for stacks that are read
/// @errors KUGEL_EIO if the rest cannot be written; the stack is closed and nothing left all the same
KUGEL_API kugel_status kugel_image_close(kugel_image *image, int keep);

#ifdef __cplusplus
}
#endif
#endif
