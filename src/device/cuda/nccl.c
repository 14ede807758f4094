/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges by NCCL, which is loaded when it is first wanted, among the GPUs of one process: a communicator of the devices, and
 * grouped sends and receives on the callers' streams. */
#include "device/cuda/nccl.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "core/alloc.h"

static struct {
  kugel__nccl_api api;
  char why[160];
  pthread_mutex_t lock; /* groups are launched one after another: on all devices in the same order */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- opening ------------------------------------------------------------------------------------------- */

static void *find_library(void)
{
  const char *named = secure_getenv("KUGEL_NCCL"), *folder = secure_getenv("KUGEL_NCCL_FOLDER");
  if (named && *named)
    return dlopen(named, RTLD_NOW | RTLD_LOCAL);
  void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  char path[1024];
  if (!library && folder && *folder && // the Python package names NVIDIA's packages here
      snprintf(path, sizeof path, "%s/libnccl.so.2", folder) < (int)sizeof path)
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return library;
}

static void open_nccl(void)
{
  setenv("NCCL_NVLS_ENABLE", "0", 0); // NVLink multicast: exchanges do not need it, and some hosts forbid it
  void *library = find_library();
  if (!library) {
    const char *named = secure_getenv("KUGEL_NCCL");
    if (named && *named)
      snprintf(state.why, sizeof state.why, "KUGEL_NCCL is \"%.90s\", which cannot be loaded", named);
    else
      snprintf(state.why, sizeof state.why,
               "libnccl.so.2 was not found: install it or set KUGEL_NCCL to its path");
    return;
  }
  const char *missing = NULL;
#define FIND_(name, params)                                                                                  \
  if (!(*(void **)(void *)&state.api.name = dlsym(library, #name)))                                          \
    missing = #name;
  KUGEL__NCCL_LIST(FIND_)
  FIND_(ncclGetErrorString, )
  const char *lacking = missing; // what is used where it is there
  KUGEL__NCCL_LATER_LIST(FIND_)
  missing = lacking;
#undef FIND_
  int version = 0;
  if (missing || state.api.ncclGetVersion(&version) || version < 20700)
    snprintf(state.why, sizeof state.why,
             "libnccl is too old (%d.%d, lacks %s): version 2.7 or later is needed", version / 10000,
             version / 100 % 100, missing ? missing : "nothing");
  else
    state.api.version = version;
}

kugel_status kugel__nccl_status(int result, const char *call)
{
  return result == NCCL_SUCCESS
             ? KUGEL_OK
             : KUGEL_FAIL(KUGEL_EDEVICE, "%s failed with %s: set KUGEL_PEERS=copy to do without NCCL", call,
                          result == KUGEL__CU_INJECTED ? "an error on request of a test"
                                                       : state.api.ncclGetErrorString(result));
}

#define NCCL(...) KUGEL__NCCL(&state.api, __VA_ARGS__)

static kugel_status init(kugel__nccl_link *link, const int *ids)
{
  KUGEL_TRY(kugel__cuda_enter(link->first)); // NCCL makes other contexts current
  return kugel__cuda_leave(NCCL(ncclCommInitAll, link->comms, link->count, ids));
}

kugel_status kugel__nccl_need(const kugel__nccl_api **out)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_nccl);
  KUGEL_CHECK(state.api.version, KUGEL_ENOTSUP, "%s", state.why);
  *out = &state.api;
  return KUGEL_OK;
}

kugel__nccl_link *kugel__nccl_make(int n, kugel__device *first)
{
  kugel__nccl_link *link = kugel__calloc(NULL, sizeof *link + (size_t)n * sizeof *link->comms);
  if (!link)
    return NULL;
  *link = (kugel__nccl_link){.base.ops = first->ops, .count = n, .first = first};
  snprintf(link->base.name, sizeof link->base.name, "NCCL %d.%d.%d", state.api.version / 10000,
           state.api.version / 100 % 100, state.api.version % 100);
  return link;
}

kugel_status kugel__cuda_link_open(int n, kugel__device *const *devices, kugel__link **out)
{
  const kugel__nccl_api *api;
  KUGEL_TRY(kugel__nccl_need(&api));
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      KUGEL_CHECK(devices[i] != devices[k], KUGEL_ENOTSUP, "NCCL does not exchange within %s",
                  devices[i]->info.name);
  kugel__nccl_link *link = kugel__nccl_make(n, devices[0]);
  int *ids = kugel__calloc(NULL, (size_t)n * sizeof *ids);
  kugel_status s = link && ids ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory to link %d devices", n);
  for (int i = 0; i < n && !s; i++)
    ids[i] = devices[i]->id;
  s = s ? s : init(link, ids);
  kugel__free(NULL, ids);
  if (s) {
    kugel__free(NULL, link);
    return s;
  }
  *out = &link->base;
  return KUGEL_OK;
}

void kugel__cuda_link_close(kugel__link *base)
{
  kugel__nccl_link *link = (kugel__nccl_link *)base;
  if (kugel__device_survived(link->first) &&
      !kugel__cuda()->cuCtxPushCurrent(kugel__cuda_of(link->first)->context)) {
    int (*end)(ncclComm_t) = link->base.failed ? state.api.ncclCommAbort : state.api.ncclCommDestroy;
    if (link->swift)
      end(link->swift);
    for (int i = 0; i < link->count; i++)
      end(link->comms[i]);
    kugel__cuda_leave(KUGEL_OK);
  }
  kugel__free(NULL, link->met[0]);
  kugel__free(NULL, link);
}

/* ---- exchanges ----------------------------------------------------------------------------------------- */

static kugel_status send_and_receive(const kugel__nccl_link *link, const kugel__transfer *t,
                                     kugel_queue *const *queues)
{
  const char *src = (const char *)t->src.base + t->src.offset;
  char *dst = (char *)t->dst.base + t->dst.offset;
  KUGEL_TRY(kugel__nccl_status(
      state.api.ncclSend(src, t->bytes, NCCL_BYTES, t->to, link->comms[t->from], queues[t->from]->native),
      "ncclSend"));
  return kugel__nccl_status(
      state.api.ncclRecv(dst, t->bytes, NCCL_BYTES, t->from, link->comms[t->to], queues[t->to]->native),
      "ncclRecv");
}

static kugel_status group(const kugel__nccl_link *link, int n, const kugel__transfer *transfers,
                          kugel_queue *const *queues)
{
  KUGEL_TRY(NCCL(ncclGroupStart));
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < n && !s; i++)
    if (transfers[i].bytes)
      s = send_and_receive(link, &transfers[i], queues);
  int result = state.api.ncclGroupEnd(); // always: else the thread stays in the group
  return s ? s : kugel__nccl_status(kugel__device_fault() ? KUGEL__CU_INJECTED : result, "ncclGroupEnd");
}

kugel_status kugel__cuda_exchange(kugel__link *base, int n, const kugel__transfer *transfers,
                                  kugel_queue *const *queues)
{
  kugel__nccl_link *link = (kugel__nccl_link *)base;
  KUGEL_TRY(kugel__cuda_enter(link->first));
  pthread_mutex_lock(&state.lock);
  kugel_status s = group(link, n, transfers, queues);
  pthread_mutex_unlock(&state.lock);
  link->base.failed = s != KUGEL_OK;
  return kugel__cuda_leave(s);
}
