/* SPDX-License-Identifier: BSD-3-Clause */
/* Sweeps of allocations: each one of a piece of work fails in turn. */
#ifndef KUGEL_TESTS_SWEEP_H
#define KUGEL_TESTS_SWEEP_H

#include "check.h"
#include "core/alloc.h"

/* `once` does all of the work, which frees what it made, in the default context. With all allocations it ends well; with the i-th
 * and later ones failing, for each i, it reports KUGEL_ENOMEM or needs none of them; and nothing stays allocated. */
static inline void sweep_allocations(kugel_status (*once)(void *), void *arg)
{
  uint64_t before, after;
  kugel_ctx_trim(NULL);
  kugel__fault_alloc(0);
  CHECK_OK(once(arg));
  kugel_ctx_trim(NULL);
  int64_t made = kugel__fault_alloc(0);
  kugel_ctx_memory(NULL, &before, NULL);
  for (int64_t i = 1; i <= made; i++) {
    kugel_ctx_trim(NULL);
    kugel__fault_alloc(i);
    kugel_status s = once(arg);
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_ENOMEM || s == KUGEL_OK);
    kugel_ctx_trim(NULL);
    kugel_ctx_memory(NULL, &after, NULL);
    CHECK(before == after);
  }
  CHECK(made > 5); // fewer: the work did not allocate what it should
}

#endif
