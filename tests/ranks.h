/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that are threads: RANKS(n, work, arg) runs work(comm, arg) on each. */
#ifndef KUGEL_TESTS_RANKS_H
#define KUGEL_TESTS_RANKS_H

#include <pthread.h>
#include <kugel/comm.h>
#include "check.h"

typedef void (*rank_work)(kugel_comm *comm, void *arg);
typedef struct rank_thread {
  kugel_comm *comm;
  rank_work work;
  void *arg;
  pthread_t thread;
} rank_thread;

static inline void *rank_main(void *p)
{
  rank_thread *t = p;
  t->work(t->comm, t->arg);
  return NULL;
}

static inline int rank_of(const kugel_comm *comm)
{
  kugel_comm_info info = {.size = sizeof info};
  return kugel_comm_get_info(comm, &info) ? -1 : info.rank;
}

static inline int ranks_of(const kugel_comm *comm)
{
  kugel_comm_info info = {.size = sizeof info};
  return kugel_comm_get_info(comm, &info) ? -1 : info.ranks;
}

/* The memory of each rank's communicator comes from ctx. */
static inline void run_ranks(kugel_ctx *ctx, int n, rank_work work, void *arg)
{
  kugel_comm *comm[64];
  rank_thread threads[64];
  kugel_status s = kugel_comm_threads(ctx, n, comm);
  CHECK_OK(s);
  for (int r = 0; r < n && !s; r++) {
    threads[r] = (rank_thread){.comm = comm[r], .work = work, .arg = arg};
    if (pthread_create(&threads[r].thread, NULL, rank_main, &threads[r]))
      abort(); // the others would wait for it
  }
  for (int r = 0; r < n && !s; r++)
    pthread_join(threads[r].thread, NULL);
  for (int r = 0; r < n && !s; r++)
    kugel_comm_destroy(comm[r]);
}

#endif
