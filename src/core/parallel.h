/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel loops, progress and cancellation. */
#ifndef KUGEL_CORE_PARALLEL_H
#define KUGEL_CORE_PARALLEL_H

#include "core/base.h"

enum { KUGEL__MAX_THREADS = 4096 };

/* One iteration; of loops that have scratch memory, the worker that runs it as well. No two iterations that run at
 * the same time share a worker, so it may index scratch memory; the result must not depend on it. */
typedef kugel_status (*kugel__task)(void *arg, int64_t i);
typedef kugel_status (*kugel__worker_task)(void *arg, int64_t i, int worker);

/* Runs task(arg, i) for all i in [0, n), each once, handed out in order, one at a time; returns when all are done.
 * The failure of the lowest failing i is returned with its message; later iterations are dropped. Called from within
 * a task, it runs serially. Returns KUGEL_ECANCELED if the progress callback says so. */
kugel_status kugel__parallel(kugel_ctx *ctx, int64_t n, kugel__task task, void *arg);

/* The same by at most `workers` threads: task(arg, i, worker) with worker in [0, workers). `workers` is what the
 * scratch memory was sized by, read from kugel__ctx_threads once: another thread may change that at any time. */
kugel_status kugel__parallel_on(kugel_ctx *ctx, int64_t workers, int64_t n, kugel__worker_task task,
                                void *arg);

/* Seconds of a clock that only goes forward, since some moment. */
double kugel__seconds(void);

/* ---- progress ----
 *
 * A call's work is a tree of parts. A function of several steps enters the part of each, weighted by its cost, and
 * leaves it; before a loop it says by a stage which part the loop stands for. A loop without a stage reports what
 * was done before it, and only asks whether to go on; unless nothing was entered: then it is the whole call. The
 * fractions of one call never go back. A public function that runs more than one loop enters (0, 1). */
typedef struct kugel__span {
  double lo, hi;
  int depth;
} kugel__span;
/* Makes the part [lo, hi] of the current part current; leave goes back to what enter returned. */
kugel__span kugel__progress_enter(double lo, double hi);
void kugel__progress_leave(kugel__span outer);

/* The next loop of this thread, and that alone, stands for [lo, hi] of the current part. */
void kugel__progress_stage(double lo, double hi, const char *stage);
/* The same for a loop of unequal iterations: part(arg, done) is the fraction of its work, 0 to 1, that the first
 * `done` iterations are. */
typedef double (*kugel__progress_part)(const void *arg, int64_t done);
void kugel__progress_stage_by(double lo, double hi, const char *stage, kugel__progress_part part,
                              const void *arg);

/* For long work outside parallel loops, to be called often: reports that the fraction `done` of the stage is done.
 * KUGEL_ECANCELED if the callback says so. */
kugel_status kugel__progress_step(double done);

/* For tests: the least seconds between two reports, 0.02 at first; 0 reports at every occasion, so that what a test
 * sees does not depend on the machine. Returns the one before. Process-wide; not during a call. */
double kugel__progress_interval(double seconds);

#endif
