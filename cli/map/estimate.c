/* SPDX-License-Identifier: BSD-3-Clause */
/* Expected time of transforms, for dry runs: two small ones of the same mode are timed, with lmax and lmax
 * / 2. Their difference is Legendre work, which grows as rings times coefficients; the rest grows as pixels.
 */
#include <math.h>
#include <stdlib.h>
#include "map/skyops.h"

/* Nanoseconds of one AVX2 core for each coefficient and pair of rings, and for each pixel. */
double sht_cost(double npix, int64_t lmax, int64_t mmax, bool polarised)
{
  double pairs = sqrt(npix / 3), nalm = (double)kugel_alm_count(lmax, mmax);
  return pairs * nalm * (polarised ? 0.35 : 0.12) + 5 * npix * (polarised ? 3 : 1);
}

void sky_costs(const sky *s, double work)
{
  double values = (double)(s->n * s->npix);
  progress_costs(COST_READ * values, work / kugel_get_num_threads(), COST_WRITE * values);
}

/* Seconds of the fastest of three syntheses. */
static int time_synthesis(const kugel_grid *grid, int64_t lmax, int64_t mmax, kugel_sht_mode mode,
                          double *seconds)
{
  SHT kugel_sht *plan = NULL;
  LIB(kugel_sht_create(run.ctx,
                       &(kugel_sht_opts){.size = sizeof(kugel_sht_opts),
                                         .grid = grid,
                                         .lmax = lmax,
                                         .mmax = mmax_argument(mmax),
                                         .mode = mode},
                       &plan));
  kugel_sht_info info = {.size = sizeof info};
  LIB(kugel_sht_get_info(plan, &info));
  int64_t nalm = info.nalm, npix = info.npix, sets = info.n_alm_sets, maps = info.n_maps;
  OWNED double *alm = calloc((size_t)(sets * nalm), 2 * sizeof(double));
  OWNED double *map = malloc((size_t)(maps * npix) * sizeof(double));
  if (!alm || !map)
    return fail("no memory for a transform of lmax %lld", (long long)lmax);
  *seconds = INFINITY;
  for (int i = 0; i < 4; i++) {
    double start = now();
    LIB(kugel_sht_synthesis(plan, KUGEL_ARRAY(alm, KUGEL_C128, sets, nalm),
                            KUGEL_ARRAY(map, KUGEL_F64, maps, npix), NULL));
    *seconds = fmin(*seconds, now() - start);
  }
  return EXIT_DONE;
}

int sht_seconds(int64_t nside, int64_t lmax, int64_t mmax, kugel_sht_mode mode, double count, double *seconds)
{
  int64_t small = nside < 256 ? nside : 256, l = lmax < 2 * small ? lmax : 2 * small, m = mmax < l ? mmax : l;
  GRID kugel_grid *grid = NULL;
  double whole, half;
  STEP(healpix_grid(small, &grid));
  STEP(time_synthesis(grid, l, m, mode, &whole));
  STEP(time_synthesis(grid, l / 2, m / 2, mode, &half));
  double scale = (double)nside / (double)small;
  double legendre = fmax(whole - half, 0) / 0.75, pixels = fmax(whole - legendre, 0.1 * whole);
  double work =
      (double)kugel_alm_count(lmax, mmax_argument(mmax)) / (double)kugel_alm_count(l, mmax_argument(m));
  *seconds = count * (legendre * scale * work + pixels * scale * scale);
  return EXIT_DONE;
}
