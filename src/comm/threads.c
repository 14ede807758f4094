/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that are threads of one process. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "comm/comm.h"
#include "core/alloc.h"
#include "core/ctx.h"

/* What a rank shows to the others between two barriers. */
typedef struct board {
  const void *p;
  const kugel_exchange *x;
  int color, key;
} board;

/* A barrier. Two threads that sleep take 13 us to leave it, two that look 1 us: so they look for a while first, if each has a CPU. */
typedef struct door {
  atomic_uint round;
  atomic_int inside;
  bool looks;
  pthread_mutex_t lock;
  pthread_cond_t opens;
} door;

enum { AT_ONCE = 64 }; // numbers that a reduction shows

typedef struct room {
  atomic_int members;
  kugel_ctx *ctx;
  int size;
  door door;
  board *board;
  int64_t (*numbers)[AT_ONCE]; // [2][size] of every other reduction
} room;

typedef struct member {
  room *room;
  int rank, turn; // of reductions
} member;

static int barrier(void *user)
{
  enum { LOOKS = 50000 }; // 50 us
  room *o = ((member *)user)->room;
  door *d = &o->door;
  unsigned round = atomic_load(&d->round);
  if (atomic_fetch_add(&d->inside, 1) + 1 == o->size) {
    atomic_store(&d->inside, 0);
    pthread_mutex_lock(&d->lock);
    atomic_store(&d->round, round + 1);
    pthread_mutex_unlock(&d->lock);
    pthread_cond_broadcast(&d->opens);
    return 0;
  }
  for (int i = 0; d->looks && i < LOOKS; i++)
    if (atomic_load_explicit(&d->round, memory_order_acquire) != round)
      return 0;
  pthread_mutex_lock(&d->lock);
  while (atomic_load(&d->round) == round)
    pthread_cond_wait(&d->opens, &d->lock);
  pthread_mutex_unlock(&d->lock);
  return 0;
}

static int bcast(void *user, void *data, size_t bytes, int root)
{
  member *m = user;
  m->room->board[m->rank].p = data;
  barrier(m);
  if (m->rank != root)
    memcpy(data, m->room->board[root].p, bytes);
  return barrier(m);
}

static int64_t join(int64_t a, int64_t b, kugel_comm_reduction op)
{
  return op == KUGEL_COMM_MIN ? kugel__min(a, b) : op == KUGEL_COMM_MAX ? kugel__max(a, b) : a + b;
}

/* One barrier: a rank that writes its numbers of the next reduction but one has passed that of the next, so that all have read these. */
static int reduce(void *user, int64_t *values, int n, kugel_comm_reduction op)
{
  member *m = user;
  for (int i = 0; i < n; i += AT_ONCE) {
    int64_t(*all)[AT_ONCE] = m->room->numbers + m->turn * m->room->size;
    int count = (int)kugel__min(n - i, AT_ONCE);
    memcpy(all[m->rank], values + i, (size_t)count * sizeof *values);
    m->turn ^= 1;
    barrier(m);
    for (int r = 0; r < m->room->size; r++)
      for (int k = 0; k < count; k++)
        values[i + k] = r ? join(values[i + k], all[r][k], op) : all[r][k];
  }
  return 0;
}

static int begin(void *user, const kugel_exchange *x, void **ticket)
{
  member *m = user;
  int error = 0;
  *ticket = NULL;
  m->room->board[m->rank].x = x;
  barrier(m);
  for (int r = 0; r < m->room->size; r++) {
    const kugel_exchange *other = m->room->board[r].x;
    if (other->send_bytes[m->rank] != x->recv_bytes[r])
      error = 1;
    else if (x->recv_bytes[r])
      memcpy((char *)x->recv + x->recv_at[r], (const char *)other->send + other->send_at[m->rank],
             x->recv_bytes[r]);
  }
  barrier(m);
  return error;
}

static int end(void *user, void *ticket)
{
  (void)user, (void)ticket;
  return 0;
}

static bool make_door(door *d, bool looks)
{
  d->looks = looks;
  if (pthread_mutex_init(&d->lock, NULL))
    return false;
  if (!pthread_cond_init(&d->opens, NULL))
    return true;
  pthread_mutex_destroy(&d->lock);
  return false;
}

static void close_door(door *d)
{
  pthread_cond_destroy(&d->opens);
  pthread_mutex_destroy(&d->lock);
}

static void close_member(void *user)
{
  member *m = user;
  room *o = m->room;
  kugel_ctx *ctx = o->ctx;
  bool last = atomic_fetch_sub(&o->members, 1) == 1;
  kugel__free(ctx, m);
  if (!last)
    return;
  close_door(&o->door);
  kugel__free(ctx, o->board);
  kugel__free(ctx, o->numbers);
  kugel__free(ctx, o);
  kugel_ctx_destroy(ctx);
}

// A room with a member of each rank at members[0 ... size - 1].
static room *open_room(kugel_ctx *ctx, int size, member **members)
{
  room *o = kugel__calloc(ctx, sizeof *o);
  board *b = kugel__calloc(ctx, (size_t)size * sizeof *b);
  int64_t(*numbers)[AT_ONCE] = kugel__calloc(ctx, 2 * (size_t)size * sizeof *numbers);
  bool all = o && b && numbers && make_door(&o->door, kugel__ctx_threads(kugel__ctx(ctx)) >= size);
  for (int r = 0; r < size; r++) {
    members[r] = all ? kugel__calloc(ctx, sizeof **members) : NULL;
    if (members[r])
      *members[r] = (member){o, r, 0};
  }
  bool complete = all;
  for (int r = 0; r < size; r++)
    complete &= members[r] != NULL;
  if (complete) {
    o->members = size;
    o->ctx = kugel__ctx_retain(ctx);
    o->size = size;
    o->board = b;
    o->numbers = numbers;
    return o;
  }
  for (int r = 0; r < size; r++)
    kugel__free(ctx, members[r]);
  if (all)
    close_door(&o->door);
  kugel__free(ctx, o);
  kugel__free(ctx, b);
  kugel__free(ctx, numbers);
  return NULL;
}

static int split(void *user, int color, int key, void **made, int *rank, int *size);

static const kugel_comm_ops ops = {.size = sizeof ops,
                                   .name = "threads of one process",
                                   .barrier = barrier,
                                   .bcast = bcast,
                                   .reduce = reduce,
                                   .begin = begin,
                                   .end = end,
                                   .split = split,
                                   .close = close_member};

// The lowest rank of each color makes the room; its board entry shows the members.
static int split(void *user, int color, int key, void **made, int *rank, int *size)
{
  member *m = user, *members[1024];
  board *b = m->room->board;
  b[m->rank] = (board){.color = color, .key = key};
  barrier(m);
  int first = -1;
  *rank = *size = 0;
  for (int r = 0; r < m->room->size; r++) {
    if (b[r].color != color)
      continue;
    first = first < 0 ? r : first;
    *size += 1;
    *rank += b[r].key < key || (b[r].key == key && r < m->rank);
  }
  if (first == m->rank)
    b[m->rank].p = open_room(m->room->ctx, *size, members) ? members : NULL;
  barrier(m);
  *made = b[first].p ? ((member *const *)b[first].p)[*rank] : NULL;
  barrier(m);
  return *made ? 0 : 1;
}

kugel_status kugel_comm_threads(kugel_ctx *ctx, int n, kugel_comm **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the communicators");
  KUGEL_CHECK(n >= 1 && n <= 1024, KUGEL_EINVAL, "n is %d, must be 1 to 1024 ranks", n);
  member *members[1024];
  memset(out, 0, (size_t)n * sizeof *out);
  KUGEL_CHECK(open_room(ctx, n, members), KUGEL_ENOMEM, "no memory for %d ranks", n);
  kugel_status s = KUGEL_OK;
  for (int r = 0; r < n; r++) { // on failure too: a member that no communicator takes over is closed
    kugel_status mine = s;
    if (s)
      close_member(members[r]);
    else
      mine = kugel__comm_make(ctx, &ops, members[r], r, n, ops.name, &out[r]);
    s = s ? s : mine;
    if (!s) {
      out[r]->node_rank = r;
      out[r]->node_size = n;
    }
  }
  for (int r = 0; r < n && s; r++) {
    kugel_comm_destroy(out[r]);
    out[r] = NULL;
  }
  int threads = s ? 1 : (int)kugel__max(1, kugel__ctx_threads(out[0]->ctx) / n);
  for (int r = 0; r < n && !s; r++)
    out[r]->threads = threads;
  return s;
}
