/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation through the context's hooks, byte counts, the scratch cache and the fault-injection point.
 * Each block has a 64-byte header before it that holds its size. */
#include <stdatomic.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"

enum { HEADER = 64 };

static atomic_llong fault_count, fault_at;

int64_t kugel__fault_alloc(int64_t n)
{
  int64_t made = atomic_exchange(&fault_count, 0);
  atomic_store(&fault_at, n);
  return made;
}

static bool fault(void)
{
  int64_t at = atomic_load_explicit(&fault_at, memory_order_relaxed);
  int64_t count = atomic_fetch_add_explicit(&fault_count, 1, memory_order_relaxed) + 1;
  return at > 0 && count >= at;
}

void *kugel__alloc(kugel_ctx *ctx, size_t bytes)
{
  ctx = kugel__ctx(ctx);
  if (bytes > (size_t)1 << 60 || fault())
    return NULL;
  size_t total = (bytes + HEADER + 63) / 64 * 64;
  char *p = ctx->allocator.alloc(total, 64, ctx->allocator.user);
  if (!p)
    return NULL;
  memcpy(p, &total, sizeof total);
  unsigned long long now = atomic_fetch_add(&ctx->bytes_now, total) + total,
                     peak = atomic_load(&ctx->bytes_peak);
  while (now > peak && !atomic_compare_exchange_weak(&ctx->bytes_peak, &peak, now))
    ;
  return p + HEADER;
}

void *kugel__calloc(kugel_ctx *ctx, size_t bytes)
{
  void *p = kugel__alloc(ctx, bytes);
  if (p)
    memset(p, 0, bytes);
  return p;
}

static size_t block_size(const void *ptr)
{
  size_t total;
  memcpy(&total, (const char *)ptr - HEADER, sizeof total);
  return total;
}

void kugel__free(kugel_ctx *ctx, void *ptr)
{
  if (!ptr)
    return;
  ctx = kugel__ctx(ctx);
  size_t total = block_size(ptr);
  atomic_fetch_sub(&ctx->bytes_now, total);
  ctx->allocator.free((char *)ptr - HEADER, total, ctx->allocator.user);
}

void *kugel__scratch_get(kugel_ctx *ctx, size_t bytes)
{
  ctx = kugel__ctx(ctx);
  void *found = NULL;
  pthread_mutex_lock(&ctx->scratch_lock);
  int best = -1;
  for (int i = 0; i < KUGEL__SCRATCH_BLOCKS; i++) {
    size_t have = ctx->scratch[i] ? block_size(ctx->scratch[i]) - HEADER : 0;
    if (ctx->scratch[i] && have >= bytes && have <= 2 * bytes + 65536 &&
        (best < 0 || have < block_size(ctx->scratch[best]) - HEADER))
      best = i;
  }
  if (best >= 0) {
    found = ctx->scratch[best];
    ctx->scratch[best] = NULL;
  }
  pthread_mutex_unlock(&ctx->scratch_lock);
  if (found)
    return fault() ? (kugel__scratch_put(ctx, found), NULL) : found;
  return kugel__alloc(ctx, bytes);
}

void kugel__scratch_put(kugel_ctx *ctx, void *ptr)
{
  if (!ptr)
    return;
  ctx = kugel__ctx(ctx);
  pthread_mutex_lock(&ctx->scratch_lock);
  int slot = -1; // an empty slot, else the smallest block if it is smaller than this one
  for (int i = 0; i < KUGEL__SCRATCH_BLOCKS; i++) {
    if (!ctx->scratch[i]) {
      slot = i;
      break;
    }
    if (block_size(ctx->scratch[i]) < block_size(ptr) &&
        (slot < 0 || block_size(ctx->scratch[i]) < block_size(ctx->scratch[slot])))
      slot = i;
  }
  void *evicted = ptr;
  if (slot >= 0) {
    evicted = ctx->scratch[slot];
    ctx->scratch[slot] = ptr;
  }
  pthread_mutex_unlock(&ctx->scratch_lock);
  kugel__free(ctx, evicted);
}

void kugel__scratch_trim(kugel_ctx *ctx)
{
  ctx = kugel__ctx(ctx);
  pthread_mutex_lock(&ctx->scratch_lock);
  for (int i = 0; i < KUGEL__SCRATCH_BLOCKS; i++) {
    kugel__free(ctx, ctx->scratch[i]);
    ctx->scratch[i] = NULL;
  }
  pthread_mutex_unlock(&ctx->scratch_lock);
}
