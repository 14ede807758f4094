/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/conv/line.h"
#include <math.h>
#include "fft/conv/sums.h"

typedef struct build {
  kugel__build k; // first: what the stages need
  const kugel__conv_line *c;
  kugel__val spectra, lines, live; // live: transforms that there are
  kugel__val line, output, box;    // of the transform
  kugel__cval sum[KUGEL__BLOCK_POINTS];
} build;

static void parameters(build *b)
{
  kugel__build *k = &b->k;
  kugel__gen *g = k->g;
  kugel__type pair = k->b->real == KUGEL__F32 ? KUGEL__C32 : KUGEL__C64;
  k->in = kugel__gen_pointer(g, pair, "in");
  k->out = kugel__gen_pointer(g, pair, "out");
  k->tables = kugel__gen_pointer(g, pair, "tables");
  b->spectra = kugel__gen_pointer(g, pair, "spectra");
  kugel__val boxes = kugel__gen_parameter(g, KUGEL__I64, "boxes");
  b->lines = kugel__gen_parameter(g, KUGEL__I64, "lines");
  b->live = kugel__gen_name(g, "transforms", g_mul(g, g_mul(g, boxes, kugel__int(b->c->outputs)), b->lines));
  k->at = kugel__tables_of(k->b);
  k->lid = kugel__gen_name(g, "thread", kugel__gen_local_id(g));
  k->group = kugel__gen_name(g, "first", g_mul(g, kugel__gen_group_id(g), kugel__int(k->b->group)));
  if (kugel__block_shared(k->b))
    k->shared = kugel__gen_shared(g, k->b->real, "shared", kugel__block_shared(k->b));
}

// The line, result and box of a thread's transform; spare ones repeat the last.
static void find_line(build *b, const kugel__seat *s)
{
  kugel__gen *g = b->k.g;
  kugel__val t = g_min(g, g_add(g, b->k.group, s->slot), g_sub(g, b->live, kugel__int(1)));
  kugel__val rest = g_div(g, t, b->lines), outputs = kugel__int(b->c->outputs);
  b->line = kugel__gen_name(g, "line", g_mod(g, t, b->lines));
  b->output = g_mod(g, rest, outputs);
  b->box = g_div(g, rest, outputs);
}

// Where the line of box or kernel `row` begins in an array of `count` points a line.
static kugel__val line_at(build *b, kugel__val row, int64_t count, const char *name)
{
  kugel__gen *g = b->k.g;
  kugel__val at = g_add(g, g_mul(g, row, b->lines), b->line);
  return kugel__gen_name(g, name, g_mul(g, at, kugel__int(count)));
}

static void load(build *b, const kugel__seat *s, kugel__val channel)
{
  kugel__build *k = &b->k;
  kugel__gen *g = k->g;
  int r = k->b->radix[0];
  int64_t step = k->b->m / r, fill = b->c->axis.fill;
  kugel__val zero = kugel__real(dd_from(0));
  kugel__val row = g_add(g, g_mul(g, b->box, kugel__int(b->c->each ? b->c->outputs : b->c->inputs)), channel);
  kugel__gen_note(g, "load; what is padding is 0");
  kugel__val from = line_at(b, row, fill, "from");
  for (int round = 0; round < kugel__block_rounds(k->b, 0); round++) {
    kugel__val i = kugel__butterfly_of(k, s, 0, round);
    for (int q = 0; q < r; q++) {
      kugel__cval *x = &k->x[round * r + q];
      kugel__val p = g_add(g, i, kugel__int(q * step));
      bool partly = (q + 1) * step > fill;
      *x = (kugel__cval){zero, zero};
      if (q * step >= fill)
        continue;
      kugel__val inside = partly ? g_min(g, p, kugel__int(fill - 1)) : p;
      *x = kugel__gen_load_pair(g, k->in, g_add(g, from, inside));
      if (partly) {
        x->re = kugel__gen_select(g, p, kugel__int(fill), x->re, zero);
        x->im = kugel__gen_select(g, p, kugel__int(fill), x->im, zero);
      }
    }
  }
}

static void store(build *b, const kugel__seat *s)
{
  kugel__build *k = &b->k;
  kugel__gen *g = k->g;
  int stage = k->b->stages - 1, r = k->b->radix[stage];
  int64_t before = k->b->m / r, skip = b->c->axis.skip, end = skip + b->c->axis.step;
  kugel__val row = g_add(g, g_mul(g, b->box, kugel__int(b->c->outputs)), b->output);
  kugel__gen_note(g, "store the results alone");
  kugel__val to = line_at(b, row, end - skip, "to");
  kugel__gen_if(g, g_add(g, k->group, s->slot), b->live);
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++)
    for (int q = 0; q < r; q++) {
      int64_t low = q * before, high = low + before;
      if (high <= skip || low >= end)
        continue;
      kugel__val p = g_add(g, kugel__butterfly_of(k, s, stage, round), kugel__int(low));
      if (low < skip)
        kugel__gen_if(g, kugel__int(skip - 1), p);
      if (high > end)
        kugel__gen_if(g, p, kugel__int(end));
      kugel__cval x = k->x[round * r + q]; // exchanged
      kugel__gen_store_pair(g, k->out, g_add(g, to, g_sub(g, p, kugel__int(skip))),
                            (kugel__cval){x.im, x.re});
      if (high > end)
        kugel__gen_end(g);
      if (low < skip)
        kugel__gen_end(g);
    }
  kugel__gen_end(g);
}

/* ---- what fits ---- */

enum { MOST = 32 /* points of a thread */, THREADS = 128 /* of a block, about */, REGISTERS = 65536 };

static int points_of(const kugel__block *b)
{
  int most = 0;
  for (int i = 0; i < b->stages; i++)
    most = (int)kugel__max(most, kugel__block_rounds(b, i) * b->radix[i]);
  return most;
}

// Stages, what threads do for nothing, and registers that the points of a thread take from others.
static double cost_of(const kugel__block *b)
{
  double idle = 0;
  int points = points_of(b), comfortable = b->real == KUGEL__F32 ? 20 : 16;
  for (int i = 0; i < b->stages; i++)
    idle += (double)kugel__block_rounds(b, i) * b->threads * b->radix[i] / (double)b->m - 1;
  return b->stages + idle + .08 * kugel__max(0, points - comfortable) +
         .02 * kugel__max(0, comfortable - points);
}

typedef struct search {
  kugel__block best, trial;
  double cost;
} search;

static void try_threads(search *s)
{
  kugel__block *b = &s->trial;
  for (int i = 0; i < b->stages; i++)
    for (int times = 1; times <= 8; times++) {
      b->threads = (int)kugel__max(1, b->m / (b->radix[i] * times));
      if (b->threads > 1024 || points_of(b) > MOST || cost_of(b) >= s->cost)
        continue;
      s->best = *b;
      s->cost = cost_of(b);
    }
}

static void try_radices(search *s, int64_t rest, int largest)
{
  kugel__block *b = &s->trial;
  if (rest == 1)
    try_threads(s);
  else if (b->stages < 6)
    for (int r = largest; r > 1; r--) {
      if (rest % r || (r > 20 && r != 23 && r != 29 && r != 31))
        continue;
      b->radix[b->stages++] = r;
      try_radices(s, rest / r, r);
      b->stages--;
    }
}

bool kugel__conv_line_fit(const kugel__conv_axis *axis, kugel__type real, uint64_t shared,
                          kugel__conv_line *out)
{
  int64_t box = axis->box, size = real == KUGEL__F32 ? 4 : 8;
  search s = {.trial = {.real = real, .n = box, .m = box, .radix = {1}, .group = 1}, .cost = INFINITY};
  s.trial.line = kugel__line_of(KUGEL_FFT_C2C, false, box);
  s.trial.stages = box == 1; // of one point
  if (box <= 1 << 15)
    try_radices(&s, box, 31);
  if (s.cost == INFINITY)
    return false;
  kugel__block *b = &out->block;
  *b = s.best;
  while (2 * b->group * b->threads <= THREADS)
    b->group *= 2;
  while (b->group > 1 && (uint64_t)(kugel__block_shared(b) * size) > shared)
    b->group /= 2;
  b->halves = b->stages > 1 && kugel__block_shared(b) * size > 56 << 10;
  out->axis = *axis;
  return (uint64_t)(kugel__block_shared(b) * size) <= shared;
}

// How many blocks a multiprocessor holds if threads have the registers that they need.
static int blocks_of(const kugel__block *b)
{
  int need = (b->real == KUGEL__F32 ? 26 + 9 * points_of(b) / 2 : 26 + 6 * points_of(b));
  for (int i = 0; i < b->stages; i++)
    need += kugel__block_rounds(b, i) > 1 ? (b->real == KUGEL__F32 ? 20 : 32) : 0;
  int lanes = (b->threads * b->group + 31) / 32 * 32;
  return (int)kugel__max(1, REGISTERS / ((need + 7) / 8 * 8) / lanes);
}

void kugel__conv_line_build(const kugel__conv_line *c, kugel_ctx *ctx, kugel__gen *g)
{
  build b = {.k = {.b = &c->block, .g = g, .layout = kugel__bank_layout_of(&c->block)}, .c = c};
  kugel__gen_init(g, ctx, "fft_conv");
  g->threads = c->block.threads * c->block.group;
  g->blocks = blocks_of(&c->block);
  parameters(&b);
  kugel__seat s = kugel__seat_of(&b.k, false);
  find_line(&b, &s);
  for (int i = 0; i < (c->each ? 1 : c->inputs); i++) {
    load(&b, &s, c->each ? b.output : kugel__int(i));
    kugel__build_stages(&b.k, &s, &s, &s, i > 0);
    kugel__val row = c->each ? b.output : g_add(g, g_mul(g, b.output, kugel__int(c->inputs)), kugel__int(i));
    kugel__add_product(&b.k, b.sum, &s, b.spectra, line_at(&b, row, b.k.b->m, "spectrum"), i == 0);
  }
  kugel__turn_back(&b.k, b.sum, &s);
  kugel__build_stages(&b.k, &s, &s, &s, true);
  store(&b, &s);
}
