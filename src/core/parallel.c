/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel loops over a context's executor: workers take iterations from a shared counter. */
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include "core/ctx.h"
#include "core/parallel.h"
#include "core/pool.h"

static _Thread_local struct {
  kugel_progress_fn fn;
  void *user;
  kugel__span span;
  double lo, hi, last;
  const char *stage;
} progress = {.span = {0, 1}, .hi = 1, .stage = ""};
static _Thread_local bool inside; // this thread is running an iteration

typedef struct loop {
  kugel__task task;
  void *arg;
  int64_t n;
  atomic_llong next;
  atomic_llong failed_at; // lowest failing iteration, n if none
  pthread_mutex_t lock;   // guards status and message
  kugel_status status;
  char message[512];
  pthread_t caller;
  bool reports;
} loop;

void kugel_set_progress(kugel_progress_fn fn, void *user)
{
  progress.fn = fn;
  progress.user = user;
  progress.span = (kugel__span){0, 1};
  kugel__progress_stage(0, 1, "");
}

static double within(double x)
{
  return progress.span.lo + (progress.span.hi - progress.span.lo) * x;
}

kugel__span kugel__progress_enter(double lo, double hi)
{
  kugel__span outer = progress.span;
  progress.span = (kugel__span){within(lo), within(hi)};
  return outer;
}

void kugel__progress_leave(kugel__span outer)
{
  progress.span = outer;
}

void kugel__progress_stage(double lo, double hi, const char *stage)
{
  progress.lo = within(lo);
  progress.hi = within(hi);
  progress.stage = stage;
}

static void fail(loop *l, int64_t i, kugel_status status)
{
  pthread_mutex_lock(&l->lock);
  if (i < atomic_load(&l->failed_at)) {
    atomic_store(&l->failed_at, i);
    l->status = status;
    snprintf(l->message, sizeof l->message, "%s", kugel_last_error());
  }
  pthread_mutex_unlock(&l->lock);
}

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void report(loop *l, int64_t done)
{
  double now = seconds();
  if (now - progress.last < 0.02)
    return;
  progress.last = now;
  double fraction = progress.lo + (progress.hi - progress.lo) * (double)done / (double)l->n;
  if (progress.fn(fraction, progress.stage, progress.user))
    fail(l, -1,
         KUGEL_FAIL(KUGEL_ECANCELED, "cancelled by the progress callback in stage \"%s\"", progress.stage));
}

static void work(void *arg, int worker)
{
  loop *l = arg;
  bool reports = l->reports && pthread_equal(pthread_self(), l->caller);
  bool was_inside = inside;
  inside = true;
  for (;;) {
    int64_t i = atomic_fetch_add(&l->next, 1);
    if (i >= l->n || i > atomic_load(&l->failed_at))
      break;
    kugel_status s = l->task(l->arg, i, worker);
    if (s != KUGEL_OK)
      fail(l, i, s);
    if (reports)
      report(l, i + 1);
  }
  inside = was_inside;
}

kugel_status kugel__parallel(kugel_ctx *ctx, int64_t n, kugel__task task, void *arg)
{
  if (n <= 0)
    return KUGEL_OK;
  ctx = kugel__ctx(ctx);
  int threads = (int)kugel__min(kugel__ctx_threads(ctx), n);
  loop l = {.task = task, .arg = arg, .n = n, .failed_at = n, .caller = pthread_self()};
  pthread_mutex_init(&l.lock, NULL);
  l.reports = progress.fn && !inside;
  if (threads == 1 || inside)
    work(&l, 0);
  else if (ctx->executor.run)
    ctx->executor.run(threads, work, &l, ctx->executor.user);
  else
    kugel__pool_run(threads, work, &l);
  pthread_mutex_destroy(&l.lock);
  if (l.status != KUGEL_OK)
    kugel__set_error(l.message);
  return l.status;
}
