/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of kugel/hdf5.h: texts of variable length, which h5py reads as str, and int64. */
#include <string.h>
#include "stack/hdf5_file.h"

enum { TEXT = 65536 };

static kugel_status check(const kugel_hdf5 *f, bool writes, const char *object, const char *attribute)
{
  KUGEL_TRY(kugel__hdf5_check(f, writes, object, "object"));
  return kugel__hdf5_check(f, writes, attribute, "attribute");
}

static bool put(kugel_hdf5 *f, const char *object, const char *attribute, hid_t type, const void *value)
{
  hid_t space = H5Screate(H5S_SCALAR);
  hid_t a = type < 0 ? -1
                     : H5Acreate_by_name(f->file, object, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT,
                                         H5P_DEFAULT);
  bool good = a >= 0 && H5Awrite(a, type, value) >= 0;
  good = a >= 0 && H5Aclose(a) >= 0 && good;
  H5Sclose(space);
  return good;
}

static kugel_status refused(const kugel_hdf5 *f, const char *object, const char *attribute)
{
  return KUGEL_FAIL(KUGEL_EINVAL,
                    "'%s' takes no attribute \"%s\" of \"%s\": the object is not there, or has it already",
                    kugel__tail(f->path), attribute, object);
}

kugel_status kugel_hdf5_put_text(kugel_hdf5 *f, const char *object, const char *attribute, const char *text)
{
  KUGEL_TRY(check(f, true, object, attribute));
  KUGEL_CHECK(text && strlen(text) < TEXT, KUGEL_EINVAL, "text is %s", text ? "64 KiB or longer" : "NULL");
  kugel__hdf5_enter();
  hid_t type = H5Tcopy(H5T_C_S1);
  bool good = H5Tset_size(type, H5T_VARIABLE) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0 &&
              put(f, object, attribute, type, &text);
  H5Tclose(type);
  kugel__hdf5_leave();
  return good ? KUGEL_OK : refused(f, object, attribute);
}

kugel_status kugel_hdf5_put_int(kugel_hdf5 *f, const char *object, const char *attribute, int64_t value)
{
  KUGEL_TRY(check(f, true, object, attribute));
  kugel__hdf5_enter();
  bool good = put(f, object, attribute, H5T_NATIVE_INT64, &value);
  kugel__hdf5_leave();
  return good ? KUGEL_OK : refused(f, object, attribute);
}

/* A scalar attribute or an array of one; below 0: there is none. */
static hid_t find(const kugel_hdf5 *f, const char *object, const char *attribute)
{
  hid_t a = H5Aopen_by_name(f->file, object, attribute, H5P_DEFAULT, H5P_DEFAULT);
  hid_t space = a < 0 ? -1 : H5Aget_space(a);
  bool one = space >= 0 && H5Sget_simple_extent_npoints(space) == 1;
  if (space >= 0)
    H5Sclose(space);
  if (one || a < 0)
    return a;
  H5Aclose(a);
  return -1;
}

static void copy(char *out, size_t bytes, const char *text, size_t length)
{
  size_t n = strnlen(text, length);
  while (n && (n >= bytes || (n < length && ((unsigned char)text[n] & 0xC0) == 0x80)))
    n--; // not within a character
  memcpy(out, text, n);
  out[n] = 0;
}

static void take_text(const kugel_hdf5 *f, hid_t a, char *out, size_t bytes)
{
  hid_t type = H5Aget_type(a), space = H5Aget_space(a);
  if (H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0) {
    char *text = NULL;
    if (H5Aread(a, type, &text) >= 0 && text) {
      copy(out, bytes, text, strlen(text) + 1);
      H5Dvlen_reclaim(type, space, H5P_DEFAULT, &text);
    }
  } else if (H5Tget_class(type) == H5T_STRING && H5Tget_size(type) < TEXT) {
    size_t n = H5Tget_size(type);
    char *text = kugel__calloc(f->ctx, n + 1);
    if (text && H5Aread(a, type, text) >= 0)
      copy(out, bytes, text, n + 1);
    kugel__free(f->ctx, text);
  }
  H5Sclose(space);
  H5Tclose(type);
}

kugel_status kugel_hdf5_get_text(kugel_hdf5 *f, const char *object, const char *attribute, char *text,
                                 size_t bytes)
{
  KUGEL_TRY(check(f, false, object, attribute));
  KUGEL_CHECK(text && bytes >= 1 && bytes <= TEXT, KUGEL_EINVAL, "%s",
              text ? "bytes must be 1 to 65536" : "text is NULL: pass where to put it");
  *text = 0;
  kugel__hdf5_enter();
  hid_t a = find(f, object, attribute);
  if (a >= 0) {
    take_text(f, a, text, bytes);
    H5Aclose(a);
  }
  kugel__hdf5_leave();
  return KUGEL_OK;
}

kugel_status kugel_hdf5_get_int(kugel_hdf5 *f, const char *object, const char *attribute, int64_t preset,
                                int64_t *value)
{
  KUGEL_TRY(check(f, false, object, attribute));
  KUGEL_CHECK(value, KUGEL_EINVAL, "value is NULL: pass where to put it");
  *value = preset;
  kugel__hdf5_enter();
  hid_t a = find(f, object, attribute);
  hid_t type = a < 0 ? -1 : H5Aget_type(a);
  if (a >= 0 && H5Tget_class(type) == H5T_INTEGER && H5Aread(a, H5T_NATIVE_INT64, value) < 0)
    *value = preset;
  if (a >= 0) {
    H5Tclose(type);
    H5Aclose(a);
  }
  kugel__hdf5_leave();
  return KUGEL_OK;
}
