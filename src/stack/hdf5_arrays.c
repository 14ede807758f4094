/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays with attributes in HDF5 files: kugel/hdf5.h. Complex numbers are h5py's, compounds of r and i. */
#include <errno.h>
#include <string.h>
#include "core/array.h"
#include "stack/hdf5_file.h"

enum { NAME = 256, RANK = 32 };

static kugel_status make(kugel_ctx *ctx, const char *path, kugel_hdf5 **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the file");
  *out = NULL;
  KUGEL_CHECK(path && *path, KUGEL_EINVAL, "path is %s: pass the name of a file", path ? "empty" : "NULL");
  kugel_ctx *held = kugel__ctx_retain(ctx);
  size_t n = strlen(path) + 1;
  kugel_hdf5 *f = kugel__calloc(held, sizeof *f + n);
  if (!f) {
    kugel_ctx_destroy(held);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for an HDF5 file");
  }
  f->ctx = held;
  f->file = -1;
  memcpy(f->path, path, n);
  *out = f;
  return KUGEL_OK;
}

static void release(kugel_hdf5 *f)
{
  kugel_ctx *ctx = f->ctx;
  kugel__free(ctx, f);
  kugel_ctx_destroy(ctx);
}

/* libhdf5 says no more than that it cannot: the signature tells a foreign file from one that is damaged. */
static kugel_status why_not(const char *path)
{
  static const char signature[] = "\211HDF\r\n\032\n";
  char head[8] = "";
  FILE *file = fopen(path, "rb");
  if (!file)
    return kugel__io_fail("read", path, errno);
  bool known = fread(head, 1, 8, file) == 8 && !memcmp(head, signature, 8);
  fclose(file);
  return KUGEL_FAIL(KUGEL_EFORMAT,
                    known ? "'%s' is damaged or cut short: libhdf5 cannot open it. Copy or make it again"
                          : "'%s' is no HDF5 file: it does not begin with the signature of one",
                    kugel__tail(path));
}

kugel_status kugel_hdf5_open(kugel_ctx *ctx, const char *path, kugel_hdf5 **out)
{
  KUGEL_TRY(make(ctx, path, out));
  kugel_hdf5 *f = *out;
  kugel__hdf5_enter();
  f->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  kugel__hdf5_leave();
  if (f->file >= 0)
    return KUGEL_OK;
  kugel_status s = why_not(path);
  release(f);
  *out = NULL;
  return s;
}

kugel_status kugel_hdf5_create(kugel_ctx *ctx, const char *path, int overwrite, kugel_hdf5 **out)
{
  KUGEL_TRY(make(ctx, path, out));
  kugel_hdf5 *f = *out;
  f->writes = true;
  kugel_status s = kugel__replace_begin(f->ctx, path, overwrite, &f->out);
  if (!s) {
    kugel__hdf5_enter();
    f->file = H5Fcreate(f->out.temp, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    kugel__hdf5_leave();
    if (f->file < 0) {
      s = kugel__io_fail("write", path, 0);
      kugel__replace_abort(&f->out);
    }
  }
  if (s) {
    release(f);
    *out = NULL;
  }
  return s;
}

kugel_status kugel_hdf5_commit(kugel_hdf5 *f)
{
  KUGEL_CHECK(f && f->writes && f->file >= 0, KUGEL_EINVAL, "file is %s: pass one of kugel_hdf5_create, once",
              !f          ? "NULL"
              : f->writes ? "written already"
                          : "open for reading");
  kugel__hdf5_enter();
  bool good = H5Fclose(f->file) >= 0; // what is in its cache is written here
  kugel__hdf5_leave();
  f->file = -1;
  if (good)
    return kugel__replace_commit(&f->out);
  kugel__replace_abort(&f->out);
  return kugel__io_fail("write", f->path, 0);
}

void kugel_hdf5_close(kugel_hdf5 *f)
{
  if (!f)
    return;
  if (f->file >= 0) {
    kugel__hdf5_enter();
    H5Fclose(f->file);
    kugel__hdf5_leave();
    if (f->writes)
      kugel__replace_abort(&f->out);
  }
  release(f);
}

kugel_status kugel__hdf5_check(const kugel_hdf5 *f, bool writes, const char *name, const char *what)
{
  KUGEL_CHECK(f, KUGEL_EINVAL, "file is NULL: open one with kugel_hdf5_%s", writes ? "create" : "open");
  KUGEL_CHECK(f->writes == writes, KUGEL_EINVAL, "the file is open for %s: use one of kugel_hdf5_%s",
              writes ? "reading" : "writing", writes ? "create" : "open");
  KUGEL_CHECK(f->file >= 0, KUGEL_EINVAL, "the file is written already: begin another");
  KUGEL_CHECK(name && *name && strlen(name) < NAME, KUGEL_EINVAL, "%s is %s, must have 1 to %d bytes", what,
              name ? "empty or too long" : "NULL", NAME - 1);
  return KUGEL_OK;
}

// ---- types ----

/* libhdf5's type of numbers in memory, to be closed; below 0: none. names: of the parts of complex numbers. */
static hid_t type_of(kugel_dtype t, const char *const names[2])
{
  bool pairs = t.code == KUGEL_COMPLEX;
  int bits = pairs ? t.bits / 2 : t.bits;
  bool real = t.code == KUGEL_FLOAT || pairs, whole = t.code == KUGEL_INT || t.code == KUGEL_UINT;
  if (t.lanes != 1 || !(real || whole) || (real && bits != 32 && bits != 64))
    return -1;
  if (!pairs)
    return H5Tcopy(kugel__hdf5_type(t));
  hid_t part = bits == 32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE,
        type = H5Tcreate(H5T_COMPOUND, (size_t)bits / 4);
  if (type >= 0 && H5Tinsert(type, names[0], 0, part) >= 0 &&
      H5Tinsert(type, names[1], (size_t)bits / 8, part) >= 0)
    return type;
  H5Tclose(type);
  return -1;
}

/* The type of a dataset; of complex numbers, the names of its parts, to be freed by H5free_memory. names NULL: of a part, which is
 * no complex number. */
static bool dtype_of(hid_t type, kugel_dtype *out, char *names[2])
{
  H5T_class_t class = H5Tget_class(type);
  size_t bytes = H5Tget_size(type);
  if (names && class == H5T_COMPOUND && H5Tget_nmembers(type) == 2) {
    kugel_dtype parts[2];
    bool good = true;
    for (unsigned i = 0; i < 2; i++) {
      hid_t member = H5Tget_member_type(type, i);
      good = dtype_of(member, &parts[i], NULL) && parts[i].code == KUGEL_FLOAT && good;
      H5Tclose(member);
      names[i] = H5Tget_member_name(type, i);
    }
    *out = (kugel_dtype){KUGEL_COMPLEX, (uint8_t)(2 * parts[0].bits), 1};
    return good && parts[0].bits == parts[1].bits && names[0] && names[1];
  }
  bool whole = class == H5T_INTEGER && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
  uint8_t code = class == H5T_FLOAT ? KUGEL_FLOAT : H5Tget_sign(type) == H5T_SGN_2 ? KUGEL_INT : KUGEL_UINT;
  *out = (kugel_dtype){code, (uint8_t)(8 * bytes), 1};
  return whole || (class == H5T_FLOAT && (bytes == 4 || bytes == 8));
}

// ---- datasets ----

static kugel_status put(kugel_hdf5 *f, const char *name, const kugel_array *a)
{
  hsize_t dims[RANK];
  for (int i = 0; i < a->ndim; i++)
    dims[i] = (hsize_t)a->shape[i];
  hid_t type = type_of(a->dtype, (const char *const[]){"r", "i"});
  KUGEL_CHECK(type >= 0, KUGEL_ENOTSUP, "elements of type (%d, %d bits, %d lanes) are not written",
              a->dtype.code, a->dtype.bits, a->dtype.lanes);
  hid_t space = H5Screate_simple(a->ndim, dims, NULL), links = H5Pcreate(H5P_LINK_CREATE);
  bool there = H5Lexists(f->file, name, H5P_DEFAULT) > 0;
  bool good = !there && space >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0;
  hid_t set = good ? H5Dcreate2(f->file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT) : -1;
  good = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, kugel__array_data(a)) >= 0;
  good = set >= 0 && H5Dclose(set) >= 0 && good;
  H5Pclose(links);
  H5Sclose(space);
  H5Tclose(type);
  KUGEL_CHECK(!there, KUGEL_EINVAL, "name is \"%s\", which the file has already", name);
  return good ? KUGEL_OK : kugel__io_fail("write", f->path, 0);
}

static kugel_status check_array(const kugel_array *a)
{
  KUGEL_CHECK(a, KUGEL_EINVAL, "array is NULL: pass an array");
  KUGEL_CHECK(a->ndim >= 1 && a->ndim <= RANK && a->shape, KUGEL_ESHAPE, "array has ndim %d, must be 1 to %d",
              a->ndim, RANK);
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EDEVICE, "array is on device type %d: copy it to the host",
              a->device.type);
  for (int i = 0; i < a->ndim; i++)
    KUGEL_CHECK(a->shape[i] >= 1, KUGEL_ESHAPE, "array has extent %lld on axis %d, must be at least 1",
                (long long)a->shape[i], i);
  KUGEL_CHECK(a->data, KUGEL_EINVAL, "array has data NULL");
  KUGEL_CHECK(kugel__array_contiguous(a), KUGEL_EINVAL, "array has gaps: copy it into C order");
  return KUGEL_OK;
}

kugel_status kugel_hdf5_put_array(kugel_hdf5 *f, const char *name, const kugel_array *array)
{
  KUGEL_TRY(kugel__hdf5_check(f, true, name, "name"));
  KUGEL_TRY(check_array(array));
  kugel__hdf5_enter();
  kugel_status s = put(f, name, array);
  kugel__hdf5_leave();
  return s;
}

static kugel_status describe(kugel_hdf5 *f, const char *name, hid_t set, kugel_hdf5_info *info,
                             char *parts[2])
{
  hsize_t dims[H5S_MAX_RANK];
  KUGEL_CHECK(set >= 0, KUGEL_EINVAL, "'%s' has no dataset \"%s\"", kugel__tail(f->path), name);
  hid_t type = H5Dget_type(set), space = H5Dget_space(set);
  int rank = H5Sget_simple_extent_ndims(space);
  bool known = dtype_of(type, &info->dtype, parts);
  bool good = rank >= 0 && rank <= RANK && H5Sget_simple_extent_dims(space, dims, NULL) == rank;
  H5Sclose(space);
  H5Tclose(type);
  KUGEL_CHECK(good, KUGEL_EFORMAT, "'%s' is damaged: dataset \"%s\" has no shape of up to %d axes",
              kugel__tail(f->path), name, RANK);
  KUGEL_CHECK(known, KUGEL_ENOTSUP,
              "dataset \"%s\" of '%s' holds neither integers nor real or complex numbers", name,
              kugel__tail(f->path));
  KUGEL_CHECK(rank > 0, KUGEL_ENOTSUP, "dataset \"%s\" of '%s' holds one value or none, must hold an array",
              name, kugel__tail(f->path));
  info->ndim = rank;
  for (int i = 0; i < rank; i++) {
    KUGEL_CHECK(dims[i] <= (hsize_t)1 << 48, KUGEL_EFORMAT,
                "'%s' is damaged: axis %d of \"%s\" has 2^48 numbers or more", kugel__tail(f->path), i, name);
    info->shape[i] = (int64_t)dims[i];
  }
  return KUGEL_OK;
}

static kugel_status get(kugel_hdf5 *f, const char *name, kugel_hdf5_info *info, const kugel_array *a)
{
  char *parts[2] = {NULL, NULL};
  hid_t set = H5Dopen2(f->file, name, H5P_DEFAULT);
  kugel_status s = describe(f, name, set, info, parts);
  if (!s && a) {
    int64_t count = 1;
    for (int i = 0; i < info->ndim; i++)
      if (__builtin_mul_overflow(count, info->shape[i], &count))
        count = -1;
    bool pairs = a->dtype.code == KUGEL_COMPLEX;
    hid_t type =
        type_of(a->dtype, (const char *const[]){parts[0] ? parts[0] : "r", parts[1] ? parts[1] : "i"});
    if (count != kugel__array_count(a))
      s = KUGEL_FAIL(KUGEL_ESHAPE, "array has %lld elements, dataset \"%s\" of '%s' %lld",
                     (long long)kugel__array_count(a), name, kugel__tail(f->path), (long long)count);
    else if (type < 0 || pairs != (info->dtype.code == KUGEL_COMPLEX))
      s = KUGEL_FAIL(KUGEL_EINVAL, "array is %s, dataset \"%s\" of '%s' %s",
                     pairs ? "complex" : "real or unknown", name, kugel__tail(f->path),
                     pairs ? "real" : "complex, or of another kind");
    else if (H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, kugel__array_data(a)) < 0)
      s = KUGEL_FAIL(
          KUGEL_EFORMAT,
          "'%s' is damaged or cut short: dataset \"%s\" cannot be read, or its compression is not known here",
          kugel__tail(f->path), name);
    H5Tclose(type);
  }
  for (int i = 0; i < 2; i++)
    H5free_memory(parts[i]);
  H5Dclose(set);
  return s;
}

kugel_status kugel_hdf5_get_info(kugel_hdf5 *f, const char *name, kugel_hdf5_info *info)
{
  kugel_hdf5_info whole = {.size = sizeof whole};
  KUGEL_TRY(kugel__hdf5_check(f, false, name, "name"));
  KUGEL_CHECK(info, KUGEL_EINVAL, "info is NULL");
  kugel__hdf5_enter();
  kugel_status s = get(f, name, &whole, NULL);
  kugel__hdf5_leave();
  return s ? s : kugel__give_info(info, &whole, sizeof whole, "kugel_hdf5_info");
}

kugel_status kugel_hdf5_get_array(kugel_hdf5 *f, const char *name, const kugel_array *array)
{
  kugel_hdf5_info info;
  KUGEL_TRY(kugel__hdf5_check(f, false, name, "name"));
  KUGEL_TRY(check_array(array));
  kugel__hdf5_enter();
  kugel_status s = get(f, name, &info, array);
  kugel__hdf5_leave();
  return s;
}

kugel_status kugel_hdf5_has(kugel_hdf5 *f, const char *name, int *out)
{
  KUGEL_TRY(kugel__hdf5_check(f, false, name, "name"));
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL");
  kugel__hdf5_enter();
  *out = H5Oexists_by_name(f->file, name, H5P_DEFAULT) > 0;
  kugel__hdf5_leave();
  return KUGEL_OK;
}
