/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of rank 0 whose sums are shared among the ranks that serve (comm/lead.h). Those get the kernel's polynomials and the
 * grid's tables as rank 0 has them, since functions of the caller are rank 0's alone. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/grid/share.h"
#include "sphere/radial/ranks.h"

enum { RINGS = KUGEL__LEAD_WORK };

struct kugel__radial_led {
  kugel_ctx *ctx;
  kugel_comm *comm;
  int64_t id;
  const kugel_radial *plan; /* rank 0's own, or `made` */
  kugel_radial *made;
  kugel__radial_share *share; /* of the latest rings */
};

/* Words of an order of RINGS. */
enum { FIRST, END, F32, ADJOINT, KEPT };
/* And of MAKE; the grid's card comes after them. */
enum {
  KERNEL,
  SPIN,
  NPARTS,
  ORIENTED,
  NORMALISE,
  MASKED,
  METHOD,
  WANTED,
  INTERVALS,
  DEGREE,
  CHORD,
  FISHER,
  BAND,
  CARD
};
enum { RADIUS, CUT_ERROR, INTEGRAL, TOLERANCE, CUT, SCALE, NORM };
_Static_assert(CARD * 8 + sizeof(kugel__grid_card) <= sizeof(((kugel__order *)0)->word), "an order has room");

static void drop(void *led)
{
  kugel__radial_led *l = led;
  if (!l)
    return;
  kugel_ctx *ctx = l->ctx;
  kugel__radial_share_drop(l->share);
  kugel__radial_free(l->made);
  kugel__free(ctx, l);
  kugel_ctx_destroy(ctx);
}

static kugel__order order_of(const kugel_radial *p)
{
  kugel__order o = {.kind = KUGEL__LEAD_RADIAL, .verb = KUGEL__LEAD_MAKE};
  int64_t words[CARD] = {[KERNEL] = p->opts.kernel,
                         [SPIN] = p->opts.spin,
                         [NPARTS] = p->opts.nparts,
                         [ORIENTED] = p->orientation != NULL,
                         [NORMALISE] = p->opts.normalise,
                         [MASKED] = p->opts.normalise_mask,
                         [METHOD] = p->info.method,
                         [WANTED] = p->opts.method,
                         [INTERVALS] = p->poly.intervals,
                         [DEGREE] = p->poly.degree,
                         [CHORD] = p->poly.chord,
                         [FISHER] = p->fisher.n,
                         [BAND] = p->band};
  double numbers[] = {[RADIUS] = p->info.radius,
                      [CUT_ERROR] = p->info.cut_error,
                      [INTEGRAL] = p->info.integral,
                      [TOLERANCE] = p->opts.tolerance,
                      [CUT] = p->poly.cut,
                      [SCALE] = p->poly.scale,
                      [NORM] = p->norm};
  kugel__grid_card card = kugel__grid_card_of(p->grid);
  memcpy(o.word, words, sizeof words);
  memcpy(o.word + CARD, &card, sizeof card);
  memcpy(o.x, numbers, sizeof numbers);
  return o;
}

/* ---- plans of ranks that serve ---- */

static size_t coefficients(const kugel_radial *p)
{
  return (size_t)(p->poly.intervals * (p->poly.degree + 1));
}

/* The numbers of the order, and memory for the tables. */
static kugel_status start(kugel_ctx *ctx, const kugel__order *o, kugel_radial **out)
{
  const int64_t *w = o->word;
  kugel_radial *p = *out = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->memory = kugel__ctx_limit(ctx);
  p->opts = (kugel_radial_opts){.size = sizeof p->opts,
                                .kernel = (kugel_radial_kernel)w[KERNEL],
                                .spin = (int)w[SPIN],
                                .nparts = w[NPARTS],
                                .normalise = (int)w[NORMALISE],
                                .normalise_mask = (int)w[MASKED],
                                .method = (kugel_radial_method)w[WANTED],
                                .tolerance = o->x[TOLERANCE]};
  p->info = (kugel_radial_info){.size = sizeof p->info,
                                .method = (kugel_radial_method)w[METHOD],
                                .radius = o->x[RADIUS],
                                .cut_error = o->x[CUT_ERROR],
                                .integral = o->x[INTEGRAL]};
  p->band = w[BAND];
  p->norm = o->x[NORM];
  p->poly = (kugel__radial_poly){.intervals = w[INTERVALS],
                                 .degree = w[DEGREE],
                                 .chord = (int)w[CHORD],
                                 .cut = o->x[CUT],
                                 .scale = o->x[SCALE]};
  p->fisher.n = w[FISHER];
  KUGEL_ALLOC(ctx, p->poly.coef, coefficients(p) * 8);
  if (p->fisher.n) {
    KUGEL_ALLOC(ctx, p->fisher.kappa, (size_t)p->fisher.n * 16);
    p->fisher.amp = p->fisher.kappa + p->fisher.n;
  }
  return KUGEL_OK;
}

/* Rank 0's tables. parts, orientation: those of the caller's options, by ring number. */
static kugel_status share_tables(kugel_comm *c, kugel_radial *p, double *parts, double *orientation)
{
  KUGEL_TRY(kugel_comm_bcast(c, p->poly.coef, coefficients(p) * 8, 0));
  if (p->fisher.n) {
    KUGEL_TRY(kugel_comm_bcast(c, p->fisher.kappa, (size_t)p->fisher.n * 8, 0));
    KUGEL_TRY(kugel_comm_bcast(c, p->fisher.amp, (size_t)p->fisher.n * 8, 0));
  }
  if (parts)
    KUGEL_TRY(kugel_comm_bcast(c, parts, (size_t)(3 * p->opts.nparts) * 8, 0));
  return orientation ? kugel_comm_bcast(c, orientation, (size_t)p->grid->nrings * 8, 0) : KUGEL_OK;
}

/* What kugel__radial_create does after the kernel is known. */
static kugel_status finish(kugel_radial *p, double *parts, double *orientation)
{
  int64_t n = p->opts.nparts;
  p->opts.grid = p->grid;
  if (n) {
    p->opts.part_weight = parts;
    p->opts.part_distance = parts + n;
    p->opts.part_bearing = parts + 2 * n;
    p->opts.orientation = orientation;
  }
  KUGEL_TRY(kugel__radial_direct_create(p));
  p->end = kugel__radial_outputs(p);
  if (p->info.method == KUGEL_RADIAL_DIRECT)
    return KUGEL_OK;
  KUGEL_TRY(kugel__radial_spectra_create(p));
  return kugel__radial_spectra_finish(p);
}

/* The same on all ranks; base: rank 0's plan, NULL on others. */
static kugel_status make(kugel_ctx *ctx, kugel_comm *c, const kugel__order *o, kugel_radial *base,
                         kugel__radial_led **out)
{
  kugel__grid_card card;
  kugel_grid *grid = base ? kugel__grid_retain(base->grid) : NULL;
  kugel_radial *p = base;
  double *room = NULL; /* parts, then orientations */
  memcpy(&card, o->word + CARD, sizeof card);
  int64_t parts = 3 * o->word[NPARTS], orientations = o->word[ORIENTED] ? card.nrings : 0;
  kugel__comm_enter(c);
  kugel__radial_led *l = *out = kugel__calloc(ctx, sizeof *l);
  kugel_status s = l ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan over %d ranks", c->size);
  if (l)
    *l = (kugel__radial_led){.ctx = kugel__ctx_retain(ctx), .comm = c, .id = o->id, .plan = base};
  if (!s && !base) {
    s = start(ctx, o, &l->made);
    p = l->made;
  }
  if (!s && parts + orientations) {
    room = kugel__alloc(ctx, (size_t)(parts + orientations) * 8);
    s = room ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld parts", (long long)o->word[NPARTS]);
  }
  s = kugel__comm_agree(c, s);
  s = s ? s : kugel__grid_share(ctx, c, &card, &grid);
  if (!base && p && grid)
    p->grid = kugel__grid_retain(grid);
  if (!s && base && parts)
    memcpy(room, p->part, (size_t)parts * 8);
  for (int64_t i = 0; !s && base && i < orientations; i++)
    room[parts + p->ring[i].number] = p->orientation[i];
  double *orientation = orientations && room ? room + parts : NULL;
  s = s ? s : share_tables(c, p, room, orientation);
  if (!s && !base)
    s = finish(p, room, orientation);
  s = kugel__comm_leave(c, s);
  if (!s && !base)
    l->plan = p;
  kugel__free(ctx, room);
  kugel_grid_destroy(grid);
  if (s) {
    drop(l);
    *out = NULL;
  }
  return s;
}

/* ---- sums ---- */

/* The same on all ranks: io and p on rank 0, where rings lie as in p. */
static kugel_status work(kugel__radial_led *l, const kugel__order *o, const kugel_radial *p,
                         const kugel__radial_io *io)
{
  const int64_t *w = o->word;
  const kugel_radial *plan = l->plan;
  kugel_layout *whole = NULL;
  int64_t lo = w[FIRST], hi = w[END];
  kugel__comm_enter(l->comm);
  kugel__radial_share *t = l->share;
  kugel_status s = KUGEL_OK;
  if (!t || t->first != w[FIRST] || t->end != w[END]) {
    kugel__radial_share_drop(t);
    l->share = NULL;
    s = kugel__radial_share_make(plan, l->comm, w[FIRST], w[END], &l->share);
  }
  kugel__radial_pairs(plan, w[FIRST], w[END], &lo, &hi);
  s = s ? s : kugel__layout_new(plan->ctx, l->comm, plan->grid->npix, 2 * (hi - lo), &whole);
  for (int r = 0; r < l->comm->size && !s; r++)
    s = kugel__radial_lay(whole, r, plan, r ? NULL : p ? p : plan, r ? 0 : lo, r ? 0 : hi);
  s = kugel__comm_agree(l->comm, s);
  if (!s)
    s = kugel__radial_share_run(l->share, (kugel__radial_call){w[F32] != 0, w[ADJOINT] != 0, w[KEPT] != 0},
                                whole, io ? io->in : NULL, io ? io->out : NULL, p ? p->grid->npix : 0);
  kugel_layout_destroy(whole);
  return kugel__comm_leave(l->comm, s);
}

/* Also of a view of the plan. */
static kugel_status led_rings(const kugel_radial *p, const kugel__radial_io *io, int64_t first, int64_t end)
{
  kugel__radial_led *l = p->led;
  kugel__order o = {
      .kind = KUGEL__LEAD_RADIAL,
      .verb = RINGS,
      .id = l->id,
      .word = {[FIRST] = first, [END] = end, [F32] = io->f32, [ADJOINT] = io->adjoint, [KEPT] = io->kept}};
  kugel__progress_stage(0, 1, "convolution");
  kugel_status s = kugel__lead_begin(l->comm, &o);
  s = s ? s : work(l, &o, p, io);
  kugel__lead_end();
  return s;
}

kugel_status kugel__radial_be_led(kugel_radial *p)
{
  kugel__order o = order_of(p);
  kugel_status s = kugel__lead_begin(p->ctx->leads, &o);
  s = s ? s : make(p->ctx, p->ctx->leads, &o, p, &p->led);
  kugel__lead_end();
  p->led_rings = led_rings;
  return s;
}

void kugel__radial_unlead(kugel_radial *p)
{
  if (!p->led)
    return;
  kugel__lead_drop(p->led->comm, p->led->id, drop, p->led);
  p->led = NULL;
}

/* ---- the others ---- */

static kugel_status serve_make(kugel_ctx *ctx, kugel_comm *c, const kugel__order *order, void **plan)
{
  kugel__radial_led *l = NULL;
  kugel_status s = make(ctx, c, order, NULL, &l);
  *plan = l;
  return s;
}

static void serve_work(void *plan, const kugel__order *order)
{
  work(plan, order, NULL, NULL);
}

const kugel__lead_kind kugel__radial_served = {.make = serve_make, .work = serve_work, .drop = drop};
