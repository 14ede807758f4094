/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout ROWS, systems that are held whole: tiles of a warp's systems, or of its part of one, go through
 * shared memory, one computed while the next one arrives. And what panels have in common with them. */
#include "banded/kernel_build.h"

enum { WARP = KUGEL__WARP };

/* ---- between the tile and the part ---- */

/* Unit k of the part; inside: no further than the system's last one. */
static kugel__val unit_of(kugel__banded_band *b, const kugel__band_part *at, int k, bool inside)
{
  kugel__gen *g = b->g;
  kugel__val i = g_add(g, at->begin, whole(k * b->s->unit));
  if (inside) {
    kugel__val last = g_sub(g, at->count, whole(b->s->unit)), none = whole(0);
    i = g_min(g, i, b->s->panels ? kugel__gen_select(g, last, none, none, last) : last);
  }
  return g_div(g, g_add(g, g_mul(g, b->slot, at->run), i), whole(b->s->unit));
}

void kugel__band_take(kugel__banded_band *b, const kugel__band_part *at, kugel__val *y)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  for (int k = 0; k < s->q / s->unit; k++) {
    kugel__val *x = y + k * s->unit, i = g_add(g, at->begin, whole(k * s->unit));
    kugel__tile_take(&b->tile, unit_of(b, at, k, s->ragged), x);
    for (int j = 0; j < s->unit && s->ragged; j++)
      x[j] = kugel__gen_select(g, i, at->count, x[j], zero());
  }
}

void kugel__band_put(kugel__banded_band *b, const kugel__band_part *at, const kugel__val *y)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  int threads = s->threads < WARP ? s->threads : WARP, busy = kugel__banded_systems(s) * threads;
  if (busy < WARP) { /* idle lanes have read what others overwrite */
    kugel__gen_warp_sync(g);
    kugel__gen_if(g, b->lane, whole(busy));
  }
  for (int k = 0; k < s->q / s->unit; k++) {
    if (s->ragged)
      kugel__gen_if(g, g_add(g, at->begin, whole(k * s->unit)), at->count);
    kugel__tile_put(&b->tile, unit_of(b, at, k, false), y + k * s->unit);
    if (s->ragged)
      kugel__gen_end(g);
  }
  if (busy < WARP)
    kugel__gen_end(g);
}

void kugel__band_buffer(kugel__banded_band *b, kugel__val round)
{
  kugel__gen *g = b->g;
  kugel__val size = whole(kugel__tile_size(&b->tile));
  round = kugel__gen_narrow(g, round);
  if (b->s->panels)
    b->tile.base = g_mul(g, b->warp, size);
  else
    b->tile.base = g_mul(g, g_add(g, g_mul(g, b->warp, whole(2)), g_mod(g, round, whole(2))), size);
}

/* ---- systems that are held whole ---- */

/* What a warp has in round r: `count` units of the array from `first` on; its first system. Beyond the last
 * system: that one again, and nothing to store. */
typedef struct span {
  kugel__val number, first, count, stored;
} span;

static span span_of(kugel__banded_band *b, kugel__val round)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  int systems = kugel__banded_systems(s);
  kugel__val one = whole(1), none = whole(0), units = g_div(g, b->n, whole(s->unit));
  kugel__val tile = g_add(g, b->group, g_mul(g, kugel__gen_narrow(g, round), b->step));
  kugel__val wanted = tile, last = g_sub(g, b->batch, one);
  if (s->threads <= WARP)
    wanted = g_mul(g, g_add(g, g_mul(g, tile, whole(s->warps)), b->warp), whole(systems));
  span p = {.number = g_min(g, wanted, last)};
  p.first = g_mul(g, kugel__gen_widen(g, p.number), units);
  if (s->threads > WARP) {
    kugel__val before = g_mul(g, b->warp, whole(WARP * s->q / s->unit));
    p.first = g_add(g, p.first, before);
    p.count = g_min(g, g_sub(g, units, before), whole(WARP * s->q / s->unit));
  } else {
    p.count = g_mul(g, g_min(g, g_sub(g, b->batch, p.number), whole(systems)), units);
  }
  p.stored = kugel__gen_select(g, last, wanted, none, p.count);
  return p;
}

static void fetch(kugel__banded_band *b, kugel__val round)
{
  span p = span_of(b, round);
  kugel__band_buffer(b, round);
  kugel__tile_fetch(&b->tile, b->in, p.first, g_sub(b->g, p.count, whole(1)));
}

void kugel__band_work(kugel__banded_band *b, kugel__val *y, kugel__val round)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  bool both = s->forward && s->backward;
  kugel__band_room(b, both || (s->product && s->lower && s->upper) ? whole(0) : g_mod(g, round, whole(2)));
  if (s->product) {
    kugel__val left = s->lower ? kugel__team_shift(&b->team, false, y[s->q - 1]) : zero();
    if (s->lower && s->upper)
      kugel__band_room(b, whole(1));
    kugel__band_multiply(b, y, left, s->upper ? kugel__team_shift(&b->team, true, y[0]) : zero());
    return;
  }
  if (s->forward)
    kugel__band_recur(b, y, false, zero());
  if (both)
    kugel__band_room(b, whole(1));
  if (s->backward)
    kugel__band_recur(b, y, true, zero());
}

void kugel__band_whole(kugel__banded_band *b)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val y[KUGEL__BANDED_ELEMENTS], none = whole(0), columns = whole(s->threads);
  kugel__gen_note(g, "the first tile is on its way while the coefficients are read");
  fetch(b, none);
  kugel__gen_async_commit(g);
  if (!s->each)
    kugel__band_table(b, none, none, columns);
  kugel__val round = kugel__gen_for(g, "round", none, b->rounds);
  kugel__val next = g_add(g, round, whole(1));
  kugel__gen_if(g, next, b->rounds);
  fetch(b, next);
  kugel__gen_end(g);
  kugel__gen_async_commit(g);
  kugel__band_buffer(b, round);
  span p = span_of(b, round);
  if (s->each)
    kugel__band_table(b, g_min(g, g_add(g, p.number, b->slot), g_sub(g, b->batch, whole(1))), none, columns);
  kugel__gen_async_wait(g, 1);
  kugel__gen_warp_sync(g);
  kugel__band_part at = {.begin = g_mul(g, b->team.rank, whole(s->q)), .run = b->n, .count = b->n};
  if (s->threads > WARP) /* the tile is the warp's part of one system */
    at.count = g_mul(g, p.count, whole(s->unit));
  kugel__band_take(b, &at, y);
  kugel__band_work(b, y, round);
  kugel__band_put(b, &at, y);
  kugel__gen_warp_sync(g);
  kugel__tile_store(&b->tile, b->out, p.first, p.stored);
  kugel__gen_warp_sync(g);
  kugel__gen_end(g);
}
