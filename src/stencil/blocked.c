/* SPDX-License-Identifier: BSD-3-Clause */
/* Several steps of leapfrog in one pass over memory: the first axis is cut into slabs, a few per thread.
 *
 * First each slab advances alone; at every step `reach` planes fewer, at the ends that border on others, have the neighbours they
 * need. It does so in bands of a few planes: each step takes the band `reach` planes behind the step before, where all that it
 * reads is done and nobody reads any more what it overwrites, so that the planes of all steps stay in cache while the bands pass. The
 * first and the last band are deeper than the rows of one-sided ends reach. Then the planes about each border catch up, at every step `reach` more to each side. Planes at distance d of a border
 * have then done d / reach + 1 steps, and their two levels are those that the next step there reads: there is no copy, and no
 * plane is computed twice. Each node has the arithmetic of a single step. */
#include <unistd.h>
#include "core/parallel.h"
#include "stencil/plan.h"

enum {
  MOST_STEPS = 8, /* KUGEL__LEAP_STEPS of devices */
  BAND = 2        /* planes */
};

typedef struct pass {
  const kugel_stencil *p;
  const kugel__stencil_side *side;
  double factor; /* dt^2 */
  char *level[2];
  int axis, reach, steps;
  bool periodic;
  int64_t n, slabs;
} pass;

static int64_t border(const pass *s, int64_t i)
{
  return i * s->n / s->slabs;
}

/* Step t of planes [lo, hi), which may lie beyond the ends of a periodic axis. */
static void step(const pass *s, int t, int64_t lo, int64_t hi)
{
  char *before = s->level[t % 2], *now = s->level[(t + 1) % 2];
  const kugel__stencil_use use = {
      .in = now, .out = before, .a = s->factor, .b = 2, .p = now, .c = -1, .q = before};
  for (int64_t from = lo, end; from < hi; from = end) {
    const int64_t turn = from < 0 ? -s->n : from >= s->n ? s->n : 0;
    end = kugel__min(hi, turn + s->n);
    int64_t first[2] = {0, 0}, last[2] = {s->p->n[0], s->p->n[1]};
    first[s->axis] = from - turn;
    last[s->axis] = end - turn;
    kugel__stencil_rows(s->p, s->side, &use, first, last);
  }
}

/* Planes of a slab at least, and of its first and last band: as many as its steps need; the rows of one-sided ends reach 9. */
static int64_t depth_of(const pass *s, int steps)
{
  return kugel__max(2 * s->reach * steps, s->reach * steps + 10) + 2;
}

static kugel_status shrink(void *arg, int64_t i)
{
  const pass *s = arg;
  const bool low = i > 0 || s->periodic, high = i + 1 < s->slabs || s->periodic;
  const int64_t lo = border(s, i), hi = border(s, i + 1), depth = depth_of(s, s->steps);
  for (int64_t end = lo, next; end < hi; end = next) {
    next = end + (end == lo ? depth : BAND);
    if (next > hi - depth)
      next = hi;
    for (int t = 0; t < s->steps; t++) {
      const int64_t from = end - t * s->reach, to = next - (next == hi && !high ? 0 : t * s->reach);
      step(s, t, end == lo ? lo + (low ? t * s->reach : 0) : from, to);
    }
  }
  return KUGEL_OK;
}

static kugel_status catch_up(void *arg, int64_t i)
{
  const pass *s = arg;
  const int64_t at = border(s, s->periodic ? i : i + 1);
  for (int t = 1; t < s->steps; t++)
    step(s, t, at - t * s->reach, at + t * s->reach);
  return KUGEL_OK;
}

/* The reach along the axis, and whether it is periodic: then its first row reaches the other end. */
static void look(pass *s)
{
  const kugel__stencil_side *side = s->side;
  for (int k = 0; k < side->first[side->targets]; k++) {
    const kugel__stencil_line *line = side->parts[k].line[s->axis];
    kugel__stencil_row row;
    kugel__stencil_get_row(line, 0, &row);
    s->reach = line->reach > s->reach ? line->reach : s->reach;
    for (int e = 0; e < row.count; e++)
      s->periodic |= row.at[e] > s->n / 2;
  }
}

int kugel__stencil_leaps(const kugel_stencil *p, bool transposed)
{
  pass s = {.p = p, .side = &p->side[transposed], .axis = 3 - p->ndim, .n = p->n[3 - p->ndim]};
  if (p->ndim == 1 || p->compact)
    return 1;
  look(&s);
  long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  cache = cache > 0 ? cache : 8 << 20;
  const int64_t fields = p->side[0].sources + p->nterms / 4; // coefficients are read too
  const int64_t plane = 2 * fields * p->nodes / s.n * (p->single ? 4 : 8);
  int steps = p->steps_per_pass ? p->steps_per_pass : MOST_STEPS;
  while (steps > 1 && (depth_of(&s, steps) > s.n ||
                       (s.reach * (steps + 1) + BAND) * plane * kugel__ctx_threads(p->ctx) > cache / 2))
    steps--;
  return steps;
}

kugel_status kugel__stencil_leap(const kugel_stencil *p, bool transposed, double dt, int steps, char *before,
                                 char *now)
{
  pass s = {.p = p,
            .side = &p->side[transposed],
            .factor = dt * dt,
            .level = {before, now},
            .axis = 3 - p->ndim,
            .steps = steps,
            .n = p->n[3 - p->ndim]};
  look(&s);
  const int threads = kugel__ctx_threads(p->ctx);
  s.slabs = kugel__max(1, kugel__min(threads > 1 ? 2 * threads : 1, s.n / depth_of(&s, steps)));
  KUGEL_TRY(kugel__parallel(p->ctx, s.slabs, shrink, &s));
  return kugel__parallel(p->ctx, s.periodic ? s.slabs : s.slabs - 1, catch_up, &s);
}
