/* SPDX-License-Identifier: BSD-3-Clause */
/* Between own slices and own lines of ranks with devices: strided copies on the device, messages in pieces of slices. */
#include "arrays/copy.h"
#include "volume/plan/global_device.h"

enum { PIECES = 4 };

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

// Where the message of a piece for a rank begins among messages, in numbers; own lines have none.
static int64_t message_at(const side *d, piece q, int rank)
{
  const kugel__global_lines *l = lines_of(d);
  int own = d->it->p->global->rank;
  return q.z * (l->slice - l->own) + q.count * (l->cut[rank] - (rank > own ? l->own : 0));
}

// `count` rows of a rank's lines between slices and messages, or own lines.
static kugel_status move(const side *d, piece q, int rank, kugel__mem slices, kugel__mem rows,
                         int64_t rows_at, bool back)
{
  const kugel_volume *p = d->it->p;
  const kugel__global_lines *l = lines_of(d);
  int64_t width = l->cut[rank + 1] - l->cut[rank], at = q.z * l->slice + l->cut[rank];
  kugel_dtype number = p->f32 ? (kugel_dtype){KUGEL_UINT, 64, 1} : KUGEL_C128; // as they are
  kugel__copy c = {.from = number, .to = number, .scale = 1, .plain = true};
  c.shape = (kugel__copy_shape){.count = q.count * width,
                                .in_first = back ? rows_at : at,
                                .out_first = back ? at : rows_at,
                                .ndim = 2,
                                .extent = {q.count, width},
                                .in_step = {back ? width : l->slice, 1},
                                .out_step = {back ? l->slice : width, 1}};
  if (!c.shape.count)
    return KUGEL_OK;
  return kugel__copy_gpu(p->ctx, &c, back ? rows.base : slices.base, back ? slices.base : rows.base,
                         d->it->queue);
}

static kugel_status move_all(const side *d, piece q, kugel__mem lines, bool back)
{
  const kugel__volume_global *g = d->it->p->global;
  const kugel__mem *room = d->it->room;
  for (int r = 0; r < g->size; r++)
    KUGEL_TRY(r == g->rank ? move(d, q, r, room[KUGEL__GLOBAL_SLICES], lines,
                                  (d->cut[r] + q.z) * lines_of(d)->own, back)
                           : move(d, q, r, room[KUGEL__GLOBAL_SLICES], room[KUGEL__GLOBAL_MESSAGES],
                                  message_at(d, q, r), back));
  return KUGEL_OK;
}

static kugel_status exchange(const side *d, kugel_status s, int which, kugel__mem lines, bool back)
{
  const kugel__global_lines *l = lines_of(d);
  const kugel__volume_global *g = d->it->p->global;
  const kugel__global_device *dev = g->device;
  size_t n = (size_t)g->size, number = 2 * d->it->p->real, *t = l->table;
  piece own = piece_of(d, g->rank, which);
  for (int r = 0; r < g->size; r++) {
    piece q = piece_of(d, r, which);
    bool other = r != g->rank;
    t[r] = other ? (size_t)(own.count * (l->cut[r + 1] - l->cut[r])) * number : 0; // in messages
    t[n + (size_t)r] = (size_t)message_at(d, own, r) * number;
    t[2 * n + (size_t)r] = other ? (size_t)(q.count * l->own) * number : 0; // in lines
    t[3 * n + (size_t)r] = (size_t)((d->cut[r] + q.z) * l->own) * number;
  }
  kugel__mem messages = d->it->room[KUGEL__GLOBAL_MESSAGES];
  kugel__wire_job job = back ? (kugel__wire_job){lines, messages, t + 2 * n, t + 3 * n, t, t + n}
                             : (kugel__wire_job){messages, lines, t, t + n, t + 2 * n, t + 3 * n};
  return kugel__wire_exchange(dev->wire, s, &job, dev->post);
}

static kugel_status step(const side *d, piece q, kugel__mem work)
{
  return q.count ? d->step(d->arg, q.z, q.count, work) : KUGEL_OK;
}

// A piece in, and what other ranks need of it packed.
static kugel_status put(const side *d, int which, kugel__mem lines)
{
  piece q = piece_of(d, d->it->p->global->rank, which);
  KUGEL_TRY(step(d, q, alone(d) ? lines : d->it->room[KUGEL__GLOBAL_SLICES]));
  return alone(d) ? KUGEL_OK : move_all(d, q, lines, false);
}

kugel_status kugel__global_to_lines(const side *d, kugel_status s, kugel__mem lines)
{
  kugel_queue *queue = d->it->queue, *post = d->it->p->global->device->post;
  s = s ? s : put(d, 0, lines);
  for (int k = 0; k < PIECES; k++) {
    s = s ? s : kugel__queue_follow(queue, post);
    if (k + 1 < PIECES) // queued before the exchange, for which the host may wait
      s = s ? s : put(d, k + 1, lines);
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
  const kugel__volume_global *g = d->it->p->global;
  s = s ? s : kugel__queue_follow(queue, post);
  for (int k = 0; k < PIECES; k++) {
    piece q = piece_of(d, g->rank, k);
    if (!alone(d)) {
      s = exchange(d, s, k, lines, true);
      if (s && g->comm->settled)
        return s;
      s = s ? s : kugel__queue_follow(post, queue);
      s = s ? s : move_all(d, q, lines, true);
    }
    s = s ? s : step(d, q, alone(d) ? lines : d->it->room[KUGEL__GLOBAL_SLICES]);
  }
  return s;
}
