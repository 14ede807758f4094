/* SPDX-License-Identifier: BSD-3-Clause */
/* Sweeps of failures on a device: calls of its driver, or allocations, of a piece of work fail. */
#ifndef KUGEL_TESTS_DEVICE_FAULTS_H
#define KUGEL_TESTS_DEVICE_FAULTS_H

#include "check.h"
#include "core/alloc.h"
#include "device/device.h"

/* All of the work; it frees what it made. */
typedef kugel_status (*sweep_work)(kugel_ctx *ctx, void *arg);

/* In one run after another the k-th call of what `arm` counts, and all later ones, fail: each k, or about `most` of them, until a
 * run has no k-th call. A failure gives a status of memory or of the driver and a sentence; memory is what it was; and
 * the work succeeds again. */
static inline void sweep__calls(kugel_ctx *ctx, int64_t (*arm)(int64_t), int64_t most, sweep_work once,
                                void *arg)
{
  const bool driver = arm == kugel__fault_device;
  uint64_t before[2], after[2];
  CHECK_OK(once(ctx, arg)); // compiles what stays compiled
  arm(0);
  CHECK_OK(once(ctx, arg));
  const int64_t made = arm(0), step = 1 + made / most;
  printf("  %lld %s, of which every %lld fails\n", (long long)made,
         driver ? "calls of the driver" : "allocations", (long long)step);
  kugel_ctx_trim(ctx);
  CHECK_OK(kugel_device_usage(ctx, &before[0], NULL));
  kugel_ctx_memory(ctx, &before[1], NULL);
  bool failed = true;
  for (int64_t k = 1; failed; k += step) {
    arm(k);
    kugel_status s = once(ctx, arg);
    failed = arm(0) >= k;
    CHECK(!s || (failed && strlen(kugel_last_error()) > 10));
    CHECK(!s || s == KUGEL_ENOMEM || (driver && (s == KUGEL_EDEVICE || s == KUGEL_ECOMPILE)));
  }
  CHECK_OK(once(ctx, arg));
  kugel_ctx_trim(ctx);
  CHECK_OK(kugel_device_usage(ctx, &after[0], NULL));
  kugel_ctx_memory(ctx, &after[1], NULL);
  CHECK(after[0] <= before[0] && after[1] <= before[1]);
}

/* most: INT64_MAX for every call. */
static inline void sweep_driver(kugel_ctx *ctx, int64_t most, sweep_work once, void *arg)
{
  sweep__calls(ctx, kugel__fault_device, most, once, arg);
}

static inline void sweep_memory(kugel_ctx *ctx, int64_t most, sweep_work once, void *arg)
{
  sweep__calls(ctx, kugel__fault_alloc, most, once, arg);
}

#endif
