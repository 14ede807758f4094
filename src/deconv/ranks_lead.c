/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of rank 0, which leads (comm/lead.h). An image in one piece becomes that of a plan over ranks: slabs of planes go to their ranks
 * once, and results come back once. Tiles, which iterate alone, are shared out in rounds of one per rank. Either way the bits are
 * those of one process. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "deconv/ranks_lead.h"
#include "psf/psf.h"
#include "volume/plan/lead.h"

enum { RUN = KUGEL__LEAD_WORK, ARRAYS = KUGEL__LED_ARRAYS };
typedef kugel__deconv_led_run_of run;

/* What a MAKE order says in its words. */
typedef struct card {
  int64_t n[3], k[3], centre[3], tile[3], cut[3];
  int64_t method, iterations, edges, precision, engine, back, whole, depths, memory;
} card;
_Static_assert(sizeof(card) <= sizeof(((kugel__order *)0)->word), "an order has room for a card");

static void drop(void *led)
{
  kugel__deconv_led *l = led;
  if (!l)
    return;
  kugel_ctx *ctx = l->ctx;
  kugel__deconv_destroy(l->made);
  kugel__free(ctx, l);
  kugel_ctx_destroy(ctx);
}

/* ---- making ---- */

static kugel__order order_of(const kugel_deconv *p, bool back, bool whole)
{
  const kugel_deconv_opts *o = &p->opts;
  kugel__order order = {
      .kind = KUGEL__LEAD_DECONV,
      .verb = KUGEL__LEAD_MAKE,
      .x = {o->background, o->offset, o->saturation, o->lambda, o->step, o->tolerance, o->discrepancy}};
  card c = {.method = o->method,
            .iterations = o->iterations,
            .edges = o->edges,
            .precision = o->precision,
            .engine = o->engine ? o->engine : KUGEL_VOLUME_GLOBAL,
            .back = back,
            .whole = whole,
            .depths = o->depths,
            .memory = (int64_t)p->room};
  memcpy(c.n, p->n, sizeof c.n);
  memcpy(c.k, p->k, sizeof c.k);
  memcpy(c.centre, p->centre, sizeof c.centre);
  memcpy(c.tile, p->tile, sizeof c.tile);
  memcpy(c.cut, p->cut, sizeof c.cut);
  memcpy(order.word, &c, sizeof c);
  return order;
}

static kugel_deconv_opts opts_of(const kugel__order *order, const card *c)
{
  const double *x = order->x;
  return (kugel_deconv_opts){.size = sizeof(kugel_deconv_opts),
                             .method = (kugel_deconv_method)c->method,
                             .iterations = c->iterations,
                             .edges = (kugel_deconv_edges)c->edges,
                             .precision = (kugel_precision)c->precision,
                             .background = x[0],
                             .offset = x[1],
                             .saturation = x[2],
                             .lambda = x[3],
                             .step = x[4],
                             .tolerance = x[5],
                             .discrepancy = x[6],
                             .depths = c->depths,
                             .centre = c->centre};
}

/* PSFs as rank 0's caller gave them, [count][k...]: one and that of `back`, or those by depth. */
static int64_t psfs_of(const card *w)
{
  return w->back ? 2 : kugel__max(w->depths, 1);
}

static kugel_status load_psf(kugel_ctx *ctx, const card *w, const kugel_array *psf, const char *name,
                             double *values)
{
  double *one = NULL;
  int64_t k[3];
  kugel_status s = kugel__psf_load(ctx, psf, name, k, &one);
  if (!s && memcmp(k, w->k, sizeof k))
    s = KUGEL_FAIL(KUGEL_ESHAPE, "%s has lengths %lld, %lld, %lld, must have %lld, %lld, %lld", name,
                   (long long)k[0], (long long)k[1], (long long)k[2], (long long)w->k[0], (long long)w->k[1],
                   (long long)w->k[2]);
  if (!s)
    memcpy(values, one, (size_t)(k[0] * k[1] * k[2]) * sizeof *one);
  kugel__free(ctx, one);
  return s;
}

/* psf, back: NULL on other ranks. */
static kugel_status share_psfs(kugel_ctx *ctx, kugel_comm *c, const card *w, const kugel_array *psf,
                               const kugel_array *back, double **values)
{
  int64_t count = w->k[0] * w->k[1] * w->k[2], psfs = psfs_of(w);
  size_t bytes = (size_t)(psfs * count) * sizeof **values;
  *values = kugel__alloc(ctx, bytes);
  kugel_status s = *values ? KUGEL_OK
                           : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld PSFs of %lld elements",
                                        (long long)psfs, (long long)count);
  for (int64_t i = 0; i < psfs && psf && !s; i++) {
    kugel_array one = w->depths ? kugel__deconv_psf_at(psf, i) : i ? *back : *psf;
    s = load_psf(ctx, w, &one, i && !w->depths ? "back" : "psf", *values + i * count);
  }
  s = kugel__comm_agree(c, s);
  return s ? s : kugel_comm_bcast(c, *values, bytes, 0);
}

/* A plan that only runs tiles, as rank 0's. */
static kugel_status make_tiles(kugel_ctx *ctx, const card *w, const kugel_deconv_opts *opts,
                               const kugel_array *psf, kugel_deconv **out)
{
  kugel_deconv *p = *out = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  *p = (kugel_deconv){.ctx = kugel__ctx_retain(ctx), .ndim = 3, .opts = *opts, .tiles = 2};
  bool wider = opts->edges == KUGEL_DECONV_UNKNOWN;
  for (int a = 0; a < 3; a++) {
    p->n[a] = w->n[a];
    p->k[a] = w->k[a];
    p->centre[a] = w->centre[a];
    p->tile[a] = w->tile[a];
    p->cut[a] = w->cut[a];
    p->object[a] = p->cut[a] + (wider ? p->k[a] - 1 : 0);
    p->first[a] = wider ? p->k[a] - 1 - p->centre[a] : 0;
  }
  p->f32 = opts->precision == KUGEL_PRECISION_F32;
  p->real = p->f32 ? 4 : 8;
  p->engine = KUGEL_VOLUME_RESIDENT;
  p->room = (uint64_t)w->memory;
  p->opts.centre = NULL;
  kugel_status s = kugel__deconv_convolutions(p, psf);
  p->opts.back = NULL; // the caller's
  p->opts.depth = NULL;
  return s;
}

/* The same on all ranks; base, psf, back, depth: rank 0's, NULL on others. */
static kugel_status make(kugel_ctx *ctx, kugel_comm *c, const kugel__order *o, const kugel_deconv *base,
                         const kugel_array *psf, const kugel_array *back, const double *depth,
                         kugel__deconv_led **out)
{
  double *values = NULL, *planes = NULL;
  card w;
  memcpy(&w, o->word, sizeof w);
  kugel_deconv_opts opts = opts_of(o, &w);
  kugel__comm_enter(c);
  kugel__deconv_led *l = *out = kugel__calloc(ctx, sizeof *l);
  kugel_status s = l ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan over %d ranks", c->size);
  if (l)
    *l = (kugel__deconv_led){.ctx = kugel__ctx_retain(ctx), .comm = c, .id = o->id, .whole = w.whole != 0};
  s = kugel__comm_agree(c, s);
  s = s ? s : share_psfs(ctx, c, &w, psf, back, &values);
  s = s ? s : kugel__volume_share_depths(ctx, c, w.depths, depth, &planes);
  double *second = values ? values + w.k[0] * w.k[1] * w.k[2] : NULL;
  kugel_array *all = w.depths ? KUGEL_ARRAY(values, KUGEL_F64, w.depths, w.k[0], w.k[1], w.k[2])
                              : KUGEL_ARRAY(values, KUGEL_F64, w.k[0], w.k[1], w.k[2]);
  opts.back = w.back ? KUGEL_ARRAY(second, KUGEL_F64, w.k[0], w.k[1], w.k[2]) : NULL;
  opts.depth = planes;
  if (base) {
    opts.callback = base->opts.callback;
    opts.user = base->opts.user;
  }
  if (!s && w.whole) {
    opts.comm = c;
    opts.engine = (kugel_volume_engine)w.engine;
    s = kugel__deconv_create(ctx, 3, w.n, w.k, all, &opts, &l->made);
  } else if (!s && !base) {
    s = make_tiles(ctx, &w, &opts, all, &l->made);
  }
  s = kugel__comm_leave(c, s);
  kugel__free(ctx, values);
  kugel__free(ctx, planes);
  if (s) {
    drop(l);
    *out = NULL;
    return s;
  }
  l->plan = l->made ? l->made : base;
  return KUGEL_OK;
}

kugel_status kugel__deconv_be_led(kugel_deconv *p, const kugel_array *psf, const kugel_array *back,
                                  const double *depth)
{
  if (p->opts.depths)
    KUGEL_TRY(kugel__deconv_check_depths(p, psf));
  else
    KUGEL_CHECK(psf && psf->ndim == p->ndim, KUGEL_ESHAPE, "psf has %d dimensions, must have %d",
                psf ? psf->ndim : 0, p->ndim);
  kugel__order o = order_of(p, back != NULL, p->share == KUGEL__DECONV_WHOLE);
  kugel_status s = kugel__lead_begin(p->ctx->leads, &o);
  s = s ? s : make(p->ctx, p->ctx->leads, &o, p, psf, back, depth, &p->led);
  kugel__lead_end();
  return s;
}

void kugel__deconv_unlead(kugel_deconv *p)
{
  if (!p->led)
    return;
  kugel__lead_drop(p->led->comm, p->led->id, drop, p->led);
  p->led = NULL;
}

/* ---- executions ---- */

// The same on all ranks.
static kugel_status run_any(run *r, kugel_deconv_info *info)
{
  kugel_comm *c = r->l->comm;
  r->table = kugel__calloc(r->l->ctx, 4 * (size_t)c->size * sizeof *r->table);
  kugel_status s =
      r->table ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a list of %d ranks", c->size);
  kugel__comm_enter(c);
  s = kugel__comm_agree(c, s);
  s = s ? s : r->l->whole ? kugel__deconv_led_whole(r, info) : kugel__deconv_led_tiles(r, info);
  s = kugel__comm_leave(c, s);
  for (int a = 0; a < ARRAYS; a++)
    kugel__free(r->l->ctx, r->mine[a]);
  kugel__free(r->l->ctx, r->messages);
  kugel__free(r->l->ctx, r->table);
  return s;
}

kugel_status kugel__deconv_led_run(const kugel_deconv *p, kugel__deconv_job *j, kugel_deconv_info *info)
{
  run r = {.l = p->led, .of = {&j->image, &j->mask, &j->start, &j->out}};
  kugel__order o = {.kind = KUGEL__LEAD_DECONV, .verb = RUN, .id = p->led->id};
  for (int a = 0; a < ARRAYS; a++)
    if (r.of[a]->data) {
      r.type[a] = r.of[a]->dtype;
      o.word[2 * a] = r.type[a].code;
      o.word[2 * a + 1] = r.type[a].bits;
    }
  kugel_status s = kugel__lead_begin(p->led->comm, &o);
  s = s ? s : run_any(&r, info);
  kugel__lead_end();
  return s;
}

/* ---- the others ---- */

static kugel_status serve_make(kugel_ctx *ctx, kugel_comm *c, const kugel__order *order, void **plan)
{
  kugel__deconv_led *l = NULL;
  kugel_status s = make(ctx, c, order, NULL, NULL, NULL, NULL, &l);
  *plan = l;
  return s;
}

static void serve_work(void *plan, const kugel__order *order)
{
  run r = {.l = plan};
  kugel_deconv_info info = {.size = sizeof info};
  for (int a = 0; a < ARRAYS; a++)
    r.type[a] = (kugel_dtype){(uint8_t)order->word[2 * a], (uint8_t)order->word[2 * a + 1], 1};
  run_any(&r, &info);
}

const kugel__lead_kind kugel__deconv_served = {
    .make = serve_make, .work = serve_work, .drop = drop, .devices = true};
