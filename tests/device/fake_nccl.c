/* SPDX-License-Identifier: BSD-3-Clause */
/* A stand-in for libnccl.so.2 on the stand-in for the CUDA driver: sends and receives of a group are matched
 * at its end and become copies that wait for both streams. Strict where NCCL is: calls belong to a group,
 * ranks are of the communicator, every send has its receive. KUGEL_FAKE_NCCL: fails in the call of that name;
 * KUGEL_FAKE_NCCL_LOG: a file that gets a line for each group. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default"))) int

enum { MAX_CALLS = 256, BAD_ARGUMENT = 4, BAD_USE = 5, INTERNAL = 3 };
typedef struct comm {
  int rank, ranks;
  struct comm *all; // of rank 0
} comm;
typedef struct call {
  const comm *comm;
  int to, sends;
  const char *data;
  size_t bytes;
  void *stream;
} call;
static call calls[MAX_CALLS];
static int count, depth, live;

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

static void *driver(const char *name)
{
  const char *path = getenv("KUGEL_CUDA");
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
  return library ? dlsym(library, name) : NULL;
}

API ncclGetVersion(int *version)
{
  *version = fails("ncclGetVersion") ? 20000 : 22803;
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
    all[i] = (comm){i, n, all};
    comms[i] = &all[i];
  }
  live += n;
  return 0;
}

API ncclCommDestroy(comm *c)
{
  live--;
  if (c->rank == c->ranks - 1)
    free(c->all);
  return 0;
}

API ncclCommAbort(comm *c)
{
  return ncclCommDestroy(c);
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
  if (!depth || type || to < 0 || to >= c->ranks || to == c->rank || count == MAX_CALLS)
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

/* `then` waits for what `first` has now. */
static int order(void *first, void *then)
{
  int (*make)(void **, unsigned), (*record)(void *, void *), (*wait)(void *, void *, unsigned),
      (*drop)(void *);
  *(void **)&make = driver("cuEventCreate");
  *(void **)&record = driver("cuEventRecord");
  *(void **)&wait = driver("cuStreamWaitEvent");
  *(void **)&drop = driver("cuEventDestroy_v2");
  void *event;
  if (!make || !record || !wait || !drop || make(&event, 2))
    return INTERNAL;
  int bad = record(event, first) || wait(then, event, 0);
  drop(event);
  return bad ? INTERNAL : 0;
}

static int deliver(const call *from, const call *to)
{
  int (*copy)(uint64_t, uint64_t, size_t, void *);
  *(void **)&copy = driver("cuMemcpyDtoDAsync_v2");
  if (!copy || from->bytes != to->bytes || order(from->stream, to->stream))
    return INTERNAL;
  if (copy((uint64_t)(uintptr_t)to->data, (uint64_t)(uintptr_t)from->data, from->bytes, to->stream))
    return INTERNAL;
  return order(to->stream, from->stream);
}

API ncclGroupEnd(void)
{
  const char *log = getenv("KUGEL_FAKE_NCCL_LOG");
  FILE *f = log ? fopen(log, "a") : NULL;
  int left = count, bad = !depth || fails("ncclGroupEnd");
  depth = 0;
  for (int i = 0; i < count && !bad; i++)
    for (int k = 0; k < count && calls[i].sends; k++)
      if (!calls[k].sends && calls[k].to == calls[i].comm->rank && calls[i].to == calls[k].comm->rank &&
          calls[k].data) {
        bad |= deliver(&calls[i], &calls[k]);
        calls[k].data = NULL; // taken
        left -= 2;
        break;
      }
  if (f) {
    fprintf(f, "%d\n", count);
    fclose(f);
  }
  return bad || left ? BAD_USE : 0;
}
