/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel loops over a context's executor: workers take iterations from a shared counter. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include "core/ctx.h"
#include "core/parallel.h"
#include "core/pool.h"

static _Thread_local struct {
  kugel_progress_fn fn;
  void *user;
  kugel__span span; // the current part of the call
  double at;        // what is done when no loop runs
  bool staged;      // [lo, hi] is what the next loop stands for
  double lo, hi;
  kugel__progress_part part;
  const void *part_arg;
  double shown, last; // the highest fraction of this call; seconds of the latest report
  const char *stage;
} progress = {.span = {0, 1, 0}, .stage = ""};
static _Thread_local bool inside; // this thread is running an iteration

typedef struct loop {
  kugel__task task; // this or the next
  kugel__worker_task worker_task;
  void *arg;
  int64_t n;
  atomic_llong next;
  atomic_llong failed_at; // lowest failing iteration, n if none
  pthread_mutex_t lock;   // guards status and message
  kugel_status status;
  char message[512];
  pthread_t caller;
  bool reports;
  double lo, hi; // the part of the call that it stands for
  kugel__progress_part part;
  const void *part_arg;
} loop;

void kugel_set_progress(kugel_progress_fn fn, void *user)
{
  progress.fn = fn;
  progress.user = user;
  progress.span = (kugel__span){0, 1, 0};
  progress.at = progress.shown = progress.last = 0;
  progress.staged = false;
  progress.stage = "";
}

static double within(double x)
{
  return progress.span.lo + (progress.span.hi - progress.span.lo) * x;
}

kugel__span kugel__progress_enter(double lo, double hi)
{
  kugel__span outer = progress.span;
  if (outer.depth == 0)
    progress.shown = 0;
  progress.span = (kugel__span){within(lo), within(hi), outer.depth + 1};
  progress.at = progress.span.lo;
  progress.staged = false;
  return outer;
}

void kugel__progress_leave(kugel__span outer)
{
  progress.at = progress.span.hi;
  progress.span = outer;
  progress.staged = false;
}

void kugel__progress_stage(double lo, double hi, const char *stage)
{
  kugel__progress_stage_by(lo, hi, stage, NULL, NULL);
}

void kugel__progress_stage_by(double lo, double hi, const char *stage, kugel__progress_part part,
                              const void *arg)
{
  progress.lo = progress.at = within(lo);
  progress.hi = within(hi);
  progress.stage = stage;
  progress.staged = true;
  progress.part = part;
  progress.part_arg = arg;
  if (progress.span.depth == 0 && lo <= 0)
    progress.shown = 0;
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

double kugel__seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double interval = 0.02; // seconds between two reports, at least

double kugel__progress_interval(double seconds)
{
  double before = interval;
  interval = seconds;
  return before;
}

// Whether the latest call of the callback is long ago; then this is the latest.
static bool due(void)
{
  double now = kugel__seconds();
  if (now - progress.last < interval)
    return false;
  progress.last = now;
  return true;
}

// True: cancelled.
static bool tell(double fraction)
{
  progress.shown = fmax(progress.shown, fraction);
  return progress.fn(progress.shown, progress.stage, progress.user) != 0;
}

static kugel_status cancelled(void)
{
  return KUGEL_FAIL(KUGEL_ECANCELED, "cancelled by the progress callback in stage \"%s\"", progress.stage);
}

kugel_status kugel__progress_step(double done)
{
  if (!progress.fn || !due())
    return KUGEL_OK;
  double lo = progress.staged ? progress.lo : progress.at, hi = progress.staged ? progress.hi : progress.at;
  return tell(lo + (hi - lo) * done) ? cancelled() : KUGEL_OK;
}

// Which part of the call the loop stands for: that of its stage; else, within a part that was entered or in
// another loop, none, since what else is to come is not known; else all, as the one loop of a call.
static void take_part(loop *l)
{
  l->lo = l->hi = inside ? progress.shown : progress.at;
  if (inside)
    return;
  if (progress.staged) {
    l->lo = progress.lo;
    l->hi = progress.hi;
    l->part = progress.part;
    l->part_arg = progress.part_arg;
  } else if (progress.span.depth == 0) {
    l->lo = progress.shown = 0;
    l->hi = 1;
  }
  progress.staged = false;
}

static void report(loop *l, int64_t done)
{
  if (!due())
    return;
  double part = l->part ? l->part(l->part_arg, done) : (double)done / (double)l->n;
  if (tell(l->lo + (l->hi - l->lo) * part))
    fail(l, -1, cancelled());
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
    kugel_status s = l->task ? l->task(l->arg, i) : l->worker_task(l->arg, i, worker);
    if (s != KUGEL_OK)
      fail(l, i, s);
    if (reports)
      report(l, i + 1);
  }
  inside = was_inside;
}

static kugel_status run(kugel_ctx *ctx, int64_t workers, loop *l)
{
  if (l->n <= 0)
    return KUGEL_OK;
  ctx = kugel__ctx(ctx);
  int threads = (int)kugel__min(workers, l->n);
  l->failed_at = l->n;
  l->caller = pthread_self();
  pthread_mutex_init(&l->lock, NULL);
  l->reports = progress.fn;
  if (l->reports)
    take_part(l);
  if (threads == 1 || inside)
    work(l, 0);
  else if (ctx->executor.run)
    ctx->executor.run(threads, work, l, ctx->executor.user);
  else
    kugel__pool_run(threads, work, l);
  pthread_mutex_destroy(&l->lock);
  if (l->reports && !inside)
    progress.at = l->hi;
  if (l->status != KUGEL_OK)
    kugel__set_error(l->message);
  return l->status;
}

kugel_status kugel__parallel(kugel_ctx *ctx, int64_t n, kugel__task task, void *arg)
{
  return run(ctx, kugel__ctx_threads(ctx), &(loop){.task = task, .arg = arg, .n = n});
}

kugel_status kugel__parallel_on(kugel_ctx *ctx, int64_t workers, int64_t n, kugel__worker_task task,
                                void *arg)
{
  return run(ctx, workers, &(loop){.worker_task = task, .arg = arg, .n = n});
}
