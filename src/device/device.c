/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of backends, device strings, and open devices, which contexts share. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/environment.h"
#include "device/device.h"
#include "device/lend.h"
#include "device/peer.h"

static const kugel__device_ops *const backends[] = {
#define KUGEL_BACKEND(name) &kugel__device_##name,
#include "device/backends.def"
#undef KUGEL_BACKEND
};
enum { BACKENDS = sizeof backends / sizeof *backends };

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static kugel__device *registry; // open devices

static const kugel__device_ops *find(int32_t type)
{
  for (int b = 0; b < BACKENDS; b++)
    if (backends[b]->type == type)
      return backends[b];
  return NULL;
}

/* ---- what there is ------------------------------------------------------------------------------------- */

int kugel_device_count(void)
{
  int n = 0;
  for (int b = 0; b < BACKENDS; b++)
    n += backends[b]->count();
  return n;
}

kugel_status kugel_device_describe(int index, kugel_device_info *info)
{
  KUGEL_CHECK(info, KUGEL_EINVAL, "info is NULL: pass a kugel_device_info with its size set");
  kugel_device_info whole;
  int n = kugel_device_count(), id = index, b = 0;
  KUGEL_CHECK(index >= 0 && index < n, KUGEL_EINVAL, "device index is %d, must be 0 to %d", index, n - 1);
  while (id >= backends[b]->count())
    id -= backends[b++]->count();
  memset(&whole, 0, sizeof whole);
  whole.device = (kugel_device){backends[b]->type, id};
  KUGEL_TRY(backends[b]->describe(id, &whole));
  return kugel__give_info(info, &whole, sizeof whole, "kugel_device_info");
}

/* ---- open devices -------------------------------------------------------------------------------------- */

kugel_status kugel__device_open(int32_t type, int id, void *native, kugel__device **out)
{
  unsigned forks = kugel__device_forks();
  const kugel__device_ops *ops = find(type);
  KUGEL_CHECK(ops, KUGEL_EINVAL, "device type is %d, this build has none of that type", (int)type);
  pthread_mutex_lock(&registry_lock);
  kugel_status s = KUGEL_OK;
  kugel__device *dev = registry;
  while (dev && (dev->ops != ops || dev->id != id || dev->native != native || dev->lost ||
                 !kugel__device_survived(dev)))
    dev = dev->next;
  if (!dev && !(s = ops->open(id, native, &dev))) {
    dev->ops = ops;
    dev->id = id;
    dev->native = native;
    dev->references = 0;
    dev->forks = forks;
    dev->queue.device = dev;
    dev->trim = kugel__device_trim;
    pthread_mutex_init(&dev->kept_lock, NULL);
    pthread_mutex_init(&dev->ledger.lock, NULL);
    dev->next = registry;
    registry = dev;
  }
  if (!s)
    dev->references++;
  pthread_mutex_unlock(&registry_lock);
  *out = s ? NULL : dev;
  return s;
}

void kugel__device_close(kugel__device *dev)
{
  if (!dev)
    return;
  pthread_mutex_lock(&registry_lock);
  bool last = --dev->references == 0;
  if (last) {
    kugel__device **link = &registry;
    while (*link != dev)
      link = &(*link)->next;
    *link = dev->next;
  }
  pthread_mutex_unlock(&registry_lock);
  if (!last || !kugel__device_survived(dev))
    return;
  if (dev->modules_free)
    dev->modules_free(dev->modules);
  dev->modules = NULL;
  dev->modules_free = NULL;
  kugel__device_trim(dev);
  pthread_mutex_destroy(&dev->kept_lock);
  pthread_mutex_destroy(&dev->ledger.lock);
  kugel__free(NULL, dev->ledger.blocks);
  dev->ledger.blocks = NULL;
  dev->ops->close(dev);
}

/* ---- the device of a context --------------------------------------------------------------------------- */

static kugel__device *cpu_device;

static void open_cpu(void)
{
  (void)kugel__device_open(KUGEL_CPU, 0, NULL, &cpu_device); // a static object: cannot fail
}

kugel__device *kugel__ctx_device(kugel_ctx *ctx)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (ctx && ctx->opened)
    return ctx->opened;
  pthread_once(&once, open_cpu);
  return cpu_device;
}

/* ---- device strings ------------------------------------------------------------------------------------ */

static kugel_device auto_device(void)
{
  for (int b = 0; b < BACKENDS; b++)
    for (int id = 0; backends[b]->type != KUGEL_CPU && id < backends[b]->count(); id++) {
      kugel_device_info info = {.size = sizeof info};
      if (!backends[b]->describe(id, &info) && info.available && info.is_gpu && info.kernels)
        return (kugel_device){backends[b]->type, id};
    }
  return (kugel_device){KUGEL_CPU, 0};
}

/* The number of this process among those that a launcher started on this host. */
static long local_rank(void)
{
  static const char *const names[] = {
      "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
      "PALS_LOCAL_RANKID",          "SLURM_LOCALID",   "LOCAL_RANK"};
  long rank = -1;
  for (size_t i = 0; i < sizeof names / sizeof *names && rank < 0; i++)
    rank = kugel__env_number(names[i], 0, 1 << 20, -1);
  return rank < 0 ? 0 : rank;
}

kugel_status kugel__device_parse(const char *text, kugel_device *out)
{
  *out = (kugel_device){KUGEL_CPU, 0};
  if (!text || !strcmp(text, "cpu"))
    return *out = (kugel_device){KUGEL_CPU, 0}, KUGEL_OK;
  if (!strcmp(text, "auto"))
    return *out = auto_device(), KUGEL_OK;
  for (int b = 0; b < BACKENDS; b++) {
    size_t n = strlen(backends[b]->name);
    if (backends[b]->type == KUGEL_CPU || strncmp(text, backends[b]->name, n))
      continue;
    char *end = NULL;
    long id = text[n] == ':' && text[n + 1] >= '0' && text[n + 1] <= '9' ? strtol(text + n + 1, &end, 10) : 0;
    bool local = !strcmp(text + n, ":local");
    if (text[n] && !local && (!end || *end))
      continue;
    int count = backends[b]->count();
    if (local && count)
      id = local_rank() % count;
    KUGEL_CHECK(id < count, KUGEL_EINVAL,
                "device is \"%s\", there are %d of that kind, counted from 0; see kugel info", text, count);
    *out = (kugel_device){backends[b]->type, (int32_t)id};
    return KUGEL_OK;
  }
  return KUGEL_FAIL(KUGEL_EINVAL,
                    "device is \"%s\", must be auto, cpu, cuda:N, opencl:N, cuda:local, or several as "
                    "cuda:0,1; kugel info lists them",
                    text);
}
