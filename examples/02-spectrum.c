/* SPDX-License-Identifier: BSD-3-Clause */
/* A random sky on HEALPix, analysed: its power spectrum comes back. */
#include <stdio.h>
#include <stdlib.h>
#include <kugel/kugel.h>

int main(void)
{
  enum { LMAX = 64, NSIDE = 64, NALM = (LMAX + 1) * (LMAX + 2) / 2, NPIX = 12 * NSIDE * NSIDE };
  double *alm = calloc(2 * NALM, sizeof *alm), *map = calloc(NPIX, sizeof *map);
  for (int i = 2; alm && i < 2 * NALM; i++) // real where m = 0: the first LMAX + 1 coefficients
    alm[i] = i <= 2 * LMAX + 1 && i % 2 ? 0 : (rand() / (double)RAND_MAX - 0.5);
  kugel_grid *grid = NULL;
  kugel_sht *sht = NULL;
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE};
  int failed = !alm || !map || kugel_grid_create(NULL, &go, &grid);
  kugel_sht_opts so = {.size = sizeof so, .grid = grid, .lmax = LMAX, .iterations = 3};
  failed = failed || kugel_sht_create(NULL, &so, &sht);
  double before = 0, after = 0; // power of degree LMAX / 2 at m = 0 ... LMAX / 2
  for (int m = 0; m <= LMAX / 2 && !failed; m++) {
    int i = 2 * (m * (2 * LMAX + 1 - m) / 2 + LMAX / 2);
    before += (m ? 2 : 1) * (alm[i] * alm[i] + alm[i + 1] * alm[i + 1]) / (LMAX + 1);
  }
  kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, NALM), *f = KUGEL_ARRAY(map, KUGEL_F64, NPIX);
  failed = failed || kugel_sht_synthesis(sht, a, f, NULL) || kugel_sht_analysis(sht, f, a, NULL);
  for (int m = 0; m <= LMAX / 2 && !failed; m++) {
    int i = 2 * (m * (2 * LMAX + 1 - m) / 2 + LMAX / 2);
    after += (m ? 2 : 1) * (alm[i] * alm[i] + alm[i + 1] * alm[i + 1]) / (LMAX + 1);
  }
  if (failed)
    fprintf(stderr, "%s\n", kugel_last_error());
  else
    printf("C_%d was %.9f, from the map %.9f\n", LMAX / 2, before, after);
  kugel_sht_destroy(sht);
  kugel_grid_destroy(grid);
  free(alm);
  free(map);
  return failed;
}
