/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that rank 0 leads; sweeps of failures over three ranks: allocations or exchanges of one rank, or allocations of all while rank 0
 * leads. */
#ifndef KUGEL_TESTS_COMM_FAULTS_H
#define KUGEL_TESTS_COMM_FAULTS_H

#include "ranks.h"
#include "comm/comm.h"
#include "core/alloc.h"

/* All of a rank's work; it frees what it made. */
typedef kugel_status (*rank_once)(kugel_ctx *ctx, kugel_comm *comm, void *arg);

enum { SWEPT = 3 };
typedef struct rank_sweep {
  rank_once once;
  void *arg;
  int target;
  bool exchanges, half; /* not allocations; half: a beginning fails half way */
  long n,
      made; /* allocations, or beginnings and ends of exchanges, of rank `target`: the one that fails, and how many there were */
  kugel_status status[SWEPT];
  char said[SWEPT][512];
} rank_sweep;

/* ---- one allocation of one rank ---- */

/* An allocator of a rank's own, whose n-th block is not to be had; fails_at 0: all are. */
typedef struct rank_memory {
  long count, fails_at;
} rank_memory;

static inline void *rank_take(size_t bytes, size_t align, void *user)
{
  rank_memory *m = user;
  void *p = NULL;
  if (++m->count == m->fails_at || posix_memalign(&p, align < sizeof p ? sizeof p : align, bytes))
    return NULL;
  return p;
}

static inline void rank_give(void *p, size_t bytes, void *user)
{
  (void)bytes, (void)user;
  free(p);
}

/* ---- one exchange of one rank ---- */

/* The engine of this thread's rank, whose n-th beginning or end is said to have failed; what the others wait for is done. A beginning
 * fails without a ticket, or half way with one. Whatever is ended must be under way. */
typedef struct rank_ticket {
  bool on;
  void *inner;
} rank_ticket;
static _Thread_local struct {
  long count, fails_at, wrong; /* wrong: ends of what was not under way, and third exchanges */
  bool half;
  rank_ticket tickets[2];
  int (*begin)(void *user, const kugel_exchange *x, void **ticket);
  int (*end)(void *user, void *ticket);
} rank_engine;

static inline int failing_begin(void *user, const kugel_exchange *x, void **ticket)
{
  rank_ticket *t = &rank_engine.tickets[rank_engine.tickets[0].on];
  rank_engine.wrong += t->on || *ticket;
  t->inner = NULL;
  int e = rank_engine.begin(user, x, &t->inner);
  bool fails = ++rank_engine.count == rank_engine.fails_at;
  t->on = !e && (!fails || rank_engine.half);
  if (t->on)
    *ticket = t;
  else if (!e)
    rank_engine.end(user, t->inner);
  return fails ? 1 : e;
}

static inline int failing_end(void *user, void *ticket)
{
  rank_ticket *t = ticket;
  if (!t || !t->on) {
    rank_engine.wrong++;
    return 1;
  }
  t->on = false;
  int e = rank_engine.end(user, t->inner);
  return ++rank_engine.count == rank_engine.fails_at ? 1 : e;
}

/* The rank's communicator, so that its engine is the failing one; the ops to put back. */
static inline kugel_comm_ops failing_engine(kugel_comm *comm, long fails_at, bool half)
{
  const kugel_comm_ops ops = comm->ops;
  memset(&rank_engine, 0, sizeof rank_engine);
  rank_engine.fails_at = fails_at;
  rank_engine.half = half;
  rank_engine.begin = ops.begin;
  rank_engine.end = ops.end;
  comm->ops.begin = failing_begin;
  comm->ops.end = failing_end;
  return ops;
}

/* Nothing that is under way is left, nothing else was ended. */
static inline bool engine_at_rest(void)
{
  return !rank_engine.wrong && !rank_engine.tickets[0].on && !rank_engine.tickets[1].on;
}

/* ---- the sweep ---- */

static inline void rank_failing(kugel_comm *comm, void *arg)
{
  rank_sweep *w = arg;
  const int rank = rank_of(comm);
  rank_memory memory = {0};
  kugel_allocator allocator = {rank_take, rank_give, &memory};
  kugel_ctx_opts opts = {.size = sizeof opts, .threads = 1, .allocator = &allocator};
  kugel_ctx *ctx = NULL;
  if (kugel_ctx_create(&opts, &ctx))
    abort();
  long n = rank == w->target ? w->n : 0;
  memory = (rank_memory){.fails_at = w->exchanges ? 0 : n};
  kugel_comm_ops ops = comm->ops;
  if (w->exchanges)
    ops = failing_engine(comm, n, w->half);
  w->status[rank] = w->once(ctx, comm, w->arg);
  snprintf(w->said[rank], sizeof w->said[rank], "%s", kugel_last_error());
  comm->ops = ops;
  if (w->exchanges && !engine_at_rest())
    CHECK_FAIL("exchange %ld of rank %d: rank %d ended %ld that were not under way, or left some", w->n,
               w->target, rank, rank_engine.wrong);
  if (rank == w->target)
    w->made = w->exchanges ? rank_engine.count : memory.count;
  kugel_ctx_destroy(ctx);
}

static inline void sweep_rank_by(rank_sweep w, long step, long least)
{
  const int target = w.target;
  const kugel_status status = w.exchanges ? KUGEL_EIO : KUGEL_ENOMEM;
  const char *what = w.exchanges ? "exchange" : "allocation";
  long failed = 0;
  for (;; w.n += step) {
    run_ranks(NULL, SWEPT, rank_failing, &w);
    for (int r = 1; r < SWEPT; r++)
      if (w.status[r] != w.status[0] || (w.status[0] && strcmp(w.said[r], w.said[0]) != 0))
        CHECK_FAIL("%s %ld of rank %d: rank %d says %s, rank 0 %s", what, w.n, target, r,
                   w.status[r] ? w.said[r] : "nothing", w.status[0] ? w.said[0] : "nothing");
    if (w.made < w.n)
      break;
    failed += w.status[0] == status;
  }
  CHECK_OK(w.status[0]);
  CHECK(failed > least);
  printf("  rank %d: %ld of %ld failures of %ss were fatal\n", target, failed, (w.n - 1) / step, what);
}

/* The n-th allocation of rank `target` fails, for n = 1, 1 + step, ..., until a run needs fewer: all ranks return the same status
 * and sentence. More than `least` failures end the work. */
static inline void sweep_rank(int target, long step, rank_once once, void *arg, long least)
{
  sweep_rank_by((rank_sweep){.once = once, .arg = arg, .target = target, .n = 1}, step, least);
}

/* The same of every beginning and every end of an exchange. All of them are fatal. */
static inline void sweep_exchanges(int target, rank_once once, void *arg)
{
  for (int half = 0; half < 2; half++)
    sweep_rank_by(
        (rank_sweep){.once = once, .arg = arg, .target = target, .exchanges = true, .half = half, .n = 1}, 1,
        1);
}

/* ---- rank 0 leads ---- */

typedef kugel_status (*led_work)(kugel_ctx *ctx, void *arg);
typedef struct led_run {
  long fails_at;
  led_work work;
  void *arg;
  kugel_status status;
} led_run;

static inline void led_main(kugel_comm *comm, void *arg)
{
  led_run *t = arg;
  int code = 0;
  if (rank_of(comm)) {
    CHECK_OK(kugel_serve(NULL, comm, &code));
    CHECK(code == 3);
    return;
  }
  kugel_ctx *ctx = NULL;
  kugel_ctx_opts opts = {.size = sizeof opts, .threads = 2};
  CHECK_OK(kugel_ctx_create(&opts, &ctx));
  CHECK_OK(kugel_lead(ctx, comm));
  kugel__fault_alloc(t->fails_at);
  t->status = t->work(ctx, t->arg);
  kugel__fault_alloc(0);
  CHECK_OK(kugel_lead(ctx, NULL));
  CHECK_OK(kugel_dismiss(comm, 3));
  kugel_ctx_destroy(ctx);
}

/* The status of work(ctx, arg), which rank 0 does in a context that leads n - 1 others; these serve. From allocation `fails_at` on,
 * unless it is 0, all allocations of the process fail during the work. */
static inline kugel_status run_led(int n, long fails_at, led_work work, void *arg)
{
  led_run t = {fails_at, work, arg, KUGEL_EINTERNAL};
  run_ranks(NULL, n, led_main, &t);
  return t.status;
}

/* kugel__fault_alloc(1), (4), ... until the work is done: rank 0 says KUGEL_ENOMEM, and the others go on serving. */
static inline void sweep_led(led_work work, void *arg)
{
  kugel_status s = KUGEL_ENOMEM;
  for (long n = 1; s && n < 600; n += 3) {
    s = run_led(SWEPT, n, work, arg);
    CHECK(!s || s == KUGEL_ENOMEM);
  }
  CHECK_OK(s);
}

#endif
