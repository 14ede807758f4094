/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/tile.h"
#include "codegen/banks.h"

enum { WARP = 32 };

int64_t kugel__tile_size(const kugel__tile *t)
{
  return t->units + (t->period ? (t->units - 1) / t->period : 0);
}

static int64_t padded(int64_t at, int period)
{
  return period ? at + at / period : at;
}

int kugel__tile_period(int64_t bytes, int units, const int64_t start[32])
{
  int best = 0;
  int64_t least = INT64_MAX;
  for (int period = 0; period <= WARP; period = period ? 2 * period : 4) {
    int64_t cost = 0;
    for (int k = 0; k < units / WARP; k++) {
      int64_t along[WARP], own[WARP];
      for (int lane = 0; lane < WARP; lane++) {
        along[lane] = padded(lane + WARP * k, period);
        own[lane] = start[lane] < 0 ? -1 : padded(start[lane] + k, period);
      }
      cost += kugel__bank_conflicts(bytes, along) + kugel__bank_conflicts(bytes, own);
    }
    if (cost < least) {
      least = cost;
      best = period;
    }
  }
  return best;
}

/* Of unit `at` in the shared array. */
static kugel__val place(const kugel__tile *t, kugel__val at)
{
  kugel__gen *g = t->g;
  kugel__val pad = t->period ? g_div(g, at, kugel__int(t->period)) : kugel__int(0);
  return g_add(g, t->base, g_add(g, at, pad));
}

/* Of the lane's unit in row k: known distances from that in row 0. */
static kugel__val in_row(const kugel__tile *t, kugel__val first, int k)
{
  return g_add(t->g, first, kugel__int(padded(WARP * k, t->period)));
}

void kugel__tile_fetch_row(const kugel__tile *t, int k, kugel__val array, kugel__val from)
{
  kugel__gen_copy_async(t->g, t->shared, in_row(t, place(t, t->lane), k), array, from);
}

void kugel__tile_take(const kugel__tile *t, kugel__val at, kugel__val *x)
{
  if (t->unit == 1) {
    x[0] = kugel__gen_load(t->g, t->shared, place(t, at), false);
    return;
  }
  kugel__cval pair = kugel__gen_shared_pair(t->g, t->shared, place(t, at));
  x[0] = pair.re;
  x[1] = pair.im;
}

void kugel__tile_put(const kugel__tile *t, kugel__val at, const kugel__val *x)
{
  if (t->unit == 1)
    kugel__gen_store(t->g, t->shared, place(t, at), x[0]);
  else
    kugel__gen_put_shared_pair(t->g, t->shared, place(t, at), (kugel__cval){x[0], x[1]});
}

void kugel__tile_store_row(const kugel__tile *t, int k, kugel__val array, kugel__val to)
{
  kugel__gen *g = t->g;
  kugel__val x[2];
  kugel__tile row = *t; /* whose first unit is the lane's */
  row.base = in_row(t, place(t, t->lane), k);
  row.period = 0;
  kugel__tile_take(&row, kugel__int(0), x);
  if (t->unit == 1)
    kugel__gen_store(g, array, to, x[0]);
  else
    kugel__gen_store_pair(g, array, to, (kugel__cval){x[0], x[1]});
}

void kugel__tile_fetch(const kugel__tile *t, kugel__val array, kugel__val first, kugel__val last)
{
  kugel__gen *g = t->g;
  for (int k = 0; k < t->units / WARP; k++) {
    kugel__val from = g_min(g, g_add(g, t->lane, kugel__int(WARP * k)), last);
    kugel__tile_fetch_row(t, k, array, g_add(g, first, from));
  }
}

void kugel__tile_store(const kugel__tile *t, kugel__val array, kugel__val first, kugel__val count)
{
  kugel__gen *g = t->g;
  kugel__val to = g_add(g, first, t->lane);
  for (int k = 0; k < t->units / WARP; k++) {
    kugel__gen_if(g, g_add(g, t->lane, kugel__int(WARP * k)), count);
    kugel__tile_store_row(t, k, array, g_add(g, to, kugel__int(WARP * k)));
    kugel__gen_end(g);
  }
}
