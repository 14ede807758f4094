/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Transforms: bad input, bad pixels, cancellation, allocation failures, smoothing. */
#include "check.h"
#include "core/alloc.h"
#include "core/parallel.h"
#include "sphere/info.h"
#include <kugel/sphere.h>

static kugel_grid *healpix(int64_t nside)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static int stop(double fraction, const char *stage, void *user)
{
  (void)stage;
  (void)user;
  return fraction > 0.1;
}

int main(void)
{
  enum { NSIDE = 8, NPIX = 12 * NSIDE * NSIDE, LMAX = 16, NALM = (LMAX + 1) * (LMAX + 2) / 2 };
  static double map[3 * NPIX], out[3 * NPIX], alm[6 * NALM];
  kugel_grid *g = healpix(NSIDE);
  CASE("bad options are named")
  {
    kugel_sht *p = (kugel_sht *)1;
    kugel_sht_opts o = {.size = sizeof o, .lmax = 4};
    CHECK_IS(kugel_sht_create(NULL, &o, &p), KUGEL_EINVAL);
    CHECK(!p && strstr(kugel_last_error(), "grid"));
    o = (kugel_sht_opts){.size = sizeof o, .grid = g, .lmax = -2};
    CHECK_IS(kugel_sht_create(NULL, &o, &p), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "-2") != NULL);
    o = (kugel_sht_opts){.size = sizeof o, .grid = g, .lmax = 4, .mmax = 5};
    CHECK_IS(kugel_sht_create(NULL, &o, &p), KUGEL_EINVAL);
    o = (kugel_sht_opts){.size = sizeof o, .grid = g, .lmax = 4, .mode = KUGEL_SHT_SPIN};
    CHECK_IS(kugel_sht_create(NULL, &o, &p), KUGEL_EINVAL);
    o = (kugel_sht_opts){.size = sizeof o, .grid = g, .lmax = 4, .mode = (kugel_sht_mode)9};
    CHECK_IS(kugel_sht_create(NULL, &o, &p), KUGEL_EINVAL);
    CHECK_IS(kugel_sht_create(NULL, NULL, &p), KUGEL_EINVAL);
    kugel_sht_destroy(NULL);
  }
  CASE("arrays that do not fit, overlap or hold bad pixels")
  {
    kugel_sht *p, *zero;
    kugel_sht_opts o = {.size = sizeof o, .grid = g, .lmax = LMAX};
    CHECK_OK(kugel_sht_create(NULL, &o, &p));
    o.bad_pixels = KUGEL_BAD_ZERO;
    CHECK_OK(kugel_sht_create(NULL, &o, &zero));
    kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, NALM), *f = KUGEL_ARRAY(map, KUGEL_F64, NPIX);
    CHECK_IS(kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_C128, NALM - 1), f, NULL), KUGEL_ESHAPE);
    CHECK_IS(kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_F64, NALM), f, NULL), KUGEL_ESHAPE);
    CHECK_IS(kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_C128, 2, NALM), f, NULL), KUGEL_ESHAPE);
    CHECK_IS(kugel_sht_synthesis(p, NULL, f, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_sht_synthesis(NULL, a, f, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_sht_synthesis(p, KUGEL_ARRAY(map, KUGEL_C128, NALM), f, NULL), KUGEL_EINVAL);
    for (int64_t i = 0; i < NPIX; i++)
      map[i] = sin((double)i);
    map[77] = NAN;
    map[90] = KUGEL_UNSEEN * (1 + 1e-6);
    CHECK_IS(kugel_sht_analysis(p, f, a, NULL), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "77") != NULL);
    CHECK_OK(kugel_sht_analysis(zero, f, a, NULL));
    static double clean[2 * NALM];
    map[77] = map[90] = 0;
    CHECK_OK(kugel_sht_analysis(p, f, KUGEL_ARRAY(clean, KUGEL_C128, NALM), NULL));
    CHECK(!memcmp(clean, alm, sizeof clean));
    kugel_sht_destroy(p);
    kugel_sht_destroy(zero);
  }
  CASE("smoothing keeps the mean, blanks bad pixels, works in place, and on polarised maps")
  {
    for (int64_t i = 0; i < 3 * NPIX; i++)
      map[i] = i < NPIX ? 3 : sin((double)i);
    kugel_smooth_opts o = {.size = sizeof o, .grid = g, .lmax = LMAX, .fwhm = 0.3, .iterations = 12};
    kugel_array *in = KUGEL_ARRAY(map, KUGEL_F64, 3, NPIX), *to = KUGEL_ARRAY(out, KUGEL_F64, 3, NPIX);
    CHECK_OK(kugel_smooth(NULL, &o, in, to, NULL));
    CHECK_LE(fabs(out[5] - 3), 1e-6);
    map[5] = KUGEL_UNSEEN;
    CHECK_OK(kugel_smooth(NULL, &o, in, to, NULL));
    CHECK(out[5] == KUGEL_UNSEEN && fabs(out[600] - 3) < 0.01);
    CHECK_OK(kugel_smooth(NULL, &o, in, in, NULL));
    CHECK(!memcmp(map, out, sizeof map));
    double flat[LMAX + 1];
    for (int l = 0; l <= LMAX; l++)
      flat[l] = 1;
    o = (kugel_smooth_opts){
        .size = sizeof o, .grid = g, .lmax = LMAX, .n_window = LMAX + 1, .window = flat, .spin = 1};
    CHECK_OK(kugel_smooth(NULL, &o, KUGEL_ARRAY(map, KUGEL_F64, 2, NPIX),
                          KUGEL_ARRAY(out, KUGEL_F64, 2, NPIX), NULL));
    o.fwhm = 0.1;
    CHECK_IS(kugel_smooth(NULL, &o, in, to, NULL), KUGEL_EINVAL);
    o = (kugel_smooth_opts){.size = sizeof o, .grid = g, .lmax = LMAX, .fwhm = -1};
    CHECK_IS(kugel_smooth(NULL, &o, in, to, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_smooth(NULL, NULL, in, to, NULL), KUGEL_EINVAL);
  }
  CASE("the progress callback cancels a long transform")
  {
    kugel_grid *big = healpix(16);
    kugel_sht *p;
    kugel_sht_opts o = {
        .size = sizeof o, .grid = big, .lmax = 32, .iterations = 3, .bad_pixels = KUGEL_BAD_PASS};
    CHECK_OK(kugel_sht_create(NULL, &o, &p));
    int64_t nalm, npix;
    sht_shape(p, &nalm, &npix, NULL, NULL);
    double *f = calloc((size_t)npix, 8), *a = calloc((size_t)nalm, 16);
    double before = kugel__progress_interval(0);
    kugel_set_num_threads(1);
    kugel_set_progress(stop, NULL);
    CHECK_IS(kugel_sht_analysis(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(a, KUGEL_C128, nalm), NULL),
             KUGEL_ECANCELED);
    kugel_set_progress(NULL, NULL);
    kugel__progress_interval(before);
    kugel_set_num_threads(0);
    free(f), free(a);
    kugel_sht_destroy(p);
    kugel_grid_destroy(big);
  }
  CASE("every allocation may fail")
  {
    kugel_smooth_opts o = {.size = sizeof o, .grid = g, .lmax = LMAX, .fwhm = 0.3, .iterations = 1};
    kugel_solve_opts so = {.size = sizeof so, .tolerance = 0.5};
    for (int64_t i = 0; i < 3 * NPIX; i++)
      map[i] = i == 7 ? NAN : cos((double)i);
    int n = 1;
    for (; n < 500; n++) {
      kugel_ctx_trim(NULL);
      kugel__fault_alloc(n);
      kugel_status s = kugel_smooth(NULL, &o, KUGEL_ARRAY(map, KUGEL_F64, 3, NPIX),
                                    KUGEL_ARRAY(out, KUGEL_F64, 3, NPIX), NULL);
      kugel_sht *p = NULL;
      kugel_sht_opts po = {
          .size = sizeof po, .grid = g, .lmax = LMAX, .iterations = 1, .bad_pixels = KUGEL_BAD_ZERO};
      kugel_array *f = KUGEL_ARRAY(map, KUGEL_F64, NPIX), *a = KUGEL_ARRAY(alm, KUGEL_C128, NALM);
      s = s ? s : kugel_sht_create(NULL, &po, &p);
      s = s ? s : kugel_sht_solve(p, f, a, &so, NULL, NULL);
      s = s ? s : kugel_sht_analysis_adjoint(p, a, KUGEL_ARRAY(out, KUGEL_F64, NPIX), NULL);
      s = s ? s : kugel_sht_analysis(p, f, KUGEL_ARRAY(alm, KUGEL_C64, NALM), NULL);
      kugel__fault_alloc(0);
      kugel_sht_destroy(p);
      if (s == KUGEL_OK)
        break;
      CHECK(s == KUGEL_ENOMEM);
    }
    CHECK(n > 20 && n < 500);
  }
  kugel_grid_destroy(g);
  END();
}
