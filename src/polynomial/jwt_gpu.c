/* SPDX-License-Identifier: BSD-3-Clause */
/* Jones-Worland transforms on devices: the programs of all blocks as one list of launches. A program is cut at its tables and
 * cosine transforms; the parts between are TILES, and blocks go on together from cut to cut. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "polynomial/gpu.h"
#include "polynomial/jwt_gpu.h"

enum { ANALYSIS = 1 << 20, ADJOINT = 1 << 21, MOST_ROUNDS = 4 };

/* A block's program as it runs, and where it has come to. */
typedef struct block {
  kugel__poly_program program;
  int64_t index, base; /* in the plan, in the work array */
  int at;              /* stages that are done */
  int wave_round, l0;  /* MOST_ROUNDS: none */
  int64_t plane;       /* where its lines are */
  int64_t rows;        /* of them */
  double scale;        /* of the table that comes next */
  bool direct;         /* which reads the caller's array */
  bool done;
} block;

typedef struct job {
  const kugel_jwt *p;
  bool adjoint, to_grid;
  kugel__poly_text *text;
  block *blocks;
  int64_t count, bands_at;
} job;

static const kugel__tile_stage *stage(const job *j, const block *b, int i, bool *transposed)
{
  const kugel__tile_stage *s = &b->program.stage[j->adjoint ? b->program.stages - 1 - i : i];
  *transposed = s->transposed != j->adjoint;
  return s;
}

static bool cuts(const kugel__tile_stage *s)
{
  return s->kind == KUGEL__STAGE_MATRIX || s->kind == KUGEL__STAGE_WAVES;
}

/* ---- rounds ---- */

/* The next part of a block, and what it ends with: -1 if that is the end of the program. */
static int add_tile(const job *j, block *b, int round)
{
  const kugel_jwt *p = j->p;
  kugel__poly_text *t = j->text;
  int64_t n = p->blocks.n[b->index], top = 1, first = kugel__poly_ops(t);
  int64_t in = round ? b->rows : j->to_grid ? n : p->nr, all = j->to_grid ? p->nr : p->n;
  bool transposed, zero = !b->program.out;
  int end = -1;
  for (; !zero && b->at < b->program.stages; b->at++) {
    const kugel__tile_stage *s = stage(j, b, b->at, &transposed);
    if (cuts(s)) {
      end = b->at;
      break;
    }
    kugel__jwt_gpu_rows(p, t, j->bands_at, s, transposed, &top);
  }
  kugel__tile_job tile = {.system = p->blocks.first[b->index],
                          .systems = p->blocks.multiplicity[b->index],
                          .base = b->base,
                          .take = in,
                          .take_step = 1,
                          .plane = b->plane,
                          .put_step = 1,
                          .op = first,
                          .ops = kugel__poly_ops(t) - first};
  if (end < 0) {
    tile.put = zero ? 0 : j->to_grid ? p->nr : n;
    tile.put_all = all;
    b->done = true;
  } else {
    const kugel__tile_stage *s = stage(j, b, end, &transposed);
    tile.put = transposed ? s->out : s->in;
    tile.put_all = tile.put;
    if (s->kind == KUGEL__STAGE_WAVES) {
      tile.put = kugel__min(tile.put, p->nr);
      tile.put_all = p->nr;
    }
  }
  tile.rows = kugel__max(kugel__max(top, in), kugel__max(tile.put, 1));
  b->plane = 0;
  kugel__poly_tile(t, tile);
  return end;
}

/* Whether a stage multiplies all rows with one number, which goes to *scale. */
static bool constant(const job *j, const kugel__tile_stage *s, double *scale)
{
  bool same = s->kind == KUGEL__STAGE_SCALE;
  for (int64_t i = 1; same && i < s->in; i++)
    same = !memcmp((const char *)s->factor + (size_t)i * j->p->word, s->factor, j->p->word);
  if (same)
    *scale *= j->p->single ? (double)*(const float *)s->factor : *(const double *)s->factor;
  return same;
}

/* A program that begins with a table, or with a number and a table, needs no tile before it: b->at is the table then. */
static bool begins_with_table(const job *j, block *b)
{
  bool transposed;
  int first = 0;
  if (!b->program.out || !b->program.stages)
    return false;
  if (b->program.stages > 1 && constant(j, stage(j, b, 0, &transposed), &b->scale))
    first = 1;
  b->direct = stage(j, b, first, &transposed)->kind == KUGEL__STAGE_MATRIX;
  if (b->direct)
    b->at = first;
  else
    b->scale = 1;
  return b->direct;
}

/* A table with nothing but numbers before or behind it reads or writes the caller's array itself. */
static void add_product(const job *j, block *b, const kugel__tile_stage *s, bool transposed)
{
  kugel__matrix m = s->matrix;
  int64_t at = kugel__poly_find(j->text->g, m.a);
  bool first = b->direct, ignored;
  int left = b->program.stages - b->at - 1;
  bool last = !left || (left == 1 && constant(j, stage(j, b, b->at + 1, &ignored), &b->scale));
  if (transposed)
    m = (kugel__matrix){m.a, m.columns, m.rows, m.column, m.row, m.lower, m.upper};
  kugel__poly_product(j->text,
                      (kugel__table_job){.systems = j->p->blocks.multiplicity[b->index],
                                         .base = b->base,
                                         .put_base = b->base,
                                         .put_rows = !last        ? m.rows
                                                     : j->to_grid ? j->p->nr
                                                                  : j->p->n,
                                         .take_step = 1,
                                         .rows = m.rows,
                                         .columns = m.columns,
                                         .table = at,
                                         .row = m.row,
                                         .column = m.column,
                                         .upper = m.upper   ? 1
                                                  : m.lower ? -1
                                                            : 0,
                                         .put_step = 1,
                                         .from = first ? -1 : 0,
                                         .to = last ? -1 : 1,
                                         .system = j->p->blocks.first[b->index]},
                      b->scale);
  b->plane = 1;
  b->rows = m.rows;
  b->done = last;
  b->direct = false;
  b->scale = 1;
}

static void add_round_of_waves(const job *j, int round)
{
  static const kugel_fft_kind kinds[2][2] = {{KUGEL_FFT_DCT3, KUGEL_FFT_DCT2},
                                             {KUGEL_FFT_DCT4, KUGEL_FFT_DCT4}};
  for (int l0 = 0; l0 < 2; l0++) {
    int64_t first = -1, systems = 0;
    const kugel__tile_stage *s = NULL;
    bool transposed = false;
    for (int64_t i = 0; i < j->count; i++) {
      block *b = &j->blocks[i];
      if (b->wave_round != round || b->l0 != l0)
        continue;
      s = stage(j, b, b->at, &transposed);
      first = first < 0 ? b->base : first;
      systems += j->p->blocks.multiplicity[b->index];
      b->rows = transposed ? kugel__min(s->in, j->p->nr) : j->p->nr;
    }
    if (s)
      kugel__poly_add_waves(j->text, kinds[l0][transposed], s->scale, first, systems, 0);
  }
}

static void add_round(const job *j, int round)
{
  kugel__poly_text *t = j->text;
  for (int last = 0; last < 2; last++) { /* those that go on, those that end */
    for (int64_t i = 0; i < j->count; i++) {
      block *b = &j->blocks[i];
      if (b->done)
        continue;
      bool transposed, ends = true;
      if (b->direct || (!round && begins_with_table(j, b)))
        continue;
      for (int k = b->at; k < b->program.stages && b->program.out; k++)
        ends = ends && !cuts(stage(j, b, k, &transposed));
      if (ends == (last == 1))
        add_tile(j, b, round);
    }
    kugel__poly_end_tiles(t, !round, last == 1);
    if (last)
      break;
  }
  for (int64_t i = 0; i < j->count; i++) {
    block *b = &j->blocks[i];
    bool transposed;
    if (b->done)
      continue;
    const kugel__tile_stage *s = stage(j, b, b->at, &transposed);
    if (s->kind == KUGEL__STAGE_MATRIX)
      add_product(j, b, s, transposed);
  }
  kugel__poly_end_products(t);
  add_round_of_waves(j, round);
  for (int64_t i = 0; i < j->count; i++)
    j->blocks[i].at += !j->blocks[i].done;
}

/* ---- lists ---- */

static int order(const void *a_, const void *b_)
{
  const block *a = a_, *b = b_;
  int x = 2 * a->wave_round + a->l0, y = 2 * b->wave_round + b->l0;
  return x != y ? (x > y) - (x < y)
                : (a->index < b->index) - (a->index > b->index); /* the last are the longest */
}

/* Where a block has its cosine transform. */
static void find_waves(const job *j, block *b)
{
  int cut = 0;
  b->wave_round = MOST_ROUNDS;
  b->l0 = 0;
  for (int i = 0; i < b->program.stages && b->program.out; i++) {
    bool transposed;
    const kugel__tile_stage *s = stage(j, b, i, &transposed);
    if (s->kind == KUGEL__STAGE_WAVES) {
      b->wave_round = cut;
      b->l0 = s->synthesis == &j->p->wave[1][0];
    }
    cut += cuts(s);
  }
}

static void make(const void *of, int key, kugel__poly_text *t)
{
  const kugel_jwt *p = of;
  int op = key & (ANALYSIS - 1);
  bool analysis = key & ANALYSIS, adjoint = key & ADJOINT;
  int64_t count = p->blocks.blocks, base = 0;
  size_t room = kugel__jwt_space(p).room;
  job j = {.p = p, .adjoint = adjoint, .to_grid = analysis == adjoint, .text = t, .count = count};
  j.blocks = kugel__calloc(p->ctx, sizeof *j.blocks * (size_t)count);
  if (!j.blocks) {
    t->status = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for programs of %lld blocks", (long long)count);
    return;
  }
  if (p->bands)
    j.bands_at = kugel__poly_numbers(t, p->band_store, 3 * p->band_rows * (p->lmax + 1));
  for (int64_t i = 0; i < count && !t->status; i++) {
    block *b = &j.blocks[i];
    b->index = i;
    b->scale = 1;
    b->program.single = p->single;
    b->program.size = room;
    b->program.room = kugel__alloc(p->ctx, room);
    if (!b->program.room) {
      t->status = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a program of %zu bytes", room);
      break;
    }
    (analysis ? kugel__jwt_analysis_program : kugel__jwt_synthesis_program)(p, op, p->blocks.degree[i],
                                                                            p->blocks.n[i], &b->program);
    find_waves(&j, b);
  }
  if (!t->status) {
    qsort(j.blocks, (size_t)count, sizeof *j.blocks, order);
    for (int64_t i = 0; i < count; i++) {
      j.blocks[i].base = base;
      base += p->blocks.multiplicity[j.blocks[i].index];
    }
    for (int round = 0; round < MOST_ROUNDS && !t->status; round++)
      add_round(&j, round);
  }
  for (int64_t i = 0; i < count; i++)
    kugel__free(p->ctx, j.blocks[i].program.room);
  kugel__free(p->ctx, j.blocks);
}

kugel_status kugel__jwt_gpu_run(const kugel_jwt *p, int op, bool analysis, bool adjoint,
                                const kugel_array *in, const kugel_array *out, const kugel__systems *from,
                                const kugel__systems *to, kugel_queue *queue)
{
  const kugel__poly_list *list;
  int key = op | (analysis ? ANALYSIS : 0) | (adjoint ? ADJOINT : 0);
  KUGEL_TRY(kugel__poly_list_get(p->gpu, key, p->blocks.systems, make, p, &list));
  return kugel__poly_run(p->gpu, list, in, out, from, to, queue);
}

static kugel_status give_tables(kugel_jwt *p)
{
  int64_t n = 0, side = p->opts.radii ? p->n + (p->lmax + 1) / 2 : p->nr + 1;
  kugel__poly_host *host;
  KUGEL_ALLOC(p->ctx, host, sizeof *host * (size_t)(p->lmax + 7));
  for (int l0 = 0; l0 < 2; l0++) {
    if (p->connect[l0])
      host[n++] = (kugel__poly_host){p->connect[l0], side * side};
    if (p->connect_back[l0])
      host[n++] = (kugel__poly_host){p->connect_back[l0], side * side};
    if (p->points[l0])
      host[n++] = (kugel__poly_host){p->points[l0], p->nr * p->points_rows};
  }
  for (int64_t l = 0; p->dense && l <= p->lmax; l++)
    if (p->dense[l])
      host[n++] = (kugel__poly_host){p->dense[l], p->nr * p->n};
  kugel_status s = kugel__poly_tables(p->gpu, n, host);
  kugel__free(p->ctx, host);
  return s;
}

kugel_status kugel__jwt_gpu_create(kugel_jwt *p)
{
  int64_t reach = 1;
  for (int64_t i = 0; i < p->blocks.blocks; i++)
    reach = kugel__max(reach, p->blocks.n[i] + 5 + (p->blocks.degree[i] + 1) / 2);
  KUGEL_TRY(kugel__poly_create(p->ctx, p->single, kugel__max(p->nr, p->n + (p->lmax + 1) / 2) + 8,
                               p->opts.radii ? 0 : p->nr, p->chains, 0, &p->gpu));
  kugel__poly_rotations f[2] = {{p->a, p->shift, 1, (p->lmax + 1) / 2, reach, NULL},
                                {p->a, p->shift + 1, 1, p->lmax / 2, reach, NULL}};
  KUGEL_TRY(kugel__poly_turns(p->gpu, 2, f));
  return give_tables(p);
}
