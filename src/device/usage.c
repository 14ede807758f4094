/* SPDX-License-Identifier: BSD-3-Clause */
/* The ledger of a device's memory: a table of blocks, for drivers do not tell the size of what is freed. */
#include <string.h>
#include "core/alloc.h"
#include "device/usage.h"

static kugel_status grow(kugel__ledger *l)
{
  int room = l->room ? 2 * l->room : 64;
  kugel__kept *more = kugel__alloc(NULL, (size_t)room * sizeof *more);
  KUGEL_CHECK(more, KUGEL_ENOMEM, "no memory for a list of %d device buffers", room);
  if (l->count)
    memcpy(more, l->blocks, (size_t)l->count * sizeof *more);
  kugel__free(NULL, l->blocks);
  l->blocks = more;
  l->room = room;
  return KUGEL_OK;
}

kugel_status kugel__usage_add(kugel__device *dev, const void *ptr, size_t bytes)
{
  kugel__ledger *l = &dev->ledger;
  pthread_mutex_lock(&l->lock);
  kugel_status s = l->count < l->room ? KUGEL_OK : grow(l);
  if (!s) {
    l->blocks[l->count++] = (kugel__kept){(void *)(uintptr_t)ptr, bytes};
    l->now += bytes;
    l->peak = l->now > l->peak ? l->now : l->peak;
  }
  pthread_mutex_unlock(&l->lock);
  return s;
}

static int find(const kugel__ledger *l, const void *ptr)
{
  int i = l->count - 1; // the latest is most often the one
  while (i >= 0 && l->blocks[i].ptr != ptr)
    i--;
  return i;
}

void kugel__usage_remove(kugel__device *dev, const void *ptr)
{
  kugel__ledger *l = &dev->ledger;
  pthread_mutex_lock(&l->lock);
  int i = find(l, ptr);
  if (i >= 0) {
    l->now -= l->blocks[i].bytes;
    l->blocks[i] = l->blocks[--l->count];
  }
  pthread_mutex_unlock(&l->lock);
}

size_t kugel__usage_bytes(kugel__device *dev, const void *ptr)
{
  kugel__ledger *l = &dev->ledger;
  pthread_mutex_lock(&l->lock);
  int i = find(l, ptr);
  size_t bytes = i >= 0 ? l->blocks[i].bytes : 0;
  pthread_mutex_unlock(&l->lock);
  return bytes;
}

void kugel__usage(kugel__device *dev, uint64_t *now, uint64_t *peak)
{
  pthread_mutex_lock(&dev->ledger.lock);
  if (now)
    *now = dev->ledger.now;
  if (peak)
    *peak = dev->ledger.peak;
  pthread_mutex_unlock(&dev->ledger.lock);
}
