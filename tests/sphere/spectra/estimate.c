/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandpowers: windows against couplings, the whole sky, recovery of spectra, pure components, contaminants. */
#include "check.h"
#include <kugel/kugel.h>

enum { NSIDE = 64, NPIX = 12 * NSIDE * NSIDE, L = 48, LM = 95, BANDS = 8, NALM = (L + 1) * (L + 2) / 2 };

static double map[2 * NPIX], mask[NPIX], w[LM + 1];
static kugel_complex alm[2 * NALM];
static kugel_grid *grid;

/* A cap of 50 degrees about a point off the axis, its edge by a window of 20 degrees. */
static void make_mask(void)
{
  double v[3];
  for (int64_t i = 0; i < NPIX; i++) {
    CHECK_OK(kugel_healpix_pix2vec(NULL, NSIDE, KUGEL_ORDER_RING, 1, &i, v));
    mask[i] = 0.6 * v[0] + 0.8 * v[2] > cos(0.9);
  }
  CHECK_OK(kugel_apodise(
      NULL, &(kugel_apodise_opts){.size = sizeof(kugel_apodise_opts), .nside = NSIDE, .radius = 0.35}, mask,
      mask));
  static kugel_complex a[(LM + 1) * (LM + 2) / 2];
  static double one[NPIX];
  for (int i = 0; i < NPIX; i++)
    one[i] = 1;
  kugel_masked_opts o = {.size = sizeof o, .grid = grid, .lmax = LM, .mask = mask, .iterations = 3};
  CHECK_OK(kugel_masked_alm(NULL, &o, one, a));
  CHECK_OK(kugel_alm_cl(NULL, LM, KUGEL_ALL, a, NULL, -1, w));
}

static void bands(int32_t *band)
{
  for (int l = 0; l <= L; l++)
    band[l] = l < 2 ? -1 : l - 2 < 6 * BANDS ? (l - 2) / 6 : -1;
}

static kugel_spectra *make(int s1, int s2, int pure_b, const double *mask_cl, double *factor, double *beam)
{
  static int32_t band[L + 1];
  bands(band);
  kugel_spectra_opts o = {.size = sizeof o,
                          .lmax = L,
                          .lmax_mask = LM,
                          .spin1 = s1,
                          .spin2 = s2,
                          .mask_cl = mask_cl,
                          .beam1 = beam,
                          .pure_b1 = pure_b && s1,
                          .pure_b2 = pure_b && s2,
                          .bands = BANDS,
                          .band = band,
                          .factor = factor};
  kugel_spectra *p = NULL;
  CHECK_OK(kugel_spectra_create(NULL, &o, &p));
  return p;
}

/* Windows times a spectrum are what decoupling makes of the coupled spectrum; bandpowers of a spectrum constant in bands are it. */
static void consistent(int s1, int s2, int pure)
{
  double factor[L + 1], beam[L + 1], cl[4 * (L + 1)], flat[4 * (L + 1)], coupled[4 * (L + 1)], got[4 * BANDS],
      want[4 * BANDS];
  uint64_t seed = 5;
  for (int l = 0; l <= L; l++) {
    factor[l] = l * (l + 1) / (2 * M_PI);
    beam[l] = exp(-l * (l + 1) * 2e-4);
  }
  kugel_spectra *p = make(s1, s2, pure, w, factor, beam);
  kugel_spectra_info info = {.size = sizeof info};
  CHECK_OK(kugel_spectra_get_info(p, &info));
  int n = (int)info.spectra;
  CHECK(n == (s1 ? 2 : 1) * (s2 ? 2 : 1) && info.bands == BANDS && info.condition < 1e4 &&
        info.mask_tail < 1e-4);
  for (int i = 0; i < n; i++)
    for (int l = 0; l <= L; l++) {
      cl[i * (L + 1) + l] = check_random(&seed);
      flat[i * (L + 1) + l] = l < 2 ? 0 : (1 + i + (l - 2) / 6) / factor[l]; // NOLINT: bands of six degrees
      if (l > 6 * BANDS + 1)
        flat[i * (L + 1) + l] = 0;
    }
  double *window = malloc((size_t)(n * BANDS * n * (L + 1)) * sizeof *window);
  CHECK_OK(kugel_spectra_windows(p, window));
  CHECK_OK(kugel_spectra_couple(p, cl, coupled));
  CHECK_OK(kugel_spectra_decouple(p, coupled, NULL, got));
  for (int i = 0; i < n * BANDS; i++) {
    want[i] = 0;
    for (int k = 0; k < n * (L + 1); k++)
      want[i] += window[i * n * (L + 1) + k] * cl[k];
  }
  CHECK_CLOSE(got, want, (size_t)(n * BANDS), 1e-12);
  CHECK_OK(kugel_spectra_couple(p, flat, coupled));
  CHECK_OK(kugel_spectra_decouple(p, coupled, NULL, got));
  for (int i = 0; i < n; i++)
    for (int b = 0; b < BANDS; b++)
      want[i * BANDS + b] = 1 + i + b;
  CHECK_CLOSE(got, want, (size_t)(n * BANDS), 1e-11);
  CHECK_OK(kugel_spectra_decouple(p, coupled, coupled, got)); /* all noise */
  for (int i = 0; i < n * BANDS; i++)
    CHECK(got[i] == 0);
  free(window);
  kugel_spectra_destroy(p);
}

/* Random E only; returns B's part of the pseudo-spectrum's power at degrees 2 to 20. */
static double leaked(int pure, int beyond)
{
  static double cl[L + 1];
  memset(alm, 0, sizeof alm);
  uint64_t seed = 11;
  for (int m = 0; m <= L; m++)
    for (int l = m < 2 ? 2 : m; l <= L; l++)
      alm[m * (2 * L + 1 - m) / 2 + l] =
          (check_random(&seed) + (m ? 1 : 0) * 1i * check_random(&seed)) / (l + 1);
  kugel_sht *p;
  CHECK_OK(kugel_sht_create(
      NULL,
      &(kugel_sht_opts){
          .size = sizeof(kugel_sht_opts), .grid = grid, .lmax = L, .mode = KUGEL_SHT_SPIN, .spin = 2},
      &p));
  CHECK_OK(kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_C128, 2, NALM), KUGEL_ARRAY(map, KUGEL_F64, 2, NPIX),
                               NULL));
  kugel_sht_destroy(p);
  kugel_masked_opts o = {.size = sizeof o,
                         .grid = grid,
                         .lmax = L,
                         .spin = 2,
                         .mask = mask,
                         .iterations = 3,
                         .pure_b = pure,
                         .beyond_mask = beyond,
                         .lmax_mask = LM};
  CHECK_OK(kugel_masked_alm(NULL, &o, map, alm));
  CHECK_OK(kugel_alm_cl(NULL, L, KUGEL_ALL, alm + NALM, NULL, -1, cl));
  double sum = 0;
  for (int l = 2; l <= 20; l++)
    sum += (2 * l + 1) * cl[l];
  return sum;
}

static void templates(void)
{
  static double t[3 * NPIX], before[NPIX];
  static kugel_complex a[NALM], b[NALM];
  uint64_t seed = 2;
  for (int i = 0; i < NPIX; i++) {
    before[i] = map[i] = check_random(&seed);
    t[i] = check_random(&seed);
    t[NPIX + i] = 2 * t[i]; /* says nothing new */
    t[2 * NPIX + i] = check_random(&seed);
    if (mask[i] == 0)
      t[i] = t[NPIX + i] = t[2 * NPIX + i] = NAN;
  }
  kugel_masked_opts o = {
      .size = sizeof o, .grid = grid, .lmax = L, .mask = mask, .templates = 3, .template_maps = t};
  CHECK_OK(kugel_masked_alm(NULL, &o, map, a));
  CHECK(!memcmp(map, before, sizeof before));
  for (int i = 0; i < NPIX; i++)
    map[i] = mask[i] == 0 ? KUGEL_UNSEEN : map[i] + 5 * t[i] - 3 * t[2 * NPIX + i];
  CHECK_OK(kugel_masked_alm(NULL, &o, map, b));
  CHECK_CLOSE((double *)b, (double *)a, 2 * NALM, 1e-12); /* contaminants leave no trace */
}

/* With a mask of ones and bands of one degree, bandpowers are the spectrum, and covariances those of the whole sky. */
static void whole_sky(void)
{
  double one[LM + 1] = {4 * M_PI}, cl[4 * (L + 1)], c2[4 * (L + 1)];
  int32_t band[L + 1];
  uint64_t seed = 4;
  for (int l = 0; l <= L; l++)
    band[l] = l < 2 ? -1 : l - 2;
  for (int i = 0; i < 4 * (L + 1); i++)
    c2[i] = cl[i] = check_random(&seed);
  memcpy(c2 + L + 1, c2 + 2 * (L + 1), sizeof *c2 * (L + 1)); /* EB = BE */
  kugel_spectra_opts o = {.size = sizeof o,
                          .lmax = L,
                          .lmax_mask = LM,
                          .spin1 = 2,
                          .spin2 = 2,
                          .mask_cl = one,
                          .bands = L - 1,
                          .band = band};
  kugel_spectra *p = NULL;
  CHECK_OK(kugel_spectra_create(NULL, &o, &p));
  double got[4 * (L - 1)], want[4 * (L - 1)], *cov = malloc(sizeof *cov * 16 * (L - 1) * (L - 1));
  CHECK_OK(kugel_spectra_decouple(p, cl, NULL, got));
  for (int i = 0; i < 4; i++)
    memcpy(want + i * (L - 1), cl + i * (L + 1) + 2, sizeof *cl * (L - 1));
  CHECK_CLOSE(got, want, 4 * (L - 1), 1e-13);
  kugel_covariance_opts co = {.size = sizeof co,
                              .lmax_mask = LM,
                              .mask_ac_bd = one,
                              .mask_ad_bc = one,
                              .cl_ac = c2,
                              .cl_ad = c2,
                              .cl_bc = c2,
                              .cl_bd = c2};
  CHECK_OK(kugel_spectra_covariance(p, p, &co, cov));
  double worst = 0, largest = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int b = 0; b < L - 1; b++)
        for (int e = 0; e < L - 1; e++) {
          const double *c = c2 + b + 2;
          int n = L + 1, a1 = i / 2, b1 = i % 2, a2 = j / 2, b2 = j % 2;
          double is = cov[((i * (L - 1) + b) * 4 + j) * (L - 1) + e];
          double should = b == e ? (c[(2 * a1 + a2) * n] * c[(2 * b1 + b2) * n] +
                                    c[(2 * a1 + b2) * n] * c[(2 * b1 + a2) * n]) /
                                       (2 * (b + 2) + 1)
                                 : 0;
          worst = fmax(worst, fabs(is - should));
          largest = fmax(largest, fabs(should));
        }
  CHECK_LE(worst / largest, 1e-13);
  free(cov);
  kugel_spectra_destroy(p);
}

int main(void)
{
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE},
      &grid));
  make_mask();
  CASE("windows, couplings and bandpowers agree")
  {
    for (int pure = 0; pure < 2; pure++) {
      consistent(0, 0, pure);
      consistent(0, 2, pure);
      consistent(2, 0, pure);
      consistent(2, 2, pure);
    }
    consistent(1, 3, 0);
  }
  CASE("the whole sky: spectra and covariances")
  {
    whole_sky();
  }
  CASE("pure B does not see E")
  {
    double plain = leaked(0, 0), pure = leaked(1, 0), beyond = leaked(1, 1);
    printf("  leaked %.2e, purified %.2e, with the map beyond the mask %.2e\n", plain, pure, beyond);
    CHECK_LE(pure / plain, 1e-4);
    CHECK_LE(beyond / plain, 2e-5);
  }
  CASE("templates are removed")
  {
    templates();
  }
  kugel_grid_destroy(grid);
  END();
}
