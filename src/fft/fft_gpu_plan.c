/* SPDX-License-Identifier: BSD-3-Clause */
/* Which passes a line goes through. n = n1 n2 (n3): columns of n1 points a distance n2 n3 apart, with
 * twiddles; then the rows in the same way. Lengths with large primes: Bluestein's convolution of m1 m2
 * points, whose middle pass multiplies rows by the spectrum and transforms them back. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "fft/fft_gpu_parts.h"
#include "fft/radices.h"

static bool fits(int64_t n, kugel__type real, uint64_t shared)
{
  kugel__block b;
  return kugel__block_fit(n, real, shared / 4, &b);
}

// The divisor n1 of n nearest its root such that blocks hold n1 and n / n1; 0: none.
static int64_t split_two(int64_t n, kugel__type real, uint64_t shared)
{
  for (int64_t n1 = (int64_t)sqrt((double)n) + 1; n1 > 1; n1--)
    if (n % n1 == 0 && fits(n1, real, shared) && fits(n / n1, real, shared))
      return n1;
  return 0;
}

// Two or three factors that blocks hold; 0: there are none.
static int split(int64_t n, kugel__type real, uint64_t shared, int64_t factor[3])
{
  factor[0] = split_two(n, real, shared);
  factor[1] = factor[0] ? n / factor[0] : 0;
  if (factor[0])
    return 2;
  for (int64_t n1 = (int64_t)cbrt((double)n) + 1; n1 > 1; n1--)
    if (n % n1 == 0 && fits(n1, real, shared) && (factor[1] = split_two(n / n1, real, shared)) != 0) {
      factor[0] = n1;
      factor[2] = n / n1 / factor[1];
      return 3;
    }
  return 0;
}

static kugel__gpu_pass *add_pass(kugel__gpu_chain *c, int64_t n, kugel__type real, uint64_t shared)
{
  kugel__gpu_pass *t = &c->pass[c->passes++];
  kugel__block_fit(n, real, shared, &t->block);
  t->block.line = c->line;
  t->block.flat = false;
  t->source = t->sink = KUGEL__ROOM_WORK;
  return t;
}

static void first_reads_array(kugel__gpu_chain *c, int64_t columns)
{
  c->pass[0].source = KUGEL__ROOM_ARRAY;
  c->pass[0].block.source = c->line.source;
  c->pass[0].block.columns_in = columns;
}

// Lets one pass over `rows` rows of a line see pairs of its points, if its blocks hold two rows or more.
static bool mirror(kugel__gpu_pass *t, int64_t rows)
{
  kugel__block *b = &t->block;
  if (b->spectrum || b->chirp || b->group < 2 || rows < 2)
    return false;
  b->group -= b->group % 2;
  int64_t half = b->group / 2;
  b->mirror = rows;
  t->count = (rows / 2 + half) / half * b->group; // of blocks, full or not
  return true;
}

// The last pass writes the array, or where the sink needs pairs of points, one more pass does.
static void last_writes_array(kugel__gpu_chain *c, int64_t columns)
{
  kugel__gpu_pass *last = &c->pass[c->passes - 1];
  int64_t points = c->line.points;
  last->block.columns_out = columns;
  if (!kugel__line_pairs(&c->line, c->line.sink) || mirror(last, columns)) {
    last->sink = KUGEL__ROOM_ARRAY;
    last->block.sink = c->line.sink;
    return;
  }
  last->sink = KUGEL__ROOM_SECOND;
  last->to = (kugel__gpu_walk){0, points, 1};
  c->second = points;
  kugel__gpu_pass *finish = &c->pass[c->passes++];
  finish->finish = true;
  finish->block = (kugel__block){.real = last->block.real,
                                 .n = points,
                                 .m = points,
                                 .threads = 256,
                                 .group = 1,
                                 .line = c->line,
                                 .sink = c->line.sink};
  finish->source = KUGEL__ROOM_SECOND;
  finish->from = (kugel__gpu_walk){0, points, 1};
  finish->count = finish->c0 = points / 2 + 1;
}

static void plan_factors(kugel__gpu_chain *c, kugel__type real, uint64_t shared, int factors,
                         const int64_t *factor)
{
  int64_t n = c->line.points, rest = n;
  c->work = n;
  for (int i = 0; i + 1 < factors; i++) {
    kugel__gpu_pass *t = add_pass(c, factor[i], real, shared);
    t->block.big = rest;
    kugel__block_across(&t->block, true, shared);
    t->count = n / factor[i];
    t->from = t->to = (kugel__gpu_walk){1, rest, rest / factor[i]};
    rest /= factor[i];
    t->c0 = rest;
  }
  kugel__gpu_pass *last = add_pass(c, rest, real, shared);
  kugel__block_across(&last->block, false, shared);
  last->count = n / rest;
  last->c0 = factor[0];
  last->from = factors == 2 ? (kugel__gpu_walk){rest, n, 1} : (kugel__gpu_walk){n / factor[0], rest, 1};
  last->one_line = factors > 2;
  first_reads_array(c, n / factor[0]);
  last_writes_array(c, n / rest);
}

static void plan_convolution(kugel__gpu_chain *c, kugel__type real, uint64_t shared, int64_t m, int64_t m1)
{
  int64_t m2 = m / m1, points = c->line.points;
  c->work = m;
  kugel__gpu_pass *columns = add_pass(c, m1, real, shared);
  kugel__block_across(&columns->block, true, shared);
  columns->count = columns->c0 = m2;
  columns->to = (kugel__gpu_walk){1, m, m2};
  columns->block.big = m;
  columns->block.chirp = points;
  columns->block.chirp_in = true;
  kugel__gpu_pass *rows = add_pass(c, m2, real, shared);
  rows->count = rows->c0 = m1;
  rows->from = rows->to = (kugel__gpu_walk){m2, m, 1};
  rows->block.chirp = points;
  rows->block.spectrum = m1;
  rows->block.big = m;
  kugel__gpu_pass *back = add_pass(c, m1, real, shared);
  kugel__block_across(&back->block, true, shared);
  back->count = back->c0 = m2;
  back->from = (kugel__gpu_walk){1, m, m2};
  back->block.chirp = points;
  back->block.chirp_out = true;
  first_reads_array(c, m2);
  last_writes_array(c, m2);
}

// One block, in which m points hold the transform, as many as it takes if 0.
static bool plan_block(kugel__gpu_chain *c, int64_t m, kugel__type real, bool in_order, uint64_t shared)
{
  kugel__gpu_pass *only = &c->pass[0];
  int64_t n = c->line.points;
  if (!(m ? kugel__block_fit_as(n, m, real, shared, &only->block)
          : kugel__block_fit(n, real, shared, &only->block)))
    return false;
  c->passes = 1;
  only->block.line = c->line;
  only->block.source = c->line.source;
  only->block.sink = c->line.sink;
  if (!in_order)
    kugel__block_across(&only->block, true, shared);
  return true;
}

// The length m = m1 m2 of a convolution from `least` on; 0: none.
static int64_t convolution(int64_t least, kugel__type real, uint64_t shared, int64_t *m1)
{
  *m1 = 0;
  for (int i = 0; i < 8; i++, least++) {
    least = kugel__radices_above(least);
    *m1 = split_two(least, real, shared);
    if (*m1)
      return least;
  }
  return 0;
}

// A single pass by a cluster of blocks, for lines whose points lie in order and are written one by one.
static bool plan_cluster(kugel__gpu_chain *c, kugel__type real, uint64_t shared)
{
  kugel__block *b = &c->pass[0].block;
  if (kugel__line_pairs(&c->line, c->line.sink) || !kugel__block_cluster(c->line.points, real, shared, b))
    return false;
  c->passes = 1;
  b->line = c->line;
  b->source = c->line.source;
  b->sink = c->line.sink;
  return true;
}

static kugel_status choose_passes(kugel__gpu_chain *c, const kugel__line *line, kugel__type real,
                                  bool in_order, uint64_t shared, bool clusters)
{
  int64_t factor[3], n = line->points, m1;
  c->line = *line;
  c->passes = 0;
  KUGEL_CHECK(n <= (int64_t)1 << 32, KUGEL_ENOTSUP,
              "a line of %lld points is too long for a device, at most 2^32", (long long)n);
  if (clusters && in_order && plan_cluster(c, real, shared))
    return KUGEL_OK;
  if (plan_block(c, 0, real, in_order, shared))
    return KUGEL_OK;
  int factors = split(n, real, shared, factor);
  if (factors) {
    plan_factors(c, real, shared, factors, factor);
    return KUGEL_OK;
  }
  int64_t m = convolution(2 * n - 1, real, shared, &m1);
  KUGEL_CHECK(
      m1, KUGEL_ENOTSUP,
      "no passes hold a transform of %lld points on this device: use a length with factors below 1024, "
      "see kugel_fft_good_size",
      (long long)n);
  plan_convolution(c, real, shared, m, m1);
  return KUGEL_OK;
}

// What the kernels need not be told at launch.
static void know_steps(kugel__gpu_chain *c, bool in_order)
{
  for (int i = 0; i < c->passes; i++) {
    kugel__gpu_pass *t = &c->pass[i];
    bool reads = t->source == KUGEL__ROOM_ARRAY, writes = t->sink == KUGEL__ROOM_ARRAY;
    t->unit = in_order && (reads || writes);
    t->block.c0 = c->passes > 1 ? t->c0 : 0;
    t->block.step_in = reads ? 0 : t->from.step;
    t->block.step_out = writes ? 0 : t->to.step;
  }
}

kugel_status kugel__gpu_chain_plan(kugel__gpu_chain *c, const kugel__line *line, kugel__type real,
                                   bool in_order, uint64_t shared, bool clusters)
{
  KUGEL_TRY(choose_passes(c, line, real, in_order, shared, clusters));
  know_steps(c, in_order);
  return KUGEL_OK;
}

/* ---- other choices ---- */

typedef struct others {
  kugel__gpu_chain *list;
  const kugel__gpu_chain *than;
  int count, room;
} others;

// The next chain of the list, empty; NULL: it is full.
static kugel__gpu_chain *next_chain(others *o)
{
  if (o->count == o->room)
    return NULL;
  kugel__gpu_chain *c = &o->list[o->count];
  memset(c, 0, sizeof *c);
  c->line = o->than->line;
  return c;
}

static void other_lengths(others *o, kugel__type real, bool in_order, uint64_t shared)
{
  int64_t n = o->than->line.points, now = o->than->pass[0].block.m, m = 2 * n - 1;
  for (int i = 0; i < 3; i++, m++) { // Bluestein instead of Rader, or on more points
    m = kugel__radices_above(m);
    kugel__gpu_chain *c = m == now ? NULL : next_chain(o);
    o->count += c && plan_block(c, m, real, in_order, shared);
  }
}

static void other_splits(others *o, kugel__type real, uint64_t shared)
{
  int64_t n = o->than->line.points, root = (int64_t)sqrt((double)n);
  for (int64_t away = 0; away < root - 1 && o->count < o->room; away++)
    for (int side = 0; side < 2; side++) {
      int64_t n1 = root - away, factor[2] = {side ? n / n1 : n1, side ? n1 : n / n1};
      bool holds = n % n1 == 0 && fits(n1, real, shared) && fits(n / n1, real, shared);
      if (!holds || factor[0] == o->than->pass[0].block.n || (side && factor[0] == factor[1]))
        continue;
      kugel__gpu_chain *c = next_chain(o);
      if (c)
        plan_factors(c, real, shared, 2, factor);
      o->count += c != NULL;
    }
}

static void other_convolutions(others *o, kugel__type real, uint64_t shared)
{
  int64_t m1, m = o->than->work;
  for (int i = 0; i < 3 && (m = convolution(m + 1, real, shared, &m1)); i++) {
    kugel__gpu_chain *c = next_chain(o);
    if (c)
      plan_convolution(c, real, shared, m, m1);
    o->count += c != NULL;
  }
}

int kugel__gpu_chain_others(const kugel__gpu_chain *c, kugel__type real, bool in_order, uint64_t shared,
                            int room, kugel__gpu_chain *list)
{
  enum { LONG = 4096 }; // points; shorter lines are not split without need
  others o = {.list = list, .than = c, .room = room};
  const kugel__block *b = &c->pass[0].block;
  if (c->passes == 1 && b->spectrum)
    other_lengths(&o, real, in_order, shared);
  else if (b->chirp)
    other_convolutions(&o, real, shared);
  else if (c->passes > 1 || b->n >= LONG)
    other_splits(&o, real, shared);
  for (int i = 0; i < o.count; i++)
    know_steps(&list[i], in_order);
  return o.count;
}
