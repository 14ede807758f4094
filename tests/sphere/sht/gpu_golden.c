/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Transforms on every device against healpy's numbers: T, E, B, spins 1 to 3, a gradient and analysis with
 * iterations and ring weights, of WMAP's sky; tests/data/golden/README.md tells where they are from. */
#include "device/every.h"
#include "sphere/golden.h"
#include <kugel/io.h>
#include <kugel/sphere.h>

enum { LMAX = 64, NSIDE = 32, NPIX = 12 * NSIDE * NSIDE, NALM = (LMAX + 1) * (LMAX + 2) / 2 };
#define GOLDEN(name) golden_npy("sphere/golden/sht/" name ".npy", &bytes)

static const double bound = 1e-10; // what the golden numbers hold to, of the largest
static size_t bytes;
static double sky[3 * NPIX];

static kugel_sht *plan_of(kugel_ctx *ctx, const kugel_grid *g, kugel_sht_mode mode, int spin, int iterations)
{
  kugel_sht *p = NULL;
  kugel_sht_opts o = {
      .size = sizeof o, .grid = g, .lmax = LMAX, .mode = mode, .spin = spin, .iterations = iterations};
  CHECK_OK(kugel_sht_create(ctx, &o, &p));
  return p;
}

/* Coefficients to maps; both are freed. */
static void synthesis(kugel_ctx *ctx, const kugel_grid *g, kugel_sht_mode mode, int spin, int sets, int maps,
                      double *alm, double *want)
{
  kugel_sht *p = alm && want ? plan_of(ctx, g, mode, spin, 0) : NULL;
  if (p) {
    double *got = calloc((size_t)maps * NPIX, 8);
    CHECK_OK(kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_C128, sets, NALM),
                                 KUGEL_ARRAY(got, KUGEL_F64, maps, NPIX), NULL));
    CHECK_CLOSE(got, want, (size_t)maps * NPIX, bound);
    free(got);
  }
  kugel_sht_destroy(p);
  free(alm), free(want);
}

static void analysis(kugel_ctx *ctx, const kugel_grid *g, kugel_sht_mode mode, int iterations, int sets,
                     double *want)
{
  kugel_sht *p = want ? plan_of(ctx, g, mode, 0, iterations) : NULL;
  if (p) {
    double *got = calloc((size_t)sets * NALM, 16);
    CHECK_OK(kugel_sht_analysis(p, KUGEL_ARRAY(sky, KUGEL_F64, sets, NPIX),
                                KUGEL_ARRAY(got, KUGEL_C128, sets, NALM), NULL));
    CHECK_CLOSE(got, want, (size_t)sets * NALM * 2, bound);
    free(got);
  }
  kugel_sht_destroy(p);
  free(want);
}

static bool read_sky(void)
{
  const char *path = check_shared("sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits");
  kugel_fits *file = NULL;
  if (!path)
    return false;
  CHECK_OK(kugel_fits_open(NULL, path, NULL, &file));
  CHECK_OK(kugel_fits_read_maps(file, 3, (int64_t[]){0, 1, 2}, KUGEL_ORDER_RING,
                                KUGEL_ARRAY(sky, KUGEL_F64, 3, NPIX)));
  kugel_fits_close(file);
  return true;
}

int main(void)
{
  kugel_device_info info;
  kugel_grid *g = NULL;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE};
  CHECK_OK(kugel_grid_create(NULL, &go, &g));
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "synthesis as healpy's"))
    {
      synthesis(ctx, g, KUGEL_SHT_SCALAR, 0, 1, 1, GOLDEN("alm_T_l64_i3"), GOLDEN("map_T_ns32"));
      synthesis(ctx, g, KUGEL_SHT_TEB, 0, 3, 3, GOLDEN("alm_TEB_l64_i3"), GOLDEN("map_TQU"));
      synthesis(ctx, g, KUGEL_SHT_SPIN, 1, 2, 2, GOLDEN("alm_spin1"), GOLDEN("map_spin1"));
      synthesis(ctx, g, KUGEL_SHT_SPIN, 2, 2, 2, GOLDEN("alm_spin2"), GOLDEN("map_spin2"));
      synthesis(ctx, g, KUGEL_SHT_SPIN, 3, 2, 2, GOLDEN("alm_spin3"), GOLDEN("map_spin3"));
      synthesis(ctx, g, KUGEL_SHT_DER1, 0, 1, 3, GOLDEN("alm_T_l64_i3"), GOLDEN("map_T_der1"));
    }
    CASE(every_title(&info, "analysis as healpy's"))
    {
      if (!read_sky())
        SKIP("the WMAP map");
      else {
        analysis(ctx, g, KUGEL_SHT_SCALAR, 0, 1, GOLDEN("alm_T_l64_i0"));
        analysis(ctx, g, KUGEL_SHT_TEB, 3, 3, GOLDEN("alm_TEB_l64_i3"));
      }
    }
    kugel_ctx_destroy(ctx);
  }
  kugel_grid_destroy(g);
  END();
}
