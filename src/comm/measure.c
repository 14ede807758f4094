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

unsigned char kugel__comm_byte(int from, int to)
{
  return (unsigned char)(7 * from + 13 * to + 1);
}

kugel_status kugel__comm_check_bytes(const kugel_comm *c, int from, const unsigned char *bytes, int64_t n,
                                     const char *over)
{
  const unsigned char want = kugel__comm_byte(from, c->rank);
  for (int64_t i = 0; i < n; i++)
    KUGEL_CHECK(bytes[i] == want, KUGEL_EIO, "byte %lld from rank %d came damaged over %.100s", (long long)i,
                from, over);
  return KUGEL_OK;
}

/* ---- between processes ---- */

typedef struct blocks {
  kugel_comm *comm;
  int64_t bytes;
  unsigned char *send, *recv;
  size_t *table; // [2][ranks]: bytes, where
} blocks;

static kugel_status prepare(void *arg)
{
  blocks *b = arg;
  kugel_comm *c = b->comm;
  size_t n = (size_t)c->size, each = (size_t)b->bytes, all = n * each;
  b->send = kugel__alloc(c->ctx, all);
  b->recv = kugel__alloc(c->ctx, all);
  b->table = kugel__alloc(c->ctx, 2 * n * sizeof *b->table);
  KUGEL_CHECK(b->send && b->recv && b->table, KUGEL_ENOMEM, "no memory for %d messages of %lld bytes, twice",
              c->size, (long long)b->bytes);
  for (size_t r = 0; r < n; r++) {
    b->table[r] = (int)r == c->rank ? 0 : each;
    b->table[n + r] = r * each;
    memset(b->send + r * each, kugel__comm_byte(c->rank, (int)r), each);
  }
  memset(b->recv, 0, all);
  return KUGEL_OK;
}

static kugel_status exchange(void *arg)
{
  blocks *b = arg;
  size_t n = (size_t)b->comm->size;
  kugel_exchange x = {b->send, b->table, b->table + n, b->recv, b->table, b->table + n};
  return kugel__comm_exchange(b->comm, &x);
}

static kugel_status check(void *arg)
{
  blocks *b = arg;
  for (int r = 0; r < b->comm->size; r++)
    if (r != b->comm->rank)
      KUGEL_TRY(kugel__comm_check_bytes(b->comm, r, b->recv + (size_t)r * (size_t)b->bytes, b->bytes,
                                        b->comm->library));
  return KUGEL_OK;
}

/* ---- any ---- */

// The slowest rank's time of each; the last `repeats` count. All ranks agree before each, which brings them together.
static kugel_status measure(kugel_comm *c, int repeats, const kugel__measured *of, int64_t *took)
{
  kugel_status s = KUGEL_OK;
  for (int i = -1; i < repeats; i++) {
    KUGEL_TRY(kugel__comm_agree(c, s));
    int64_t start = nanoseconds();
    s = of->exchange(of->arg);
    if (s && c->settled)
      return s;
    if (i >= 0)
      took[i] = nanoseconds() - start;
  }
  KUGEL_TRY(kugel__comm_agree(c, s));
  return kugel__comm_reduce(c, took, repeats, KUGEL_COMM_MAX);
}

kugel_status kugel__comm_measure(kugel_comm *c, int64_t bytes, int repeats, const kugel__measured *of,
                                 double *seconds)
{
  int64_t took[MOST];
  kugel__comm_enter(c);
  kugel_status s = KUGEL_OK;
  if (!seconds || bytes < 1 || bytes > (int64_t)1 << 40 || repeats < 1 || repeats > MOST)
    s = KUGEL_FAIL(KUGEL_EINVAL,
                   "bytes is %lld, must be 1 to 2^40, repeats is %d, must be 1 to %d, and seconds not NULL",
                   (long long)bytes, repeats, MOST);
  kugel__same same[] = {{"bytes", bytes}, {"repeats", repeats}};
  s = kugel__comm_same(c, s, 2, same);
  if (!s) {
    s = of->prepare(of->arg);
    s = s && c->settled ? s : kugel__comm_agree(c, s);
  }
  s = s ? s : measure(c, repeats, of, took);
  if (!s)
    s = kugel__comm_agree(c, of->check(of->arg));
  s = kugel__comm_leave(c, s);
  if (!s) {
    qsort(took, (size_t)repeats, sizeof *took, by_size);
    *seconds = (double)took[repeats / 2] * 1e-9;
  }
  return s;
}

kugel_status kugel_comm_measure(kugel_comm *c, int64_t bytes, int repeats, double *seconds)
{
  KUGEL_CHECK(c, KUGEL_EINVAL, "comm is NULL: make one with kugel_comm_open");
  blocks b = {.comm = c, .bytes = bytes};
  const kugel__measured of = {prepare, exchange, check, &b};
  kugel_status s = kugel__comm_measure(c, bytes, repeats, &of, seconds);
  kugel__free(c->ctx, b.send);
  kugel__free(c->ctx, b.recv);
  kugel__free(c->ctx, b.table);
  return s;
}
