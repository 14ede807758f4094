/* SPDX-License-Identifier: BSD-3-Clause */
/* What is in an HDF5 file, and its pieces: those of the datasets' chunks, one dataset a time and channel. */
#include <stdlib.h>
#include <string.h>
#include "stack/hdf5.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static H5E_auto2_t printer;
static void *printer_data;

/* At exit libhdf5 would close what damaged files left open, and print if that fails. Files that were written are closed. */
static void begin(void)
{
  H5dont_atexit();
}

void kugel__hdf5_enter(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_mutex_lock(&lock);
  pthread_once(&once, begin);
  H5Eget_auto2(H5E_DEFAULT, &printer, &printer_data);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

void kugel__hdf5_leave(void)
{
  H5Eset_auto2(H5E_DEFAULT, printer, printer_data);
  pthread_mutex_unlock(&lock);
}

kugel_status kugel__hdf5_bad(const kugel_image *im, const char *what)
{
  return KUGEL_FAIL(KUGEL_EFORMAT, "'%s' is damaged: %s", kugel__tail(im->path), what);
}

/* ---- datasets ---- */

void kugel__hdf5_path(const kugel__hdf5 *h, int64_t t, int64_t c, char path[KUGEL__HDF5_NAME])
{
  if (h->layout == KUGEL__HDF5_IMARIS)
    snprintf(path, KUGEL__HDF5_NAME, "/DataSet/ResolutionLevel %d/TimePoint %lld/Channel %lld/Data", h->level,
             (long long)t, (long long)c);
  else if (h->layout == KUGEL__HDF5_BDV)
    snprintf(path, KUGEL__HDF5_NAME, "/t%05lld/s%02lld/%d/cells", (long long)t, (long long)c, h->level);
  else
    memcpy(path, h->name, KUGEL__HDF5_NAME);
}

hid_t kugel__hdf5_type(kugel_dtype t)
{
  const hid_t whole[2][4] = {{H5T_NATIVE_INT8, H5T_NATIVE_INT16, H5T_NATIVE_INT32, H5T_NATIVE_INT64},
                             {H5T_NATIVE_UINT8, H5T_NATIVE_UINT16, H5T_NATIVE_UINT32, H5T_NATIVE_UINT64}};
  int size = t.bits == 8 ? 0 : t.bits == 16 ? 1 : t.bits == 32 ? 2 : 3;
  if (t.code == KUGEL_FLOAT)
    return t.bits == 32 ? H5T_NATIVE_FLOAT : t.bits == 64 ? H5T_NATIVE_DOUBLE : -1;
  return whole[t.code == KUGEL_UINT][size];
}

kugel_status kugel__hdf5_select(kugel_image *im, kugel__hdf5 *h, int64_t t, int64_t c)
{
  char path[KUGEL__HDF5_NAME];
  if (h->dataset >= 0 && (h->layout == KUGEL__HDF5_PLAIN || (h->at[0] == t && h->at[1] == c)))
    return KUGEL_OK;
  if (h->dataset >= 0)
    H5Dclose(h->dataset);
  kugel__hdf5_path(h, t, c, path);
  h->dataset = H5Dopen2(h->file, path, H5P_DEFAULT);
  h->at[0] = t;
  h->at[1] = c;
  KUGEL_CHECK(h->dataset >= 0, KUGEL_EFORMAT, "'%s' is damaged: its dataset %s cannot be opened",
              kugel__tail(im->path), path);
  return KUGEL_OK;
}

/* Spaces of a piece in the file and in memory; the part of it that is within the dataset. */
static kugel_status transfer(kugel_image *im, kugel__hdf5 *h, const int64_t index[5], char *buffer,
                             bool write)
{
  hsize_t dims[5] = {0}, from[5], count[5], chunk[5], zero[5] = {0};
  int rank = h->rank;
  KUGEL_TRY(kugel__hdf5_select(im, h, index[0], index[1]));
  hid_t space = H5Dget_space(h->dataset);
  bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == rank;
  good = good && H5Sget_simple_extent_dims(space, dims, NULL) == rank;
  for (int i = 0; i < rank; i++) {
    int axis = 5 - rank + i;
    chunk[i] = (hsize_t)im->chunk[axis];
    from[i] = (hsize_t)index[axis] * chunk[i];
    hsize_t end = (hsize_t)kugel__min((int64_t)(from[i] + chunk[i]), im->info.shape[axis]);
    good = good && end <= dims[i];
    count[i] = end - from[i];
  }
  if (!good) {
    H5Sclose(space);
    return kugel__hdf5_bad(im, "its datasets differ in size");
  }
  hid_t memory = H5Screate_simple(rank, chunk, NULL);
  good = memory >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, count, NULL) >= 0 &&
         H5Sselect_hyperslab(memory, H5S_SELECT_SET, zero, NULL, count, NULL) >= 0;
  good = good && (write ? H5Dwrite(h->dataset, h->type, memory, space, H5P_DEFAULT, buffer)
                        : H5Dread(h->dataset, h->type, memory, space, H5P_DEFAULT, buffer)) >= 0;
  H5Sclose(memory);
  H5Sclose(space);
  if (good)
    return KUGEL_OK;
  return write ? kugel__io_fail("write", im->path, 0)
               : kugel__hdf5_bad(im, "a chunk cannot be read, or its compression is not known here");
}

kugel_status kugel__hdf5_piece(kugel_image *im, const int64_t index[5], char *buffer, bool write)
{
  kugel__hdf5_enter();
  kugel_status s = transfer(im, im->state, index, buffer, write);
  kugel__hdf5_leave();
  return s;
}

static kugel_status read_piece(kugel_image *im, const int64_t index[5], char *buffer)
{
  return kugel__hdf5_piece(im, index, buffer, false);
}

/* ---- opening ---- */

static bool exists(hid_t file, const char *path)
{
  char part[KUGEL__HDF5_NAME];
  snprintf(part, sizeof part, "%s", path);
  for (char *at = part + 1;; at++) {
    char end = *at;
    if (end && end != '/')
      continue;
    *at = 0;
    if (H5Lexists(file, part, H5P_DEFAULT) <= 0)
      return false;
    *at = end;
    if (!end)
      return true;
  }
}

/* How many there are of a numbered group. */
static int64_t count(hid_t file, const char *format, int64_t most)
{
  char path[KUGEL__HDF5_NAME];
  int64_t n = 0;
  for (; n < most; n++) {
    snprintf(path, sizeof path, format, (int)n);
    if (!exists(file, path))
      break;
  }
  return n;
}

typedef struct largest {
  hid_t file;
  char name[KUGEL__HDF5_NAME];
  double voxels;
  int rank;
} largest;

static herr_t look(hid_t root, const char *name, const H5O_info_t *info, void *user)
{
  largest *l = user;
  (void)root;
  if (info->type != H5O_TYPE_DATASET || strlen(name) + 2 > sizeof l->name)
    return 0;
  hid_t set = H5Dopen2(l->file, name, H5P_DEFAULT), space = H5Dget_space(set), type = H5Dget_type(set);
  hsize_t dims[H5S_MAX_RANK];
  int rank = H5Sget_simple_extent_ndims(space);
  H5T_class_t class = H5Tget_class(type);
  if (rank >= 2 && rank <= 5 && (class == H5T_INTEGER || class == H5T_FLOAT) &&
      H5Sget_simple_extent_dims(space, dims, NULL) == rank) {
    double voxels = 1;
    for (int i = 0; i < rank; i++)
      voxels *= (double)dims[i];
    if (voxels > l->voxels) {
      l->voxels = voxels;
      l->rank = rank;
      snprintf(l->name, sizeof l->name, "/%s", name);
    }
  }
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(set);
  return 0;
}

static kugel_status find_layout(kugel_image *im, kugel__hdf5 *h, int level)
{
  h->rank = 3;
  h->level = level;
  int64_t *shape = im->info.shape;
  shape[0] = shape[1] = 1;
  if (exists(h->file, "/DataSet/ResolutionLevel 0/TimePoint 0/Channel 0/Data")) {
    h->layout = KUGEL__HDF5_IMARIS;
    strcpy(im->format_name, "Imaris");
    im->info.format = KUGEL_IMAGE_IMARIS;
    im->info.nlevels = (int32_t)count(h->file, "/DataSet/ResolutionLevel %d", 100);
    shape[0] = count(h->file, "/DataSet/ResolutionLevel 0/TimePoint %d", 1 << 24);
    shape[1] = count(h->file, "/DataSet/ResolutionLevel 0/TimePoint 0/Channel %d", 1 << 16);
  } else if (exists(h->file, "/t00000/s00/0/cells")) {
    h->layout = KUGEL__HDF5_BDV;
    strcpy(im->format_name, "BigDataViewer");
    im->info.format = KUGEL_IMAGE_BDV;
    im->info.nlevels = (int32_t)count(h->file, "/t00000/s00/%d", 100);
    shape[0] = count(h->file, "/t%05d", 1 << 24);
    shape[1] = count(h->file, "/t00000/s%02d", 1 << 16);
  } else {
    largest l = {.file = h->file};
    herr_t code = H5Ovisit(h->file, H5_INDEX_NAME, H5_ITER_INC, look, &l);
    KUGEL_CHECK(code >= 0, KUGEL_EFORMAT, "'%s' is damaged: its list of datasets cannot be read",
                kugel__tail(im->path));
    KUGEL_CHECK(l.rank, KUGEL_ENOTSUP, "'%s' has no dataset of numbers with 2 to 5 axes",
                kugel__tail(im->path));
    strcpy(im->format_name, "HDF5");
    im->info.format = KUGEL_IMAGE_BDV;
    h->layout = KUGEL__HDF5_PLAIN;
    h->rank = l.rank;
    memcpy(h->name, l.name, sizeof h->name);
  }
  KUGEL_CHECK(level < im->info.nlevels, KUGEL_EINVAL, "level is %d, '%s' has %d: 0 is the finest", level,
              kugel__tail(im->path), im->info.nlevels);
  return KUGEL_OK;
}

static kugel_status take_type(kugel_image *im, kugel__hdf5 *h)
{
  hid_t type = H5Dget_type(h->dataset);
  H5T_class_t class = H5Tget_class(type);
  size_t bytes = H5Tget_size(type);
  bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
  im->info.big_endian = H5Tget_order(type) == H5T_ORDER_BE;
  H5Tclose(type);
  if (h->layout == KUGEL__HDF5_BDV && class == H5T_INTEGER && bytes == 2) {
    im->info.dtype = (kugel_dtype){KUGEL_UINT, 16, 1}; // int16 in the file, whose bits are those of uint16
    h->type = is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;
    return KUGEL_OK;
  }
  bool known = (class == H5T_INTEGER && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) ||
               (class == H5T_FLOAT && (bytes == 4 || bytes == 8));
  KUGEL_CHECK(known, KUGEL_ENOTSUP,
              "'%s' has numbers of %zu bytes that are neither integers nor float32 or float64",
              kugel__tail(im->path), bytes);
  im->info.dtype = (kugel_dtype){class == H5T_FLOAT ? KUGEL_FLOAT
                                 : is_signed        ? KUGEL_INT
                                                    : KUGEL_UINT,
                                 (uint8_t)(8 * bytes), 1};
  h->type = kugel__hdf5_type(im->info.dtype);
  return KUGEL_OK;
}

static int64_t image_size(const kugel__hdf5 *h, const char *name, int64_t dims)
{
  char group[KUGEL__HDF5_NAME], text[32];
  snprintf(group, sizeof group, "/DataSet/ResolutionLevel %d/TimePoint 0/Channel 0", h->level);
  if (h->layout != KUGEL__HDF5_IMARIS || !kugel__hdf5_attribute(h->file, group, name, text, sizeof text))
    return dims;
  long long n = strtoll(text, NULL, 10);
  return n >= 1 && n <= dims ? n : dims; // chunks beyond the image are padding
}

static kugel_status take_shape(kugel_image *im, kugel__hdf5 *h)
{
  static const char *const names[] = {"ImageSizeZ", "ImageSizeY", "ImageSizeX"};
  hsize_t dims[5] = {1, 1, 1, 1, 1}, chunk[5] = {1, 1, 1, 1, 1};
  int first = 5 - h->rank;
  hid_t space = H5Dget_space(h->dataset), list = H5Dget_create_plist(h->dataset);
  bool good = space >= 0 && list >= 0 && H5Sget_simple_extent_ndims(space) == h->rank &&
              H5Sget_simple_extent_dims(space, dims + first, NULL) == h->rank;
  bool chunked = good && H5Pget_layout(list) == H5D_CHUNKED;
  good = good && (!chunked || H5Pget_chunk(list, h->rank, chunk + first) == h->rank);
  snprintf(im->compression, sizeof im->compression, "%s",
           good && H5Pget_nfilters(list) > 0 ? "HDF5 filters" : "none");
  H5Pclose(list);
  H5Sclose(space);
  if (!good)
    return kugel__hdf5_bad(im, "its dataset has other axes than it should");
  for (int i = 0; i < 5; i++) {
    KUGEL_CHECK(dims[i] <= (hsize_t)1 << 40, KUGEL_EFORMAT,
                "'%s' is damaged: an axis has 2^40 voxels or more", kugel__tail(im->path));
    if (i >= first && (i >= 2 || h->layout == KUGEL__HDF5_PLAIN))
      im->info.shape[i] = i >= 2 ? image_size(h, names[i - 2], (int64_t)dims[i]) : (int64_t)dims[i];
    else if (i >= 2)
      im->info.shape[i] = 1;
  }
  KUGEL_TRY(kugel__stack_check_shape(im));
  int64_t room = kugel__stack_run(im) / (int64_t)kugel__stack_bytes(im);
  for (int i = 4; i >= 0; i--) { // datasets without chunks: rows of about a megabyte
    int64_t n = im->info.shape[i];
    im->chunk[i] = chunked ? kugel__min((int64_t)kugel__max((hsize_t)1, chunk[i]), n)
                           : kugel__max(1, kugel__min(n, i >= 2 ? room : 1));
    room = kugel__max(1, room / im->chunk[i]);
  }
  return KUGEL_OK;
}

static kugel_status describe(kugel_image *im, int level)
{
  kugel__hdf5 *h = im->state;
  KUGEL_TRY(find_layout(im, h, level));
  KUGEL_TRY(kugel__hdf5_select(im, h, 0, 0));
  KUGEL_TRY(take_type(im, h));
  KUGEL_TRY(take_shape(im, h));
  KUGEL_TRY(kugel__stack_names(im));
  if (h->layout == KUGEL__HDF5_IMARIS)
    kugel__hdf5_take_imaris(im, h);
  return KUGEL_OK;
}

kugel_status kugel__hdf5_open(kugel_image *im, int level)
{
  kugel__hdf5 *h = kugel__calloc(im->ctx, sizeof *h);
  KUGEL_CHECK(h, KUGEL_ENOMEM, "no memory for an HDF5 file");
  im->state = h;
  im->close = kugel__hdf5_close;
  im->read = read_piece;
  h->dataset = -1;
  kugel__hdf5_enter();
  h->file = H5Fopen(im->path, H5F_ACC_RDONLY, H5P_DEFAULT);
  kugel_status s = h->file >= 0 ? describe(im, level)
                                : KUGEL_FAIL(KUGEL_EFORMAT, "'%s' is damaged: libhdf5 cannot open it",
                                             kugel__tail(im->path));
  kugel__hdf5_leave();
  KUGEL_TRY(s);
  if (h->layout == KUGEL__HDF5_BDV)
    KUGEL_TRY(kugel__hdf5_take_xml(im));
  int64_t bytes = (int64_t)kugel__stack_bytes(im);
  for (int i = 4; i >= 0; i--) {
    im->stride[i] = bytes / (int64_t)kugel__stack_bytes(im);
    KUGEL_CHECK(!__builtin_mul_overflow(bytes, im->chunk[i], &bytes) && bytes < (int64_t)1 << 32,
                KUGEL_ENOTSUP, "'%s' has chunks of 4 GB or more", kugel__tail(im->path));
  }
  im->piece_bytes = (size_t)bytes;
  return KUGEL_OK;
}

void kugel__hdf5_close(kugel_image *im)
{
  kugel__hdf5 *h = im->state;
  if (!h)
    return;
  kugel__hdf5_enter();
  if (h->dataset >= 0)
    H5Dclose(h->dataset);
  if (h->file >= 0)
    H5Fclose(h->file);
  kugel__hdf5_leave();
  kugel__free(im->ctx, h->bins);
  kugel__free(im->ctx, h);
  im->state = NULL;
}
