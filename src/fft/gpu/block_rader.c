/* SPDX-License-Identifier: BSD-3-Clause */
/* Rader's order: points 1 ... n - 1 of a prime length from memory to the order of powers of a generator, and
 * back. */
#include "fft/gpu/block_build.h"

// Point 0 of the input.
static kugel__cval load_zero(kugel__build *k, const kugel__seat *s)
{
  kugel__val spare = g_sub(k->g, k->count, kugel__int(1));
  kugel__track t = kugel__track_of(k, g_min(k->g, g_add(k->g, k->group, s->slot), spare), true);
  return kugel__end_read(&t.side, t.first);
}

// Points 1 ... n - 1 in order from memory to their places in shared memory, by the threads of each transform.
static void load_alone(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  kugel__val spare = g_sub(g, k->count, kugel__int(1));
  kugel__track t = kugel__track_of(k, g_min(g, g_add(g, k->group, s->slot), spare), true);
  for (int64_t from = 0; from < b->m; from += b->threads) {
    kugel__val i = g_add(g, s->t, kugel__int(from));
    if (from + b->threads > b->m) // spare threads repeat the last point
      i = g_min(g, i, kugel__int(b->m - 1));
    kugel__val p = g_add(g, t.first, g_mul(g, g_add(g, i, kugel__int(1)), t.stride));
    kugel__shared_put(k, s, kugel__gen_load(g, k->order, i, false), kugel__end_read(&t.side, p));
  }
}

// Whether all threads of the block take the points of one transform, then those of the next: their addresses
// follow each other, and the order is read once for all transforms.
static bool together(const kugel__block *b)
{
  return b->flat && b->group > 1;
}

static void load_together(kugel__build *k)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int64_t threads = (int64_t)b->threads * b->group;
  kugel__val spare = g_sub(g, k->count, kugel__int(1));
  for (int64_t from = 0; from < b->m; from += threads) {
    kugel__val i = g_add(g, k->lid, kugel__int(from));
    bool partly = from + threads > b->m;
    if (partly)
      kugel__gen_if(g, i, kugel__int(b->m));
    kugel__val place = kugel__gen_load(g, k->order, i, false);
    for (int slot = 0; slot < b->group; slot++) {
      kugel__track t = kugel__track_of(k, g_min(g, g_add(g, k->group, kugel__int(slot)), spare), true);
      kugel__cval x = kugel__end_read(&t.side, g_add(g, i, kugel__int(1)));
      kugel__shared_put(k, &(kugel__seat){.slot = kugel__int(slot)}, place, x);
    }
    if (partly)
      kugel__gen_end(g);
  }
}

void kugel__load_rader(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int64_t step = b->m / b->radix[0];
  kugel__gen_note(g, "load, in the order of powers");
  k->first = load_zero(k, s);
  together(b) ? load_together(k) : load_alone(k, s);
  kugel__gen_barrier(g);
  for (int round = 0; round < kugel__block_rounds(b, 0); round++)
    for (int q = 0; q < b->radix[0]; q++)
      k->x[round * b->radix[0] + q] =
          kugel__shared_get(k, s, g_add(g, kugel__butterfly_of(k, s, 0, round), kugel__int(q * step)));
}

// Where result i + 1 is.
static kugel__val power_at(kugel__build *k, kugel__val i)
{
  kugel__val m = kugel__int(k->b->m);
  return g_mod(k->g, g_sub(k->g, m, kugel__gen_load(k->g, k->order, i, false)), m);
}

// Result i + 1 from shared memory; the convolution came back exchanged.
static kugel__cval power(kugel__build *k, const kugel__seat *s, kugel__val i)
{
  kugel__cval x = kugel__shared_get(k, s, power_at(k, i));
  return (kugel__cval){x.im, x.re};
}

// As load_together.
static void store_together(kugel__build *k)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int64_t threads = (int64_t)b->threads * b->group, limit_i, limit_p;
  kugel__block_limits(b, &limit_i, &limit_p);
  int64_t results = kugel__min(b->m, limit_p - 1);
  for (int64_t from = 0; from < results; from += threads) {
    kugel__val i = g_add(g, k->lid, kugel__int(from)), p = g_add(g, i, kugel__int(1));
    bool partly = from + threads > results;
    if (partly)
      kugel__gen_if(g, i, kugel__int(results));
    kugel__val place = power_at(k, i);
    for (int slot = 0; slot < b->group; slot++) {
      kugel__val transform = g_add(g, k->group, kugel__int(slot));
      kugel__cval x = kugel__shared_get(k, &(kugel__seat){.slot = kugel__int(slot)}, place);
      kugel__gen_if(g, transform, k->count);
      kugel__track t = kugel__track_of(k, transform, false);
      kugel__end_write(&t.side, p, kugel__build_finished(k, transform, p, p, (kugel__cval){x.im, x.re}));
      kugel__gen_end(g);
    }
    if (partly)
      kugel__gen_end(g);
  }
}

static void write_power(kugel__build *k, const kugel__track *t, const kugel__seat *s, kugel__val transform,
                        kugel__val i, bool pairs)
{
  kugel__gen *g = k->g;
  kugel__val at = g_add(g, i, kugel__int(1)), p = g_add(g, t->first, g_mul(g, at, t->stride));
  kugel__cval x = kugel__build_finished(k, transform, at, p, power(k, s, i));
  if (!pairs) {
    kugel__end_write(&t->side, p, x);
    return;
  }
  kugel__val mirrored = g_sub(g, kugel__int(k->b->m - 1), i);
  kugel__end_write_pair(&t->side, p, x, kugel__build_finished(k, transform, at, p, power(k, s, mirrored)));
}

void kugel__store_rader(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  bool pairs = kugel__line_pairs(&b->line, b->sink), at_once = together(b) && !pairs;
  int64_t items = pairs ? b->n / 2 : b->m, limit_i, limit_p;
  kugel__val transform = g_add(g, k->group, s->slot);
  kugel__stage_put(k, b->stages - 1, s, true);
  kugel__gen_note(g, "store");
  kugel__gen_if(g, transform, k->count);
  kugel__track t = kugel__track_of(k, transform, false);
  kugel__block_limits(b, &limit_i, &limit_p);
  kugel__gen_if(g, s->t, kugel__int(1));
  kugel__cval zero = kugel__build_finished(k, transform, kugel__int(0), t.first, k->zero);
  pairs ? kugel__end_write_pair(&t.side, t.first, zero, zero) : kugel__end_write(&t.side, t.first, zero);
  kugel__gen_end(g);
  for (int64_t from = 0; from < (at_once ? 0 : items); from += b->threads) {
    kugel__val i = g_add(g, s->t, kugel__int(from)), p;
    p = g_add(g, t.first, g_mul(g, g_add(g, i, kugel__int(1)), t.stride));
    bool partly = from + b->threads > items, cut = !pairs && limit_p < INT64_MAX;
    if (partly)
      kugel__gen_if(g, i, kugel__int(items));
    if (cut)
      kugel__gen_if(g, p, kugel__int(limit_p));
    write_power(k, &t, s, transform, i, pairs);
    if (cut)
      kugel__gen_end(g);
    if (partly)
      kugel__gen_end(g);
  }
  kugel__gen_end(g);
  if (at_once)
    store_together(k);
}
