/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of coordinates are read, points become cells of the fine grid and fractions, and are sorted by tile. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/plan/dd.h"
#include "nufft/third.h"

KUGEL_DISPATCH(kugel__nufft_locate_ops, kugel__nufft_locate_ops)

/* Coordinates as they are read one by one. */
kugel_status kugel__nufft_places_from(const kugel_array *a, kugel__nufft_places_of *out)
{
  kugel__pair_array pairs;
  const bool twofold = a->ndim == 3;
  const int64_t *strides = a->strides;
  if (twofold) {
    KUGEL_TRY(kugel__pair_array_of(a, out->name, &pairs));
    strides = pairs.array.strides;
  }
  out->data = kugel__array_data(a);
  out->n = a->shape[0];
  out->stride = strides ? strides[0] : a->shape[1];
  out->axis_stride = strides ? strides[1] : 1;
  out->floats = a->dtype.bits == 32;
  out->twofold = twofold;
  return KUGEL_OK;
}

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

/* ---- the order within a tile ----
 *
 * By blocks of a few cells, so that the cells which one point reaches are in the first cache when the next one comes. A
 * tile's buffer is as large as the second cache. */

enum { PIECE = 8192, BLOCKS = 4096 }; /* points sorted at a time, blocks of a tile at most */

typedef struct ordering {
  const kugel_nufft_points *p;
  int64_t record, blocks[3]; /* of a tile, the last axis last */
  int64_t size[3];           /* cells of a block */
  char *room;                /* one part per worker: records, then blocks of points */
  size_t bytes;
} ordering;

/* The quotient of integers below 2^24 as a product. */
static inline int64_t quotient(int64_t a, float by)
{
  return (int64_t)(((float)a + 0.5f) * by);
}

static void find_blocks(const ordering *o, const char *records, int64_t n, uint16_t *block)
{
  const kugel__nufft_tile *t = &o->p->plan->tile;
  const bool deep = t->ndim == 3;
  const float per_plane = deep ? 1 / (float)t->plane : 0, per_row = 1 / (float)t->row;
  for (int64_t i = 0; i < n; i++) {
    int32_t at;
    memcpy(&at, records + (i + 1) * o->record - 8, sizeof at);
    int64_t z = deep ? quotient(at, per_plane) : 0, rest = at - z * t->plane, y = quotient(rest, per_row),
            x = rest - y * t->row;
    block[i] = (uint16_t)((z / o->size[0] * o->blocks[1] + y / o->size[1]) * o->blocks[2] + x / o->size[2]);
  }
}

static void sort_piece(const ordering *o, char *records, int64_t n, char *room)
{
  int32_t next[BLOCKS + 1] = {0};
  uint16_t *block = (uint16_t *)(void *)(room + PIECE * o->record);
  find_blocks(o, records, n, block);
  memcpy(room, records, (size_t)(n * o->record));
  for (int64_t i = 0; i < n; i++)
    next[block[i] + 1]++;
  for (int64_t b = 0, blocks = o->blocks[0] * o->blocks[1] * o->blocks[2]; b < blocks; b++)
    next[b + 1] += next[b];
  for (int64_t i = 0; i < n; i++)
    memcpy(records + next[block[i]]++ * o->record, room + i * o->record, (size_t)o->record);
}

static kugel_status sort_tile(void *arg, int64_t tile, int worker)
{
  const ordering *o = arg;
  const int64_t first = o->p->first[tile], end = o->p->first[tile + 1];
  for (int64_t i = first; i < end; i += PIECE)
    sort_piece(o, o->p->records + i * o->record, kugel__min(PIECE, end - i),
               o->room + (size_t)worker * o->bytes);
  return KUGEL_OK;
}

kugel_status kugel__nufft_sort_tiles(const kugel_nufft_points *p)
{
  static const int64_t sizes[3][3] = {{1, 1, 1}, {1, 8, 32}, {4, 4, 8}};
  const kugel_nufft *plan = p->plan;
  ordering o = {.p = p, .record = kugel__nufft_record(plan->single, plan->ndim), .blocks = {1, 1, 1}};
  int64_t blocks = 1;
  memcpy(o.size, sizes[plan->ndim - 1], sizeof o.size);
  for (int d = plan->ndim - 1, k = 2; d >= 0; d--, k--) {
    o.blocks[k] = (plan->axis[d].length + o.size[k] - 1) / o.size[k];
    blocks *= o.blocks[k];
  }
  if (plan->ndim == 1 || blocks > BLOCKS || plan->buffer >= 1 << 23 || p->n < 4 * p->occupied)
    return KUGEL_OK;
  o.bytes = (size_t)kugel__round_up(PIECE * (o.record + (int64_t)sizeof(uint16_t)), 64);
  int workers = kugel__ctx_threads(plan->ctx);
  o.room = kugel__scratch_get(plan->ctx, (size_t)workers * o.bytes);
  KUGEL_CHECK(o.room, KUGEL_ENOMEM, "no memory for pieces of %d points", PIECE);
  kugel_status s = kugel__parallel_on(plan->ctx, workers, p->occupied, sort_tile, &o);
  kugel__scratch_put(plan->ctx, o.room);
  return s;
}
