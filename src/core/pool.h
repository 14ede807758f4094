/* SPDX-License-Identifier: BSD-3-Clause */
/* The process's own worker threads. */
#ifndef KUGEL_CORE_POOL_H
#define KUGEL_CORE_POOL_H

/* Runs task(arg, i) for i in [0, n): i = 0 on the calling thread, the others on pool threads, which are
 * started when first needed. If another thread is using the pool, all run on the calling thread. After fork,
 * a child starts its own. */
void kugel__pool_run(int n, void (*task)(void *arg, int index), void *arg);

#endif
