/* SPDX-License-Identifier: BSD-3-Clause */
/* Points become cells of the fine grid and fractions, and are sorted by tile. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/plan.h"

KUGEL_DISPATCH(kugel__nufft_locate_ops, kugel__nufft_locate_ops)

typedef struct sorter {
  const kugel_nufft *plan;
  kugel_nufft_points *p;
  kugel__nufft_places places; /* of the points as they come */
  int64_t n, chunk, chunks;
  int64_t *counts; /* [chunks][tiles] */
  bool located;
} sorter;

kugel_status kugel__nufft_locate(const kugel__nufft_places *p, int64_t first, int64_t end)
{
  int64_t bad = first < end ? kugel__nufft_locate_ops_get()->locate(p, first, end - first) : end;
  for (int d = 0; bad < end && d < p->plan->ndim; d++) {
    int64_t at = bad * p->stride + d * p->axis_stride;
    double x = p->floats ? (double)((const float *)(const void *)p->data)[at]
                         : ((const double *)(const void *)p->data)[at];
    KUGEL_CHECK(isfinite(x), KUGEL_EINVAL, "coordinate %d of point %lld is %g, must be finite", d,
                (long long)bad, x);
  }
  return KUGEL_OK;
}

static kugel_status count(void *arg, int64_t chunk)
{
  const sorter *s = arg;
  int64_t *counts = s->counts + chunk * s->plan->tiles;
  int64_t first = chunk * s->chunk, end = kugel__min(s->n, first + s->chunk);
  if (!s->located)
    KUGEL_TRY(kugel__nufft_locate(&s->places, first, end));
  for (int64_t i = first; i < end; i++)
    counts[s->places.tile[i]]++;
  return KUGEL_OK;
}

static inline __attribute__((always_inline)) void scatter_of(const sorter *s, int64_t first, int64_t end,
                                                             int64_t *next, size_t record)
{
  for (int64_t i = first; i < end; i++)
    memcpy(s->p->records + (size_t)next[s->places.tile[i]]++ * record, s->places.points + (size_t)i * record,
           record);
}

static kugel_status scatter(void *arg, int64_t chunk)
{
  const sorter *s = arg;
  int64_t *next = s->counts + chunk * s->plan->tiles, first = chunk * s->chunk,
          end = kugel__min(s->n, first + s->chunk);
  switch (s->places.record) { // a copy of constant size is a few instructions
  case 32:
    scatter_of(s, first, end, next, 32);
    break;
  case 24:
    scatter_of(s, first, end, next, 24);
    break;
  case 20:
    scatter_of(s, first, end, next, 20);
    break;
  case 16:
    scatter_of(s, first, end, next, 16);
    break;
  default:
    scatter_of(s, first, end, next, 12);
  }
  return KUGEL_OK;
}

/* ---- lists of tiles ---- */

/* Columns of one colour do not touch, not even across the period: along each axis they alternate between two colours, and
 * the last one of an odd number has the third. */
static int64_t colour_along(int64_t n, int64_t i)
{
  return n > 1 && n % 2 && i == n - 1 ? 2 : i % 2;
}

/* Of a column: its part of the first axis, its place in the others. */
static int64_t colour_of(const kugel_nufft *p, int64_t part, int64_t across)
{
  int64_t colour = 0, factor = 1;
  for (int d = p->ndim - 1; d > 0; d--) {
    colour += factor * colour_along(p->axis[d].tiles, across % p->axis[d].tiles);
    factor *= 3;
    across /= p->axis[d].tiles;
  }
  return colour + factor * colour_along(p->parts, part);
}

/* The first tile of a part of the first axis. */
static int64_t part_start(const kugel_nufft *p, int64_t part)
{
  return (part * p->axis[0].tiles + p->parts - 1) / p->parts;
}

static int64_t points_of(const sorter *s, int64_t tile)
{
  int64_t n = 0;
  for (int64_t c = 0; c < s->chunks; c++)
    n += s->counts[c * s->plan->tiles + tile];
  return n;
}

/* Columns by colour, each with its tiles that have points along the first axis. */
static kugel_status list_tiles(sorter *s)
{
  kugel_nufft_points *p = s->p;
  const kugel_nufft *plan = s->plan;
  const int64_t across = plan->tiles / plan->axis[0].tiles, columns = across * plan->parts;
  int64_t at = 0;
  for (int64_t tile = 0; tile < plan->tiles; tile++)
    p->occupied += points_of(s, tile) > 0;
  KUGEL_ALLOC(plan->ctx, p->first, (p->occupied + 1) * (int64_t)sizeof *p->first);
  KUGEL_ALLOC(plan->ctx, p->place, kugel__max(1, p->occupied) * (int64_t)sizeof *p->place);
  KUGEL_ALLOC(plan->ctx, p->column, (kugel__min(columns, p->occupied) + 1) * (int64_t)sizeof *p->column);
  for (int c = 0; c < KUGEL__NUFFT_COLOURS; c++) {
    for (int64_t i = 0; i < columns; i++) {
      if (colour_of(plan, i / across, i % across) != c)
        continue;
      p->column[p->columns] = at;
      for (int64_t k = part_start(plan, i / across); k < part_start(plan, i / across + 1); k++)
        if (points_of(s, k * across + i % across) > 0)
          p->place[at++] = k * across + i % across;
      p->columns += at > p->column[p->columns];
    }
    p->colour[c + 1] = p->columns;
  }
  p->column[p->columns] = at;
  return KUGEL_OK;
}

/* Where the points of each tile and chunk go: tiles in the order of the list, chunks in order. */
static kugel_status arrange(sorter *s)
{
  kugel_nufft_points *p = s->p;
  const kugel_nufft *plan = s->plan;
  int64_t at = 0;
  KUGEL_TRY(list_tiles(s));
  for (int64_t i = 0; i < p->occupied; i++) {
    p->first[i] = at;
    for (int64_t c = 0; c < s->chunks; c++) {
      int64_t *n = &s->counts[c * plan->tiles + p->place[i]], had = *n;
      *n = at;
      at += had;
    }
  }
  p->first[p->occupied] = at;
  return KUGEL_OK;
}

/* Ranges of the first axis' cells in tiles with points and their margins. */
static kugel_status find_rows(kugel_nufft_points *p)
{
  const kugel_nufft *plan = p->plan;
  const kugel__nufft_axis *a = &plan->axis[0];
  const int64_t fine = a->fine, others = plan->tiles / a->tiles;
  KUGEL_ALLOC(plan->ctx, p->rows.range, (a->tiles + 2) * (int64_t)sizeof *p->rows.range);
  char *near = kugel__scratch_get(plan->ctx, (size_t)fine);
  KUGEL_CHECK(near, KUGEL_ENOMEM, "no memory for %lld rows of the fine grid", (long long)fine);
  memset(near, 0, (size_t)fine);
  for (int64_t i = 0; i < p->occupied; i++) {
    const int64_t tile = p->place[i] / others;
    for (int64_t k = a->start[tile]; k < a->start[tile + 1] + plan->kernel.width - 1; k++)
      near[k % fine] = 1;
  }
  for (int64_t k = 0; k < fine; k++) {
    if (!near[k])
      continue;
    if (k == 0 || !near[k - 1])
      p->rows.range[p->rows.n++][0] = k;
    p->rows.range[p->rows.n - 1][1] = k + 1 - p->rows.range[p->rows.n - 1][0];
  }
  kugel__scratch_put(plan->ctx, near);
  return KUGEL_OK;
}

static kugel_status sort(sorter *s)
{
  kugel_nufft_points *p = s->p;
  const kugel_nufft *plan = s->plan;
  size_t record = (size_t)kugel__nufft_record(plan->single, plan->ndim), some = (size_t)kugel__max(1, s->n);
  KUGEL_CHECK(plan->tiles <= UINT32_MAX, KUGEL_EINVAL,
              "the fine grid has %lld tiles, must be below 2^32: use fewer modes", (long long)plan->tiles);
  s->chunks =
      kugel__max(1, kugel__min(kugel__min(64, (s->n + 16383) / 16384), ((int64_t)1 << 24) / plan->tiles));
  s->chunk = (s->n + s->chunks - 1) / s->chunks;
  p->records = kugel__scratch_get(plan->ctx, some * record); // which points of a later call take over
  KUGEL_CHECK(p->records, KUGEL_ENOMEM, "no memory for %lld points", (long long)s->n);
  if (!s->located) {
    s->places.points = kugel__scratch_get(plan->ctx, some * (record + sizeof *s->places.tile));
    KUGEL_CHECK(s->places.points, KUGEL_ENOMEM, "no memory for the places of %lld points", (long long)s->n);
    s->places.tile = (uint32_t *)(void *)(s->places.points + some * record);
  }
  s->places.record = (int64_t)record;
  s->counts = kugel__calloc(plan->ctx, (size_t)(s->chunks * plan->tiles) * sizeof *s->counts);
  KUGEL_CHECK(s->counts, KUGEL_ENOMEM, "no memory for counts of %lld tiles", (long long)plan->tiles);
  kugel__progress_stage(0, 0.6, "sorting points");
  KUGEL_TRY(kugel__parallel(plan->ctx, s->chunks, count, s));
  KUGEL_TRY(arrange(s));
  KUGEL_TRY(find_rows(p));
  kugel__progress_stage(0.6, 0.9, "sorting points");
  KUGEL_TRY(kugel__parallel(plan->ctx, s->chunks, scatter, s));
  kugel__progress_stage(0.9, 1, "sorting points");
  p->tile = plan->tile;
  p->tile.points = p->records;
  p->tile.record = (int64_t)record;
  return kugel__nufft_sort_tiles(p);
}

kugel_status kugel__nufft_sort(kugel_nufft_points *p, const kugel__nufft_places *places, bool located)
{
  sorter s = {.plan = p->plan, .p = p, .places = *places, .n = p->n, .located = located};
  kugel_status status = sort(&s);
  kugel__free(p->plan->ctx, s.counts);
  if (!located)
    kugel__scratch_put(p->plan->ctx, s.places.points);
  return status;
}

void kugel__nufft_points_clear(kugel_nufft_points *p, kugel_ctx *ctx)
{
  kugel__scratch_put(ctx, p->records);
  kugel__free(ctx, p->first);
  kugel__free(ctx, p->place);
  kugel__free(ctx, p->column);
  kugel__free(ctx, p->rows.range);
}
