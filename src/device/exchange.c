/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges among the devices of a context: by a link, which the backend's library for that makes of them, or
 * by copies. */
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/peer.h"

struct kugel__links {
  pthread_mutex_t lock;
  bool tried;
  kugel__link *link; /* NULL: copies */
};

struct kugel__links *kugel__links_create(void)
{
  struct kugel__links *l = kugel__calloc(NULL, sizeof *l);
  if (l)
    pthread_mutex_init(&l->lock, NULL);
  return l;
}

void kugel__links_destroy(struct kugel__links *l)
{
  if (!l)
    return;
  if (l->link)
    l->link->ops->link_close(l->link);
  pthread_mutex_destroy(&l->lock);
  kugel__free(NULL, l);
}

static kugel__device *device_of(kugel_ctx *ctx, int i)
{
  return kugel__ctx_device(i ? ctx->peers[i - 1] : ctx);
}

static kugel_status open_link(kugel_ctx *ctx, kugel__link **out)
{
  const char *way = getenv("KUGEL_PEERS");
  bool must = way && !strcmp(way, "nccl"), can = !way || !*way || !strcmp(way, "auto") || must;
  const kugel__device_ops *ops = device_of(ctx, 0)->ops;
  *out = NULL;
  KUGEL_CHECK(can || !strcmp(way, "copy"), KUGEL_EINVAL,
              "KUGEL_PEERS is \"%.40s\", must be auto, copy or nccl", way);
  if (!can)
    return KUGEL_OK;
  KUGEL_CHECK(ops->link_open || !must, KUGEL_ENOTSUP, "KUGEL_PEERS is nccl, which does not know %s devices",
              ops->name);
  if (!ops->link_open)
    return KUGEL_OK;
  kugel__device **devices;
  KUGEL_ALLOC(NULL, devices, (size_t)(1 + ctx->npeers) * sizeof *devices);
  for (int i = 0; i <= ctx->npeers; i++)
    devices[i] = device_of(ctx, i);
  kugel_status s = ops->link_open(1 + ctx->npeers, devices, out);
  kugel__free(NULL, devices);
  return must ? s : KUGEL_OK; // else copies serve
}

/* Under the lock. */
static kugel_status link_of(kugel_ctx *ctx, kugel__link **out)
{
  struct kugel__links *l = ctx->links;
  if (!l->tried)
    KUGEL_TRY(open_link(ctx, &l->link));
  l->tried = true;
  *out = l->link;
  return KUGEL_OK;
}

kugel_status kugel__devices_link(kugel_ctx *ctx, const char **name)
{
  kugel__link *link = NULL;
  if (name)
    *name = "copies";
  if (!ctx->links)
    return KUGEL_OK;
  pthread_mutex_lock(&ctx->links->lock);
  kugel_status s = link_of(ctx, &link);
  pthread_mutex_unlock(&ctx->links->lock);
  if (name && link)
    *name = link->name;
  return s;
}

/* Later work of `then` follows what `first` has now. */
static kugel_status order(kugel_queue *first, kugel_queue *then)
{
  const kugel__device_ops *ops = first->device->ops;
  kugel__event *event = NULL;
  KUGEL_TRY(ops->record(first, &event));
  kugel_status s = ops->after(then, event);
  ops->event_free(event);
  return s;
}

static kugel_status copy_one(const kugel__transfer *t, kugel_queue *out, kugel_queue *in)
{
  kugel__device *from = out->device, *to = in->device;
  bool ordered = from == to || (from->ops == to->ops && from->ops->copy_peer); // events reach across
  if (!ordered)
    KUGEL_TRY(from->ops->wait(out));
  else if (out != in)
    KUGEL_TRY(order(out, in));
  KUGEL_TRY(kugel__device_fetch(from, t->src, to, t->dst, t->bytes, in));
  return !ordered ? to->ops->wait(in) : out != in ? order(in, out) : KUGEL_OK;
}

kugel_status kugel__devices_exchange(kugel_ctx *ctx, int n, const kugel__transfer *transfers,
                                     kugel_queue *const *queues)
{
  kugel__link *link = NULL;
  struct kugel__links *l = ctx->links;
  if (l) {
    pthread_mutex_lock(&l->lock);
    kugel_status s = link_of(ctx, &link);
    if (!s && link && n)
      s = link->ops->exchange(link, n, transfers, queues);
    if (s && link) { // it may be of no more use
      link->ops->link_close(link);
      l->link = NULL;
    }
    pthread_mutex_unlock(&l->lock);
    if (s || link)
      return s;
  }
  for (int i = 0; i < n; i++)
    if (transfers[i].bytes)
      KUGEL_TRY(copy_one(&transfers[i], queues[transfers[i].from], queues[transfers[i].to]));
  return KUGEL_OK;
}
