/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges by way of host memory: in each round a piece of every message is copied down, sent by the communicator, and copied up
 * while the next one is on its way. */
#include "core/alloc.h"
#include "wire/wire.h"

enum { ALIGN = 256, SEND = 0, RECV = 1 };

kugel_status kugel__staged_make(kugel__wire *w, size_t piece)
{
  kugel__staged *t = &w->staged;
  size_t n = (size_t)w->comm->size - 1, all = piece ? piece : (size_t)32 << 20;
  t->piece = (size_t)kugel__max(ALIGN, (int64_t)(all / n / ALIGN * ALIGN));
  t->table = kugel__calloc(w->ctx, 2 * 4 * (n + 1) * sizeof *t->table);
  KUGEL_CHECK(t->table, KUGEL_ENOMEM, "no memory to exchange with %zu ranks", n);
  void *room = NULL;
  KUGEL_TRY(w->device->ops->alloc(w->device, KUGEL__PINNED, 4 * n * t->piece, &room));
  t->room = room;
  return KUGEL_OK;
}

void kugel__staged_free(kugel__wire *w)
{
  if (w->staged.room)
    w->device->ops->free(w->device, KUGEL__PINNED, w->staged.room);
  kugel__free(w->ctx, w->staged.table);
}

/* The most rounds that any message of any rank takes. */
static kugel_status count_rounds(const kugel__wire *w, const kugel__wire_job *x, int64_t *rounds)
{
  size_t most = 0;
  for (int r = 0; r < w->comm->size; r++)
    if (r != w->comm->rank && x->send_bytes[r] > most)
      most = x->send_bytes[r];
  *rounds = (int64_t)((most + w->staged.piece - 1) / w->staged.piece);
  return kugel__comm_reduce(w->comm, rounds, 1, KUGEL_COMM_MAX);
}

static char *slot_of(const kugel__wire *w, int64_t round, int way)
{
  return w->staged.room + (size_t)(2 * (round & 1) + way) * (size_t)(w->comm->size - 1) * w->staged.piece;
}

static size_t *table_of(const kugel__wire *w, int64_t round, int which)
{
  return w->staged.table + (size_t)(4 * (round & 1) + which) * (size_t)w->comm->size;
}

/* Bytes of each message in a round, and where they are in a slot. */
static void lay_out(const kugel__wire *w, const kugel__wire_job *x, int64_t round)
{
  size_t first = (size_t)round * w->staged.piece;
  for (int way = SEND; way <= RECV; way++) {
    size_t *bytes = table_of(w, round, 2 * way), *at = table_of(w, round, 2 * way + 1), place = 0;
    const size_t *all = way == SEND ? x->send_bytes : x->recv_bytes;
    for (int r = 0; r < w->comm->size; r++) {
      size_t left = all[r] > first ? all[r] - first : 0;
      bool other = r != w->comm->rank;
      bytes[r] = !other ? 0 : left < w->staged.piece ? left : w->staged.piece;
      at[r] = place;
      place += other ? w->staged.piece : 0;
    }
  }
}

/* A round's pieces between the device and its slot. */
static kugel_status move(const kugel__wire *w, const kugel__wire_job *x, int64_t round, int way,
                         kugel_queue *queue)
{
  const size_t *bytes = table_of(w, round, 2 * way), *at = table_of(w, round, 2 * way + 1);
  size_t first = (size_t)round * w->staged.piece;
  for (int r = 0; r < w->comm->size; r++) {
    kugel__mem host = {slot_of(w, round, way) + at[r], 0}, there = way == SEND ? x->send : x->recv;
    there.offset += first + (way == SEND ? x->send_at[r] : x->recv_at[r]);
    if (bytes[r])
      KUGEL_TRY(kugel__device_copy(w->device, way == SEND ? KUGEL__DOWNLOAD : KUGEL__UPLOAD,
                                   way == SEND ? host : there, way == SEND ? there : host, bytes[r], queue));
  }
  return KUGEL_OK;
}

static kugel_status round_begin(const kugel__wire *w, int64_t round, kugel__flight *flight)
{
  kugel_exchange x = {slot_of(w, round, SEND), table_of(w, round, 0), table_of(w, round, 1),
                      slot_of(w, round, RECV), table_of(w, round, 2), table_of(w, round, 3)};
  return kugel__comm_begin(w->comm, &x, flight);
}

kugel_status kugel__staged_exchange(kugel__wire *w, const kugel__wire_job *x, kugel_queue *queue)
{
  int64_t rounds;
  kugel__flight flights[2] = {{.on = false}};
  kugel_status s = KUGEL_OK; // of this rank: rounds go on after a failure, since other ranks wait for them
  KUGEL_TRY(count_rounds(w, x, &rounds));
  for (int64_t k = 0; k <= rounds; k++) {
    if (k < rounds) {
      lay_out(w, x, k);
      s = s ? s : move(w, x, k, SEND, queue);
      kugel_status done = w->device->ops->wait(queue); // also for what went up from this slot's other half
      s = s ? s : done;
      kugel_status begun = round_begin(w, k, &flights[k & 1]);
      s = s ? s : begun;
    }
    if (k > 0) {
      kugel_status landed = kugel__comm_end(w->comm, &flights[(k - 1) & 1]);
      s = s ? s : landed;
      s = s ? s : move(w, x, k - 1, RECV, queue);
    }
  }
  kugel_status done = w->device->ops->wait(queue);
  return s ? s : done;
}
