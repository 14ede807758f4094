/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of a block kernel, and shared memory between them. */
#include "fft/block_build.h"
#include "fft/dft.h"

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

int64_t kugel__block_before(const kugel__block *b, int stage)
{
  int64_t s = 1;
  for (int i = 0; i < stage; i++)
    s *= b->radix[i];
  return s;
}

int kugel__block_rounds(const kugel__block *b, int stage)
{
  int64_t butterflies = b->m / b->radix[stage];
  return (int)((butterflies + b->threads - 1) / b->threads);
}

kugel__val kugel__butterfly_of(kugel__build *k, const kugel__seat *s, int stage, int round)
{
  const kugel__block *b = k->b;
  int64_t last = b->m / b->radix[stage] - 1;
  kugel__val i = g_add(k->g, s->t, kugel__int((int64_t)round * b->threads));
  return (int64_t)(round + 1) * b->threads > last + 1 ? g_min(k->g, i, kugel__int(last)) : i;
}

/* ---- shared memory ---- */

kugel__val kugel__address(kugel__build *k, const kugel__seat *s, kugel__val position, bool im)
{
  kugel__gen *g = k->g;
  const kugel__bank_layout *l = &k->layout;
  kugel__val padded = l->pad ? g_add(g, position, g_div(g, position, kugel__int(l->pad))) : position;
  kugel__val at =
      g_add(g, g_mul(g, padded, kugel__int(l->point_step)), g_mul(g, s->slot, kugel__int(l->slot_step)));
  return g_add(g, at, kugel__int(im ? l->plane : 0));
}

kugel__cval kugel__shared_get(kugel__build *k, const kugel__seat *s, kugel__val position)
{
  kugel__val re = kugel__gen_load(k->g, k->shared, kugel__address(k, s, position, false), false);
  return (kugel__cval){re, kugel__gen_load(k->g, k->shared, kugel__address(k, s, position, true), false)};
}

void kugel__shared_put(kugel__build *k, const kugel__seat *s, kugel__val position, kugel__cval x)
{
  kugel__gen_store(k->g, k->shared, kugel__address(k, s, position, false), x.re);
  kugel__gen_store(k->g, k->shared, kugel__address(k, s, position, true), x.im);
}

void kugel__stage_put(kugel__build *k, int stage, const kugel__seat *s, bool used)
{
  kugel__gen *g = k->g;
  int64_t before = kugel__block_before(k->b, stage), r = k->b->radix[stage];
  kugel__gen_note(g, "through shared memory");
  if (used)
    kugel__gen_barrier(g);
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++) {
    kugel__val i = kugel__butterfly_of(k, s, stage, round), j = g_mod(g, i, kugel__int(before));
    kugel__val first = g_add(g, g_mul(g, g_sub(g, i, j), kugel__int(r)), j);
    for (int q = 0; q < r; q++)
      kugel__shared_put(k, s, g_add(g, first, kugel__int(q * before)), k->x[round * r + q]);
  }
  kugel__gen_barrier(g);
}

// One part of the results of `stage`, or of the inputs of stage `next`.
static void put_part(kugel__build *k, int stage, const kugel__seat *s, bool im)
{
  kugel__gen *g = k->g;
  int64_t before = kugel__block_before(k->b, stage), r = k->b->radix[stage];
  for (int round = 0; round < kugel__block_rounds(k->b, stage); round++) {
    kugel__val i = kugel__butterfly_of(k, s, stage, round), j = g_mod(g, i, kugel__int(before));
    kugel__val first = g_add(g, g_mul(g, g_sub(g, i, j), kugel__int(r)), j);
    for (int q = 0; q < r; q++) {
      kugel__cval x = k->x[round * r + q];
      kugel__val at = kugel__address(k, s, g_add(g, first, kugel__int(q * before)), false);
      kugel__gen_store(g, k->shared, at, im ? x.im : x.re);
    }
  }
}

static void get_part(kugel__build *k, int next, const kugel__seat *s, kugel__val *part)
{
  kugel__gen *g = k->g;
  int64_t step = k->b->m / k->b->radix[next];
  for (int round = 0; round < kugel__block_rounds(k->b, next); round++) {
    kugel__val i = kugel__butterfly_of(k, s, next, round);
    for (int q = 0; q < k->b->radix[next]; q++) {
      kugel__val at = kugel__address(k, s, g_add(g, i, kugel__int(q * step)), false);
      *part++ = kugel__gen_load(g, k->shared, at, false);
    }
  }
}

static void exchange_halves(kugel__build *k, int stage, const kugel__seat *from, int next,
                            const kugel__seat *to, bool used)
{
  kugel__gen *g = k->g;
  kugel__val re[KUGEL__BLOCK_POINTS], im[KUGEL__BLOCK_POINTS];
  kugel__gen_note(g, "through shared memory, part by part");
  if (used)
    kugel__gen_barrier(g);
  put_part(k, stage, from, false);
  kugel__gen_barrier(g);
  get_part(k, next, to, re);
  kugel__gen_barrier(g);
  put_part(k, stage, from, true);
  kugel__gen_barrier(g);
  get_part(k, next, to, im);
  for (int i = 0; i < kugel__block_rounds(k->b, next) * k->b->radix[next]; i++)
    k->x[i] = (kugel__cval){re[i], im[i]};
}

void kugel__exchange(kugel__build *k, int stage, const kugel__seat *from, int next, const kugel__seat *to,
                     bool used)
{
  const kugel__block *b = k->b;
  int64_t step = b->m / b->radix[next];
  if (b->halves) {
    exchange_halves(k, stage, from, next, to, used);
    return;
  }
  kugel__stage_put(k, stage, from, used);
  for (int round = 0; round < kugel__block_rounds(b, next); round++) {
    kugel__val i = kugel__butterfly_of(k, to, next, round);
    for (int q = 0; q < b->radix[next]; q++)
      k->x[round * b->radix[next] + q] = kugel__shared_get(k, to, g_add(k->g, i, kugel__int(q * step)));
  }
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
    kugel__dft(g, x, r, -1);
  }
}

void kugel__stages(kugel__build *k, const kugel__seat *first, const kugel__seat *middle,
                   const kugel__seat *last, bool used)
{
  const kugel__block *b = k->b;
  for (int stage = 0; stage < b->stages; stage++) {
    const kugel__seat *s = stage == 0 ? first : stage + 1 < b->stages ? middle : last;
    const kugel__seat *next = stage + 2 < b->stages ? middle : last;
    butterflies(k, s, stage);
    if (stage + 1 < b->stages)
      kugel__exchange(k, stage, s, stage + 1, next, used || stage > 0);
  }
}

void kugel__convolve(kugel__build *k, const kugel__seat *from, const kugel__seat *to)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int stage = b->stages - 1, r = b->radix[stage];
  int64_t before = b->m / r;
  kugel__gen_note(g, "times the spectrum of the convolution");
  kugel__val row = kugel__int(k->at.spectrum), zero = kugel__real(dd_from(0));
  if (b->spectrum > 1) {
    kugel__val transform = g_add(g, k->group, from->slot);
    row = g_add(g, g_mul(g, g_mod(g, transform, k->c0), kugel__int(b->m)), row);
  }
  for (int round = 0; round < kugel__block_rounds(b, stage); round++)
    for (int q = 0; q < r; q++) {
      kugel__cval *x = &k->x[round * r + q];
      kugel__val i = kugel__butterfly_of(k, from, stage, round);
      kugel__val at = g_add(g, g_add(g, i, kugel__int(q * before)), row);
      kugel__cval y = kugel__gen_cmul(g, *x, kugel__gen_load_pair(g, k->tables, at));
      if (b->rader && q + round == 0) { // x_0 is added to all others; the sum of all is result 0
        kugel__cval first = kugel__load_zero(k, from);
        k->zero = g_cadd(g, *x, first);
        y.re = g_add(g, y.re, kugel__gen_select(g, i, kugel__int(1), first.re, zero));
        y.im = g_add(g, y.im, kugel__gen_select(g, i, kugel__int(1), first.im, zero));
      }
      *x = (kugel__cval){y.im, y.re};
    }
  kugel__exchange(k, stage, from, 0, to, b->stages > 1 || b->rader);
}
