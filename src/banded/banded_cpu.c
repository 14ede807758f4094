/* SPDX-License-Identifier: BSD-3-Clause */
/* Banded solves and products on the CPU. Systems go through tiles that a core's cache holds, in SIMD lanes;
 * systems side by side (layout COLUMNS) are worked on where they are. A few long systems are parted into
 * chunks, which then take the lanes. */
#include <string.h>
#include "banded/banded.h"
#include "banded/sweep.h"
#include "core/alloc.h"
#include "core/cpu.h"
#include "core/ctx.h"
#include "core/dd.h"
#include "core/parallel.h"

KUGEL_DISPATCH(kugel__banded_table, kugel__banded_table)

enum {
  TILE_BYTES = 256 << 10, /* a tile and its coefficients stay in a core's second-level cache */
  MOST_SYSTEMS = 512      /* of a block in place: a row of it stays in the first-level cache */
};

typedef struct job {
  const kugel_banded *p;
  const kugel__banded_ops *ops;
  bool solve, in_place; /* the kernels work on the caller's arrays */
  int64_t batch, block; /* systems, of a block */
  const char *in;
  char *out;
  char *room; /* tiles and rows of products, `room_bytes` a worker */
  size_t room_bytes;
} job;

static size_t number_bytes(const kugel_banded *p)
{
  return p->word * (size_t)p->planes;
}

static void recur(const job *j, const kugel__recurrence *r, kugel__banded_sweep k, int64_t column,
                  bool backward)
{
  const kugel_banded *p = j->p;
  int64_t word = (int64_t)p->word, last = backward ? p->n - 1 : 0;
  if (!r->off)
    return;
  k.each = p->width > 1;
  k.c_plane = p->n * p->width;
  int64_t c = (last * p->width + (k.each ? column : 0)) * word;
  k.off = (char *)r->off + c;
  k.scale = r->scale ? (char *)r->scale + c : NULL;
  k.in = (const char *)k.in + last * k.in_step * word;
  k.out = (char *)k.out + last * k.out_step * word;
  k.c_step = backward ? -p->width : p->width;
  if (backward) {
    k.in_step = -k.in_step;
    k.out_step = -k.out_step;
  }
  j->ops->recur(&k);
}

/* k: arrays and steps of a block whose first system is `column`. */
static void work(const job *j, kugel__banded_sweep k, int64_t column)
{
  const kugel_banded *p = j->p;
  if (j->solve) {
    recur(j, &p->forward, k, column, false);
    if (p->forward.off) {
      k.in = k.out;
      k.in_step = k.out_step;
    }
    recur(j, &p->backward, k, column, true);
    return;
  }
  int64_t c = p->width > 1 ? column * (int64_t)p->word : 0;
  k.each = p->width > 1;
  k.c_step = p->width;
  k.c_plane = p->n * p->width;
  k.lower = p->lower ? (char *)p->lower + c : NULL;
  k.diagonal = (char *)p->diagonal + c;
  k.upper = p->upper ? (char *)p->upper + c : NULL;
  j->ops->product(&k);
}

static void through_tile(const job *j, int64_t first, int64_t count, char *tile, void *before)
{
  const kugel_banded *p = j->p;
  int64_t size = (int64_t)number_bytes(p), width = kugel__round_up(count, KUGEL__LANES);
  bool rows = p->opts.layout == KUGEL_BANDED_ROWS;
  int64_t at = (rows ? first * p->n : first) * size;
  kugel__pack pack = {(char *)j->in + at,         tile, p->n, width, rows ? p->n : j->batch,
                      rows ? count * p->n : count};
  (rows ? j->ops->pack_rows : j->ops->pack_columns)(&pack);
  kugel__banded_sweep k = {.n = p->n,
                           .width = width,
                           .in = tile,
                           .out = tile,
                           .in_step = width,
                           .out_step = width,
                           .plane = p->planes == 2 ? p->n * width : 0,
                           .before = before};
  work(j, k, first);
  pack.data = j->out + at;
  (rows ? j->ops->unpack_rows : j->ops->unpack_columns)(&pack);
}

static kugel_status one_block(void *arg, int64_t b, int worker)
{
  const job *j = arg;
  const kugel_banded *p = j->p;
  int64_t first = b * j->block, count = kugel__min(j->block, j->batch - first);
  int64_t word = (int64_t)p->word, whole = j->in_place ? count / KUGEL__LANES * KUGEL__LANES : 0;
  char *before = j->room + (size_t)worker * j->room_bytes;
  char *tile = before + kugel__round_up(j->block, KUGEL__LANES) * (int64_t)number_bytes(p);
  if (whole) {
    kugel__banded_sweep k = {.n = p->n,
                             .width = whole,
                             .in = j->in + first * word,
                             .out = j->out + first * word,
                             .in_step = j->batch,
                             .out_step = j->batch,
                             .before = before};
    work(j, k, first);
  }
  if (count > whole)
    through_tile(j, first + whole, count - whole, tile, before);
  return KUGEL_OK;
}

/* Products of a block of systems with one matrix, each along its row. */
static kugel_status rows_of_products(void *arg, int64_t b)
{
  const job *j = arg;
  const kugel_banded *p = j->p;
  int64_t first = b * j->block, count = kugel__min(j->block, j->batch - first);
  for (int64_t r = first; r < first + count; r++) {
    int64_t at = r * p->n * (int64_t)p->word;
    kugel__banded_sweep k = {.n = p->n,
                             .in = j->in + at,
                             .out = j->out + at,
                             .lower = p->lower,
                             .diagonal = p->diagonal,
                             .upper = p->upper};
    j->ops->product_row(&k);
  }
  return KUGEL_OK;
}

/* One system, parted into chunks. */
static kugel_status one_parted(void *arg, int64_t b, int worker)
{
  const job *j = arg;
  const kugel_banded *p = j->p;
  int64_t q = p->chunk_rows, at = b * p->n * (int64_t)number_bytes(p), plane = q * KUGEL__CHUNKS;
  char *tile = j->room + (size_t)worker * j->room_bytes;
  kugel__pack pack = {(char *)j->in + at, tile, q, KUGEL__CHUNKS, q, p->n};
  j->ops->pack_rows(&pack);
  for (int backward = 0; backward < 2; backward++) {
    const kugel__partition *part = &p->parts[2 * (p->matrices > 1 ? b : 0) + backward];
    int64_t step = backward ? -KUGEL__CHUNKS : KUGEL__CHUNKS;
    int64_t start = backward ? (plane - KUGEL__CHUNKS) * (int64_t)p->word : 0;
    if (!part->off)
      continue;
    kugel__banded_sweep k = {.n = q,
                             .width = KUGEL__CHUNKS,
                             .in = tile + start,
                             .out = tile + start,
                             .in_step = step,
                             .out_step = step,
                             .plane = p->planes == 2 ? plane : 0,
                             .off = (char *)part->off + start,
                             .scale = part->scale ? (char *)part->scale + start : NULL,
                             .c_step = step,
                             .c_plane = plane,
                             .each = true};
    j->ops->recur(&k);
    j->ops->join(tile, part->reach, q, KUGEL__CHUNKS, backward);
  }
  pack.data = j->out + at;
  j->ops->unpack_rows(&pack);
  return KUGEL_OK;
}

bool kugel__banded_parts(const kugel_banded *p, int64_t batch)
{
  if (!p->chunk_rows || (p->opts.layout == KUGEL_BANDED_COLUMNS && batch > 1))
    return false; // strided elements: lanes take systems
  return p->opts.method == KUGEL_BANDED_SCAN || batch <= KUGEL__PARTITION_SYSTEMS;
}

/* Systems of a block: as many as the cache holds, and a share for each thread. */
static int64_t block_of(const job *j)
{
  const kugel_banded *p = j->p;
  bool stays = !j->solve || !(p->forward.off && p->backward.off); /* one pass: rows need not be kept */
  int64_t most =
      j->in_place && stays ? MOST_SYSTEMS : TILE_BYTES / kugel__max(1, p->n * (int64_t)number_bytes(p));
  int64_t threads = kugel__ctx_threads(p->ctx), share = (j->batch + threads - 1) / threads;
  most = kugel__min(kugel__min(most, MOST_SYSTEMS), share) / KUGEL__LANES * KUGEL__LANES;
  return kugel__max(most, KUGEL__LANES);
}

kugel_status kugel__banded_cpu(const kugel_banded *p, bool solve, int64_t batch, const void *in, void *out)
{
  bool parted = solve && kugel__banded_parts(p, batch);
  bool in_place = p->opts.layout == KUGEL_BANDED_COLUMNS && p->planes == 1;
  job j = {.p = p,
           .ops = &kugel__banded_table_get()->ops[p->opts.precision],
           .solve = solve,
           .in_place = in_place && !parted,
           .batch = batch,
           .in = in,
           .out = out};
  if (!solve && j.ops->product_row && p->opts.layout == KUGEL_BANDED_ROWS && p->width == 1) {
    j.block = kugel__max(1, TILE_BYTES / (p->n * (int64_t)p->word));
    return kugel__parallel(p->ctx, (batch + j.block - 1) / j.block, rows_of_products, &j);
  }
  j.block = block_of(&j);
  int64_t tile = parted ? p->chunk_rows * KUGEL__CHUNKS
                        : (p->n + 1) * (j.in_place ? KUGEL__LANES : j.block) + (j.in_place ? j.block : 0);
  j.room_bytes = (size_t)kugel__round_up(tile * (int64_t)number_bytes(p), 64);
  int64_t tasks = parted ? batch : (batch + j.block - 1) / j.block;
  int64_t workers = kugel__min(kugel__ctx_threads(p->ctx), tasks);
  j.room = kugel__scratch_get(p->ctx, j.room_bytes * (size_t)workers);
  KUGEL_CHECK(j.room, KUGEL_ENOMEM, "no memory for %lld tiles of %zu bytes", (long long)workers,
              j.room_bytes);
  kugel_status s = kugel__parallel_on(p->ctx, workers, tasks, parted ? one_parted : one_block, &j);
  kugel__scratch_put(p->ctx, j.room);
  return s;
}

/* Copies a recurrence of matrix m into chunks, and multiplies up how far it reaches into them. */
static void part_recurrence(const kugel_banded *p, const kugel__recurrence *r, int64_t m, bool backward,
                            const kugel__partition *out)
{
  int64_t q = p->chunk_rows, plane = q * KUGEL__CHUNKS, from_plane = p->n * p->width;
  for (int64_t i = 0; i < p->n; i++) {
    int64_t from = i * p->width + m, to = i % q * KUGEL__CHUNKS + i / q;
    for (int part = 0; part < p->planes; part++)
      for (int which = 0; which < 2; which++) {
        const char *a = which ? r->scale : r->off;
        char *b = which ? out->scale : out->off;
        if (a)
          memcpy(b + (to + part * plane) * (int64_t)p->word,
                 a + (from + part * from_plane) * (int64_t)p->word, p->word);
      }
  }
  for (int64_t c = 0; c < KUGEL__CHUNKS; c++) {
    kugel__dd reach = dd_from(1);
    for (int64_t k = 0; k < q; k++) {
      int64_t at = (backward ? q - 1 - k : k) * KUGEL__CHUNKS + c;
      const double *off = out->off;
      double *to = out->reach;
      if (p->word == 4) {
        reach = dd_mul_d(reach, -(double)((const float *)out->off)[at]);
        ((float *)out->reach)[at] = (float)reach.hi;
        continue;
      }
      reach = dd_mul(reach, (kugel__dd){-off[at], p->planes == 2 ? -off[at + plane] : 0});
      to[at] = reach.hi;
      if (p->planes == 2)
        to[at + plane] = reach.lo;
    }
  }
}

kugel_status kugel__banded_part(kugel_banded *p)
{
  bool wanted = p->opts.method == KUGEL_BANDED_SCAN ||
                (p->opts.method == KUGEL_BANDED_AUTO && p->n >= KUGEL__PARTITION_ROWS &&
                 p->matrices <= KUGEL__PARTITION_SYSTEMS);
  if (!wanted || !p->info.solvable || p->pivoted || p->info.propagation > KUGEL__SCAN_LIMIT)
    return KUGEL_OK;
  p->chunk_rows = (p->n + KUGEL__CHUNKS - 1) / KUGEL__CHUNKS;
  size_t bytes = number_bytes(p) * (size_t)(p->chunk_rows * KUGEL__CHUNKS);
  p->parts = kugel__calloc(p->ctx, sizeof *p->parts * 2 * (size_t)p->matrices);
  KUGEL_CHECK(p->parts, KUGEL_ENOMEM, "no memory for %lld partitions", (long long)p->matrices);
  for (int64_t i = 0; i < 2 * p->matrices; i++) {
    const kugel__recurrence *r = i % 2 ? &p->backward : &p->forward;
    kugel__partition *part = &p->parts[i];
    if (!r->off)
      continue;
    part->off = kugel__calloc(p->ctx, bytes);
    part->reach = kugel__calloc(p->ctx, bytes);
    part->scale = r->scale ? kugel__calloc(p->ctx, bytes) : NULL;
    KUGEL_CHECK(part->off && part->reach && (part->scale || !r->scale), KUGEL_ENOMEM,
                "no memory for a partition of %zu bytes", bytes);
    part_recurrence(p, r, i / 2, i % 2, part);
  }
  return KUGEL_OK;
}
