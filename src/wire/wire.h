/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges between the devices of the ranks of a communicator, device memory to device memory.
 *
 * A rank has one device. Where the backend has a library for that (NCCL), its ranks join there, under a name that rank 0
 * broadcasts by the communicator, and exchanges are queued. Else, and where the library refuses (two ranks on one device),
 * messages go in pieces by way of page-locked host memory and the communicator. KUGEL_PEERS says which: auto, copy (by the
 * host) or nccl, which then must be there. What a rank sends to itself is copied on its device.
 *
 * Many small messages, between ranks of several hosts, go in two steps (hops.c). */
#ifndef KUGEL_WIRE_WIRE_H
#define KUGEL_WIRE_WIRE_H

#include "comm/comm.h"
#include "device/device.h"

typedef struct kugel__wire kugel__wire;
typedef struct kugel__hops kugel__hops;

/* Collective and agreed on. `piece`: bytes of host memory that a direction of a round takes; 0: 32 MiB. */
kugel_status kugel__wire_open(kugel_comm *comm, kugel_ctx *ctx, size_t piece, kugel__wire **out);
void kugel__wire_close(kugel__wire *wire);
/* "NCCL 2.28.3", "host memory", or "device" of one rank alone. */
const char *kugel__wire_name(const kugel__wire *wire);

/* As kugel_exchange: bytes, and offsets from the starts of send and recv. */
typedef struct kugel__wire_job {
  kugel__mem send, recv;
  const size_t *send_bytes, *send_at, *recv_bytes, *recv_at; /* [ranks] */
  const kugel__hops *hops; /* NULL: each message goes straight to its rank */
} kugel__wire_job;

/* Collective. Ranks first agree on s, a failure of what came before; then all messages go, in the order of the queue. Without a
 * library the call returns when they have arrived. A failure within is this rank's alone: the next agreement tells the others. */
kugel_status kugel__wire_exchange(kugel__wire *wire, kugel_status s, const kugel__wire_job *job,
                                  kugel_queue *queue);

/* Collective, after the last exchange or a failure, before the queue is waited for: ranks agree on s. After a failure of any rank's
 * device the library's messages may wait for ever for those of that rank: the wire breaks. */
kugel_status kugel__wire_settle(kugel__wire *wire, kugel_status s);
/* Ends what the library does on this rank, for good: exchanges fail from then on. Without a library: nothing. */
void kugel__wire_break(kugel__wire *wire);

/* ---- hops.c: messages in two steps ----
 *
 * Ranks make groups of equal size, those of a host or, as KUGEL_PEERS_GROUP says, so many consecutive ones. A rank first gives each
 * rank of its group all that is for the ranks in that one's seat, of all groups; these then exchange what they hold. So a rank has
 * seats - 1 + groups - 1 messages of several parts each, not one for each other rank, and what goes from group to group goes as often
 * as before: once. Parts are put together, and taken apart, on the device. */

/* For jobs with the same sizes and offsets. NULL, where messages go straight: on one host, where ranks per host differ, and where the
 * model has that sooner. send and recv then begin at multiples of 16 bytes. Collective and agreed on; s: how this rank has fared. */
kugel_status kugel__hops_make(kugel__wire *wire, kugel_status s, const kugel__wire_job *job,
                              kugel__hops **out);
void kugel__hops_free(kugel__wire *wire, kugel__hops *hops);
/* Device memory that the jobs of a wire share, of those that were made. */
size_t kugel__hops_room(const kugel__wire *wire);

/* ---- inside: hops.c ---- */

kugel_status kugel__hops_exchange(kugel__wire *wire, const kugel__wire_job *job, kugel_queue *queue);
void kugel__hops_close(kugel__wire *wire); /* the rooms */

/* ---- inside: places.c ---- */

typedef struct kugel__wire_places {
  bool shared;       /* two ranks have one card */
  bool asked;        /* by KUGEL_PEERS_GROUP */
  int groups, seats; /* 1, 1: of unequal size */
  int group, seat;   /* of this rank */
  int *rank;         /* [groups][seats] */
} kugel__wire_places;

/* What each rank tells the others. */
typedef struct kugel__wire_self {
  uint64_t host, card; /* card 0: not known */
  int64_t group;       /* ranks, as asked for; 0: those of a host */
} kugel__wire_self;

kugel_status kugel__places_find(kugel__wire *wire, kugel_status s); /* collective and agreed on */
/* So many consecutive ranks, if they divide all; the ranks of each host, if there are as many on each. */
void kugel__places_by_group(kugel__wire_places *places, int ranks, int rank, int64_t group);
void kugel__places_by_host(kugel__wire_places *places, int ranks, int rank, const kugel__wire_self *all);

/* ---- inside: straight.c ---- */

/* All messages but those to oneself. */
kugel_status kugel__straight_exchange(kugel__wire *wire, const kugel__wire_job *job, kugel_queue *queue);

/* ---- inside: staged.c ---- */

/* Rounds of pieces of all messages, by two slots of host memory each way. */
typedef struct kugel__staged {
  size_t piece;  /* bytes of a message that go in a round */
  char *room;    /* page-locked: send, recv of slot 0, then of slot 1 */
  size_t *table; /* bytes and offsets of the rounds under way */
} kugel__staged;

struct kugel__wire {
  kugel_comm *comm;
  kugel_ctx *ctx;
  kugel__device *device;
  kugel__link *link; /* NULL: by the host */
  bool broken;       /* there was a link */
  kugel__parcel *parcels;
  kugel__staged staged;
  kugel__wire_places places;
  kugel__mem room[2]; /* of hops: what goes out, what comes in */
  size_t room_bytes[2];
};

kugel_status kugel__staged_make(kugel__wire *wire, size_t piece); /* not collective */
void kugel__staged_free(kugel__wire *wire);
kugel_status kugel__staged_exchange(kugel__wire *wire, const kugel__wire_job *job, kugel_queue *queue);

#endif
