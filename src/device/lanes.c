/* SPDX-License-Identifier: BSD-3-Clause */
/* Work in parts: lanes, and the order of their items. */
#include "device/lanes.h"
#include <math.h>
#include <stdio.h>
#include <time.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "device/peer.h"

/* ---- lanes --------------------------------------------------------------------------------------------- */

static kugel_ctx *ctx_of(kugel_ctx *ctx, int i)
{
  return i ? ctx->peers[i - 1] : ctx;
}

kugel_status kugel__device_lanes_limit(kugel_ctx *ctx, int64_t set, int64_t *bytes)
{
  ctx = kugel__ctx(ctx);
  *bytes = set ? set : INT64_MAX;
  for (int i = 0; i <= ctx->npeers && !set; i++) {
    kugel__device *device = kugel__ctx_device(ctx_of(ctx, i));
    uint64_t available = 0, total = 0;
    KUGEL_TRY(kugel__device_alive(device));
    KUGEL_TRY(device->ops->memory(device, &available, &total));
    *bytes = kugel__min(*bytes, (int64_t)(available / 20 * 19));
  }
  return KUGEL_OK;
}

static kugel_status open_lane(kugel__device_lanes *q, int i, int slots)
{
  kugel__lane *lane = &q->lane[i];
  lane->index = i;
  lane->ctx = ctx_of(q->ctx, i);
  lane->device = kugel__ctx_device(lane->ctx);
  lane->home = kugel__ctx_device(q->ctx);
  lane->slots = slots;
  KUGEL_TRY(kugel_queue_create(lane->ctx, &lane->in));
  KUGEL_TRY(kugel_queue_create(lane->ctx, &lane->work));
  return kugel_queue_create(lane->ctx, &lane->out);
}

kugel_status kugel__device_lanes_create(kugel_ctx *ctx, int slots, kugel__device_lanes **out)
{
  ctx = kugel__ctx(ctx);
  *out = NULL;
  KUGEL_CHECK(slots >= 1 && slots <= KUGEL__LANE_SLOTS, KUGEL_EINVAL, "lanes of %d slots: must be 1 to %d",
              slots, KUGEL__LANE_SLOTS);
  kugel__device_lanes *q = kugel__calloc(ctx, sizeof *q);
  KUGEL_CHECK(q, KUGEL_ENOMEM, "no memory for lanes of %d devices", 1 + ctx->npeers);
  q->ctx = ctx;
  q->lane = kugel__calloc(ctx, (size_t)(1 + ctx->npeers) * sizeof *q->lane);
  kugel_status s =
      q->lane ? KUGEL_OK : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for lanes of %d devices", 1 + ctx->npeers);
  for (; q->count <= ctx->npeers && !s; q->count++)
    s = open_lane(q, q->count, slots);
  if (s)
    kugel__device_lanes_destroy(q);
  else
    *out = q;
  return s;
}

static void drop_slot(kugel__lane *lane, kugel__lane_slot *slot)
{
  kugel__event *events[] = {slot->loaded, slot->computed, slot->returned};
  for (int i = 0; i < 3; i++)
    lane->device->ops->event_free(events[i]);
  kugel__device_free(lane->device, slot->in.base);
  if (slot->out.base != slot->in.base)
    kugel__device_free(lane->device, slot->out.base);
  kugel_device_free_host(lane->ctx, slot->host_in);
  kugel_device_free_host(lane->ctx, slot->host_out);
}

void kugel__device_lanes_destroy(kugel__device_lanes *q)
{
  if (!q)
    return;
  for (int i = 0; i < q->count; i++) {
    kugel__lane *lane = &q->lane[i];
    kugel_queue_destroy(lane->in);
    kugel_queue_destroy(lane->work);
    kugel_queue_destroy(lane->out);
    for (int k = 0; k < lane->slots; k++)
      drop_slot(lane, &lane->slot[k]);
  }
  kugel__free(q->ctx, q->lane);
  kugel__free(q->ctx, q);
}

kugel_status kugel__lane_room(kugel__lane *lane, const kugel__lane_bytes *bytes)
{
  for (int k = 0; k < lane->slots; k++) {
    kugel__lane_slot *slot = &lane->slot[k];
    if (bytes->in)
      KUGEL_TRY(kugel__device_alloc(lane->device, bytes->in, &slot->in.base));
    slot->out = slot->in;
    if (bytes->out)
      KUGEL_TRY(kugel__device_alloc(lane->device, bytes->out, &slot->out.base));
    if (bytes->host_in)
      KUGEL_TRY(kugel_device_alloc_host(lane->ctx, bytes->host_in, &slot->host_in));
    if (bytes->host_out)
      KUGEL_TRY(kugel_device_alloc_host(lane->ctx, bytes->host_out, &slot->host_out));
  }
  return KUGEL_OK;
}

/* ---- order --------------------------------------------------------------------------------------------- */

kugel_status kugel__device_lanes_drain(kugel__device_lanes *q, kugel_status s)
{
  char message[512];
  snprintf(message, sizeof message, "%s", s ? kugel_last_error() : "");
  for (int i = 0; i < q->count; i++) {
    kugel_queue *queues[] = {q->lane[i].in, q->lane[i].work, q->lane[i].out};
    for (int k = 0; k < 3; k++) {
      kugel_status done = kugel_queue_wait(queues[k]);
      if (done && !s)
        snprintf(message, sizeof message, "%s", kugel_last_error());
      s = s ? s : done;
    }
  }
  if (s)
    kugel__set_error(message);
  return s;
}

static kugel_status mark(kugel__lane *lane, kugel_queue *queue, kugel__event **event)
{
  lane->device->ops->event_free(*event);
  *event = NULL;
  return lane->device->ops->record(queue, event);
}

kugel_status kugel__lane_move(kugel__lane *lane, kugel__way way, kugel__mem here,
                              const kugel__lane_home *there, size_t at, size_t bytes)
{
  kugel_queue *queue = way == KUGEL__UPLOAD ? lane->in : lane->out;
  if (there->host) {
    kugel__mem host = {there->host + at, 0};
    return way == KUGEL__UPLOAD ? kugel__device_copy(lane->device, way, here, host, bytes, queue)
                                : kugel__device_copy(lane->device, way, host, here, bytes, queue);
  }
  kugel__mem mem = {there->mem.base, there->mem.offset + at};
  return way == KUGEL__UPLOAD ? kugel__device_fetch(lane->home, mem, lane->device, here, bytes, queue)
                              : kugel__device_send(lane->device, here, lane->home, mem, bytes, queue);
}

/* ---- a run --------------------------------------------------------------------------------------------- */

typedef struct run {
  kugel__device_lanes *lanes;
  const kugel__lane_job *job;
  int64_t next, ended; /* the next item to hand out; items that are done */
  bool moved;          /* something was done in this round */
} run;

/* The end of what the devices do for an item. */
static kugel__event *end_of(const run *r, const kugel__lane_slot *slot)
{
  return r->job->store ? slot->returned : slot->computed;
}

/* Whether a lane's oldest item may be delivered when it is done. */
static bool has_turn(const run *r, const kugel__lane *lane)
{
  const kugel__lane_slot *slot = &lane->slot[lane->ended % lane->slots];
  return lane->ended < lane->sent && (!r->job->ordered || slot->item == r->ended);
}

/* Frees the slot of a lane's oldest item if the devices are done with it. */
static kugel_status retire(run *r, kugel__lane *lane, bool wait)
{
  const kugel__device_ops *ops = lane->device->ops;
  kugel__lane_slot *slot = &lane->slot[lane->ended % lane->slots];
  bool passed = true;
  if (!has_turn(r, lane))
    return KUGEL_OK;
  KUGEL_TRY(kugel__device_alive(lane->device));
  KUGEL_TRY(wait ? ops->after(NULL, end_of(r, slot)) : ops->passed(end_of(r, slot), &passed));
  if (!passed)
    return KUGEL_OK;
  if (r->job->deliver)
    KUGEL_TRY(r->job->deliver(r->job->arg, lane, slot));
  lane->ended++;
  r->ended++;
  r->moved = true;
  return KUGEL_OK;
}

/* Whether the next item is as far beyond the oldest under way as items may be. */
static bool too_far(const run *r)
{
  int64_t oldest = r->next;
  for (int i = 0; i < r->lanes->count; i++) {
    const kugel__lane *lane = &r->lanes->lane[i];
    if (lane->ended < lane->begun)
      oldest = kugel__min(oldest, lane->slot[lane->ended % lane->slots].item);
  }
  return r->job->ahead && r->next - oldest >= r->job->ahead;
}

/* Queues the next item of a lane if a slot is free. */
static kugel_status begin(run *r, kugel__lane *lane)
{
  const kugel__lane_job *job = r->job;
  kugel__lane_slot *slot = &lane->slot[lane->begun % lane->slots];
  if (lane->over || lane->begun - lane->ended == lane->slots || too_far(r))
    return KUGEL_OK;
  slot->item = job->next              ? job->next(job->arg, lane->index, lane->begun)
               : r->next < job->count ? r->next
                                      : -1;
  lane->over = slot->item < 0;
  if (lane->over)
    return KUGEL_OK;
  r->next++;
  if (job->load) {
    KUGEL_TRY(job->load(job->arg, lane, slot));
    KUGEL_TRY(mark(lane, lane->in, &slot->loaded));
    KUGEL_TRY(lane->device->ops->after(lane->work, slot->loaded));
  }
  KUGEL_TRY(job->compute(job->arg, lane, slot));
  KUGEL_TRY(mark(lane, lane->work, &slot->computed));
  lane->begun++;
  r->moved = true;
  return KUGEL_OK;
}

/* Queues the copies of a lane's oldest item without them: at once, or if copies block the host, when the item is
 * computed. */
static kugel_status send(run *r, kugel__lane *lane)
{
  kugel__lane_slot *slot = &lane->slot[lane->sent % lane->slots];
  bool due = !r->job->blocking;
  if (lane->sent == lane->begun)
    return KUGEL_OK;
  if (r->job->store) {
    KUGEL_TRY(kugel__device_alive(lane->device));
    if (!due)
      KUGEL_TRY(lane->device->ops->passed(slot->computed, &due));
    if (!due)
      return KUGEL_OK;
    KUGEL_TRY(lane->device->ops->after(lane->out, slot->computed));
    KUGEL_TRY(r->job->store(r->job->arg, lane, slot));
    KUGEL_TRY(mark(lane, lane->out, &slot->returned));
  }
  lane->sent++;
  r->moved = true;
  return KUGEL_OK;
}

/* All lanes do what they can without waiting: first all begin, since copies of one lane may block the host. */
static kugel_status round_of(run *r)
{
  kugel__device_lanes *q = r->lanes;
  r->moved = false;
  for (int i = 0; i < q->count; i++) {
    KUGEL_TRY(retire(r, &q->lane[i], false));
    KUGEL_TRY(begin(r, &q->lane[i]));
  }
  for (int i = 0; i < q->count; i++)
    KUGEL_TRY(send(r, &q->lane[i]));
  return KUGEL_OK;
}

/* If all is queued, waits for the end of an item, else for a moment in which a slot may become free. */
static kugel_status wait_for_more(run *r)
{
  static const struct timespec moment = {0, 50000};
  kugel__lane *late = NULL;
  bool queued = true;
  for (int i = 0; i < r->lanes->count; i++) {
    kugel__lane *lane = &r->lanes->lane[i];
    queued &= lane->over && lane->sent == lane->begun;
    late = late || !has_turn(r, lane) ? late : lane;
  }
  if (queued && late)
    return retire(r, late, true);
  nanosleep(&moment, NULL);
  return KUGEL_OK;
}

/* Whether lanes have work or may get some. */
static bool goes_on(const run *r)
{
  for (int i = 0; i < r->lanes->count; i++)
    if (!r->lanes->lane[i].over || r->lanes->lane[i].ended < r->lanes->lane[i].begun)
      return true;
  return false;
}

kugel_status kugel__device_lanes_run(kugel__device_lanes *q, const kugel__lane_job *job)
{
  run r = {.lanes = q, .job = job};
  kugel_status s = KUGEL_OK;
  double n = (double)kugel__max(job->count, 1);
  kugel__span outer = kugel__progress_enter(0, 1);
  for (int i = 0; i < q->count; i++) {
    kugel__lane *lane = &q->lane[i];
    lane->begun = lane->sent = lane->ended = 0;
    lane->over = false;
  }
  while (!s && goes_on(&r)) {
    kugel__progress_stage((double)r.ended / n, fmin((double)(r.ended + 1) / n, 1), job->stage);
    s = round_of(&r);
    if (!s && !r.moved)
      s = wait_for_more(&r);
    if (!s)
      s = kugel__progress_step(0);
  }
  if (s)
    s = kugel__device_lanes_drain(q, s);
  kugel__progress_leave(outer);
  return s;
}
