/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of p q points, p a prime, within a block: q transforms of p points by Rader's convolution, side by side, then
 * p transforms of q points. Point n1 q + c of the line is point n1 of column c; result k1 + p k2 is result k2 of row k1,
 * whose points are multiplied by e^{-2 pi i k1 c / n}. */
#include "fft/gpu/block_build.h"

// Thread of a part; spare threads repeat others.
static kugel__seat seat_of(kugel__build *k, const kugel__block *part)
{
  kugel__gen *g = k->g;
  kugel__val group = kugel__int(part->group), t = g_div(g, k->lid, group);
  if (k->b->threads > part->threads * part->group)
    t = g_min(g, t, kugel__int(part->threads - 1));
  return (kugel__seat){kugel__gen_name(g, "t", t), kugel__gen_name(g, "slot", g_mod(g, k->lid, group))};
}

// Where point n1 of the columns goes, and where result k1 is: those of index 0 after all others.
static kugel__val place_of(kugel__build *k, kugel__val i, int64_t p, bool result)
{
  kugel__gen *g = k->g;
  kugel__val m = kugel__int(p - 1), before = g_mod(g, g_add(g, i, m), kugel__int(p)); // i - 1, or m
  kugel__val order = kugel__gen_load(g, k->order, g_min(g, before, kugel__int(p - 2)), false);
  if (result)
    order = g_mod(g, g_sub(g, m, order), m);
  return kugel__gen_select(g, before, m, order, m);
}

// The line's points in order, as the columns' in Rader's.
static void load(kugel__build *k, const kugel__block *b, int64_t q)
{
  kugel__gen *g = k->g;
  kugel__track t = kugel__track_of(k, k->group, true);
  kugel__gen_note(g, "load, columns in the order of powers");
  for (int64_t from = 0; from < b->n; from += b->threads) {
    kugel__val e = g_add(g, k->lid, kugel__int(from));
    bool partly = from + b->threads > b->n;
    if (partly)
      kugel__gen_if(g, e, kugel__int(b->n));
    kugel__seat s = {.slot = g_mod(g, e, kugel__int(q))};
    kugel__val place = place_of(k, g_div(g, e, kugel__int(q)), b->of.prime, false);
    kugel__shared_put(k, &s, place, kugel__end_read(&t.side, e));
    if (partly)
      kugel__gen_end(g);
  }
  kugel__gen_barrier(g);
}

static void columns(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  const kugel__block *c = k->b;
  int64_t step = c->m / c->radix[0];
  k->first = kugel__shared_get(k, s, kugel__int(c->m));
  for (int round = 0; round < kugel__block_rounds(c, 0); round++)
    for (int q = 0; q < c->radix[0]; q++)
      k->x[round * c->radix[0] + q] =
          kugel__shared_get(k, s, g_add(g, kugel__butterfly_of(k, s, 0, round), kugel__int(q * step)));
  kugel__there_and_back(k, s, s, true);
  kugel__gen_if(g, s->t, kugel__int(1));
  kugel__shared_put(k, s, kugel__int(c->m), (kugel__cval){k->zero.im, k->zero.re});
  kugel__gen_end(g);
  kugel__stage_put(k, k->b->stages - 1, s, true);
}

// The columns' results, which came back exchanged, with the line's twiddles.
static void take_rows(kugel__build *k, const kugel__seat *s, const kugel__rootset *roots)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int r = b->radix[0];
  int64_t step = b->m / r;
  kugel__gen_note(g, "rows, with the twiddles of the line");
  kugel__val place = place_of(k, s->slot, b->group, true);
  for (int round = 0; round < kugel__block_rounds(b, 0); round++)
    for (int q = 0; q < r; q++) {
      kugel__val c = g_add(g, kugel__butterfly_of(k, s, 0, round), kugel__int(q * step));
      kugel__cval x = kugel__shared_get(k, &(kugel__seat){.slot = c}, place);
      kugel__cval w = kugel__tables_root(g, roots, k->tables, g_mul(g, s->slot, c));
      k->x[round * r + q] = kugel__gen_cmul(g, (kugel__cval){x.im, x.re}, w);
    }
}

static void store(kugel__build *k, const kugel__seat *s, const kugel__block *b)
{
  kugel__gen *g = k->g;
  const kugel__block *rows = k->b;
  int stage = rows->stages - 1, r = rows->radix[stage];
  kugel__gen_note(g, "store");
  k->b = b;
  kugel__track t = kugel__track_of(k, k->group, false);
  for (int round = 0; round < kugel__block_rounds(rows, stage); round++)
    for (int q = 0; q < r; q++) {
      k->b = rows;
      kugel__val k2 = g_add(g, kugel__butterfly_of(k, s, stage, round), kugel__int(q * (rows->m / r)));
      k->b = b;
      kugel__val p = g_add(g, s->slot, g_mul(g, k2, kugel__int(b->of.prime)));
      kugel__end_write(&t.side, p, kugel__build_finished(k, k->group, p, p, k->x[round * r + q]));
    }
}

void kugel__prime_build(kugel__build *k)
{
  const kugel__block *b = k->b;
  kugel__block down = kugel__prime_columns(b), along = kugel__prime_rows(b);
  kugel__tables at = k->at;
  kugel__seat s = seat_of(k, &down), rows = seat_of(k, &along);
  k->layout = kugel__prime_layout(&down, down.n);
  k->back = kugel__block_back(&down);
  load(k, b, down.group);
  k->b = &down;
  k->at = kugel__tables_of(&down);
  kugel__tables_shift(&k->at, at.columns);
  columns(k, &s);
  k->b = &along;
  k->at = at;
  k->layout = kugel__prime_layout(&down, down.n);
  take_rows(k, &rows, &at.roots[KUGEL__ROOTS_BIG]);
  k->layout = kugel__prime_layout(&along, along.n);
  kugel__build_stages(k, &rows, &rows, &rows, true);
  store(k, &rows, b);
}
