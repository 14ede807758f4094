/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a device: a list under its lock. */
#include <string.h>
#include "core/alloc.h"
#include "device/constants.h"

enum { KEPT = 128 << 20, PART = 64 }; // bytes of tables without users; of the device's memory

// The table with one more user, or NULL.
static kugel__constants *claim(kugel__device *dev, const unsigned char key[16])
{
  kugel__constants *c = dev->constants;
  while (c && memcmp(c->key, key, sizeof c->key))
    c = c->next;
  if (c)
    c->users++;
  return c;
}

static kugel_status make(kugel__device *dev, kugel__constants *c, kugel__constants_fill *fill, const void *of)
{
  void *host = kugel__alloc(NULL, c->bytes);
  KUGEL_CHECK(host, KUGEL_ENOMEM, "no memory for a table of %zu bytes", c->bytes);
  kugel_status s = fill(of, host);
  if (!s)
    s = kugel__device_alloc(dev, c->bytes, &c->ptr);
  if (!s)
    s = kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){c->ptr, 0}, (kugel__mem){host, 0}, c->bytes,
                           NULL);
  kugel__free(NULL, host);
  return s;
}

static void drop(kugel__device *dev, kugel__constants *c)
{
  kugel__device_free(dev, c->ptr);
  kugel__free(NULL, c);
}

kugel_status kugel__constants_get(kugel__device *dev, const unsigned char key[16], size_t bytes,
                                  kugel__constants_fill *fill, const void *of, kugel__constants **out)
{
  pthread_mutex_lock(&dev->kept_lock);
  *out = claim(dev, key);
  pthread_mutex_unlock(&dev->kept_lock);
  if (*out)
    return kugel__device_alive(dev);
  kugel__constants *c = kugel__calloc(NULL, sizeof *c);
  KUGEL_CHECK(c, KUGEL_ENOMEM, "no memory for a table of %zu bytes", bytes);
  memcpy(c->key, key, sizeof c->key);
  c->bytes = bytes;
  kugel_status s = make(dev, c, fill, of);
  if (s) {
    drop(dev, c);
    return s;
  }
  pthread_mutex_lock(&dev->kept_lock);
  *out = claim(dev, key); // another thread may have made it meanwhile
  if (!*out) {
    c->users = 1;
    c->next = dev->constants;
    dev->constants = *out = c;
    c = NULL;
  }
  pthread_mutex_unlock(&dev->kept_lock);
  if (c)
    drop(dev, c);
  return KUGEL_OK;
}

// Takes the table without users that was used longest ago off the list, if those hold more than `keep` bytes.
static kugel__constants *take_oldest(kugel__device *dev, size_t keep)
{
  kugel__constants **oldest = NULL, *c;
  size_t unused = 0;
  for (kugel__constants **link = &dev->constants; (c = *link); link = &c->next)
    if (!c->users) {
      unused += c->bytes;
      if (!oldest || c->used < (*oldest)->used)
        oldest = link;
    }
  if (unused <= keep)
    return NULL;
  c = *oldest;
  *oldest = c->next;
  return c;
}

void kugel__constants_trim(kugel__device *dev, size_t keep)
{
  for (;;) {
    pthread_mutex_lock(&dev->kept_lock);
    kugel__constants *c = take_oldest(dev, keep);
    pthread_mutex_unlock(&dev->kept_lock);
    if (!c)
      return;
    drop(dev, c);
  }
}

void kugel__constants_put(kugel__device *dev, kugel__constants *c)
{
  if (!c)
    return;
  pthread_mutex_lock(&dev->kept_lock);
  c->users--;
  c->used = ++dev->constants_clock;
  pthread_mutex_unlock(&dev->kept_lock);
  kugel__constants_trim(dev, (size_t)kugel__min((uint64_t)KEPT, dev->info.memory / PART));
}
