/* SPDX-License-Identifier: BSD-3-Clause */
/* The context behind kugel_ctx. */
#ifndef KUGEL_CORE_CTX_H
#define KUGEL_CORE_CTX_H

#include <pthread.h>
#include <stdatomic.h>
#include "core/base.h"

enum { KUGEL__SCRATCH_BLOCKS = 8 };

struct kugel_ctx {
  atomic_int references;
  kugel_device device;
  int threads; // 0: the process-wide number at each call
  kugel_allocator allocator;
  kugel_executor executor; // run NULL: the pool
  atomic_ullong bytes_now, bytes_peak;
  pthread_mutex_t scratch_lock;
  void *scratch[KUGEL__SCRATCH_BLOCKS];
};

/* ctx itself, or the default context for NULL; NULL only if that cannot be made. */
kugel_ctx *kugel__ctx(kugel_ctx *ctx);
/* One more reference, given back by kugel_ctx_destroy. NULL: the default context. */
kugel_ctx *kugel__ctx_retain(kugel_ctx *ctx);
/* How many workers a parallel call in this context uses. */
int kugel__ctx_threads(const kugel_ctx *ctx);

extern const kugel_allocator kugel__default_allocator;

#endif
