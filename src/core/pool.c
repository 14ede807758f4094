/* SPDX-License-Identifier: BSD-3-Clause */
/* Worker threads: started lazily, spin shortly, then sleep. A region is one generation: workers with index <
 * wanted run the task once each. In a forked child the threads are gone, so it makes a pool of its own. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sched.h>
#include <unistd.h>
#include "core/base.h"
#include "core/parallel.h"
#include "core/pool.h"
#include "core/environment.h"

enum { SPINS = 2000 };

typedef struct pool {
  pthread_mutex_t busy; // held by the thread whose region runs
  pthread_mutex_t lock; // guards all below but the atomics
  pthread_cond_t wake, done;
  int started; // workers 1 ... started-1 exist
  atomic_ulong generation;
  int wanted;
  atomic_int pending;
  void (*task)(void *, int);
  void *arg;
} pool;

static pool *current; // leaked in forked children: its locks may be in any state there
static pthread_mutex_t current_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
  pthread_mutex_lock(&current_lock);
}
static void after_fork_parent(void)
{
  pthread_mutex_unlock(&current_lock);
}
static void after_fork_child(void)
{
  current = NULL;
  pthread_mutex_init(&current_lock, NULL);
}
static void watch_forks(void)
{
  pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

static pool *get_pool(void)
{
  pthread_once(&fork_once, watch_forks);
  pthread_mutex_lock(&current_lock);
  if (!current) {
    current = calloc(1, sizeof *current);
    if (current) {
      pthread_mutex_init(&current->busy, NULL);
      pthread_mutex_init(&current->lock, NULL);
      pthread_cond_init(&current->wake, NULL);
      pthread_cond_init(&current->done, NULL);
      current->started = 1;
    }
  }
  pool *p = current;
  pthread_mutex_unlock(&current_lock);
  return p;
}

typedef struct seat {
  pool *p;
  int index;
  unsigned long generation; // the last one before this worker was started
} seat;

static void *worker(void *arg)
{
  seat s = *(seat *)arg;
  free(arg);
  pool *p = s.p;
  for (;;) {
    int spins = 0;
    while (atomic_load_explicit(&p->generation, memory_order_acquire) == s.generation && spins++ < SPINS)
      ;
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->generation) == s.generation)
      pthread_cond_wait(&p->wake, &p->lock);
    s.generation = atomic_load(&p->generation);
    bool mine = s.index < p->wanted;
    void (*task)(void *, int) = p->task;
    void *task_arg = p->arg;
    pthread_mutex_unlock(&p->lock);
    if (!mine)
      continue;
    task(task_arg, s.index);
    if (atomic_fetch_sub(&p->pending, 1) == 1) {
      pthread_mutex_lock(&p->lock);
      pthread_cond_signal(&p->done);
      pthread_mutex_unlock(&p->lock);
    }
  }
  return NULL;
}

// Starts workers up to `n` in all; returns how many there are (fewer when the system refuses).
static int grow(pool *p, int n)
{
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old); // signals belong to the host's threads
  while (p->started < n) {
    seat *s = malloc(sizeof *s);
    if (!s)
      break;
    *s = (seat){p, p->started, atomic_load(&p->generation)};
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker, s)) {
      free(s);
      break;
    }
    pthread_detach(thread);
    p->started++;
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return p->started;
}

void kugel__pool_run(int n, void (*task)(void *, int), void *arg)
{
  pool *p = n > 1 ? get_pool() : NULL;
  if (!p || pthread_mutex_trylock(&p->busy)) {
    for (int i = 0; i < n; i++)
      task(arg, i);
    return;
  }
  int have = grow(p, n), run = have < n ? have : n;
  pthread_mutex_lock(&p->lock);
  p->task = task;
  p->arg = arg;
  p->wanted = run;
  atomic_store(&p->pending, run - 1);
  atomic_fetch_add_explicit(&p->generation, 1, memory_order_release);
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
  task(arg, 0);
  for (int i = run; i < n; i++)
    task(arg, i);
  for (int spins = 0; atomic_load_explicit(&p->pending, memory_order_acquire) > 0 && spins < SPINS; spins++)
    ;
  pthread_mutex_lock(&p->lock);
  while (atomic_load(&p->pending) > 0)
    pthread_cond_wait(&p->done, &p->lock);
  pthread_mutex_unlock(&p->lock);
  pthread_mutex_unlock(&p->busy);
}

static atomic_int chosen_threads;

static int default_threads(void)
{
  cpu_set_t set;
  long n = kugel__env_number("KUGEL_NUM_THREADS", 1, KUGEL__MAX_THREADS, 0);
  if (n)
    return (int)n;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
  n = sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? (int)n : 1;
}

kugel_status kugel_set_num_threads(int threads)
{
  KUGEL_CHECK(threads >= 0 && threads <= KUGEL__MAX_THREADS, KUGEL_EINVAL,
              "threads is %d, must be 0 (default) to %d", threads, KUGEL__MAX_THREADS);
  atomic_store(&chosen_threads, threads);
  return KUGEL_OK;
}

int kugel_get_num_threads(void)
{
  int n = atomic_load(&chosen_threads);
  return n ? n : default_threads();
}
