/* SPDX-License-Identifier: BSD-3-Clause */
/* Which block of a device serves which rings: how each length is transformed, in what class of block, and the
 * order of launches. */
#include <stdlib.h>
#include "core/alloc.h"
#include "fft/rings/gpu_plan.h"
#include "fft/roots/roots.h"

enum { ROOTS = 64, NEAR = 64, MAX_PASSES = 16 }; // the former two as in the kernels

/* ---- lengths ---- */

// Sevens, fives, threes, a two or four, eights; powers of two from 64 on begin with an eight too, as kernels
// expect.
static bool factor(int64_t n, ring_line *l)
{
  int twos = 0, passes = 0;
  uint64_t radices = 0;
  for (; n % 2 == 0; n /= 2)
    twos++;
  for (int radix = 7; radix > 1; radix -= 2)
    for (; n % radix == 0 && passes < MAX_PASSES; n /= radix)
      radices |= (uint64_t)radix << 4 * passes++;
  if (n > 1 || passes + (twos + 2) / 3 > MAX_PASSES)
    return false;
  if (!passes && twos >= 6) {
    radices = 8;
    passes = 1;
    twos -= 3;
  }
  if (twos % 3)
    radices |= (uint64_t)1 << twos % 3 << 4 * passes++;
  for (; twos >= 3; twos -= 3)
    radices |= (uint64_t)8 << 4 * passes++;
  l->radices = radices;
  l->passes = passes;
  return true;
}

// The least 2^k, 3 2^k or 5 2^k from `least` on that has two passes or more, the last of radix 8.
static int64_t chirp_size(int64_t least)
{
  int64_t best = INT64_MAX;
  for (int64_t odd = 1; odd <= 5; odd += 2) {
    int64_t n = odd > 1 ? 8 * odd : 16;
    while (n < least)
      n *= 2;
    best = kugel__min(best, n);
  }
  return best;
}

static void plan_line(ring_line *l, int32_t n)
{
  *l = (ring_line){.n = n, .size = n, .length = n};
  if (factor(n, l))
    return;
  l->split = n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1;
  l->length = n / l->split;
  l->size = (int32_t)chirp_size(2 * (int64_t)l->length - 1);
  factor(l->size, l);
}

bool kugel__rings_gpu_chirped(int64_t n)
{
  ring_line l = {0};
  return !factor(n, &l);
}

int64_t kugel__rings_gpu_tables(int64_t n, int64_t before)
{
  ring_line l, last = {0};
  plan_line(&l, (int32_t)n);
  if (before)
    plan_line(&last, (int32_t)before);
  bool known = l.split && last.split && l.size == last.size; // roots
  int64_t numbers = known ? 0 : l.size, places = l.split ? 0 : l.n;
  numbers += l.split ? 2 * (int64_t)l.length + l.size : 0;
  return n == before ? 0 : numbers * 16 + places * 4 + (int64_t)sizeof l;
}

// OpenCL reserves all of it for every block. A multiprocessor keeps 1 KiB of each block for itself.
int64_t kugel__rings_gpu_capacity(const kugel__device *d, bool f32, int class)
{
  static const int64_t most[CLASSES] = {4736, 7168, 14336, INT64_MAX};
  int64_t wide = f32 ? 2 : 1, all = (int64_t)d->info.shared_bytes / 16 * wide;
  if (class == IN_MEMORY)
    return INT64_MAX;
  if (d->ops->type != KUGEL_CUDA)
    return kugel__min(class == 0 ? 3072 : most[class] * wide, all);
  int64_t room = most[class] * (f32 && class == 0 ? 3 : 2 * wide) / 2;
  return kugel__min(room, all / shapes[f32][class].blocks - 64 * wide);
}

static int64_t room_of(const kugel__rings_gpu *p, const ring_line *l)
{
  int64_t top = kugel__max(l->n / 2, p->mmax), section = kugel__round_up(l->size, 8) + 2; // as in the kernels
  int64_t roots = kugel__round_up(ROOTS + l->size / (2 * ROOTS) + 1, 8), phases = 2 * (NEAR + top / NEAR + 1);
  return kugel__max(l->split, 1) * section + roots + phases;
}

static int class_of(const kugel__rings_gpu *p, bool f32, const ring_line *l)
{
  int c = 0;
  while (room_of(p, l) > kugel__rings_gpu_capacity(p->device, f32, c))
    c++;
  return c;
}

/* ---- jobs and the order of launches ---- */

static void add_job(kugel__rings_gpu *p, const kugel__rings_desc *d, int64_t i, bool north, bool south,
                    int flags)
{
  kugel__turn a = kugel__turn_radians(north ? d->phi0_north[i] : 0),
              b = kugel__turn_radians(south ? d->phi0_south[i] : 0);
  p->jobs[p->njobs++] = (ring_job){
      .hi = {a.hi, b.hi},
      .lo = {a.lo, b.lo},
      .first = {north ? d->offset_north[i] : -1, south ? d->offset_south[i] : -1},
      .pair = (int32_t)i,
      .line = (int32_t)(north ? d->nphi_north[i] : d->nphi_south[i]), // its length, until lines are known
      .mlim = (int32_t)(d->mlim ? kugel__min(d->mlim[i], d->mmax) : d->mmax),
      .flags = flags};
}

static int by_length(const void *a, const void *b)
{
  const ring_job *x = a, *y = b;
  if (x->line != y->line)
    return x->line < y->line ? 1 : -1;
  return (x->pair > y->pair) - (x->pair < y->pair);
}

static kugel_status make_jobs(kugel__rings_gpu *p, const kugel__rings_desc *d)
{
  int64_t n = d->npairs;
  KUGEL_ALLOC(p->ctx, p->jobs, (size_t)(2 * n + 1) * sizeof *p->jobs);
  for (int64_t i = 0; i < n; i++) {
    bool north = d->offset_north[i] >= 0, south = d->offset_south[i] >= 0;
    KUGEL_CHECK(d->nphi_north[i] < 1 << 28 && d->nphi_south[i] < 1 << 28, KUGEL_ENOTSUP,
                "a ring of %lld pixels is too long for a device, at most %d",
                (long long)kugel__max(d->nphi_north[i], d->nphi_south[i]), (1 << 28) - 1);
    if (north && south && d->nphi_north[i] != d->nphi_south[i]) {
      add_job(p, d, i, true, false, 1);
      add_job(p, d, i, false, true, 2);
    } else if (north || south)
      add_job(p, d, i, north, south, 3);
  }
  qsort(p->jobs, (size_t)p->njobs, sizeof *p->jobs, by_length);
  return KUGEL_OK;
}

static int64_t take(int64_t *total, int64_t n)
{
  *total += n;
  return *total - n;
}

// One for each length, which jobs have in place of their line.
static kugel_status make_lines(kugel__rings_gpu *p)
{
  int32_t n = 0;
  const ring_line *chirped = NULL; // the last one
  KUGEL_ALLOC(p->ctx, p->lines, (size_t)(p->njobs + 1) * sizeof *p->lines);
  for (int32_t i = 0; i < p->njobs; i++) {
    ring_line *l = &p->lines[p->nlines];
    if (p->jobs[i].line != n) {
      n = p->jobs[i].line;
      plan_line(l, n);
      bool known = l->split && chirped && chirped->size == l->size;
      l->owner = !known;
      l->roots = known ? chirped->roots : take(&p->numbers, l->size);
      if (l->split) {
        l->chirp = take(&p->numbers, 2 * (int64_t)l->length);
        l->filter = take(&p->numbers, l->size);
        chirped = l;
      } else
        l->order = take(&p->places, l->n);
      p->nlines++;
    }
    p->jobs[i].line = p->nlines - 1;
  }
  return KUGEL_OK;
}

/* ---- groups ---- */

enum { MANY = 32 }; // units that make a kind

static bool same_kind(const ring_line *a, const ring_line *b)
{
  return a->split == b->split && a->size == b->size;
}

static int32_t units_of(const kugel__rings_gpu *p, const ring_line *kind)
{
  int32_t n = 0;
  for (int32_t i = 0; i < p->njobs; i++)
    n += same_kind(kind, &p->lines[p->jobs[i].line]);
  return n;
}

static const unit_group *group_of(const ring_bank *bank, const ring_line *l, int class)
{
  const unit_group *g = bank->groups;
  while (!(g->alike ? same_kind(&g->kind, l) : g->class == class))
    g++;
  return g;
}

// Kinds come first, those of the longest lines before others; then a group of each class.
static void make_groups(kugel__rings_gpu *p, bool f32)
{
  ring_bank *bank = &p->banks[f32];
  const ring_line *last = NULL;
  int kinds = 0;
  for (const ring_line *l = p->lines; l < p->lines + p->nlines && kinds < KINDS; l++) {
    bool known = class_of(p, f32, l) == IN_MEMORY;
    for (int i = 0; i < kinds && !known; i++)
      known = same_kind(&bank->groups[i].kind, l);
    if (!known && !(last && same_kind(last, l)) && units_of(p, l) >= MANY)
      bank->groups[kinds++] = (unit_group){.alike = true, .kind = *l, .class = class_of(p, f32, l)};
    last = l;
  }
  for (int c = CLASSES - 1; c >= 0; c--)
    bank->groups[kinds + CLASSES - 1 - c].class = c;
  bank->ngroups = kinds + CLASSES;
}

// Units of groups: those with chirps, which compute more, in turn with the others.
static kugel_status make_units(kugel__rings_gpu *p, bool f32)
{
  int32_t n = 0, *list;
  ring_bank *bank = &p->banks[f32];
  KUGEL_ALLOC(p->ctx, p->units[f32], (size_t)(p->njobs + p->nlines + 1) * sizeof *list);
  list = p->units[f32];
  make_groups(p, f32);
  for (unit_group *g = bank->groups; g < bank->groups + bank->ngroups; g++) {
    g->first = n;
    for (int32_t at[2] = {0, 0}, kind = 1; at[0] < p->njobs || at[1] < p->njobs; kind = !kind)
      for (bool found = false; at[kind] < p->njobs && !found; at[kind]++) {
        const ring_line *l = &p->lines[p->jobs[at[kind]].line];
        found = kind == (l->split > 0) && group_of(bank, l, class_of(p, f32, l)) == g;
        if (found) {
          g->room = kugel__max(g->room, room_of(p, l));
          list[n++] = at[kind];
        }
      }
    g->count = n - g->first;
    g->first_filter = n;
    for (int32_t i = 0; i < p->nlines; i++)
      if (p->lines[i].split && group_of(bank, &p->lines[i], class_of(p, f32, &p->lines[i])) == g)
        list[n++] = i;
    g->filters = n - g->first_filter;
    if (g->class == IN_MEMORY)
      bank->scratch = p->blocks * g->room;
  }
  return KUGEL_OK;
}

kugel_status kugel__rings_gpu_units(kugel__rings_gpu *p, const kugel__rings_desc *desc)
{
  KUGEL_TRY(make_jobs(p, desc));
  KUGEL_TRY(make_lines(p));
  KUGEL_TRY(make_units(p, false));
  return make_units(p, true);
}
