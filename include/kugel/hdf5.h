/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays with names and attributes in HDF5 files, as h5py reads and writes them: complex numbers are pairs with the fields r and i,
 * texts are UTF-8, integers int64. Groups on the way to a name such as "grid/r" are made.
 *
 *   kugel_hdf5 *file;
 *   kugel_hdf5_create(NULL, "field.h5", 0, &file);
 *   kugel_hdf5_put_array(file, "values", KUGEL_ARRAY(f, KUGEL_F64, 64, 32, 64));
 *   kugel_hdf5_put_text(file, "values", "axes", "r, theta, phi");
 *   kugel_hdf5_commit(file);                 the file appears, whole
 *   kugel_hdf5_close(file);
 *
 * The library must have been built with libhdf5; else all but kugel_hdf5_close is KUGEL_ENOTSUP. A file is used by one thread at a
 * time; several files may be used at once. Images and volumes have image.h. */
#ifndef KUGEL_HDF5_H
#define KUGEL_HDF5_H

#include <kugel/core.h>
#include <kugel/device.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kugel_hdf5 kugel_hdf5;

typedef struct kugel_hdf5_info {
  size_t size;       /* sizeof(kugel_hdf5_info), set by the caller */
  kugel_dtype dtype; /* of the numbers in the file: integers, float32, float64, complex64, complex128 */
  int32_t ndim;      /* 0 to 32 */
  int64_t shape[32];
} kugel_hdf5_info;

/// Opens a file for reading.
/// @param[in]  ctx   NULL: the default context; of which memory is used
/// @param[in]  path  the file
/// @param[out] out   the file; kugel_hdf5_close frees it
/// @errors KUGEL_EIO if it is not there; KUGEL_EFORMAT if it is no HDF5 file, or one that is cut short; KUGEL_ENOTSUP; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_hdf5_open(kugel_ctx *ctx, const char *path, kugel_hdf5 **out);

/// Begins a file. It is written under another name in the same folder; kugel_hdf5_commit gives it its own.
/// @param[in]  ctx        NULL: the default context
/// @param[in]  path       the file to be
/// @param[in]  overwrite  1: an existing file is replaced
/// @param[out] out        the file
/// @errors KUGEL_EIO; KUGEL_ENOTSUP; KUGEL_ENOMEM
KUGEL_API kugel_status kugel_hdf5_create(kugel_ctx *ctx, const char *path, int overwrite, kugel_hdf5 **out);

/// Writes an array as a dataset.
/// @param[in] file   from kugel_hdf5_create
/// @param[in] name   such as "values" or "grid/r", new in the file; at most 255 bytes
/// @param[in] array  on the host, in C order without gaps: integers, float32, float64, complex64 or complex128, 1 to 32 axes
/// @errors KUGEL_EINVAL; KUGEL_ENOTSUP for other types; KUGEL_EIO
KUGEL_API kugel_status kugel_hdf5_put_array(kugel_hdf5 *file, const char *name, const kugel_array *array);

/// Writes a text as an attribute.
/// @param[in] file       from kugel_hdf5_create
/// @param[in] object     a dataset that has been written, or "/"
/// @param[in] attribute  its name, new for the object
/// @param[in] text       UTF-8
/// @errors KUGEL_EINVAL; KUGEL_EIO
KUGEL_API kugel_status kugel_hdf5_put_text(kugel_hdf5 *file, const char *object, const char *attribute,
                                           const char *text);

/// Writes an integer as an attribute, int64.
/// @param[in] file       from kugel_hdf5_create
/// @param[in] object     a dataset that has been written, or "/"
/// @param[in] attribute  its name, new for the object
/// @param[in] value      any
/// @errors as kugel_hdf5_put_text
KUGEL_API kugel_status kugel_hdf5_put_int(kugel_hdf5 *file, const char *object, const char *attribute, int64_t value);

/// Ends a file that was begun: what was written is on the disk under the file's name. Nothing more can be written.
/// @param[in] file  from kugel_hdf5_create
/// @errors KUGEL_EIO, with no file made, or the one that was there as it was
KUGEL_API kugel_status kugel_hdf5_commit(kugel_hdf5 *file);

/// Closes a file. Without kugel_hdf5_commit, nothing is left of one that was begun.
/// @param[in] file  may be NULL
KUGEL_API void kugel_hdf5_close(kugel_hdf5 *file);

/// Whether a dataset or group is in a file.
/// @param[in]  file  from kugel_hdf5_open
/// @param[in]  name  such as "values"
/// @param[out] out   1 or 0
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_hdf5_has(kugel_hdf5 *file, const char *name, int *out);

/// Type and shape of a dataset.
/// @param[in]     file  from kugel_hdf5_open
/// @param[in]     name  such as "values"
/// @param[in,out] info  its size is set, the rest is filled
/// @errors KUGEL_EINVAL if there is no such dataset; KUGEL_ENOTSUP for texts and records; KUGEL_EFORMAT for damaged files
KUGEL_API kugel_status kugel_hdf5_get_info(kugel_hdf5 *file, const char *name, kugel_hdf5_info *info);

/// Reads a dataset, whatever its layout, compression and byte order.
/// @param[in]  file   from kugel_hdf5_open
/// @param[in]  name   such as "values"
/// @param[out] array  in C order without gaps, as many elements as the dataset: complex for complex ones, else integers or floats, of any
///                    size: the numbers are converted
/// @errors as kugel_hdf5_get_info; KUGEL_ESHAPE; KUGEL_EFORMAT for files that are damaged or cut short
KUGEL_API kugel_status kugel_hdf5_get_array(kugel_hdf5 *file, const char *name, const kugel_array *array);

/// Reads an attribute that is a text.
/// @param[in]  file       from kugel_hdf5_open
/// @param[in]  object     a dataset, or "/"
/// @param[in]  attribute  its name
/// @param[out] text       the text, cut off at `bytes`; empty if there is no such attribute or it is no text
/// @param[in]  bytes      of `text`, with the 0 at its end; 1 to 65536
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_hdf5_get_text(kugel_hdf5 *file, const char *object, const char *attribute, char *text,
                                           size_t bytes);

/// Reads an attribute that is a number.
/// @param[in]  file       from kugel_hdf5_open
/// @param[in]  object     a dataset, or "/"
/// @param[in]  attribute  its name
/// @param[in]  preset     the result if there is no such attribute or it is no number
/// @param[out] value      the number, a whole one
/// @errors KUGEL_EINVAL
KUGEL_API kugel_status kugel_hdf5_get_int(kugel_hdf5 *file, const char *object, const char *attribute, int64_t preset,
                                          int64_t *value);

#ifdef __cplusplus
}
#endif
#endif
