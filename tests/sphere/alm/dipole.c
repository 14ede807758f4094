/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Monopole and dipole: healpy's fit, exact fields in both orders, bad input. */
#include <kugel/alm.h>
#include "core/alloc.h"
#include "sphere/golden.h"

int main(void)
{
  CASE("healpy's fit_dipole and remove_dipole with a cut of 20 degrees")
  {
    size_t bytes;
    double *map = golden_npy("sphere/golden/sht/map_T_ns32.npy", &bytes);
    double *want = golden_npy("sphere/golden/cl/map_T_nodipole.npy", &bytes), mono, dipole[3];
    if (map && want) {
      /* The golden is of the sky map itself: the difference of the two must be its fitted dipole, and the fit
       * of the cleaned map 0. */
      const kugel_dipole_opts o = {.size = sizeof o, .gal_cut = 20 * M_PI / 180};
      CHECK_OK(kugel_healpix_fit_dipole(NULL, 32, want, &o, &mono, dipole));
      CHECK_LE(fabs(mono) + fabs(dipole[0]) + fabs(dipole[1]) + fabs(dipole[2]), 1e-16);
      for (int i = 0; i < 12288; i++)
        map[i] = want[i] + 0.25;
      CHECK_OK(kugel_healpix_remove_dipole(NULL, 32, map, &o, &mono, dipole));
      CHECK_LE(fabs(mono - 0.25), 1e-15);
      CHECK_CLOSE(map, want, 12288, 1e-14);
    }
    free(map);
    free(want);
  }
  CASE("the real sky map")
  {
    static const double want[4] = {0.015071055668713706, 0.014072777091183975, -0.0042264057407355934,
                                   0.0022574895444943573};
    static const double want_masked[4] = {0.017857668099700057, 0.0012017796467561287, 0.0002881604298462742,
                                          0.001898863984599979};
    static const char *const files[2] = {"sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32.fits",
                                         "sphere/sky/wmap_band_iqumap_r9_7yr_W_v4_udgraded32_masked.fits"};
    for (int masked = 0; masked < 2; masked++) {
      /* 12 rows of 3 x 1024 floats: read as doubles, each holds two. */
      double *raw = golden_fits(files[masked], 5760, 12 * 3 * 512), *map = malloc(12288 * sizeof *map),
             got[4];
      for (int row = 0; row < 12 && raw; row++)
        for (int k = 0; k < 1024; k++) {
          uint64_t two;
          memcpy(&two, raw + row * 1536 + k / 2, 8);
          const uint32_t one = k & 1 ? (uint32_t)two : (uint32_t)(two >> 32);
          float f;
          memcpy(&f, &one, 4);
          map[row * 1024 + k] = f;
        }
      const kugel_dipole_opts o = {.size = sizeof o, .gal_cut = masked ? 0 : 20 * M_PI / 180};
      if (raw) {
        CHECK_OK(kugel_healpix_fit_dipole(NULL, 32, map, &o, got, got + 1));
        CHECK_CLOSE(got, masked ? want_masked : want, 4, 1e-12);
        if (masked) {
          const kugel_dipole_opts mean = {.size = sizeof mean, .monopole_only = 1};
          CHECK_OK(kugel_healpix_fit_dipole(NULL, 32, map, &mean, got, NULL));
          CHECK_LE(fabs(got[0] - 0.017859720472502612), 1e-15);
        }
      }
      free(raw);
      free(map);
    }
  }
  CASE("sums of pixel centres in RING and NESTED order agree with the symmetry of the grid")
  {
    for (int64_t nside = 1; nside <= 64; nside *= 4)
      for (int nest = 0; nest < 2; nest++) {
        const int64_t npix = 12 * nside * nside;
        double *map = malloc((size_t)npix * sizeof *map), mono, d[3];
        for (int64_t i = 0; i < npix; i++)
          map[i] = 3;
        map[npix / 2] = NAN;
        map[npix / 3] = -1.6375e30;
        map[npix / 5] = INFINITY;
        const kugel_dipole_opts o = {.size = sizeof o, .nest = nest};
        CHECK_OK(kugel_healpix_remove_dipole(NULL, nside, map, &o, &mono, d));
        CHECK_LE(fabs(mono - 3) + fabs(d[0]) + fabs(d[1]) + fabs(d[2]), 2e-14);
        CHECK_LE(fabs(map[npix - 1]), 2e-14);
        CHECK(isnan(map[npix / 2]) && map[npix / 3] == -1.6375e30 && isinf(map[npix / 5]));
        free(map);
      }
  }
  CASE("bad input, failing allocations")
  {
    double map[12] = {1, 2}, mono, d[3];
    kugel_dipole_opts o = {.size = sizeof o, .nest = 1};
    CHECK_IS(kugel_healpix_fit_dipole(NULL, 0, map, NULL, &mono, d), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_fit_dipole(NULL, 3, map, &o, &mono, d), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_fit_dipole(NULL, 1, NULL, NULL, &mono, d), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_fit_dipole(NULL, 1, map, NULL, NULL, d), KUGEL_EINVAL);
    o.gal_cut = 2;
    CHECK_IS(kugel_healpix_fit_dipole(NULL, 1, map, &o, &mono, d), KUGEL_EINVAL);
    o.gal_cut = NAN;
    CHECK_IS(kugel_healpix_fit_dipole(NULL, 1, map, &o, &mono, d), KUGEL_EINVAL);
    for (int i = 0; i < 12; i++)
      map[i] = NAN;
    CHECK_IS(kugel_healpix_fit_dipole(NULL, 1, map, NULL, &mono, d), KUGEL_EINVAL);
    map[0] = map[1] = map[2] = 1;
    CHECK_IS(kugel_healpix_fit_dipole(NULL, 1, map, NULL, &mono, d), KUGEL_EINVAL);
    map[5] = 1;
    map[9] = 1;
    kugel__fault_alloc(1);
    CHECK_IS(kugel_healpix_fit_dipole(NULL, 1, map, NULL, &mono, d), KUGEL_ENOMEM);
    kugel__fault_alloc(0);
    CHECK_OK(kugel_healpix_fit_dipole(NULL, 1, map, NULL, &mono, d));
  }
  END();
}
