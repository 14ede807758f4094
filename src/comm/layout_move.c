/* SPDX-License-Identifier: BSD-3-Clause */
/* Moving arrays between layouts: what two ranks exchange is the overlap of their runs, in ascending order. What a rank keeps is copied
 * from array to array, while messages fly. */
#include <string.h>
#include "comm/layout.h"
#include "core/alloc.h"
#include "core/array.h"

/* Walks the overlap of the runs of two ranks; copies it if `copy`, from (or to) `packed`. Returns its elements. */
typedef struct walk {
  const kugel_layout *mine, *theirs;
  int my_rank, their_rank;
} walk;

static int64_t overlap(walk w, size_t bytes, char *part, char *packed, bool pack)
{
  const kugel__run *a = w.mine->runs + w.mine->begin[w.my_rank],
                   *a_end = w.mine->runs + w.mine->begin[w.my_rank + 1];
  const kugel__run *b = w.theirs->runs + w.theirs->begin[w.their_rank],
                   *b_end = w.theirs->runs + w.theirs->begin[w.their_rank + 1];
  int64_t total = 0;
  while (a < a_end && b < b_end) {
    int64_t lo = kugel__max(a->first, b->first), hi = kugel__min(a->first + a->n, b->first + b->n);
    if (lo < hi) {
      char *here = part ? part + (size_t)(a->at + lo - a->first) * bytes : NULL;
      char *there = packed ? packed + (size_t)total * bytes : NULL;
      if (here && there)
        memcpy(pack ? there : here, pack ? here : there, (size_t)(hi - lo) * bytes);
      total += hi - lo;
    }
    if (a->first + a->n < b->first + b->n)
      a++;
    else
      b++;
  }
  return total;
}

static void keep(const kugel_layout *from, const char *x, const kugel_layout *to, char *y, int rank,
                 size_t bytes)
{
  const kugel__run *a = from->runs + from->begin[rank], *a_end = from->runs + from->begin[rank + 1];
  const kugel__run *b = to->runs + to->begin[rank], *b_end = to->runs + to->begin[rank + 1];
  while (a < a_end && b < b_end) {
    int64_t lo = kugel__max(a->first, b->first), hi = kugel__min(a->first + a->n, b->first + b->n);
    if (lo < hi)
      memcpy(y + (size_t)(b->at + lo - b->first) * bytes, x + (size_t)(a->at + lo - a->first) * bytes,
             (size_t)(hi - lo) * bytes);
    if (a->first + a->n < b->first + b->n)
      a++;
    else
      b++;
  }
}

kugel_status kugel__layout_move(const kugel_layout *from, const void *x, const kugel_layout *to, void *y,
                                size_t bytes)
{
  kugel_comm *c = from->comm;
  size_t n = (size_t)c->size, out = 0, in = 0;
  size_t *table = kugel__scratch_get(c->ctx, 4 * n * sizeof *table);
  size_t *sends = table, *send_at = table + n, *recvs = table + 2 * n, *recv_at = table + 3 * n;
  kugel_status s = table ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a list of %d ranks", c->size);
  for (int r = 0; r < c->size && !s; r++) {
    bool other = r != c->rank;
    sends[r] = other ? (size_t)overlap((walk){from, to, c->rank, r}, bytes, NULL, NULL, true) * bytes : 0;
    recvs[r] = other ? (size_t)overlap((walk){to, from, c->rank, r}, bytes, NULL, NULL, false) * bytes : 0;
    send_at[r] = out;
    recv_at[r] = in;
    out += sends[r];
    in += recvs[r];
  }
  char *buffer = s ? NULL : kugel__scratch_get(c->ctx, out + in + 1);
  if (!s && !buffer)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %zu bytes to send and receive", out + in);
  s = kugel__comm_agree(c, s);
  for (int r = 0; r < c->size && !s; r++)
    if (sends[r])
      overlap((walk){from, to, c->rank, r}, bytes, (char *)x, buffer + send_at[r], true);
  if (!s) {
    kugel_exchange e = {buffer, sends, send_at, buffer + out, recvs, recv_at};
    kugel__flight flight;
    s = kugel__comm_begin(c, &e, &flight);
    if (!s)
      keep(from, x, to, y, c->rank, bytes);
    kugel_status landed = kugel__comm_end(c, &flight);
    s = s ? s : landed;
  }
  for (int r = 0; r < c->size && !s; r++)
    if (recvs[r])
      overlap((walk){to, from, c->rank, r}, bytes, y, buffer + out + recv_at[r], false);
  kugel__scratch_put(c->ctx, buffer);
  kugel__scratch_put(c->ctx, table);
  return s;
}

static kugel_status check(const kugel_layout *l, const kugel_array *a, const char *name, int64_t *batch)
{
  int64_t n = l->part[l->comm->rank];
  if (!a)
    return n ? KUGEL_FAIL(KUGEL_EINVAL, "%s is NULL: pass an array of %lld elements", name, (long long)n)
             : KUGEL_OK;
  KUGEL_CHECK(a->dtype.bits % 8 == 0 && a->dtype.bits >= 8, KUGEL_ESHAPE,
              "%s has elements of %d bits, must be bytes", name, a->dtype.bits);
  return kugel__array_check(a, name, a->dtype, 1, &n, batch);
}

kugel_status kugel_layout_move(const kugel_layout *from, const kugel_array *x, const kugel_layout *to,
                               const kugel_array *y)
{
  KUGEL_CHECK(from && to, KUGEL_EINVAL,
              "%s is NULL: make layouts with kugel_layout_whole or kugel_sht_layout", from ? "to" : "from");
  kugel_comm *c = from->comm;
  kugel__comm_enter(c);
  int64_t batch_x = -1, batch_y = -1;
  kugel_status s = KUGEL_OK;
  if (to->comm != c || from->count != to->count)
    s = KUGEL_FAIL(
        KUGEL_EINVAL,
        "the layouts are of %lld and %lld elements, or of two communicators: both must be the same",
        (long long)from->count, (long long)to->count);
  else if (from->everywhere)
    s = KUGEL_FAIL(KUGEL_EINVAL, "from has elements on several ranks: move from a layout that has each once");
  s = s ? s : check(from, x, "x", &batch_x);
  s = s ? s : check(to, y, "y", &batch_y);
  if (!s && x && y && (!kugel__dtype_is(x->dtype, y->dtype) || batch_x != batch_y))
    s = KUGEL_FAIL(KUGEL_ESHAPE,
                   "x and y differ in dtype, or in the batch, which is %lld and %lld: give arrays alike",
                   (long long)batch_x, (long long)batch_y);
  if (!s && x && y)
    s = kugel__array_disjoint(x, "x", y, "y");
  // Ranks without elements learn both numbers from the others.
  int64_t v[] = {s ? c->rank : c->size,
                 x   ? -batch_x
                 : y ? -batch_y
                     : 0,
                 x   ? -x->dtype.bits
                 : y ? -y->dtype.bits
                     : 0};
  kugel_status said = kugel__comm_reduce(c, v, 3, KUGEL_COMM_MIN);
  int64_t batch = -v[1], bits = -v[2];
  if (!s && !said &&
      ((x && (batch_x != batch || x->dtype.bits != bits)) ||
       (y && (batch_y != batch || y->dtype.bits != bits))))
    s = KUGEL_FAIL(KUGEL_ESHAPE,
                   "the batch or the dtype differs between ranks: the largest are %lld and %lld bits",
                   (long long)batch, (long long)bits);
  s = s ? s : said;
  s = said ? s : kugel__comm_agree(c, s);
  size_t bytes = (size_t)bits / 8, n_x = (size_t)from->part[c->rank], n_y = (size_t)to->part[c->rank];
  for (int64_t b = 0; b < batch && !s; b++)
    s = kugel__layout_move(from, x ? (char *)kugel__array_data(x) + (size_t)b * n_x * bytes : NULL, to,
                           y ? (char *)kugel__array_data(y) + (size_t)b * n_y * bytes : NULL, bytes);
  return kugel__comm_leave(c, s);
}
