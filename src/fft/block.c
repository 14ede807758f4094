/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/block.h"
#include "fft/banks.h"
#include "fft/dft.h"
#include "fft/radices.h"

enum { MAX_POINTS = 48 }; // of a thread

/* The kernel being built. */
typedef struct build {
  const kugel__block *b;
  kugel__gen *g;
  kugel__val in, out, tables, roots, shared, count, c0, in_at, out_at, in_d0, in_d1, in_step, out_d0, out_d1,
      out_step, scale;
  kugel__val lid, group; // thread; first transform of the block
  kugel__cval x[MAX_POINTS];
  kugel__bank_layout layout;
} build;

/* Who a thread is in a stage: t of b->threads in transform `slot` of the block. */
typedef struct seat {
  kugel__val t, slot;
} seat;

static seat seat_of(build *k, bool across)
{
  kugel__gen *g = k->g;
  kugel__val threads = kugel__int(k->b->threads), group = kugel__int(k->b->group);
  if (k->b->group == 1)
    return (seat){k->lid, kugel__int(0)};
  if (across)
    return (seat){kugel__gen_name(g, "t", g_div(g, k->lid, group)),
                  kugel__gen_name(g, "slot", g_mod(g, k->lid, group))};
  return (seat){kugel__gen_name(g, "t", g_mod(g, k->lid, threads)),
                kugel__gen_name(g, "slot", g_div(g, k->lid, threads))};
}

static int64_t product_before(const kugel__block *b, int stage) // S
{
  int64_t s = 1;
  for (int i = 0; i < stage; i++)
    s *= b->radix[i];
  return s;
}

static int rounds(const kugel__block *b, int stage) // butterflies of a thread
{
  int64_t butterflies = b->m / b->radix[stage];
  return (int)((butterflies + b->threads - 1) / b->threads);
}

// The number of butterfly `round` of a thread; the last round's spare threads repeat the last butterfly.
static kugel__val butterfly_of(build *k, const seat *s, int stage, int round)
{
  const kugel__block *b = k->b;
  int64_t last = b->m / b->radix[stage] - 1;
  kugel__val i = g_add(k->g, s->t, kugel__int((int64_t)round * b->threads));
  return (int64_t)(round + 1) * b->threads > last + 1 ? g_min(k->g, i, kugel__int(last)) : i;
}

/* ---- shared memory ---- */

static kugel__val address(build *k, const seat *s, kugel__val position, bool im)
{
  kugel__gen *g = k->g;
  const kugel__bank_layout *l = &k->layout;
  kugel__val padded = l->pad ? g_add(g, position, g_div(g, position, kugel__int(l->pad))) : position;
  kugel__val at =
      g_add(g, g_mul(g, padded, kugel__int(l->point_step)), g_mul(g, s->slot, kugel__int(l->slot_step)));
  return g_add(g, at, kugel__int(im ? l->plane : 0));
}

// Results of `stage` go to shared memory and come back as the inputs of stage `next`.
static void exchange(build *k, int stage, const seat *from, int next, const seat *to, bool used)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int64_t s = product_before(b, stage), r = b->radix[stage], step = b->m / b->radix[next];
  kugel__gen_note(g, "through shared memory to the next stage");
  if (used) // by reads of the exchange before
    kugel__gen_barrier(g);
  for (int round = 0; round < rounds(b, stage); round++) {
    kugel__val i = butterfly_of(k, from, stage, round);
    kugel__val j = g_mod(g, i, kugel__int(s)), first = g_add(g, g_mul(g, g_sub(g, i, j), kugel__int(r)), j);
    for (int q = 0; q < r; q++) {
      kugel__cval x = k->x[round * r + q];
      kugel__val at = g_add(g, first, kugel__int(q * s));
      kugel__gen_store(g, k->shared, address(k, from, at, false), x.re);
      kugel__gen_store(g, k->shared, address(k, from, at, true), x.im);
    }
  }
  kugel__gen_barrier(g);
  for (int round = 0; round < rounds(b, next); round++) {
    kugel__val i = butterfly_of(k, to, next, round);
    for (int q = 0; q < b->radix[next]; q++) {
      kugel__val at = g_add(g, i, kugel__int(q * step));
      kugel__cval *x = &k->x[round * b->radix[next] + q];
      x->re = kugel__gen_load(g, k->shared, address(k, to, at, false), false);
      x->im = kugel__gen_load(g, k->shared, address(k, to, at, true), false);
    }
  }
}

/* ---- stages ---- */

static void butterflies(build *k, const seat *s, int stage)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int64_t before = product_before(b, stage), table = kugel__block_twiddles(b, stage);
  int r = b->radix[stage];
  kugel__gen_note(g, stage ? "twiddles and butterflies" : "butterflies");
  for (int round = 0; round < rounds(b, stage); round++) {
    kugel__cval *x = k->x + round * r;
    kugel__val j = g_mod(g, butterfly_of(k, s, stage, round), kugel__int(before));
    for (int q = 1; q < r && stage > 0; q++) {
      kugel__val at = g_add(g, j, kugel__int(table + (q - 1) * before));
      x[q] = kugel__gen_cmul(g, x[q], kugel__gen_load_pair(g, k->tables, at));
    }
    kugel__dft(g, x, r, -1);
  }
}

// All stages but the load before the first and the store after the last.
static void transform(build *k, const seat *first, const seat *middle, const seat *last, bool used)
{
  const kugel__block *b = k->b;
  for (int stage = 0; stage < b->stages; stage++) {
    const seat *s = stage == 0 ? first : stage + 1 < b->stages ? middle : last;
    const seat *next = stage + 2 < b->stages ? middle : last;
    butterflies(k, s, stage);
    if (stage + 1 < b->stages)
      exchange(k, stage, s, stage + 1, next, used || stage > 0);
  }
}

/* ---- global memory ---- */

static kugel__val start_of(build *k, kugel__val transform, kugel__val d0, kugel__val d1)
{
  kugel__gen *g = k->g;
  if (k->b->flat)
    return g_mul(g, transform, d0);
  kugel__val low = g_mod(g, transform, k->c0), high = g_div(g, transform, k->c0);
  return g_add(g, g_mul(g, low, d0), g_mul(g, high, d1));
}

static kugel__cval exchanged(const build *k, kugel__cval x)
{
  return k->b->inverse ? (kugel__cval){x.im, x.re} : x;
}

static void load(build *k, const seat *s)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int r = b->radix[0];
  int64_t step = b->m / r, chirp = kugel__block_twiddles(b, b->stages);
  kugel__gen_note(g, "load");
  kugel__val spare = g_sub(g, k->count, kugel__int(1)); // repeated by slots beyond the last transform
  kugel__val transform = g_min(g, g_add(g, k->group, s->slot), spare);
  kugel__val base =
      kugel__gen_name(g, "from", g_add(g, k->in_at, start_of(k, transform, k->in_d0, k->in_d1)));
  for (int round = 0; round < rounds(b, 0); round++) {
    kugel__val i = butterfly_of(k, s, 0, round);
    for (int q = 0; q < r; q++) {
      kugel__cval *x = &k->x[round * r + q];
      kugel__val at = g_add(g, i, kugel__int(q * step));
      if (q * step >= b->n) {
        *x = (kugel__cval){kugel__real(dd_from(0)), kugel__real(dd_from(0))};
        continue;
      }
      kugel__val inside = (q + 1) * step > b->n ? g_min(g, at, kugel__int(b->n - 1)) : at;
      *x = exchanged(k, kugel__gen_load_pair(g, k->in, g_add(g, base, g_mul(g, inside, k->in_step))));
      if (b->m != b->n)
        *x = kugel__gen_cmul(g, *x, kugel__gen_load_pair(g, k->tables, g_add(g, at, kugel__int(chirp))));
    }
  }
}

static kugel__cval four_step(build *k, kugel__val transform, kugel__val position, kugel__cval x)
{
  kugel__gen *g = k->g;
  if (!k->b->fine)
    return x;
  kugel__val e = g_mul(g, g_mod(g, transform, k->c0), position), fine = kugel__int(k->b->fine);
  kugel__cval low = kugel__gen_load_pair(g, k->roots, g_mod(g, e, fine));
  kugel__cval high = kugel__gen_load_pair(g, k->roots, g_add(g, g_div(g, e, fine), fine));
  return kugel__gen_cmul(g, x, kugel__gen_cmul(g, low, high));
}

static void store(build *k, const seat *s)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int stage = b->stages - 1, r = b->radix[stage];
  int64_t before = b->m / r, chirp = kugel__block_twiddles(b, b->stages);
  kugel__gen_note(g, "store");
  kugel__val transform = g_add(g, k->group, s->slot);
  kugel__gen_if(g, transform, k->count);
  kugel__val base =
      kugel__gen_name(g, "to", g_add(g, k->out_at, start_of(k, transform, k->out_d0, k->out_d1)));
  for (int round = 0; round < rounds(b, stage); round++) {
    kugel__val i = butterfly_of(k, s, stage, round);
    for (int q = 0; q < r; q++) {
      kugel__cval x = k->x[round * r + q];
      kugel__val at = g_add(g, i, kugel__int(q * before));
      if (q * before >= b->n)
        continue;
      bool partly = (q + 1) * before > b->n;
      if (partly)
        kugel__gen_if(g, at, kugel__int(b->n));
      if (b->m != b->n) // the convolution came back exchanged
        x = kugel__gen_cmul(g, (kugel__cval){x.im, x.re},
                            kugel__gen_load_pair(g, k->tables, g_add(g, at, kugel__int(chirp))));
      x = exchanged(k, four_step(k, transform, at, x));
      x = (kugel__cval){g_mul(g, x.re, k->scale), g_mul(g, x.im, k->scale)};
      kugel__gen_store_pair(g, k->out, g_add(g, base, g_mul(g, at, k->out_step)), x);
      if (partly)
        kugel__gen_end(g);
    }
  }
  kugel__gen_end(g);
}

/* ---- transforms of one stage: a thread each, whose points would lie far from its neighbours' ---- */

// Neighbouring threads take neighbouring points of the block's transforms: point `position` of transform
// `slot`.
static kugel__val tile_point(build *k, int round, kugel__val *position, kugel__val *slot)
{
  kugel__gen *g = k->g;
  kugel__val e = g_add(g, k->lid, kugel__int((int64_t)round * k->b->group)), n = kugel__int(k->b->n);
  *position = g_mod(g, e, n);
  *slot = g_div(g, e, n);
  return g_add(g, k->group, *slot);
}

static void load_tile(build *k, const seat *s)
{
  kugel__gen *g = k->g;
  kugel__gen_note(g, "load neighbouring points, through shared memory");
  kugel__val position, slot, spare = g_sub(g, k->count, kugel__int(1));
  for (int q = 0; q < k->b->n; q++) {
    kugel__val transform = g_min(g, tile_point(k, q, &position, &slot), spare);
    kugel__val from = g_add(g, k->in_at, start_of(k, transform, k->in_d0, k->in_d1));
    kugel__cval x = kugel__gen_load_pair(g, k->in, g_add(g, from, g_mul(g, position, k->in_step)));
    kugel__gen_store(g, k->shared, address(k, &(seat){.slot = slot}, position, false), x.re);
    kugel__gen_store(g, k->shared, address(k, &(seat){.slot = slot}, position, true), x.im);
  }
  kugel__gen_barrier(g);
  for (int q = 0; q < k->b->n; q++) {
    kugel__val re = kugel__gen_load(g, k->shared, address(k, s, kugel__int(q), false), false);
    k->x[q] = exchanged(
        k, (kugel__cval){re, kugel__gen_load(g, k->shared, address(k, s, kugel__int(q), true), false)});
  }
}

static void store_tile(build *k, const seat *s)
{
  kugel__gen *g = k->g;
  kugel__gen_note(g, "store neighbouring points, through shared memory");
  kugel__gen_barrier(g);
  for (int q = 0; q < k->b->n; q++) {
    kugel__cval x = exchanged(k, k->x[q]);
    kugel__gen_store(g, k->shared, address(k, s, kugel__int(q), false), g_mul(g, x.re, k->scale));
    kugel__gen_store(g, k->shared, address(k, s, kugel__int(q), true), g_mul(g, x.im, k->scale));
  }
  kugel__gen_barrier(g);
  for (int q = 0; q < k->b->n; q++) {
    kugel__val position, slot, transform = tile_point(k, q, &position, &slot);
    kugel__val re = kugel__gen_load(g, k->shared, address(k, &(seat){.slot = slot}, position, false), false);
    kugel__cval x = {re,
                     kugel__gen_load(g, k->shared, address(k, &(seat){.slot = slot}, position, true), false)};
    kugel__val to = g_add(g, k->out_at, start_of(k, transform, k->out_d0, k->out_d1));
    kugel__gen_if(g, transform, k->count);
    kugel__gen_store_pair(g, k->out, g_add(g, to, g_mul(g, position, k->out_step)), x);
    kugel__gen_end(g);
  }
}

static bool tiled(const kugel__block *b)
{
  return b->stages == 1 && b->m == b->n && b->flat && b->n > 2;
}

// Bluestein: times the spectrum, exchanged; the outputs of the last stage become the inputs of the first.
static void convolve(build *k, const seat *from, const seat *to)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  int stage = b->stages - 1, r = b->radix[stage];
  int64_t before = b->m / r, spectrum = kugel__block_twiddles(b, b->stages) + b->m;
  kugel__gen_note(g, "times the spectrum of the chirp");
  for (int round = 0; round < rounds(b, stage); round++)
    for (int q = 0; q < r; q++) {
      kugel__cval *x = &k->x[round * r + q];
      kugel__val at = g_add(g, butterfly_of(k, from, stage, round), kugel__int(q * before + spectrum));
      kugel__cval y = kugel__gen_cmul(g, *x, kugel__gen_load_pair(g, k->tables, at));
      *x = (kugel__cval){y.im, y.re};
    }
  exchange(k, stage, from, 0, to, b->stages > 1);
}

/* ---- the kernel ---- */

static void parameters(build *k)
{
  kugel__gen *g = k->g;
  const kugel__block *b = k->b;
  kugel__type pair = b->real == KUGEL__F32 ? KUGEL__C32 : KUGEL__C64;
  k->in = kugel__gen_pointer(g, pair, "in");
  k->out = kugel__gen_pointer(g, pair, "out");
  k->tables = kugel__gen_pointer(g, pair, "tables");
  if (b->fine)
    k->roots = kugel__gen_pointer(g, pair, "roots");
  k->count = kugel__gen_parameter(g, KUGEL__I64, "count");
  k->c0 = kugel__gen_parameter(g, KUGEL__I64, "c0");
  k->in_at = kugel__gen_parameter(g, KUGEL__I64, "in_at");
  k->out_at = kugel__gen_parameter(g, KUGEL__I64, "out_at");
  k->in_d0 = kugel__gen_parameter(g, KUGEL__I64, "in_d0");
  k->in_d1 = kugel__gen_parameter(g, KUGEL__I64, "in_d1");
  k->in_step = kugel__gen_parameter(g, KUGEL__I64, "in_step");
  k->out_d0 = kugel__gen_parameter(g, KUGEL__I64, "out_d0");
  k->out_d1 = kugel__gen_parameter(g, KUGEL__I64, "out_d1");
  k->out_step = kugel__gen_parameter(g, KUGEL__I64, "out_step");
  k->scale = kugel__gen_parameter(g, b->real, "scale");
  if (kugel__block_shared(b))
    k->shared = kugel__gen_shared(g, b->real, "shared", kugel__block_shared(b));
}

void kugel__block_build(const kugel__block *b, kugel_ctx *ctx, kugel__gen *g)
{
  build k = {.b = b, .g = g, .layout = kugel__bank_layout_of(b)};
  kugel__gen_init(g, ctx, "fft_block");
  g->threads = b->threads * b->group;
  parameters(&k);
  k.lid = kugel__gen_name(g, "thread", kugel__gen_local_id(g));
  k.group = kugel__gen_name(g, "first", g_mul(g, kugel__gen_group_id(g), kugel__int(b->group)));
  bool moves = b->stages > 1 || b->m != b->n; // data goes from thread to thread
  seat in = seat_of(&k, b->across_in), out = moves ? seat_of(&k, b->across_out) : in;
  bool tile = tiled(b);
  tile ? load_tile(&k, &in) : load(&k, &in);
  transform(&k, &in, &in, b->m != b->n ? &in : &out, false);
  if (b->m != b->n) {
    convolve(&k, &in, &in);
    transform(&k, &in, &in, &out, true);
  }
  tile ? store_tile(&k, &out) : store(&k, &out);
}

int64_t kugel__block_twiddles(const kugel__block *b, int stage)
{
  int64_t at = 0;
  for (int i = 1; i < stage; i++)
    at += product_before(b, i) * (b->radix[i] - 1);
  return at;
}

int64_t kugel__block_tables(const kugel__block *b)
{
  return kugel__block_twiddles(b, b->stages) + (b->m != b->n ? 2 * b->m : 0) + 1;
}

int64_t kugel__block_shared(const kugel__block *b)
{
  kugel__bank_layout l = kugel__bank_layout_of(b);
  return b->stages > 1 || b->m != b->n || tiled(b) ? 2 * l.plane : 0;
}

static bool points_fit(const kugel__block *b)
{
  for (int i = 0; i < b->stages; i++)
    if (rounds(b, i) * b->radix[i] > MAX_POINTS)
      return false;
  return true;
}

bool kugel__block_fit(int64_t n, kugel__type real, uint64_t shared, kugel__block *out)
{
  kugel__radices radices = kugel__radices_fewest(n);
  kugel__block b = {.real = real, .n = n, .m = n, .group = 1, .flat = true};
  if (!radices.count && n > 1) {
    b.m = kugel__radices_above(2 * n - 1);
    radices = kugel__radices_fewest(b.m);
  }
  if (radices.count > KUGEL__BLOCK_STAGES)
    return false;
  int largest = 1;
  for (int i = 0; i < radices.count; i++) {
    b.radix[b.stages++] = (int)radices.radix[i];
    largest = radices.radix[i] > largest ? (int)radices.radix[i] : largest;
  }
  if (!b.stages) // n = 1
    b.radix[b.stages++] = 1;
  if (b.m / largest > 1024)
    return false;
  b.threads = (int)(b.m / largest);
  while (b.threads < 1024 && !points_fit(&b))
    b.threads++;
  int64_t size = real == KUGEL__F32 ? 4 : 8;
  if (!points_fit(&b) || (uint64_t)(kugel__block_shared(&b) * size) > shared)
    return false;
  while (2 * b.threads * b.group <= 256 && (uint64_t)(2 * kugel__block_shared(&b) * size) <= shared)
    b.group *= 2;
  *out = b;
  return true;
}
