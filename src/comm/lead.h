/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 leads, the others serve: plans of rank 0 that know nothing of ranks, whose work is spread. An order of rank 0 has a
 * fixed size and is broadcast; what follows is collective and agreed on as everywhere. Each kind of plan is made and run by
 * its own room; src/lead has the list of kinds. */
#ifndef KUGEL_COMM_LEAD_H
#define KUGEL_COMM_LEAD_H

#include "comm/comm.h"

/* The first verbs are common to all kinds; a kind's own begin at KUGEL__LEAD_WORK. */
enum {
  KUGEL__LEAD_DISMISS,
  KUGEL__LEAD_MAKE,
  KUGEL__LEAD_DROP,
  KUGEL__LEAD_MEASURE,
  KUGEL__LEAD_ONCE,
  KUGEL__LEAD_WORK
};
enum {
  KUGEL__LEAD_SHT,
  KUGEL__LEAD_RADIAL,
  KUGEL__LEAD_VOLUME,
  KUGEL__LEAD_GLOBAL,
  KUGEL__LEAD_BALL,
  KUGEL__LEAD_DECONV,
  KUGEL__LEAD_KINDS
};

typedef struct kugel__order {
  int64_t kind, verb, id, code; // id: of the plan; code: of DISMISS
  int64_t word[28];
  double x[12];
} kugel__order;

/* What a rank that serves does. make: collective and agreed on; work: failures are rank 0's to report. */
typedef struct kugel__lead_kind {
  kugel_status (*make)(kugel_ctx *ctx, kugel_comm *c, const kugel__order *order, void **plan);
  void (*work)(void *plan, const kugel__order *order);
  void (*drop)(void *plan);
  bool
      devices; /* plans may be on the device of the context of a rank that serves; else they are in the default context */
} kugel__lead_kind;

/* Rank 0, from begin to end one thread at a time: sends the order, after which come the same collective calls as on the ranks
 * that serve. A MAKE order gets its id here. */
kugel_status kugel__lead_begin(kugel_comm *c, kugel__order *order);
void kugel__lead_end(void);
/* Rank 0: drops its side of plan `id`, here with `drop`, and those of the ranks that serve. */
void kugel__lead_drop(kugel_comm *c, int64_t id, void (*drop)(void *plan), void *plan);

/* Of this thread: plans are chosen as by one process, although the context leads. */
extern _Thread_local bool kugel__lead_paused;

/* The loop of a rank that serves; once: what ONCE orders ask for, which concerns no plan. */
typedef void (*kugel__lead_once)(kugel_ctx *ctx, kugel_comm *c, const kugel__order *order);
kugel_status kugel__lead_serve(kugel_ctx *ctx, kugel_comm *c, const kugel__lead_kind *const *kinds,
                               kugel__lead_once once, int *code);

#endif
