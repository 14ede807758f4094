/* SPDX-License-Identifier: BSD-3-Clause */
/* Of fake_nccl.c: the calls of a group, which are matched and become copies of the stand-in for the CUDA driver. */
#ifndef KUGEL_TESTS_FAKE_NCCL_CALLS_H
#define KUGEL_TESTS_FAKE_NCCL_CALLS_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

enum { MAX_CALLS = 256, MAX_RANKS = 8, BAD_ARGUMENT = 4, BAD_USE = 5, IN_PROGRESS = 7, INTERNAL = 3 };
typedef struct comm {
  struct comm *child, **made; // of a split in progress: where it will be told
  int rank, ranks;
  struct comm *all;    // of rank 0
  struct world *world; // of ranks that joined, NULL: of one thread
  int quick, asked,
      result; // quick: calls return at once, with how they fared for who asks `asked` times more
} comm;
typedef struct call {
  const comm *comm;
  int to, sends;
  const char *data;
  size_t bytes;
  void *stream;
} call;
static void *driver(const char *name)
{
  const char *path = getenv("KUGEL_CUDA");
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
  return library ? dlsym(library, name) : NULL;
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

/* Matches and delivers; what is left, or a failure. */
static int settle(call *list, int n)
{
  int left = n, bad = 0;
  for (int i = 0; i < n && !bad; i++)
    for (int k = 0; k < n && list[i].sends; k++)
      if (!list[k].sends && list[k].to == list[i].comm->rank && list[i].to == list[k].comm->rank &&
          list[k].data) {
        bad |= deliver(&list[i], &list[k]);
        list[k].data = NULL; // taken
        left -= 2;
        break;
      }
  return bad || left ? BAD_USE : 0;
}

#endif
