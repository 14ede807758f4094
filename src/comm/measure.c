/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast the exchange is: the numbers that a model of a machine needs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "comm/comm.h"
#include "core/alloc.h"

enum { MOST = 1000 };

static int64_t nanoseconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// What rank `from` sends to rank `to`.
static unsigned char byte_of(int from, int to)
{
  return (unsigned char)(7 * from + 13 * to + 1);
}

typedef struct blocks {
  unsigned char *send, *recv;
  size_t *table; // [2][ranks]: bytes, where
} blocks;

static kugel_status prepare(kugel_comm *c, int64_t bytes, blocks *b)
{
  size_t n = (size_t)c->size, all = n * (size_t)bytes;
  b->send = kugel__alloc(c->ctx, all);
  b->recv = kugel__alloc(c->ctx, all);
  b->table = kugel__alloc(c->ctx, 2 * n * sizeof *b->table);
  KUGEL_CHECK(b->send && b->recv && b->table, KUGEL_ENOMEM, "no memory for %d messages of %lld bytes, twice",
              c->size, (long long)bytes);
  for (size_t r = 0; r < n; r++) {
    b->table[r] = (int)r == c->rank ? 0 : (size_t)bytes;
    b->table[n + r] = r * (size_t)bytes;
    memset(b->send + r * (size_t)bytes, byte_of(c->rank, (int)r), (size_t)bytes);
  }
  memset(b->recv, 0, all);
  return KUGEL_OK;
}

static kugel_status check(const kugel_comm *c, int64_t bytes, const blocks *b)
{
  for (int r = 0; r < c->size; r++)
    for (int64_t i = 0; i < bytes && r != c->rank; i++)
      KUGEL_CHECK(b->recv[(size_t)r * (size_t)bytes + (size_t)i] == byte_of(r, c->rank), KUGEL_EIO,
                  "byte %lld from rank %d came damaged over %.100s", (long long)i, r, c->library);
  return KUGEL_OK;
}

// The slowest rank's time of each; the last `repeats` count.
static kugel_status measure(kugel_comm *c, int repeats, const blocks *b, int64_t *took)
{
  kugel_exchange x = {b->send, b->table, b->table + c->size, b->recv, b->table, b->table + c->size};
  for (int i = -1; i < repeats; i++) {
    KUGEL_TRY(kugel_comm_barrier(c));
    int64_t start = nanoseconds();
    KUGEL_TRY(kugel__comm_exchange(c, &x));
    if (i >= 0)
      took[i] = nanoseconds() - start;
  }
  return kugel__comm_reduce(c, took, repeats, KUGEL_COMM_MAX);
}

kugel_status kugel_comm_measure(kugel_comm *c, int64_t bytes, int repeats, double *seconds)
{
  KUGEL_CHECK(c, KUGEL_EINVAL, "comm is NULL: make one with kugel_comm_open");
  int64_t took[MOST];
  blocks b = {0};
  kugel__comm_enter(c);
  kugel_status s = KUGEL_OK;
  if (!seconds || bytes < 1 || bytes > (int64_t)1 << 40 || repeats < 1 || repeats > MOST)
    s = KUGEL_FAIL(KUGEL_EINVAL,
                   "bytes is %lld, must be 1 to 2^40, repeats is %d, must be 1 to %d, and seconds not NULL",
                   (long long)bytes, repeats, MOST);
  s = s ? s : prepare(c, bytes, &b);
  kugel__same same[] = {{"bytes", bytes}, {"repeats", repeats}};
  s = kugel__comm_same(c, s, 2, same);
  s = s ? s : measure(c, repeats, &b, took);
  if (!s)
    s = kugel__comm_agree(c, check(c, bytes, &b));
  s = kugel__comm_leave(c, s);
  if (!s) {
    qsort(took, (size_t)repeats, sizeof *took, by_size);
    *seconds = (double)took[repeats / 2] * 1e-9;
  }
  kugel__free(c->ctx, b.send);
  kugel__free(c->ctx, b.recv);
  kugel__free(c->ctx, b.table);
  return s;
}
