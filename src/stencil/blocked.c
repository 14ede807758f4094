/* SPDX-License-Identifier: BSD-3-Clause */
/* Several steps of leapfrog in one pass over memory: the first axis is cut into slabs, a few per thread.
 *
 * First each slab advances alone; at every step `reach` planes fewer, at the ends that border on others, have the neighbours they
 * need. It does so in bands of a few planes: each step takes the band `reach` planes behind the step before, where all that it
 * reads is done and nobody reads any more what it overwrites, so that the planes of all steps stay in cache while the bands pass. The
 * first and the last band are deeper than the rows of one-sided ends reach. Then the planes about each border catch up, at every step `reach` more to each side. Planes at distance d of a border
 * have then done d / reach + 1 steps, and their two levels are those that the next step there reads: there is no copy, and no
 * plane is computed twice. Each node has the arithmetic of a single step.
 *
 * Of three axes the planes of a band go in tiles of rows, so that those of all steps stay in the second-level cache: each step takes
 * its tile `reach` rows before that of the step before, for the same reasons, and about the ends of a periodic axis the rows catch up
 * after the last tile. */
#include <unistd.h>
#include "core/parallel.h"
#include "stencil/plan.h"

enum {
  MOST_STEPS = 8, /* KUGEL__LEAP_STEPS of devices */
  BAND = 4, /* planes, or rows of two axes: all but `reach` to each side of what a step reads are its own */
  TILED_STEPS = 4 /* fewer gain less than tiles do */
};

typedef struct pass {
  const kugel_stencil *p;
  const kugel__stencil_side *side;
  double factor; /* dt^2 */
  char *level[2];
  int axis, reach, steps;
  bool periodic;
  int64_t n, slabs;
  struct {
    int reach;
    bool periodic;
    int64_t n, tile; /* rows of a tile: n if there are no tiles */
  } rows;            /* of the middle axis of three */
} pass;

static int64_t border(const pass *s, int64_t i)
{
  return i * s->n / s->slabs;
}

/* Step t of planes [lo, hi), which may lie beyond the ends of a periodic axis, and of these rows of theirs. */
static void step_rows(const pass *s, int t, int64_t lo, int64_t hi, int64_t row, int64_t end_row)
{
  if (row >= end_row)
    return;
  char *before = s->level[t % 2], *now = s->level[(t + 1) % 2];
  const kugel__stencil_use use = {
      .in = now, .out = before, .a = s->factor, .b = 2, .p = now, .c = -1, .q = before};
  for (int64_t from = lo, end; from < hi; from = end) {
    const int64_t turn = from < 0 ? -s->n : from >= s->n ? s->n : 0;
    end = kugel__min(hi, turn + s->n);
    int64_t first[2] = {0, row}, last[2] = {s->p->n[0], end_row};
    first[s->axis] = from - turn;
    last[s->axis] = end - turn;
    kugel__stencil_rows(s->p, s->side, &use, first, last);
  }
}

static void step(const pass *s, int t, int64_t lo, int64_t hi)
{
  step_rows(s, t, lo, hi, 0, s->p->n[1]);
}

/* Planes of a slab at least, and of its first and last band: as many as its steps need; the rows of one-sided ends reach 9. */
static int64_t depth_of(int reach, int steps)
{
  return kugel__max(2 * reach * steps, reach * steps + 10) + 2;
}

/* All steps of a band, whose planes [lo[t], hi[t]) step t takes. */
static void band(const pass *s, const int64_t *lo, const int64_t *hi)
{
  const int64_t n = s->rows.n, reach = s->rows.reach;
  const bool around = s->rows.periodic && s->rows.tile < n;
  for (int64_t row = 0, next; row < n; row = next) {
    next = row + s->rows.tile;
    if (next + s->rows.tile > n) /* the last one may be longer */
      next = n;
    for (int t = 0; t < s->steps; t++) {
      const int64_t back = t * reach,
                    from = row      ? row - back
                           : around ? back
                                    : 0,
                    to = next < n || around ? next - back : n;
      step_rows(s, t, lo[t], hi[t], from, to);
    }
  }
  for (int t = 1; t < s->steps && around; t++) {
    step_rows(s, t, lo[t], hi[t], n - t * reach, n);
    step_rows(s, t, lo[t], hi[t], 0, t * reach);
  }
}

static kugel_status shrink(void *arg, int64_t i)
{
  const pass *s = arg;
  const bool low = i > 0 || s->periodic, high = i + 1 < s->slabs || s->periodic;
  const int64_t lo = border(s, i), hi = border(s, i + 1), depth = depth_of(s->reach, s->steps);
  for (int64_t end = lo, next; end < hi; end = next) {
    int64_t from[MOST_STEPS], to[MOST_STEPS];
    next = end + (end == lo ? depth : BAND);
    if (next > hi - depth)
      next = hi;
    for (int t = 0; t < s->steps; t++) {
      from[t] = end == lo ? lo + (low ? t * s->reach : 0) : end - t * s->reach;
      to[t] = next - (next == hi && !high ? 0 : t * s->reach);
    }
    band(s, from, to);
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

/* The reach along an axis, and whether it is periodic: then its first row reaches the other end. */
static int look_along(const pass *s, int axis, bool *periodic)
{
  const kugel__stencil_side *side = s->side;
  int reach = 0;
  for (int k = 0; k < side->first[side->targets]; k++) {
    const kugel__stencil_line *line = side->parts[k].line[axis];
    kugel__stencil_row row;
    kugel__stencil_get_row(line, 0, &row);
    reach = line->reach > reach ? line->reach : reach;
    for (int e = 0; e < row.count; e++)
      *periodic |= row.at[e] > s->p->n[axis] / 2;
  }
  return reach;
}

/* Bytes of two levels of a plane, coefficients too. */
static int64_t plane_bytes(const pass *s)
{
  const int64_t fields = s->p->side[0].sources + s->p->nterms / 4;
  return 2 * fields * s->p->nodes / s->n * (s->p->single ? 4 : 8);
}

static int64_t cache_bytes; /* of the tests; 0: the machine's */

int64_t kugel__stencil_cache(int64_t bytes)
{
  const int64_t before = cache_bytes;
  cache_bytes = bytes;
  return before;
}

static int64_t second_level(void)
{
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return cache_bytes ? cache_bytes : bytes > 0 ? bytes : 1 << 20;
}

/* The rows of a tile of so many steps that fit in the second-level cache; 0: none that steps can follow one another in. */
static int64_t tile_of(const pass *s, int steps)
{
  const int64_t planes = s->reach * (steps + 1) + BAND, row = kugel__max(1, plane_bytes(s) / s->rows.n);
  const int64_t rows = second_level() * 3 / 4 / (planes * row) - s->rows.reach * steps;
  return s->axis || rows < depth_of(s->rows.reach, steps) ? 0 : kugel__min(rows, s->rows.n);
}

static pass look(const kugel_stencil *p, bool transposed)
{
  pass s = {.p = p, .side = &p->side[transposed], .axis = 3 - p->ndim, .n = p->n[3 - p->ndim]};
  s.reach = look_along(&s, s.axis, &s.periodic);
  s.rows.n = p->n[1];
  if (!s.axis)
    s.rows.reach = look_along(&s, 1, &s.rows.periodic);
  return s;
}

int kugel__stencil_leaps(const kugel_stencil *p, bool transposed)
{
  if (p->ndim == 1 || p->compact)
    return 1;
  const pass s = look(p, transposed);
  long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  cache = cache > 0 ? cache : 8 << 20;
  int steps = p->steps_per_pass ? p->steps_per_pass : MOST_STEPS;
  while (steps > 1 && depth_of(s.reach, steps) > s.n)
    steps--;
  for (int fewer = steps; fewer >= TILED_STEPS && !p->steps_per_pass; fewer--)
    if (tile_of(&s, fewer))
      return fewer;
  while (steps > 1 && !tile_of(&s, steps) &&
         (s.reach * (steps + 1) + BAND) * plane_bytes(&s) * kugel__ctx_threads(p->ctx) > cache / 2)
    steps--;
  return steps;
}

kugel_status kugel__stencil_leap(const kugel_stencil *p, bool transposed, double dt, int steps, char *before,
                                 char *now)
{
  pass s = look(p, transposed);
  s.factor = dt * dt;
  s.level[0] = before;
  s.level[1] = now;
  s.steps = steps;
  s.rows.tile = tile_of(&s, steps);
  if (!s.rows.tile)
    s.rows.tile = s.rows.n;
  const int threads = kugel__ctx_threads(p->ctx);
  s.slabs = kugel__max(1, kugel__min(threads > 1 ? 2 * threads : 1, s.n / depth_of(s.reach, steps)));
  KUGEL_TRY(kugel__parallel(p->ctx, s.slabs, shrink, &s));
  return kugel__parallel(p->ctx, s.periodic ? s.slabs : s.slabs - 1, catch_up, &s);
}
