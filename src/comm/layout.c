/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts: which elements each rank has. */
#include <string.h>
#include "comm/layout.h"
#include "core/alloc.h"
#include "core/ctx.h"

kugel_status kugel__layout_new(kugel_ctx *ctx, kugel_comm *comm, int64_t count, int64_t runs,
                               kugel_layout **out)
{
  *out = NULL;
  kugel_layout *l = kugel__calloc(ctx, sizeof *l);
  KUGEL_CHECK(l, KUGEL_ENOMEM, "no memory for a layout");
  l->ctx = kugel__ctx_retain(ctx);
  l->comm = comm;
  l->count = count;
  l->begin = kugel__calloc(ctx, ((size_t)comm->size + 1) * sizeof *l->begin);
  l->part = kugel__calloc(ctx, (size_t)comm->size * sizeof *l->part);
  l->runs = kugel__alloc(ctx, (size_t)kugel__max(1, runs) * sizeof *l->runs);
  if (!l->begin || !l->part || !l->runs) {
    kugel_layout_destroy(l);
    return KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a layout of %lld runs", (long long)runs);
  }
  *out = l;
  return KUGEL_OK;
}

void kugel__layout_rank(kugel_layout *l, int rank)
{
  l->begin[rank + 1] = l->begin[rank];
}

void kugel__layout_add(kugel_layout *l, int rank, int64_t first, int64_t n)
{
  kugel__layout_add_at(l, rank, first, n, l->part[rank]);
}

void kugel__layout_add_at(kugel_layout *l, int rank, int64_t first, int64_t n, int64_t at)
{
  kugel__run *last = l->begin[rank + 1] > l->begin[rank] ? &l->runs[l->begin[rank + 1] - 1] : NULL;
  if (n == 0)
    return;
  if (last && last->first + last->n == first && last->at + last->n == at)
    last->n += n;
  else
    l->runs[l->begin[rank + 1]++] = (kugel__run){first, n, at};
  l->part[rank] += n;
}

kugel_status kugel__layout_copy(kugel_ctx *ctx, const kugel_layout *from, kugel_layout **out)
{
  int ranks = from->comm->size;
  int64_t runs = from->begin[ranks];
  kugel_layout *l;
  KUGEL_TRY(kugel__layout_new(ctx, from->comm, from->count, runs, &l));
  memcpy(l->begin, from->begin, ((size_t)ranks + 1) * sizeof *l->begin);
  memcpy(l->part, from->part, (size_t)ranks * sizeof *l->part);
  memcpy(l->runs, from->runs, (size_t)runs * sizeof *l->runs);
  *out = l;
  return KUGEL_OK;
}

kugel_status kugel_layout_whole(kugel_comm *comm, int64_t count, int root, kugel_layout **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the layout");
  *out = NULL;
  KUGEL_CHECK(comm, KUGEL_EINVAL, "comm is NULL: make one with kugel_comm_open");
  kugel__comm_enter(comm);
  kugel_status s = KUGEL_OK;
  if (count < 0 || root < KUGEL_EVERY_RANK || root >= comm->size)
    s = KUGEL_FAIL(KUGEL_EINVAL,
                   "count is %lld, must be at least 0, and root is %d, must be 0 to %d, or KUGEL_EVERY_RANK",
                   (long long)count, root, comm->size - 1);
  if (!s)
    s = kugel__layout_new(comm->ctx, comm, count, root < 0 ? comm->size : 1, out);
  kugel__same same[] = {{"count", count}, {"root", root}};
  s = kugel__comm_same(comm, s, 2, same);
  for (int r = 0; r < comm->size && !s; r++) {
    kugel__layout_rank(*out, r);
    if (root < 0 || r == root)
      kugel__layout_add(*out, r, 0, count);
  }
  if (s) {
    kugel_layout_destroy(*out);
    *out = NULL;
    return s;
  }
  (*out)->everywhere = root < 0 && comm->size > 1;
  return KUGEL_OK;
}

void kugel_layout_destroy(kugel_layout *l)
{
  if (!l)
    return;
  kugel_ctx *ctx = l->ctx;
  kugel__free(ctx, l->begin);
  kugel__free(ctx, l->part);
  kugel__free(ctx, l->runs);
  kugel__free(ctx, l);
  kugel_ctx_destroy(ctx);
}

int64_t kugel_layout_count(const kugel_layout *l, int rank)
{
  if (!l || rank < KUGEL_EVERY_RANK || rank >= l->comm->size)
    return 0;
  return rank < 0 ? l->count : l->part[rank];
}

kugel_status kugel_layout_runs(const kugel_layout *l, int rank, int64_t most, int64_t *first, int64_t *length,
                               int64_t *runs)
{
  KUGEL_CHECK(l, KUGEL_EINVAL, "layout is NULL: make one with kugel_layout_whole or kugel_sht_layout");
  KUGEL_CHECK(rank >= 0 && rank < l->comm->size, KUGEL_EINVAL, "rank is %d, must be 0 to %d", rank,
              l->comm->size - 1);
  KUGEL_CHECK(most >= 0, KUGEL_EINVAL, "most is %lld, must be at least 0", (long long)most);
  int64_t n = l->begin[rank + 1] - l->begin[rank];
  const kugel__run *run = l->runs + l->begin[rank];
  for (int64_t i = 0; i < kugel__min(n, most); i++) {
    if (first)
      first[i] = run[i].first;
    if (length)
      length[i] = run[i].n;
  }
  if (runs)
    *runs = n;
  return KUGEL_OK;
}
