/* SPDX-License-Identifier: BSD-3-Clause */
/* A user's program: the synthesis of a constant, with the installed headers and library alone. Also compiles as C++. */
#include <math.h>
#include <stdio.h>
#include <kugel/kugel.h>

int main(void)
{
  enum { NSIDE = 4, NPIX = 12 * NSIDE * NSIDE, LMAX = 8, NALM = (LMAX + 1) * (LMAX + 2) / 2 };
  static double alm[2 * NALM], map[NPIX];
  kugel_grid_opts g = {};
  g.size = sizeof g;
  g.kind = KUGEL_GRID_HEALPIX;
  g.nside = NSIDE;
  kugel_grid *grid;
  kugel_sht *plan;
  if (kugel_grid_create(NULL, &g, &grid))
    return fprintf(stderr, "%s\n", kugel_last_error()), 1;
  kugel_sht_opts o = {};
  o.size = sizeof o;
  o.grid = grid;
  o.lmax = LMAX;
  if (kugel_sht_create(NULL, &o, &plan))
    return fprintf(stderr, "%s\n", kugel_last_error()), 1;
  alm[0] = sqrt(4 * acos(-1.0));
  if (kugel_sht_synthesis(plan, KUGEL_ARRAY(alm, KUGEL_C128, NALM), KUGEL_ARRAY(map, KUGEL_F64, NPIX), NULL))
    return fprintf(stderr, "%s\n", kugel_last_error()), 1;
  for (int i = 0; i < NPIX; i++)
    if (!(fabs(map[i] - 1) < 1e-14))
      return fprintf(stderr, "pixel %d is %.17g, must be 1\n", i, map[i]), 1;
  kugel_sht_destroy(plan);
  kugel_grid_destroy(grid);
  printf("kugel %s: a constant is constant\n", kugel_version());
  return 0;
}
