/* SPDX-License-Identifier: BSD-3-Clause */
/* The communicator behind kugel_comm: one table of operations, and agreement on top of it.
 *
 * No collective that moves data may begin before all ranks have agreed that all will make it; else a rank that has failed
 * leaves the others waiting. A public collective call therefore reads
 *
 *   kugel__comm_enter(c);  s = ...local checks and allocations...;  s = kugel__comm_agree(c, s);
 *   if (!s) ...exchange...;  return kugel__comm_leave(c, s);
 *
 * What a rank releases after an agreement may fail too (waits for a device that is lost); `leave` says what ranks agreed on all the
 * same. Functions in between may agree any number of times, as long as ranks without a failure agree equally often: a rank that
 * fails goes straight to `leave`, which is an agreement unless the failure comes from one. */
#ifndef KUGEL_COMM_COMM_H
#define KUGEL_COMM_COMM_H

#include "core/base.h"
#include <kugel/comm.h>

struct kugel_comm {
  kugel_ctx *ctx;
  kugel_comm_ops ops;
  void *user;
  int rank, size;
  int node_rank, node_size, nodes, threads;
  bool settled;   // the failure in hand is known to all ranks,
  char said[480]; // in these words, the last ones agreed on
  char library[160];
};

/* Everything but the numbers of the host. Takes `user` over, on failure too. */
kugel_status kugel__comm_make(kugel_ctx *ctx, const kugel_comm_ops *ops, void *user, int rank, int size,
                              const char *library, kugel_comm **out);
/* Finds which ranks share a host, and CPUs; collective. */
kugel_status kugel__comm_survey(kugel_comm *c);
/* A number of this host, which its processes share. */
uint64_t kugel__comm_host(void);

/* ---- engines: comm_make and comm_survey of one kind ---- */
kugel_status kugel__comm_self(kugel_ctx *ctx, kugel_comm **out);
/* adopt: an MPI_Comm of `bytes` bytes, NULL: the world. path NULL: to be found. */
kugel_status kugel__comm_mpi(kugel_ctx *ctx, const char *path, const void *adopt, size_t bytes,
                             kugel_comm **out);

/* ---- collectives, each a status and a sentence ---- */
kugel_status kugel__comm_reduce(kugel_comm *c, int64_t *values, int n, kugel_comm_reduction op);
/* An exchange: under way from begin to end, also after a begin that failed and left a ticket. Ending one that is not under way does
 * nothing. */
typedef struct kugel__flight {
  void *ticket;
  bool on;
} kugel__flight;
kugel_status kugel__comm_begin(kugel_comm *c, const kugel_exchange *x, kugel__flight *flight);
kugel_status kugel__comm_end(kugel_comm *c, kugel__flight *flight);
kugel_status kugel__comm_exchange(kugel_comm *c, const kugel_exchange *x); /* from beginning to end */

/* ---- agree.c ---- */
static inline void kugel__comm_enter(kugel_comm *c)
{
  c->settled = false;
}
kugel_status kugel__comm_agree(kugel_comm *c, kugel_status s);
kugel_status kugel__comm_leave(kugel_comm *c, kugel_status s);
/* All ranks have come to the failure in hand alike, in the same words: there is nothing to agree on. */
void kugel__comm_settle(kugel_comm *c);

/* ---- measure.c ---- */

/* What is measured: `prepare` may be collective, `exchange` is, from its beginning to its end, `check` says whether what came is what
 * kugel__comm_byte says that rank `from` sends to rank `to`. */
typedef struct kugel__measured {
  kugel_status (*prepare)(void *arg);
  kugel_status (*exchange)(void *arg);
  kugel_status (*check)(void *arg);
  void *arg;
} kugel__measured;
kugel_status kugel__comm_measure(kugel_comm *c, int64_t bytes, int repeats, const kugel__measured *of,
                                 double *seconds);
unsigned char kugel__comm_byte(int from, int to);
/* Bytes from a rank that should all be the same. */
kugel_status kugel__comm_check_bytes(const kugel_comm *c, int from, const unsigned char *bytes, int64_t n,
                                     const char *over);

/* A number that all ranks must pass alike. */
typedef struct kugel__same {
  const char *name;
  int64_t value;
} kugel__same;
enum { KUGEL__MAX_SAME = 14 };
/* Agrees, and fails on all ranks if they pass different values. */
kugel_status kugel__comm_same(kugel_comm *c, kugel_status s, int n, const kugel__same *values);

#endif
