/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges in two steps. With (group, seat) of a rank: */
/*   send -> out    PACK   for each other seat: what all ranks in that seat get from here                        */
/*   step 0                to the ranks of the group                                                             */
/*   in, send -> out       TURN, KEEP  for each other group: what its rank in this seat gets from this group     */
/*   in -> recv     HOME   what came from the own group                                                          */
/*   step 1                to the ranks in this seat                                                             */
/*   in -> recv     PLACE  what came from other groups                                                           */
#include "codegen/module.h"
#include "core/alloc.h"
#include "wire/wire.h"

typedef struct part {
  int64_t from, to, n; // bytes, on the device units
} part;

enum { PACK, TURN, KEEP, HOME, PLACE, LISTS };
enum { SEND_BYTES, SEND_AT, RECV_BYTES, RECV_AT, TABLES };
enum { OUT, IN };
enum { CHUNK = 64 << 10, ALIGN = 16 };

struct kugel__hops {
  kugel__module *module;
  kugel__kernel *copy;
  void *parts; // device
  int32_t begin[LISTS + 1];
  size_t *step[2]; // [TABLES][ranks]
};

// What a plan is made from, on the host.
typedef struct plan {
  const kugel__wire *wire;
  const kugel__wire_job *job;
  kugel__hops *hops;
  size_t *come;  // [seats][groups] bytes from this group to ranks in this seat
  size_t *place; // [seats][groups] where these are in the room
  size_t room[2];
  part *parts;
  int64_t most;
  size_t unit;
} plan;

static size_t rounded(size_t bytes)
{
  return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static int rank_at(const kugel__wire *w, int group, int seat)
{
  return w->places.rank[group * w->places.seats + seat];
}

/* ---- whether it pays ---- */

/* Seconds, as kugel plan counts them (cli/common/network.h): of a step, of another message in it, of a byte that goes within the group
 * and is copied three times. */
static const double STEP = 80e-6, PEER = 2e-6, BYTE = 1 / 259e9 + 6 / 4e12;

static kugel_status pays(const kugel__wire *w, const kugel__wire_job *x, bool *yes)
{
  int64_t most[2] = {0, 0}; // bytes and messages of a rank
  for (int r = 0; r < w->comm->size; r++) {
    most[0] += r == w->comm->rank ? 0 : (int64_t)x->send_bytes[r];
    most[1] += r != w->comm->rank && x->send_bytes[r];
  }
  KUGEL_TRY(kugel__comm_reduce(w->comm, most, 2, KUGEL_COMM_MAX));
  double fewer = (double)most[1] - (w->places.seats - 1) - (w->places.groups - 1);
  *yes = w->places.asked || (w->link && PEER * fewer > STEP + BYTE * (double)most[0]);
  return KUGEL_OK;
}

/* ---- sizes ---- */

/* Bytes of the messages of the group to ranks in this seat. */
static kugel_status ask_group(const plan *p, size_t *work)
{
  const kugel__wire *w = p->wire;
  const int seats = w->places.seats, groups = w->places.groups;
  const size_t n = (size_t)w->comm->size, row = (size_t)groups * sizeof *p->come;
  size_t *mine = work + TABLES * n; // [seats][groups]
  for (int s = 0; s < seats; s++) {
    size_t r = (size_t)rank_at(w, w->places.group, s);
    for (int g = 0; g < groups; g++)
      mine[s * groups + g] = p->job->send_bytes[rank_at(w, g, s)];
    work[SEND_BYTES * n + r] = work[RECV_BYTES * n + r] = row;
    work[SEND_AT * n + r] = work[RECV_AT * n + r] = (size_t)s * row;
  }
  kugel_exchange x = {mine,    work + SEND_BYTES * n, work + SEND_AT * n,
                      p->come, work + RECV_BYTES * n, work + RECV_AT * n};
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

/* The unit of all places, and the most parts: a message's are in two lists. */
static void measure(plan *p)
{
  const kugel__wire_job *x = p->job;
  p->unit = ALIGN;
  for (int r = 0; r < p->wire->comm->size; r++) {
    const size_t numbers[] = {x->send_bytes[r], x->send_at[r], x->recv_bytes[r], x->recv_at[r], p->come[r]};
    for (int i = 0; i < 5; i++)
      common_unit(p, numbers[i]);
    p->most += 2 * chunks(x->send_bytes[r]) + 2 * chunks(x->recv_bytes[r]) + 2 * chunks(p->come[r]);
  }
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
    size_t *sent = message(p, 0, SEND_BYTES, other, out), *got = message(p, 0, RECV_BYTES, other, in);
    for (int g = 0; g < o->groups; g++) {
      int to = rank_at(w, g, s), i = s * o->groups + g;
      add(p, PACK, p->job->send_at[to], out, p->job->send_bytes[to]);
      out += rounded(p->job->send_bytes[to]);
      p->place[i] = in;
      in += rounded(p->come[i]);
    }
    end_message(p, sent, out);
    end_message(p, got, in);
  }
  keep_most(p, OUT, out);
  keep_most(p, IN, in);
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
    size_t *sent = g == o->group ? NULL : message(p, 1, SEND_BYTES, other, out);
    for (int s = 0; s < o->seats; s++) {
      int i = s * o->groups + g;
      if (!sent) {
        if (list == HOME && s != o->seat)
          add(p, HOME, p->place[i], p->job->recv_at[rank_at(w, g, s)], p->come[i]);
        continue;
      }
      if (list == TURN && s != o->seat)
        add(p, TURN, p->place[i], out, p->come[i]);
      if (list == KEEP && s == o->seat)
        add(p, KEEP, p->job->send_at[other], out, p->come[i]);
      out += rounded(p->come[i]);
    }
    if (sent)
      end_message(p, sent, out);
  }
  keep_most(p, OUT, out);
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
    size_t *got = message(p, 1, RECV_BYTES, rank_at(w, g, o->seat), in);
    for (int s = 0; s < o->seats; s++) {
      int from = rank_at(w, g, s);
      add(p, PLACE, in, p->job->recv_at[from], p->job->recv_bytes[from]);
      in += rounded(p->job->recv_bytes[from]);
    }
    end_message(p, got, in);
  }
  keep_most(p, IN, in);
}

/* ---- making ---- */

/* The rooms grow to what the jobs need; no job is under way. */
static kugel_status make_rooms(kugel__wire *w, const size_t *bytes)
{
  for (int i = 0; i < 2; i++)
    if (w->room_bytes[i] < bytes[i]) {
      kugel__device_free(w->device, w->room[i].base);
      w->room[i].base = NULL;
      w->room_bytes[i] = 0;
      KUGEL_TRY(kugel__device_alloc(w->device, bytes[i], &w->room[i].base));
      w->room_bytes[i] = bytes[i];
    }
  return KUGEL_OK;
}

static kugel_status load(kugel__wire *w, const plan *p)
{
  static const char *const units[] = {[1] = "#define UNIT char\n",
                                      [4] = "#define UNIT u32\n",
                                      [8] = "#define UNIT uint2\n",
                                      [16] = "#define UNIT uint4\n"};
  kugel__hops *h = p->hops;
  size_t bytes = (size_t)h->begin[LISTS] * sizeof *p->parts;
  KUGEL_TRY(kugel__module_get(w->ctx, &(kugel__module_spec){.name = "wire/hops", .defines = units[p->unit]},
                              &h->module));
  KUGEL_TRY(kugel__module_kernel(h->module, "copy_parts", &h->copy, NULL));
  KUGEL_TRY(make_rooms(w, p->room));
  KUGEL_TRY(kugel__device_alloc(w->device, bytes + 1, &h->parts));
  return bytes ? kugel__device_copy(w->device, KUGEL__UPLOAD, (kugel__mem){h->parts, 0},
                                    (kugel__mem){p->parts, 0}, bytes, NULL)
               : KUGEL_OK;
}

static kugel_status make_lists(kugel__wire *w, plan *p)
{
  measure(p);
  KUGEL_ALLOC(w->ctx, p->parts, (size_t)(p->most + 1) * sizeof *p->parts);
  list_step_0(p);
  for (int list = TURN; list <= HOME; list++)
    list_between(p, list);
  list_step_1(p);
  kugel_status s = load(w, p);
  kugel__free(w->ctx, p->parts);
  return s;
}

kugel_status kugel__hops_make(kugel__wire *w, kugel_status s, const kugel__wire_job *x, kugel__hops **out)
{
  const size_t n = (size_t)w->comm->size;
  bool yes = false;
  *out = NULL;
  if (w->places.groups < 2 || w->places.seats < 2)
    return s;
  KUGEL_TRY(kugel__comm_agree(w->comm, s));
  KUGEL_TRY(pays(w, x, &yes));
  if (!yes)
    return KUGEL_OK;
  kugel__hops *h = kugel__calloc(w->ctx, sizeof *h + 2 * TABLES * n * sizeof(size_t));
  size_t *work = kugel__calloc(w->ctx, (TABLES + 3) * n * sizeof *work);
  plan p = {.wire = w, .job = x, .hops = h};
  if (h && work) {
    h->step[0] = (size_t *)(h + 1);
    h->step[1] = h->step[0] + TABLES * n;
    p.come = work + (TABLES + 1) * n;
    p.place = p.come + n;
  } else {
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory to exchange with %zu ranks in two steps", n);
  }
  s = kugel__comm_agree(w->comm, s);
  s = s ? s : ask_group(&p, work);
  s = s ? s : make_lists(w, &p);
  s = s && w->comm->settled ? s : kugel__comm_agree(w->comm, s);
  kugel__free(w->ctx, work);
  if (s)
    kugel__hops_free(w, h);
  else
    *out = h;
  return s;
}

void kugel__hops_free(kugel__wire *w, kugel__hops *h)
{
  if (!h)
    return;
  kugel__module_put(h->module);
  kugel__device_free(w->device, h->parts);
  kugel__free(w->ctx, h);
}

void kugel__hops_close(kugel__wire *w)
{
  for (int i = 0; i < 2; i++)
    if (w->room[i].base)
      kugel__device_free(w->device, w->room[i].base);
}

size_t kugel__hops_room(const kugel__wire *w)
{
  return w->room_bytes[OUT] + w->room_bytes[IN];
}

/* ---- exchanges ---- */

static kugel_status copy(const kugel__wire *w, const kugel__hops *h, int list, kugel__mem from, kugel__mem to,
                         kugel_queue *queue)
{
  int32_t first = h->begin[list], count = h->begin[list + 1] - first;
  kugel__mem parts = {h->parts, 0};
  kugel__grid grid = {.blocks = {(uint32_t)count}, .threads = {256}};
  kugel__arg args[] = {KUGEL__MEM_ARG(from), KUGEL__MEM_ARG(to), KUGEL__MEM_ARG(parts),
                       KUGEL__VALUE_ARG(first)};
  return count ? kugel__launch(w->device, h->copy, &grid, 4, args, queue) : KUGEL_OK;
}

static kugel_status step(kugel__wire *w, const kugel__hops *h, int which, kugel_queue *queue)
{
  size_t n = (size_t)w->comm->size, *t = h->step[which];
  kugel__wire_job x = {.send = w->room[OUT],
                       .recv = w->room[IN],
                       .send_bytes = t + SEND_BYTES * n,
                       .send_at = t + SEND_AT * n,
                       .recv_bytes = t + RECV_BYTES * n,
                       .recv_at = t + RECV_AT * n};
  return kugel__straight_exchange(w, &x, queue);
}

/* Both steps are made after a failure too: other ranks wait for them. */
kugel_status kugel__hops_exchange(kugel__wire *w, const kugel__wire_job *x, kugel_queue *queue)
{
  const kugel__hops *h = x->hops;
  kugel_status s = copy(w, h, PACK, x->send, w->room[OUT], queue);
  kugel_status gone = step(w, h, 0, queue);
  s = s ? s : gone;
  s = s ? s : copy(w, h, TURN, w->room[IN], w->room[OUT], queue);
  s = s ? s : copy(w, h, KEEP, x->send, w->room[OUT], queue);
  s = s ? s : copy(w, h, HOME, w->room[IN], x->recv, queue);
  gone = step(w, h, 1, queue);
  s = s ? s : gone;
  return s ? s : copy(w, h, PLACE, w->room[IN], x->recv, queue);
}
