/* SPDX-License-Identifier: BSD-3-Clause */
#include "comm/lead.h"
#include <pthread.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"

// Rank 0's threads give one order at a time, under numbers that no two plans share.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t next_id;
_Thread_local bool kugel__lead_paused;

kugel_status kugel__lead_begin(kugel_comm *c, kugel__order *order)
{
  pthread_mutex_lock(&lock);
  if (order->verb == KUGEL__LEAD_MAKE)
    order->id = next_id++;
  kugel_status s = kugel_comm_bcast(c, order, sizeof *order, 0);
  if (s || order->verb != KUGEL__LEAD_MAKE)
    return s;
  kugel__comm_enter(c); // ranks that serve have, or have not, a place for the plan
  return kugel__comm_leave(c, KUGEL_OK);
}

void kugel__lead_end(void)
{
  pthread_mutex_unlock(&lock);
}

void kugel__lead_drop(kugel_comm *c, int64_t id, void (*drop)(void *plan), void *plan)
{
  kugel__order order = {.verb = KUGEL__LEAD_DROP, .id = id};
  kugel__lead_begin(c, &order);
  drop(plan);
  kugel__lead_end();
}

kugel_status kugel_lead(kugel_ctx *ctx, kugel_comm *comm)
{
  KUGEL_CHECK(!comm || comm->rank == 0, KUGEL_EINVAL,
              "this is rank %d: rank 0 leads, the others call kugel_serve", comm->rank);
  kugel__ctx(ctx)->leads = comm && comm->size > 1 ? comm : NULL;
  return KUGEL_OK;
}

kugel_status kugel_dismiss(kugel_comm *comm, int code)
{
  KUGEL_CHECK(comm && comm->rank == 0, KUGEL_EINVAL,
              "comm is NULL, or not that of rank 0, which alone dismisses");
  kugel__order order = {.verb = KUGEL__LEAD_DISMISS, .code = code};
  kugel_status s = kugel__lead_begin(comm, &order);
  kugel__lead_end();
  return s;
}

kugel_status kugel_lead_measure(kugel_comm *c, int64_t bytes, int repeats, double *seconds)
{
  KUGEL_CHECK(c && c->rank == 0, KUGEL_EINVAL, "comm is NULL, or not that of rank 0, which alone leads");
  kugel__order order = {.kind = -1, .verb = KUGEL__LEAD_MEASURE, .id = -1, .word = {bytes, repeats}};
  kugel_status s = kugel__lead_begin(c, &order);
  s = s ? s : kugel_comm_measure(c, bytes, repeats, seconds);
  kugel__lead_end();
  return s;
}

typedef struct served { // a plan of rank 0
  int64_t id;
  const kugel__lead_kind *kind;
  void *plan;
  struct served *next;
} served;

static void drop(kugel_ctx *ctx, served *gone)
{
  gone->kind->drop(gone->plan);
  kugel__free(ctx, gone);
}

// A place in the list, on which begin agrees, and the plan.
static kugel_status make(kugel_ctx *ctx, kugel_comm *c, const kugel__order *order,
                         const kugel__lead_kind *kind, served **plans)
{
  served *one = kugel__calloc(ctx, sizeof *one);
  kugel__comm_enter(c);
  kugel_status s = one ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a plan over %d ranks", c->size);
  s = kugel__comm_leave(c, s);
  bool there = kugel__ctx(ctx)->device.type != KUGEL_CPU;
  if (!s)
    s = kind->make(there && !kind->devices ? NULL : ctx, c, order, &one->plan);
  if (s) {
    kugel__free(ctx, one);
    return s;
  }
  one->id = order->id;
  one->kind = kind;
  one->next = *plans;
  *plans = one;
  return s;
}

kugel_status kugel__lead_serve(kugel_ctx *ctx, kugel_comm *c, const kugel__lead_kind *const *kinds,
                               kugel__lead_once once, int *code)
{
  KUGEL_CHECK(c, KUGEL_EINVAL, "comm is NULL: make one with kugel_comm_open");
  KUGEL_CHECK(c->rank > 0, KUGEL_EINVAL, "this is rank 0, which leads: call kugel_lead");
  served *plans = NULL;
  kugel__order order = {.verb = KUGEL__LEAD_DROP};
  kugel_status s = KUGEL_OK;
  while (!s && order.verb != KUGEL__LEAD_DISMISS) {
    s = kugel_comm_bcast(c, &order, sizeof order, 0);
    served **at = &plans;
    while (!s && *at && (*at)->id != order.id)
      at = &(*at)->next;
    if (s || order.verb == KUGEL__LEAD_DISMISS)
      break;
    double seconds;
    if (order.verb == KUGEL__LEAD_MEASURE) {
      kugel_comm_measure(c, order.word[0], (int)order.word[1],
                         &seconds); // as all failures, rank 0's to report
    } else if (order.verb == KUGEL__LEAD_ONCE) {
      once(kugel__ctx(ctx)->device.type == KUGEL_CPU ? ctx : NULL, c, &order);
    } else if (order.verb == KUGEL__LEAD_MAKE) {
      make(ctx, c, &order, kinds[order.kind], &plans); // rank 0 reports
    } else if (order.verb == KUGEL__LEAD_DROP && *at) {
      served *gone = *at;
      *at = gone->next;
      drop(ctx, gone);
    } else if (*at) {
      (*at)->kind->work((*at)->plan, &order);
    }
  }
  while (plans) {
    served *gone = plans;
    plans = gone->next;
    drop(ctx, gone);
  }
  if (code)
    *code = (int)order.code;
  return s;
}
