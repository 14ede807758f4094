/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms by connection on the CPU: an order's coefficients are those of an associated Legendre transform (polynomial.h), whose
 * values at the rings are the Fourier coefficients of the ring stage. Y_lm = (-1)^m P_l^m e^{i m phi} / sqrt(2 pi). Tiles hold
 * neighbouring orders of one parity, as many as they have lanes for complex numbers. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"
#include "sphere/sht/connection.h"

typedef struct call {
  const kugel_sht *plan;
  const kugel__connection *c;
  const kugel__sweep_ops *ops;
  const kugel__alms *alm;
  bool to_map, adjoint, accumulate;
  double scale;
  int64_t even, all, orders; /* tiles of the even orders, of all; orders of a tile */
  int turns;                 /* tiles of a task */
  kugel__space space;
  double *leg;
  char *scratch; /* `turns` parts a worker: columns, then a tile's space */
  size_t column, columns, part;
  int workers;
} call;

kugel_status kugel__connection_check(const kugel_sht *p)
{
  KUGEL_CHECK(p->opts.mode != KUGEL_SHT_SPIN || p->opts.spin <= KUGEL__SPIN_MOST, KUGEL_ENOTSUP,
              "engine KUGEL_SHT_CONNECTION has spins to %d, and spin is %d: take engine KUGEL_SHT_RECURRENCE",
              (int)KUGEL__SPIN_MOST, p->opts.spin);
  KUGEL_CHECK(!p->opts.comm, KUGEL_ENOTSUP,
              "engine KUGEL_SHT_CONNECTION runs on one process: take KUGEL_SHT_RECURRENCE over ranks");
  KUGEL_CHECK(
      !p->ctx->npeers, KUGEL_ENOTSUP,
      "engine KUGEL_SHT_CONNECTION runs on one device, and the context has %d: take KUGEL_SHT_RECURRENCE",
      1 + p->ctx->npeers);
  KUGEL_CHECK(p->device->info.fp64, KUGEL_ENOTSUP, "%s has no double precision: use a context on the CPU",
              p->device->info.name);
  KUGEL_CHECK(p->lmax <= KUGEL__ALT_MOST, KUGEL_EINVAL,
              "lmax is %lld, must be 0 to %d for engine KUGEL_SHT_CONNECTION", (long long)p->lmax,
              (int)KUGEL__ALT_MOST);
  return KUGEL_OK;
}

static kugel_status make_alt(const kugel_sht *p, kugel__connection *c)
{
  int64_t *m;
  KUGEL_ALLOC(p->ctx, m, sizeof *m * (size_t)(p->mmax + 1));
  for (int64_t i = 0; i <= p->mmax; i++)
    m[i] = i;
  kugel_alt_opts o = {.size = sizeof o,
                      .complex_data = 1,
                      .lmax = p->lmax,
                      .blocks = p->mmax + 1,
                      .m = m,
                      .n = p->grid->nrings,
                      .theta = c->exact ? NULL : p->grid->theta};
  kugel_status s = kugel__alt_make(p->ctx, &o, &(kugel__alt_chains){.lanes = 2}, &c->alt);
  kugel__free(p->ctx, m);
  return s;
}

bool kugel__connection_exact(const kugel_sht *p)
{
  return p->grid->kind == KUGEL_GRID_FEJER1 && p->grid->nrings > p->lmax;
}

kugel_status kugel__connection_create(const kugel_sht *p, kugel__connection **out)
{
  const kugel_grid *g = p->grid;
  kugel__connection *c = *out = kugel__calloc(p->ctx, sizeof *c);
  KUGEL_CHECK(c, KUGEL_ENOMEM, "no memory for a plan of connection");
  c->ctx = kugel__ctx_retain(p->ctx);
  c->exact = kugel__connection_exact(p);
  c->row = kugel__round_up(g->npairs, 8);
  c->row += c->row / 8 % 2 ? 0 : 8; /* an odd number of cache lines */
  kugel_sht_mode mode = p->opts.mode;
  bool scalar = mode == KUGEL_SHT_SCALAR || mode == KUGEL_SHT_TEB || mode == KUGEL_SHT_DER1;
  c->gradient = mode == KUGEL_SHT_GRAD || mode == KUGEL_SHT_DER1;
  c->first_alm = mode == KUGEL_SHT_TEB;
  c->first_map = scalar;
  kugel_status s = scalar ? make_alt(p, c) : KUGEL_OK;
  if (!s && mode != KUGEL_SHT_SCALAR)
    s = kugel__alt_spin_create(p->ctx, p->lmax, p->mmax,
                               mode == KUGEL_SHT_SPIN  ? p->opts.spin
                               : mode == KUGEL_SHT_TEB ? 2
                                                       : 1,
                               g->nrings, c->exact ? NULL : g->theta, &c->spin);
  if (!s && !(c->at = kugel__alloc(p->ctx, 2 * sizeof *c->at * (size_t)g->npairs)))
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the places of %lld rings", (long long)g->nrings);
  for (int64_t i = 0; i < g->npairs && !s; i++) {
    int64_t north = g->pairs[i].north, south = g->pairs[i].south;
    c->at[north >= 0 ? north : g->nrings + c->missing++] = i;
    c->at[south >= 0 ? south : g->nrings + c->missing++] = 2 * c->row + i;
  }
  return s;
}

void kugel__connection_destroy(kugel__connection *c)
{
  if (!c)
    return;
  kugel_ctx *ctx = c->ctx;
  kugel_alt_destroy(c->alt);
  kugel__alt_spin_destroy(c->spin);
  kugel__free(ctx, c->at);
  kugel__free(ctx, c);
  kugel_ctx_destroy(ctx);
}

bool kugel__connection_analyses(const kugel_sht *p)
{
  return p->connection && p->connection->exact;
}

/* A tile, and in `rows` its columns. The highest order is the first lane; so is that of all the first tile of its parity. */
static void begin_tile(const call *t, int64_t index, char *part, kugel__alt_tile *tile, kugel__rows *rows)
{
  int64_t odd = index >= t->even, from = index - (odd ? t->even : 0), mmax = t->plan->mmax;
  int64_t high = mmax - (mmax - odd) % 2 - 2 * t->orders * from,
          low = kugel__max(odd, high - 2 * (t->orders - 1));
  *tile = (kugel__alt_tile){.plan = t->c->alt, .ops = t->ops, .adjoint = t->adjoint};
  kugel__alt_space_use(&t->space, part + t->columns, tile);
  rows->step = 2;
  for (int64_t m = high; m >= low; m -= 2)
    for (int i = 0; i < 2; i++) {
      rows->at[tile->lanes] = (double *)(void *)(part + (size_t)((high - m) / 2) * t->column) + i;
      tile->m[tile->lanes++] = m;
    }
  rows->lanes = tile->lanes;
}

/* Fourier coefficients of lane r at all rings, between the tile and the array of the ring stage. */
static void move_rings(const call *t, const kugel__alt_tile *tile, int64_t r, bool out)
{
  int64_t m = tile->m[r], row = t->c->row, width = t->ops->width;
  double *leg = t->leg + m * 4 * row + r % 2 * row, *v = (double *)(void *)tile->values + r;
  double factor = m % 2 ? -t->scale : t->scale;
  for (int64_t i = 0; i < t->plan->grid->nrings; i++)
    if (out)
      leg[t->c->at[i]] = factor * v[i * width];
    else
      v[i * width] = factor * leg[t->c->at[i]];
  for (int64_t i = 0; i < t->c->missing && out; i++)
    leg[t->c->at[t->plan->grid->nrings + i]] = 0;
}

static void up(const call *t, const kugel__alt_tile *tile, int tiles, const kugel__rows *rows)
{
  const kugel_sht *p = t->plan;
  for (int i = 0; i < tiles; i++)
    for (int64_t r = 0; r < tile[i].lanes; r += 2) {
      int64_t m = tile[i].m[r];
      kugel__alm_unpack(t->alm, 0, kugel__alm_offset(p->lmax, m) + m, p->lmax - m + 1, m == 0, rows[i].at[r]);
    }
  kugel__alt_up(tile, tiles, rows);
  for (int i = 0; i < tiles; i++)
    for (int64_t r = 0; r < tile[i].lanes; r++)
      move_rings(t, &tile[i], r, true);
}

static void down(const call *t, const kugel__alt_tile *tile, int tiles, const kugel__rows *rows)
{
  const kugel_sht *p = t->plan;
  for (int i = 0; i < tiles; i++) {
    if (tile[i].lanes < t->ops->width)
      memset(tile[i].values, 0, (size_t)(p->grid->nrings * t->ops->width) * sizeof(double));
    for (int64_t r = 0; r < tile[i].lanes; r++)
      move_rings(t, &tile[i], r, false);
  }
  kugel__alt_down(tile, tiles, rows);
  for (int i = 0; i < tiles; i++)
    for (int64_t r = 0; r < tile[i].lanes; r += 2) {
      int64_t m = tile[i].m[r];
      kugel__alm_pack(t->alm, 0, kugel__alm_offset(p->lmax, m) + m, p->lmax - m + 1, m == 0, t->accumulate,
                      rows[i].at[r]);
    }
}

static kugel_status one_task(void *arg, int64_t index, int worker)
{
  const call *t = arg;
  kugel__alt_tile tile[KUGEL__ALT_TILES];
  kugel__rows rows[KUGEL__ALT_TILES];
  int64_t first = index * t->turns, last = kugel__min(t->all, first + t->turns);
  while (first < last) {
    int64_t end = first < t->even ? kugel__min(last, t->even) : last;
    int tiles = (int)(end - first);
    for (int i = 0; i < tiles; i++)
      begin_tile(t, first + i, t->scratch + (size_t)(worker * t->turns + i) * t->part, &tile[i], &rows[i]);
    (t->to_map ? up : down)(t, tile, tiles, rows);
    first = end;
  }
  return KUGEL_OK;
}

static kugel_status begin(call *t, const kugel_sht *p)
{
  t->plan = p;
  t->c = p->connection;
  t->ops = kugel__sweeps(KUGEL_PRECISION_F64);
  t->orders = t->ops->width / 2;
  t->even = (p->mmax / 2 + t->orders) / t->orders;
  t->all = t->even + ((p->mmax + 1) / 2 + t->orders - 1) / t->orders;
  t->workers = kugel__ctx_threads(p->ctx);
  t->turns = kugel__alt_turns(t->all, t->workers);
  t->space = kugel__alt_space(t->c->alt, t->ops);
  t->column = (size_t)kugel__round_up((p->lmax + 1) * 16, 64);
  t->columns = (size_t)kugel__round_up((int64_t)t->column * t->orders, 4096);
  t->part = t->columns + t->space.total;
  size_t leg = (size_t)((p->mmax + 1) * 4 * t->c->row) * sizeof(double);
  size_t parts = (size_t)(t->workers * t->turns);
  t->leg = kugel__scratch_get(p->ctx, leg);
  t->scratch = kugel__scratch_get(p->ctx, parts * t->part);
  if (t->leg && t->scratch)
    return KUGEL_OK;
  kugel__scratch_put(p->ctx, t->leg);
  kugel__scratch_put(p->ctx, t->scratch);
  return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes of transform scratch", leg + parts * t->part);
}

static void end(call *t)
{
  kugel__scratch_put(t->plan->ctx, t->leg);
  kugel__scratch_put(t->plan->ctx, t->scratch);
}

static kugel_status legendre(call *t)
{
  return kugel__parallel_on(t->plan->ctx, t->workers, (t->all + t->turns - 1) / t->turns, one_task, t);
}

/* The scalar part, as [lo, hi] of the progress. */
static kugel_status scalar(const kugel__connection_call *c, double lo, double hi)
{
  const kugel_sht *p = c->plan;
  call t = {.alm = c->alm,
            .to_map = c->to_map,
            .adjoint = c->adjoint,
            .accumulate = c->accumulate,
            .scale = c->scale};
  const char *stage = c->to_map ? "synthesis" : "analysis";
  double percent = KUGEL__CONNECTION_PERCENT / 100.0,
         mid = lo + (hi - lo) * (c->to_map ? percent : 1 - percent);
  KUGEL_TRY(begin(&t, p));
  kugel__progress_stage(lo, mid, stage);
  kugel_status s =
      c->to_map ? legendre(&t)
                : kugel__rings_adjoint(p->rings, 0, p->grid->npairs, c->map->data[0], c->map->f32,
                                       c->weighted ? p->weight_north : NULL,
                                       c->weighted ? p->weight_south : NULL, t.leg, 4 * t.c->row, t.c->row);
  kugel__progress_stage(mid, hi, stage);
  if (!s)
    s = !c->to_map ? legendre(&t)
                   : kugel__rings_synth(p->rings, 0, p->grid->npairs, t.leg, 4 * t.c->row, t.c->row,
                                        c->map->data[0], c->map->f32);
  end(&t);
  return s;
}

static kugel_status run(kugel__connection_call c)
{
  const kugel__connection *k = c.plan->connection;
  double part = !k->alt ? 0 : k->spin ? 0.2 : 1;
  if (k->alt)
    KUGEL_TRY(scalar(&c, 0, part));
  c.accumulate |= k->alt && k->gradient;
  return k->spin ? kugel__connection_spin(&c, part, 1) : KUGEL_OK;
}

static kugel_status synthesis(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  return run(
      (kugel__connection_call){.plan = p, .alm = alm, .map = map, .to_map = true, .scale = sqrt(0.5 / M_PI)});
}

static kugel_status adjoint(const kugel_sht *p, const kugel__maps *map, bool weighted, const kugel__alms *alm,
                            bool accumulate)
{
  return run((kugel__connection_call){.plan = p,
                                      .alm = alm,
                                      .map = map,
                                      .adjoint = true,
                                      .weighted = weighted,
                                      .accumulate = accumulate,
                                      .scale = sqrt(0.5 / M_PI)});
}

const kugel__sht_ops kugel__sht_connection_ops = {.synthesis = synthesis, .adjoint = adjoint};

kugel_status kugel__connection_analysis(const kugel_sht *p, const kugel__maps *map, const kugel__alms *alm,
                                        bool accumulate)
{
  return run((kugel__connection_call){.plan = p,
                                      .alm = alm,
                                      .map = map,
                                      .accumulate = accumulate,
                                      .scale = sqrt(2 * M_PI) / (double)p->grid->nphi[0]});
}

kugel_status kugel__connection_analysis_adjoint(const kugel_sht *p, const kugel__alms *alm,
                                                const kugel__maps *map)
{
  return run((kugel__connection_call){.plan = p,
                                      .alm = alm,
                                      .map = map,
                                      .to_map = true,
                                      .adjoint = true,
                                      .scale = sqrt(2 * M_PI) / (double)p->grid->nphi[0]});
}
