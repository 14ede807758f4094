/* SPDX-License-Identifier: BSD-3-Clause */
/* Slabs and tiles of rank 0's arrays on their way to the ranks and back. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "deconv/ranks_lead.h"
#include "volume/plan/lead.h"

enum {
  IMAGE = KUGEL__LED_IMAGE,
  MASK = KUGEL__LED_MASK,
  START = KUGEL__LED_START,
  OUT = KUGEL__LED_OUT,
  ARRAYS = KUGEL__LED_ARRAYS
};
typedef kugel__deconv_led_run_of run;

/* ---- boxes of the four arrays as messages ---- */

static size_t bytes_of(kugel_dtype t, const int64_t n[3])
{
  return (size_t)(n[0] * n[1] * n[2]) * (t.bits / 8);
}

// A box of rank 0's array between its place and a message.
static kugel_status copy(const run *r, int which, const int64_t from[3], const int64_t n[3], char *message,
                         bool pack)
{
  const kugel__deconv_box *b = r->of[which];
  int64_t at = from[0] * b->step[0] + from[1] * b->step[1] + from[2] * b->step[2];
  kugel__volume_box box = {
      b->data + at * (b->dtype.bits / 8), b->dtype, {0, b->step[0], b->step[1], b->step[2]}};
  kugel__volume_rows rows = {NULL, &box, n, message, pack};
  return kugel__volume_copy_rows(r->l->ctx, 1, &rows);
}

static kugel_status exchange(const run *r, const void *send, void *recv)
{
  size_t n = (size_t)r->l->comm->size, *t = r->table;
  kugel_exchange x = {send, t, t + n, recv, t + 2 * n, t + 3 * n};
  return kugel__comm_exchange(r->l->comm, &x);
}

static kugel_array array_of(char *data, kugel_dtype t, int64_t n[3])
{
  return (kugel_array){.data = data, .device = {KUGEL_CPU, 0}, .ndim = 3, .dtype = t, .shape = n};
}

/* ---- one image in slabs ---- */

typedef struct slab {
  int64_t from[3], n[3];
} slab;

static slab slab_of(const run *r, const kugel_layout *layout, int rank)
{
  const kugel_deconv *p = r->l->plan;
  slab s = {{0, 0, 0}, {0, p->n[1], p->n[2]}};
  int64_t first = 0, plane = p->n[1] * p->n[2];
  kugel_layout_runs(layout, rank, 1, &first, NULL, NULL);
  s.from[0] = first / plane;
  s.n[0] = kugel_layout_count(layout, rank) / plane;
  return s;
}

// One array's slab of rank `other`, between rank 0's message and that rank's memory.
static kugel_status move(const run *r, int which, const slab *s, int other, bool back)
{
  kugel_comm *c = r->l->comm;
  size_t n = (size_t)c->size, *t = r->table, bytes = bytes_of(r->type[which], s->n);
  memset(t, 0, 4 * n * sizeof *t);
  size_t *zero = t + (back ? 2 * n : 0), *rank = t + (back ? 0 : 2 * n);
  if (c->rank == 0)
    zero[other] = bytes;
  if (c->rank == other)
    rank[0] = bytes;
  char *message = r->messages, *mine = r->mine[which];
  return back ? exchange(r, mine, message) : exchange(r, message, mine);
}

kugel_status kugel__deconv_led_whole(run *r, kugel_deconv_info *info)
{
  kugel_comm *c = r->l->comm;
  kugel_ctx *ctx = r->l->ctx;
  kugel_layout *layout = NULL;
  kugel_status s = kugel_deconv_layout(r->l->plan, &layout);
  slab own = {{0}, {0}};
  size_t most = 0;
  for (int i = 0; i < c->size && !s; i++) {
    slab one = slab_of(r, layout, i);
    own = i == c->rank ? one : own;
    for (int a = 0; a < ARRAYS; a++)
      most = kugel__max(most, bytes_of(r->type[a], one.n));
  }
  for (int a = 0; a < ARRAYS && !s; a++)
    if (r->type[a].bits && !(r->mine[a] = kugel__alloc(ctx, bytes_of(r->type[a], own.n) + 64)))
      s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld planes: use more ranks", (long long)own.n[0]);
  if (!s && c->rank == 0 && !(r->messages = kugel__alloc(ctx, most + 64)))
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of a rank's planes: use more ranks", most);
  s = kugel__comm_agree(c, s);
  for (int a = 0; a < OUT && !s; a++)
    for (int i = 0; i < c->size && !s && r->type[a].bits; i++) {
      slab one = slab_of(r, layout, i);
      s = c->rank ? s : copy(r, a, one.from, one.n, r->messages, true);
      s = kugel__comm_agree(c, s);
      s = s ? s : move(r, a, &one, i, false);
    }
  kugel_array arrays[ARRAYS];
  for (int a = 0; a < ARRAYS; a++)
    arrays[a] = array_of(r->mine[a], r->type[a], own.n);
  if (!s)
    s = kugel__deconv_execute(r->l->plan, &arrays[IMAGE], r->mine[MASK] ? &arrays[MASK] : NULL,
                              r->mine[START] ? &arrays[START] : NULL, &arrays[OUT], info);
  for (int i = 0; i < c->size && !s; i++) {
    slab one = slab_of(r, layout, i);
    s = move(r, OUT, &one, i, true);
    s = s || c->rank ? s : copy(r, OUT, one.from, one.n, r->messages, false);
    s = kugel__comm_agree(c, s);
  }
  kugel_layout_destroy(layout);
  return s;
}

/* ---- tiles ---- */

typedef struct report { // of a tile, behind its results
  kugel_deconv_info info;
} report;

static size_t message_bytes(const run *r)
{
  size_t bytes = 0;
  for (int a = 0; a < OUT; a++)
    bytes += (bytes_of(r->type[a], r->l->plan->cut) + 63) / 64 * 64;
  return kugel__max(bytes, bytes_of(r->type[OUT], r->l->plan->tile) + 64 + sizeof(report));
}

static size_t results_bytes(const run *r, const int64_t n[3])
{
  return (bytes_of(r->type[OUT], n) + 63) / 64 * 64;
}

// Everything that rank `i` needs of its tile, into its message.
static kugel_status pack_tile(const run *r, const kugel__deconv_piece *t, char *message)
{
  const int64_t *cut = r->l->plan->cut;
  for (int a = 0; a < OUT; a++) {
    if (r->type[a].bits)
      KUGEL_TRY(copy(r, a, t->from, cut, message, true));
    message += (bytes_of(r->type[a], cut) + 63) / 64 * 64;
  }
  return KUGEL_OK;
}

// Own tile, from r->mine[IMAGE], which is a message, to r->mine[OUT].
static kugel_status run_tile(const run *r, const kugel__deconv_piece *t)
{
  const kugel_deconv *p = r->l->plan;
  kugel__deconv_piece here = *t;
  char *at = r->mine[IMAGE];
  kugel__deconv_box *boxes[OUT] = {&here.image, &here.mask, &here.start};
  for (int a = 0; a < OUT; a++) {
    if (r->type[a].bits)
      *boxes[a] = (kugel__deconv_box){at, r->type[a], {p->cut[1] * p->cut[2], p->cut[2], 1}};
    at += (bytes_of(r->type[a], p->cut) + 63) / 64 * 64;
  }
  here.out = (kugel__deconv_box){r->mine[OUT], r->type[OUT], {t->n[1] * t->n[2], t->n[2], 1}};
  report *said = (report *)(void *)(r->mine[OUT] + results_bytes(r, t->n));
  said->info = (kugel_deconv_info){.size = sizeof said->info};
  return kugel__deconv_run_piece(p, &here, &said->info);
}

static void add(kugel_deconv_info *all, const kugel_deconv_info *one)
{
  all->iterations = kugel__max(all->iterations, one->iterations);
  all->first += one->first;
  all->last += one->last;
  all->stop = one->stop;
  all->missing += one->missing;
  all->clipped += one->clipped;
  all->flux_in += one->flux_in;
  all->flux_out += one->flux_out;
}

// Tiles first, first + 1, ... of the ranks.
static kugel_status run_round(run *r, int64_t first, size_t most, kugel_deconv_info *info)
{
  kugel_comm *c = r->l->comm;
  const kugel_deconv *p = r->l->plan;
  size_t n = (size_t)c->size, *t = r->table;
  int64_t tiles = kugel__deconv_tiles(p), mine = first + c->rank;
  kugel__deconv_piece piece;
  kugel_status s = KUGEL_OK;
  memset(t, 0, 4 * n * sizeof *t);
  for (int i = 0; i < c->size && first + i < tiles && !c->rank && !s; i++) {
    piece = kugel__deconv_piece_of(p, first + i);
    s = pack_tile(r, &piece, r->messages + (size_t)i * most);
    t[i] = most;
    t[n + (size_t)i] = (size_t)i * most;
  }
  t[2 * n] = mine < tiles ? most : 0;
  s = kugel__comm_agree(c, s);
  s = s ? s : exchange(r, r->messages, r->mine[IMAGE]);
  if (!s && mine < tiles) {
    piece = kugel__deconv_piece_of(p, mine);
    s = run_tile(r, &piece);
  }
  s = kugel__comm_agree(c, s);
  memset(t, 0, 4 * n * sizeof *t);
  t[0] = mine < tiles ? most : 0;
  for (int i = 0; i < c->size && first + i < tiles && !c->rank; i++) {
    t[2 * n + (size_t)i] = most;
    t[3 * n + (size_t)i] = (size_t)i * most;
  }
  s = s ? s : exchange(r, r->mine[OUT], r->messages);
  for (int i = 0; i < c->size && first + i < tiles && !c->rank && !s; i++) {
    char *message = r->messages + (size_t)i * most;
    piece = kugel__deconv_piece_of(p, first + i);
    int64_t at[3];
    for (int d = 0; d < 3; d++)
      at[d] = piece.from[d] + piece.lo[d];
    s = copy(r, OUT, at, piece.n, message, false);
    add(info, &((report *)(void *)(message + results_bytes(r, piece.n)))->info);
  }
  return kugel__comm_agree(c, s);
}

kugel_status kugel__deconv_led_tiles(run *r, kugel_deconv_info *info)
{
  kugel_comm *c = r->l->comm;
  kugel_ctx *ctx = r->l->ctx;
  const kugel_deconv *p = r->l->plan;
  size_t most = (message_bytes(r) + 63) / 64 * 64;
  int64_t tiles = kugel__deconv_tiles(p);
  r->mine[IMAGE] = kugel__alloc(ctx, most);
  r->mine[OUT] = kugel__calloc(ctx, most);
  r->messages = c->rank ? NULL : kugel__alloc(ctx, most * (size_t)c->size);
  kugel_status s = KUGEL_OK;
  if (!r->mine[IMAGE] || !r->mine[OUT] || (!c->rank && !r->messages))
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of tiles of %d ranks", most, c->size);
  s = kugel__comm_agree(c, s);
  for (int64_t i = 0; i < tiles && !s; i += c->size) {
    kugel__span span = kugel__progress_enter((double)i / (double)tiles,
                                             (double)kugel__min(i + c->size, tiles) / (double)tiles);
    s = run_round(r, i, most, info);
    kugel__progress_leave(span);
  }
  return s;
}
