/* SPDX-License-Identifier: BSD-3-Clause */
/* Which passes a line goes through. n = n1 n2 (n3): columns of n1 points a distance n2 n3 apart, with
 * twiddles; then the rows in the same way. Lengths with large primes: Bluestein's convolution of
 * m1 m2 (m3) points, whose middle pass multiplies rows by the spectrum and transforms them back. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "fft/gpu/parts.h"
#include "fft/cpu/radices.h"

enum {
  CROWD = 4,  // blocks that shared memory is to hold of passes of a long line (the share in fft/solvers.def)
  LONG = 4096 // points; shorter lines are not split without need
};

// Whether a block of `room` bytes of shared memory holds n points.
static bool fits(int64_t n, kugel__type real, uint64_t room)
{
  kugel__block b;
  return kugel__block_fit(n, real, room, &b);
}

// The divisor n1 of n nearest its root such that blocks hold n1 and n / n1; 0: none.
static int64_t split_two(int64_t n, kugel__type real, uint64_t room)
{
  for (int64_t n1 = (int64_t)sqrt((double)n) + 1; n1 > 1; n1--)
    if (n % n1 == 0 && fits(n1, real, room) && fits(n / n1, real, room))
      return n1;
  return 0;
}

// Two or three factors that blocks hold; 0: there are none.
static int split(int64_t n, kugel__type real, uint64_t room, int64_t factor[3])
{
  factor[0] = split_two(n, real, room);
  factor[1] = factor[0] ? n / factor[0] : 0;
  if (factor[0])
    return 2;
  for (int64_t n1 = (int64_t)cbrt((double)n) + 1; n1 > 1; n1--)
    if (n % n1 == 0 && fits(n1, real, room) && (factor[1] = split_two(n / n1, real, room)) != 0) {
      factor[0] = n1;
      factor[2] = n / n1 / factor[1];
      return 3;
    }
  return 0;
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

// One block that takes a large factor by Rader.
static bool plan_prime(kugel__gpu_chain *c, kugel__type real, uint64_t shared)
{
  kugel__block *b = &c->pass[0].block;
  if (c->line.source != KUGEL__END_COMPLEX || c->line.sink != KUGEL__END_COMPLEX ||
      !kugel__block_fit_prime(c->line.points, real, shared, b))
    return false;
  c->passes = 1;
  b->line = c->line;
  b->source = b->sink = KUGEL__END_COMPLEX;
  return true;
}

// The length of a convolution from `least` on, and its two or three factors; 0: none.
static int64_t convolution(int64_t least, kugel__type real, uint64_t room, int *factors, int64_t factor[3])
{
  int64_t m = least;
  for (int i = 0; i < 16; i++, m++) { // two factors if they can be had
    m = kugel__radices_above(i == 8 ? least : m);
    factor[0] = split_two(m, real, room);
    factor[1] = factor[0] ? m / factor[0] : 0;
    *factors = factor[0] ? 2 : i < 8 ? 0 : split(m, real, room, factor);
    if (*factors)
      return m;
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

// Whether two passes without convolutions beat one with Bluestein's.
static bool two_instead(int64_t n, kugel__type real, uint64_t shared)
{
  kugel__block one, a, b;
  int64_t n1 = n < LONG || real == KUGEL__DD ? 0 : split_two(n, real, shared / CROWD);
  return n1 && kugel__block_fit(n, real, shared, &one) && one.chirp &&
         kugel__block_fit(n1, real, shared, &a) && !a.chirp && kugel__block_fit(n / n1, real, shared, &b) &&
         !b.chirp;
}

bool kugel__plan_cluster(const kugel__gpu_problem *p, kugel__gpu_chain *c)
{
  return p->clusters && p->in_order && plan_cluster(c, p->real, p->shared);
}

bool kugel__plan_prime(const kugel__gpu_problem *p, kugel__gpu_chain *c)
{
  return p->in_order && plan_prime(c, p->real, p->shared);
}

bool kugel__plan_block(const kugel__gpu_problem *p, kugel__gpu_chain *c)
{
  return !two_instead(c->line.points, p->real, p->shared) &&
         plan_block(c, 0, p->real, p->in_order, p->shared);
}

bool kugel__plan_split_block(const kugel__gpu_problem *p, kugel__gpu_chain *c)
{
  kugel__block b;
  int64_t n = c->line.points;
  return !split_two(n, p->real, p->shared) && kugel__block_fit_split(n, p->real, p->shared, &b) &&
         plan_block(c, b.m, p->real, p->in_order, p->shared);
}

bool kugel__plan_columns(const kugel__gpu_problem *p, kugel__gpu_chain *c)
{
  int64_t factor[3];
  int factors = split(c->line.points, p->real, p->room, factor);
  if (factors)
    kugel__gpu_by_factors(c, p->real, p->shared, factors, factor);
  return factors > 0;
}

bool kugel__plan_convolution(const kugel__gpu_problem *p, kugel__gpu_chain *c)
{
  int64_t factor[3];
  int factors;
  if (!convolution(2 * c->line.points - 1, p->real, p->room, &factors, factor))
    return false;
  kugel__gpu_by_convolution(c, p->real, p->shared, factors, factor);
  return true;
}

static const struct {
  bool (*plan)(const kugel__gpu_problem *problem, kugel__gpu_chain *chain);
  int share;
} solvers[] = {
#define GPU_SOLVER(name, plan, share) {plan, share},
#include "fft/solvers.def"
};

static kugel_status choose_passes(kugel__gpu_chain *c, const kugel__line *line, kugel__type real,
                                  bool in_order, uint64_t shared, bool clusters)
{
  int64_t n = line->points;
  c->line = *line;
  c->passes = 0;
  KUGEL_CHECK(n <= (int64_t)1 << 32, KUGEL_ENOTSUP,
              "a line of %lld points is too long for a device, at most 2^32", (long long)n);
  for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++) {
    kugel__gpu_problem p = {real, in_order, clusters, shared, shared / (uint64_t)solvers[i].share};
    if (solvers[i].plan(&p, c))
      return KUGEL_OK;
  }
  return KUGEL_FAIL(KUGEL_ENOTSUP,
                    "no passes hold a transform of %lld points in blocks of %llu bytes of shared memory",
                    (long long)n, (unsigned long long)shared);
}

// What the kernels need not be told at launch.
static void know_steps(kugel__gpu_chain *c, bool in_order)
{
  for (int i = 0; i < c->passes; i++) {
    kugel__gpu_pass *t = &c->pass[i];
    bool reads = t->source == KUGEL__ROOM_ARRAY, writes = t->sink == KUGEL__ROOM_ARRAY;
    t->unit = in_order && (reads || writes);
    t->block.c0 = c->passes > 1 ? t->c0 : 0;
    t->block.in.step = reads ? 0 : t->from.step;
    t->block.out.step = writes ? 0 : t->to.step;
  }
}

kugel_status kugel__gpu_chain_plan(kugel__gpu_chain *c, const kugel__line *line, kugel__type real,
                                   bool in_order, uint64_t shared, bool clusters)
{
  memset(c, 0, sizeof *c);
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
      bool holds = n % n1 == 0 && fits(n1, real, shared / CROWD) && fits(n / n1, real, shared / CROWD);
      if (!holds || factor[0] == o->than->pass[0].block.n || (side && factor[0] == factor[1]))
        continue;
      kugel__gpu_chain *c = next_chain(o);
      if (c)
        kugel__gpu_by_factors(c, real, shared, 2, factor);
      o->count += c != NULL;
    }
}

static void other_convolutions(others *o, kugel__type real, uint64_t shared)
{
  int64_t factor[3], m = o->than->work;
  int factors;
  for (int i = 0; i < 3 && (m = convolution(m + 1, real, shared / CROWD, &factors, factor)); i++) {
    kugel__gpu_chain *c = next_chain(o);
    if (c)
      kugel__gpu_by_convolution(c, real, shared, factors, factor);
    o->count += c != NULL;
  }
}

int kugel__gpu_chain_others(const kugel__gpu_chain *c, kugel__type real, bool in_order, uint64_t shared,
                            int room, kugel__gpu_chain *list)
{
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
