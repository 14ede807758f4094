/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts of runs that the ranks name themselves. */
#include "comm/layout.h"
#include "core/alloc.h"
#include "core/ctx.h"

static kugel_status check(int64_t count, int64_t runs, const int64_t *first, const int64_t *length)
{
  KUGEL_CHECK(count >= 0 && runs >= 0 && (!runs || (first && length)), KUGEL_EINVAL,
              "count is %lld and runs %lld, must be at least 0, with arrays of both numbers",
              (long long)count, (long long)runs);
  int64_t end = 0;
  for (int64_t i = 0; i < runs; i++) {
    KUGEL_CHECK(first[i] >= end && length[i] >= 0 && first[i] <= count && length[i] <= count - first[i],
                KUGEL_EINVAL, "run %lld is %lld elements from %lld on, must lie in %lld to %lld: runs ascend",
                (long long)i, (long long)length[i], (long long)first[i], (long long)end, (long long)count);
    end = first[i] + length[i];
  }
  return KUGEL_OK;
}

/* Which of all runs each rank has named, and, everywhere, all of them. */
static kugel_status lists(kugel_comm *c, const int64_t *runs, int64_t all, kugel_layout **own,
                          kugel_layout **every)
{
  KUGEL_TRY(kugel__layout_new(c->ctx, c, all, c->size, own));
  KUGEL_TRY(kugel__layout_new(c->ctx, c, all, c->size, every));
  int64_t at = 0;
  for (int r = 0; r < c->size; r++) {
    kugel__layout_rank(*own, r);
    kugel__layout_rank(*every, r);
    kugel__layout_add(*own, r, at, runs[r]);
    kugel__layout_add(*every, r, 0, all);
    at += runs[r];
  }
  return KUGEL_OK;
}

typedef struct run {
  int64_t first, length;
} run;

static kugel_status gather(kugel_comm *c, int64_t count, const int64_t *runs, const int64_t *first,
                           const int64_t *length, kugel_layout **out)
{
  kugel_layout *own = NULL, *every = NULL;
  int64_t total = 0, mine = runs[c->rank], at = 0;
  for (int r = 0; r < c->size; r++)
    total += runs[r];
  run *all = kugel__alloc(c->ctx, (size_t)(total + mine) * sizeof *all + 1), *named = all + total;
  kugel_status s = all ? lists(c, runs, total, &own, &every)
                       : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld runs", (long long)total);
  s = s ? s : kugel__layout_new(c->ctx, c, count, total, out);
  s = kugel__comm_agree(c, s);
  for (int64_t i = 0; i < mine && !s; i++)
    named[i] = (run){first[i], length[i]};
  s = s ? s : kugel__layout_move(own, named, every, all, sizeof *all);
  for (int r = 0; r < c->size && !s; r++) {
    kugel__layout_rank(*out, r);
    for (int64_t i = 0; i < runs[r]; i++, at++)
      kugel__layout_add(*out, r, all[at].first, all[at].length);
  }
  kugel__free(c->ctx, all);
  kugel_layout_destroy(own);
  kugel_layout_destroy(every);
  return s;
}

kugel_status kugel_layout_create(kugel_comm *c, int64_t count, int64_t runs, const int64_t *first,
                                 const int64_t *length, kugel_layout **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the layout");
  *out = NULL;
  KUGEL_CHECK(c, KUGEL_EINVAL, "comm is NULL: make one with kugel_comm_open");
  kugel__comm_enter(c);
  kugel_status s = check(count, runs, first, length);
  int64_t *all = kugel__calloc(c->ctx, (size_t)c->size * sizeof *all);
  if (!s && !all)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a list of %d ranks", c->size);
  s = kugel__comm_same(c, s, 1, &(kugel__same){"count", count});
  if (!s) {
    all[c->rank] = runs;
    s = kugel__comm_reduce(c, all, c->size, KUGEL_COMM_SUM);
    s = s ? s : gather(c, count, all, first, length, out);
  }
  s = kugel__comm_leave(c, s);
  kugel__free(c->ctx, all);
  if (s) {
    kugel_layout_destroy(*out);
    *out = NULL;
  }
  return s;
}
