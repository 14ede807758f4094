/* SPDX-License-Identifier: BSD-3-Clause */
/* Which kernel a plan gets. */
#include "banded/kernel.h"

enum {
  MOST_WARPS = 16,   /* of a system that is held whole, or of a panel */
  DIRECT_BLOCK = 8,  /* warps of a block without shared memory */
  SMALL_BLOCK = 4,   /* warps of a block whose warps have systems of their own */
  SUBSTITUTED = 8,   /* elements of a part where no scan may be */
  LONG_ROWS = 7680,  /* of 16 a part fit into the registers of a multiprocessor */
  CYCLIC_ROWS = 256, /* at most of a system, for cyclic reduction */
  SMALL_ROWS = 64,   /* of a system at most, where calls are small ... */
  SMALL = 200000,    /* and elements of all systems */
  HELD = 80,         /* registers for numbers of the table */
  HELD_SMALL = 120   /* for those of floats and doubles, in blocks of up to 8 warps */
};

// Whether systems may be parted among threads.
static bool may_scan(const kugel_banded *p)
{
  return p->opts.method != KUGEL_BANDED_SUBSTITUTION && p->info.propagation <= KUGEL__SCAN_LIMIT;
}

bool kugel__banded_small(const kugel_banded *p, int64_t batch)
{
  bool may = p->opts.method == KUGEL_BANDED_AUTO && may_scan(p) && p->matrices == 1;
  return may && p->n > 1 && p->n <= SMALL_ROWS && batch <= SMALL / p->n;
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
  int registers = s->abreast && s->panels && s->real != KUGEL__DD ? 64 : registers_of(s);
  bool whole = s->abreast && !s->panels, both = s->forward && s->backward;
  bool half = both && s->warps > 8 && s->warps <= 10 && s->real != KUGEL__DD;
  if (whole && registers > (half ? 96 : 128))
    registers = half ? 96 : 128; /* two blocks of a bit more than 256 threads, or 512 threads */
  int threads = registers <= 64    ? 1024
                : registers <= 80  ? 768
                : registers <= 96  ? 640
                : registers <= 128 ? 512
                                   : 256;
  return threads > 32 * s->warps ? threads / (32 * s->warps) : 1;
}

/* ---- layout ROWS ---- */

/* Elements of a part, as measured on an H200: short parts for few numbers, whose time is that of the longest
 * chain of operations; at most a warp a system as long as its parts fit into registers (512 doubles: 1.07 of
 * a copy's time with 32 threads of 16, 1.25 with 64 of 8); then whole warps, which wait for each other once a
 * recurrence. Parts of double-double compute rather than wait: long ones, which scans cost least. */
static int part_of(const kugel_banded *p, const kugel__banded_shape *s, bool scans)
{
  if (!scans)
    return SUBSTITUTED;
  if (p->planes == 2)
    return p->n <= 2 ? 2 : s->product || p->n < 256 ? 4 : p->n <= 1024 || p->n > 4096 ? 8 : 16;
  if (p->word == 4)
    return p->n <= 8 ? 4 : p->n <= 300 ? 8 : 16;
  if (p->n <= 256)
    return p->n <= 128 ? 4 : 8;
  bool eight = s->product ? p->n > 512 : p->n > 512 && p->n <= 1024;
  return eight || p->n > LONG_ROWS ? 8 : 16;
}

/* A unit a lane, of systems that a warp holds. */
static void choose_direct(const kugel_banded *p, kugel__banded_shape *s)
{
  s->direct = 1;
  s->q = s->unit;
  s->threads = (int32_t)p->n / s->unit;
  s->warps = DIRECT_BLOCK;
  s->held = !s->each;
}

/* Cyclic reduction: as many lanes as a system has elements, up to a warp. */
static void choose_cyclic(const kugel_banded *p, kugel__banded_shape *s)
{
  s->direct = s->cyclic = s->unit = s->threads = 1;
  while (s->threads < 32 && s->threads < p->n)
    s->threads *= 2;
  s->q = (int32_t)((p->n + s->threads - 1) / s->threads);
  s->warps = SMALL_BLOCK;
  s->ragged = s->threads * s->q != p->n;
}

/* Small solves need the time of one: no shared memory between. As measured, scans of pairs are as fast as
 * cyclic reduction or faster, which takes what does not lie in pairs. */
static void choose_rows(const kugel_banded *p, bool scans, bool small, int64_t shared, kugel__banded_shape *s)
{
  bool vectors = s->unit == 2 ? p->word == 8 : p->planes == 2; /* units of 16 bytes */
  if (p->n <= 32 * s->unit && (s->product ? vectors : small && s->unit == 2)) {
    choose_direct(p, s);
    return;
  }
  bool cyclic = p->opts.method == KUGEL_BANDED_CYCLIC && p->n > 1 && p->n <= CYCLIC_ROWS;
  if (!s->product && scans && (cyclic || small)) {
    choose_cyclic(p, s);
    return;
  }
  s->q = part_of(p, s, scans);
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
  int held = p->planes == 1 && s->warps <= 8 ? HELD_SMALL : HELD;
  s->held = !s->each && !s->panels && words_of(s) * kugel__banded_rows(s) <= held;
}

/* ---- layout COLUMNS ---- */

/* Systems abreast: rows of 64 bytes are still moved at most of the memory's rate, and the fewer they are, the
 * longer the systems that a block holds whole and the more evenly blocks fill the device. */
static int abreast_of(const kugel_banded *p, const kugel__banded_shape *s, bool many)
{
  return p->planes == 2 ? 4 : p->word == 4 || s->product || (many && p->n <= 32) ? 16 : 8;
}

/* Elements of a part at most, so that they and the table's numbers fit into registers; as measured, parts of
 * 8 for products and 16 for solves, 32 for long ones of floats, are best where there is a choice. */
static int most_of(const kugel_banded *p, const kugel__banded_shape *s)
{
  if (p->planes == 2)
    return s->product || s->each ? 8 : 16;
  return p->word == 8 && (s->product || s->each) ? 16 : 32;
}

/* Parts of a system that is held whole, of `usual` elements or about as many that leave nothing over, since
 * what is left over takes registers too; more where that is too short; false: the system is too long. */
static bool choose_parts(const kugel_banded *p, int64_t usual, kugel__banded_shape *s)
{
  int64_t together = 32 / s->abreast, most = most_of(p, s), limit = MOST_WARPS * together,
          needed = (p->n + limit - 1) / limit;
  int64_t least = kugel__max(kugel__min(usual, most), needed), q = kugel__max(least - least / 4, needed);
  int64_t uneven = s->product && p->word == 8 ? most : most - most / 8;
  while (q <= most && (p->n % q || p->n / q % together))
    q++;
  if (q > most)
    q = kugel__min(least, uneven);
  s->threads = (int32_t)kugel__min(limit, kugel__round_up((p->n + q - 1) / q, together));
  s->q = (int32_t)kugel__min(most, (p->n + s->threads - 1) / s->threads);
  s->ragged = s->threads * s->q != p->n;
  return s->threads * s->q >= p->n && (!s->ragged || s->q <= uneven);
}

static void choose_columns(const kugel_banded *p, bool scans, bool many, kugel__banded_shape *s)
{
  s->unit = 1;
  int row = s->product ? 64 : 32, bytes = p->planes * (int)p->word; /* of a row, at least; of a number */
  bool once = s->product || !s->forward || !s->backward;            /* rows may be stored as they go by */
  bool brief = once && many && p->n <= 32, may = scans && (!once || !many || brief || p->word == 4);
  int64_t usual = s->product ? 8 : p->word == 4 && p->n >= 512 ? 32 : 16;
  s->abreast = brief ? 32 : abreast_of(p, s, many);
  usual = brief ? kugel__min(8, 64 / bytes) : usual;
  bool whole = may && choose_parts(p, usual, s);
  while (may && !whole && s->abreast * bytes > row) {
    s->abreast /= 2;
    whole = choose_parts(p, usual, s);
  }
  if (!whole) { /* many columns keep a device busy without parts */
    s->q = SUBSTITUTED;
    s->abreast = 32;
    s->threads = scans && !many ? MOST_WARPS : 1;
    s->panels = (int64_t)s->threads * s->q < p->n;
  }
  int32_t warps = s->threads * s->abreast / 32;
  s->warps = warps >= SMALL_BLOCK ? warps : SMALL_BLOCK / warps * warps;
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
                             .unit = 1};
  if (product) {
    s->lower = p->lower != NULL;
    s->upper = p->upper != NULL;
  } else {
    s->forward = stage_of(&p->forward);
    s->backward = stage_of(&p->backward);
  }
  if (p->opts.layout == KUGEL_BANDED_ROWS)
    s->unit = variant == KUGEL__BANDED_PAIRS || variant == KUGEL__BANDED_SMALL_PAIRS ? 2 : 1;
  bool scans = product || may_scan(p);
  if (p->opts.layout == KUGEL_BANDED_COLUMNS)
    choose_columns(p, scans, variant == KUGEL__BANDED_MANY, s);
  else
    choose_rows(p, scans, variant >= KUGEL__BANDED_SMALL_SINGLES, shared, s);
  s->spread = !product && !s->cyclic && s->threads > 1 && !s->each && !s->held;
  s->resident = resident_of(s);
}
