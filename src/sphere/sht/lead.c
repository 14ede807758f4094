/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of rank 0 whose transforms are spread over the ranks that serve (comm/lead.h). */
#include <string.h>
#include "comm/lead.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/grid/share.h"
#include "sphere/sht/dist.h"
#include "sphere/sht/gpu.h"

/* A plan over ranks, behind a plan of rank 0. */
typedef struct kugel__led {
  kugel_ctx *ctx;
  kugel_comm *comm;
  int64_t id;
  kugel_sht *plan;
  kugel_layout *alm, *map; // whole, on rank 0
} kugel__led;

enum { SYNTHESIS = KUGEL__LEAD_WORK, ADJOINT };

/* An order as these plans see it. */
typedef struct task {
  int64_t kind, verb, id, code;
  int64_t alm_f32, map_f32, weighted, accumulate; // transforms
  int64_t lmax, mmax, mode, spin, weights;        // plans
  int64_t device;                                 // the type of the ranks' devices
  kugel__grid_card grid;
} task;
_Static_assert(sizeof(task) <= sizeof(kugel__order), "an order has room for a task");

static kugel_status begin(kugel_comm *c, task *t)
{
  kugel__order order = {0};
  t->kind = KUGEL__LEAD_SHT;
  memcpy(&order, t, sizeof *t);
  kugel_status s = kugel__lead_begin(c, &order);
  t->id = order.id;
  return s;
}

/* ---- making and dropping ---- */

static void drop(void *led)
{
  kugel__led *l = led;
  if (!l)
    return;
  kugel_ctx *ctx = l->ctx;
  kugel_layout_destroy(l->alm);
  kugel_layout_destroy(l->map);
  kugel__sht_free(l->plan);
  kugel__free(ctx, l);
  kugel_ctx_destroy(ctx);
}

// Every rank has a device of the kind.
static kugel_status compare_devices(kugel_comm *c, bool fits)
{
  int64_t all = fits;
  KUGEL_TRY(kugel__comm_reduce(c, &all, 1, KUGEL_COMM_MIN));
  if (all)
    return KUGEL_OK;
  kugel_status s =
      KUGEL_FAIL(KUGEL_ENOTSUP, "the ranks that serve have no devices of the kind of rank 0's: give "
                                "kugel_serve a context of one");
  kugel__comm_settle(c);
  return s;
}

// The same on all ranks; base: rank 0's plan, NULL on others.
static kugel_status make(kugel_ctx *ctx, kugel_comm *c, const task *t, const kugel_sht *base,
                         kugel__led **out)
{
  kugel_grid *grid = base ? kugel__grid_retain(base->grid) : NULL;
  kugel__comm_enter(c);
  kugel__led *l = *out = kugel__calloc(ctx, sizeof *l);
  kugel_status s = l ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan over %d ranks", c->size);
  if (l)
    *l = (kugel__led){.ctx = kugel__ctx_retain(ctx), .comm = c, .id = t->id};
  s = kugel__comm_agree(c, s);
  s = s ? s : compare_devices(c, kugel__ctx(ctx)->device.type == t->device);
  s = s ? s : kugel__grid_share(ctx, c, &t->grid, &grid);
  s = kugel__comm_leave(c, s);
  if (!s) { // each of these is collective and agreed on by itself
    kugel_sht_opts o = {.size = sizeof o,
                        .grid = grid,
                        .lmax = t->lmax,
                        .mmax = t->mmax ? t->mmax : KUGEL_ONLY_M0,
                        .mode = (kugel_sht_mode)t->mode,
                        .spin = (int)t->spin,
                        .bad_pixels = KUGEL_BAD_PASS,
                        .comm = c};
    s = kugel__sht_make(ctx, &o, &l->plan);
    s = s ? s : kugel_layout_whole(c, kugel_layout_count(l->plan->dist->alm, KUGEL_EVERY_RANK), 0, &l->alm);
    s = s ? s : kugel_layout_whole(c, t->grid.npix, 0, &l->map);
  }
  if (!s && t->weights) { // ring weights included
    if (base)
      memcpy(l->plan->weight_north, base->weight_north, (size_t)t->grid.npairs * 16);
    s = kugel_comm_bcast(c, l->plan->weight_north, (size_t)t->grid.npairs * 16, 0);
    if (l->plan->gpu)
      s = kugel_comm_agree(c, s ? s : kugel__sht_gpu_weights(l->plan));
  }
  kugel_grid_destroy(grid);
  if (s) {
    drop(l);
    *out = NULL;
  }
  return s;
}

/* ---- transforms ---- */

static size_t element(const task *t, bool alm)
{
  return alm ? (t->alm_f32 ? 8 : 16) : (t->map_f32 ? 4 : 8);
}

// All sets between rank 0 and the parts; whole: NULL pointers on other ranks.
static kugel_status spread(const kugel__led *l, const task *t, bool alm, bool gather, void *const *whole,
                           void *const *part)
{
  const kugel__dist *d = l->plan->dist;
  const kugel_layout *at_root = alm ? l->alm : l->map, *parts = alm ? d->alm : d->map;
  kugel_status s = KUGEL_OK;
  for (int c = 0; c < (alm ? l->plan->n_alm : l->plan->n_map) && !s; c++)
    s = gather ? kugel__layout_move(parts, part[c], at_root, whole[c], element(t, alm))
               : kugel__layout_move(at_root, whole[c], parts, part[c], element(t, alm));
  return s;
}

static kugel_status transform(const kugel__led *l, const task *t, const kugel__alms *alm,
                              const kugel__maps *map)
{
  kugel_sht *p = l->plan;
  static void *const nothing[KUGEL__MAX_SETS];
  void *const *whole_alm = alm ? alm->data : nothing, *const *whole_map = map ? map->data : nothing;
  size_t one_alm = (size_t)kugel__round_up(p->nalm * (int64_t)element(t, true), 64);
  size_t one_map = (size_t)kugel__round_up(p->npix * (int64_t)element(t, false), 64);
  kugel__alms a = {.f32 = t->alm_f32 != 0};
  kugel__maps f = {.f32 = t->map_f32 != 0};
  kugel__comm_enter(l->comm);
  char *room = kugel__scratch_get(p->ctx, (size_t)p->n_alm * one_alm + (size_t)p->n_map * one_map + 64);
  kugel_status s = room ? KUGEL_OK
                        : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for this rank's part of %d maps of %lld pixels",
                                     p->n_map, (long long)p->npix);
  for (int c = 0; c < p->n_alm && room; c++)
    a.data[c] = room + (size_t)c * one_alm;
  for (int c = 0; c < p->n_map && room; c++)
    f.data[c] = room + (size_t)p->n_alm * one_alm + (size_t)c * one_map;
  s = kugel__comm_agree(l->comm, s);
  bool synthesis = t->verb == SYNTHESIS;
  if (synthesis || t->accumulate)
    s = s ? s : spread(l, t, true, false, whole_alm, a.data);
  if (!synthesis)
    s = s ? s : spread(l, t, false, false, whole_map, f.data);
  if (!s)
    s = synthesis ? p->ops->synthesis(p, &a, &f)
                  : p->ops->adjoint(p, &f, t->weighted != 0, &a, t->accumulate != 0);
  s = s ? s : spread(l, t, !synthesis, true, synthesis ? whole_map : whole_alm, synthesis ? f.data : a.data);
  kugel__scratch_put(p->ctx, room);
  return kugel__comm_leave(l->comm, s);
}

/* ---- rank 0 ---- */

static kugel_status led(const kugel_sht *p, task t, const kugel__alms *alm, const kugel__maps *map)
{
  t.id = p->led->id;
  t.alm_f32 = alm->f32;
  t.map_f32 = map->f32;
  kugel_status s = begin(p->led->comm, &t);
  s = s ? s : transform(p->led, &t, alm, map);
  kugel__lead_end();
  return s;
}

static kugel_status synthesis(const kugel_sht *p, const kugel__alms *alm, const kugel__maps *map)
{
  return led(p, (task){.verb = SYNTHESIS}, alm, map);
}

static kugel_status adjoint(const kugel_sht *p, const kugel__maps *map, bool weighted, const kugel__alms *alm,
                            bool accumulate)
{
  return led(p, (task){.verb = ADJOINT, .weighted = weighted, .accumulate = accumulate}, alm, map);
}

static const kugel__sht_ops led_ops = {.synthesis = synthesis, .adjoint = adjoint};

kugel_status kugel__sht_be_led(kugel_sht *p)
{
  task t = {.verb = KUGEL__LEAD_MAKE,
            .lmax = p->lmax,
            .mmax = p->mmax,
            .mode = p->opts.mode,
            .spin = p->opts.spin,
            .weights = p->weight_north != NULL,
            .device = p->ctx->device.type,
            .grid = kugel__grid_card_of(p->grid)};
  kugel_status s = begin(p->ctx->leads, &t);
  s = s ? s : make(p->ctx, p->ctx->leads, &t, p, &p->led);
  kugel__lead_end();
  if (!s)
    p->ops = &led_ops;
  return s;
}

void kugel__sht_unlead(kugel_sht *p)
{
  kugel__lead_drop(p->led->comm, p->led->id, drop, p->led);
  p->led = NULL;
}

/* ---- the others ---- */

static kugel_status serve_make(kugel_ctx *ctx, kugel_comm *c, const kugel__order *order, void **plan)
{
  task t;
  kugel__led *l = NULL;
  memcpy(&t, order, sizeof t);
  if (t.device == KUGEL_CPU && kugel__ctx(ctx)->device.type != KUGEL_CPU)
    ctx = NULL; // a plan of another of rank 0's contexts
  kugel_status s = make(ctx, c, &t, NULL, &l);
  *plan = l;
  return s;
}

static void serve_work(void *plan, const kugel__order *order)
{
  task t;
  memcpy(&t, order, sizeof t);
  transform(plan, &t, NULL, NULL);
}

const kugel__lead_kind kugel__sht_served = {
    .make = serve_make, .work = serve_work, .drop = drop, .devices = true};
