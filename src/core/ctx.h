/* SPDX-License-Identifier: BSD-3-Clause */
/* The context behind kugel_ctx. */
#ifndef KUGEL_CORE_CTX_H
#define KUGEL_CORE_CTX_H

#include <pthread.h>
#include <stdatomic.h>
#include "core/base.h"

enum { KUGEL__SCRATCH_BLOCKS = 8 };

struct kugel__device;
struct kugel__links;
struct kugel_comm;

struct kugel_ctx {
  atomic_int references;
  void (*close)(kugel_ctx *ctx); // once there are none; by device/context.c, which makes contexts
  kugel_device device;
  struct kugel__device *opened; // by the device layer; NULL: the CPU
  kugel_ctx **peers;            // of the further devices of a context of several, by the device layer
  int npeers;
  struct kugel__links *links;  // how they exchange; NULL: there is one device
  struct kugel_comm *leads;    // whose other ranks serve the plans of this context (comm/lead.h); NULL: none
  atomic_ullong device_memory; // bytes that a plan may allocate; 0: what is free
  int threads;                 // 0: the process-wide number at each call
  kugel_allocator allocator;
  kugel_executor executor; // run NULL: the pool
  atomic_ullong bytes_now, bytes_peak;
  pthread_mutex_t scratch_lock;
  void *scratch[KUGEL__SCRATCH_BLOCKS];
};

/* ctx itself, or the default context for NULL; never NULL. */
kugel_ctx *kugel__ctx(kugel_ctx *ctx);
/* One more reference, given back by kugel_ctx_destroy. NULL: the default context. */
kugel_ctx *kugel__ctx_retain(kugel_ctx *ctx);
/* The limit of kugel_ctx_limit_memory in bytes; 0: none. */
int64_t kugel__ctx_limit(kugel_ctx *ctx);
/* How many workers a parallel call in this context uses. */
int kugel__ctx_threads(const kugel_ctx *ctx);

extern const kugel_allocator kugel__default_allocator;

#endif
