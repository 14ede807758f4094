/* SPDX-License-Identifier: BSD-3-Clause */
/* Coordinates to cells and fractions. Reduction by the period and the product with cells per period carry the rounding
 * errors along, so that fractions are right to 1e-16 cells for any number of cells. */
#include <math.h>
#include "core/simd.h"
#include "nufft/plan.h"

/* Arithmetic is in vectors, on blocks of points; loops without branches, which compilers vectorise. */
enum { BLOCK = 256 };

typedef struct block {
  double x[BLOCK], tile[BLOCK], at[BLOCK], t[BLOCK];
} block;

/* Coordinates of an axis, or the first point with one that is not finite. */
static int64_t take(const kugel__nufft_places *s, int d, int64_t first, int n, double *x)
{
  const double most =
      0x1p50 * s->plan->axis[d].period; // beyond, neighbouring doubles are more than a period apart
  const int64_t from = first * s->stride + d * s->axis_stride;
  bool far = false;
  if (s->floats)
    for (int i = 0; i < n; i++)
      x[i] = (double)((const float *)(const void *)s->data)[from + i * s->stride];
  else
    for (int i = 0; i < n; i++)
      x[i] = ((const double *)(const void *)s->data)[from + i * s->stride];
  for (int i = 0; i < n; i++)
    far |= !(__builtin_fabs(x[i]) <= most);
  for (int i = 0; far && i < n; i++) {
    if (!isfinite(x[i]))
      return first + i;
    if (__builtin_fabs(x[i]) > most)
      x[i] = fmod(x[i], s->plan->axis[d].period);
  }
  return first + n;
}

/* Adds an axis to tile and at; sets t. `whole` may be off by one where x is next to a multiple of the period: then p is a
 * little outside of [0, fine), as nodes may be anyway. Tile i starts at cell ceil(i fine / tiles), so the tile of a cell is
 * floor(cell tiles / fine); both quotients of integers below 2^53 are right. */
static inline __attribute__((always_inline)) void place_as(bool exact, const kugel__nufft_axis *a,
                                                           double width, double step, int n, block *b)
{
  const double inverse = 1 / a->period, fine = (double)a->fine, tiles = (double)a->tiles;
  const double per_fine = 1 / fine, per_tile = 1 / tiles;
  const double period = a->period, period_low = a->period_low, cells = a->cells, cells_low = a->cells_low;
  for (int i = 0; i < n; i++) {
    double x = b->x[i], whole = __builtin_floor(x * inverse), product = whole * period;
    double product_low = __builtin_fma(whole, period, -product) + whole * period_low;
    double rest = x - product, back = rest - x; // rest + low = x - product
    double low = (x - (rest - back)) - (product + back) - product_low;
    double p = rest * cells;
    double p_low = __builtin_fma(rest, cells, -p) + rest * cells_low + low * cells;
    double node = __builtin_ceil(p - 0.5 * width), t = 2 * ((node - p) - p_low) + (width - 1);
    double over = t >= 1 ? 1 : t < -1 ? -1 : 0;
    b->t[i] = t - 2 * over;
    double cell = node - over;
    cell = cell < 0 ? cell + fine : cell;
    cell = cell >= fine ? cell - fine : cell;
    double tile =
        exact ? __builtin_floor((cell * tiles + 0.5) * per_fine) : __builtin_floor(cell * tiles / fine);
    double start = exact ? __builtin_floor((tile * fine + (tiles - 0.5)) * per_tile)
                         : __builtin_ceil(tile * fine / tiles);
    b->tile[i] = b->tile[i] * tiles + tile;
    b->at[i] += (cell - start) * step;
  }
}

/* Quotients of integers are products, half a unit away from the next integer, where rounding does not reach that far. */
static void place(const kugel__nufft_axis *a, double width, double step, int n, block *b)
{
  if ((double)a->fine * (double)a->tiles < 0x1p48)
    place_as(true, a, width, step, n, b);
  else
    place_as(false, a, width, step, n, b);
}

/* Records of points `from` on; a fraction that rounds up to 1 in float stays inside. */
static void put(const kugel__nufft_places *s, int64_t from, int n, int d, const double *t)
{
  const int64_t record = s->record;
  char *to = s->points + from * record;
  if (s->plan->single)
    for (int i = 0; i < n; i++) {
      float f = (float)t[i];
      f = f < 1 ? f : 0x1.fffffep-1f;
      memcpy(to + i * record + 4 * d, &f, sizeof f);
    }
  else
    for (int i = 0; i < n; i++)
      memcpy(to + i * record + 8 * d, &t[i], sizeof *t);
}

static int64_t locate(const kugel__nufft_places *s, int64_t first, int64_t n)
{
  const kugel_nufft *p = s->plan;
  const double step[3] = {1, (double)p->tile.row, (double)p->tile.plane};
  block b;
  for (int64_t done = first; done < first + n; done += BLOCK) {
    int count = (int)kugel__min(BLOCK, first + n - done);
    memset(b.tile, 0, sizeof b.tile);
    memset(b.at, 0, sizeof b.at);
    for (int d = 0; d < p->ndim; d++) {
      int64_t bad = take(s, d, done, count, b.x);
      if (bad < done + count)
        return bad;
      place(&p->axis[d], p->kernel.width, step[p->ndim - 1 - d], count, &b);
      put(s, done, count, d, b.t);
    }
    for (int i = 0; i < count; i++) {
      int32_t where[2] = {(int32_t)b.at[i], (int32_t)(uint32_t)(done + i)};
      s->tile[done + i] = (uint32_t)(int64_t)b.tile[i];
      memcpy(s->points + (done + i + 1) * s->record - 8, where, sizeof where);
    }
  }
  return first + n;
}

extern const kugel__nufft_locate_ops ISA_NAME(kugel__nufft_locate_ops);
const kugel__nufft_locate_ops ISA_NAME(kugel__nufft_locate_ops) = {locate};
