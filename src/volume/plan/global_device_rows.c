/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of tiles over ranks with devices: where their planes are, which are sent. */
#include <string.h>
#include "core/alloc.h"
#include "volume/plan/global_device.h"

enum { DIMS = KUGEL__VOLUME_DIMS };
enum { PACK = KUGEL__GLOBAL_PACK, READ = KUGEL__GLOBAL_READ, LISTS = KUGEL__GLOBAL_LISTS };

typedef struct rows {
  const kugel_volume *p;
  kugel__global_tiles *t;
  int64_t *source;                  // of a reach
  char *near;                       // [n] whether a row needs a plane
  kugel__global_planes last[LISTS]; // the run that grows
} rows;

/* ---- rows of any rank ---- */

static void rows_of(const kugel_volume *p, int rank, int64_t *first, int64_t *end)
{
  const int64_t *cut = p->global->results;
  *first = cut[rank] / p->tile[0];
  *end = *first + (cut[rank + 1] - cut[rank] + p->tile[0] - 1) / p->tile[0];
}

// Marks the planes of a row; whether they are all in a rank's own image, without more between them than a tile has.
static bool mark(const rows *r, int rank, int64_t row, kugel__volume_reach *reach)
{
  const kugel_volume *p = r->p;
  const int64_t *cut = p->global->data;
  int64_t lo = INT64_MAX, hi = 0;
  memset(r->near, 0, (size_t)p->axis[0].n);
  *reach = kugel__volume_reach_of(p, 0, row, r->source);
  for (int64_t i = 0; i < reach->count; i++) {
    int64_t z = reach->source ? reach->source[i] : reach->datum + i;
    r->near[z] = 1;
    lo = kugel__min(lo, z);
    hi = kugel__max(hi, z + 1);
  }
  return lo >= cut[rank] && hi <= cut[rank + 1] && hi - lo < p->tile[0] + p->axis[0].k;
}

// A plane more, which joins the run before it where both ends follow. (A row's data begin at 0, with a run of their own.)
static void add_plane(rows *r, int list, bool arrived, int64_t from, int64_t to)
{
  kugel__global_planes *last = &r->last[list];
  int64_t *count = &r->t->run_count[list];
  if (!*count || last->arrived != arrived || last->from + last->count != from ||
      last->to + last->count != to) {
    *last = (kugel__global_planes){from, to, 0, arrived};
    ++*count;
  }
  last->count++;
  if (r->t->runs[list])
    r->t->runs[list][*count - 1] = *last;
}

// The planes of a row that are not all in its rank's image: own ones that other ranks need, and all of this rank's row.
static void add_row(rows *r, int rank)
{
  const kugel__volume_global *g = r->p->global;
  kugel__global_tiles *t = r->t;
  int owner = 0;
  int64_t place = 0;
  for (int64_t z = 0; z < r->p->axis[0].n; z++) {
    if (!r->near[z])
      continue;
    while (z >= g->data[owner + 1])
      owner++;
    if (rank == g->rank && owner == rank)
      add_plane(r, READ, false, z - g->data[rank], place);
    else if (rank == g->rank)
      add_plane(r, READ, true, t->landed_at[owner] + t->received[owner]++, place);
    else if (owner == g->rank)
      add_plane(r, PACK, false, z - g->data[owner], t->sent_at[rank] + t->sent[rank]++);
    place++;
  }
}

// Of all ranks; the first pass counts.
static void add_rows(rows *r)
{
  const kugel_volume *p = r->p;
  kugel__global_tiles *t = r->t;
  size_t n = (size_t)p->global->size;
  kugel__volume_reach reach;
  int64_t row, end;
  memset(t->run_count, 0, sizeof t->run_count);
  memset(t->sent, 0, n * 8);
  memset(t->received, 0, n * 8);
  for (int rank = 0; rank < p->global->size; rank++)
    for (rows_of(p, rank, &row, &end); row < end; row++)
      if (!mark(r, rank, row, &reach))
        add_row(r, rank);
}

static kugel_status make_runs(rows *r)
{
  kugel__global_tiles *t = r->t;
  add_rows(r);
  for (int i = 0; i < LISTS; i++)
    KUGEL_ALLOC(r->p->ctx, t->runs[i], (size_t)(t->run_count[i] + 1) * sizeof *t->runs[i]);
  for (int i = 1; i < r->p->global->size; i++) {
    t->sent_at[i] = t->sent_at[i - 1] + t->sent[i - 1];
    t->landed_at[i] = t->landed_at[i - 1] + t->received[i - 1];
  }
  add_rows(r);
  return KUGEL_OK;
}

/* ---- own tiles ---- */

// source: where each position's datum is, of a reach that has one; datum: element 0 of others.
static kugel__global_stretch stretch_of(rows *r, int d, const kugel__volume_reach *reach, int64_t datum)
{
  kugel__global_tiles *t = r->t;
  int64_t length = r->p->sub->axis[d].length, lo = reach->source ? INT64_MAX : datum, hi = 0;
  for (int64_t i = 0; i < reach->count && reach->source; i++) {
    lo = kugel__min(lo, reach->source[i]);
    hi = kugel__max(hi, reach->source[i] + 1);
  }
  kugel__global_stretch s = {.data = {reach->source ? 0 : reach->first_position,
                                      reach->source ? hi - lo : reach->count, reach->source ? t->words : -1},
                             .results = {r->p->axis[d].k - 1, reach->results, -1},
                             .from = lo,
                             .result = reach->result};
  for (int64_t i = 0; i < length && reach->source && t->map; i++) {
    int64_t e = i - reach->first_position;
    t->map[t->words + i] = e >= 0 && e < reach->count ? (uint32_t)(reach->source[e] - lo) : UINT32_MAX;
  }
  t->words += reach->source ? length : 0;
  return s;
}

// Planes as they lie in the image, or one after the other, by parts from `part` on, which moves on.
static void add_own_row(rows *r, int64_t row, int64_t *part)
{
  const kugel__volume_global *g = r->p->global;
  kugel__global_tiles *t = r->t;
  kugel__volume_reach reach;
  int64_t own, end, datum;
  bool here = mark(r, g->rank, row, &reach);
  rows_of(r->p, g->rank, &own, &end);
  datum = here ? reach.datum - g->data[g->rank] : 0;
  for (int64_t i = 0; i < reach.count && reach.source; i++) {
    int64_t z = reach.source[i], at = 0;
    for (int64_t before = 0; before < z && !here; before++)
      at += r->near[before];
    reach.source[i] = here ? z - g->data[g->rank] : at;
  }
  kugel__global_stretch s = stretch_of(r, 0, &reach, datum);
  s.result -= g->results[g->rank];
  for (s.part = *part; !here && *part < t->run_count[READ]; ++*part, s.parts++)
    if (s.parts && t->runs[READ][*part].to == 0) // of the next row
      break;
  t->axis[0][row - own] = s;
}

// The first pass counts words of the map.
static void add_stretches(rows *r)
{
  const kugel_volume *p = r->p;
  kugel__global_tiles *t = r->t;
  int64_t first, end, part = 0;
  t->words = 0;
  rows_of(p, p->global->rank, &first, &end);
  for (int64_t row = first; row < end; row++)
    add_own_row(r, row, &part);
  for (int d = 1; d < DIMS; d++)
    for (int64_t i = 0; i < t->count[d]; i++) {
      kugel__volume_reach reach = kugel__volume_reach_of(p, d, i, r->source);
      t->axis[d][i] = stretch_of(r, d, &reach, reach.datum);
    }
}

static kugel_status make_stretches(rows *r)
{
  const kugel_volume *p = r->p;
  kugel__global_tiles *t = r->t;
  int64_t first, end;
  rows_of(p, p->global->rank, &first, &end);
  for (int d = 0; d < DIMS; d++) {
    t->count[d] = d ? p->tiles[d] : end - first;
    KUGEL_ALLOC(p->ctx, t->axis[d], (size_t)(t->count[d] + 1) * sizeof *t->axis[d]);
  }
  add_stretches(r);
  KUGEL_ALLOC(p->ctx, t->map, (size_t)(t->words + 1) * sizeof *t->map);
  add_stretches(r);
  return KUGEL_OK;
}

kugel_status kugel__global_rows(const kugel_volume *p, kugel__global_tiles *t)
{
  rows r = {.p = p, .t = t};
  size_t n = (size_t)p->global->size, reach = 0;
  for (int d = 0; d < DIMS; d++)
    reach = (size_t)kugel__max((int64_t)reach, p->tile[d] + p->axis[d].k);
  t->sent = kugel__calloc(p->ctx, 4 * n * sizeof *t->sent);
  KUGEL_CHECK(t->sent, KUGEL_ENOMEM, "no memory for messages of %zu ranks", n);
  t->received = t->sent + n;
  t->sent_at = t->received + n;
  t->landed_at = t->sent_at + n;
  KUGEL_ALLOC(p->ctx, t->table, 4 * n * sizeof *t->table);
  r.source = kugel__alloc(p->ctx, reach * sizeof *r.source);
  r.near = kugel__alloc(p->ctx, (size_t)p->axis[0].n);
  kugel_status s = r.source && r.near
                       ? KUGEL_OK
                       : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld planes", (long long)p->axis[0].n);
  s = s ? s : make_runs(&r);
  s = s ? s : make_stretches(&r);
  kugel__free(p->ctx, r.source);
  kugel__free(p->ctx, r.near);
  return s;
}
