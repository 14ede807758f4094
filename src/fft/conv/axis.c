/* SPDX-License-Identifier: BSD-3-Clause */
/* How the data of a convolution are cut along an axis. */
#include <math.h>
#include "fft/conv/conv.h"

/* What a tile costs, in the units of a multiplication: butterflies both ways, and moving the data. */
static double cost(int64_t box, int64_t tiles)
{
  double smooth = kugel_fft_good_size(box) == box ? 1 : 3; // Rader, Bluestein
  return (double)tiles * (double)box * (smooth * log2((double)box + 1) + 4);
}

static int64_t good_even(int64_t n) // the real transform of an even length costs half
{
  return n > 2 ? 2 * kugel_fft_good_size((n + 1) / 2) : kugel_fft_good_size(n);
}

int64_t kugel__conv_least_box(const kugel__conv_axis *a)
{
  // what wraps around, up to fill + k - 2, must not reach the results
  int64_t least = kugel__max(a->fill + a->k - 1 - a->skip, a->skip + a->step);
  return kugel__max(least, kugel__max(a->k, a->fill));
}

kugel__conv_axis kugel__conv_one_tile(kugel__conv_axis a, bool circular)
{
  a.tiles = 1;
  a.step = a.hi - a.lo;
  if (circular) {
    a.box = a.fill = a.n;
    a.skip = 0;
    return a;
  }
  int64_t start = kugel__max(0, a.lo - a.k + 1);
  a.skip = a.lo - start;
  a.fill = kugel__min(a.n, a.hi) - start;
  a.box = good_even(kugel__conv_least_box(&a));
  return a;
}

kugel__conv_axis kugel__conv_many_tiles(kugel__conv_axis a, int64_t box)
{
  a.box = a.fill = box;
  a.skip = a.k - 1;
  a.step = box - a.k + 1;
  a.tiles = (a.hi - a.lo + a.step - 1) / a.step;
  return a;
}

void kugel__conv_choose(kugel__conv_axis *a, bool circular)
{
  kugel__conv_axis best = kugel__conv_one_tile(*a, circular);
  for (int64_t box = good_even(2 * a->k); box < 2 * (a->n + a->k); box = good_even(box + box / 4 + 1)) {
    kugel__conv_axis tiled = kugel__conv_many_tiles(*a, box);
    if (cost(tiled.box, tiled.tiles) < 0.9 * cost(best.box, best.tiles))
      best = tiled;
  }
  *a = best;
}
