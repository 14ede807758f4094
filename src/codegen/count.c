/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process has spent on kernels. */
#include <stdatomic.h>
#include "codegen/module.h"

static atomic_llong counts[3]; // by kugel__kernels_event
static atomic_llong nanoseconds;

void kugel__kernels_count(kugel__kernels_event event, double seconds)
{
  atomic_fetch_add(&counts[event], 1);
  atomic_fetch_add(&nanoseconds, (long long)(seconds * 1e9));
}

kugel_status kugel_kernels_get_info(kugel_kernels_info *info)
{
  KUGEL_CHECK(info, KUGEL_EINVAL, "info is NULL: pass a kugel_kernels_info with its size set");
  kugel_kernels_info whole = {.size = sizeof whole,
                              .compiled = atomic_load(&counts[KUGEL__KERNELS_COMPILED]),
                              .cached = atomic_load(&counts[KUGEL__KERNELS_CACHED]),
                              .written = atomic_load(&counts[KUGEL__KERNELS_WRITTEN]),
                              .seconds = 1e-9 * (double)atomic_load(&nanoseconds)};
  return kugel__give_info(info, &whole, sizeof whole, "kugel_kernels_info");
}
