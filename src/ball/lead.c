/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of rank 0 whose transforms are shared among the ranks that serve (comm/lead.h): each field's coefficients or values go to
 * their ranks, and the result comes back. */
#include "comm/lead.h"
#include <string.h>
#include "ball/ranks.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/grid/share.h"

typedef struct kugel__ball_led {
  kugel_ctx *ctx;
  kugel_comm *comm;
  int64_t id;
  kugel_ball *plan; /* over all ranks */
  kugel_layout *coeffs, *values, *coeffs_at_root, *values_at_root;
} led;

enum { RUN = KUGEL__LEAD_WORK };

/* An order as these plans see it. */
typedef struct task {
  int64_t kind, verb, id, code;
  int64_t of, to_grid, analysis; /* RUN: kugel_ball_kind, which transform */
  int64_t lmax, mmax, n, truncation, dmax, type, engine, single, vectors, nr, ntheta, nphi, radii, sphere;
  kugel__grid_card grid;
} task;
_Static_assert(sizeof(task) <= sizeof(kugel__order), "an order has room for a task");

static kugel_status begin(kugel_comm *c, task *t)
{
  kugel__order order = {0};
  t->kind = KUGEL__LEAD_BALL;
  memcpy(&order, t, sizeof *t);
  kugel_status s = kugel__lead_begin(c, &order);
  t->id = order.id;
  return s;
}

static void drop(void *arg)
{
  led *l = arg;
  if (!l)
    return;
  kugel_ctx *ctx = l->ctx;
  kugel_layout_destroy(l->coeffs);
  kugel_layout_destroy(l->values);
  kugel_layout_destroy(l->coeffs_at_root);
  kugel_layout_destroy(l->values_at_root);
  kugel__ball_free(l->plan);
  kugel__free(ctx, l);
  kugel_ctx_destroy(ctx);
}

/* ---- making ---- */

static kugel_status make_plan(led *l, const task *t, const double *radii, const kugel_grid *sphere)
{
  kugel_ball_opts o = {.size = sizeof o,
                       .lmax = t->lmax,
                       .mmax = t->mmax ? t->mmax : KUGEL_ONLY_M0,
                       .n = t->n,
                       .truncation = (kugel_ball_truncation)t->truncation,
                       .dmax = t->dmax,
                       .type = (kugel_worland_type)t->type,
                       .engine = (kugel_worland_engine)t->engine,
                       .precision = t->single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                       .vectors = (int)t->vectors,
                       .nr = t->nr,
                       .ntheta = sphere ? 0 : t->ntheta,
                       .nphi = sphere ? 0 : t->nphi,
                       .radii = radii,
                       .sphere = sphere,
                       .comm = l->comm};
  kugel__comm_enter(l->comm);
  kugel_status s = kugel__ball_make(l->ctx, &o, false, &l->plan);
  s = s ? s : kugel_ball_layout(l->plan, KUGEL_BALL_COEFFICIENTS, &l->coeffs);
  s = s ? s : kugel_ball_layout(l->plan, KUGEL_BALL_VALUES, &l->values);
  KUGEL_TRY(kugel__comm_leave(l->comm, s));
  KUGEL_TRY(kugel_layout_whole(l->comm, l->coeffs->count, 0, &l->coeffs_at_root));
  return kugel_layout_whole(l->comm, l->values->count, 0, &l->values_at_root);
}

/* The same on all ranks; radii, sphere: rank 0's, NULL on others. */
static kugel_status make(kugel_ctx *ctx, kugel_comm *c, const task *t, const double *radii,
                         const kugel_grid *sphere, led **out)
{
  kugel_grid *grid = sphere ? kugel__grid_retain(sphere) : NULL;
  kugel__comm_enter(c);
  led *l = *out = kugel__calloc(ctx, sizeof *l);
  double *list = kugel__alloc(ctx, (size_t)t->nr * sizeof *list);
  kugel_status s =
      l && list ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan over %d ranks", c->size);
  if (l)
    *l = (led){.ctx = kugel__ctx_retain(ctx), .comm = c, .id = t->id};
  if (list && radii)
    memcpy(list, radii, (size_t)t->nr * sizeof *list);
  s = kugel__comm_agree(c, s);
  if (t->radii)
    s = s ? s : kugel_comm_bcast(c, list, (size_t)t->nr * sizeof *list, 0);
  if (t->sphere)
    s = s ? s : kugel__grid_share(ctx, c, &t->grid, &grid);
  s = kugel__comm_leave(c, s);
  s = s ? s : make_plan(l, t, t->radii ? list : NULL, grid);
  kugel__free(ctx, list);
  kugel_grid_destroy(grid);
  if (s) {
    drop(l);
    *out = NULL;
  }
  return s;
}

/* ---- a transform ---- */

static kugel_status spread(const led *l, int components, bool coeffs, bool gather, size_t bytes, char *whole,
                           char *part)
{
  const kugel_layout *parts = coeffs ? l->coeffs : l->values,
                     *root = coeffs ? l->coeffs_at_root : l->values_at_root;
  size_t of_whole = (size_t)parts->count * bytes, of_part = (size_t)parts->part[l->comm->rank] * bytes;
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < components && !s; i++) {
    char *a = whole ? whole + (size_t)i * of_whole : NULL, *b = part + (size_t)i * of_part;
    s = gather ? kugel__layout_move(parts, b, root, a, bytes) : kugel__layout_move(root, a, parts, b, bytes);
  }
  return s;
}

static kugel_status transform(const led *l, const task *t, char *coeffs, char *values)
{
  static const struct {
    kugel__ball_radial_fn radial;
    kugel__ball_sphere_fn sphere;
  } run[2][2] = {
      {{kugel_jwt_synthesis_adjoint, kugel_sht_synthesis_adjoint}, {kugel_jwt_analysis, kugel_sht_analysis}},
      {{kugel_jwt_synthesis, kugel_sht_synthesis}, {kugel_jwt_analysis_adjoint, kugel_sht_analysis_adjoint}}};
  kugel__ball_call c = {.p = l->plan,
                        .kind = (kugel_ball_kind)t->of,
                        .components = t->of == KUGEL_BALL_SCALAR ? 1 : 3,
                        .to_grid = t->to_grid != 0,
                        .analysis = t->analysis != 0,
                        .radial = run[t->to_grid][t->analysis].radial,
                        .sphere = run[t->to_grid][t->analysis].sphere};
  return kugel__ball_ranks_run(&c, KUGEL_OK, 1, coeffs, values);
}

/* One field; coeffs, values: rank 0's, NULL on others. */
static kugel_status one_field(const led *l, const task *t, char *coeffs, char *values)
{
  const kugel_ball *p = l->plan;
  int components = t->of == KUGEL_BALL_SCALAR ? 1 : 3;
  size_t pair = 2 * p->word, word = t->of == KUGEL_BALL_SPIN ? pair : p->word;
  size_t of_coeffs = (size_t)kugel__round_up(components * p->nlm * p->n * (int64_t)pair, 64);
  kugel__comm_enter(l->comm);
  char *room = kugel__scratch_get(p->ctx, of_coeffs + (size_t)(components * p->shells * p->npix) * word + 64);
  kugel_status s = room ? KUGEL_OK
                        : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for this rank's part of a field of %lld values",
                                     (long long)(p->nr * p->npix));
  char *part[2] = {room, room + of_coeffs}; /* coefficients, values */
  s = kugel__comm_agree(l->comm, s);
  s = s ? s
        : spread(l, components, t->to_grid != 0, false, t->to_grid ? pair : word,
                 t->to_grid ? coeffs : values, part[!t->to_grid]);
  s = kugel__comm_leave(l->comm, s);
  s = s ? s : transform(l, t, part[0], part[1]);
  if (!s) {
    kugel__comm_enter(l->comm);
    s = spread(l, components, !t->to_grid, true, t->to_grid ? word : pair, t->to_grid ? values : coeffs,
               part[t->to_grid]);
    s = kugel__comm_leave(l->comm, s);
  }
  kugel__scratch_put(p->ctx, room);
  return s;
}

/* ---- rank 0 ---- */

kugel_status kugel__ball_be_led(kugel_ball *p, const double *radii, const kugel_grid *sphere)
{
  const kugel_ball_opts *o = &p->opts;
  task t = {.verb = KUGEL__LEAD_MAKE,
            .lmax = p->lmax,
            .mmax = p->mmax,
            .n = p->n,
            .truncation = o->truncation,
            .dmax = o->dmax,
            .type = o->type,
            .engine = o->engine,
            .single = p->single,
            .vectors = o->vectors != 0,
            .nr = p->nr,
            .ntheta = p->ntheta,
            .nphi = p->nphi,
            .radii = radii != NULL,
            .sphere = sphere != NULL};
  if (sphere)
    t.grid = kugel__grid_card_of(sphere);
  kugel_status s = begin(p->ctx->leads, &t);
  s = s ? s : make(p->ctx, p->ctx->leads, &t, radii, sphere, &p->led);
  kugel__lead_end();
  return s;
}

void kugel__ball_unlead(kugel_ball *p)
{
  kugel__lead_drop(p->led->comm, p->led->id, drop, p->led);
  p->led = NULL;
}

kugel_status kugel__ball_led_run(const kugel__ball_call *c, int64_t batch, char *coeffs, char *values)
{
  const kugel_ball *p = c->p;
  size_t of_coeffs = (size_t)(c->components * p->nlm * p->n) * 2 * p->word,
         of_values =
             (size_t)(c->components * p->nr * p->npix) * p->word * (c->kind == KUGEL_BALL_SPIN ? 2 : 1);
  kugel_status s = KUGEL_OK;
  kugel__span outer = kugel__progress_enter(0, 1);
  for (int64_t i = 0; i < batch && !s; i++) {
    kugel__span whole = kugel__progress_enter((double)i / (double)batch, (double)(i + 1) / (double)batch);
    task t = {.verb = RUN, .id = p->led->id, .of = c->kind, .to_grid = c->to_grid, .analysis = c->analysis};
    s = begin(p->led->comm, &t);
    s = s ? s : one_field(p->led, &t, coeffs + (size_t)i * of_coeffs, values + (size_t)i * of_values);
    kugel__lead_end();
    kugel__progress_leave(whole);
  }
  kugel__progress_leave(outer);
  return s;
}

/* ---- the others ---- */

static kugel_status serve_make(kugel_ctx *ctx, kugel_comm *c, const kugel__order *order, void **plan)
{
  task t;
  led *l = NULL;
  memcpy(&t, order, sizeof t);
  kugel_status s = make(ctx, c, &t, NULL, NULL, &l);
  *plan = l;
  return s;
}

static void serve_work(void *plan, const kugel__order *order)
{
  task t;
  memcpy(&t, order, sizeof t);
  one_field(plan, &t, NULL, NULL); /* failures are rank 0's to report */
}

const kugel__lead_kind kugel__ball_served = {.make = serve_make, .work = serve_work, .drop = drop};
