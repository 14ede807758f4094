/* SPDX-License-Identifier: BSD-3-Clause */
/* Links of ranks that have a GPU each, by NCCL. A rank that fails keeps others waiting in NCCL, where they join and where a message is
 * the first of its sender to its receiver: there calls return at once, and are asked how they fare, for so many seconds. That takes a
 * thread of NCCL's, 50 us for each exchange, so later messages go by a communicator made of the first one, which has its connections
 * and whose calls only launch (7 us). */
#include "device/cuda/nccl.h"
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "core/alloc.h"

kugel_status kugel__cuda_link_name(kugel__device *dev, char *name)
{
  const kugel__nccl_api *nccl;
  KUGEL_TRY(kugel__nccl_need(&nccl));
  if (!name)
    return KUGEL_OK;
  KUGEL_TRY(kugel__cuda_enter(dev));
  return kugel__cuda_leave(KUGEL__NCCL(nccl, ncclGetUniqueId, (ncclUniqueId *)(void *)name));
}

/* ---- waiting ---- */

static double seconds_since(const struct timespec *start)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* How a call on the first communicator fared that may have returned before it was done. */
static kugel_status outcome(const kugel__nccl_api *nccl, const kugel__nccl_link *link, int result,
                            const char *call)
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
    KUGEL_TRY(
        kugel__nccl_status(nccl->ncclCommGetAsyncError(link->comms[0], &result), "ncclCommGetAsyncError"));
  }
  return kugel__nccl_status(result, call);
}

/* ---- joining ---- */

/* In which a rank that fails keeps the others waiting: for a while, where NCCL's calls can return at once. */
static kugel_status init_rank(const kugel__nccl_api *nccl, kugel__nccl_link *link, ncclUniqueId id,
                              const kugel__meeting *meeting)
{
  const int rank = meeting->rank, ranks = meeting->ranks;
  link->seconds = meeting->seconds;
  const kugel__nccl_config config = KUGEL__NCCL_CONFIG(0, INT_MIN);
  if (nccl->version < 21400 || !nccl->ncclCommInitRankConfig || !nccl->ncclCommGetAsyncError)
    return KUGEL__NCCL(nccl, ncclCommInitRank, link->comms, ranks, id, rank);
  int result = kugel__device_fault() ? KUGEL__CU_INJECTED
                                     : nccl->ncclCommInitRankConfig(link->comms, ranks, id, rank, &config);
  kugel_status s = outcome(nccl, link, result, "ncclCommInitRankConfig");
  if (s && link->comms[0])
    nccl->ncclCommAbort(link->comms[0]);
  return s;
}

/* The communicator of messages between ranks that have met. */
static kugel_status split(const kugel__nccl_api *nccl, kugel__nccl_link *link, int rank)
{
  const kugel__nccl_config config = KUGEL__NCCL_CONFIG(1, 1);
  if (nccl->version < 21800 || !nccl->ncclCommSplit)
    return KUGEL_OK;
  int result = kugel__device_fault() ? KUGEL__CU_INJECTED
                                     : nccl->ncclCommSplit(link->comms[0], 0, rank, &link->swift, &config);
  // It says that it has succeeded, and is in progress all the same.
  kugel_status s = outcome(nccl, link, result ? result : NCCL_IN_PROGRESS, "ncclCommSplit");
  if (!s && !link->swift)
    s = KUGEL_FAIL(KUGEL_EDEVICE,
                   "ncclCommSplit made no communicator: set KUGEL_PEERS=copy to do without NCCL");
  if (s) {
    if (link->swift)
      nccl->ncclCommAbort(link->swift);
    nccl->ncclCommAbort(link->comms[0]);
  }
  return s;
}

static kugel__nccl_link *make(kugel__device *dev, int ranks)
{
  kugel__nccl_link *link = kugel__nccl_make(1, dev);
  bool *met = kugel__calloc(NULL, 2 * (size_t)ranks * sizeof *met);
  if (link && met) {
    link->met[0] = met;
    link->met[1] = met + ranks;
    return link;
  }
  kugel__free(NULL, link);
  kugel__free(NULL, met);
  return NULL;
}

kugel_status kugel__cuda_link_join(kugel__device *dev, const char name[128], const kugel__meeting *meeting,
                                   kugel__link **out)
{
  ncclUniqueId id;
  memcpy(&id, name, sizeof id);
  const kugel__nccl_api *nccl = NULL;
  kugel__nccl_link *link = NULL;
  kugel_status s = kugel__nccl_need(&nccl);
  if (!s && !(link = make(dev, meeting->ranks)))
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory to link %d ranks", meeting->ranks);
  s = s ? s : kugel__device_alive(dev);
  s = s ? s : kugel__cuda_enter(dev);
  bool entered = !s;
  s = meeting->ready(meeting->arg, s);
  s = s ? s : init_rank(nccl, link, id, meeting);
  s = s ? s : split(nccl, link, meeting->rank);
  s = entered ? kugel__cuda_leave(s) : s;
  if (!s) {
    *out = &link->base;
    return KUGEL_OK;
  }
  if (link)
    kugel__free(NULL, link->met[0]);
  kugel__free(NULL, link);
  return s;
}

/* ---- exchanges ---- */

/* A call within a group: it is under way once the group has ended. */
static kugel_status in_group(int result, const char *call)
{
  return result == NCCL_IN_PROGRESS ? KUGEL_OK : kugel__nccl_status(result, call);
}

static kugel_status put(const kugel__nccl_api *nccl, const kugel__parcel *p, ncclComm_t comm, CUstream stream)
{
  char *at = (char *)p->mem.base + p->mem.offset;
  return p->send ? in_group(nccl->ncclSend(at, p->bytes, NCCL_BYTES, p->rank, comm, stream), "ncclSend")
                 : in_group(nccl->ncclRecv(at, p->bytes, NCCL_BYTES, p->rank, comm, stream), "ncclRecv");
}

/* The messages between ranks that have met, on `swift`, or those of others. Both ends of each message know alike. */
static kugel_status group(const kugel__nccl_api *nccl, const kugel__nccl_link *link, int n,
                          const kugel__parcel *list, bool met, kugel_queue *queue)
{
  KUGEL_TRY(KUGEL__NCCL(nccl, ncclGroupStart));
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < n && !s; i++)
    if (list[i].bytes && (!link->swift || link->met[list[i].send][list[i].rank] == met))
      s = put(nccl, &list[i], met ? link->swift : link->comms[0], queue->native);
  int result = nccl->ncclGroupEnd(); // always: else the thread stays in the group
  kugel_status done = kugel__device_fault() ? kugel__nccl_status(KUGEL__CU_INJECTED, "ncclGroupEnd")
                      : met                 ? kugel__nccl_status(result, "ncclGroupEnd")
                                            : outcome(nccl, link, result, "ncclGroupEnd");
  return s ? s : done; // what the queue gets next follows it
}

static int count(const kugel__nccl_link *link, int n, const kugel__parcel *list, bool met)
{
  int found = 0;
  for (int i = 0; i < n; i++)
    found += list[i].bytes && link->met[list[i].send][list[i].rank] == met;
  return found;
}

/* On all ranks first those that have not met: then no two wait for each other on different communicators. */
static kugel_status parcels(const kugel__nccl_api *nccl, kugel__nccl_link *link, int n,
                            const kugel__parcel *list, kugel_queue *queue)
{
  if (!link->swift)
    return group(nccl, link, n, list, false, queue);
  int met = count(link, n, list, true), others = count(link, n, list, false);
  if (others)
    KUGEL_TRY(group(nccl, link, n, list, false, queue));
  if (met)
    KUGEL_TRY(group(nccl, link, n, list, true, queue));
  for (int i = 0; i < n; i++)
    link->met[list[i].send][list[i].rank] |= list[i].bytes > 0;
  return KUGEL_OK;
}

/* Without a lock: ranks that are threads of one process wait for each other where NCCL connects them. */
kugel_status kugel__cuda_link_parcels(kugel__link *base, int n, const kugel__parcel *list, kugel_queue *queue)
{
  kugel__nccl_link *link = (kugel__nccl_link *)base;
  const kugel__nccl_api *nccl;
  KUGEL_TRY(kugel__nccl_need(&nccl));
  KUGEL_TRY(kugel__cuda_enter(link->first));
  kugel_status s = parcels(nccl, link, n, list, queue);
  link->base.failed = s != KUGEL_OK;
  return kugel__cuda_leave(s);
}
