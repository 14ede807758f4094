/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens wires, and chooses how they go. */
#include "wire/wire.h"
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/peer.h"

/* Whether all ranks say yes. */
static kugel_status all_of(kugel_comm *c, bool mine, bool *all)
{
  int64_t v = mine;
  KUGEL_TRY(kugel__comm_reduce(c, &v, 1, KUGEL_COMM_MIN));
  *all = v != 0;
  return KUGEL_OK;
}

/* A step that each rank has made with status *s: *done if all could. Else it is a failure if the library must be there. */
static kugel_status step_done(kugel_comm *c, kugel_status s, bool must, bool *done)
{
  if (must)
    KUGEL_TRY(kugel__comm_agree(c, s));
  return all_of(c, !s, done);
}

/* The step that all ranks have made before they wait for each other in the library. */
typedef struct vote {
  kugel_comm *comm;
  bool must, all;
  kugel_status failed; // of all ranks
} vote;

static kugel_status ready(void *arg, kugel_status s)
{
  vote *v = arg;
  v->failed = step_done(v->comm, s, v->must, &v->all);
  return v->failed ? v->failed : v->all ? KUGEL_OK : s ? s : KUGEL_ENOTSUP;
}

/* Joins the library's ranks if all can; no rank may wait there for one that cannot come. */
static kugel_status join(kugel__wire *w, bool can, bool must, double seconds)
{
  kugel_comm *c = w->comm;
  const kugel__device_ops *ops = w->device->ops;
  char name[128] = "";
  kugel_status s = KUGEL_OK;
  bool all, none_must;
  KUGEL_TRY(all_of(c, !must, &none_must));
  must = !none_must;
  KUGEL_TRY(all_of(c, can, &all));
  if (!all && !must)
    return KUGEL_OK;
  if (!ops->link_join)
    s = KUGEL_FAIL(KUGEL_ENOTSUP, "KUGEL_PEERS is nccl, which does not know %s devices", ops->name);
  else if (w->places.shared)
    s = KUGEL_FAIL(KUGEL_ENOTSUP, "KUGEL_PEERS is nccl, but two ranks share a GPU: start one rank per GPU");
  s = s ? s : ops->link_name(w->device, c->rank ? NULL : name);
  KUGEL_TRY(step_done(c, s, must, &all));
  if (!all)
    return KUGEL_OK;
  KUGEL_TRY(kugel_comm_bcast(c, name, sizeof name, 0));
  vote v = {.comm = c, .must = must};
  kugel__meeting meeting = {c->rank, c->size, seconds, ready, &v};
  s = ops->link_join(w->device, name, &meeting, &w->link);
  if (!v.all)
    return v.failed;
  kugel_status joined = step_done(c, s, must, &all);
  if ((joined || !all) && w->link) {
    w->link->failed = true;
    ops->link_close(w->link);
    w->link = NULL;
  }
  return joined;
}

static kugel_status open_wire(kugel__wire *w, kugel_status s, size_t piece)
{
  kugel_comm *c = w->comm;
  bool can = false, must = false;
  double seconds = 0;
  s = s ? s : kugel__peers_way(&can, &must);
  s = s ? s : kugel__peers_wait(&seconds);
  KUGEL_TRY(kugel__places_find(w, s));
  if (c->size == 1)
    return KUGEL_OK;
  KUGEL_TRY(join(w, can && !w->places.shared && w->device->ops->link_join, must, seconds));
  return w->link ? KUGEL_OK : kugel__comm_agree(c, kugel__staged_make(w, piece));
}

kugel_status kugel__wire_open(kugel_comm *c, kugel_ctx *ctx, size_t piece, kugel__wire **out)
{
  *out = NULL;
  kugel__wire *w = kugel__calloc(ctx, sizeof *w), none = {.comm = c};
  kugel__parcel *parcels = kugel__calloc(ctx, 2 * (size_t)c->size * sizeof *parcels);
  kugel_status s =
      w && parcels ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory to exchange with %d ranks", c->size);
  if (w)
    *w = (kugel__wire){.comm = c, .ctx = ctx, .device = kugel__ctx_device(ctx), .parcels = parcels};
  s = open_wire(w ? w : &none, s, piece);
  if (!s) {
    *out = w;
    return KUGEL_OK;
  }
  if (!w)
    kugel__free(ctx, parcels);
  kugel__wire_close(w);
  return s;
}

void kugel__wire_close(kugel__wire *w)
{
  if (!w)
    return;
  if (w->link)
    w->link->ops->link_close(w->link);
  kugel__staged_free(w);
  kugel__hops_close(w);
  kugel__free(w->ctx, w->places.rank);
  kugel__free(w->ctx, w->parcels);
  kugel__free(w->ctx, w);
}

const char *kugel__wire_name(const kugel__wire *w)
{
  return w->link ? w->link->name : w->comm->size > 1 ? "host memory" : "device";
}

void kugel__wire_break(kugel__wire *w)
{
  if (!w->link)
    return;
  w->link->failed = true;
  w->link->ops->link_close(w->link);
  w->link = NULL;
  w->broken = true;
}

kugel_status kugel__wire_settle(kugel__wire *w, kugel_status s)
{
  if (!w->link)
    return s;
  s = s && w->comm->settled ? s : kugel__comm_agree(w->comm, s);
  if (s == KUGEL_EDEVICE)
    kugel__wire_break(w);
  return s;
}

kugel_status kugel__wire_exchange(kugel__wire *w, kugel_status s, const kugel__wire_job *x,
                                  kugel_queue *queue)
{
  int own = w->comm->rank;
  if (!s && w->broken)
    s = KUGEL_FAIL(KUGEL_EDEVICE, "an earlier failure of a rank's device ended NCCL's communicator: make the "
                                  "plan again, or set KUGEL_PEERS=copy");
  KUGEL_TRY(kugel__comm_agree(w->comm, s));
  if (x->send_bytes[own]) {
    kugel__mem from = x->send, to = x->recv;
    from.offset += x->send_at[own];
    to.offset += x->recv_at[own];
    s = kugel__device_copy(w->device, KUGEL__WITHIN, to, from, x->send_bytes[own], queue);
  }
  if (w->comm->size == 1)
    return s;
  // After a failure too: the other ranks wait.
  kugel_status gone = x->hops ? kugel__hops_exchange(w, x, queue) : kugel__straight_exchange(w, x, queue);
  return s ? s : gone;
}
