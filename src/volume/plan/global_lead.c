/* SPDX-License-Identifier: BSD-3-Clause */
/* Making plans of rank 0 whose whole transform is shared among the ranks that serve. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "volume/plan/lead.h"

enum { DIMS = KUGEL__VOLUME_DIMS };

static void drop(void *led)
{
  kugel__global_led *l = led;
  if (!l)
    return;
  kugel_ctx *ctx = l->ctx;
  kugel_volume_destroy(l->plan);
  kugel__free(ctx, l);
  kugel_ctx_destroy(ctx);
}

/* ---- making ---- */

static kugel_status start(kugel_ctx *ctx, kugel_comm *c, const kugel__order *o, const double *depth,
                          kugel_volume **out)
{
  kugel__volume_card card = kugel__volume_order_card(o);
  kugel_volume_opts opts = kugel__volume_order_opts(o);
  opts.engine = KUGEL_VOLUME_GLOBAL;
  opts.centre = card.centre;
  opts.depth = depth;
  opts.comm = c;
  KUGEL_TRY(kugel__volume_start(ctx, DIMS, card.n, card.k, &opts, out));
  KUGEL_TRY(kugel__volume_make_sums(*out));
  return kugel__global_shape(*out);
}

// The slices that each rank transforms, in the kernels' own order.
static kugel_status lay_out(const kugel_volume *p, kugel_layout **whole, kugel_layout **parts)
{
  const kugel__volume_global *g = p->global;
  int64_t plane = p->axis[1].k * p->axis[2].k, k = p->axis[0].k;
  KUGEL_TRY(kugel__layout_new(p->ctx, g->comm, k * plane, 1, whole));
  KUGEL_TRY(kugel__layout_new(p->ctx, g->comm, k * plane, g->size, parts));
  for (int r = 0; r < g->size; r++) {
    int64_t first = p->opts.correlate ? k - g->kernel[r + 1] : g->kernel[r];
    kugel__layout_rank(*whole, r);
    kugel__layout_rank(*parts, r);
    if (r == 0)
      kugel__layout_add(*whole, r, 0, k * plane);
    kugel__layout_add(*parts, r, first * plane, (g->kernel[r + 1] - g->kernel[r]) * plane);
  }
  return KUGEL_OK;
}

// values: of rank 0, [stored][k], doubles.
static kugel_status share_kernels(kugel_volume *p, const double *values, double *mine)
{
  const kugel__volume_global *g = p->global;
  const kugel__volume_axis *a = p->axis;
  kugel_layout *whole = NULL, *parts = NULL;
  int64_t parts_of = p->opts.complex_data ? 2 : 1, plane = a[1].k * a[2].k,
          own = kugel__global_own(g, g->kernel);
  kugel_status s = kugel__comm_agree(g->comm, lay_out(p, &whole, &parts));
  for (int q = 0; q < p->stored && !s; q++)
    s = kugel__layout_move(whole, values ? values + q * a[0].k * plane * parts_of : NULL, parts,
                           mine + q * own * plane * parts_of, 8 * (size_t)parts_of);
  kugel_layout_destroy(whole);
  kugel_layout_destroy(parts);
  if (!s && p->sums)
    s = kugel_comm_bcast(g->comm, p->sums, kugel__volume_sums(p) * 8, 0);
  if (s)
    return s;
  int64_t first = p->opts.correlate ? a[0].k - g->kernel[g->rank + 1] : g->kernel[g->rank];
  kugel__volume_box box = {
      (char *)mine, p->opts.complex_data ? KUGEL_C128 : KUGEL_F64, {own * plane, plane, a[2].k, 1}};
  box = kugel__global_kernel(p, &box, first);
  return kugel__global_create(p, &box);
}

/* With a device each: a plan that the ranks make as their own would. */
static kugel_status make_on_devices(kugel_ctx *ctx, kugel_comm *c, const kugel__order *o,
                                    const kugel_volume *base, const kugel_array *kernel,
                                    kugel__global_led **out)
{
  kugel__volume_kernels kernels;
  kugel__comm_enter(c);
  kugel__global_led *l = *out = kugel__calloc(ctx, sizeof *l);
  kugel_status s = l ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan over %d ranks", c->size);
  if (l)
    *l = (kugel__global_led){.ctx = kugel__ctx_retain(ctx), .comm = c, .id = o->id};
  if (!s && kugel__ctx(ctx)->device.type != kugel__volume_order_card(o).device)
    s = KUGEL_FAIL(KUGEL_ENOTSUP,
                   "the ranks that serve have no devices of the kind of rank 0's: give kugel_serve a "
                   "context of theirs");
  s = kugel__volume_share_kernels(ctx, c, s, o, base, kernel, &kernels);
  s = s ? s : kugel__volume_order_plan(ctx, o, &kernels, KUGEL_VOLUME_GLOBAL, c, &l->plan);
  s = kugel__comm_leave(c, s);
  kugel__volume_drop_kernels(ctx, &kernels);
  if (s) {
    drop(l);
    *out = NULL;
  }
  return s;
}

/* The same on all ranks; base, kernel: rank 0's, NULL on others. */
static kugel_status make(kugel_ctx *ctx, kugel_comm *c, const kugel__order *o, const kugel_volume *base,
                         const kugel_array *kernel, kugel__global_led **out)
{
  double *values = NULL, *mine = NULL, *depth = NULL;
  int64_t depths = kugel__volume_order_card(o).depths;
  kugel__volume_box box;
  if (kugel__volume_order_card(o).device != KUGEL_CPU)
    return make_on_devices(ctx, c, o, base, kernel, out);
  kugel__comm_enter(c);
  kugel__global_led *l = *out = kugel__calloc(ctx, sizeof *l);
  kugel_status s = l ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan over %d ranks", c->size);
  if (l)
    *l = (kugel__global_led){.ctx = kugel__ctx_retain(ctx), .comm = c, .id = o->id};
  if (depths)
    s = kugel__comm_agree(c, s);
  s = s ? s : kugel__volume_share_depths(ctx, c, depths, base ? base->depth : NULL, &depth);
  s = s ? s : start(l->ctx, c, o, depth, &l->plan);
  if (!s) {
    const kugel__volume_axis *a = l->plan->axis;
    size_t own = (size_t)(kugel__global_own(l->plan->global, l->plan->global->kernel) * a[1].k * a[2].k);
    mine = kugel__alloc(ctx, own * 16 * (size_t)l->plan->stored + 64);
    s = mine ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for slices of %d kernels", l->plan->stored);
  }
  if (base && !s) {
    s = kugel__volume_take_kernel(base, kernel, &box);
    s = s ? s : kugel__volume_copy_kernels(base, &box, &values);
    if (!s && base->sums)
      memcpy(l->plan->sums, base->sums, kugel__volume_sums(base) * 8);
  }
  s = kugel__comm_agree(c, s);
  s = s ? s : share_kernels(l->plan, values, mine);
  s = kugel__comm_leave(c, s);
  kugel__free(ctx, values);
  kugel__free(ctx, mine);
  kugel__free(ctx, depth);
  if (s) {
    drop(l);
    *out = NULL;
  }
  return s;
}

kugel_status kugel__global_be_led(kugel_volume *p, const kugel_array *kernel)
{
  kugel__order o = kugel__volume_order(p, KUGEL__LEAD_GLOBAL);
  kugel_status s = kugel__lead_begin(p->ctx->leads, &o);
  s = s ? s : make(p->ctx, p->ctx->leads, &o, p, kernel, &p->global_led);
  kugel__lead_end();
  return s;
}

void kugel__global_unlead(kugel_volume *p)
{
  if (!p->global_led)
    return;
  kugel__lead_drop(p->global_led->comm, p->global_led->id, drop, p->global_led);
  p->global_led = NULL;
}

/* ---- the others ---- */

static kugel_status serve_make(kugel_ctx *ctx, kugel_comm *c, const kugel__order *order, void **plan)
{
  kugel__global_led *l = NULL;
  bool here =
      kugel__volume_order_card(order).device == KUGEL_CPU && kugel__ctx(ctx)->device.type != KUGEL_CPU;
  kugel_status s = make(here ? NULL : ctx, c, order, NULL, NULL, &l);
  *plan = l;
  return s;
}

const kugel__lead_kind kugel__global_served = {
    .make = serve_make, .work = kugel__global_led_serve, .drop = drop, .devices = true};
