/* SPDX-License-Identifier: BSD-3-Clause */
/* Stacks written in boxes of any order and read back in others, in every format; metadata; conversions; a full disk. */
#include "stack/kinds.h"

static void check_metadata(int k)
{
  kugel_image *im;
  kugel_image_info info = {.size = sizeof info};
  CHECK_OK(kugel_image_open(NULL, named(kinds[k].name), NULL, &im));
  if (!im)
    return;
  CHECK_OK(kugel_image_get_info(im, &info));
  CHECK(info.shape[0] == T && info.shape[1] == C && info.shape[2] == Z && info.shape[3] == Y &&
        info.shape[4] == X);
  CHECK(info.dtype.code == KUGEL_UINT && info.dtype.bits == 16);
  if (info.format != KUGEL_IMAGE_NPY) {
    CHECK_LE(fabs(info.voxel[0] - 0.3), 1e-12);
    CHECK_LE(fabs(info.voxel[1] - 0.13), 1e-8);
    CHECK_LE(fabs(info.voxel[2] - 0.1299), 1e-8);
    if (info.format != KUGEL_IMAGE_BDV) // which has none
      CHECK_LE(fabs(info.time_step - 2.5), 1e-12);
    for (int c = 0; c < C; c++)
      CHECK(!strcmp(info.channel_names[c], names[c]));
  }
  // a box, as float, transposed
  float box[3 * 20 * 7];
  int64_t lo[3] = {1, 6, 13}, n[3] = {3, 20, 7}, wrong = 0;
  kugel_array a = {box, {KUGEL_CPU, 0}, 3, KUGEL_F32, n, (int64_t[]){1, 3, 60}, 0};
  CHECK_OK(kugel_image_read(im, 1, 2, lo, n, &a));
  for (int z = 0; z < 3; z++)
    for (int y = 0; y < 20; y++)
      for (int x = 0; x < 7; x++)
        wrong +=
            (uint16_t)box[z + 3 * y + 60 * x] != data[(((1 * C + 2) * Z + z + 1) * Y + y + 6) * X + x + 13];
  CHECK(wrong == 0);
  lo[2] = X - 6;
  CHECK_IS(kugel_image_read(im, 0, 0, lo, n, &a), KUGEL_EINVAL);
  CHECK_IS(kugel_image_read(im, T, 0, lo, n, &a), KUGEL_EINVAL);
  CHECK_OK(kugel_image_close(im, 1));
}

static void check_errors(void)
{
  kugel_image *im;
  kugel_image_opts o = {.size = sizeof o, .shape = {1, 1, 2, 3, 4}, .dtype = KUGEL_U16};
  CHECK_IS(kugel_image_create(NULL, named("a.xyz"), &o, &im), KUGEL_EINVAL);
  o.compression = KUGEL_COMPRESS_BLOSC;
  CHECK_IS(kugel_image_create(NULL, named("a.tif"), &o, &im), KUGEL_ENOTSUP);
  o.compression = 0;
  o.shape[2] = 0;
  CHECK_IS(kugel_image_create(NULL, named("a.tif"), &o, &im), KUGEL_EINVAL);
  CHECK_IS(kugel_image_open(NULL, named("none.tif"), NULL, &im), KUGEL_EIO);
  CHECK(im == NULL && strstr(kugel_last_error(), "none.tif"));
  o.shape[2] = 2;
  o.compression = KUGEL_COMPRESS_ZSTD;
  CHECK_OK(kugel_image_create(NULL, named("b.tif"), &o, &im));
  int64_t lo[3] = {0}, n[3] = {2, 3, 4};
  CHECK_OK(kugel_image_write(im, 0, 0, lo, n, KUGEL_ARRAY(data, KUGEL_U16, 2, 3, 4)));
  CHECK_IS(kugel_image_write(im, 0, 0, lo, n, KUGEL_ARRAY(data, KUGEL_U16, 2, 3, 4)), KUGEL_EINVAL);
  CHECK_IS(kugel_image_write(im, 0, 0, lo, n, KUGEL_ARRAY(data, KUGEL_U16, 2, 3, 3)), KUGEL_ESHAPE);
  CHECK_OK(kugel_image_close(im, 0));
  CHECK(access(named("b.tif"), F_OK) != 0 && count_files(folder) == 0);
}

/* Values that are not of the type: nearest, ties to even, saturated; NaN 0; counted. Never written: 0. */
static void check_conversion(void)
{
  const double x[8] = {-3, 0.5, 1.5, 254.5, 255.4, 300, NAN, -0.4};
  const uint8_t want[8] = {0, 0, 2, 254, 255, 255, 0, 0};
  uint8_t out[16];
  kugel_image *im;
  kugel_image_info info = {.size = sizeof info};
  kugel_image_opts o = {
      .size = sizeof o, .shape = {1, 1, 1, 2, 8}, .dtype = KUGEL_U8, .compression = KUGEL_COMPRESS_LZW};
  int64_t lo[3] = {0, 1, 0}, n[3] = {1, 1, 8};
  CHECK_OK(kugel_image_create(NULL, named("c.tif"), &o, &im));
  CHECK_OK(kugel_image_write(im, 0, 0, lo, n, KUGEL_ARRAY(x, KUGEL_F64, 8)));
  CHECK_OK(kugel_image_get_info(im, &info));
  CHECK(info.clipped == 3);
  CHECK_OK(kugel_image_close(im, 1));
  CHECK_OK(kugel_image_open(NULL, named("c.tif"), NULL, &im));
  lo[1] = 0;
  n[1] = 2;
  CHECK_OK(kugel_image_read(im, 0, 0, lo, n, KUGEL_ARRAY(out, KUGEL_U8, 2, 8)));
  CHECK(!memcmp(out + 8, want, 8) && out[0] == 0 && out[7] == 0);
  kugel_image_close(im, 1);
  unlink(named("c.tif"));
}

static void full_disk(int k)
{
  struct rlimit old, small;
  struct stat st;
  CHECK_OK(write_kind(NULL, k, false));
  CHECK(stat(named(kinds[k].name), &st) == 0);
  int files = count_files(folder);
  getrlimit(RLIMIT_FSIZE, &old);
#ifdef __SANITIZE_THREAD__ // which makes zstd's clearing of 8 MB per chunk dear
  const int step = 7;
#else
  const int step = 1;
#endif
  for (int i = 0; i < 20; i += step) {
    small = old;
    small.rlim_cur = (rlim_t)(st.st_size * i / 20);
    setrlimit(RLIMIT_FSIZE, &small);
    kugel_status s = write_kind(NULL, k, false);
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK_IS(s, KUGEL_EIO);
    CHECK(count_files(folder) == files);
  }
  CHECK_OK(read_back(NULL, named(kinds[k].name))); // the old one
  CHECK(!memcmp(got, data, sizeof data));
}

int main(void)
{
  begin();
  CASE("every format, boxes in any order")
  {
    for (int k = 0; k < kinds_here(); k++)
      for (int odd = 0; odd < 2; odd++) {
        memset(got, 0, sizeof got);
        CHECK_OK(write_kind(NULL, k, odd));
        CHECK_OK(read_back(NULL, named(kinds[k].name)));
        CHECK(!memcmp(got, data, sizeof data));
        check_metadata(k);
        clear();
      }
  }
  CASE("errors") check_errors();
  CASE("conversions") check_conversion();
  CASE("full disk")
  {
    for (int k = 0; k < ZARR; k++)
      if (kinds[k].compression != KUGEL_COMPRESS_DEFLATE || !k ||
          k == 1) { // elsewhere a larger temporary fills it
        full_disk(k);
        clear();
      }
  }
  rmdir(folder);
  END();
}
