/* SPDX-License-Identifier: BSD-3-Clause */
/* Between own slices and own lines of ranks with devices: messages in pieces of slices. */
#include "core/alloc.h"
#include "core/ctx.h"
#include "volume/plan/global_device.h"

enum { PIECES = KUGEL__GLOBAL_PIECES };

typedef kugel__global_side side;

int64_t kugel__global_piece(int64_t count)
{
  return (count + PIECES - 1) / PIECES;
}

// The first slice of a piece of so many.
static int64_t begin(int64_t count, int piece)
{
  return kugel__min(count, piece * kugel__global_piece(count));
}

typedef struct piece {
  int64_t z, count; // own slices
} piece;

static int64_t slices_of(const side *d, int rank)
{
  return d->cut[rank + 1] - d->cut[rank];
}

static piece piece_of(const side *d, int rank, int which)
{
  int64_t z = begin(slices_of(d, rank), which);
  return (piece){z, begin(slices_of(d, rank), which + 1) - z};
}

static const kugel__global_lines *lines_of(const side *d)
{
  return d->it->p->global->device->lines;
}

// One rank has its lines as slices.
static bool alone(const side *d)
{
  return d->it->p->global->size == 1;
}

/* ---- places ---- */

/* Messages are [blocks][own slices][rows][pitch], those for, or from, a rank in a row. */
kugel_status kugel__global_far(const kugel_volume *p, kugel__global_lines *l)
{
  const kugel__volume_global *g = p->global;
  const int64_t own[] = {kugel__global_own(g, g->data), kugel__global_own(g, g->results),
                         kugel__global_own(g, l->planes)},
                points = p->axis[1].points;
  size_t bytes = (size_t)(KUGEL__GLOBAL_SIDES * points) * 4;
  uint32_t *host;
  if (g->size == 1)
    return KUGEL_OK;
  for (int i = 0; i < KUGEL__GLOBAL_SIDES; i++)
    KUGEL_CHECK(own[i] * l->rows < UINT32_MAX / l->blocks, KUGEL_ENOTSUP,
                "%lld slices of %lld rows are too many for lists: use more ranks", (long long)own[i],
                (long long)points);
  KUGEL_ALLOC(p->ctx, host, bytes);
  for (int64_t i = 0; i < KUGEL__GLOBAL_SIDES * points; i++) {
    int64_t y = i % points;
    host[i] = (uint32_t)(y / l->rows * own[i / points] * l->rows + y % l->rows);
  }
  kugel__device *dev = kugel__ctx_device(p->ctx);
  kugel_status s = kugel__device_alloc(dev, bytes, &l->far);
  s = s ? s
        : kugel__device_copy(dev, KUGEL__UPLOAD, (kugel__mem){l->far, 0}, (kugel__mem){host, 0}, bytes, NULL);
  kugel__free(p->ctx, host);
  return s;
}

void kugel__global_place(const side *d, int64_t z, kugel__fused_job *job)
{
  const kugel__global_lines *l = lines_of(d);
  job->work_at = alone(d) ? z * l->slice : 0;
  if (!alone(d))
    job->far = (kugel__fused_far){.mem = d->it->room[KUGEL__GLOBAL_MESSAGES],
                                  .rows = {l->far, 0},
                                  .at = z * l->block,
                                  .slice = l->block,
                                  .rows_at = d->which * d->it->p->axis[1].points};
}

static kugel__mem work_of(const side *d, kugel__mem lines)
{
  return alone(d) ? lines : d->it->room[KUGEL__GLOBAL_SLICES];
}

/* ---- exchanges ---- */

/* The table is the plan's: of one job at a time. */
static kugel__wire_job job_of(const side *d, int which, kugel__mem lines, bool back)
{
  const kugel__global_lines *l = lines_of(d);
  const kugel__volume_global *g = d->it->p->global;
  size_t n = (size_t)g->size, number = 2 * d->it->p->real, *t = l->table;
  piece own = piece_of(d, g->rank, which);
  for (int r = 0; r < g->size; r++) {
    piece q = piece_of(d, r, which);
    t[r] = r < l->blocks ? (size_t)(own.count * l->block) * number : 0; // in messages
    t[n + (size_t)r] = (size_t)((r * slices_of(d, g->rank) + own.z) * l->block) * number;
    t[2 * n + (size_t)r] = (size_t)(q.count * l->own) * number; // in lines
    t[3 * n + (size_t)r] = (size_t)((d->cut[r] + q.z) * l->own) * number;
  }
  kugel__mem messages = d->it->room[KUGEL__GLOBAL_MESSAGES];
  kugel__hops *hops = l->hops[d->which][which][back];
  return back ? (kugel__wire_job){lines, messages, t + 2 * n, t + 3 * n, t, t + n, hops}
              : (kugel__wire_job){messages, lines, t, t + n, t + 2 * n, t + 3 * n, hops};
}

kugel_status kugel__global_hops(const kugel_volume *p, kugel__global_lines *l)
{
  const kugel__global_item it = {.p = p};
  const kugel__volume_global *g = p->global;
  const int64_t *cut[] = {g->data, g->results, l->planes};
  for (int i = 0; i < KUGEL__GLOBAL_SIDES * PIECES * 2; i++) {
    int which = i / 2 / PIECES, k = i / 2 % PIECES, back = i % 2;
    side d = {&it, which, cut[which], NULL, NULL};
    kugel__wire_job job = job_of(&d, k, (kugel__mem){NULL, 0}, back);
    KUGEL_TRY(kugel__hops_make(g->device->wire, KUGEL_OK, &job, &l->hops[which][k][back]));
  }
  return kugel__comm_agree(g->comm, kugel__global_device_fits(p));
}

static kugel_status exchange(const side *d, kugel_status s, int which, kugel__mem lines, bool back)
{
  const kugel__global_device *dev = d->it->p->global->device;
  kugel__wire_job job = job_of(d, which, lines, back);
  return kugel__wire_exchange(dev->wire, s, &job, dev->post);
}

static kugel_status step(const side *d, int which, kugel__mem lines)
{
  piece q = piece_of(d, d->it->p->global->rank, which);
  return q.count ? d->step(d, q.z, q.count, work_of(d, lines)) : KUGEL_OK;
}

kugel_status kugel__global_to_lines(const side *d, kugel_status s, kugel__mem lines)
{
  kugel_queue *queue = d->it->queue, *post = d->it->p->global->device->post;
  s = s ? s : step(d, 0, lines);
  for (int k = 0; k < PIECES; k++) {
    s = s ? s : kugel__queue_follow(queue, post);
    if (k + 1 < PIECES) // queued before the exchange, for which the host may wait
      s = s ? s : step(d, k + 1, lines);
    if (alone(d))
      continue;
    s = exchange(d, s, k, lines, false);
    if (s && d->it->p->global->comm->settled)
      return s;
  }
  return s ? s : kugel__queue_follow(post, queue);
}

kugel_status kugel__global_to_slices(const side *d, kugel_status s, kugel__mem lines)
{
  kugel_queue *queue = d->it->queue, *post = d->it->p->global->device->post;
  s = s ? s : kugel__queue_follow(queue, post);
  for (int k = 0; k < PIECES; k++) {
    if (!alone(d)) {
      s = exchange(d, s, k, lines, true);
      if (s && d->it->p->global->comm->settled)
        return s;
      s = s ? s : kugel__queue_follow(post, queue);
    }
    s = s ? s : step(d, k, lines);
  }
  return s;
}
