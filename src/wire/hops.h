/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges in two steps (wire/wire.h): their copies and messages. Of a rank with a group and a seat:
 *
 *   send -> out      PACK        for each other seat: what all ranks in that seat get from here
 *   step 0                       to the ranks of the group
 *   in, send -> out  TURN, KEEP  for each other group: what its rank in this seat gets from this group
 *   in -> recv       HOME        what came from the own group
 *   step 1                       to the ranks in this seat
 *   in -> recv       PLACE       what came from other groups
 */
#ifndef KUGEL_WIRE_HOPS_H
#define KUGEL_WIRE_HOPS_H

#include "codegen/module.h"
#include "wire/wire.h"

enum {
  KUGEL__HOPS_PACK,
  KUGEL__HOPS_TURN,
  KUGEL__HOPS_KEEP,
  KUGEL__HOPS_HOME,
  KUGEL__HOPS_PLACE,
  KUGEL__HOPS_LISTS
};
/* Tables of a step, as those of a job. */
enum { KUGEL__HOPS_SEND, KUGEL__HOPS_SEND_AT, KUGEL__HOPS_RECV, KUGEL__HOPS_RECV_AT, KUGEL__HOPS_TABLES };
/* Rooms. */
enum { KUGEL__HOPS_OUT, KUGEL__HOPS_IN };

/* A copy of at most 64 KiB, in units of the plan. */
typedef struct kugel__hops_part {
  int64_t from, to, n;
} kugel__hops_part;

struct kugel__hops {
  kugel__module *module;
  kugel__kernel *copy;
  void *parts; /* device */
  int32_t begin[KUGEL__HOPS_LISTS + 1];
  size_t *step[2]; /* [KUGEL__HOPS_TABLES][ranks] */
};

/* What hops are made from, on the host. */
typedef struct kugel__hops_plan {
  const kugel__wire *wire;
  const kugel__wire_job *job;
  kugel__hops *hops;
  size_t *work; /* of as many numbers as kugel__hops_work says */
  size_t room[2];
  kugel__hops_part *parts; /* of the context */
  size_t unit;             /* bytes: 16, 8, 4 or 1 */
} kugel__hops_plan;

/* ---- hops_lists.c ---- */

size_t kugel__hops_work(const kugel__wire *wire);
/* Asks the group for the sizes of its messages, and fills all but module, kernel and device memory. Collective; a failure may be this
 * rank's alone. */
kugel_status kugel__hops_list(kugel__hops_plan *plan);

#endif
