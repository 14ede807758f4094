/* SPDX-License-Identifier: BSD-3-Clause */
/* The struct of a plan that holds its context. */
#ifndef KUGEL_CORE_PLAN_H
#define KUGEL_CORE_PLAN_H

#include "core/alloc.h"
#include "core/base.h"
#include "core/ctx.h"

/* Zeroed bytes of the context, which is retained as *held (ctx, or the default one). NULL: the error is set, and the context not held. */
static inline void *kugel__plan_alloc(kugel_ctx *ctx, size_t bytes, kugel_ctx **held)
{
  *held = kugel__ctx_retain(ctx);
  void *plan = kugel__calloc(*held, bytes);
  if (!plan) {
    kugel_ctx_destroy(*held);
    (void)KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan of %zu bytes", bytes);
  }
  return plan;
}

#endif
