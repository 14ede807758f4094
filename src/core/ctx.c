/* SPDX-License-Identifier: BSD-3-Clause */
/* Contexts: counted bundles of device, allocator and executor. */
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"

static kugel_ctx default_ctx; // never freed
static pthread_once_t default_once = PTHREAD_ONCE_INIT;

static void make_default(void)
{
  default_ctx.references = 1;
  default_ctx.device = (kugel_device){KUGEL_CPU, 0};
  default_ctx.allocator = kugel__default_allocator;
  pthread_mutex_init(&default_ctx.scratch_lock, NULL);
}

kugel_ctx *kugel__ctx(kugel_ctx *ctx)
{
  if (ctx)
    return ctx;
  pthread_once(&default_once, make_default);
  return &default_ctx;
}

kugel_ctx *kugel__ctx_retain(kugel_ctx *ctx)
{
  ctx = kugel__ctx(ctx);
  atomic_fetch_add(&ctx->references, 1);
  return ctx;
}

int kugel__ctx_threads(const kugel_ctx *ctx)
{
  ctx = kugel__ctx((kugel_ctx *)ctx);
  if (ctx->executor.run)
    return ctx->threads ? (int)kugel__min(ctx->threads, ctx->executor.threads) : ctx->executor.threads;
  return ctx->threads ? ctx->threads : kugel_get_num_threads();
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
  ctx->threads = o.threads;
  ctx->allocator = *allocator;
  if (o.executor)
    ctx->executor = *o.executor;
  kugel_status s = kugel__ctx_open_device(ctx, o.device, o.native_context);
  if (s) {
    kugel__ctx_close_device(ctx);
    allocator->free(ctx, sizeof *ctx, allocator->user);
    return s;
  }
  pthread_mutex_init(&ctx->scratch_lock, NULL);
  *out = ctx;
  return KUGEL_OK;
}

void kugel_ctx_destroy(kugel_ctx *ctx)
{
  if (!ctx || atomic_fetch_sub(&ctx->references, 1) > 1 || ctx == &default_ctx)
    return;
  kugel_ctx_trim(ctx);
  kugel__ctx_close_device(ctx);
  pthread_mutex_destroy(&ctx->scratch_lock);
  ctx->allocator.free(ctx, sizeof *ctx, ctx->allocator.user);
}

void kugel_ctx_memory(const kugel_ctx *ctx, uint64_t *now, uint64_t *peak)
{
  kugel_ctx *c = kugel__ctx((kugel_ctx *)ctx);
  if (now)
    *now = atomic_load(&c->bytes_now);
  if (peak)
    *peak = atomic_load(&c->bytes_peak);
}
