/* SPDX-License-Identifier: BSD-3-Clause */
/* Loans of arrays to a device, and its cache of buffers. */
#include <string.h>
#include "device/constants.h"
#include "device/lend.h"

/* ---- buffers kept for the next call ----------------------------------------------------------------------
 */

kugel_status kugel__device_scratch_get(kugel__device *dev, size_t bytes, void **out)
{
  kugel__kept *best = NULL;
  *out = NULL;
  pthread_mutex_lock(&dev->kept_lock);
  for (int i = 0; i < KUGEL__KEPT_BLOCKS; i++) {
    kugel__kept *k = &dev->kept[i];
    if (k->ptr && k->bytes >= bytes && k->bytes / 2 <= bytes + 65536 && (!best || k->bytes < best->bytes))
      best = k;
  }
  if (best) {
    *out = best->ptr;
    best->ptr = NULL;
  }
  pthread_mutex_unlock(&dev->kept_lock);
  return *out ? kugel__device_alive(dev) : kugel__device_alloc(dev, bytes, out);
}

void kugel__device_scratch_put(kugel__device *dev, void *ptr, size_t bytes)
{
  if (!ptr)
    return;
  kugel__kept *slot = &dev->kept[0],
              leaving = {ptr, bytes}; // an empty slot, else the smallest if smaller than this
  pthread_mutex_lock(&dev->kept_lock);
  for (int i = 0; i < KUGEL__KEPT_BLOCKS && slot->ptr; i++)
    if (!dev->kept[i].ptr || dev->kept[i].bytes < slot->bytes)
      slot = &dev->kept[i];
  if (!slot->ptr || slot->bytes < bytes) {
    leaving = *slot;
    *slot = (kugel__kept){ptr, bytes};
  }
  pthread_mutex_unlock(&dev->kept_lock);
  kugel__device_free(dev, leaving.ptr);
}

void kugel__device_trim(kugel__device *dev)
{
  kugel__kept all[KUGEL__KEPT_BLOCKS];
  pthread_mutex_lock(&dev->kept_lock);
  memcpy(all, dev->kept, sizeof all);
  memset(dev->kept, 0, sizeof dev->kept);
  pthread_mutex_unlock(&dev->kept_lock);
  for (int i = 0; i < KUGEL__KEPT_BLOCKS; i++)
    kugel__device_free(dev, all[i].ptr);
  kugel__constants_trim(dev, 0);
}

/* ---- loans ------------------------------------------------------------------------------------------------
 */

kugel_status kugel__lend(kugel__device *dev, const kugel_array *a, int use, kugel_queue *queue,
                         kugel__loan *out)
{
  *out = (kugel__loan){.device = dev, .use = use};
  out->bytes = (size_t)kugel__array_count(a) * a->dtype.bits / 8;
  if (a->device.type == dev->info.device.type) {
    KUGEL_CHECK(a->device.id == dev->info.device.id, KUGEL_EDEVICE,
                "an array is on device number %d, the context is on %s: copy it there", (int)a->device.id,
                dev->info.name);
    out->mem = (kugel__mem){a->data, a->byte_offset};
    return KUGEL_OK;
  }
  KUGEL_CHECK(a->device.type == KUGEL_CPU, KUGEL_EDEVICE,
              "an array is on device type %d, the context is on %s: copy it there", (int)a->device.type,
              dev->info.name);
  if (!out->bytes)
    return KUGEL_OK;
  out->host = kugel__array_data(a);
  KUGEL_TRY(kugel__device_scratch_get(dev, out->bytes, &out->mem.base));
  if (!(use & KUGEL__READ))
    return KUGEL_OK;
  kugel_queue *q = queue ? queue : &dev->queue;
  return kugel__device_copy(dev, KUGEL__UPLOAD, out->mem, (kugel__mem){out->host, 0}, out->bytes, q);
}

kugel_status kugel__lend_end(int n, kugel__loan *loans, kugel_queue *queue, kugel_status s)
{
  kugel__device *dev = NULL;
  for (int i = 0; i < n; i++) {
    kugel__loan *l = &loans[i];
    if (!l->mem.base || !l->host)
      continue;
    dev = l->device;
    kugel_queue *q = queue ? queue : &dev->queue;
    if (!s && l->use & KUGEL__WRITE)
      s = kugel__device_copy(dev, KUGEL__DOWNLOAD, (kugel__mem){l->host, 0}, l->mem, l->bytes, q);
  }
  if (dev) {
    kugel_status waited = dev->ops->wait(queue ? queue : &dev->queue);
    s = s ? s : waited;
  }
  for (int i = 0; i < n; i++) {
    if (loans[i].host)
      kugel__device_scratch_put(loans[i].device, loans[i].mem.base, loans[i].bytes);
    loans[i] = (kugel__loan){{NULL, 0}, NULL, NULL, 0, 0};
  }
  return s;
}
