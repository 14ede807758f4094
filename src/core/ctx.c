/* SPDX-License-Identifier: BSD-3-Clause */
/* The default context, and what the library reads of any. device/context.c makes the others. */
#include <stdlib.h>
#include <sys/mman.h>
#include "core/ctx.h"
#include "core/parallel.h"

enum { HUGE_PAGE = 1 << 21 };

static void *default_alloc(size_t bytes, size_t align, void *user)
{
  (void)user;
  if (bytes >= 4 * HUGE_PAGE)
    align = HUGE_PAGE;
  void *p = NULL;
  if (posix_memalign(&p, align, bytes))
    return NULL;
#ifdef MADV_HUGEPAGE
  if (bytes >= 4 * HUGE_PAGE) // a hint: 512 times fewer page faults
    madvise(p, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
#endif
  return p;
}

static void default_free(void *ptr, size_t bytes, void *user)
{
  (void)bytes;
  (void)user;
  free(ptr);
}

const kugel_allocator kugel__default_allocator = {default_alloc, default_free, NULL};

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

void kugel_ctx_destroy(kugel_ctx *ctx)
{
  if (ctx && atomic_fetch_sub(&ctx->references, 1) == 1 && ctx != &default_ctx)
    ctx->close(ctx);
}

int64_t kugel__ctx_limit(kugel_ctx *ctx)
{
  uint64_t set = atomic_load(&kugel__ctx(ctx)->device_memory);
  return set < INT64_MAX ? (int64_t)set : INT64_MAX;
}

kugel_status kugel_ctx_limit_memory(kugel_ctx *ctx, uint64_t bytes)
{
  KUGEL_CHECK(ctx, KUGEL_EINVAL, "ctx is NULL: make a context with kugel_ctx_create");
  atomic_store(&ctx->device_memory, bytes);
  return KUGEL_OK;
}

void kugel_ctx_memory(const kugel_ctx *ctx, uint64_t *now, uint64_t *peak)
{
  kugel_ctx *c = kugel__ctx((kugel_ctx *)ctx);
  if (now)
    *now = atomic_load(&c->bytes_now);
  if (peak)
    *peak = atomic_load(&c->bytes_peak);
}
