/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges by NCCL, which is loaded when it is first wanted, among the GPUs of one process or of ranks that have one each: a
 * communicator of the devices, and grouped sends and receives on the callers' streams. */
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "core/alloc.h"
#include "device/cuda/cuda.h"
#include "device/peer.h"

typedef struct ncclComm *ncclComm_t;
typedef struct ncclUniqueId {
  char bytes[128];
} ncclUniqueId;
enum { NCCL_SUCCESS = 0, NCCL_IN_PROGRESS = 7, NCCL_BYTES = 0 /* ncclInt8 */ };

/* As version 2.14 has it; later versions read as much of it, and add their defaults. */
typedef struct nccl_config {
  size_t size;
  unsigned magic, version;
  int blocking, padding;
} nccl_config;

#define NCCL_LIST(X)                                                                                         \
  X(ncclGetVersion, (int *version))                                                                          \
  X(ncclCommInitAll, (ncclComm_t * comms, int devices, const int *ids))                                      \
  X(ncclGetUniqueId, (ncclUniqueId * id))                                                                    \
  X(ncclCommInitRank, (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank))                             \
  X(ncclCommAbort, (ncclComm_t comm))                                                                        \
  X(ncclCommDestroy, (ncclComm_t comm))                                                                      \
  X(ncclGroupStart, (void))                                                                                  \
  X(ncclGroupEnd, (void))                                                                                    \
  X(ncclSend, (const void *from, size_t count, int type, int to, ncclComm_t comm, CUstream stream))          \
  X(ncclRecv, (void *to, size_t count, int type, int from, ncclComm_t comm, CUstream stream))

/* Of 2.14 and later: communicators whose calls return at once. */
#define NCCL_LATER_LIST(X)                                                                                   \
  X(ncclCommInitRankConfig,                                                                                  \
    (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank, const nccl_config *config))                    \
  X(ncclCommGetAsyncError, (ncclComm_t comm, int *result))

static struct {
#define MEMBER_(name, params) int(*name) params;
  NCCL_LIST(MEMBER_)
  NCCL_LATER_LIST(MEMBER_)
#undef MEMBER_
  const char *(*ncclGetErrorString)(int);
  int version;
  char why[160];
  pthread_mutex_t lock; /* groups are launched one after another: on all devices in the same order */
} nccl = {.lock = PTHREAD_MUTEX_INITIALIZER};

typedef struct cuda_link {
  kugel__link base;
  int count;
  double seconds; /* of ranks: for which one waits for others */
  kugel__device *first;
  ncclComm_t comms[];
} cuda_link;

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
      snprintf(nccl.why, sizeof nccl.why, "KUGEL_NCCL is \"%.90s\", which cannot be loaded", named);
    else
      snprintf(nccl.why, sizeof nccl.why,
               "libnccl.so.2 was not found: install it or set KUGEL_NCCL to its path");
    return;
  }
  const char *missing = NULL;
#define FIND_(name, params)                                                                                  \
  if (!(*(void **)(void *)&nccl.name = dlsym(library, #name)))                                               \
    missing = #name;
  NCCL_LIST(FIND_)
  FIND_(ncclGetErrorString, )
  const char *lacking = missing; // what is used where it is there
  NCCL_LATER_LIST(FIND_)
  missing = lacking;
#undef FIND_
  int version = 0;
  if (missing || nccl.ncclGetVersion(&version) || version < 20700)
    snprintf(nccl.why, sizeof nccl.why,
             "libnccl is too old (%d.%d, lacks %s): version 2.7 or later is needed", version / 10000,
             version / 100 % 100, missing ? missing : "nothing");
  else
    nccl.version = version;
}

static kugel_status status_of(int result, const char *call)
{
  return result == NCCL_SUCCESS
             ? KUGEL_OK
             : KUGEL_FAIL(KUGEL_EDEVICE, "%s failed with %s: set KUGEL_PEERS=copy to do without NCCL", call,
                          result == KUGEL__CU_INJECTED ? "an error on request of a test"
                                                       : nccl.ncclGetErrorString(result));
}

#define NCCL(call_, ...)                                                                                     \
  status_of(kugel__device_fault() ? KUGEL__CU_INJECTED : nccl.call_(__VA_ARGS__), #call_)

static kugel_status init(cuda_link *link, const int *ids)
{
  KUGEL_TRY(kugel__cuda_enter(link->first)); // NCCL makes other contexts current
  return kugel__cuda_leave(NCCL(ncclCommInitAll, link->comms, link->count, ids));
}

static kugel_status need_nccl(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_nccl);
  KUGEL_CHECK(nccl.version, KUGEL_ENOTSUP, "%s", nccl.why);
  return KUGEL_OK;
}

static cuda_link *make_link(int n, kugel__device *first)
{
  cuda_link *link = kugel__calloc(NULL, sizeof *link + (size_t)n * sizeof *link->comms);
  if (!link)
    return NULL;
  *link = (cuda_link){.base.ops = first->ops, .count = n, .first = first};
  snprintf(link->base.name, sizeof link->base.name, "NCCL %d.%d.%d", nccl.version / 10000,
           nccl.version / 100 % 100, nccl.version % 100);
  return link;
}

kugel_status kugel__cuda_link_open(int n, kugel__device *const *devices, kugel__link **out)
{
  KUGEL_TRY(need_nccl());
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      KUGEL_CHECK(devices[i] != devices[k], KUGEL_ENOTSUP, "NCCL does not exchange within %s",
                  devices[i]->info.name);
  cuda_link *link = make_link(n, devices[0]);
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
  cuda_link *link = (cuda_link *)base;
  if (kugel__device_survived(link->first) &&
      !kugel__cuda()->cuCtxPushCurrent(kugel__cuda_of(link->first)->context)) {
    for (int i = 0; i < link->count; i++)
      link->base.failed ? nccl.ncclCommAbort(link->comms[i]) : nccl.ncclCommDestroy(link->comms[i]);
    kugel__cuda_leave(KUGEL_OK);
  }
  kugel__free(NULL, link);
}

/* ---- exchanges ----------------------------------------------------------------------------------------- */

static kugel_status send_and_receive(const cuda_link *link, const kugel__transfer *t,
                                     kugel_queue *const *queues)
{
  const char *src = (const char *)t->src.base + t->src.offset;
  char *dst = (char *)t->dst.base + t->dst.offset;
  KUGEL_TRY(status_of(
      nccl.ncclSend(src, t->bytes, NCCL_BYTES, t->to, link->comms[t->from], queues[t->from]->native),
      "ncclSend"));
  return status_of(
      nccl.ncclRecv(dst, t->bytes, NCCL_BYTES, t->from, link->comms[t->to], queues[t->to]->native),
      "ncclRecv");
}

static kugel_status group(const cuda_link *link, int n, const kugel__transfer *transfers,
                          kugel_queue *const *queues)
{
  KUGEL_TRY(NCCL(ncclGroupStart));
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < n && !s; i++)
    if (transfers[i].bytes)
      s = send_and_receive(link, &transfers[i], queues);
  int result = nccl.ncclGroupEnd(); // always: else the thread stays in the group
  return s ? s : status_of(kugel__device_fault() ? KUGEL__CU_INJECTED : result, "ncclGroupEnd");
}

kugel_status kugel__cuda_exchange(kugel__link *base, int n, const kugel__transfer *transfers,
                                  kugel_queue *const *queues)
{
  cuda_link *link = (cuda_link *)base;
  KUGEL_TRY(kugel__cuda_enter(link->first));
  pthread_mutex_lock(&nccl.lock);
  kugel_status s = group(link, n, transfers, queues);
  pthread_mutex_unlock(&nccl.lock);
  link->base.failed = s != KUGEL_OK;
  return kugel__cuda_leave(s);
}

/* ---- ranks ---------------------------------------------------------------------------------------------- */

kugel_status kugel__cuda_link_name(kugel__device *dev, char *name)
{
  KUGEL_TRY(need_nccl());
  if (!name)
    return KUGEL_OK;
  KUGEL_TRY(kugel__cuda_enter(dev));
  return kugel__cuda_leave(NCCL(ncclGetUniqueId, (ncclUniqueId *)(void *)name));
}

static double seconds_since(const struct timespec *start)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* How a call fared that may have returned before it was done. */
static kugel_status outcome(const cuda_link *link, int result, const char *call)
{
  static const struct timespec nap = {.tv_nsec = 100000};
  struct timespec start;
  clock_gettime(CLOCK_MONOTONIC, &start);
  for (double waited = 0; result == NCCL_IN_PROGRESS; waited = seconds_since(&start)) {
    KUGEL_CHECK(
        waited < link->seconds, KUGEL_EDEVICE,
        "%s waited %.3g s for other ranks, one of which may have failed: set KUGEL_PEERS=copy to do without "
        "NCCL, or KUGEL_PEERS_WAIT to more seconds",
        call, waited);
    waited < 1e-3 ? sched_yield() : nanosleep(&nap, NULL);
    KUGEL_TRY(status_of(nccl.ncclCommGetAsyncError(link->comms[0], &result), "ncclCommGetAsyncError"));
  }
  return status_of(result, call);
}

/* In which a rank that fails keeps the others waiting: for a while, where NCCL's calls can return at once. */
static kugel_status init_rank(cuda_link *link, ncclUniqueId id, const kugel__meeting *meeting)
{
  const int rank = meeting->rank, ranks = meeting->ranks;
  link->seconds = meeting->seconds;
  const nccl_config config = {sizeof config, 0xcafebeef, 21400, 0, 0};
  if (nccl.version < 21400 || !nccl.ncclCommInitRankConfig || !nccl.ncclCommGetAsyncError)
    return NCCL(ncclCommInitRank, link->comms, ranks, id, rank);
  int result = kugel__device_fault() ? KUGEL__CU_INJECTED
                                     : nccl.ncclCommInitRankConfig(link->comms, ranks, id, rank, &config);
  kugel_status s = outcome(link, result, "ncclCommInitRankConfig");
  if (s && link->comms[0])
    nccl.ncclCommAbort(link->comms[0]);
  return s;
}

kugel_status kugel__cuda_link_join(kugel__device *dev, const char name[128], const kugel__meeting *meeting,
                                   kugel__link **out)
{
  ncclUniqueId id;
  memcpy(&id, name, sizeof id);
  cuda_link *link = NULL;
  kugel_status s = need_nccl();
  if (!s && !(link = make_link(1, dev)))
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory to link %d ranks", meeting->ranks);
  s = s ? s : kugel__device_alive(dev);
  s = s ? s : kugel__cuda_enter(dev);
  bool entered = !s;
  s = meeting->ready(meeting->arg, s);
  s = s ? s : init_rank(link, id, meeting);
  s = entered ? kugel__cuda_leave(s) : s;
  if (s)
    kugel__free(NULL, link);
  else
    *out = &link->base;
  return s;
}

/* A call within a group: it is under way once the group has ended. */
static kugel_status in_group(int result, const char *call)
{
  return result == NCCL_IN_PROGRESS ? KUGEL_OK : status_of(result, call);
}

static kugel_status parcels(const cuda_link *link, int n, const kugel__parcel *list, kugel_queue *queue)
{
  KUGEL_TRY(NCCL(ncclGroupStart));
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < n && !s; i++) {
    char *at = (char *)list[i].mem.base + list[i].mem.offset;
    if (list[i].bytes)
      s = list[i].send ? in_group(nccl.ncclSend(at, list[i].bytes, NCCL_BYTES, list[i].rank, link->comms[0],
                                                queue->native),
                                  "ncclSend")
                       : in_group(nccl.ncclRecv(at, list[i].bytes, NCCL_BYTES, list[i].rank, link->comms[0],
                                                queue->native),
                                  "ncclRecv");
  }
  int result = nccl.ncclGroupEnd();
  kugel_status done = kugel__device_fault() ? status_of(KUGEL__CU_INJECTED, "ncclGroupEnd") : KUGEL_OK;
  done = done ? done : outcome(link, result, "ncclGroupEnd"); // what the queue gets next follows it
  return s ? s : done;
}

/* Without the lock: ranks that are threads of one process wait for each other where NCCL connects them. */
kugel_status kugel__cuda_link_parcels(kugel__link *base, int n, const kugel__parcel *list, kugel_queue *queue)
{
  cuda_link *link = (cuda_link *)base;
  KUGEL_TRY(kugel__cuda_enter(link->first));
  kugel_status s = parcels(link, n, list, queue);
  link->base.failed = s != KUGEL_OK;
  return kugel__cuda_leave(s);
}
