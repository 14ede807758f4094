/* SPDX-License-Identifier: BSD-3-Clause */
/* Expected time of transforms, for dry runs. */
#include <math.h>
#include <stdlib.h>
#include "skyops.h"

int sht_seconds(int64_t nside, int64_t lmax, int64_t mmax, kugel_sht_mode mode, double count, double *seconds)
{
  int64_t small = nside < 128 ? nside : 128, l = lmax < 2 * small ? lmax : 2 * small, m = mmax < l ? mmax : l;
  GRID kugel_grid *grid = NULL;
  SHT kugel_sht *plan = NULL;
  int64_t nalm, npix;
  int sets, maps;
  LIB(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = small},
      &grid));
  LIB(kugel_sht_create(
      NULL,
      &(kugel_sht_opts){
          .size = sizeof(kugel_sht_opts), .grid = grid, .lmax = l, .mmax = m ? m : -1, .mode = mode},
      &plan));
  LIB(kugel_sht_shape(plan, &nalm, &npix, &sets, &maps));
  OWNED double *alm = calloc((size_t)(sets * nalm), 2 * sizeof(double));
  OWNED double *map = malloc((size_t)(maps * npix) * sizeof(double));
  if (!alm || !map)
    return fail("no memory for a transform of nside %lld", (long long)small);
  double best = 1e30;
  for (int i = 0; i < 3; i++) {
    double t = now();
    LIB(kugel_sht_synthesis(plan, KUGEL_ARRAY(alm, KUGEL_C128, sets, nalm),
                            KUGEL_ARRAY(map, KUGEL_F64, maps, npix), NULL));
    best = fmin(best, now() - t);
  }
  double work = (double)nside * (double)alm_count(lmax, mmax), small_work = (double)small * (double)nalm;
  *seconds = best * count * work / small_work;
  return EXIT_DONE;
}
