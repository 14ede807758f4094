/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry of devices, device strings, and open devices shared by contexts. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
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
static atomic_llong fault_count, fault_at;
static atomic_uint forks; // that this process came from since the first device was opened

const kugel__device_ops *kugel__device_find(int32_t type)
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

static kugel_status give_info(const kugel_device_info *whole, kugel_device_info *info)
{
  size_t size = info->size < sizeof *whole ? info->size : sizeof *whole;
  size_t told = info->size;
  memcpy(info, whole, size);
  info->size = told;
  return KUGEL_OK;
}

kugel_status kugel_device_describe(int index, kugel_device_info *info)
{
  KUGEL_CHECK(info, KUGEL_EINVAL, "info is NULL: pass a kugel_device_info with its size set");
  kugel_device_info whole;
  KUGEL_TRY(kugel__take_opts(&whole, sizeof whole, info, "kugel_device_info"));
  int n = kugel_device_count(), id = index, b = 0;
  KUGEL_CHECK(index >= 0 && index < n, KUGEL_EINVAL, "device index is %d, must be 0 to %d", index, n - 1);
  while (id >= backends[b]->count())
    id -= backends[b++]->count();
  memset(&whole, 0, sizeof whole);
  whole.device = (kugel_device){backends[b]->type, id};
  KUGEL_TRY(backends[b]->describe(id, &whole));
  return give_info(&whole, info);
}

kugel_status kugel_ctx_describe(kugel_ctx *ctx, kugel_device_info *info)
{
  KUGEL_CHECK(info, KUGEL_EINVAL, "info is NULL: pass a kugel_device_info with its size set");
  kugel_device_info whole;
  KUGEL_TRY(kugel__take_opts(&whole, sizeof whole, info, "kugel_device_info"));
  whole = kugel__ctx_device(ctx)->info;
  for (int i = 0; ctx && i < ctx->npeers; i++) { // "cuda:0,1"
    size_t n = strlen(whole.name);
    snprintf(whole.name + n, sizeof whole.name - n, ",%d", (int)ctx->peers[i]->device.id);
  }
  return give_info(&whole, info);
}

/* ---- open devices -------------------------------------------------------------------------------------- */

static void count_fork(void)
{
  atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
  pthread_atfork(NULL, NULL, count_fork);
}

bool kugel__device_survived(const kugel__device *dev)
{
  return dev->ops->type == KUGEL_CPU || dev->forks == atomic_load_explicit(&forks, memory_order_relaxed);
}

kugel_status kugel__device_open(int32_t type, int id, void *native, kugel__device **out)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  const kugel__device_ops *ops = kugel__device_find(type);
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
    dev->forks = atomic_load(&forks);
    dev->queue.device = dev;
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

/* ---- device strings of contexts ------------------------------------------------------------------------ */

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

static kugel_status parse(const char *text, kugel_device *out)
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
    if (text[n] && (!end || *end))
      continue;
    int count = backends[b]->count();
    KUGEL_CHECK(id < count, KUGEL_EINVAL,
                "device is \"%s\", there are %d of that kind, counted from 0; see kugel info", text, count);
    *out = (kugel_device){backends[b]->type, (int32_t)id};
    return KUGEL_OK;
  }
  return KUGEL_FAIL(KUGEL_EINVAL,
                    "device is \"%s\", must be auto, cpu, cuda:N or opencl:N, or several as cuda:0,1; kugel "
                    "info lists them",
                    text);
}

/* Contexts of the devices after the first one in a list of numbers "1,2". */
static kugel_status open_peers(kugel_ctx *ctx, const char *name, const char *list)
{
  int n = 1;
  for (const char *c = list; *c; c++)
    n += *c == ',';
  ctx->peers = kugel__calloc(NULL, (size_t)n * sizeof *ctx->peers);
  ctx->links = kugel__links_create();
  KUGEL_CHECK(ctx->peers && ctx->links, KUGEL_ENOMEM, "no memory for a context of %d devices", n + 1);
  while (list) {
    char text[64];
    const char *end = strchr(list, ',');
    int length = end ? (int)(end - list) : (int)strlen(list);
    kugel_ctx_opts o = {
        .size = sizeof o, .device = text, .threads = ctx->threads, .allocator = &ctx->allocator};
    if (ctx->executor.run)
      o.executor = &ctx->executor;
    snprintf(text, sizeof text, "%s:%.*s", name, length, list);
    KUGEL_TRY(kugel_ctx_create(&o, &ctx->peers[ctx->npeers]));
    ctx->npeers++;
    list = end ? end + 1 : NULL;
  }
  return KUGEL_OK;
}

/* Opens the device that `text` names for a context under construction. */
kugel_status kugel__ctx_open_device(kugel_ctx *ctx, const char *text, void *native)
{
  char first[64];
  const char *list = text ? strchr(text, ',') : NULL;
  if (list && list - text < (ptrdiff_t)sizeof first) {
    snprintf(first, sizeof first, "%.*s", (int)(list - text), text);
    text = first;
    KUGEL_CHECK(!native, KUGEL_EINVAL, "native_context is set but there are several devices: leave it NULL");
  }
  KUGEL_TRY(parse(text, &ctx->device));
  KUGEL_CHECK(!list || (ctx->device.type != KUGEL_CPU && strchr(text, ':')), KUGEL_EINVAL,
              "device is \"%s\" and more: several devices are given as cuda:0,1 or opencl:0,1", text);
  KUGEL_CHECK(!native || ctx->device.type != KUGEL_CPU, KUGEL_EINVAL,
              "native_context is set but the device is \"%s\": leave it NULL", text ? text : "cpu");
  if (ctx->device.type == KUGEL_CPU)
    return KUGEL_OK;
  KUGEL_TRY(kugel__device_open(ctx->device.type, ctx->device.id, native, &ctx->opened));
  return list ? open_peers(ctx, ctx->opened->ops->name, list + 1) : KUGEL_OK;
}

void kugel__ctx_close_device(kugel_ctx *ctx)
{
  kugel__links_destroy(ctx->links);
  ctx->links = NULL;
  for (int i = 0; i < ctx->npeers; i++)
    kugel_ctx_destroy(ctx->peers[i]);
  kugel__free(NULL, ctx->peers);
  ctx->peers = NULL;
  ctx->npeers = 0;
  kugel__device_close(ctx->opened);
  ctx->opened = NULL;
}

void kugel__ctx_trim_device(kugel_ctx *ctx)
{
  if (ctx->opened)
    kugel__device_trim(ctx->opened);
}

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

/* ---- fault injection ----------------------------------------------------------------------------------- */

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
