/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges in two steps: whether they pay, making them, going. */
#include "core/alloc.h"
#include "wire/hops.h"

/* ---- whether it pays ---- */

/* Seconds, as kugel plan counts them (cli/common/network.h): of a step, of another message in it, of a byte that goes within the group
 * and is copied three times. */
static const double STEP = 20e-6, PEER = 2e-6, BYTE = 1 / 300e9 + 6 / 4e12;

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

static kugel_status load(kugel__wire *w, const kugel__hops_plan *p)
{
  static const char *const units[] = {[1] = "#define UNIT char\n",
                                      [4] = "#define UNIT u32\n",
                                      [8] = "#define UNIT uint2\n",
                                      [16] = "#define UNIT uint4\n"};
  kugel__hops *h = p->hops;
  size_t bytes = (size_t)h->begin[KUGEL__HOPS_LISTS] * sizeof *p->parts;
  KUGEL_TRY(kugel__module_get(w->ctx, &(kugel__module_spec){.name = "wire/hops", .defines = units[p->unit]},
                              &h->module));
  KUGEL_TRY(kugel__module_kernel(h->module, "copy_parts", &h->copy, NULL));
  KUGEL_TRY(make_rooms(w, p->room));
  KUGEL_TRY(kugel__device_alloc(w->device, bytes + 1, &h->parts));
  return bytes ? kugel__device_copy(w->device, KUGEL__UPLOAD, (kugel__mem){h->parts, 0},
                                    (kugel__mem){p->parts, 0}, bytes, NULL)
               : KUGEL_OK;
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
  kugel__hops *h = kugel__calloc(w->ctx, sizeof *h + 2 * KUGEL__HOPS_TABLES * n * sizeof(size_t));
  size_t *work = kugel__calloc(w->ctx, kugel__hops_work(w) * sizeof *work);
  kugel__hops_plan p = {.wire = w, .job = x, .hops = h, .work = work};
  if (h && work) {
    h->step[0] = (size_t *)(h + 1);
    h->step[1] = h->step[0] + KUGEL__HOPS_TABLES * n;
  } else {
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory to exchange with %zu ranks in two steps", n);
  }
  s = kugel__comm_agree(w->comm, s);
  s = s ? s : kugel__hops_list(&p);
  s = s ? s : load(w, &p);
  s = s && w->comm->settled ? s : kugel__comm_agree(w->comm, s);
  kugel__free(w->ctx, p.parts);
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
  return w->room_bytes[KUGEL__HOPS_OUT] + w->room_bytes[KUGEL__HOPS_IN];
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
  kugel__wire_job x = {.send = w->room[KUGEL__HOPS_OUT],
                       .recv = w->room[KUGEL__HOPS_IN],
                       .send_bytes = t + KUGEL__HOPS_SEND * n,
                       .send_at = t + KUGEL__HOPS_SEND_AT * n,
                       .recv_bytes = t + KUGEL__HOPS_RECV * n,
                       .recv_at = t + KUGEL__HOPS_RECV_AT * n};
  return kugel__straight_exchange(w, &x, queue);
}

/* Both steps are made after a failure too: other ranks wait for them. */
kugel_status kugel__hops_exchange(kugel__wire *w, const kugel__wire_job *x, kugel_queue *queue)
{
  const kugel__hops *h = x->hops;
  kugel_status s = copy(w, h, KUGEL__HOPS_PACK, x->send, w->room[KUGEL__HOPS_OUT], queue);
  kugel_status gone = step(w, h, 0, queue);
  s = s ? s : gone;
  s = s ? s : copy(w, h, KUGEL__HOPS_TURN, w->room[KUGEL__HOPS_IN], w->room[KUGEL__HOPS_OUT], queue);
  s = s ? s : copy(w, h, KUGEL__HOPS_KEEP, x->send, w->room[KUGEL__HOPS_OUT], queue);
  s = s ? s : copy(w, h, KUGEL__HOPS_HOME, w->room[KUGEL__HOPS_IN], x->recv, queue);
  gone = step(w, h, 1, queue);
  s = s ? s : gone;
  return s ? s : copy(w, h, KUGEL__HOPS_PLACE, w->room[KUGEL__HOPS_IN], x->recv, queue);
}
