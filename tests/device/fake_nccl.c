/* SPDX-License-Identifier: BSD-3-Clause */
/* A stand-in for libnccl.so.2 on the stand-in for the CUDA driver: sends and receives of a group are matched
 * at its end and become copies that wait for both streams; the ranks of a communicator that threads have joined meet there.
 * Strict where NCCL is: calls belong to a group, ranks are of the communicator and on devices of their own, every send has its
 * receive, and what is in progress is not used. KUGEL_FAKE_NCCL: fails in the call of that name, of "NAME:1" on rank 1 alone;
 * KUGEL_FAKE_NCCL_VERSION: what it is called; KUGEL_FAKE_NCCL_LOG: a file that gets a line for each group. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "fake_nccl_calls.h"

#define API __attribute__((visibility("default"))) int

static _Thread_local call calls[MAX_CALLS];
static _Thread_local int count, depth;
static int live;

/* Ranks that are threads. */
typedef struct world {
  pthread_mutex_t lock;
  pthread_cond_t change;
  int ranks, joined, arrived, left, bad, count;
  int splits; // communicators beside those of the ranks
  int absent; // ranks whose group failed alone: messages of the others wait for theirs, until they abort
  unsigned round;
  void *device[MAX_RANKS];
  call calls[MAX_CALLS];
} world;
typedef struct unique_id {
  char bytes[128];
} unique_id;

__attribute__((destructor)) static void end(void)
{
  if (live) {
    fprintf(stderr, "fake NCCL: %d communicators not given back\n", live);
    _exit(9);
  }
}

static int fails(const char *name)
{
  const char *named = getenv("KUGEL_FAKE_NCCL");
  return named && !strcmp(named, name);
}

static int fails_on(const char *name, int rank)
{
  const char *named = getenv("KUGEL_FAKE_NCCL");
  size_t n = strlen(name);
  return named && !strncmp(named, name, n) && named[n] == ':' && atoi(named + n + 1) == rank;
}

API ncclGetVersion(int *version)
{
  const char *given = getenv("KUGEL_FAKE_NCCL_VERSION");
  *version = fails("ncclGetVersion") ? 20000 : given ? atoi(given) : 22803;
  return 0;
}

__attribute__((visibility("default"))) const char *ncclGetErrorString(int e)
{
  return e == BAD_USE ? "invalid usage" : e == BAD_ARGUMENT ? "invalid argument" : "internal error";
}

API ncclCommInitAll(comm **comms, int n, const int *ids)
{
  const char *multicast = getenv("NCCL_NVLS_ENABLE");
  if (n < 1 || depth || !multicast || strcmp(multicast, "0") || fails("ncclCommInitAll"))
    return BAD_USE;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      if (ids[i] == ids[k])
        return BAD_USE;
  comm *all = calloc((size_t)n, sizeof *all);
  for (int i = 0; i < n; i++) {
    all[i] = (comm){.rank = i, .ranks = n, .all = all};
    comms[i] = &all[i];
  }
  live += n;
  return 0;
}

/* All ranks leave together; under the lock. */
static void meet(world *w, void (*last)(world *w))
{
  unsigned round = w->round;
  if (++w->arrived == w->ranks) {
    last(w);
    w->arrived = 0;
    w->round++;
    pthread_cond_broadcast(&w->change);
  }
  while (w->round == round)
    pthread_cond_wait(&w->change, &w->lock);
}

/* Worlds that ranks may still join, or never do: known here, they are no leaks. */
static world *worlds[64];
static pthread_mutex_t worlds_lock = PTHREAD_MUTEX_INITIALIZER;

static void replace(const world *old, world *by)
{
  pthread_mutex_lock(&worlds_lock);
  int i = 0;
  while (i < 63 && worlds[i] != old)
    i++;
  worlds[i] = by;
  pthread_mutex_unlock(&worlds_lock);
}

API ncclGetUniqueId(unique_id *id)
{
  world *w = fails("ncclGetUniqueId") ? NULL : calloc(1, sizeof *w);
  if (!w)
    return INTERNAL;
  replace(NULL, w);
  pthread_mutex_init(&w->lock, NULL);
  pthread_cond_init(&w->change, NULL);
  memset(id, 0, sizeof *id);
  memcpy(id, &w, sizeof(void *));
  return 0;
}

static void *current(void)
{
  int (*pop)(void **), (*push)(void *);
  void *context = NULL;
  *(void **)&pop = driver("cuCtxPopCurrent_v2");
  *(void **)&push = driver("cuCtxPushCurrent_v2");
  if (pop && push && !pop(&context))
    push(context);
  return context;
}

static void leave(world *w)
{
  pthread_mutex_lock(&w->lock);
  int last = ++w->left == w->ranks + w->splits;
  pthread_mutex_unlock(&w->lock);
  if (last) {
    replace(w, NULL);
    free(w);
  }
}

static void compare(world *w)
{
  for (int i = 0; i < w->ranks; i++)
    for (int k = 0; k < i; k++)
      w->bad |= w->device[i] == w->device[k];
}

/* Calls return at once, ranks come when they come; `joined` of them are there. */
typedef struct config {
  size_t size;
  unsigned magic, version;
  int blocking, cluster, least, most;
  const char *network;
  int share;
} config;

API ncclCommInitRankConfig(comm **out, int ranks, unique_id id, int rank, const config *how)
{
  world *w;
  memcpy(&w, &id, sizeof(void *));
  if (ranks < 2 || ranks > MAX_RANKS || rank < 0 || rank >= ranks || how->size < sizeof *how ||
      how->magic != 0xcafebeef || how->version < 21400 || how->blocking)
    return BAD_ARGUMENT;
  *out = NULL;
  pthread_mutex_lock(&w->lock);
  w->ranks = ranks;
  int alone = fails_on("ncclCommInitRankConfig", rank);
  w->device[rank] = current();
  w->bad |= fails("ncclCommInitRank");
  w->joined += !alone;
  if (w->joined == ranks)
    compare(w);
  pthread_mutex_unlock(&w->lock);
  if (alone) {
    leave(w);
    return INTERNAL;
  }
  *out = calloc(1, sizeof **out);
  **out = (comm){.rank = rank, .ranks = ranks, .world = w, .quick = 1, .asked = 3};
  __atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
  return IN_PROGRESS;
}

/* A communicator whose calls wait, told when its parent has been asked. */
API ncclCommSplit(comm *c, int color, int key, comm **out, const config *how)
{
  if (color || key != c->rank || !c->quick || c->asked || depth || how->version < 21800 ||
      how->blocking != 1 || how->share != 1 || fails("ncclCommSplit"))
    return BAD_ARGUMENT;
  *out = NULL;
  c->child = calloc(1, sizeof *c->child);
  *c->child = (comm){.rank = c->rank, .ranks = c->ranks, .world = c->world};
  c->made = out;
  c->asked = 2;
  pthread_mutex_lock(&c->world->lock);
  c->world->splits++;
  pthread_mutex_unlock(&c->world->lock);
  __atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
  return 0;
}

API ncclCommGetAsyncError(comm *c, int *result)
{
  world *w = c->world;
  pthread_mutex_lock(&w->lock);
  int there = w->joined == w->ranks;
  c->asked -= there && c->asked;
  *result = !there || c->asked ? IN_PROGRESS : w->bad ? BAD_USE : c->result;
  if (c->made && !c->asked) {
    *c->made = c->child;
    c->made = NULL;
  }
  pthread_mutex_unlock(&w->lock);
  return 0;
}

API ncclCommInitRank(comm **out, int ranks, unique_id id, int rank)
{
  world *w;
  memcpy(&w, &id, sizeof(void *));
  if (ranks < 2 || ranks > MAX_RANKS || rank < 0 || rank >= ranks)
    return BAD_ARGUMENT;
  pthread_mutex_lock(&w->lock);
  w->ranks = ranks;
  w->device[rank] = current();
  w->bad |= fails("ncclCommInitRank");
  meet(w, compare);
  int bad = w->bad;
  pthread_mutex_unlock(&w->lock);
  if (bad) {
    leave(w);
    return BAD_USE;
  }
  *out = calloc(1, sizeof **out);
  **out = (comm){.rank = rank, .ranks = ranks, .world = w};
  __atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
  return 0;
}

API ncclCommAbort(comm *c)
{
  __atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED);
  if (c->world) {
    leave(c->world);
    free(c);
    return 0;
  }
  if (c->rank == c->ranks - 1)
    free(c->all);
  return 0;
}

API ncclCommDestroy(comm *c)
{
  if (c->world && c->world->absent) {
    fprintf(stderr, "fake NCCL: rank %d would wait for ever for messages\n", c->rank);
    _exit(9);
  }
  return ncclCommAbort(c);
}

API ncclGroupStart(void)
{
  if (depth || fails("ncclGroupStart"))
    return BAD_USE;
  depth = 1;
  count = 0;
  return 0;
}

static int put(const comm *c, int to, int sends, const void *data, size_t bytes, int type, void *stream)
{
  if (!depth || type || to < 0 || to >= c->ranks || to == c->rank || count == MAX_CALLS || c->asked)
    return BAD_ARGUMENT;
  calls[count++] = (call){c, to, sends, data, bytes, stream};
  return 0;
}

API ncclSend(const void *data, size_t bytes, int type, int to, comm *c, void *stream)
{
  return fails("ncclSend") ? INTERNAL : put(c, to, 1, data, bytes, type, stream);
}

API ncclRecv(void *data, size_t bytes, int type, int from, comm *c, void *stream)
{
  return fails("ncclRecv") ? INTERNAL : put(c, from, 0, data, bytes, type, stream);
}

static void settle_all(world *w)
{
  int bad = settle(w->calls, w->count);
  w->bad = w->absent ? 0 : bad;
  w->count = 0;
}

/* Of a rank that joined: the calls of all ranks together. */
static int ranked_end(world *w)
{
  pthread_mutex_lock(&w->lock);
  int alone = fails_on("ncclGroupEnd", calls[0].comm->rank);
  w->absent += alone;
  count = alone ? 0 : count;
  int fits = w->count + count <= MAX_CALLS;
  for (int i = 0; i < count && fits; i++)
    w->calls[w->count++] = calls[i];
  meet(w, settle_all);
  int bad = w->bad;
  pthread_mutex_unlock(&w->lock);
  if (alone)
    return INTERNAL;
  comm *c = count ? (comm *)(uintptr_t)calls[0].comm : NULL;
  if (!c || !c->quick)
    return fits ? bad : BAD_USE;
  c->asked = 2;
  c->result = fits ? bad : BAD_USE;
  return IN_PROGRESS;
}

API ncclGroupEnd(void)
{
  const char *log = getenv("KUGEL_FAKE_NCCL_LOG");
  FILE *f = log ? fopen(log, "a") : NULL;
  int bad = !depth || fails("ncclGroupEnd"), ranked = count && calls[0].comm->world != NULL;
  depth = 0;
  if (f) {
    fprintf(f, "%d\n", count);
    fclose(f);
  }
  return bad ? BAD_USE : ranked ? ranked_end(calls[0].comm->world) : settle(calls, count);
}
