/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms by connection of maps with spin. With P+- = Q +- i U of the ring stage's Fourier coefficients, and harmonics
 *   sqrt(2 pi) sY_lm = (-1)^(m + k) f_k(-x),  sqrt(2 pi) -sY_lm = (-1)^m f_k(x), for m < s (-1)^s f_k(x) (alt/spin.h):
 *   P+ = -sum (E + i B) sY,   P- = -(-1)^s sum (E - i B) -sY,   Q = (P+ + P-) / 2,   U = (P+ - P-) / 2 i.
 * The way back has the same factors, whether it is the adjoint or the inverse. A gradient is of spin 1, E = sqrt(l (l + 1)) a. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/sht/connection.h"

typedef struct call {
  const kugel__connection_call *c;
  const kugel__connection *k;
  const kugel__alt_spin *spin;
  const kugel__sweep_ops *ops;
  kugel__space space;
  double *leg[2];            /* of Q and U */
  char *scratch;             /* a part of a worker: columns of a tile, an order's E and B, the tile */
  size_t column, pair, part; /* bytes */
  int64_t tiles;
  int workers;
} call;

/* Columns of a tile, an order's two sets, and the tile of a worker. */
typedef struct room {
  double *column[KUGEL__TILE_LANES / 4], *set[2];
  kugel__spin_tile tile;
} room;

static void begin_tile(const call *t, int64_t index, int worker, room *r)
{
  kugel__alt_spin_tile(t->spin, t->ops, index, &r->tile);
  r->tile.tile.adjoint = t->c->adjoint;
  char *at = t->scratch + (size_t)worker * t->part;
  int64_t most = t->ops->width / 4;
  for (int64_t i = 0; i < most; i++)
    r->column[i] = (double *)(void *)(at + (size_t)i * t->column);
  at += (size_t)most * t->column;
  for (int i = 0; i < 2; i++)
    r->set[i] = (double *)(void *)(at + (size_t)i * t->pair);
  kugel__alt_space_use(&t->space, at + 2 * t->pair, &r->tile.tile);
}

/* sqrt(l (l + 1)) times a column of complex numbers from degree l on. */
static void by_gradient(double *a, int64_t l, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    double factor = sqrt((double)(l + i) * (double)(l + i + 1));
    a[2 * i] *= factor;
    a[2 * i + 1] *= factor;
  }
}

static void read_order(const call *t, room *r, int64_t i)
{
  const kugel_sht *p = t->c->plan;
  int64_t m = r->tile.m[i], l = kugel__max(m, t->spin->spin), n = kugel__alt_spin_rows(t->spin, m);
  int64_t at = kugel__alm_offset(p->lmax, m) + l;
  double *e = r->set[0], *b = r->set[1], *out = r->column[i];
  kugel__alm_unpack(t->c->alm, t->k->first_alm, at, n, m == 0, e);
  if (t->k->gradient) {
    by_gradient(e, l, n);
    memset(b, 0, (size_t)n * 16);
  } else {
    kugel__alm_unpack(t->c->alm, t->k->first_alm + 1, at, n, m == 0, b);
  }
  for (int64_t k = 0; k < n; k++) {
    out[4 * k] = e[2 * k] - b[2 * k + 1];
    out[4 * k + 1] = e[2 * k + 1] + b[2 * k];
    out[4 * k + 2] = e[2 * k] + b[2 * k + 1];
    out[4 * k + 3] = e[2 * k + 1] - b[2 * k];
  }
}

static void write_order(const call *t, room *r, int64_t i)
{
  const kugel_sht *p = t->c->plan;
  int64_t m = r->tile.m[i], n = kugel__alt_spin_rows(t->spin, m), all = p->lmax - m + 1, zero = all - n;
  int64_t at = kugel__alm_offset(p->lmax, m) + m;
  const double *in = r->column[i];
  for (int c = 0; c < 2; c++)
    memset(r->set[c], 0, (size_t)zero * 16);
  double *e = r->set[0] + 2 * zero, *b = r->set[1] + 2 * zero;
  for (int64_t k = 0; k < n; k++) {
    e[2 * k] = in[4 * k] + in[4 * k + 2];
    e[2 * k + 1] = in[4 * k + 1] + in[4 * k + 3];
    b[2 * k] = in[4 * k + 1] - in[4 * k + 3];
    b[2 * k + 1] = in[4 * k + 2] - in[4 * k];
  }
  if (t->k->gradient)
    by_gradient(r->set[0], m, all);
  for (int c = 0; c < (t->k->gradient ? 1 : 2); c++)
    kugel__alm_pack(t->c->alm, t->k->first_alm + c, at, all, m == 0, t->c->accumulate, r->set[c]);
}

/* Fourier coefficients of order i at all rings, between the tile and the arrays of the ring stage. */
static void move_rings(const call *t, room *r, int64_t i, bool out)
{
  const kugel_grid *g = t->c->plan->grid;
  int64_t m = r->tile.m[i], s = t->spin->spin, row = t->k->row, width = t->ops->width;
  double *v = (double *)(void *)r->tile.tile.values + 4 * i;
  double *q = t->leg[0] + m * 4 * row, *u = t->leg[1] + m * 4 * row;
  double plus = (m % 2 ? 0.5 : -0.5) * t->c->scale;
  double minus = ((m < s ? s + s : m + s) % 2 ? 0.5 : -0.5) * t->c->scale;
  for (int64_t j = 0; j < g->nrings; j++, v += width) {
    int64_t re = t->k->at[j], im = re + row;
    if (out) {
      q[re] = plus * v[0] + minus * v[2];
      q[im] = plus * v[1] + minus * v[3];
      u[re] = plus * v[1] - minus * v[3];
      u[im] = minus * v[2] - plus * v[0];
    } else {
      v[0] = plus * (q[re] - u[im]);
      v[1] = plus * (q[im] + u[re]);
      v[2] = minus * (q[re] + u[im]);
      v[3] = minus * (q[im] - u[re]);
    }
  }
  for (int64_t j = 0; j < t->k->missing && out; j++)
    for (int c = 0; c < 2; c++) {
      int64_t at = m * 4 * row + t->k->at[g->nrings + j];
      t->leg[c][at] = t->leg[c][at + row] = 0;
    }
}

static kugel_status one_tile(void *arg, int64_t index, int worker)
{
  const call *t = arg;
  room r;
  begin_tile(t, index, worker, &r);
  kugel__spin_tile *tile = &r.tile;
  for (int64_t i = 0; i < tile->orders && t->c->to_map; i++)
    read_order(t, &r, i);
  if (t->c->to_map) {
    kugel__alt_spin_up(tile, r.column);
  } else if (tile->tile.lanes < t->ops->width) {
    memset(tile->tile.values, 0, (size_t)(t->c->plan->grid->nrings * t->ops->width) * sizeof(double));
  }
  for (int64_t i = 0; i < tile->orders; i++)
    move_rings(t, &r, i, t->c->to_map);
  if (t->c->to_map)
    return KUGEL_OK;
  kugel__alt_spin_down(tile, r.column);
  for (int64_t i = 0; i < tile->orders; i++)
    write_order(t, &r, i);
  return KUGEL_OK;
}

static kugel_status begin(call *t)
{
  const kugel_sht *p = t->c->plan;
  t->ops = kugel__sweeps(KUGEL_PRECISION_F64);
  t->tiles = kugel__alt_spin_tiles(t->spin, t->ops);
  t->workers = kugel__ctx_threads(p->ctx);
  t->space = kugel__alt_space(t->spin->ends, t->ops);
  t->column = (size_t)kugel__round_up((p->lmax + 1) * 32, 64);
  t->pair = (size_t)kugel__round_up((p->lmax + 1) * 16, 64);
  t->part = (size_t)(t->ops->width / 4) * t->column + 2 * t->pair;
  t->part = (size_t)kugel__round_up((int64_t)t->part, 4096) + t->space.total;
  size_t leg = (size_t)((p->mmax + 1) * 4 * t->k->row) * sizeof(double), parts = (size_t)t->workers * t->part;
  t->leg[0] = kugel__scratch_get(p->ctx, 2 * leg);
  t->scratch = kugel__scratch_get(p->ctx, parts);
  if (!t->leg[0] || !t->scratch)
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of transform scratch", 2 * leg + parts);
  t->leg[1] = t->leg[0] + leg / sizeof(double);
  return KUGEL_OK;
}

/* The ring stage of both maps. */
static kugel_status rings(const call *t)
{
  const kugel_sht *p = t->c->plan;
  int64_t row = t->k->row;
  for (int i = 0; i < 2; i++) {
    void *map = t->c->map->data[t->k->first_map + i];
    KUGEL_TRY(
        t->c->to_map
            ? kugel__rings_synth(p->rings, 0, p->grid->npairs, t->leg[i], 4 * row, row, map, t->c->map->f32)
            : kugel__rings_adjoint(p->rings, 0, p->grid->npairs, map, t->c->map->f32,
                                   t->c->weighted ? p->weight_north : NULL,
                                   t->c->weighted ? p->weight_south : NULL, t->leg[i], 4 * row, row));
  }
  return KUGEL_OK;
}

static kugel_status legendre(call *t)
{
  return kugel__parallel_on(t->c->plan->ctx, t->workers, t->tiles, one_tile, t);
}

kugel_status kugel__connection_spin(const kugel__connection_call *c, double lo, double hi)
{
  kugel_ctx *ctx = c->plan->ctx;
  call t = {.c = c, .k = c->plan->connection, .spin = c->plan->connection->spin};
  const char *stage = c->to_map ? "synthesis" : "analysis";
  double percent = KUGEL__CONNECTION_PERCENT / 100.0,
         mid = lo + (hi - lo) * (c->to_map ? percent : 1 - percent);
  kugel_status s = begin(&t);
  kugel__progress_stage(lo, mid, stage);
  if (!s)
    s = c->to_map ? legendre(&t) : rings(&t);
  kugel__progress_stage(mid, hi, stage);
  if (!s)
    s = c->to_map ? rings(&t) : legendre(&t);
  kugel__scratch_put(ctx, t.leg[0]);
  kugel__scratch_put(ctx, t.scratch);
  return s;
}
