/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include "io/pixels.h"
static int64_t n2r(int64_t nside, int64_t p)
{
  static const int jrll[] = {2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4},
                   jpll[] = {1, 3, 5, 7, 0, 2, 4, 6, 1, 3, 5, 7};
  int64_t f = p / (nside * nside), q = p % (nside * nside), x = 0, y = 0;
  for (int b = 0; b < 30; b++) {
    x |= ((q >> (2 * b)) & 1) << b;
    y |= ((q >> (2 * b + 1)) & 1) << b;
  }
  int64_t jr = jrll[f] * nside - x - y - 1, nr, before, ks = 0;
  if (jr < nside) {
    nr = jr;
    before = 2 * nr * (nr - 1);
  } else if (jr > 3 * nside) {
    nr = 4 * nside - jr;
    before = 12 * nside * nside - 2 * (nr + 1) * nr;
  } else {
    nr = nside;
    before = 2 * nside * (nside - 1) + (jr - nside) * 4 * nside;
    ks = (jr - nside) & 1;
  }
  int64_t jp = (jpll[f] * nr + x - y + 1 + ks) / 2;
  if (jp > 4 * nside)
    jp -= 4 * nside;
  if (jp < 1)
    jp += 4 * nside;
  return before + jp - 1;
}
kugel_status kugel__pixels_convert(int64_t nside, kugel_order from, kugel_order to, int64_t n,
                                   int64_t *pixels)
{
  if (from == KUGEL_ORDER_NESTED && to == KUGEL_ORDER_RING)
    for (int64_t k = 0; k < n; k++)
      pixels[k] = n2r(nside, pixels[k]);
  else if (from != to)
    return KUGEL_FAIL(KUGEL_ENOTSUP, "maps in RING order are not read into NESTED order");
  return KUGEL_OK;
}
