/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kernel a plan gets. */
#include "banded/kernel.h"

enum {
  MOST_WARPS = 16, /* of a system that is held whole, or of a panel */
  SMALL_BLOCK = 4, /* warps of a block whose warps have systems of their own */
  SUBSTITUTED = 8  /* elements of a part where no scan may be */
};

bool kugel__banded_may_scan(const kugel_banded *p)
{
  return p->opts.method != KUGEL_BANDED_SUBSTITUTION && p->info.propagation <= KUGEL__SCAN_LIMIT;
}

static int stage_of(const kugel__recurrence *r)
{
  return !r->off ? KUGEL__NO_STAGE : r->scale ? KUGEL__SCALED_STAGE : KUGEL__PLAIN_STAGE;
}

/* Elements of a part. */
static int part_of(const kugel_banded *p, bool scans)
{
  int usual = p->planes == 2 ? 4 : p->word == 4 ? 16 : 8;
  if (!scans)
    return SUBSTITUTED;
  return p->n <= usual / 2 ? usual / 2 : usual;
}

/* Threads that a multiprocessor should hold: as many as have registers enough. */
static int threads_a_unit(const kugel__banded_shape *s)
{
  int words = s->real == KUGEL__F32 ? 1 : s->real == KUGEL__DD ? 4 : 2;
  int numbers = s->q + (s->each ? s->q * 2 : kugel__banded_rows(s));
  int registers = words * numbers + 40 + 10 * words;
  return registers <= 64 ? 1024 : registers <= 80 ? 768 : registers <= 128 ? 512 : 256;
}

void kugel__banded_choose(const kugel_banded *p, bool product, int unit, int64_t shared,
                          kugel__banded_shape *s)
{
  *s = (kugel__banded_shape){.real = p->word == 4     ? KUGEL__F32
                                     : p->planes == 2 ? KUGEL__DD
                                                      : KUGEL__F64,
                             .product = product,
                             .each = p->width > 1,
                             .unit = unit};
  if (product) {
    s->lower = p->lower != NULL;
    s->upper = p->upper != NULL;
  } else {
    s->forward = stage_of(&p->forward);
    s->backward = stage_of(&p->backward);
  }
  bool scans = product || kugel__banded_may_scan(p);
  s->q = part_of(p, scans);
  int64_t threads = scans ? (p->n + s->q - 1) / s->q : 1;
  for (int most = MOST_WARPS;; most /= 2) {
    int64_t t = threads > 32 ? kugel__min(kugel__round_up(threads, 32), 32 * most) : threads;
    s->threads = (int32_t)t;
    s->warps = t > 32 ? (int32_t)(t / 32) : (int32_t)kugel__min(SMALL_BLOCK, most);
    s->panels = t * s->q < p->n;
    s->ragged = t * s->q != p->n;
    kugel__banded_pad(s, p->n);
    if (kugel__banded_shared(s) <= shared || most == 2)
      break;
  }
  s->resident = kugel__max(1, threads_a_unit(s) / (32 * s->warps));
}
