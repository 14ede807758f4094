/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether an open device may still be called: not after it was lost, nor in a child of the process that opened it. And
 * the fault injection point of all backends. */
#include <pthread.h>
#include "device/device.h"

static atomic_uint forks; // that this process came from since the first device was opened
static atomic_llong fault_count, fault_at;

static void count_fork(void)
{
  atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
  pthread_atfork(NULL, NULL, count_fork);
}

unsigned kugel__device_forks(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  return atomic_load_explicit(&forks, memory_order_relaxed);
}

bool kugel__device_survived(const kugel__device *dev)
{
  return dev->ops->type == KUGEL_CPU || dev->forks == atomic_load_explicit(&forks, memory_order_relaxed);
}

kugel_status kugel__device_alive(kugel__device *dev)
{
  int lost = atomic_load_explicit(&dev->lost, memory_order_relaxed);
  KUGEL_CHECK(!lost, KUGEL_EDEVICE,
              "device %s was lost (error %d of an earlier call): its contexts and plans are of no more use, "
              "destroy them and start a new process",
              dev->info.name, lost);
  KUGEL_CHECK(kugel__device_survived(dev), KUGEL_EDEVICE,
              "device %s was opened before this process was forked: open it in the child, after the fork",
              dev->info.name);
  return KUGEL_OK;
}

int64_t kugel__fault_device(int64_t n)
{
  int64_t made = atomic_exchange(&fault_count, 0);
  atomic_store(&fault_at, n);
  return made;
}

bool kugel__device_fault(void)
{
  int64_t at = atomic_load_explicit(&fault_at, memory_order_relaxed);
  int64_t count = atomic_fetch_add_explicit(&fault_count, 1, memory_order_relaxed) + 1;
  return at > 0 && count >= at;
}
