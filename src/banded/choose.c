/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kernel a plan gets. */
#include "banded/kernel.h"

enum {
  MOST_WARPS = 16, /* of a system that is held whole, or of a panel */
  SMALL_BLOCK = 4, /* warps of a block whose warps have systems of their own */
  SUBSTITUTED = 8, /* elements of a part where no scan may be */
  HELD = 80        /* registers for numbers of the table */
};

bool kugel__banded_may_scan(const kugel_banded *p)
{
  return p->opts.method != KUGEL_BANDED_SUBSTITUTION && p->info.propagation <= KUGEL__SCAN_LIMIT;
}

static int stage_of(const kugel__recurrence *r)
{
  return !r->off ? KUGEL__NO_STAGE : r->scale ? KUGEL__SCALED_STAGE : KUGEL__PLAIN_STAGE;
}

static int words_of(const kugel__banded_shape *s)
{
  return s->real == KUGEL__F32 ? 1 : s->real == KUGEL__DD ? 4 : 2;
}

/* Registers a thread needs, about. */
static int registers_of(const kugel__banded_shape *s)
{
  int words = words_of(s), numbers = s->q + (s->held ? kugel__banded_rows(s) : s->each ? 2 * s->q : 8);
  return words * numbers + 40 + 10 * words;
}

/* Blocks that a multiprocessor is to hold: as many threads as have registers enough. */
static int resident_of(const kugel__banded_shape *s)
{
  int registers = s->upright && s->panels && s->real != KUGEL__DD ? 64 : registers_of(s);
  int threads = registers <= 64 ? 1024 : registers <= 80 ? 768 : registers <= 128 ? 512 : 256;
  return threads > 32 * s->warps ? threads / (32 * s->warps) : 1;
}

/* ---- layout ROWS ---- */

/* Elements of a part, as measured on an H200: short parts for few numbers, whose time is that of the longest
 * chain of operations; at most a warp a system as long as its parts fit into registers (512 doubles: 1.07 of
 * a copy's time with 32 threads of 16, 1.25 with 64 of 8); then whole warps, which wait for each other once a
 * recurrence. */
static int part_of(const kugel_banded *p, bool scans)
{
  if (!scans)
    return SUBSTITUTED;
  if (p->planes == 2)
    return p->n <= 2 ? 2 : 4;
  if (p->word == 4)
    return p->n <= 8 ? 4 : p->n <= 300 ? 8 : 16;
  return p->n <= 128 ? 4 : p->n <= 256 || p->n > 512 ? 8 : 16;
}

static void choose_rows(const kugel_banded *p, bool scans, int64_t shared, kugel__banded_shape *s)
{
  s->q = part_of(p, scans);
  int64_t threads = scans ? (p->n + s->q - 1) / s->q : 1;
  for (int most = MOST_WARPS;; most /= 2) {
    int64_t t = threads > 32 ? kugel__min(kugel__round_up(threads, 32), 32 * most) : threads;
    s->threads = (int32_t)t;
    s->warps = t > 32 ? (int32_t)(t / 32) : most < SMALL_BLOCK ? most : SMALL_BLOCK;
    s->panels = t * s->q < p->n;
    s->ragged = t * s->q != p->n;
    kugel__banded_pad(s, p->n);
    if (kugel__banded_shared(s) <= shared || most == 2)
      break;
  }
  s->held = !s->each && !s->panels && words_of(s) * kugel__banded_rows(s) <= HELD;
}

/* ---- layout COLUMNS ---- */

static void choose_columns(const kugel_banded *p, bool scans, bool many, kugel__banded_shape *s)
{
  int most = p->planes == 2 ? 8 : s->each || s->product ? 16 : 32, q = p->planes == 2 ? 4 : 8, warps = 8;
  while (scans && q < most && q * warps < p->n)
    q *= 2;
  while (scans && warps < MOST_WARPS && q * warps < p->n)
    warps *= 2;
  if (q * warps < p->n) { /* panels; many columns keep a device busy without parts */
    q = q < 8 ? q : 8;
    warps = many ? 1 : warps;
  }
  s->upright = 1;
  s->unit = 1;
  s->q = scans ? q : SUBSTITUTED;
  s->threads = scans ? (int32_t)kugel__min(warps, (p->n + q - 1) / q) : 1;
  s->warps = s->threads >= SMALL_BLOCK ? s->threads : SMALL_BLOCK / s->threads * s->threads;
  s->panels = (int64_t)s->threads * s->q < p->n;
  s->ragged = (int64_t)s->threads * s->q != p->n;
}

void kugel__banded_choose(const kugel_banded *p, bool product, kugel__banded_variant variant, int64_t shared,
                          kugel__banded_shape *s)
{
  *s = (kugel__banded_shape){.real = p->word == 4     ? KUGEL__F32
                                     : p->planes == 2 ? KUGEL__DD
                                                      : KUGEL__F64,
                             .product = product,
                             .each = p->width > 1,
                             .unit = variant == KUGEL__BANDED_PAIRS ? 2 : 1};
  if (product) {
    s->lower = p->lower != NULL;
    s->upper = p->upper != NULL;
  } else {
    s->forward = stage_of(&p->forward);
    s->backward = stage_of(&p->backward);
  }
  bool scans = product || kugel__banded_may_scan(p);
  if (p->opts.layout == KUGEL_BANDED_COLUMNS)
    choose_columns(p, scans, variant == KUGEL__BANDED_MANY, s);
  else
    choose_rows(p, scans, shared, s);
  s->resident = resident_of(s);
}
