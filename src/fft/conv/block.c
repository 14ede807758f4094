/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/conv/block.h"
#include <math.h>
#include "fft/conv/sums.h"

enum { PARTS = 2 };

typedef struct build {
  kugel__build k; // first: what the stages need
  const kugel__conv_block *c;
  kugel__val lines, in_batch, in_channel, out_batch, out_channel;
  kugel__val live;                      // of the last transform that there is, at most: its number
  kugel__val pair, output;              // of the transform
  kugel__val tile[PARTS], batch[PARTS]; // of its lines
  kugel__cval sum[KUGEL__BLOCK_POINTS];
} build;

static void parameters(build *b)
{
  kugel__build *k = &b->k;
  kugel__gen *g = k->g;
  kugel__type real = k->b->real, pair = real == KUGEL__F32 ? KUGEL__C32 : KUGEL__C64;
  kugel__type data = b->c->complex_data ? pair : real;
  k->in = kugel__gen_pointer(g, data, "in");
  k->out = kugel__gen_pointer(g, data, "out");
  k->tables = kugel__gen_pointer(g, pair, "tables");
  b->lines = kugel__gen_parameter(g, KUGEL__I64, "lines");
  k->in_at = kugel__gen_parameter(g, KUGEL__I64, "in_at");
  b->in_batch = kugel__gen_parameter(g, KUGEL__I64, "in_batch");
  b->in_channel = kugel__gen_parameter(g, KUGEL__I64, "in_channel");
  k->in_step = kugel__gen_parameter(g, KUGEL__I64, "in_step");
  k->out_at = kugel__gen_parameter(g, KUGEL__I64, "out_at");
  b->out_batch = kugel__gen_parameter(g, KUGEL__I64, "out_batch");
  b->out_channel = kugel__gen_parameter(g, KUGEL__I64, "out_channel");
  k->out_step = kugel__gen_parameter(g, KUGEL__I64, "out_step");
  k->at = kugel__tables_of(k->b);
  k->lid = kugel__gen_name(g, "thread", kugel__gen_local_id(g));
  k->group = kugel__gen_name(g, "first", g_mul(g, kugel__gen_group_id(g), kugel__int(k->b->group)));
  if (kugel__block_shared(k->b))
    k->shared = kugel__gen_shared(g, real, "shared", kugel__block_shared(k->b));
}

static int parts_of(const build *b)
{
  return b->c->complex_data ? 1 : PARTS;
}

// Which lines and which result a thread's transform is of; spare ones repeat the last.
static void find_lines(build *b, const kugel__seat *s)
{
  kugel__gen *g = b->k.g;
  int64_t parts = parts_of(b), outputs = b->c->outputs, tiles = b->c->axis.tiles;
  kugel__val last = g_sub(g, b->lines, kugel__int(1));
  kugel__val pairs = g_div(g, g_add(g, b->lines, kugel__int(parts - 1)), kugel__int(parts));
  b->live = kugel__gen_name(g, "transforms", g_mul(g, pairs, kugel__int(outputs)));
  kugel__val t = g_min(g, g_add(g, b->k.group, s->slot), g_sub(g, b->live, kugel__int(1)));
  b->pair = g_div(g, t, kugel__int(outputs));
  b->output = g_mod(g, t, kugel__int(outputs));
  for (int part = 0; part < parts; part++) {
    kugel__val line = g_min(g, g_add(g, g_mul(g, b->pair, kugel__int(parts)), kugel__int(part)), last);
    b->tile[part] = g_mod(g, line, kugel__int(tiles));
    b->batch[part] = g_div(g, line, kugel__int(tiles));
  }
}

/* ---- load ---- */

// Datum at position p of a tile, or 0 where there is none; low <= p < high.
static kugel__cval datum(build *b, int part, kugel__val base, kugel__val p, int64_t low, int64_t high)
{
  kugel__gen *g = b->k.g;
  const kugel__conv_axis *a = &b->c->axis;
  kugel__val zero = kugel__real(dd_from(0)), n = kugel__int(a->n), fill = kugel__int(a->fill);
  if (low >= a->fill)
    return (kugel__cval){zero, zero};
  bool ends = a->tiles > 1 && !b->c->circular, partly = high > a->fill;
  kugel__val inside = partly ? g_min(g, p, kugel__int(a->fill - 1)) : p, j;
  if (b->c->circular) { // lo - skip > -n
    kugel__val first =
        g_add(g, g_mul(g, b->tile[part], kugel__int(a->step)), kugel__int(a->lo - a->skip + a->n));
    j = g_mod(g, g_add(g, first, inside), n);
  } else
    j = g_add(g, g_add(g, g_mul(g, b->tile[part], kugel__int(a->step)), kugel__int(a->lo - a->skip)), inside);
  kugel__val at = j;
  if (ends)
    at = g_min(g, kugel__gen_select(g, j, kugel__int(0), kugel__int(0), j), kugel__int(a->n - 1));
  at = g_add(g, base, g_mul(g, at, b->k.in_step));
  kugel__cval x = {zero, zero};
  if (b->c->complex_data)
    x = kugel__gen_load_pair(g, b->k.in, at);
  else
    x.re = kugel__gen_load(g, b->k.in, at, false);
  for (int i = 0; i < (b->c->complex_data ? 2 : 1); i++) {
    kugel__val *v = i ? &x.im : &x.re;
    if (partly)
      *v = kugel__gen_select(g, p, fill, *v, zero);
    if (ends) {
      *v = kugel__gen_select(g, j, n, *v, zero);
      *v = kugel__gen_select(g, j, kugel__int(0), zero, *v);
    }
  }
  return x;
}

static void load(build *b, const kugel__seat *s, kugel__val channel)
{
  kugel__build *k = &b->k;
  kugel__gen *g = k->g;
  int r = k->b->radix[0], parts = parts_of(b);
  int64_t step = k->b->m / r;
  kugel__val base[PARTS];
  kugel__gen_note(g, "load; what is padding is 0");
  for (int part = 0; part < parts; part++) {
    kugel__val at = g_add(g, k->in_at, g_mul(g, b->batch[part], b->in_batch));
    base[part] = kugel__gen_name(g, "from", g_add(g, at, g_mul(g, channel, b->in_channel)));
  }
  for (int round = 0; round < kugel__block_rounds(k->b, 0); round++) {
    kugel__val i = kugel__butterfly_of(k, s, 0, round);
    for (int q = 0; q < r; q++) {
      kugel__val p = g_add(g, i, kugel__int(q * step));
      kugel__cval x = datum(b, 0, base[0], p, q * step, (q + 1) * step);
      if (parts > 1)
        x.im = datum(b, 1, base[1], p, q * step, (q + 1) * step).re;
      k->x[round * r + q] = x;
    }
  }
}

/* ---- store ---- */

static void store_part(build *b, int part, const kugel__seat *s)
{
  kugel__build *k = &b->k;
  kugel__gen *g = k->g;
  const kugel__conv_axis *a = &b->c->axis;
  int stage = k->b->stages - 1, r = k->b->radix[stage];
  int64_t before = k->b->m / r, skip = a->skip, end = skip + a->step;
  kugel__val at = g_add(g, k->out_at, g_mul(g, b->batch[part], b->out_batch));
  at = g_add(g, at, g_mul(g, b->output, b->out_channel));
  kugel__val first = g_mul(g, b->tile[part], kugel__int(a->step));
  kugel__val base = kugel__gen_name(g, "to", g_add(g, at, g_mul(g, first, k->out_step)));
  // results of this tile: fewer in the last one
  kugel__val limit =
      g_add(g, g_min(g, kugel__int(a->step), g_sub(g, kugel__int(a->hi - a->lo), first)), kugel__int(skip));
  bool whole = a->hi - a->lo == a->step * a->tiles;
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++) {
    kugel__val i = kugel__butterfly_of(k, s, stage, round);
    for (int q = 0; q < r; q++) {
      int64_t low = q * before, high = low + before;
      if (high <= skip || low >= end)
        continue;
      kugel__val p = g_add(g, i, kugel__int(low));
      bool after = low<skip, until = high> end || !whole;
      if (after)
        kugel__gen_if(g, kugel__int(skip - 1), p);
      if (until)
        kugel__gen_if(g, p, limit);
      kugel__val to = g_add(g, base, g_mul(g, g_sub(g, p, kugel__int(skip)), k->out_step));
      kugel__cval x = k->x[round * r + q]; // exchanged
      if (b->c->complex_data)
        kugel__gen_store_pair(g, k->out, to, (kugel__cval){x.im, x.re});
      else
        kugel__gen_store(g, k->out, to, part ? x.re : x.im);
      if (until)
        kugel__gen_end(g);
      if (after)
        kugel__gen_end(g);
    }
  }
}

static void store(build *b, const kugel__seat *s)
{
  kugel__gen *g = b->k.g;
  kugel__gen_note(g, "store what no wrap-around touches");
  kugel__gen_if(g, g_add(g, b->k.group, s->slot), b->live);
  store_part(b, 0, s);
  if (parts_of(b) > 1) {
    kugel__gen_if(g, g_add(g, g_mul(g, b->pair, kugel__int(PARTS)), kugel__int(1)), b->lines);
    store_part(b, 1, s);
    kugel__gen_end(g);
  }
  kugel__gen_end(g);
}

void kugel__conv_block_build(const kugel__conv_block *c, kugel_ctx *ctx, kugel__gen *g)
{
  build b = {.k = {.b = &c->block, .g = g, .layout = kugel__bank_layout_of(&c->block)}, .c = c};
  kugel__gen_init(g, ctx, "fft_conv");
  g->threads = c->block.threads * c->block.group;
  parameters(&b);
  kugel__seat s = kugel__seat_of(&b.k, false);
  find_lines(&b, &s);
  for (int i = 0; i < (c->each ? 1 : c->inputs); i++) {
    load(&b, &s, c->each ? b.output : kugel__int(i));
    kugel__build_stages(&b.k, &s, &s, &s, i > 0);
    kugel__val row = c->each ? b.output : g_add(g, g_mul(g, b.output, kugel__int(c->inputs)), kugel__int(i));
    kugel__val at = g_add(g, g_mul(g, row, kugel__int(b.k.b->m)), kugel__int(b.k.at.spectrum));
    kugel__add_product(&b.k, b.sum, &s, b.k.tables, at, i == 0);
  }
  kugel__turn_back(&b.k, b.sum, &s);
  kugel__build_stages(&b.k, &s, &s, &s, true);
  store(&b, &s);
}

/* ---- what fits ---- */

// Memory moved, and operations for each number moved, of which a device has some for nothing; longer boxes
// leave a thread too few registers.
static double cost(const kugel__conv_axis *a)
{
  enum { COMFORTABLE = 4096 };
  double moved = (double)a->tiles * (double)(kugel__min(a->fill, a->box) + a->step);
  double work = (double)a->tiles * (double)a->box * fmax(0.15 * log2((double)a->box) - 0.5, 0.5);
  return (moved + work) * (a->box > COMFORTABLE ? 1.3 : 1);
}

// `lean`: with radices whose butterflies leave registers for the rest.
static bool fits(int64_t box, kugel__type real, uint64_t shared, bool lean, kugel__block *b)
{
  if (box > 1 << 15 || !kugel__block_fit(box, real, shared, b) || b->m != box)
    return false;
  for (int i = 0; i < b->stages; i++)
    if (b->radix[i] > 16 && lean)
      return false;
  b->flat = false; // none of its shortcuts
  b->spectrum = 1;
  return (uint64_t)kugel__block_shared(b) * (real == KUGEL__F32 ? 4 : 8) <= shared;
}

bool kugel__conv_block_fit(const kugel__conv_axis *axis, bool circular, kugel__type real, uint64_t shared,
                           kugel__conv_block *out)
{
  bool found = false;
  kugel__conv_axis one = kugel__conv_one_tile(*axis, circular), best = one;
  if (fits(one.box, real, shared, true, &out->block))
    found = true;
  for (int64_t box = 8; box <= 1 << 15; box = box & (box - 1) ? box / 3 * 4 : box / 2 * 3) { // 8 12 16 24 ...
    kugel__block b;
    if (box < 2 * axis->k || !fits(box, real, shared, true, &b))
      continue;
    kugel__conv_axis tiled = kugel__conv_many_tiles(*axis, box);
    if (found && cost(&tiled) >= cost(&best))
      continue;
    best = tiled;
    out->block = b;
    found = true;
  }
  found = found || fits(one.box, real, shared, false, &out->block);
  out->axis = best;
  out->circular = circular;
  return found;
}
