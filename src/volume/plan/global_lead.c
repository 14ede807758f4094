/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of rank 0 whose whole transform is shared among the ranks that serve (comm/lead.h): slabs of voxels, in the types of the
 * caller's arrays, go to their ranks one after another, and results come back the same way. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "volume/plan/global.h"
#include "volume/plan/order.h"

enum { DIMS = KUGEL__VOLUME_DIMS, RUN = KUGEL__LEAD_WORK };

/* Words of a RUN order. */
enum { ADJOINT, IN_CODE, IN_BITS, OUT_CODE, OUT_BITS, SHIFT };

struct kugel__global_led {
  kugel_ctx *ctx;
  kugel_comm *comm;
  int64_t id;
  kugel_volume *plan; // over all ranks
};

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

int64_t kugel__global_led_slab(const kugel_volume *p)
{
  int ranks = p->global_led->comm->size;
  return (kugel__max(p->axis[0].n, p->axis[0].m) + ranks - 1) / ranks;
}

/* ---- slabs as messages ---- */

/* What a rank needs for a run. */
typedef struct room {
  kugel_dtype in, out;
  char *mine_in, *mine_out; // own slices, [kernels of that side][slices][y][x]
  char *message;            // of any rank, on rank 0
  size_t *table;
} room;

typedef struct face { // one side of a plan
  const int64_t *cut;
  int64_t kernels, y, x;
  kugel_dtype dtype;
} face;

static face face_of(const kugel_volume *p, bool results, kugel_dtype dtype)
{
  const kugel__volume_axis *a = p->axis;
  return (face){results ? p->global->results : p->global->data, results ? p->kernels : 1,
                results ? a[1].m : a[1].n, results ? a[2].m : a[2].n, dtype};
}

static size_t slab_bytes(const face *f, int rank)
{
  return (size_t)(f->kernels * (f->cut[rank + 1] - f->cut[rank]) * f->y * f->x) * f->dtype.bits / 8;
}

static kugel_status get_room(const kugel__global_led *l, const face *in, const face *out, room *r)
{
  const kugel__volume_global *g = l->plan->global;
  size_t most = 0;
  for (int i = 0; i < g->size; i++) {
    size_t a = slab_bytes(in, i), b = slab_bytes(out, i);
    most = most > a ? most : a;
    most = most > b ? most : b;
  }
  r->mine_in = kugel__alloc(l->ctx, slab_bytes(in, g->rank) + 64);
  r->mine_out = kugel__alloc(l->ctx, slab_bytes(out, g->rank) + 64);
  r->message = g->rank ? NULL : kugel__alloc(l->ctx, most + 64);
  r->table = kugel__calloc(l->ctx, 4 * (size_t)g->size * sizeof *r->table);
  KUGEL_CHECK(r->mine_in && r->mine_out && r->table && (g->rank || r->message), KUGEL_ENOMEM,
              "no memory for %zu bytes of a rank's slices: use more ranks", most);
  return KUGEL_OK;
}

// The slab of rank `other` between rank 0's message and its own memory.
static kugel_status move(const kugel__global_led *l, const room *r, const face *f, int other, char *mine,
                         bool back)
{
  const kugel__volume_global *g = l->plan->global;
  size_t n = (size_t)g->size, *t = r->table, bytes = slab_bytes(f, other);
  memset(t, 0, 4 * n * sizeof *t);
  if (g->rank == 0)
    t[other] = bytes; // to or from there
  if (g->rank == other)
    t[2 * n] = bytes; // from or to rank 0
  kugel_exchange x = back ? (kugel_exchange){mine, t + 2 * n, t + 3 * n, r->message, t, t + n}
                          : (kugel_exchange){r->message, t, t + n, mine, t + 2 * n, t + 3 * n};
  return kugel__comm_exchange(g->comm, &x);
}

/* The same on all ranks; ends: of rank 0. */
static kugel_status run(const kugel__global_led *l, bool adjoint, int64_t shift,
                        const kugel__pencil_ends *ends, kugel_dtype in_type, kugel_dtype out_type,
                        atomic_llong *clipped)
{
  kugel_volume at = *l->plan;
  const kugel_volume *p = &at;
  at.shift = shift;
  const kugel__volume_global *g = p->global;
  face in = face_of(p, adjoint, in_type), out = face_of(p, !adjoint, out_type);
  room r = {.table = NULL};
  kugel__volume_box box;
  kugel_status s = kugel__comm_agree(l->comm, get_room(l, &in, &out, &r));
  for (int i = 0; i < g->size && !s; i++) {
    int64_t count = in.cut[i + 1] - in.cut[i];
    if (ends && count) {
      s = ends->read(ends->arg, in.cut[i], count, &box);
      kugel__volume_rows rows = {NULL, &box, (int64_t[]){count, in.y, in.x}, r.message, true};
      s = s ? s : kugel__volume_copy_rows(l->ctx, in.kernels, &rows);
    }
    s = kugel__comm_agree(l->comm, s);
    s = s ? s : move(l, &r, &in, i, r.mine_in, false);
  }
  if (!s) {
    int64_t a = kugel__global_own(g, in.cut), b = kugel__global_own(g, out.cut);
    kugel__volume_box from = {r.mine_in, in_type, {a * in.y * in.x, in.y * in.x, in.x, 1}},
                      to = {r.mine_out, out_type, {b * out.y * out.x, out.y * out.x, out.x, 1}};
    s = kugel__volume_run(p, adjoint, &from, &to, clipped);
  }
  for (int i = 0; i < g->size && !s; i++) {
    int64_t count = out.cut[i + 1] - out.cut[i];
    s = move(l, &r, &out, i, r.mine_out, true);
    if (ends && count && !s) {
      s = ends->place(ends->arg, out.cut[i], count, &box);
      kugel__volume_rows rows = {NULL, &box, (int64_t[]){count, out.y, out.x}, r.message, false};
      s = s ? s : kugel__volume_copy_rows(l->ctx, out.kernels, &rows);
      if (!s && ends->written)
        s = ends->written(ends->arg, out.cut[i], count);
    }
    s = kugel__comm_agree(l->comm, s);
  }
  kugel__free(l->ctx, r.mine_in);
  kugel__free(l->ctx, r.mine_out);
  kugel__free(l->ctx, r.message);
  kugel__free(l->ctx, r.table);
  return s;
}

kugel_status kugel__global_led_run(const kugel_volume *p, bool adjoint, const kugel__pencil_ends *ends,
                                   kugel_dtype in, kugel_dtype out, atomic_llong *clipped)
{
  kugel__global_led *l = p->global_led;
  kugel__order o = {.kind = KUGEL__LEAD_GLOBAL,
                    .verb = RUN,
                    .id = l->id,
                    .word = {[ADJOINT] = adjoint,
                             [IN_CODE] = in.code,
                             [IN_BITS] = in.bits,
                             [OUT_CODE] = out.code,
                             [OUT_BITS] = out.bits,
                             [SHIFT] = p->shift}};
  kugel_status s = kugel__lead_begin(l->comm, &o);
  kugel__comm_enter(l->comm);
  s = s ? s : run(l, adjoint, p->shift, ends, in, out, clipped);
  s = kugel__comm_leave(l->comm, s);
  kugel__lead_end();
  return s;
}

/* ---- arrays in memory of rank 0 ---- */

typedef struct arrays {
  const kugel__volume_box *in, *out;
} arrays;

static kugel_status slab_of(const kugel__volume_box *b, int64_t z, kugel__volume_box *box)
{
  *box = *b;
  box->data += z * b->step[1] * (b->dtype.bits / 8);
  return KUGEL_OK;
}

static kugel_status slab_from(void *arg, int64_t z, int64_t count, kugel__volume_box *box)
{
  (void)count;
  return slab_of(((const arrays *)arg)->in, z, box);
}

static kugel_status slab_to(void *arg, int64_t z, int64_t count, kugel__volume_box *box)
{
  (void)count;
  return slab_of(((const arrays *)arg)->out, z, box);
}

kugel_status kugel__global_led_arrays(const kugel_volume *p, bool adjoint, const kugel__volume_box *in,
                                      const kugel__volume_box *out, atomic_llong *clipped)
{
  arrays a = {.in = in, .out = out};
  kugel__pencil_ends ends = {.arg = &a, .read = slab_from, .place = slab_to};
  return kugel__global_led_run(p, adjoint, &ends, in->dtype, out->dtype, clipped);
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

static void serve_work(void *plan, const kugel__order *order)
{
  kugel__global_led *l = plan;
  const int64_t *w = order->word;
  kugel_dtype in = {(uint8_t)w[IN_CODE], (uint8_t)w[IN_BITS], 1},
              out = {(uint8_t)w[OUT_CODE], (uint8_t)w[OUT_BITS], 1};
  kugel__comm_enter(l->comm);
  kugel__comm_leave(l->comm, run(l, w[ADJOINT] != 0, w[SHIFT], NULL, in, out, NULL));
}

const kugel__lead_kind kugel__global_served = {
    .make = serve_make, .work = serve_work, .drop = drop, .devices = true};
