/* SPDX-License-Identifier: BSD-3-Clause */
/* Imaris and BigDataViewer for writing: one level, every dataset made at once, chunks as they come. */
#include <string.h>
#include "stack/hdf5.h"

static kugel_status put_piece(kugel_image *im, const int64_t index[5], char *piece)
{
  kugel__hdf5 *h = im->state;
  KUGEL_TRY(kugel__hdf5_piece(im, index, piece, true));
  if (!h->bins)
    return KUGEL_OK;
  int64_t n[3];
  for (int i = 0; i < 3; i++)
    n[i] = kugel__min(im->chunk[2 + i], im->info.shape[2 + i] - index[2 + i] * im->chunk[2 + i]);
  uint64_t bins[KUGEL__HDF5_BINS] = {0};
  for (int64_t z = 0; z < n[0]; z++)
    for (int64_t y = 0; y < n[1]; y++) {
      int64_t at = z * im->stride[2] + y * im->stride[3];
      for (int64_t x = 0; x < n[2]; x++)
        bins[im->info.dtype.bits == 8 ? ((uint8_t *)piece)[at + x]
                                      : ((uint16_t *)(void *)piece)[at + x] >> 8]++;
    }
  kugel__hdf5_enter(); // pieces come from several threads
  for (int i = 0; i < KUGEL__HDF5_BINS; i++)
    h->bins[(index[0] * im->info.shape[1] + index[1]) * KUGEL__HDF5_BINS + i] += bins[i];
  kugel__hdf5_leave();
  return KUGEL_OK;
}

/* ---- at the end ---- */

static bool number_attribute(const kugel__hdf5 *h, const char *group, const char *name, double x)
{
  char text[40];
  snprintf(text, sizeof text, "%.0f", x);
  return kugel__hdf5_set_attribute(h->file, group, name, text);
}

static bool finish_channel(const kugel_image *im, const kugel__hdf5 *h, int64_t t, int64_t c)
{
  static const char *const sizes[] = {"ImageSizeZ", "ImageSizeY", "ImageSizeX"};
  char path[KUGEL__HDF5_NAME];
  kugel__hdf5_path(h, t, c, path);
  *strrchr(path, '/') = 0;
  bool good = true;
  for (int i = 0; i < 3 && good; i++)
    good = number_attribute(h, path, sizes[i], (double)im->info.shape[2 + i]);
  if (!good || !h->bins)
    return good;
  hsize_t n = KUGEL__HDF5_BINS;
  const uint64_t *bins = h->bins + (t * im->info.shape[1] + c) * KUGEL__HDF5_BINS;
  strcat(path, "/Histogram");
  hid_t space = H5Screate_simple(1, &n, NULL);
  hid_t set = H5Dcreate2(h->file, path, H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  good = set >= 0 && H5Dwrite(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, bins) >= 0;
  H5Dclose(set);
  H5Sclose(space);
  *strrchr(path, '/') = 0;
  return good && number_attribute(h, path, "HistogramMin", 0) &&
         number_attribute(h, path, "HistogramMax", im->info.dtype.bits == 8 ? 255 : 65535);
}

static kugel_status finish(kugel_image *im)
{
  kugel__hdf5 *h = im->state;
  bool good = true;
  kugel__hdf5_enter();
  for (int64_t t = 0; h->layout == KUGEL__HDF5_IMARIS && good && t < im->info.shape[0]; t++)
    for (int64_t c = 0; good && c < im->info.shape[1]; c++)
      good = finish_channel(im, h, t, c);
  if (h->layout == KUGEL__HDF5_IMARIS && good)
    good = kugel__hdf5_give_imaris(im, h);
  if (h->dataset >= 0)
    good = H5Dclose(h->dataset) >= 0 && good;
  h->dataset = -1;
  good = H5Fclose(h->file) >= 0 && good; // what is in its cache is written here
  h->file = -1;
  kugel__hdf5_leave();
  if (!good)
    return kugel__io_fail("write", im->path, 0);
  return h->layout == KUGEL__HDF5_BDV ? kugel__hdf5_give_xml(im) : KUGEL_OK;
}

/* ---- at the beginning ---- */

static hid_t make_list(const kugel_image *im)
{
  hsize_t chunk[3];
  hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  for (int i = 0; i < 3; i++)
    chunk[i] = (hsize_t)im->chunk[2 + i];
  bool good = list >= 0 && H5Pset_chunk(list, 3, chunk) >= 0;
  if (good && im->opts.compression == KUGEL_COMPRESS_DEFLATE)
    good =
        H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, im->opts.level ? (unsigned)im->opts.level : 2) >= 0;
  if (good)
    return list;
  H5Pclose(list);
  return -1;
}

static bool make_datasets(const kugel_image *im, const kugel__hdf5 *h)
{
  hsize_t dims[3];
  for (int i = 0; i < 3; i++)
    dims[i] = (hsize_t)im->info.shape[2 + i];
  hid_t space = H5Screate_simple(3, dims, NULL), list = make_list(im), links = H5Pcreate(H5P_LINK_CREATE);
  bool good = space >= 0 && list >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0;
  for (int64_t t = 0; t < im->info.shape[0]; t++)
    for (int64_t c = 0; good && c < im->info.shape[1]; c++) {
      char path[KUGEL__HDF5_NAME];
      kugel__hdf5_path(h, t, c, path);
      hid_t set = H5Dcreate2(h->file, path, h->type, space, links, list, H5P_DEFAULT);
      good = set >= 0 && H5Dclose(set) >= 0;
    }
  H5Pclose(links);
  H5Pclose(list);
  H5Sclose(space);
  return good;
}

/* BigDataViewer's tables of levels: factors 1, 1, 1 and the chunk as x, y, z. */
static bool make_tables(const kugel_image *im, const kugel__hdf5 *h)
{
  hsize_t dims[2] = {1, 3};
  const double factors[3] = {1, 1, 1};
  const int32_t chunk[3] = {(int32_t)im->chunk[4], (int32_t)im->chunk[3], (int32_t)im->chunk[2]};
  hid_t space = H5Screate_simple(2, dims, NULL), links = H5Pcreate(H5P_LINK_CREATE);
  bool good = space >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0;
  for (int64_t c = 0; good && c < im->info.shape[1]; c++)
    for (int i = 0; good && i < 2; i++) {
      char path[64];
      snprintf(path, sizeof path, "/s%02lld/%s", (long long)c, i ? "subdivisions" : "resolutions");
      hid_t set = H5Dcreate2(h->file, path, i ? H5T_STD_I32LE : H5T_IEEE_F64LE, space, links, H5P_DEFAULT,
                             H5P_DEFAULT);
      good = set >= 0 && H5Dwrite(set, i ? H5T_NATIVE_INT32 : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL,
                                  H5P_DEFAULT, i ? (const void *)chunk : factors) >= 0;
      H5Dclose(set);
    }
  H5Pclose(links);
  H5Sclose(space);
  return good;
}

static kugel_status choose(kugel_image *im, kugel__hdf5 *h)
{
  kugel_dtype t = im->info.dtype;
  bool imaris = h->layout == KUGEL__HDF5_IMARIS, u16 = t.code == KUGEL_UINT && t.bits == 16;
  KUGEL_CHECK(imaris || u16, KUGEL_ENOTSUP, "BigDataViewer's files have uint16, not %s: take that, or Imaris",
              kugel__stack_dtype_name(t));
  KUGEL_CHECK(!imaris || (t.code == KUGEL_UINT && t.bits <= 32) || (t.code == KUGEL_FLOAT && t.bits == 32),
              KUGEL_ENOTSUP, "Imaris' files have uint8, uint16, uint32 or float32, not %s: take one of these",
              kugel__stack_dtype_name(t));
  h->type = imaris ? kugel__hdf5_type(t) : H5T_NATIVE_INT16;
  strcpy(im->format_name, imaris ? "Imaris" : "BigDataViewer");
  strcpy(im->compression, im->opts.compression == KUGEL_COMPRESS_DEFLATE ? "deflate" : "none");
  static const int64_t usual[3] = {32, 128, 128};
  int64_t bytes = (int64_t)kugel__stack_bytes(im);
  for (int i = 0; i < 3; i++) {
    int64_t want = im->opts.chunk[i] ? im->opts.chunk[i] : usual[i];
    im->chunk[2 + i] = kugel__min(want, im->info.shape[2 + i]);
    KUGEL_CHECK(!__builtin_mul_overflow(bytes, im->chunk[2 + i], &bytes) && bytes < (int64_t)1 << 32,
                KUGEL_EINVAL, "a chunk has 4 GB or more: give a smaller chunk");
  }
  im->chunk[0] = im->chunk[1] = 1;
  if (imaris && t.code == KUGEL_UINT && t.bits <= 16) {
    h->bins = kugel__calloc(im->ctx, (size_t)(im->info.shape[0] * im->info.shape[1]) * KUGEL__HDF5_BINS * 8);
    KUGEL_CHECK(h->bins, KUGEL_ENOMEM, "no memory for histograms of %lld volumes",
                (long long)(im->info.shape[0] * im->info.shape[1]));
  }
  return KUGEL_OK;
}

kugel_status kugel__hdf5_create(kugel_image *im)
{
  kugel__hdf5 *h = kugel__calloc(im->ctx, sizeof *h);
  KUGEL_CHECK(h, KUGEL_ENOMEM, "no memory for an HDF5 file");
  im->state = h;
  im->close = kugel__hdf5_close;
  im->put = put_piece;
  im->finish = finish;
  h->file = h->dataset = -1;
  h->rank = 3;
  h->layout = im->opts.format == KUGEL_IMAGE_IMARIS ? KUGEL__HDF5_IMARIS : KUGEL__HDF5_BDV;
  if (im->supposed)
    return choose(im, h);
  KUGEL_TRY(kugel__replace_name(&im->file)); // HDF5 opens no file without one
  kugel__hdf5_enter();
  kugel_status s = choose(im, h);
  if (!s) {
    h->file = H5Fcreate(im->file.temp, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    bool good =
        h->file >= 0 && make_datasets(im, h) && (h->layout == KUGEL__HDF5_IMARIS || make_tables(im, h));
    if (!good)
      s = kugel__io_fail("write", im->path, 0);
  }
  kugel__hdf5_leave();
  return s;
}
