/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of a block kernel, and shared memory between them. */
#include <string.h>
#include "fft/gpu/block_build.h"
#include "fft/roots/dft.h"

kugel__seat kugel__seat_of(kugel__build *k, bool across)
{
  kugel__gen *g = k->g;
  kugel__val threads = kugel__int(k->b->threads), group = kugel__int(k->b->group);
  if (k->b->group == 1)
    return (kugel__seat){k->lid, kugel__int(0)};
  if (across)
    return (kugel__seat){kugel__gen_name(g, "t", g_div(g, k->lid, group)),
                         kugel__gen_name(g, "slot", g_mod(g, k->lid, group))};
  return (kugel__seat){kugel__gen_name(g, "t", g_mod(g, k->lid, threads)),
                       kugel__gen_name(g, "slot", g_div(g, k->lid, threads))};
}

kugel__val kugel__row_of(kugel__build *k, kugel__val s, kugel__val *line)
{
  kugel__gen *g = k->g;
  int64_t rows = k->b->group / 2, half = k->b->mirror / 2;
  kugel__val block = kugel__gen_group_id(g), blocks = kugel__int((half + rows) / rows);
  *line = g_div(g, block, blocks);
  kugel__val row = g_add(g, g_mul(g, g_mod(g, block, blocks), kugel__int(rows)), s);
  return g_min(g, row, kugel__int(half)); // spare slots repeat the last row
}

kugel__val kugel__transform_of(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  kugel__val mirror = kugel__int(k->b->mirror), rows = kugel__int(k->b->group / 2), line;
  if (!k->b->mirror)
    return g_add(g, k->group, s->slot);
  kugel__val row = kugel__row_of(k, g_mod(g, s->slot, rows), &line);
  kugel__val mirrored = g_mod(g, g_sub(g, mirror, row), mirror);
  return g_add(g, g_mul(g, line, mirror), kugel__gen_select(g, s->slot, rows, row, mirrored));
}

kugel__val kugel__root_of(kugel__build *k, kugel__val transform)
{
  const kugel__block *b = k->b;
  if (b->big_outer)
    return g_div(k->g, transform, k->c0);
  return g_mod(k->g, transform, b->spectrum > 1 ? kugel__int(b->spectrum) : k->c0);
}

static bool spread(const kugel__build *k, int stage) // whose inputs are in all blocks of a cluster
{
  return k->b->how == KUGEL__BLOCK_CLUSTER && stage + 1 == k->b->stages;
}

kugel__val kugel__butterfly_of(kugel__build *k, const kugel__seat *s, int stage, int round)
{
  const kugel__block *b = k->b;
  int64_t last = b->m / b->radix[stage] - 1;
  kugel__val i = g_add(k->g, s->t, kugel__int((int64_t)round * b->threads));
  i = (int64_t)(round + 1) * b->threads > last + 1 ? g_min(k->g, i, kugel__int(last)) : i;
  return spread(k, stage) ? g_add(k->g, i, g_mul(k->g, k->rank, kugel__int(last + 1))) : i;
}

/* ---- shared memory ---- */

// Number of point base + offset of a slot. within: base and it are in the same multiple of that; 0: not
// known.
static kugel__val place(kugel__build *k, const kugel__seat *s, kugel__val base, int64_t offset,
                        int64_t within)
{
  kugel__gen *g = k->g;
  const kugel__bank_layout *l = &k->layout;
  kugel__val point, pad = kugel__int(l->pad);
  if (!l->pad)
    point = g_add(g, base, kugel__int(offset));
  else if (offset % l->pad == 0)
    point = g_add(g, g_add(g, base, g_div(g, base, pad)), kugel__int(offset + offset / l->pad));
  else if (within && l->pad % within == 0)
    point = g_add(g, g_add(g, base, g_div(g, base, pad)), kugel__int(offset));
  else {
    point = g_add(g, base, kugel__int(offset));
    point = g_add(g, point, g_div(g, point, pad));
  }
  return g_add(g, g_mul(g, point, kugel__int(l->point_step)), g_mul(g, s->slot, kugel__int(l->slot_step)));
}

static kugel__val imaginary(kugel__build *k, kugel__val at)
{
  return g_add(k->g, at, kugel__int(k->layout.plane));
}

static kugel__cval get_at(kugel__build *k, kugel__val at)
{
  if (k->layout.pairs)
    return kugel__gen_shared_pair(k->g, k->shared, at);
  kugel__val re = kugel__gen_load(k->g, k->shared, at, false);
  return (kugel__cval){re, kugel__gen_load(k->g, k->shared, imaginary(k, at), false)};
}

static void put_at(kugel__build *k, kugel__val at, kugel__cval x)
{
  if (k->layout.pairs) {
    kugel__gen_put_shared_pair(k->g, k->shared, at, x);
    return;
  }
  kugel__gen_store(k->g, k->shared, at, x.re);
  kugel__gen_store(k->g, k->shared, imaginary(k, at), x.im);
}

kugel__cval kugel__shared_get(kugel__build *k, const kugel__seat *s, kugel__val position)
{
  return get_at(k, place(k, s, position, 0, 0));
}

void kugel__shared_put(kugel__build *k, const kugel__seat *s, kugel__val position, kugel__cval x)
{
  put_at(k, place(k, s, position, 0, 0), x);
}

// Waits for all threads that read what this one wrote.
static void meet(kugel__build *k, bool cluster)
{
  if (!cluster) {
    kugel__gen_barrier(k->g);
    return;
  }
  kugel__gen_cluster_arrive(k->g);
  kugel__gen_cluster_wait(k->g);
}

// Of butterfly `round` of a thread, where result q goes, and where input q of stage `next` is.
static kugel__val result_place(kugel__build *k, const kugel__seat *s, int stage, int round, int q)
{
  kugel__gen *g = k->g;
  int64_t before = kugel__block_before(k->b, stage), r = k->b->radix[stage];
  kugel__val i = kugel__butterfly_of(k, s, stage, round), j = g_mod(g, i, kugel__int(before));
  kugel__val first = g_add(g, g_mul(g, g_sub(g, i, j), kugel__int(r)), j);
  return place(k, s, first, q * before, r * before);
}

static kugel__val input_place(kugel__build *k, const kugel__seat *s, int next, int round, int q)
{
  const kugel__block *b = k->b;
  int64_t r = b->radix[next], part = r / kugel__block_cluster_size(b);
  if (spread(k, next))
    return place(k, s, kugel__butterfly_of(k, s, next, round), q % part * (b->n / r), 0);
  return place(k, s, kugel__butterfly_of(k, s, next, round), q * (b->m / r), 0);
}

static kugel__val get_real(kugel__build *k, int next, int q, kugel__val at)
{
  const kugel__block *b = k->b;
  if (spread(k, next))
    return kugel__gen_remote(k->g, k->shared, (int)(q * b->of.cluster / b->radix[next]), at);
  return kugel__gen_load(k->g, k->shared, at, false);
}

static kugel__cval get_input(kugel__build *k, const kugel__seat *s, int next, int round, int q)
{
  const kugel__block *b = k->b;
  kugel__val at = input_place(k, s, next, round, q);
  if (k->layout.pairs && spread(k, next))
    return kugel__gen_remote_pair(k->g, k->shared, (int)(q * b->of.cluster / b->radix[next]), at);
  if (k->layout.pairs)
    return kugel__gen_shared_pair(k->g, k->shared, at);
  return (kugel__cval){get_real(k, next, q, at), get_real(k, next, q, imaginary(k, at))};
}

static void get_inputs(kugel__build *k, int next, const kugel__seat *s)
{
  const kugel__block *b = k->b;
  for (int round = 0; round < kugel__block_rounds(b, next); round++)
    for (int q = 0; q < b->radix[next]; q++)
      k->x[round * b->radix[next] + q] = get_input(k, s, next, round, q);
}

static void put_results(kugel__build *k, int stage, const kugel__seat *s, bool used)
{
  int r = k->b->radix[stage];
  kugel__gen_note(k->g, "through shared memory");
  if (used)
    kugel__gen_barrier(k->g);
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++)
    for (int q = 0; q < r; q++)
      put_at(k, result_place(k, s, stage, round, q), k->x[round * r + q]);
}

void kugel__stage_put(kugel__build *k, int stage, const kugel__seat *s, bool used)
{
  put_results(k, stage, s, used);
  kugel__gen_barrier(k->g);
}

// One part of the results of `stage`, or of the inputs of stage `next`.
static void put_part(kugel__build *k, int stage, const kugel__seat *s, bool im)
{
  int r = k->b->radix[stage];
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++)
    for (int q = 0; q < r; q++) {
      kugel__cval x = k->x[round * r + q];
      kugel__gen_store(k->g, k->shared, result_place(k, s, stage, round, q), im ? x.im : x.re);
    }
}

static void get_part(kugel__build *k, int next, const kugel__seat *s, kugel__val *part)
{
  for (int round = 0; round < kugel__block_rounds(k->b, next); round++)
    for (int q = 0; q < k->b->radix[next]; q++)
      *part++ = get_real(k, next, q, input_place(k, s, next, round, q));
}

static void exchange_halves(kugel__build *k, int stage, const kugel__seat *from, int next,
                            const kugel__seat *to, bool used)
{
  kugel__gen *g = k->g;
  kugel__val re[KUGEL__BLOCK_POINTS], im[KUGEL__BLOCK_POINTS];
  kugel__gen_note(g, "through shared memory, part by part");
  if (used)
    kugel__gen_barrier(g);
  bool cluster = spread(k, next);
  put_part(k, stage, from, false);
  meet(k, cluster);
  get_part(k, next, to, re);
  meet(k, cluster);
  put_part(k, stage, from, true);
  meet(k, cluster);
  get_part(k, next, to, im);
  if (cluster)
    kugel__gen_cluster_arrive(g);
  for (int i = 0; i < kugel__block_rounds(k->b, next) * k->b->radix[next]; i++)
    k->x[i] = (kugel__cval){re[i], im[i]};
}

void kugel__build_exchange(kugel__build *k, int stage, const kugel__seat *from, int next,
                           const kugel__seat *to, bool used)
{
  const kugel__block *b = k->b;
  if (b->halves) {
    exchange_halves(k, stage, from, next, to, used);
    return;
  }
  put_results(k, stage, from, used);
  meet(k, spread(k, next));
  get_inputs(k, next, to);
  if (spread(k, next))
    kugel__gen_cluster_arrive(k->g);
}

/* ---- stages ---- */

static void butterflies(kugel__build *k, const kugel__seat *s, int stage)
{
  kugel__gen *g = k->g;
  int64_t before = kugel__block_before(k->b, stage), table = k->at.twiddles[stage];
  int r = k->b->radix[stage], step = kugel__twiddle_step(k->b, r);
  kugel__cval w[KUGEL__DFT_MAX];
  kugel__gen_note(g, stage ? "twiddles and butterflies" : "butterflies");
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++) {
    kugel__cval *x = k->x + round * r;
    kugel__val j = g_mod(g, kugel__butterfly_of(k, s, stage, round), kugel__int(before));
    for (int q = 1; q < r && stage > 0; q++) {
      kugel__val at = g_add(g, j, kugel__int(table + kugel__twiddle_row(q, step) * before));
      w[q] = q < step || q % step == 0 ? kugel__gen_load_pair(g, k->tables, at)
                                       : kugel__gen_cmul(g, w[q - q % step], w[q % step]);
      x[q] = kugel__gen_cmul(g, x[q], w[q]);
    }
    kugel__fft_dft(g, x, r, -1);
  }
}

static kugel__val roots_at(kugel__build *k, kugel__val i) // pairs, the last of shared memory
{
  const kugel__block *b = k->b;
  int64_t roots = (int64_t)b->group * b->radix[b->stages - 1];
  return g_add(k->g, i, kugel__int(kugel__block_shared(b) / 2 - roots));
}

kugel__cval kugel__shared_root(kugel__build *k, const kugel__seat *s, int q)
{
  return kugel__gen_shared_pair(k->g, k->shared,
                                roots_at(k, g_add(k->g, s->slot, kugel__int(q * k->b->group))));
}

static void share_roots(kugel__build *k)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int r = b->radix[b->stages - 1];
  int64_t roots = (int64_t)b->group * r, threads = (int64_t)b->threads * b->group;
  kugel__gen_note(g, "roots of the long line");
  for (int64_t from = 0; from < roots; from += threads) {
    kugel__val i = g_add(g, k->lid, kugel__int(from)), group = kugel__int(b->group);
    bool partly = from + threads > roots;
    if (partly)
      kugel__gen_if(g, i, kugel__int(roots));
    kugel__val row = kugel__root_of(k, g_add(g, k->group, g_mod(g, i, group)));
    kugel__val e = g_mul(g, row, g_mul(g, g_div(g, i, group), kugel__int(b->m / r)));
    kugel__cval w = kugel__tables_root(g, &k->at.roots[KUGEL__ROOTS_BIG], k->tables, e);
    kugel__gen_put_shared_pair(g, k->shared, roots_at(k, i), w);
    if (partly)
      kugel__gen_end(g);
  }
  if (b->stages == 2) // no exchange follows
    kugel__gen_barrier(g);
}

void kugel__build_stages(kugel__build *k, const kugel__seat *first, const kugel__seat *middle,
                         const kugel__seat *last, bool used)
{
  const kugel__block *b = k->b;
  for (int stage = 0; stage < b->stages; stage++) {
    const kugel__seat *s = stage == 0 ? first : stage + 1 < b->stages ? middle : last;
    const kugel__seat *next = stage + 2 < b->stages ? middle : last;
    butterflies(k, s, stage);
    if (stage + 1 < b->stages)
      kugel__build_exchange(k, stage, s, stage + 1, next, used || stage > 0);
    if (stage == 0 && kugel__block_shares_roots(b))
      share_roots(k);
  }
}

// Results of the last stage times the spectrum, exchanged: the inputs of the first stage back.
static void convolve(kugel__build *k, const kugel__seat *s)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int stage = b->stages - 1, r = b->radix[stage];
  int64_t before = b->m / r;
  kugel__gen_note(g, "times the spectrum of the convolution");
  kugel__val row = kugel__int(k->at.spectrum), zero = kugel__real(dd_from(0));
  if (b->how == KUGEL__BLOCK_SPLIT)
    row = kugel__int(k->at.spectrum + k->part * b->m);
  else if (b->spectrum > 1) {
    kugel__val transform = g_add(g, k->group, s->slot);
    row = g_add(g, g_mul(g, kugel__root_of(k, transform), kugel__int(b->m)), row);
  }
  for (int round = 0; round < kugel__block_rounds(b, stage); round++)
    for (int q = 0; q < r; q++) {
      kugel__cval *x = &k->x[round * r + q];
      kugel__val i = kugel__butterfly_of(k, s, stage, round);
      kugel__val at = g_add(g, g_add(g, i, kugel__int(q * before)), row);
      kugel__cval y = kugel__gen_cmul(g, *x, kugel__gen_load_pair(g, k->tables, at));
      if (b->how == KUGEL__BLOCK_RADER &&
          q + round == 0) { // x_0 is added to all others; the sum of all is result 0
        k->zero = g_cadd(g, *x, k->first);
        y.re = g_add(g, y.re, kugel__gen_select(g, i, kugel__int(1), k->first.re, zero));
        y.im = g_add(g, y.im, kugel__gen_select(g, i, kugel__int(1), k->first.im, zero));
      }
      *x = (kugel__cval){y.im, y.re};
    }
}

void kugel__there_and_back(kugel__build *k, const kugel__seat *in, const kugel__seat *out, bool used)
{
  kugel__build_stages(k, in, in, in, used);
  convolve(k, in);
  k->b = &k->back;
  memcpy(k->at.twiddles, k->at.twiddles_back, sizeof k->at.twiddles);
  kugel__build_stages(k, in, in, out, true);
}
