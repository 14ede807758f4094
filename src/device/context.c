/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: counted bundles of device, allocator and executor. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/device.h"
#include "device/lend.h"
#include "device/peer.h"

/* ---- their devices ------------------------------------------------------------------------------------- */

/* Contexts of the devices after the first one in a list of numbers "1,2". */
static kugel_status open_peers(kugel_ctx *ctx, const char *name, const char *list)
{
  int n = 1;
  for (const char *c = list; *c; c++)
    n += *c == ',';
  ctx->peers = kugel__calloc(NULL, (size_t)n * sizeof *ctx->peers);
  ctx->links = kugel__links_create();
  KUGEL_CHECK(ctx->peers && ctx->links, KUGEL_ENOMEM, "no memory for a context of %d devices", n + 1);
  while (list) {
    char text[64];
    const char *end = strchr(list, ',');
    int length = end ? (int)(end - list) : (int)strlen(list);
    kugel_ctx_opts o = {
        .size = sizeof o, .device = text, .threads = ctx->threads, .allocator = &ctx->allocator};
    if (ctx->executor.run)
      o.executor = &ctx->executor;
    snprintf(text, sizeof text, "%s:%.*s", name, length, list);
    KUGEL_TRY(kugel_ctx_create(&o, &ctx->peers[ctx->npeers]));
    ctx->npeers++;
    list = end ? end + 1 : NULL;
  }
  return KUGEL_OK;
}

/* Opens the device that `text` names for a context under construction. */
static kugel_status open_devices(kugel_ctx *ctx, const char *text, void *native)
{
  char first[64];
  const char *list = text ? strchr(text, ',') : NULL;
  if (list && list - text < (ptrdiff_t)sizeof first) {
    snprintf(first, sizeof first, "%.*s", (int)(list - text), text);
    text = first;
    KUGEL_CHECK(!native, KUGEL_EINVAL, "native_context is set but there are several devices: leave it NULL");
  }
  KUGEL_TRY(kugel__device_parse(text, &ctx->device));
  KUGEL_CHECK(!list || (ctx->device.type != KUGEL_CPU && strchr(text, ':') && !strstr(text, ":local")),
              KUGEL_EINVAL, "device is \"%s\" and more: several devices are given as cuda:0,1 or opencl:0,1",
              text);
  KUGEL_CHECK(!native || ctx->device.type != KUGEL_CPU, KUGEL_EINVAL,
              "native_context is set but the device is \"%s\": leave it NULL", text ? text : "cpu");
  if (ctx->device.type == KUGEL_CPU)
    return KUGEL_OK;
  KUGEL_TRY(kugel__device_open(ctx->device.type, ctx->device.id, native, &ctx->opened));
  KUGEL_CHECK(!list || !ctx->opened->miscompiles, KUGEL_ENOTSUP,
              "device is \"%s\" and more: PoCL 5 may end a process that has several contexts of its devices: "
              "use one device, or install PoCL 6.0 or later",
              text);
  return list ? open_peers(ctx, ctx->opened->ops->name, list + 1) : KUGEL_OK;
}

static void close_devices(kugel_ctx *ctx)
{
  kugel__links_destroy(ctx->links);
  ctx->links = NULL;
  for (int i = 0; i < ctx->npeers; i++)
    kugel_ctx_destroy(ctx->peers[i]);
  kugel__free(NULL, ctx->peers);
  ctx->peers = NULL;
  ctx->npeers = 0;
  kugel__device_close(ctx->opened);
  ctx->opened = NULL;
}

kugel_status kugel_ctx_describe(kugel_ctx *ctx, kugel_device_info *info)
{
  KUGEL_CHECK(info, KUGEL_EINVAL, "info is NULL: pass a kugel_device_info with its size set");
  kugel_device_info whole = kugel__ctx_device(ctx)->info;
  for (int i = 0; ctx && i < ctx->npeers; i++) { // "cuda:0,1"
    size_t n = strlen(whole.name);
    snprintf(whole.name + n, sizeof whole.name - n, ",%d", (int)ctx->peers[i]->device.id);
  }
  return kugel__give_info(info, &whole, sizeof whole, "kugel_device_info");
}

/* ---- contexts ------------------------------------------------------------------------------------------ */

void kugel_ctx_trim(kugel_ctx *ctx)
{
  ctx = kugel__ctx(ctx);
  kugel__scratch_trim(ctx);
  if (ctx->opened)
    kugel__device_trim(ctx->opened);
}

// What is done when the last reference has gone.
static void close_context(kugel_ctx *ctx)
{
  kugel_ctx_trim(ctx);
  close_devices(ctx);
  pthread_mutex_destroy(&ctx->scratch_lock);
  ctx->allocator.free(ctx, sizeof *ctx, ctx->allocator.user);
}

kugel_status kugel_ctx_create(const kugel_ctx_opts *opts, kugel_ctx **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the context");
  *out = NULL;
  kugel_ctx_opts o;
  KUGEL_TRY(kugel__take_opts(&o, sizeof o, opts, "kugel_ctx_opts"));
  KUGEL_CHECK(o.threads >= 0 && o.threads <= KUGEL__MAX_THREADS, KUGEL_EINVAL,
              "threads is %d, must be 0 (default) to %d", o.threads, KUGEL__MAX_THREADS);
  KUGEL_CHECK(!o.allocator || (o.allocator->alloc && o.allocator->free), KUGEL_EINVAL,
              "allocator has a NULL function: set both alloc and free");
  KUGEL_CHECK(!o.executor || (o.executor->run && o.executor->threads >= 1), KUGEL_EINVAL,
              "executor has no run function or %d threads: set run, and threads to at least 1",
              o.executor ? o.executor->threads : 0);
  const kugel_allocator *allocator = o.allocator ? o.allocator : &kugel__default_allocator;
  kugel_ctx *ctx = allocator->alloc(sizeof *ctx, 64, allocator->user);
  KUGEL_CHECK(ctx, KUGEL_ENOMEM, "no memory for a context of %zu bytes", sizeof *ctx);
  memset(ctx, 0, sizeof *ctx);
  ctx->references = 1;
  ctx->close = close_context;
  ctx->threads = o.threads;
  ctx->allocator = *allocator;
  if (o.executor)
    ctx->executor = *o.executor;
  kugel_status s = open_devices(ctx, o.device, o.native_context);
  if (s) {
    close_devices(ctx);
    allocator->free(ctx, sizeof *ctx, allocator->user);
    return s;
  }
  pthread_mutex_init(&ctx->scratch_lock, NULL);
  *out = ctx;
  return KUGEL_OK;
}
