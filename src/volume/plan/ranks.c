/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles of a volume of rank 0, shared among the ranks that serve. */
#include "volume/plan/lead.h"
#include "volume/plan/plan.h"
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"

enum { DIMS = KUGEL__VOLUME_DIMS, TILES = KUGEL__LEAD_WORK };

struct kugel__volume_led {
  kugel_ctx *ctx;
  kugel_comm *comm;
  int64_t id;
  const kugel_volume *plan; // rank 0's own, or `made`
  kugel_volume *made;
};

/* A tile of a round, along each axis; counts 0: this rank has none. */
typedef struct card {
  int64_t count[DIMS], first_position[DIMS], results[DIMS];
  int64_t plane, shift; // of kernels by depth
} card;

/* Before each round, from rank 0. */
typedef struct head {
  int64_t more; // 0: there is no round
  kugel_dtype in, out;
} head;

/* What a rank needs for a run. */
typedef struct room {
  head head;
  card *cards;                  // [ranks]
  size_t *bytes;                // [8][ranks]: data sent, where, received, where; and of results
  char *data, *results;         // of this rank's tile
  char *all_data, *all_results; // on rank 0, of a round
  size_t most_data, most_results;
  kugel__volume_box *to; // [ranks] on rank 0: where results go
  int64_t shift;         // of rank 0's plan
} room;

static void drop(void *led)
{
  kugel__volume_led *l = led;
  if (!l)
    return;
  kugel_ctx *ctx = l->ctx;
  kugel_volume_destroy(l->made);
  kugel__free(ctx, l);
  kugel_ctx_destroy(ctx);
}

/* ---- making ---- */

/* The same on all ranks; base, kernel: rank 0's, NULL on others. */
static kugel_status make(kugel_ctx *ctx, kugel_comm *c, const kugel__order *o, const kugel_volume *base,
                         const kugel_array *kernel, kugel__volume_led **out)
{
  kugel__volume_kernels kernels;
  kugel__comm_enter(c);
  kugel__volume_led *l = *out = kugel__calloc(ctx, sizeof *l);
  kugel_status s = l ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan over %d ranks", c->size);
  if (l)
    *l = (kugel__volume_led){.ctx = kugel__ctx_retain(ctx), .comm = c, .id = o->id, .plan = base};
  s = kugel__volume_share_kernels(ctx, c, s, o, base, kernel, &kernels);
  if (!s && !base) {
    s = kugel__volume_order_plan(ctx, o, &kernels, KUGEL_VOLUME_TILES, NULL, &l->made);
    l->plan = l->made;
  }
  s = kugel__comm_leave(c, s);
  kugel__volume_drop_kernels(ctx, &kernels);
  if (s) {
    drop(l);
    *out = NULL;
  }
  return s;
}

kugel_status kugel__volume_be_led(kugel_volume *p, const kugel_array *kernel)
{
  kugel__order o = kugel__volume_order(p, KUGEL__LEAD_VOLUME);
  kugel_status s = kugel__lead_begin(p->ctx->leads, &o);
  s = s ? s : make(p->ctx, p->ctx->leads, &o, p, kernel, &p->led);
  kugel__lead_end();
  return s;
}

void kugel__volume_unlead(kugel_volume *p)
{
  if (!p->led)
    return;
  kugel__lead_drop(p->led->comm, p->led->id, drop, p->led);
  p->led = NULL;
}

int kugel__volume_led_under_way(const kugel_volume *p)
{
  return p->led->comm->size;
}

/* ---- tiles as messages ---- */

static int64_t voxels(const int64_t *n)
{
  return n[0] * n[1] * n[2];
}

static size_t data_bytes(const room *r, const card *c)
{
  return (size_t)voxels(c->count) * r->head.in.bits / 8;
}

// Values that were clipped come before the results.
static size_t result_bytes(const kugel_volume *p, const room *r, const card *c)
{
  return voxels(c->results) ? 8 + (size_t)(p->kernels * voxels(c->results)) * r->head.out.bits / 8 : 0;
}

/* Memory for a run, when types are known. */
static kugel_status get_room(const kugel__volume_led *l, room *r)
{
  const kugel_volume *p = l->plan;
  size_t ranks = (size_t)l->comm->size, one = 1, results = 1;
  bool root = l->comm->rank == 0;
  for (int d = 0; d < DIMS; d++) {
    one *= (size_t)(p->tile[d] + p->axis[d].k - 1);
    results *= (size_t)p->tile[d];
  }
  r->most_data = one * r->head.in.bits / 8;
  r->most_results = (8 + results * (size_t)p->kernels * r->head.out.bits / 8 + 7) / 8 * 8;
  r->bytes = kugel__calloc(p->ctx, 8 * ranks * sizeof *r->bytes);
  r->data = kugel__alloc(p->ctx, r->most_data);
  r->results = kugel__alloc(p->ctx, r->most_results);
  if (root) {
    r->all_data = kugel__alloc(p->ctx, ranks * r->most_data);
    r->all_results = kugel__alloc(p->ctx, ranks * r->most_results);
    r->to = kugel__alloc(p->ctx, ranks * sizeof *r->to);
  }
  KUGEL_CHECK(r->bytes && r->data && r->results && (!root || (r->all_data && r->all_results && r->to)),
              KUGEL_ENOMEM, "no memory for %zu bytes of a tile and its results",
              r->most_data + r->most_results);
  return KUGEL_OK;
}

static void free_room(const kugel__volume_led *l, room *r)
{
  kugel_ctx *ctx = l->ctx;
  kugel__free(ctx, r->cards);
  kugel__free(ctx, r->bytes);
  kugel__free(ctx, r->data);
  kugel__free(ctx, r->results);
  kugel__free(ctx, r->all_data);
  kugel__free(ctx, r->all_results);
  kugel__free(ctx, r->to);
}

/* ---- a round ---- */

// From rank 0 to all, or back: blocks of `most` bytes on rank 0.
static kugel_status move(const kugel__volume_led *l, const room *r, bool results)
{
  kugel_comm *c = l->comm;
  size_t ranks = (size_t)c->size, *table = r->bytes + (results ? 4 * ranks : 0),
         most = results ? r->most_results : r->most_data;
  size_t *sends = table, *send_at = table + ranks, *recvs = table + 2 * ranks, *recv_at = table + 3 * ranks;
  memset(table, 0, 4 * ranks * sizeof *table);
  const card *mine = &r->cards[c->rank];
  (results ? sends : recvs)[0] = results ? result_bytes(l->plan, r, mine) : data_bytes(r, mine);
  for (size_t i = 0; i < ranks && c->rank == 0; i++) {
    (results ? recvs : sends)[i] =
        results ? result_bytes(l->plan, r, &r->cards[i]) : data_bytes(r, &r->cards[i]);
    (results ? recv_at : send_at)[i] = i * most;
  }
  kugel_exchange x = {results ? r->results : r->all_data, sends, send_at,
                      results ? r->all_results : r->data, recvs, recv_at};
  return kugel__comm_exchange(c, &x);
}

static kugel_status convolve(const kugel__volume_led *l, const room *r)
{
  const card *c = &r->cards[l->comm->rank];
  kugel_volume at = *l->plan;
  const kugel_volume *p = &at;
  kugel__volume_reach reach[DIMS];
  atomic_llong clipped = 0;
  if (!voxels(c->results))
    return KUGEL_OK;
  for (int d = 0; d < DIMS; d++)
    reach[d] = (kugel__volume_reach){
        .results = c->results[d], .first_position = c->first_position[d], .count = c->count[d]};
  reach[0].plane = c->plane;
  at.shift = c->shift;
  kugel__volume_box in = {r->data, r->head.in, {0, c->count[1] * c->count[2], c->count[2], 1}},
                    out = {r->results + 8,
                           r->head.out,
                           {voxels(c->results), c->results[1] * c->results[2], c->results[2], 1}};
  KUGEL_TRY(kugel__volume_run_tile(p, reach, false, &in, &out, &clipped));
  int64_t bad = atomic_load(&clipped);
  memcpy(r->results, &bad, 8);
  return KUGEL_OK;
}

/* After the head was sent: true if there is a round. The same on all ranks; s: what rank 0's part came to. */
static kugel_status run_round(const kugel__volume_led *l, room *r, bool first)
{
  kugel_comm *c = l->comm;
  kugel_status s = KUGEL_OK;
  if (first && c->rank)
    s = get_room(l, r);
  if (first)
    s = kugel__comm_agree(c, s);
  s = s ? s : kugel_comm_bcast(c, r->cards, (size_t)c->size * sizeof *r->cards, 0);
  s = s ? s : move(l, r, false);
  if (!s)
    s = kugel__comm_agree(c, convolve(l, r));
  return s ? s : move(l, r, true);
}

static kugel_status start(const kugel__volume_led *l, room *r)
{
  r->cards = kugel__calloc(l->ctx, (size_t)l->comm->size * sizeof *r->cards);
  kugel_status s =
      r->cards ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a list of %d ranks", l->comm->size);
  return kugel__comm_agree(l->comm, s);
}

/* ---- rank 0 ---- */

// Tile i goes to rank `to`.
static kugel_status take_tile(const kugel__volume_led *l, room *r, const kugel__lane_work *work, int64_t i,
                              int to)
{
  kugel__lane_tile t;
  KUGEL_TRY(work->tile(work->arg, i, &t));
  r->head = (head){1, t.in.dtype, t.out.dtype};
  if (!r->data)
    KUGEL_TRY(get_room(l, r));
  card *c = &r->cards[to];
  for (int d = 0; d < DIMS; d++) {
    c->count[d] = t.reach[d].count;
    c->first_position[d] = t.reach[d].first_position;
    c->results[d] = t.reach[d].results;
  }
  c->plane = t.reach[0].plane;
  c->shift = r->shift;
  r->to[to] = t.out;
  kugel__volume_rows rows = {t.reach, &t.in, c->count, r->all_data + (size_t)to * r->most_data, true};
  return kugel__volume_copy_rows(l->ctx, 1, &rows);
}

static kugel_status give_tile(const kugel__volume_led *l, room *r, int from, atomic_llong *clipped)
{
  int64_t bad;
  const card *c = &r->cards[from];
  char *message = r->all_results + (size_t)from * r->most_results;
  memcpy(&bad, message, 8);
  if (clipped)
    atomic_fetch_add(clipped, bad);
  kugel__volume_rows rows = {NULL, &r->to[from], c->results, message + 8, false};
  return kugel__volume_copy_rows(l->ctx, l->plan->kernels, &rows);
}

static kugel_status send_head(const kugel__volume_led *l, room *r, bool more)
{
  r->head.more = more;
  return kugel_comm_bcast(l->comm, &r->head, sizeof r->head, 0);
}

static kugel_status run_rounds(const kugel__volume_led *l, room *r, const kugel__lane_work *work,
                               atomic_llong *clipped)
{
  int ranks = l->comm->size;
  for (int64_t i = 0; i < work->count; i += ranks) {
    int here = (int)kugel__min(ranks, work->count - i);
    kugel_status s = KUGEL_OK;
    memset(r->cards, 0, (size_t)ranks * sizeof *r->cards);
    for (int k = 0; k < here && !s; k++)
      s = take_tile(l, r, work, i + k, k);
    if (s) {
      kugel_status said = send_head(l, r, false);
      return said ? said : s;
    }
    KUGEL_TRY(send_head(l, r, true));
    kugel__span outer =
        kugel__progress_enter((double)i / (double)work->count, (double)(i + here) / (double)work->count);
    s = run_round(l, r, i == 0);
    kugel__progress_leave(outer);
    KUGEL_TRY(s);
    for (int k = 0; k < here && !s; k++) {
      s = give_tile(l, r, k, clipped);
      if (!s && work->done)
        s = work->done(work->arg, i + k);
    }
    if (s) {
      kugel_status said = send_head(l, r, false);
      return said ? said : s;
    }
  }
  return send_head(l, r, false);
}

kugel_status kugel__volume_led_run(const kugel_volume *p, const kugel__lane_work *work, atomic_llong *clipped)
{
  kugel__volume_led *l = p->led;
  kugel__order o = {.kind = KUGEL__LEAD_VOLUME, .verb = TILES, .id = l->id};
  room r = {.cards = NULL, .shift = p->shift};
  kugel_status s = kugel__lead_begin(l->comm, &o);
  kugel__comm_enter(l->comm);
  s = s ? s : start(l, &r);
  s = s ? s : run_rounds(l, &r, work, clipped);
  s = kugel__comm_leave(l->comm, s);
  kugel__lead_end();
  free_room(l, &r);
  return s;
}

/* ---- the others ---- */

static kugel_status serve_make(kugel_ctx *ctx, kugel_comm *c, const kugel__order *order, void **plan)
{
  kugel__volume_led *l = NULL;
  kugel_status s = make(ctx, c, order, NULL, NULL, &l);
  *plan = l;
  return s;
}

static void serve_work(void *plan, const kugel__order *order)
{
  kugel__volume_led *l = plan;
  room r = {.cards = NULL};
  (void)order;
  kugel__comm_enter(l->comm);
  kugel_status s = start(l, &r);
  for (bool first = true; !s; first = false) {
    s = kugel_comm_bcast(l->comm, &r.head, sizeof r.head, 0);
    if (s || !r.head.more)
      break;
    s = run_round(l, &r, first);
  }
  kugel__comm_leave(l->comm, s);
  free_room(l, &r);
}

const kugel__lead_kind kugel__volume_served = {.make = serve_make, .work = serve_work, .drop = drop};
