/* SPDX-License-Identifier: BSD-3-Clause */
/* Which block of a device serves which rings: how each length is transformed, in what class of block, and the
 * order of launches. */
#include <stdlib.h>
#include "core/alloc.h"
#include "fft/rings_gpu_plan.h"
#include "fft/roots.h"

enum { AHEAD = 4, MAX_PASSES = 16 }; // AHEAD as in the kernels

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
  *l = (ring_line){.n = n, .size = n, .length = n, .together = 1};
  if (factor(n, l))
    return;
  l->split = n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : 1;
  l->length = n / l->split;
  l->size = (int32_t)chirp_size(2 * (int64_t)l->length - 1);
  factor(l->size, l);
}

// OpenCL reserves all of it for every block.
int64_t kugel__rings_gpu_capacity(const kugel__device *d, int class)
{
  static const int64_t most[CLASSES] = {4864, 7168, 14336, INT64_MAX};
  int64_t all = (int64_t)d->info.shared_bytes / 16;
  if (class == IN_MEMORY)
    return INT64_MAX;
  if (d->ops->type != KUGEL_CUDA)
    return kugel__min(class == 0 ? 3072 : most[class], all);
  return kugel__min(most[class], all / shapes[class].blocks - 64);
}

static int64_t room_of(const kugel__rings_gpu *p, const ring_line *l, int class)
{
  int64_t threads = shapes[class].threads, top = kugel__max(l->n / 2, p->mmax);
  int64_t phases = threads + 2 * (top / (threads / 2) + 1 + AHEAD);
  int64_t section = kugel__round_up(l->length, 8) + 2; // as in the kernels
  return (l->split ? l->split * section + l->together * l->size : section) + phases;
}

// Long rings without chirps go with the chirps of long ones, in one launch of two blocks a multiprocessor.
static int class_of(const kugel__rings_gpu *p, const ring_line *l)
{
  int c = l->split || l->n <= 2048 ? 0 : 1;
  while (room_of(p, l, c) > kugel__rings_gpu_capacity(p->device, c))
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

// As many parts of chirps at a time as the class has room for anyway.
static void plan_together(const kugel__rings_gpu *p, ring_line *l)
{
  int c = class_of(p, l);
  for (int n = 2; n <= l->split; n *= 2) {
    ring_line more = *l;
    more.together = n;
    if (c != IN_MEMORY &&
        room_of(p, &more, c) <= kugel__rings_gpu_capacity(p->device, c) * 15 / 16) // caches need some
      l->together = n;
  }
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
      plan_together(p, l);
      bool known = l->split && chirped && chirped->size == l->size;
      l->owner = !known;
      l->roots = known ? chirped->roots : take(&p->numbers, l->size);
      if (l->split) {
        l->chirp = take(&p->numbers, l->length);
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

// Jobs of a class: those with chirps, which compute more, in turn with the others.
static kugel_status make_units(kugel__rings_gpu *p)
{
  int32_t n = 0;
  KUGEL_ALLOC(p->ctx, p->units, (size_t)(p->njobs + p->nlines + 1) * sizeof *p->units);
  for (int c = 0; c < CLASSES; c++) {
    unit_class *units = &p->classes[c], *filters = &p->filters[c];
    units->first = n;
    for (int32_t at[2] = {0, 0}, kind = 1; at[0] < p->njobs || at[1] < p->njobs; kind = !kind)
      for (bool found = false; at[kind] < p->njobs && !found; at[kind]++) {
        const ring_line *l = &p->lines[p->jobs[at[kind]].line];
        found = kind == (l->split > 0) && class_of(p, l) == c;
        if (found) {
          units->room = kugel__max(units->room, room_of(p, l, c));
          p->units[n++] = at[kind];
        }
      }
    units->count = n - units->first;
    *filters = (unit_class){.first = n, .room = units->room};
    for (int32_t i = 0; i < p->nlines; i++)
      if (p->lines[i].split && class_of(p, &p->lines[i]) == c)
        p->units[n++] = i;
    filters->count = n - filters->first;
    if (c == IN_MEMORY)
      p->scratch = p->blocks * units->room;
  }
  return KUGEL_OK;
}

kugel_status kugel__rings_gpu_units(kugel__rings_gpu *p, const kugel__rings_desc *desc)
{
  KUGEL_TRY(make_jobs(p, desc));
  KUGEL_TRY(make_lines(p));
  return make_units(p);
}
