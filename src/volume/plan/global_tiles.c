/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles over ranks: each rank has the results of whole rows of tiles along axis 0, fetches the planes of the image that they need from
 * the ranks that have them, and convolves each tile as one process would. The borders of tiles are the plan's: hence the same
 * bits for any number of ranks. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "volume/plan/global.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

// A quarter of a row's planes at the most are fetched for two rows; whole planes, whatever the number of ranks.
kugel_status kugel__global_tile(kugel_volume *p, const int64_t *k)
{
  int64_t tile[DIMS] = {kugel__max(32, 4 * (k[0] - 1)), p->axis[1].m, p->axis[2].m};
  const int64_t *given = p->opts.tile;
  p->opts.tile = given ? given : tile;
  kugel_status s = kugel__volume_choose_tile(p, k, 0);
  p->opts.tile = given;
  return s;
}

// Results of rank r: whole rows of tiles.
void kugel__global_cut_tiles(const kugel_volume *p, int64_t *results)
{
  int size = p->opts.comm->size;
  for (int r = 0; r <= size; r++)
    results[r] = kugel__min(p->axis[0].m, p->tiles[0] * r / size * p->tile[0]);
}

// Planes that results [first, end) need, in `near` [n].
static void mark(const kugel_volume *p, int64_t first, int64_t end, int64_t *source, char *near)
{
  memset(near, 0, (size_t)p->axis[0].n);
  for (int64_t row = first / p->tile[0]; row * p->tile[0] < end; row++) {
    kugel__volume_reach r = kugel__volume_reach_of(p, 0, row, source);
    for (int64_t i = 0; i < r.count; i++)
      near[r.source ? r.source[i] : r.datum + i] = 1;
  }
}

typedef struct fetch {
  kugel_layout *from, *to;
  int64_t *source, *place;   // [reach] of a row of tiles; [n]: where planes are in `planes`
  int64_t *across[2];        // sources of the other axes
  char *near, *own, *planes; // own: NULL, where the planes are as they go
} fetch;

// This rank's planes as they come, where they have strides.
typedef struct plain {
  const kugel__volume_box *box;
  char *to;
  int64_t y, x;
} plain;

static kugel_status copy_row(void *arg, int64_t i)
{
  const plain *t = arg;
  int64_t size = t->box->dtype.bits / 8;
  const char *row = t->box->data + (i / t->y * t->box->step[1] + i % t->y * t->box->step[2]) * size;
  for (int64_t x = 0; x < t->x; x++)
    memcpy(t->to + (i * t->x + x) * size, row + x * t->box->step[3] * size, (size_t)size);
  return KUGEL_OK;
}

static kugel_status prepare(const kugel_volume *p, const kugel__volume_box *in, fetch *f)
{
  const kugel__volume_global *g = p->global;
  int64_t n = p->axis[0].n, plane = p->axis[1].n * p->axis[2].n, size = in->dtype.bits / 8, at = 0;
  KUGEL_ALLOC(p->ctx, f->source, (size_t)(p->tile[0] + p->axis[0].k) * 8);
  KUGEL_ALLOC(p->ctx, f->place, (size_t)n * 8);
  for (int d = 0; d < 2; d++)
    KUGEL_ALLOC(p->ctx, f->across[d], (size_t)(p->tile[d + 1] + p->axis[d + 1].k) * 8);
  KUGEL_ALLOC(p->ctx, f->near, (size_t)n);
  bool plain_one = in->step[3] == 1 && in->step[2] == p->axis[2].n && in->step[1] == plane;
  if (!plain_one)
    KUGEL_ALLOC(p->ctx, f->own, (size_t)(kugel__global_own(g, g->data) * plane * size) + 64);
  KUGEL_TRY(kugel__layout_new(p->ctx, g->comm, n * plane, g->size, &f->from));
  KUGEL_TRY(kugel__layout_new(p->ctx, g->comm, n * plane, g->size * n, &f->to));
  for (int r = 0; r < g->size; r++) {
    kugel__layout_rank(f->from, r);
    kugel__layout_rank(f->to, r);
    kugel__layout_add(f->from, r, g->data[r] * plane, (g->data[r + 1] - g->data[r]) * plane);
    mark(p, g->results[r], g->results[r + 1], f->source, f->near);
    for (int64_t z = 0; z < n; z++) {
      if (!f->near[z])
        continue;
      kugel__layout_add(f->to, r, z * plane, plane);
      if (r == g->rank)
        f->place[z] = at++;
    }
  }
  KUGEL_ALLOC(p->ctx, f->planes, (size_t)(at * plane * size) + 64);
  if (!f->own)
    return KUGEL_OK;
  plain t = {in, f->own, p->axis[1].n, p->axis[2].n};
  return kugel__parallel(p->ctx, kugel__global_own(g, g->data) * p->axis[1].n, copy_row, &t);
}

static void release(const kugel_volume *p, fetch *f)
{
  void *blocks[] = {f->source, f->place, f->across[0], f->across[1], f->near, f->own, f->planes};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    kugel__free(p->ctx, blocks[i]);
  kugel_layout_destroy(f->from);
  kugel_layout_destroy(f->to);
}

// Tile `i` of this rank's rows.
static kugel_status run_tile(const kugel_volume *p, const fetch *f, int64_t i,
                             const kugel__volume_box *planes, const kugel__volume_box *out,
                             atomic_llong *clipped)
{
  const kugel__volume_global *g = p->global;
  int64_t first = g->results[g->rank], size = planes->dtype.bits / 8;
  kugel__volume_box x = *planes, y = *out;
  kugel__volume_reach reach[DIMS];
  reach[2] = kugel__volume_reach_of(p, 2, i % p->tiles[2], f->across[1]);
  i /= p->tiles[2];
  reach[1] = kugel__volume_reach_of(p, 1, i % p->tiles[1], f->across[0]);
  reach[0] = kugel__volume_reach_of(p, 0, first / p->tile[0] + i / p->tiles[1], f->source);
  for (int64_t k = 0; k < reach[0].count; k++)
    f->source[k] = f->place[reach[0].source ? reach[0].source[k] : reach[0].datum + k];
  reach[0].source = f->source;
  for (int d = 1; d < DIMS; d++)
    x.data += reach[d].datum * x.step[d + 1] * size;
  for (int d = 0; d < DIMS; d++)
    y.data += (reach[d].result - (d ? 0 : first)) * y.step[d + 1] * (y.dtype.bits / 8);
  return kugel__volume_run_tile(p, reach, false, &x, &y, clipped);
}

kugel_status kugel__global_run_tiles(const kugel_volume *p, const kugel__volume_box *in,
                                     const kugel__volume_box *out, atomic_llong *clipped)
{
  const kugel__volume_global *g = p->global;
  fetch f = {.from = NULL};
  atomic_llong bad = 0;
  int64_t ny = p->axis[1].n, nx = p->axis[2].n, own = kugel__global_own(g, g->results);
  kugel_status s = kugel__comm_agree(g->comm, prepare(p, in, &f));
  s = s ? s : kugel__layout_move(f.from, f.own ? f.own : in->data, f.to, f.planes, in->dtype.bits / 8);
  kugel__volume_box planes = {f.planes, in->dtype, {0, ny * nx, nx, 1}};
  int64_t tiles = (own + p->tile[0] - 1) / p->tile[0] * p->tiles[1] * p->tiles[2];
  for (int64_t i = 0; i < tiles && !s; i++) {
    kugel__span outer = kugel__progress_enter((double)i / (double)tiles, (double)(i + 1) / (double)tiles);
    s = run_tile(p, &f, i, &planes, out, &bad);
    kugel__progress_leave(outer);
  }
  s = s && g->comm->settled ? s : kugel__comm_agree(g->comm, s);
  int64_t sum = atomic_load(&bad);
  s = s ? s : kugel__comm_reduce(g->comm, &sum, 1, KUGEL_COMM_SUM);
  if (clipped && !s)
    atomic_fetch_add(clipped, sum);
  release(p, &f);
  return s;
}
