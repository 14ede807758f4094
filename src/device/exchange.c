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

kugel_status kugel__peers_way(bool *can, bool *must)
{
  const char *way = getenv("KUGEL_PEERS");
  *must = way && !strcmp(way, "nccl");
  *can = !way || !*way || !strcmp(way, "auto") || *must;
  KUGEL_CHECK(*can || !strcmp(way, "copy"), KUGEL_EINVAL,
              "KUGEL_PEERS is \"%.40s\", must be auto, copy or nccl", way);
  return KUGEL_OK;
}

kugel_status kugel__peers_wait(double *seconds)
{
  const char *text = getenv("KUGEL_PEERS_WAIT");
  char *end = NULL;
  *seconds = 60;
  double given = text && *text ? strtod(text, &end) : *seconds;
  KUGEL_CHECK((!end || !*end) && given > 0 && given <= 86400, KUGEL_EINVAL,
              "KUGEL_PEERS_WAIT is \"%.40s\", must be seconds: more than 0, at most 86400", text);
  *seconds = given;
  return KUGEL_OK;
}

static kugel_status open_link(kugel_ctx *ctx, kugel__link **out)
{
  bool can, must;
  const kugel__device_ops *ops = device_of(ctx, 0)->ops;
  *out = NULL;
  KUGEL_TRY(kugel__peers_way(&can, &must));
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

/* Events reach from one device's queue to another's; else the host waits. */
static bool reach(const kugel__device *a, const kugel__device *b)
{
  return a == b || (a->ops == b->ops && a->ops->copy_peer);
}

/* What the queues have now, or after the copies: events[i] of queues[i]. */
static kugel_status record(int n, kugel_queue *const *queues, kugel__event **events)
{
  for (int i = 0; i < n; i++)
    KUGEL_TRY(queues[i]->device->ops->record(queues[i], &events[i]));
  return KUGEL_OK;
}

static kugel_status follow(kugel_queue *first, kugel__event *event, kugel_queue *then)
{
  if (first == then)
    return KUGEL_OK;
  return reach(first->device, then->device) ? then->device->ops->after(then, event)
                                            : first->device->ops->wait(first);
}

/* Copies on the queues of those that get them, which wait for the senders; these wait for the copies last, so
 * that both directions go at once. */
static kugel_status copy_all(int n, const kugel__transfer *t, kugel_queue *const *queues,
                             kugel__event *const *before)
{
  for (int i = 0; i < n; i++) {
    kugel_queue *out = queues[t[i].from], *in = queues[t[i].to];
    if (!t[i].bytes)
      continue;
    KUGEL_TRY(follow(out, before[t[i].from], in));
    KUGEL_TRY(kugel__device_fetch(out->device, t[i].src, in->device, t[i].dst, t[i].bytes, in));
  }
  return KUGEL_OK;
}

static kugel_status by_copies(kugel_ctx *ctx, int n, const kugel__transfer *t, kugel_queue *const *queues)
{
  int devices = 1 + ctx->npeers;
  kugel__event **events = kugel__calloc(NULL, 2 * (size_t)devices * sizeof *events);
  KUGEL_CHECK(events, KUGEL_ENOMEM, "no memory for an exchange of %d devices", devices);
  kugel__event **after = events + devices;
  kugel_status s = record(devices, queues, events);
  s = s ? s : copy_all(n, t, queues, events);
  s = s ? s : record(devices, queues, after);
  for (int i = 0; i < n && !s; i++)
    if (t[i].bytes)
      s = follow(queues[t[i].to], after[t[i].to], queues[t[i].from]);
  for (int i = 0; i < 2 * devices; i++)
    queues[0]->device->ops->event_free(events[i]);
  kugel__free(NULL, events);
  return s;
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
  return n ? by_copies(ctx, n, transfers, queues) : KUGEL_OK;
}
