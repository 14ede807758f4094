/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies between devices: directly where the backend can, else in pieces through the host. */
#include "device/peer.h"

static const size_t piece = (size_t)16 << 20;

/* `out` and `in` are queues of `from` and of `to`. */
static kugel_status by_host(kugel__device *from, kugel__mem src, kugel_queue *out, kugel__device *to,
                            kugel__mem dst, kugel_queue *in, size_t bytes)
{
  size_t most = bytes < piece ? bytes : piece;
  void *room = NULL;
  KUGEL_TRY(kugel__device_alive(from));
  KUGEL_TRY(from->ops->alloc(from, KUGEL__PINNED, most, &room));
  kugel_status s = KUGEL_OK;
  for (size_t at = 0; at < bytes && !s; at += most) {
    size_t n = bytes - at < most ? bytes - at : most;
    kugel__mem here = {room, 0};
    s = kugel__device_copy(from, KUGEL__DOWNLOAD, here, (kugel__mem){src.base, src.offset + at}, n, out);
    if (!s)
      s = from->ops->wait(out);
    if (!s)
      s = kugel__device_copy(to, KUGEL__UPLOAD, (kugel__mem){dst.base, dst.offset + at}, here, n, in);
    kugel_status done = to->ops->wait(in);
    s = s ? s : done;
  }
  from->ops->free(from, KUGEL__PINNED, room);
  return s;
}

static kugel_status direct(kugel__device *from, kugel__mem src, kugel__device *to, kugel__mem dst,
                           size_t bytes, kugel_queue *queue, bool *done)
{
  *done = true;
  KUGEL_TRY(kugel__device_alive(from));
  KUGEL_TRY(kugel__device_alive(to));
  if (from == to)
    return kugel__device_copy(from, KUGEL__WITHIN, dst, src, bytes, queue);
  *done = false;
  return from->ops == to->ops && from->ops->copy_peer
             ? from->ops->copy_peer(to, dst, from, src, bytes, queue, done)
             : KUGEL_OK;
}

kugel_status kugel__device_send(kugel__device *from, kugel__mem src, kugel__device *to, kugel__mem dst,
                                size_t bytes, kugel_queue *queue)
{
  bool done;
  if (!bytes)
    return KUGEL_OK;
  KUGEL_TRY(direct(from, src, to, dst, bytes, queue, &done));
  return done ? KUGEL_OK : by_host(from, src, queue, to, dst, &to->queue, bytes);
}

kugel_status kugel__device_fetch(kugel__device *from, kugel__mem src, kugel__device *to, kugel__mem dst,
                                 size_t bytes, kugel_queue *queue)
{
  bool done;
  if (!bytes)
    return KUGEL_OK;
  KUGEL_TRY(direct(from, src, to, dst, bytes, queue, &done));
  return done ? KUGEL_OK : by_host(from, src, &from->queue, to, dst, queue, bytes);
}
