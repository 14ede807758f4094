/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix pixel weights: the files of the HEALPix distribution, vanishing means, bad input. */
#include <complex.h>
#include <kugel/alm.h>
#include <kugel/sphere.h>
#include "core/alloc.h"
#include "sphere/alm/kept.h"
#include "sphere/golden.h"

static kugel_sht *plan(int64_t nside, int64_t lmax)
{
  kugel_grid *grid = NULL;
  kugel_sht *sht = NULL;
  kugel_grid_opts g = {.size = sizeof g, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  CHECK_OK(kugel_grid_create(NULL, &g, &grid));
  kugel_sht_opts o = {.size = sizeof o, .grid = grid, .lmax = lmax};
  CHECK_OK(kugel_sht_create(NULL, &o, &sht));
  kugel_grid_destroy(grid);
  return sht;
}

/* The compressed list of the files from a full map: half the pixels of a quadrant, northern rings. */
static int64_t compress(int64_t nside, const double *w, double *out)
{
  int64_t n = 0, at = 0;
  for (int64_t i = 1; i <= 2 * nside; i++) {
    const int64_t q = i < nside ? i : nside, half = i < nside || ((i - nside) & 1) == 0;
    for (int64_t j = 0; j < (half ? (q + 1) / 2 : q / 2 + 1); j++)
      out[n++] = w[at + j];
    at += 4 * q;
  }
  return n;
}

/* T of the real sky map, nside 32: 12 rows of 3 x 1024 floats, read as doubles of two each. */
static double *sky(void)
{
  double *raw = golden_fits("sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits", 5760, 12 * 3 * 512);
  double *map = raw ? malloc(12288 * sizeof *map) : NULL;
  for (int i = 0; i < 12288 && raw; i++) {
    uint64_t two;
    float f;
    memcpy(&two, raw + i / 1024 * 1536 + i % 1024 / 2, 8);
    const uint32_t one = i & 1 ? (uint32_t)two : (uint32_t)(two >> 32);
    memcpy(&f, &one, 4);
    map[i] = f;
  }
  free(raw);
  return map;
}

/* alm = adjoint of the weighted map, against a golden; returns the error relative to the largest coefficient.
 */
static double analysis_error(const double *map, const double *w, int64_t lmax, const char *golden)
{
  const int64_t n = kugel_alm_count(lmax, -1);
  size_t bytes;
  double *want = golden_npy(golden, &bytes), weighted[12288], worst = 0, scale = 0;
  double *a = malloc((size_t)(2 * n) * sizeof *a);
  kugel_sht *sht = plan(32, lmax);
  for (int i = 0; i < 12288; i++)
    weighted[i] = map[i] * w[i] * 4 * M_PI / 12288;
  CHECK_OK(kugel_sht_synthesis_adjoint(sht, KUGEL_ARRAY(weighted, KUGEL_F64, 12288),
                                       KUGEL_ARRAY(a, KUGEL_C128, n), NULL));
  for (int64_t i = 0; i < 2 * n && want; i++) {
    worst = fmax(worst, fabs(a[i] - want[i]));
    scale = fmax(scale, fabs(want[i]));
  }
  kugel_sht_destroy(sht);
  free(a);
  free(want);
  return scale > 0 ? worst / scale : 0;
}

int main(void)
{
  setenv("KUGEL_CACHE", "off", 1); // what is kept by others shall not count
  CASE("analysis of the real sky with ring and pixel weights is healpy's")
  {
    double *map = sky(), w[12288], ring[127];
    if (map) {
      CHECK_OK(kugel_healpix_pixel_weights(NULL, 32, w));
      CHECK_LE(analysis_error(map, w, 64, "sphere/golden/sht/alm_T_l64_i0_pixw.npy"), 1e-12);
      CHECK_LE(analysis_error(map, w, 95, "sphere/golden/sht/alm_T_l95_i0_pixw.npy"), 1e-12);
      CHECK_OK(kugel_healpix_ring_weights(NULL, 32, ring));
      for (int i = 1, at = 0; i < 128; i++) {
        const int q = i < 32 ? i : i > 96 ? 128 - i : 32;
        for (int j = 0; j < 4 * q; j++)
          w[at++] = ring[i - 1];
      }
      CHECK_LE(analysis_error(map, w, 64, "sphere/golden/sht/alm_T_l64_i0_ringw.npy"), 1e-12);
      CHECK_LE(analysis_error(map, w, 95, "sphere/golden/sht/alm_T_l95_i0_ringw.npy"), 1e-12);
    }
    free(map);
  }
  CASE("pixel weights of the HEALPix files, which stop at 1e-8")
  {
    for (int64_t nside = 16; nside <= 32; nside *= 2) {
      char name[99];
      snprintf(name, sizeof name, "sphere/quadrature/weight_pixel_n%05d.fits", (int)nside);
      const size_t count = (size_t)((3 * nside + 1) * (nside + 1) / 4);
      double *want = golden_fits(name, 5760, count);
      double *w = malloc((size_t)(12 * nside * nside) * sizeof *w), *c = malloc(2 * count * sizeof *c);
      CHECK_OK(kugel_healpix_pixel_weights(NULL, nside, w));
      CHECK((size_t)compress(nside, w, c) == count);
      double worst = 0;
      for (size_t i = 0; i < count && want; i++)
        worst = fmax(worst, fabs(c[i] - 1 - want[i]));
      if (getenv("VERBOSE"))
        printf("nside %d: %.3g\n", (int)nside, worst);
      CHECK_LE(worst, 2e-7);
      free(want);
      free(w);
      free(c);
    }
  }
  CASE("means of w Y_lm vanish up to degree 3 nside")
  {
    for (int64_t nside = 1; nside <= 64; nside += nside < 9 ? 1 : nside < 24 ? 15 : 40) {
      const int64_t npix = 12 * nside * nside, lmax = nside == 2 ? 4 : 3 * nside,
                    n = kugel_alm_count(lmax, -1);
      double *w = malloc((size_t)npix * sizeof *w);
      double complex *a = malloc((size_t)n * sizeof *a);
      kugel_sht *sht = plan(nside, lmax);
      CHECK_OK(kugel_healpix_pixel_weights(NULL, nside, w));
      CHECK_OK(kugel_sht_synthesis_adjoint(sht, KUGEL_ARRAY(w, KUGEL_F64, npix),
                                           KUGEL_ARRAY(a, KUGEL_C128, n), NULL));
      a[0] -= (double)npix / sqrt(4 * M_PI);
      double sum = 0;
      for (int64_t i = 0; i < n; i++)
        sum += (i > lmax ? 2 : 1) * creal(a[i] * conj(a[i]));
      if (getenv("VERBOSE"))
        printf("nside %d: quadrature %.3g\n", (int)nside, sqrt(4 * M_PI * sum) / (double)npix);
      CHECK_LE(sqrt(4 * M_PI * sum) / (double)npix, nside < 24 ? 1e-13 : 1e-12);
      kugel_sht_destroy(sht);
      free(w);
      free(a);
    }
  }
  CASE("bad input, failing allocations")
  {
    double w[48];
    CHECK_IS(kugel_healpix_pixel_weights(NULL, 0, w), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_pixel_weights(NULL, 1 << 20, w), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_pixel_weights(NULL, 2, NULL), KUGEL_EINVAL);
    int64_t i = 1;
    for (; i < 200; i++) {
      kugel_ctx_trim(NULL);
      kugel__kept_forget();
      kugel__fault_alloc(i);
      kugel_status s = kugel_healpix_pixel_weights(NULL, 2, w);
      kugel__fault_alloc(0);
      if (s == KUGEL_OK)
        break;
      CHECK_IS(s, KUGEL_ENOMEM);
    }
    CHECK(i > 4 && i < 200);
  }
  END();
}
