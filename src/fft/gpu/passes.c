/* SPDX-License-Identifier: BSD-3-Clause */
/* The passes of a long line, once its factors are chosen: what each reads and writes, and its twiddles. */
#include "fft/gpu/parts.h"

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
  c->pass[0].block.in.columns = columns;
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
  last->block.out.columns = columns;
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

// Columns of n points in each `rest` consecutive ones of work memory, with the twiddles that follow.
static kugel__gpu_pass *add_columns(kugel__gpu_chain *c, int64_t n, int64_t rest, kugel__type real,
                                    uint64_t shared)
{
  kugel__gpu_pass *t = add_pass(c, n, real, shared);
  t->block.big = rest;
  kugel__block_across(&t->block, true, shared);
  t->count = c->work / n;
  t->c0 = rest / n;
  t->from = t->to = (kugel__gpu_walk){1, rest, rest / n};
  return t;
}

void kugel__gpu_by_factors(kugel__gpu_chain *c, kugel__type real, uint64_t shared, int factors,
                           const int64_t *factor)
{
  int64_t n = c->line.points, rest = n;
  c->work = n;
  for (int i = 0; i + 1 < factors; i++) {
    add_columns(c, factor[i], rest, real, shared);
    rest /= factor[i];
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

// Bluestein's convolution of m = m1 m2 (m3) points: forward over columns, rows with the spectrum and back,
// and back over columns. Row k1 + m1 k2 holds results k1 + m1 k2 + m1 m2 k3.
void kugel__gpu_by_convolution(kugel__gpu_chain *c, kugel__type real, uint64_t shared, int factors,
                               const int64_t *factor)
{
  int64_t m = 1, points = c->line.points;
  for (int i = 0; i < factors; i++)
    m *= factor[i];
  int64_t rest = m / factor[0], length = factor[factors - 1];
  c->work = m;
  kugel__gpu_pass *first = add_columns(c, factor[0], m, real, shared);
  first->block.chirp = points;
  first->block.in.chirp = true;
  if (factors > 2)
    add_columns(c, factor[1], rest, real, shared);
  kugel__gpu_pass *rows = add_pass(c, length, real, shared);
  rows->count = m / length;
  rows->c0 = factor[0];
  rows->from = rows->to = (kugel__gpu_walk){rest, factors > 2 ? length : m, 1};
  rows->one_line = factors > 2;
  rows->block.chirp = points;
  rows->block.spectrum = m / length;
  rows->block.big = m;
  if (factors > 2) { // results n2 of row k1 are multiplied by e^{-2 pi i k1 n2 / m1 m2}
    kugel__gpu_pass *middle = add_columns(c, factor[1], rest, real, shared);
    middle->block.big = factor[0] * factor[1];
    middle->block.big_outer = true;
    middle->one_line = true;
  }
  kugel__gpu_pass *last = add_columns(c, factor[0], m, real, shared);
  last->block.big = 0;
  last->block.chirp = points;
  last->block.out.chirp = true;
  first_reads_array(c, rest);
  last_writes_array(c, rest);
}
