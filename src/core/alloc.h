/* SPDX-License-Identifier: BSD-3-Clause */
/* All memory of the library comes through a context. Blocks are aligned to 64 bytes. */
#ifndef KUGEL_CORE_ALLOC_H
#define KUGEL_CORE_ALLOC_H

#include "core/base.h"

/* NULL on failure, without a message: callers use KUGEL_ALLOC. ctx NULL: the default context. */
void *kugel__alloc(kugel_ctx *ctx, size_t bytes);
void *kugel__calloc(kugel_ctx *ctx, size_t bytes);
/* Frees what kugel__alloc gave; NULL is fine. */
void kugel__free(kugel_ctx *ctx, void *ptr);

/* Large short-lived memory: the context keeps freed blocks for the next call, which saves page faults. The
 * contents are unspecified. */
void *kugel__scratch_get(kugel_ctx *ctx, size_t bytes);
void kugel__scratch_put(kugel_ctx *ctx, void *ptr);
void kugel__scratch_trim(kugel_ctx *ctx); /* frees what is kept */

/* Allocates or returns KUGEL_ENOMEM with a sentence. For functions that own nothing yet; others test for
 * NULL. */
#define KUGEL_ALLOC(ctx, ptr, bytes)                                                                         \
  do {                                                                                                       \
    (ptr) = kugel__alloc((ctx), (size_t)(bytes));                                                            \
    KUGEL_CHECK(ptr, KUGEL_ENOMEM, "no memory for %s of %zu bytes", #ptr, (size_t)(bytes));                  \
  } while (0)

/* Fault injection for tests: the n-th allocation from now on (1 = the next) and all later ones fail; 0
 * disarms. Returns how many allocations were made since the last call. Process-wide. */
int64_t kugel__fault_alloc(int64_t n);

#endif
