/* SPDX-License-Identifier: BSD-3-Clause */
/* Work in parts: for problems larger than the memory of a device, and on several devices.
 *
 * A lane is a device of the context with three queues (in, work, out) and a few slots. A slot holds one item
 * of work: device memory for what the item reads and writes, and page-locked host memory to stage both. While
 * one item is computed, the next one is copied in and the previous one is copied out:
 *
 *   slot free -> load (queue in) -> compute (queue work) -> store (queue out) -> deliver (host) -> slot free
 *
 * kugel__device_lanes_run orders these steps by events, asks the progress callback while it waits, and leaves nothing
 * running. One thread issues the work of all lanes, so steps may call kugel__parallel. */
#ifndef KUGEL_DEVICE_LANES_H
#define KUGEL_DEVICE_LANES_H

#include "device/device.h"

/* The most per lane. 2 overlap copies with computing, 3 even out unequal items. */
enum { KUGEL__LANE_SLOTS = 4 };

typedef struct kugel__lane_bytes {
  size_t in, out;           /* device memory; out 0: items are computed in place, and out is in */
  size_t host_in, host_out; /* page-locked host memory; 0: none */
} kugel__lane_bytes;

typedef struct kugel__lane_slot {
  kugel__mem in, out;
  void *host_in, *host_out;
  int64_t item;                               /* that the slot holds */
  kugel__event *loaded, *computed, *returned; /* the latest end of each step; NULL: there was none */
} kugel__lane_slot;

typedef struct kugel__lane {
  int index;
  kugel_ctx *ctx;               /* of the device; borrowed */
  kugel__device *device, *home; /* home: the device of the first lane */
  kugel_queue *in, *work, *out;
  int slots;
  kugel__lane_slot slot[KUGEL__LANE_SLOTS];
  int64_t begun, sent, ended; /* items of this run whose computing, whose store has been queued; delivered */
  bool over;                  /* there is no further item for this lane */
} kugel__lane;

typedef struct kugel__device_lanes {
  kugel_ctx *ctx;
  int count;
  kugel__lane *lane; /* [count] */
} kugel__device_lanes;

/* Bytes of memory that a plan may allocate on each device of the context: `set`, the context's limit when the plan
 * was made (kugel__ctx_limit), or if it is 0 95 % of the free memory of the device that has least. */
kugel_status kugel__device_lanes_limit(kugel_ctx *ctx, int64_t set, int64_t *bytes);

/* Lanes of all devices of the context, with queues, without memory; ctx is borrowed. */
kugel_status kugel__device_lanes_create(kugel_ctx *ctx, int slots, kugel__device_lanes **out);
/* Waits for the work of all lanes. NULL: nothing is done. */
void kugel__device_lanes_destroy(kugel__device_lanes *lanes);
/* Allocates memory for each slot of a lane, once. What is there after a failure, destroy frees. */
kugel_status kugel__lane_room(kugel__lane *lane, const kugel__lane_bytes *bytes);

/* One step of an item. A failure ends the run. */
typedef kugel_status (*kugel__lane_step)(void *arg, kugel__lane *lane, kugel__lane_slot *slot);

typedef struct kugel__lane_job {
  void *arg;
  const char *stage; /* for the progress callback */
  int64_t count;     /* items in all */
  /* The item of a lane's n-th turn, -1: none is left, by a fixed rule. NULL: items 0 to count - 1 in order, each
   * to the lane that first has a free slot. Results must not depend on which lane computes an item. */
  int64_t (*next)(void *arg, int lane, int64_t n);
  int64_t
      ahead; /* without next: an item waits until it is less than this beyond the oldest under way; 0: it never waits */
  bool ordered;             /* items are delivered in order, whichever lanes computed them; without next */
  kugel__lane_step load;    /* fills slot->host_in, queues copies on lane->in; NULL: nothing to copy */
  kugel__lane_step compute; /* queues kernels on lane->work, which has waited for the copies */
  kugel__lane_step store;   /* queues copies on lane->out, which has waited for the kernels; NULL: none */
  kugel__lane_step deliver; /* on the host, when the copies are done: reads slot->host_out; NULL: nothing */
  /* Copies of `store` may block the host, since their memory is not page-locked: they are queued once the item is
   * computed, so that other lanes wait for the copies alone. */
  bool blocking;
} kugel__lane_job;

/* Runs all items and returns when they are done. A lane has at most `slots` items under way. The first failure,
 * or KUGEL_ECANCELED, is returned with its message after the work of all lanes has ended. Calls on the same lanes
 * must not overlap. */
kugel_status kugel__device_lanes_run(kugel__device_lanes *lanes, const kugel__lane_job *job);

/* Waits for all queues. Returns s with its message, or the first failure of a wait if s is KUGEL_OK. */
kugel_status kugel__device_lanes_drain(kugel__device_lanes *lanes, kugel_status s);

/* Memory of the caller: of the host, or of the first device. */
typedef struct kugel__lane_home {
  char *host; /* NULL: mem counts */
  kugel__mem mem;
} kugel__lane_home;

/* Copies between a lane's device and `there` from byte `at` on: KUGEL__UPLOAD to the lane on its queue in,
 * KUGEL__DOWNLOAD from the lane on its queue out. */
kugel_status kugel__lane_move(kugel__lane *lane, kugel__way way, kugel__mem here,
                              const kugel__lane_home *there, size_t at, size_t bytes);

#endif
