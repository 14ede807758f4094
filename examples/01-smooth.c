/* SPDX-License-Identifier: BSD-3-Clause */
/* Smooths a HEALPix map in memory by a Gaussian beam of 10 degrees. */
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
#include <kugel/kugel.h>

int main(void)
{
  int64_t nside = 32, npix = 12 * nside * nside;
  double *map = calloc((size_t)npix, sizeof *map);
  kugel_grid *grid;
  if (!map ||
      kugel_grid_create(
          NULL,
          &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = nside},
          &grid))
    return 1;
  map[5000] = 1; // a point source
  kugel_smooth_opts opts = {.size = sizeof opts, .grid = grid, .lmax = 2 * nside, .fwhm = 10 * M_PI / 180};
  kugel_array *view = KUGEL_ARRAY(map, KUGEL_F64, npix);
  if (kugel_smooth(NULL, &opts, view, view, NULL)) {
    fprintf(stderr, "%s\n", kugel_last_error());
    return 1;
  }
  double sum = 0;
  for (int64_t i = 0; i < npix; i++)
    sum += map[i];
  printf("the peak is now %.5f, the sum %.9f\n", map[5000], sum);
  kugel_grid_destroy(grid);
  free(map);
  return 0;
}
