/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms over ranks: chunks of degrees, one flying while the next is made. */
#include <string.h>
#include "ball/ranks.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"

typedef struct job {
  kugel__ball_call *c;
  const kugel_ball *p;
  const kugel__ball_ranks *r;
  char *rows, *shells; /* two messages each: of own orders to or from all, of own radii to or from all */
  size_t most_rows, most_shells; /* bytes of one */
  size_t *tables;                /* [2][4][size] */
  int64_t *column;               /* [orders] */
  char *coeffs, *values;
} job;

/* Maps of the radii of rank r. */
static int64_t maps_of(const job *t, int r)
{
  return t->c->components * (t->r->shell[r + 1] - t->r->shell[r]);
}

static size_t *table_of(const job *t, int k, int which)
{
  return t->tables + (size_t)((k & 1) * 4 + which) * (size_t)t->r->size;
}

/* Messages of chunk k: 0, 1: of own orders, bytes and where; 2, 3: of own radii. */
static void list_messages(const job *t, int k)
{
  size_t pair = 2 * t->p->word, at[2] = {0};
  for (int r = 0; r < t->r->size; r++) {
    size_t bytes[2] = {(size_t)(maps_of(t, r) * kugel__ball_width(t->p, t->r->rank, k)) * pair,
                       (size_t)(maps_of(t, t->r->rank) * kugel__ball_width(t->p, r, k)) * pair};
    for (int i = 0; i < 2; i++) {
      table_of(t, k, 2 * i)[r] = bytes[i];
      table_of(t, k, 2 * i + 1)[r] = at[i];
      at[i] += bytes[i];
    }
  }
}

/* ---- rows and messages of own orders ---- */

static kugel_status turn(const job *t, int k)
{
  const kugel_ball *p = t->p;
  int64_t l0 = p->chunk[k], l1 = p->chunk[k + 1], width = 0;
  for (int64_t i = 0; i < p->orders && p->order[i] < l1; i++) {
    int64_t first = kugel__max(l0, p->order[i]);
    t->column[i] = width - first;
    width += l1 - first;
  }
  for (int r = 0; r < t->r->size && width; r++) {
    kugel__ball_alm side = {t->r->shell[r], t->r->shell[r + 1] - t->r->shell[r], width, t->column,
                            t->rows + (size_t)(k & 1) * t->most_rows + table_of(t, k, 1)[r]};
    KUGEL_TRY(kugel__ball_turn(p, k, t->c->components, t->c->to_grid, t->c->rows, &side));
  }
  return KUGEL_OK;
}

static kugel_status transform_rows(const job *t, int k)
{
  for (int i = 0; i < t->c->components; i++)
    KUGEL_TRY(kugel__ball_radial_component(t->c, k, i, t->coeffs));
  return KUGEL_OK;
}

/* ---- alm and messages of own radii ---- */

typedef struct packing {
  const job *t;
  int k;
} packing;

static kugel_status pack_map(void *arg, int64_t map)
{
  const packing *a = arg;
  const job *t = a->t;
  const kugel_ball *p = t->p;
  const kugel__ball_ranks *k = t->r;
  size_t pair = 2 * p->word;
  int64_t l0 = p->chunk[a->k], l1 = p->chunk[a->k + 1];
  char *alm = t->c->alm + (size_t)(map * p->nalm) * pair;
  for (int r = 0; r < k->size; r++) {
    char *at = t->shells + (size_t)(a->k & 1) * t->most_shells + table_of(t, a->k, 3)[r] +
               (size_t)(map * kugel__ball_width(p, r, a->k)) * pair;
    for (int64_t i = k->begin[r]; i < k->begin[r + 1] && k->order[i] < l1; i++) {
      int64_t m = k->order[i], first = kugel__max(l0, m);
      char *there = alm + (size_t)(m * (2 * p->lmax + 1 - m) / 2 + first) * pair;
      size_t bytes = (size_t)(l1 - first) * pair;
      memcpy(t->c->to_grid ? there : at, t->c->to_grid ? at : there, bytes);
      at += bytes;
    }
  }
  return KUGEL_OK;
}

static kugel_status pack(const job *t, int k)
{
  packing a = {t, k};
  return kugel__parallel(t->p->ctx, maps_of(t, t->r->rank), pack_map, &a);
}

/* ---- the exchange ---- */

static kugel_status fill(const job *t, int k)
{
  list_messages(t, k);
  if (!t->c->to_grid)
    return pack(t, k);
  KUGEL_TRY(transform_rows(t, k));
  return turn(t, k);
}

static kugel_status use(const job *t, int k)
{
  if (t->c->to_grid)
    return pack(t, k);
  KUGEL_TRY(turn(t, k));
  return transform_rows(t, k);
}

static kugel_status launch(const job *t, int k, kugel__flight *flight)
{
  char *rows = t->rows + (size_t)(k & 1) * t->most_rows,
       *shells = t->shells + (size_t)(k & 1) * t->most_shells;
  bool out = t->c->to_grid;
  kugel_exchange x = {out ? rows : shells, table_of(t, k, out ? 0 : 2), table_of(t, k, out ? 1 : 3),
                      out ? shells : rows, table_of(t, k, out ? 2 : 0), table_of(t, k, out ? 3 : 1)};
  return kugel__comm_begin(t->r->comm, &x, flight);
}

/* While chunk k flies, k - 1 is used and k + 1 filled. */
static kugel_status fly(const job *t)
{
  kugel_comm *comm = t->r->comm;
  kugel__flight flights[2] = {{.on = false}};
  kugel_status s = KUGEL_OK;
  for (int k = 0; k <= t->p->chunks; k++) {
    kugel__span outer = kugel__progress_enter((double)k / (t->p->chunks + 1), (k + 1.0) / (t->p->chunks + 1));
    if (k < t->p->chunks) {
      s = s ? s : fill(t, k);
      s = s && comm->settled ? s : kugel__comm_agree(comm, s);
      s = s ? s : launch(t, k, &flights[k & 1]);
    }
    if (k > 0) { /* on failure too: all ranks had agreed to make this one */
      kugel_status landed = kugel__comm_end(comm, &flights[(k - 1) & 1]);
      s = s ? s : landed;
      s = s ? s : use(t, k - 1);
    }
    kugel__progress_leave(outer);
    if (s && comm->settled)
      break;
  }
  return s && comm->settled ? s : kugel__comm_agree(comm, s);
}

/* ---- the call ---- */

static kugel_status one_field(job *t)
{
  kugel__span outer;
  kugel_status s = KUGEL_OK;
  if (!t->c->to_grid) {
    outer = kugel__progress_enter(0, 0.6);
    s = kugel__ball_finite(t->c, t->values);
    s = s ? s : kugel__ball_shells(t->c, 0, 1, t->values);
    kugel__progress_leave(outer);
    s = kugel__comm_agree(t->r->comm, s);
  }
  outer = kugel__progress_enter(t->c->to_grid ? 0 : 0.6, t->c->to_grid ? 0.4 : 1);
  s = s ? s : fly(t);
  kugel__progress_leave(outer);
  if (!t->c->to_grid || s)
    return s;
  outer = kugel__progress_enter(0.4, 1);
  s = kugel__ball_shells(t->c, 0, 1, t->values);
  kugel__progress_leave(outer);
  return kugel__comm_agree(t->r->comm, s);
}

static kugel_status get_room(job *t)
{
  const kugel_ball *p = t->p;
  kugel__ball_call *c = t->c;
  kugel__ball_space space = kugel__ball_space_of(p, c->components);
  size_t pair = 2 * p->word, tables = 8 * (size_t)t->r->size * sizeof *t->tables;
  for (int k = 0; k < p->chunks; k++) {
    int64_t all = kugel__ball_row_of_all(p, p->chunk[k + 1]) - kugel__ball_row_of_all(p, p->chunk[k]);
    t->most_shells = kugel__max(t->most_shells, (size_t)(c->components * p->shells * all) * pair);
  }
  t->most_rows = (size_t)(c->components * p->nr * p->chunk_rows) * pair;
  size_t columns = (size_t)p->orders * sizeof *t->column,
         bytes = space.rows + space.alm + space.maps + 2 * (t->most_rows + t->most_shells);
  t->tables = kugel__scratch_get(p->ctx, tables + columns);
  c->rows = kugel__scratch_get(p->ctx, bytes + 1);
  KUGEL_CHECK(t->tables && c->rows, KUGEL_ENOMEM, "no memory for a work space of %zu bytes: use more ranks",
              bytes);
  t->column = (int64_t *)(void *)((char *)t->tables + tables);
  c->alm = c->rows + space.rows;
  c->maps = c->alm + space.alm;
  t->rows = c->maps + space.maps;
  t->shells = t->rows + 2 * t->most_rows;
  return KUGEL_OK;
}

kugel_status kugel__ball_ranks_run(kugel__ball_call *c, kugel_status s, int64_t batch, char *coeffs,
                                   char *values)
{
  const kugel_ball *p = c->p;
  job t = {.c = c, .p = p, .r = p->ranks};
  kugel__comm_enter(t.r->comm);
  kugel__same same[] = {
      {"kind", c->kind}, {"the transform", c->to_grid + 2 * c->analysis}, {"the batch", batch}};
  s = kugel__comm_same(t.r->comm, s, 3, same);
  s = s ? s : kugel__comm_agree(t.r->comm, get_room(&t));
  c->count = p->shells;
  size_t of_coeffs = (size_t)(c->components * p->nlm * p->n) * 2 * p->word,
         of_values =
             (size_t)(c->components * p->shells * p->npix) * p->word * (c->kind == KUGEL_BALL_SPIN ? 2 : 1);
  kugel__span outer = kugel__progress_enter(0, 1);
  for (int64_t i = 0; i < batch && !s; i++) {
    kugel__span whole = kugel__progress_enter((double)i / (double)batch, (double)(i + 1) / (double)batch);
    t.coeffs = coeffs + (size_t)i * of_coeffs;
    t.values = values + (size_t)i * of_values;
    s = one_field(&t);
    kugel__progress_leave(whole);
  }
  kugel__progress_leave(outer);
  kugel__scratch_put(p->ctx, c->rows);
  kugel__scratch_put(p->ctx, t.tables);
  return kugel__comm_leave(t.r->comm, s);
}

/* ---- sums over orders ---- */

typedef struct sums {
  size_t *tables; /* [4][size] */
  double *all;    /* [rank][batch][orders of the rank][count] */
} sums;

static kugel_status gather(const kugel__ball_ranks *r, int64_t numbers, const double *own, const sums *g)
{
  size_t n = (size_t)r->size, each = (size_t)numbers * sizeof *own;
  for (size_t i = 0; i < n; i++) {
    g->tables[i] = (size_t)(r->begin[r->rank + 1] - r->begin[r->rank]) * each;
    g->tables[n + i] = 0;
    g->tables[2 * n + i] = (size_t)(r->begin[i + 1] - r->begin[i]) * each;
    g->tables[3 * n + i] = (size_t)r->begin[i] * each;
  }
  kugel_exchange x = {own, g->tables, g->tables + n, g->all, g->tables + 2 * n, g->tables + 3 * n};
  return kugel__comm_exchange(r->comm, &x);
}

kugel_status kugel__ball_ranks_sum(const kugel_ball *p, kugel_status s, int64_t batch, int64_t count,
                                   const double *own, double *sum)
{
  const kugel__ball_ranks *r = p->ranks;
  kugel__comm_enter(r->comm);
  kugel__same same[] = {{"the batch", batch}, {"the axis", count}};
  s = kugel__comm_same(r->comm, s, 2, same);
  size_t tables = 4 * (size_t)r->size * sizeof(size_t),
         bytes = (size_t)(batch * (p->mmax + 1) * count) * sizeof *sum;
  char *room = s ? NULL : kugel__scratch_get(p->ctx, tables + bytes + 1);
  if (!s && !room)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of energies of all orders", bytes);
  s = s && r->comm->settled ? s : kugel__comm_agree(r->comm, s);
  sums g = {(size_t *)(void *)room, room ? (double *)(void *)(room + tables) : NULL};
  s = s ? s : gather(r, batch * count, own, &g);
  for (int64_t i = 0; i < batch && !s; i++) {
    memset(sum + i * count, 0, (size_t)count * sizeof *sum);
    for (int64_t m = 0; m <= p->mmax; m++) {
      int q = 0;
      int64_t at = 0;
      while (at < p->mmax && r->order[at] != m)
        at++;
      while (r->begin[q + 1] <= at)
        q++;
      int64_t orders = r->begin[q + 1] - r->begin[q];
      const double *from = g.all + (batch * r->begin[q] + i * orders + at - r->begin[q]) * count;
      for (int64_t k = 0; k < count; k++)
        sum[i * count + k] += from[k];
    }
  }
  kugel__scratch_put(p->ctx, room);
  return kugel__comm_leave(r->comm, s);
}
