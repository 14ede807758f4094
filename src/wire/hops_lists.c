/* SPDX-License-Identifier: BSD-3-Clause */
/* Which parts go where in exchanges in two steps. */
#include "core/alloc.h"
#include "wire/hops.h"

typedef kugel__hops_plan plan;
typedef kugel__hops_part part;
enum {
  PACK = KUGEL__HOPS_PACK,
  TURN = KUGEL__HOPS_TURN,
  KEEP = KUGEL__HOPS_KEEP,
  HOME = KUGEL__HOPS_HOME,
  PLACE = KUGEL__HOPS_PLACE,
  SEND = KUGEL__HOPS_SEND,
  RECV = KUGEL__HOPS_RECV
};
enum { CHUNK = 64 << 10, ALIGN = 16 };

static size_t rounded(size_t bytes)
{
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static int rank_at(const kugel__wire *w, int group, int seat)
{
  return w->places.rank[group * w->places.seats + seat];
}

size_t kugel__hops_work(const kugel__wire *w)
{
  return (KUGEL__HOPS_TABLES + 3) * (size_t)w->comm->size;
}

/* [seats][groups] bytes from this group to ranks in this seat. */
static size_t *come_of(const plan *p)
{
  return p->work + (KUGEL__HOPS_TABLES + 1) * (size_t)p->wire->comm->size;
}

/* [seats][groups] where these are in the room. */
static size_t *place_of(const plan *p)
{
  return come_of(p) + p->wire->comm->size;
}

/* ---- sizes ---- */

/* Bytes of the messages of the group to ranks in this seat. */
static kugel_status ask_group(const plan *p)
{
  const kugel__wire *w = p->wire;
  const int seats = w->places.seats, groups = w->places.groups;
  const size_t n = (size_t)w->comm->size, row = (size_t)groups * sizeof *p->work;
  size_t *work = p->work, *mine = work + KUGEL__HOPS_TABLES * n; // [seats][groups]
  for (int s = 0; s < seats; s++) {
    size_t r = (size_t)rank_at(w, w->places.group, s);
    for (int g = 0; g < groups; g++)
      mine[s * groups + g] = p->job->send_bytes[rank_at(w, g, s)];
    work[SEND * n + r] = work[RECV * n + r] = row;
    work[KUGEL__HOPS_SEND_AT * n + r] = work[KUGEL__HOPS_RECV_AT * n + r] = (size_t)s * row;
  }
  kugel_exchange x = {mine,       work + SEND * n, work + KUGEL__HOPS_SEND_AT * n,
                      come_of(p), work + RECV * n, work + KUGEL__HOPS_RECV_AT * n};
  return kugel__comm_exchange(w->comm, &x);
}

static void common_unit(plan *p, size_t bytes)
{
  while (bytes % p->unit)
    p->unit = p->unit > 4 ? p->unit / 2 : 1;
}

static int64_t chunks(size_t bytes)
{
  return (int64_t)((bytes + CHUNK - 1) / CHUNK);
}

/* The unit of all places; the most parts, since a message's are in two lists. */
static int64_t measure(plan *p)
{
  int64_t most = 0;
  const kugel__wire_job *x = p->job;
  p->unit = ALIGN;
  for (int r = 0; r < p->wire->comm->size; r++) {
    const size_t numbers[] = {x->send_bytes[r], x->send_at[r], x->recv_bytes[r], x->recv_at[r],
                              come_of(p)[r]};
    for (int i = 0; i < 5; i++)
      common_unit(p, numbers[i]);
    most += 2 * chunks(x->send_bytes[r]) + 2 * chunks(x->recv_bytes[r]) + 2 * chunks(come_of(p)[r]);
  }
  return most;
}

/* ---- lists ---- */

static void begin_list(const plan *p, int list)
{
  p->hops->begin[list + 1] = p->hops->begin[list];
}

static void add(const plan *p, int list, size_t from, size_t to, size_t bytes)
{
  for (size_t at = 0; at < bytes; at += CHUNK)
    p->parts[p->hops->begin[list + 1]++] =
        (part){(int64_t)((from + at) / p->unit), (int64_t)((to + at) / p->unit),
               (int64_t)((bytes - at < CHUNK ? bytes - at : CHUNK) / p->unit)};
}

/* A message of a step begins at *at of the room. */
static size_t *message(const plan *p, int step, int bytes_table, int rank, size_t at)
{
  size_t n = (size_t)p->wire->comm->size, *t = p->hops->step[step] + (size_t)bytes_table * n + rank;
  t[n] = at;
  return t;
}

static void end_message(const plan *p, size_t *bytes, size_t at)
{
  *bytes = at - bytes[p->wire->comm->size];
}

static void keep_most(plan *p, int which, size_t at)
{
  p->room[which] = p->room[which] > at ? p->room[which] : at;
}

static void list_step_0(plan *p)
{
  const kugel__wire *w = p->wire;
  const kugel__wire_places *o = &w->places;
  size_t out = 0, in = 0;
  begin_list(p, PACK);
  for (int s = 0; s < o->seats; s++) {
    int other = rank_at(w, o->group, s);
    if (s == o->seat)
      continue;
    size_t *sent = message(p, 0, SEND, other, out), *got = message(p, 0, RECV, other, in);
    for (int g = 0; g < o->groups; g++) {
      int to = rank_at(w, g, s), i = s * o->groups + g;
      add(p, PACK, p->job->send_at[to], out, p->job->send_bytes[to]);
      out += rounded(p->job->send_bytes[to]);
      place_of(p)[i] = in;
      in += rounded(come_of(p)[i]);
    }
    end_message(p, sent, out);
    end_message(p, got, in);
  }
  keep_most(p, KUGEL__HOPS_OUT, out);
  keep_most(p, KUGEL__HOPS_IN, in);
}

/* `list`: one of those in between. */
static void list_between(plan *p, int list)
{
  const kugel__wire *w = p->wire;
  const kugel__wire_places *o = &w->places;
  size_t out = 0;
  begin_list(p, list);
  for (int g = 0; g < o->groups; g++) {
    int other = rank_at(w, g, o->seat);
    size_t *sent = g == o->group ? NULL : message(p, 1, SEND, other, out);
    for (int s = 0; s < o->seats; s++) {
      int i = s * o->groups + g;
      if (!sent) {
        if (list == HOME && s != o->seat)
          add(p, HOME, place_of(p)[i], p->job->recv_at[rank_at(w, g, s)], come_of(p)[i]);
        continue;
      }
      if (list == TURN && s != o->seat)
        add(p, TURN, place_of(p)[i], out, come_of(p)[i]);
      if (list == KEEP && s == o->seat)
        add(p, KEEP, p->job->send_at[other], out, come_of(p)[i]);
      out += rounded(come_of(p)[i]);
    }
    if (sent)
      end_message(p, sent, out);
  }
  keep_most(p, KUGEL__HOPS_OUT, out);
}

static void list_step_1(plan *p)
{
  const kugel__wire *w = p->wire;
  const kugel__wire_places *o = &w->places;
  size_t in = 0;
  begin_list(p, PLACE);
  for (int g = 0; g < o->groups; g++) {
    if (g == o->group)
      continue;
    size_t *got = message(p, 1, RECV, rank_at(w, g, o->seat), in);
    for (int s = 0; s < o->seats; s++) {
      int from = rank_at(w, g, s);
      add(p, PLACE, in, p->job->recv_at[from], p->job->recv_bytes[from]);
      in += rounded(p->job->recv_bytes[from]);
    }
    end_message(p, got, in);
  }
  keep_most(p, KUGEL__HOPS_IN, in);
}

kugel_status kugel__hops_list(plan *p)
{
  KUGEL_TRY(ask_group(p));
  int64_t most = measure(p);
  KUGEL_ALLOC(p->wire->ctx, p->parts, (size_t)(most + 1) * sizeof *p->parts);
  list_step_0(p);
  for (int list = TURN; list <= HOME; list++)
    list_between(p, list);
  list_step_1(p);
  return KUGEL_OK;
}
