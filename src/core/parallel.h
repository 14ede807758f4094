/* SPDX-License-Identifier: BSD-3-Clause */
/* Parallel loops, progress and cancellation. */
#ifndef KUGEL_CORE_PARALLEL_H
#define KUGEL_CORE_PARALLEL_H

#include "core/base.h"

enum { KUGEL__MAX_THREADS = 4096 };

/* One iteration. `worker` is in [0, kugel__ctx_threads(ctx)) and no two iterations that run at the same time
 * share it, so it may index scratch memory. The result of an iteration must not depend on `worker`. */
typedef kugel_status (*kugel__task)(void *arg, int64_t i, int worker);

/* Runs task(arg, i, worker) for all i in [0, n), each once, handed out in order, one at a time; returns when
 * all are done. The failure of the lowest failing i is returned with its message; later iterations are
 * dropped. Called from within a task, it runs serially as worker 0 of a new loop. Returns KUGEL_ECANCELED if
 * the progress callback says so. */
kugel_status kugel__parallel(kugel_ctx *ctx, int64_t n, kugel__task task, void *arg);

/* The part [lo, hi] of the current span that the next parallel loops of this thread stand for, and its name.
 */
void kugel__progress_stage(double lo, double hi, const char *stage);

/* Spans nest: enter makes the part [lo, hi] of the current span current, leave goes back to what enter
 * returned. */
typedef struct kugel__span {
  double lo, hi;
} kugel__span;
kugel__span kugel__progress_enter(double lo, double hi);
void kugel__progress_leave(kugel__span outer);

#endif
