/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies from the memory of one device to that of another, and exchanges among all devices of a context.
 *
 * An exchange goes through the vendor's library for that (NCCL) where there is one, else it is copies of one
 * device's memory to another's. KUGEL_PEERS in the environment says which: auto, copy, or nccl, which then
 * must be there. */
#ifndef KUGEL_DEVICE_PEER_H
#define KUGEL_DEVICE_PEER_H

#include "device/device.h"

/* Queued, on a queue of `from` to send, of `to` to fetch. Between devices that cannot copy so, by way of the
 * host; a fetch then waits for nothing that `from` still has to do. */
kugel_status kugel__device_send(kugel__device *from, kugel__mem src, kugel__device *to, kugel__mem dst,
                                size_t bytes, kugel_queue *queue);
kugel_status kugel__device_fetch(kugel__device *from, kugel__mem src, kugel__device *to, kugel__mem dst,
                                 size_t bytes, kugel_queue *queue);

/* Of devices of a context, counted as it lists them. */
struct kugel__transfer {
  int from, to;
  kugel__mem src, dst;
  size_t bytes;
};

/* All transfers at once, in no order. queues[i] is of device i: a transfer begins when the queues of both of
 * its devices have come to it, and what they get later follows it. */
kugel_status kugel__devices_exchange(kugel_ctx *ctx, int n, const kugel__transfer *transfers,
                                     kugel_queue *const *queues);

/* Opens the library now, which takes long, and not at the first exchange. *name: "NCCL 2.28.3" or "copies".
 */
kugel_status kugel__devices_link(kugel_ctx *ctx, const char **name);

/* Between this rank and another: what is sent there, or comes from there, by links of ranks. Both name the same bytes. */
struct kugel__parcel {
  int rank;
  bool send;
  kugel__mem mem;
  size_t bytes;
};

/* Of a rank with the others that join a link. */
struct kugel__meeting {
  int rank, ranks;
  double seconds; /* for which it waits for others, here and in exchanges, if the library can */
  kugel_status (*ready)(void *arg, kugel_status s);
  void *arg;
};

/* What KUGEL_PEERS says: whether a library may serve, and whether it must. */
kugel_status kugel__peers_way(bool *can, bool *must);
/* Seconds for which a rank waits for the others in the library, one of which may have failed; 60 unless KUGEL_PEERS_WAIT says. */
kugel_status kugel__peers_wait(double *seconds);

/* The device layer's part of contexts of several devices. */
struct kugel__links *kugel__links_create(void);
void kugel__links_destroy(struct kugel__links *links);

#endif
