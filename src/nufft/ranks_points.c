/* SPDX-License-Identifier: BSD-3-Clause */
/* Points over ranks: each rank locates its own, and sends them to the ranks that have their parts. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/ranks.h"

/* A point on its way: its record of tile.h, then its tile. */
typedef struct mail {
  kugel_nufft_points *p;
  const kugel_nufft *plan;
  kugel__nufft_spread_points *sp;
  kugel__nufft_places *places;
  int64_t chunk, chunks, parts;
  size_t unit;         /* bytes of a point */
  int64_t *counts;     /* [chunks][parts] of own points, then where they go */
  int64_t *mine, *all; /* [parts] points: own, of all ranks */
  int64_t *from;       /* [ranks][own parts] points that come */
  size_t *bytes;       /* [4][ranks] */
  char *located;       /* own points as they come: records, tiles */
  char *sent, *came;   /* units: sorted by part; by rank, then by part */
  char *records;       /* of one part, then tiles */
} mail;

static int64_t part_of(const mail *m, uint32_t tile)
{
  const int64_t tiles = m->plan->axis[0].tiles;
  return (int64_t)tile / (m->plan->tiles / tiles) * m->parts / tiles;
}

static kugel_status count_chunk(void *arg, int64_t chunk)
{
  const mail *m = arg;
  const int64_t first = chunk * m->chunk, end = kugel__min(m->p->n, first + m->chunk);
  KUGEL_TRY(kugel__nufft_locate(m->places, first, end));
  for (int64_t i = first; i < end; i++)
    m->counts[chunk * m->parts + part_of(m, m->places->tile[i])]++;
  return KUGEL_OK;
}

static kugel_status send_chunk(void *arg, int64_t chunk)
{
  const mail *m = arg;
  const size_t record = (size_t)m->places->record;
  const int64_t first = chunk * m->chunk, end = kugel__min(m->p->n, first + m->chunk);
  for (int64_t i = first; i < end; i++) {
    const int64_t to = m->counts[chunk * m->parts + part_of(m, m->places->tile[i])]++;
    char *unit = m->sent + (size_t)to * m->unit;
    memcpy(unit, m->places->points + (size_t)i * record, record);
    memcpy(unit + record, &m->places->tile[i], sizeof(uint32_t));
    m->sp->order[to] = (uint32_t)i;
  }
  return KUGEL_OK;
}

/* Own points: their places, how many of each part there are, and in which order they are sent. */
static kugel_status sort_own(mail *m)
{
  kugel_ctx *ctx = m->plan->ctx;
  const size_t n = (size_t)kugel__max(1, m->p->n), record = (size_t)m->places->record;
  m->chunks = kugel__max(1, kugel__min(64, (m->p->n + 16383) / 16384));
  m->chunk = (m->p->n + m->chunks - 1) / m->chunks;
  m->counts = kugel__calloc(ctx, (size_t)(m->chunks * m->parts) * sizeof *m->counts);
  m->located = kugel__scratch_get(ctx, n * m->unit);
  m->sent = kugel__scratch_get(ctx, n * m->unit);
  m->sp->order = kugel__alloc(ctx, n * sizeof *m->sp->order);
  KUGEL_CHECK(m->counts && m->located && m->sent && m->sp->order, KUGEL_ENOMEM, "no memory for %lld points",
              (long long)m->p->n);
  m->places->points = m->located;
  m->places->tile = (uint32_t *)(void *)(m->located + n * record);
  kugel__progress_stage(0, 0.3, "sorting points");
  KUGEL_TRY(kugel__parallel(ctx, m->chunks, count_chunk, m));
  int64_t at = 0;
  for (int64_t i = 0; i < m->parts; i++)
    for (int64_t c = 0; c < m->chunks; c++) {
      int64_t *n_here = &m->counts[c * m->parts + i], had = *n_here;
      *n_here = at;
      at += had;
      m->mine[i] += had;
    }
  kugel__progress_stage(0.3, 0.4, "sorting points");
  return kugel__parallel(ctx, m->chunks, send_chunk, m);
}

/* Parts to ranks by the time that their points and cells take, in nanoseconds. */
static void share_out(const mail *m)
{
  const kugel_nufft *p = m->plan;
  const int size = p->ranks->size;
  const double point = kugel__nufft_point_cost(p->ndim, p->single, p->kernel.width),
               plane = 10 * (double)(p->fine / p->axis[0].fine);
  double total = 0, done = 0;
  for (int64_t i = 0; i < m->parts; i++)
    total += point * (double)m->all[i];
  total += plane * (double)p->axis[0].fine;
  int r = 0;
  m->sp->first[0] = 0;
  for (int64_t i = 0; i < m->parts; i++) {
    const double cost = point * (double)m->all[i] +
                        plane * (double)(kugel__nufft_part_plane(p, i + 1) - kugel__nufft_part_plane(p, i));
    while (r + 1 < size && (done + 0.5 * cost) * size >= total * (r + 1))
      m->sp->first[++r] = i;
    done += cost;
  }
  while (r < size)
    m->sp->first[++r] = m->parts;
}

/* Bytes of an exchange from numbers of things and what they take. */
static kugel_status exchange(const mail *m, const size_t *table, size_t unit, const void *sent, void *came)
{
  const size_t n = (size_t)m->plan->ranks->size;
  kugel_comm *c = m->plan->ranks->comm;
  for (size_t i = 0; i < 4 * n; i++)
    m->bytes[i] = table[i] * unit;
  const kugel_exchange x = {sent, m->bytes, m->bytes + n, came, m->bytes + 2 * n, m->bytes + 3 * n};
  return kugel__comm_exchange(c, &x);
}

/* Who sends how many points of each part of this rank. */
static kugel_status exchange_counts(mail *m)
{
  const int size = m->plan->ranks->size, rank = m->plan->ranks->rank;
  const int64_t *first = m->sp->first;
  size_t *table = m->sp->table, n = (size_t)size;
  m->sp->n = first[rank + 1] - first[rank];
  m->from = kugel__alloc(m->plan->ctx, (size_t)kugel__max(1, size * m->sp->n) * sizeof *m->from);
  m->sp->part = kugel__calloc(m->plan->ctx, (size_t)kugel__max(1, m->sp->n) * sizeof *m->sp->part);
  const bool enough = m->from && m->sp->part;
  KUGEL_TRY(kugel__comm_agree(
      m->plan->ranks->comm,
      enough ? KUGEL_OK
             : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld parts of the fine grid", (long long)m->sp->n)));
  for (size_t r = 0; r < n; r++) {
    table[r] = (size_t)(first[r + 1] - first[r]);
    table[n + r] = (size_t)first[r];
    table[2 * n + r] = (size_t)m->sp->n;
    table[3 * n + r] = r * (size_t)m->sp->n;
  }
  return exchange(m, table, sizeof *m->mine, m->mine, m->from);
}

static kugel_status exchange_points(mail *m)
{
  const size_t n = (size_t)m->plan->ranks->size;
  size_t *table = m->sp->table, there = 0, here = 0;
  for (size_t r = 0; r < n; r++) {
    table[r] = table[2 * n + r] = 0;
    for (int64_t i = m->sp->first[r]; i < m->sp->first[r + 1]; i++)
      table[r] += (size_t)m->mine[i];
    for (int64_t i = 0; i < m->sp->n; i++)
      table[2 * n + r] += (size_t)m->from[(int64_t)r * m->sp->n + i];
    table[n + r] = there;
    table[3 * n + r] = here;
    there += table[r];
    here += table[2 * n + r];
  }
  m->sp->came = (int64_t)here;
  kugel_status s = KUGEL_OK;
  if (here > INT32_MAX)
    s = KUGEL_FAIL(KUGEL_EINVAL, "%zu points come to this rank, must be at most 2^31 - 1: use more ranks",
                   here);
  m->came = s ? NULL : kugel__scratch_get(m->plan->ctx, here * m->unit + 1);
  if (!s && !m->came)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu points that come to this rank", here);
  KUGEL_TRY(kugel__comm_agree(m->plan->ranks->comm, s));
  return exchange(m, table, m->unit, m->sent, m->came);
}

/* ---- parts ---- */

/* The plan's geometry, of which axis 0 has the tiles of one part. */
static kugel_status make_part(const mail *m, int64_t index, size_t at, kugel__nufft_part *part)
{
  const kugel_nufft *p = m->plan;
  const int64_t first = kugel__nufft_part_tile(p, index), end = kugel__nufft_part_tile(p, index + 1);
  part->plan = *p;
  kugel__nufft_axis *a = &part->plan.axis[0];
  KUGEL_ALLOC(p->ctx, part->start, (end - first + 1) * (int64_t)sizeof *part->start);
  for (int64_t i = first; i <= end; i++)
    part->start[i - first] = p->axis[0].start[i] - p->axis[0].start[first];
  part->planes = part->start[end - first];
  a->start = part->start;
  a->tiles = end - first;
  a->fine = part->planes + p->kernel.width - 1;
  part->plan.tiles = p->tiles / p->axis[0].tiles * a->tiles;
  part->plan.fine = p->fine / p->axis[0].fine * a->fine;
  part->plan.parts = 1;
  part->points.plan = &part->plan;
  part->idle = m->all[index] == 0 && m->all[(index + m->parts - 1) % m->parts] == 0;
  part->at = at;
  return KUGEL_OK;
}

/* Points of own part i from what came, in the order of ranks. */
static kugel_status fill_part(mail *m, int64_t i)
{
  kugel__nufft_part *part = &m->sp->part[i];
  const size_t record = (size_t)m->places->record, n = (size_t)m->plan->ranks->size;
  const uint32_t before = (uint32_t)(kugel__nufft_part_tile(m->plan, m->sp->first[m->plan->ranks->rank] + i) *
                                     (m->plan->tiles / m->plan->axis[0].tiles));
  int64_t count = 0, at = 0;
  for (size_t r = 0; r < n; r++)
    count += m->from[(int64_t)r * m->sp->n + i];
  part->points.n = count;
  m->records = kugel__scratch_get(m->plan->ctx, (size_t)kugel__max(1, count) * m->unit);
  KUGEL_CHECK(m->records, KUGEL_ENOMEM, "no memory for %lld points of a part", (long long)count);
  uint32_t *tile = (uint32_t *)(void *)(m->records + (size_t)kugel__max(1, count) * record);
  for (size_t r = 0; r < n; r++) {
    size_t from = m->sp->table[3 * n + r];
    for (int64_t k = 0; k < i; k++)
      from += (size_t)m->from[(int64_t)r * m->sp->n + k];
    for (int64_t k = 0; k < m->from[(int64_t)r * m->sp->n + i]; k++, at++, from++) {
      const char *unit = m->came + from * m->unit;
      const uint32_t index = (uint32_t)from;
      memcpy(m->records + (size_t)at * record, unit, record - sizeof index);
      memcpy(m->records + (size_t)(at + 1) * record - sizeof index, &index, sizeof index);
      memcpy(&tile[at], unit + record, sizeof *tile);
      tile[at] -= before;
    }
  }
  kugel__nufft_places places = {.plan = &part->plan, .tile = tile, .points = m->records};
  kugel_status s = kugel__nufft_sort(&part->points, &places, true);
  kugel__scratch_put(m->plan->ctx, m->records);
  return s;
}

static kugel_status make_parts(mail *m)
{
  size_t at = 0;
  for (int64_t i = 0; i < m->sp->n; i++) {
    KUGEL_TRY(make_part(m, m->sp->first[m->plan->ranks->rank] + i, at, &m->sp->part[i]));
    at += (size_t)kugel__nufft_grid(&m->sp->part[i].plan);
    kugel__span span = kugel__progress_enter(0.4 + 0.6 * (double)i / (double)m->sp->n,
                                             0.4 + 0.6 * (double)(i + 1) / (double)m->sp->n);
    kugel_status s = fill_part(m, i);
    kugel__progress_leave(span);
    KUGEL_TRY(s);
  }
  m->sp->bytes = at;
  return KUGEL_OK;
}

/* ---- the call ---- */

static kugel_status get_room(mail *m)
{
  kugel_ctx *ctx = m->plan->ctx;
  const size_t n = (size_t)m->plan->ranks->size;
  KUGEL_CHECK(m->plan->tiles <= UINT32_MAX, KUGEL_EINVAL,
              "the fine grid has %lld tiles, must be below 2^32: use fewer modes", (long long)m->plan->tiles);
  m->sp = m->p->ranks = kugel__calloc(ctx, sizeof *m->sp);
  KUGEL_CHECK(m->sp, KUGEL_ENOMEM, "no memory for points over ranks");
  m->sp->first = kugel__alloc(ctx, (n + 1) * sizeof *m->sp->first);
  m->sp->table = kugel__alloc(ctx, 4 * n * sizeof *m->sp->table);
  m->bytes = kugel__alloc(ctx, 4 * n * sizeof *m->bytes);
  m->mine = kugel__calloc(ctx, (size_t)m->parts * 2 * sizeof *m->mine);
  KUGEL_CHECK(m->sp->first && m->sp->table && m->bytes && m->mine, KUGEL_ENOMEM,
              "no memory for lists of %zu ranks", n);
  m->all = m->mine + m->parts;
  return sort_own(m);
}

static kugel_status deliver(mail *m)
{
  kugel_comm *c = m->plan->ranks->comm;
  KUGEL_TRY(kugel__comm_agree(c, get_room(m)));
  memcpy(m->all, m->mine, (size_t)m->parts * sizeof *m->all);
  KUGEL_TRY(kugel__comm_reduce(c, m->all, (int)m->parts, KUGEL_COMM_SUM));
  share_out(m); // rank 0's, as rounding of the costs is that of its processor
  KUGEL_TRY(kugel_comm_bcast(c, m->sp->first, (size_t)(c->size + 1) * sizeof *m->sp->first, 0));
  KUGEL_TRY(exchange_counts(m));
  KUGEL_TRY(exchange_points(m));
  return make_parts(m);
}

kugel_status kugel__nufft_ranks_points(kugel_nufft_points *p, kugel__nufft_places *places)
{
  mail m = {.p = p, .plan = p->plan, .places = places, .parts = p->plan->ranks->parts};
  kugel_ctx *ctx = p->plan->ctx;
  places->record = kugel__nufft_record(p->plan->single, p->plan->ndim);
  m.unit = (size_t)places->record + sizeof *places->tile;
  kugel_status s = deliver(&m);
  kugel__free(ctx, m.counts);
  kugel__free(ctx, m.mine);
  kugel__free(ctx, m.from);
  kugel__free(ctx, m.bytes);
  kugel__scratch_put(ctx, m.located);
  kugel__scratch_put(ctx, m.sent);
  kugel__scratch_put(ctx, m.came);
  places->points = NULL;
  return s;
}

void kugel__nufft_ranks_points_destroy(kugel_nufft_points *p)
{
  kugel__nufft_spread_points *sp = p->ranks;
  kugel_ctx *ctx = p->plan->ctx;
  if (!sp)
    return;
  for (int64_t i = 0; sp->part && i < sp->n; i++) {
    kugel__nufft_points_clear(&sp->part[i].points, ctx);
    kugel__free(ctx, sp->part[i].start);
  }
  kugel__free(ctx, sp->part);
  kugel__free(ctx, sp->first);
  kugel__free(ctx, sp->table);
  kugel__free(ctx, sp->order);
  kugel__free(ctx, sp);
}
