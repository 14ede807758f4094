/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of points within a tile: by blocks of a few cells, so that the cells which one point reaches are in the first
 * cache when the next one comes. A tile's buffer is as large as the second cache. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "nufft/plan.h"

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
