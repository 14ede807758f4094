/* SPDX-License-Identifier: BSD-3-Clause */
/* Every sample file reads with the values that astropy and healpy find in it. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>
#include <kugel/io.h>

#define UNSEEN (-1.6375e30)

/* Values of the last column in RING order: one pixel, the sum of those that are seen, the number that are
 * not. */
static const struct {
  const char *path;
  int64_t nside;
  const char *order;
  int64_t ncolumns, pixel;
  double value, sum;
  int64_t unseen;
} maps[] = {
    {"sphere/golden/fits/map_nest_f4.fits", 32, "NEST", 1, 7168, -0.058179568499326706, 872.07127843470516,
     0},
    {"sphere/golden/fits/map_ring_f8.fits", 16, "RING", 3, 1792, 0.0064770590979605913, -1.284197991290057,
     0},
    {"sphere/golden/fits/map_partial_f4.fits", 32, "RING", 1, 7168, UNSEEN, 135.76959503196485, 4686},
    {"sphere/golden/fits/map_int_ns4.fits.gz", 4, "RING", 1, 112, 112, 18336, 0},
    {"sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits", 32, "RING", 3, 7168, 0.011211667209863663,
     -5.1367919651602278, 0},
    {"sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32_masked.fits", 32, "RING", 3, 7168, UNSEEN,
     -3.3941083485306081, 4686},
    {"sphere/sky/wmap_temperature_analysis_mask_r9_7yr_v4_udgraded32.fits", 32, "RING", 3, 7168, 0, 7602, 0},
    {"sphere/sky/gaiadr3.nside64.densmap.fits", 64, "NEST", 1, 28672, 3761, 1811709771, 0},
    {"sphere/sky/map_synfast_seed12345.fits", 32, "RING", 3, 7168, 0.0038713980466127396, 1.9044301791676475,
     0},
    {"sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32_masked_smoothed10deg_fortran.fits", 32, "RING", 3,
     7168, -0.000272654666332528, -3.3761768512651233, 0},
    {"sphere/healpix_fortran_test/map.fits", 128, "RING", 3, 114688, -0.19067241251468658,
     -0.51594372063118499, 0},
    {"sphere/healpix_fortran_test/map_LOres.fits", 4, "RING", 3, 112, 0.34664717316627502,
     -0.00050396332517266273, 0},
    {"sphere/healpix_fortran_test/map_ext.fits", 4, "RING", 1, 112, 0, 12.59597110748291, 0},
    {"sphere/healpix_fortran_test/mask.fits", 16, "RING", 1, 1792, 1, 3044, 0},
    {"sphere/thirdparty_golden/healpix_jl/float_map.fits", 4, "RING", 1, 112, 112, 18336, 0},
    {"sphere/thirdparty_golden/healpix_jl/float_map_nest.fits", 4, "NEST", 1, 112, 112, 18336, 0},
    {"sphere/thirdparty_golden/healpix_jl/int_map.fits", 1, "RING", 1, 7, 7, 66, 0},
    {"sphere/thirdparty_golden/healpix_jl/many_columns.fits", 1, "RING", 4, 7, 31, 354, 0},
    {"sphere/thirdparty_golden/healpix_jl/pol_float_map.fits", 1, "RING", 3, 7, 31, 354, 0},
};

static double sum_seen(const double *map, int64_t n, int64_t *unseen)
{
  double sum = 0;
  *unseen = 0;
  for (int64_t k = 0; k < n; k++) {
    if (map[k] == UNSEEN)
      ++*unseen;
    else
      sum += map[k];
  }
  return sum;
}

static void check_map(kugel_fits *file, int i)
{
  const kugel_fits_info *info = kugel_fits_get_info(file);
  CHECK(info->kind == KUGEL_FITS_MAP);
  CHECK(info->nside == maps[i].nside && info->ncolumns == maps[i].ncolumns &&
        info->npix == 12 * info->nside * info->nside);
  CHECK(info->order == (maps[i].order[0] == 'N' ? KUGEL_ORDER_NESTED : KUGEL_ORDER_RING));
  int64_t n = info->npix, nc = info->ncolumns, unseen;
  double *all = malloc((size_t)(n * nc) * 8), *one = malloc((size_t)n * 8);
  float *narrow = malloc((size_t)n * 4);
  CHECK_OK(kugel_fits_read_maps(file, nc, NULL, KUGEL_ORDER_RING, KUGEL_ARRAY(all, KUGEL_F64, nc, n)));
  const double *last = all + (nc - 1) * n;
  CHECK(last[maps[i].pixel] == maps[i].value);
  double sum = sum_seen(last, n, &unseen);
  CHECK(unseen == maps[i].unseen);
  CHECK_LE(fabs(sum - maps[i].sum), 1e-11 * (fabs(maps[i].sum) + 1));
  int64_t column = nc - 1;
  CHECK_OK(kugel_fits_read_maps(file, 1, &column, KUGEL_ORDER_RING, KUGEL_ARRAY(one, KUGEL_F64, n)));
  CHECK(!memcmp(one, last, (size_t)n * 8));
  CHECK_OK(kugel_fits_read_maps(file, 1, &column, KUGEL_ORDER_RING, KUGEL_ARRAY(narrow, KUGEL_F32, n)));
  int same = 1;
  for (int64_t k = 0; k < n; k++)
    same = same && narrow[k] == (float)last[k];
  CHECK(same);
  kugel_fits_column c;
  CHECK_OK(kugel_fits_get_column(file, column, &c));
  int64_t found = -1;
  CHECK_OK(kugel_fits_find_column(file, c.name, &found));
  CHECK(found == column);
  free(all);
  free(one);
  free(narrow);
}

static const struct {
  const char *path;
  int64_t nspectra, lmax, l;
  double value, sum;
} spectra[] = {
    {"sphere/golden/fits/cl_TEB.fits", 6, 64, 21, 5.1135231450955989e-07, -5.8262698461336496e-05},
    {"sphere/healpix_fortran_test/cl.fits", 4, 3000, 1000, -0.00017011553, 10.470518609545854},
    {"sphere/healpix_fortran_test/cl_out.fits", 6, 256, 85, 6.6355027000000001e-10, -5.4947560311599998e-08},
    {"sphere/sky/cl_wmap_band_iqumap_r9_7yr_W_v4_udgraded32_IQU_lmax64_rmmono_3iter.fits", 6, 64, 21,
     6.9442746000000001e-10, 1.122672358902e-06},
    {"sphere/quadrature/pixel_window_n0032.fits", 2, 128, 43, 0.91710744426135682, 99.839537922790427},
    {"sphere/thirdparty_golden/healpix_jl/Cltest.fits", 1, 20, 7, 7, 210},
    {"sphere/sky/gaussbeam_10arcmin_lmax512_pol.fits", 4, 512, 100, 0.9923251442349266, 480.6389045739215},
    {"sphere/sky/totcls.dat", 4, 2200, 2, 0.36347E+01, NAN},
};

static double npy_max_error(const char *path, const double *got, int64_t n)
{
  double *want = malloc((size_t)n * 8), worst = 0;
  kugel_status s = kugel_npy_read(NULL, path, KUGEL_ARRAY(want, KUGEL_F64, n));
  for (int64_t k = 0; k < n; k++)
    worst = fmax(worst, fabs(got[k] - want[k]));
  free(want);
  return s ? NAN : worst;
}

static void *read_often(void *file)
{
  static const int64_t n = 12288;
  double *map = malloc((size_t)(3 * n) * 8), sum = 0;
  for (int i = 0; i < 5; i++)
    if (kugel_fits_read_maps(file, 3, NULL, KUGEL_ORDER_NESTED, KUGEL_ARRAY(map, KUGEL_F64, 3, n)))
      sum = NAN;
  for (int64_t k = 2 * n; k < 3 * n; k++)
    sum += map[k];
  free(map);
  return fabs(sum + 5.1367919651602278) < 1e-9 ? file : NULL;
}

int main(void)
{
  for (int i = 0; i < (int)(sizeof maps / sizeof *maps); i++)
    CASE(maps[i].path)
    {
      const char *path = check_shared(maps[i].path);
      kugel_fits *file = NULL;
      if (!path) {
        SKIP("no shared data");
        continue;
      }
      CHECK_OK(kugel_fits_open(NULL, path, NULL, &file));
      if (file)
        check_map(file, i);
      kugel_fits_close(file);
    }
  for (int i = 0; i < (int)(sizeof spectra / sizeof *spectra); i++)
    CASE(spectra[i].path)
    {
      const char *path = check_shared(spectra[i].path);
      kugel_cl_info info;
      if (!path) {
        SKIP("no shared data");
        continue;
      }
      CHECK_OK(kugel_cl_inspect(NULL, path, &info));
      CHECK(info.nspectra == spectra[i].nspectra);
      if (!isnan(spectra[i].sum))
        CHECK(info.lmax == spectra[i].lmax);
      int64_t n = info.lmax + 1;
      double *cl = malloc((size_t)(n * info.nspectra) * 8), sum = 0;
      CHECK_OK(kugel_cl_read(NULL, path, 0, info.nspectra, info.lmax, cl));
      const double *last = cl + (info.nspectra - 1) * n;
      CHECK(fabs(last[spectra[i].l] - spectra[i].value) <= 1e-15 * fabs(spectra[i].value));
      for (int64_t l = 0; l < n; l++)
        sum += last[l];
      if (!isnan(spectra[i].sum))
        CHECK_LE(fabs(sum - spectra[i].sum), 1e-13 * fabs(spectra[i].sum));
      CHECK_OK(kugel_cl_read(NULL, path, 1, 1, 5, cl));
      CHECK_IS(kugel_cl_read(NULL, path, 0, info.nspectra + 1, 5, cl), KUGEL_EINVAL);
      free(cl);
    }

  CASE("a_lm of three components in doubles")
  {
    const char *path = check_shared("sphere/golden/fits/alm_TEB_f8.fits");
    kugel_fits *file = NULL;
    if (!path) {
      SKIP("no shared data");
    } else {
      CHECK_OK(kugel_fits_open(NULL, path, NULL, &file));
      const kugel_fits_info *info = kugel_fits_get_info(file);
      CHECK(info && info->kind == KUGEL_FITS_ALM && info->lmax == 64 && info->mmax == 64 &&
            info->ncomponents == 3);
      double alm[3][2 * 2145], cut[2 * 153];
      for (int c = 0; c < 3; c++)
        CHECK_OK(kugel_fits_read_alm(file, c, 64, 64, KUGEL_ARRAY(alm[c], KUGEL_C128, 2145)));
      /* index(l,m) at lmax 16 and 64 */
      CHECK_OK(kugel_fits_read_alm(file, 1, 16, 16, KUGEL_ARRAY(cut, KUGEL_C128, 153)));
      for (int m = 0; m <= 16; m++)
        for (int l = m; l <= 16; l++)
          CHECK(cut[2 * (m * (33 - m) / 2 + l)] == alm[1][2 * (m * (129 - m) / 2 + l)]);
      CHECK_IS(kugel_fits_read_alm(file, 3, 64, 64, KUGEL_ARRAY(alm[0], KUGEL_C128, 2145)), KUGEL_EINVAL);
      CHECK_IS(kugel_fits_read_alm(file, 0, 64, 65, KUGEL_ARRAY(alm[0], KUGEL_C128, 2145)), KUGEL_EINVAL);
      CHECK_IS(kugel_fits_read_alm(file, 0, 64, 64, KUGEL_ARRAY(alm[0], KUGEL_C128, 2144)), KUGEL_ESHAPE);
      kugel_fits_close(file);
      path = check_shared("sphere/golden/sht/alm_TEB_l64_i3.npy");
      double want[3][2 * 2145];
      CHECK_OK(kugel_npy_read(NULL, path, KUGEL_ARRAY(want, KUGEL_C128, 3, 2145)));
      CHECK(!memcmp(want, alm, sizeof want));
    }
  }

  CASE("a_lm in floats with a smaller mmax")
  {
    const char *path = check_shared("sphere/golden/fits/alm_T_cut_f4.fits");
    kugel_fits *file = NULL;
    if (!path) {
      SKIP("no shared data");
    } else {
      CHECK_OK(kugel_fits_open(NULL, path, NULL, &file));
      const kugel_fits_info *info = kugel_fits_get_info(file);
      CHECK(info && info->lmax == 32 && info->mmax == 16 && info->ncomponents == 1);
      float alm[2 * 2145];
      CHECK_OK(kugel_fits_read_alm(file, 0, 64, 64, KUGEL_ARRAY(alm, KUGEL_C64, 2145)));
      CHECK(alm[2 * 33] == 0 && alm[2 * 2] != 0 && alm[2 * (17 * (129 - 17) / 2 + 20)] == 0);
      kugel_fits_close(file);
    }
  }

  CASE("HEALPix Fortran a_lm")
  {
    const char *path = check_shared("sphere/healpix_fortran_test/alm.fits");
    kugel_fits *file = NULL;
    if (!path) {
      SKIP("no shared data");
    } else {
      CHECK_OK(kugel_fits_open(NULL, path, NULL, &file));
      const kugel_fits_info *info = kugel_fits_get_info(file);
      CHECK(info && info->kind == KUGEL_FITS_ALM && info->lmax == 256 && info->mmax == 256 &&
            info->ncomponents == 3);
      CHECK(info && !strcmp(info->coordsys, "unknown"));
      char text[80];
      CHECK_OK(kugel_fits_get_keyword(file, "MAX-LPOL", text, sizeof text));
      CHECK(!strcmp(text, "256"));
      CHECK_IS(kugel_fits_get_keyword(file, "NOSUCH", text, sizeof text), KUGEL_EINVAL);
      kugel_fits_close(file);
    }
  }

  CASE("maps are the golden arrays, partial ones list their pixels")
  {
    const char *path = check_shared("sphere/golden/fits/map_nest_f4.fits");
    kugel_fits *file = NULL;
    if (!path) {
      SKIP("no shared data");
    } else {
      static double map[12288], values[7602];
      static int64_t pixels[7602];
      CHECK_OK(kugel_fits_open(NULL, path, NULL, &file));
      CHECK_OK(kugel_fits_read_maps(file, 1, NULL, KUGEL_ORDER_ANY, KUGEL_ARRAY(map, KUGEL_F64, 12288)));
      CHECK_LE(npy_max_error(check_shared("sphere/golden/regrid/T_nest.npy"), map, 12288), 1e-7);
      kugel_fits_column c;
      CHECK_OK(kugel_fits_get_column(file, 0, &c));
      CHECK(!strcmp(c.unit, "mK") && !strcmp(c.name, "TEMPERATURE") && c.repeat == 1024 &&
            c.dtype.bits == 32);
      CHECK(!strcmp(kugel_fits_get_info(file)->coordsys, "G"));
      kugel_fits_close(file);
      CHECK_OK(kugel_fits_open(NULL, check_shared("sphere/golden/fits/map_partial_f4.fits"), NULL, &file));
      const kugel_fits_info *info = kugel_fits_get_info(file);
      CHECK(info->partial && info->nvalues == 7602 && info->ncolumns == 1);
      CHECK_OK(kugel_fits_read_maps(file, 1, NULL, KUGEL_ORDER_RING, KUGEL_ARRAY(map, KUGEL_F64, 12288)));
      CHECK_OK(kugel_fits_read_pixels(file, 0, 7602, pixels));
      CHECK_OK(kugel_fits_read_values(file, 0, 0, KUGEL_ARRAY(values, KUGEL_F64, 7602)));
      for (int k = 0; k < 7602; k++)
        CHECK(map[pixels[k]] == values[k]);
      CHECK_IS(kugel_fits_read_pixels(file, 1, 7602, pixels), KUGEL_EINVAL);
      kugel_fits_close(file);
    }
  }

  CASE("integers keep their values, and say when they do not fit")
  {
    const char *path = check_shared("sphere/sky/gaiadr3.nside64.densmap.fits");
    kugel_fits *file = NULL;
    if (!path) {
      SKIP("no shared data");
    } else {
      static int32_t map[49152];
      static int64_t wide[49152];
      CHECK_OK(kugel_fits_open(NULL, path, NULL, &file));
      CHECK_OK(kugel_fits_read_maps(file, 1, NULL, KUGEL_ORDER_RING, KUGEL_ARRAY(map, KUGEL_I32, 49152)));
      CHECK_OK(kugel_fits_read_maps(file, 1, NULL, KUGEL_ORDER_RING, KUGEL_ARRAY(wide, KUGEL_I64, 49152)));
      CHECK(map[28672] == 3761 && wide[28672] == 3761);
      kugel_fits_close(file);
      CHECK_OK(kugel_fits_open(NULL, check_shared("sphere/golden/fits/map_nest_f4.fits"), NULL, &file));
      CHECK_IS(kugel_fits_read_maps(file, 1, NULL, KUGEL_ORDER_RING, KUGEL_ARRAY(map, KUGEL_I32, 12288)),
               KUGEL_EFORMAT);
      kugel_fits_close(file);
    }
  }

  CASE("threads share an open file")
  {
    const char *path = check_shared("sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits");
    kugel_fits *file = NULL;
    if (!path) {
      SKIP("no shared data");
    } else {
      pthread_t threads[4];
      CHECK_OK(kugel_fits_open(NULL, path, NULL, &file));
      for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, read_often, file) == 0);
      for (int i = 0; i < 4; i++) {
        void *right = NULL;
        pthread_join(threads[i], &right);
        CHECK(right == file);
      }
      kugel_fits_close(file);
    }
  }

  CASE("wrong arguments")
  {
    kugel_fits *file = (kugel_fits *)1;
    CHECK_IS(kugel_fits_open(NULL, NULL, NULL, &file), KUGEL_EINVAL);
    CHECK(!file);
    CHECK_IS(kugel_fits_open(NULL, "", NULL, &file), KUGEL_EINVAL);
    CHECK_IS(kugel_fits_open(NULL, "/no/such/file.fits", NULL, &file), KUGEL_EIO);
    CHECK(strstr(kugel_last_error(), "/no/such/file.fits") && strstr(kugel_last_error(), "No such file"));
    CHECK_IS(kugel_fits_open(NULL, "/tmp", NULL, &file), KUGEL_EIO);
    CHECK_IS(kugel_fits_open(NULL, "/dev/zero", NULL, &file), KUGEL_EIO);
    CHECK_IS(kugel_fits_open(NULL, "x", NULL, NULL), KUGEL_EINVAL);
    const char *path = check_shared("sphere/golden/fits/map_ring_f8.fits");
    if (path) {
      double map[12];
      int64_t none = 3, column = -1;
      kugel_fits_column c;
      CHECK_IS(
          kugel_fits_open(NULL, path, &(kugel_fits_opts){.size = sizeof(kugel_fits_opts), .hdu = 3}, &file),
          KUGEL_EINVAL);
      CHECK_IS(kugel_fits_open(NULL, path,
                               &(kugel_fits_opts){.size = sizeof(kugel_fits_opts), .extname = "Q"}, &file),
               KUGEL_EINVAL);
      CHECK_OK(kugel_fits_open(
          NULL, path, &(kugel_fits_opts){.size = sizeof(kugel_fits_opts), .extname = "XTENSION"}, &file));
      CHECK_IS(kugel_fits_read_maps(file, 1, &none, 0, KUGEL_ARRAY(map, KUGEL_F64, 3072)), KUGEL_EINVAL);
      CHECK_IS(kugel_fits_read_maps(file, 4, NULL, 0, KUGEL_ARRAY(map, KUGEL_F64, 4 * 3072)), KUGEL_EINVAL);
      CHECK_IS(kugel_fits_read_maps(file, 1, NULL, 0, KUGEL_ARRAY(map, KUGEL_F64, 12)), KUGEL_ESHAPE);
      CHECK_IS(kugel_fits_read_maps(file, 1, NULL, 0, NULL), KUGEL_EINVAL);
      CHECK_IS(kugel_fits_read_maps(file, 1, NULL, 7, KUGEL_ARRAY(map, KUGEL_F64, 3072)), KUGEL_EINVAL);
      CHECK_IS(kugel_fits_read_values(file, 0, 3070, KUGEL_ARRAY(map, KUGEL_F64, 3)), KUGEL_EINVAL);
      CHECK_OK(kugel_fits_read_values(file, 0, 3070, KUGEL_ARRAY(map, KUGEL_F64, 2)));
      CHECK_IS(kugel_fits_read_alm(file, 0, 2, 2, KUGEL_ARRAY(map, KUGEL_C128, 6)), KUGEL_EFORMAT);
      CHECK_IS(kugel_fits_find_column(file, "Z", &column), KUGEL_EINVAL);
      CHECK(strstr(kugel_last_error(), "Q_POLARISATION"));
      CHECK_OK(kugel_fits_find_column(file, "q_polarisation", &column));
      CHECK(column == 1);
      CHECK_OK(kugel_fits_find_column(file, "2", &column));
      CHECK(column == 2);
      CHECK_IS(kugel_fits_get_column(file, 3, &c), KUGEL_EINVAL);
      kugel_fits_close(file);
    }
    kugel_fits_close(NULL);
    CHECK(!kugel_fits_get_info(NULL));
  }
  END();
}
