/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 leads, the others serve: plans that know nothing of ranks, whose transforms are spread. A job of rank 0 is an
 * order of fixed size, broadcast; what follows is collective and agreed on as everywhere. */
#include <pthread.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/sht/dist.h"

// Rank 0's threads give one order at a time, under numbers that no two plans share.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t next_id;

/* A plan over ranks, behind a plan of rank 0. */
typedef struct kugel__led {
  kugel_ctx *ctx;
  kugel_comm *comm;
  int64_t id;
  kugel_sht *plan;
  kugel_layout *alm, *map; // whole, on rank 0
  struct kugel__led *next; // of those that a rank serves
} kugel__led;

typedef enum verb { MAKE, DROP, SYNTHESIS, ADJOINT, DISMISS } verb;

typedef struct task {
  int64_t verb, id, code;
  int64_t alm_f32, map_f32, weighted, accumulate;                   // transforms
  int64_t lmax, mmax, mode, spin, weights;                          // plans
  int64_t kind, nside, nrings, npix, npairs, max_nphi, has_weights; // their grids
} task;

static kugel_status send_task(kugel_comm *c, task *t)
{
  return kugel_comm_bcast(c, t, sizeof *t, 0);
}

/* ---- making and dropping ---- */

static void drop(kugel__led *l)
{
  if (!l)
    return;
  kugel_ctx *ctx = l->ctx;
  kugel_layout_destroy(l->alm);
  kugel_layout_destroy(l->map);
  kugel__sht_free(l->plan);
  kugel__free(ctx, l);
  kugel_ctx_destroy(ctx);
}

// Rank 0's grid to all: its tables as they are, since others would round anew.
static kugel_status share_grid(kugel_ctx *ctx, kugel_comm *c, const task *t, kugel_grid **grid)
{
  kugel_status s = KUGEL_OK;
  if (!*grid) {
    kugel_grid *g = *grid = kugel__calloc(ctx, sizeof *g);
    if (g) {
      g->references = 1;
      g->ctx = kugel__ctx_retain(ctx);
      g->kind = (kugel_grid_kind)t->kind;
      g->nside = t->nside;
      g->npix = t->npix;
      g->npairs = t->npairs;
      g->max_nphi = t->max_nphi;
      g->has_weights = t->has_weights != 0;
      s = kugel__grid_room(g, t->nrings);
    } else {
      s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a grid");
    }
  }
  s = kugel__comm_agree(c, s);
  if (s)
    return s;
  kugel_grid *g = *grid;
  void *tables[] = {g->theta, g->cth, g->sth, g->phi0, g->weight, g->nphi, g->first};
  for (size_t i = 0; i < sizeof tables / sizeof *tables && !s; i++)
    s = kugel_comm_bcast(c, tables[i], (size_t)t->nrings * 8, 0);
  return s ? s : kugel_comm_bcast(c, g->pairs, (size_t)t->npairs * sizeof *g->pairs, 0);
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
  s = s ? s : share_grid(ctx, c, t, &grid);
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
    s = s ? s : kugel_layout_whole(c, t->npix, 0, &l->map);
  }
  if (!s && t->weights) { // ring weights included
    if (base)
      memcpy(l->plan->weight_north, base->weight_north, (size_t)t->npairs * 16);
    s = kugel_comm_bcast(c, l->plan->weight_north, (size_t)t->npairs * 16, 0);
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
  pthread_mutex_lock(&lock);
  kugel_status s = send_task(p->led->comm, &t);
  s = s ? s : transform(p->led, &t, alm, map);
  pthread_mutex_unlock(&lock);
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
  kugel_comm *comm = p->ctx->leads;
  const kugel_grid *g = p->grid;
  task t = {.verb = MAKE,
            .lmax = p->lmax,
            .mmax = p->mmax,
            .mode = p->opts.mode,
            .spin = p->opts.spin,
            .weights = p->weight_north != NULL,
            .kind = g->kind,
            .nside = g->nside,
            .nrings = g->nrings,
            .npix = g->npix,
            .npairs = g->npairs,
            .max_nphi = g->max_nphi,
            .has_weights = g->has_weights};
  pthread_mutex_lock(&lock);
  t.id = next_id++;
  kugel_status s = send_task(comm, &t);
  s = s ? s : make(p->ctx, comm, &t, p, &p->led);
  pthread_mutex_unlock(&lock);
  if (!s)
    p->ops = &led_ops;
  return s;
}

void kugel__sht_unlead(kugel_sht *p)
{
  task t = {.verb = DROP, .id = p->led->id};
  pthread_mutex_lock(&lock);
  send_task(p->led->comm, &t);
  drop(p->led);
  pthread_mutex_unlock(&lock);
  p->led = NULL;
}

kugel_status kugel_sht_lead(kugel_ctx *ctx, kugel_comm *comm)
{
  KUGEL_CHECK(!comm || comm->rank == 0, KUGEL_EINVAL,
              "this is rank %d: rank 0 leads, the others call kugel_sht_serve", comm->rank);
  kugel__ctx(ctx)->leads = comm && comm->size > 1 ? comm : NULL;
  return KUGEL_OK;
}

kugel_status kugel_sht_dismiss(kugel_comm *comm, int code)
{
  KUGEL_CHECK(comm && comm->rank == 0, KUGEL_EINVAL,
              "comm is NULL, or not that of rank 0, which alone dismisses");
  task t = {.verb = DISMISS, .code = code};
  pthread_mutex_lock(&lock);
  kugel_status s = send_task(comm, &t);
  pthread_mutex_unlock(&lock);
  return s;
}

/* ---- the others ---- */

kugel_status kugel_sht_serve(kugel_ctx *ctx, kugel_comm *comm, int *code)
{
  KUGEL_CHECK(comm, KUGEL_EINVAL, "comm is NULL: make one with kugel_comm_open");
  KUGEL_CHECK(comm->rank > 0, KUGEL_EINVAL, "this is rank 0, which leads: call kugel_sht_lead");
  kugel__led *plans = NULL;
  task t = {.verb = DROP};
  kugel_status s = KUGEL_OK;
  while (!s && t.verb != DISMISS) {
    s = send_task(comm, &t); // receives it
    kugel__led *made = NULL, **at = &plans;
    while (!s && *at && (*at)->id != t.id)
      at = &(*at)->next;
    if (!s && t.verb == MAKE && !make(ctx, comm, &t, NULL, &made)) {
      made->next = plans;
      plans = made;
    } else if (!s && t.verb == DROP && *at) {
      kugel__led *gone = *at;
      *at = gone->next;
      drop(gone);
    } else if (!s && (t.verb == SYNTHESIS || t.verb == ADJOINT) && *at) {
      transform(*at, &t, NULL, NULL); // rank 0 reports
    }
  }
  while (plans) {
    kugel__led *gone = plans;
    plans = gone->next;
    drop(gone);
  }
  if (code)
    *code = (int)t.code;
  return s;
}
