/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. LABEL: alone. */
/* Work in parts: every item exactly once, by either rule, with any number of slots, staged or not; cancelling;
 * a failure in one lane; every allocation and every driver call fails once. */
#include <time.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "device/every.h"
#include "device/lanes.h"

enum { ITEM = 5000, HALF = ITEM / 2, ITEMS = 23, LANES = 2, BIG = 8 << 20 };

/* What a run does with its items: the halves of each change places. */
typedef struct work {
  kugel__device_lanes *lanes;
  kugel__lane_home in, out; /* [count][ITEM] */
  int64_t count;
  bool staged, in_place, fixed;
  int64_t fail_at; /* the item that fails in step `fail_in`; -1: none */
  int fail_in;
  bool fault_with_it; /* all driver calls fail after it */
  int slow_lane;      /* computes long; -1: none */
  size_t big;         /* bytes that it fills, again and again */
  int computed[ITEMS], delivered[ITEMS], lane_of[ITEMS];
  int under_way[LANES], most;
} work;

static unsigned char byte_at(int64_t item, int64_t k)
{
  return (unsigned char)((7 * k + 13 * item) % 251);
}

static kugel_status fail_if(const work *w, int step, const kugel__lane_slot *slot)
{
  if (slot->item != w->fail_at || w->fail_in != step)
    return KUGEL_OK;
  if (w->fault_with_it)
    kugel__fault_device(1);
  return KUGEL_FAIL(KUGEL_EINVAL, "item %d is bad in step %d", (int)slot->item, step);
}

static int64_t next(void *arg, int lane, int64_t n)
{
  const work *w = arg;
  int64_t item = n * w->lanes->count + lane;
  return item < w->count ? item : -1;
}

static kugel_status load(void *arg, kugel__lane *lane, kugel__lane_slot *slot)
{
  work *w = arg;
  size_t at = (size_t)slot->item * ITEM;
  KUGEL_TRY(fail_if(w, 0, slot));
  if (!w->staged)
    return kugel__lane_move(lane, KUGEL__UPLOAD, slot->in, &w->in, at, ITEM);
  memcpy(slot->host_in, w->in.host + at, ITEM);
  return kugel__device_copy(lane->device, KUGEL__UPLOAD, slot->in, (kugel__mem){slot->host_in, 0}, ITEM,
                            lane->in);
}

static kugel_status compute(void *arg, kugel__lane *lane, kugel__lane_slot *slot)
{
  work *w = arg;
  kugel__mem half = {slot->in.base, slot->in.offset + HALF}, spare = {slot->in.base, slot->in.offset + ITEM},
             other = {slot->out.base, slot->out.offset + HALF};
  CHECK(slot->item >= 0 && slot->item < w->count);
  w->computed[slot->item]++;
  w->lane_of[slot->item] = lane->index;
  w->under_way[lane->index]++;
  w->most = w->under_way[lane->index] > w->most ? w->under_way[lane->index] : w->most;
  CHECK(w->under_way[lane->index] <= lane->slots);
  KUGEL_TRY(fail_if(w, 1, slot));
  for (int k = 0; k < 60 && lane->index == w->slow_lane; k++)
    KUGEL_TRY(kugel__device_fill(lane->device, (kugel__mem){slot->in.base, 2 * ITEM}, k, w->big, lane->work));
  KUGEL_TRY(kugel__device_copy(lane->device, KUGEL__WITHIN, spare, slot->in, HALF, lane->work));
  KUGEL_TRY(kugel__device_copy(lane->device, KUGEL__WITHIN, slot->out, half, HALF, lane->work));
  return kugel__device_copy(lane->device, KUGEL__WITHIN, other, spare, HALF, lane->work);
}

static kugel_status store(void *arg, kugel__lane *lane, kugel__lane_slot *slot)
{
  work *w = arg;
  KUGEL_TRY(fail_if(w, 2, slot));
  return w->staged
             ? kugel__device_copy(lane->device, KUGEL__DOWNLOAD, (kugel__mem){slot->host_out, 0}, slot->out,
                                  ITEM, lane->out)
             : kugel__lane_move(lane, KUGEL__DOWNLOAD, slot->out, &w->out, (size_t)slot->item * ITEM, ITEM);
}

static kugel_status deliver(void *arg, kugel__lane *lane, kugel__lane_slot *slot)
{
  work *w = arg;
  w->delivered[slot->item]++;
  w->under_way[lane->index]--;
  KUGEL_TRY(fail_if(w, 3, slot));
  if (w->staged)
    memcpy(w->out.host + (size_t)slot->item * ITEM, slot->host_out, ITEM);
  return KUGEL_OK;
}

static void fill_in(unsigned char *in)
{
  for (int i = 0; i < ITEMS; i++)
    for (int k = 0; k < ITEM; k++)
      in[i * ITEM + k] = byte_at(i, k);
}

static int wrong_bytes(const unsigned char *out, int64_t count)
{
  int wrong = 0;
  for (int64_t i = 0; i < ITEMS; i++)
    for (int64_t k = 0; k < ITEM; k++) // items beyond count stay as they were
      wrong += out[i * ITEM + k] != (i < count ? byte_at(i, (k + HALF) % ITEM) : 255);
  return wrong;
}

static kugel_status open_lanes(kugel_ctx *ctx, int slots, const work *w, kugel__device_lanes **out)
{
  kugel__lane_bytes bytes = {.in = 2 * ITEM + (w->slow_lane < 0 ? 0 : w->big),
                             .out = w->in_place ? 0 : ITEM,
                             .host_in = w->staged ? ITEM : 0,
                             .host_out = w->staged ? ITEM : 0};
  KUGEL_TRY(kugel__device_lanes_create(ctx, slots, out));
  for (int k = 0; k < (*out)->count; k++)
    KUGEL_TRY(kugel__lane_room(&(*out)->lane[k], &bytes));
  return KUGEL_OK;
}

static kugel_status run(work *w)
{
  kugel__lane_job job = {.arg = w,
                         .stage = "items",
                         .count = w->count,
                         .next = w->fixed ? next : NULL,
                         .load = load,
                         .compute = compute,
                         .store = store,
                         .blocking = !w->staged,
                         .deliver = deliver};
  memset(w->computed, 0, sizeof w->computed);
  memset(w->delivered, 0, sizeof w->delivered);
  memset(w->under_way, 0, sizeof w->under_way);
  w->most = 0;
  return kugel__device_lanes_run(w->lanes, &job);
}

static const work plain = {.count = ITEMS, .fail_at = -1, .slow_lane = -1};

static kugel_ctx *open_ctx(const char *name)
{
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = name}, &ctx));
  return ctx;
}

/* All ways to run, host memory on both sides or memory of the first device. */
static void every_item_once(const char *name, bool on_device)
{
  static unsigned char in[ITEMS * ITEM], out[ITEMS * ITEM];
  static const int64_t counts[] = {ITEMS, 5, 1, 0};
  kugel_ctx *ctx = open_ctx(name);
  void *from = NULL, *to = NULL;
  fill_in(in);
  CHECK_OK(kugel_device_alloc(ctx, sizeof in, &from));
  CHECK_OK(kugel_device_alloc(ctx, sizeof out, &to));
  CHECK_OK(kugel_device_upload(ctx, from, 0, in, sizeof in, NULL));
  for (int kind = 0; kind < 8; kind++)
    for (int slots = 1; slots <= KUGEL__LANE_SLOTS; slots++) {
      work w = plain;
      w.staged = kind & 1 && !on_device;
      w.in_place = kind & 2;
      w.fixed = kind & 4;
      w.in = on_device ? (kugel__lane_home){.mem = {from, 0}} : (kugel__lane_home){.host = (char *)in};
      w.out = on_device ? (kugel__lane_home){.mem = {to, 0}} : (kugel__lane_home){.host = (char *)out};
      CHECK_OK(open_lanes(ctx, slots, &w, &w.lanes));
      for (int c = 0; c < 4 && w.lanes; c++) { // the same lanes serve run after run
        w.count = counts[c];
        memset(out, 255, sizeof out);
        CHECK_OK(kugel_device_upload(ctx, to, 0, out, sizeof out, NULL));
        CHECK_OK(run(&w));
        if (on_device)
          CHECK_OK(kugel_device_download(ctx, out, to, 0, sizeof out, NULL));
        CHECK(!wrong_bytes(out, w.count));
        for (int i = 0; i < ITEMS; i++) {
          CHECK(w.computed[i] == (i < w.count) && w.delivered[i] == (i < w.count));
          CHECK(i >= w.count || !w.fixed || w.lane_of[i] == i % w.lanes->count);
        }
        CHECK(w.most == slots || w.count < slots * w.lanes->count || !getenv("KUGEL_FAKE_CUDA") ||
              !ctx->npeers);
      }
      kugel__device_lanes_destroy(w.lanes);
    }
  kugel_device_free(ctx, from);
  kugel_device_free(ctx, to);
  kugel_ctx_destroy(ctx);
}

/* The lane with long items gets fewer of them. */
static void faster_gets_more(const char *name)
{
  static unsigned char in[ITEMS * ITEM], out[ITEMS * ITEM];
  kugel_ctx *ctx = open_ctx(name);
  work w = plain;
  int fast = 0;
  fill_in(in);
  memset(out, 255, sizeof out);
  w.in.host = (char *)in;
  w.out.host = (char *)out;
  w.slow_lane = 0;
  kugel_device_info info = {.size = sizeof info};
  CHECK_OK(kugel_ctx_describe(ctx, &info));
  w.big = info.is_gpu && !getenv("KUGEL_FAKE_CUDA") ? (size_t)BIG << 6
                                                    : BIG; // a GPU is done before the next copy is queued
  CHECK_OK(open_lanes(ctx, 2, &w, &w.lanes));
  CHECK(w.lanes->count == 2);
  CHECK_OK(run(&w));
  CHECK(!wrong_bytes(out, ITEMS));
  for (int i = 0; i < ITEMS; i++)
    fast += w.lane_of[i];
  printf("  %d of %d items went to the faster lane\n", fast, ITEMS);
  CHECK(fast > ITEMS / 2);
  kugel__device_lanes_destroy(w.lanes);
  kugel_ctx_destroy(ctx);
}

/* A failure of any step: its status and its sentence, although the devices fail later as well; and the lanes can
 * be used again. */
static void one_lane_fails(const char *name)
{
  static unsigned char in[ITEMS * ITEM], out[ITEMS * ITEM];
  char sentence[64];
  kugel_ctx *ctx = open_ctx(name);
  work w = plain;
  fill_in(in);
  w.in.host = (char *)in;
  w.out.host = (char *)out;
  w.staged = true;
  CHECK_OK(open_lanes(ctx, 2, &w, &w.lanes));
  for (int step = 0; step < 4; step++)
    for (int with = 0; with < 2; with++) {
      w.fail_at = 7;
      w.fail_in = step;
      w.fault_with_it = with;
      CHECK_IS(run(&w), KUGEL_EINVAL);
      kugel__fault_device(0);
      snprintf(sentence, sizeof sentence, "item 7 is bad in step %d", step);
      CHECK(strstr(kugel_last_error(), sentence));
      CHECK(!w.computed[ITEMS - 1]);
      w.fail_at = -1;
      memset(out, 255, sizeof out);
      CHECK_OK(run(&w));
      CHECK(!wrong_bytes(out, ITEMS));
    }
  kugel__device_lanes_destroy(w.lanes);
  kugel_ctx_destroy(ctx);
}

typedef struct watch {
  double last;
  int calls, stop; /* cancels in call `stop` */
} watch;

static int on_progress(double fraction, const char *stage, void *user)
{
  watch *t = user;
  CHECK(!strcmp(stage, "items"));
  CHECK(fraction >= t->last && fraction <= 1);
  t->last = fraction;
  return ++t->calls == t->stop;
}

static kugel_status compute_near(void *arg, kugel__lane *lane, kugel__lane_slot *slot)
{
  const work *w = arg;
  int64_t oldest = 0;
  while (oldest < w->count && w->delivered[oldest])
    oldest++;
  CHECK(slot->item - oldest < 4);
  return compute(arg, lane, slot);
}

static kugel_status deliver_in_order(void *arg, kugel__lane *lane, kugel__lane_slot *slot)
{
  const work *w = arg;
  for (int64_t i = 0; i < w->count; i++)
    CHECK(w->delivered[i] == (i < slot->item));
  return deliver(arg, lane, slot);
}

/* A lane that is fast does not run away from a slow one, or waits for its turn. */
static void ahead(const char *name)
{
  static unsigned char in[ITEMS * ITEM], out[ITEMS * ITEM];
  kugel_ctx *ctx = open_ctx(name);
  work w = plain;
  w.in.host = (char *)in;
  w.out.host = (char *)out;
  w.slow_lane = 0;
  w.big = 1 << 16;
  fill_in(in);
  memset(out, 255, sizeof out);
  CHECK_OK(open_lanes(ctx, 2, &w, &w.lanes));
  kugel__lane_job job = {.arg = &w,
                         .stage = "items",
                         .count = ITEMS,
                         .ahead = 4,
                         .load = load,
                         .compute = compute_near,
                         .store = store,
                         .deliver = deliver};
  CHECK_OK(kugel__device_lanes_run(w.lanes, &job));
  CHECK(!wrong_bytes(out, ITEMS));
  memset(out, 255, sizeof out);
  memset(w.under_way, 0, sizeof w.under_way);
  memset(w.delivered, 0, sizeof w.delivered);
  job.ahead = 0;
  job.ordered = true;
  job.compute = compute;
  job.deliver = deliver_in_order;
  CHECK_OK(kugel__device_lanes_run(w.lanes, &job));
  CHECK(!wrong_bytes(out, ITEMS));
  kugel__device_lanes_destroy(w.lanes);
  kugel_ctx_destroy(ctx);
}

static kugel_status deliver_slowly(void *arg, kugel__lane *lane, kugel__lane_slot *slot)
{
  nanosleep(&(struct timespec){0, 21000000}, NULL); // the callback is asked 50 times per second
  return deliver(arg, lane, slot);
}

static void cancelled(const char *name)
{
  static unsigned char in[ITEMS * ITEM], out[ITEMS * ITEM];
  kugel_ctx *ctx = open_ctx(name);
  work w = plain;
  w.in.host = (char *)in;
  w.out.host = (char *)out;
  fill_in(in);
  CHECK_OK(open_lanes(ctx, 2, &w, &w.lanes));
  kugel__lane_job job = {.arg = &w,
                         .stage = "items",
                         .count = ITEMS,
                         .load = load,
                         .compute = compute,
                         .store = store,
                         .deliver = deliver_slowly};
  for (int stop = 1; stop < 8; stop += 3) {
    watch t = {.stop = stop};
    int done = 0;
    memset(w.under_way, 0, sizeof w.under_way);
    memset(w.delivered, 0, sizeof w.delivered);
    kugel_set_progress(on_progress, &t);
    CHECK_IS(kugel__device_lanes_run(w.lanes, &job), KUGEL_ECANCELED);
    kugel_set_progress(NULL, NULL);
    CHECK(strstr(kugel_last_error(), "\"items\""));
    CHECK(t.calls == stop);
    for (int i = 0; i < ITEMS; i++)
      done += w.delivered[i];
    CHECK(done <= stop * w.lanes->count);
    CHECK(stop < 3 || (t.last > 0 && t.last < 1));
  }
  memset(out, 255, sizeof out);
  CHECK_OK(run(&w));
  CHECK(!wrong_bytes(out, ITEMS));
  kugel__device_lanes_destroy(w.lanes);
  kugel_ctx_destroy(ctx);
}

static kugel_status whole_life(kugel_ctx *ctx, work *w)
{
  w->lanes = NULL;
  kugel_status s = open_lanes(ctx, 2, w, &w->lanes);
  if (!s)
    s = run(w);
  kugel__device_lanes_destroy(w->lanes);
  return s;
}

static void faults(const char *name)
{
  static unsigned char in[ITEMS * ITEM], out[ITEMS * ITEM];
  kugel_ctx *ctx = open_ctx(name);
  work w = plain;
  uint64_t before = 0, after = 0;
  fill_in(in);
  w.in.host = (char *)in;
  w.out.host = (char *)out;
  w.count = 5;
  CHECK_OK(kugel_device_usage(ctx, &before, NULL));
  for (int device = 0; device < 2; device++) {
    kugel_status s = KUGEL_ENOMEM;
    int n = 1;
    for (w.staged = false; s && n < 2000; n++, w.staged = n % 2) {
      (void)(device ? kugel__fault_device(n) : kugel__fault_alloc(n));
      s = whole_life(ctx, &w);
      (void)(device ? kugel__fault_device(0) : kugel__fault_alloc(0));
      CHECK(!s || s == KUGEL_ENOMEM || (device && s == KUGEL_EDEVICE));
      CHECK_OK(kugel_device_usage(ctx, &after, NULL));
      CHECK(after == before);
    }
    CHECK_OK(s);
    printf("  %d %s\n", n - 1, device ? "driver calls" : "allocations");
    memset(out, 255, sizeof out);
    CHECK_OK(whole_life(ctx, &w));
    CHECK(!wrong_bytes(out, w.count));
  }
  kugel_ctx_destroy(ctx);
}

static void limits(const char *name)
{
  kugel_ctx *ctx = open_ctx(name);
  kugel__device_lanes *lanes = NULL;
  int64_t bytes = 0;
  CHECK_OK(kugel__device_lanes_limit(ctx, kugel__ctx_limit(ctx), &bytes));
  for (int i = 0; i <= ctx->npeers; i++) {
    uint64_t available = 0;
    CHECK_OK(kugel_device_memory(i ? ctx->peers[i - 1] : ctx, &available, NULL));
    CHECK(bytes > 0 && (uint64_t)bytes < available);
  }
  CHECK_OK(kugel_ctx_limit_memory(ctx, 12345));
  CHECK_OK(kugel__device_lanes_limit(ctx, kugel__ctx_limit(ctx), &bytes));
  CHECK(bytes == 12345);
  CHECK_OK(kugel_ctx_limit_memory(ctx, UINT64_MAX));
  CHECK_OK(kugel__device_lanes_limit(ctx, kugel__ctx_limit(ctx), &bytes));
  CHECK(bytes == INT64_MAX);
  CHECK_IS(kugel__device_lanes_create(ctx, 0, &lanes), KUGEL_EINVAL);
  CHECK_IS(kugel__device_lanes_create(ctx, KUGEL__LANE_SLOTS + 1, &lanes), KUGEL_EINVAL);
  CHECK(!lanes);
  kugel_ctx_destroy(ctx);
}

static void check_lanes(const char *name)
{
  CASE(name) printf("  lanes\n");
  CASE("  limits") limits(name);
  CASE("  every item once, from and to host memory") every_item_once(name, false);
  CASE("  every item once, from and to the first device") every_item_once(name, true);
  if (strchr(name, ','))
    CASE("  the faster lane gets more items") faster_gets_more(name);
  CASE("  a fast lane waits for a slow one") ahead(name);
  CASE("  one lane fails") one_lane_fails(name);
  CASE("  cancelling") cancelled(name);
  CASE("  faults") faults(name);
}

int main(void)
{
  kugel_device_info info;
  kugel_device_info last = {.size = 0};
  char twins[16] = "";
  int cuda = 0, opencl = 0;
  setenv("POCL_DEVICES", "pthread pthread", 0);
  setenv("KUGEL_FAKE_CUDA_DEVICES", "2", 0);
  for (int index = 0; every_device(&index, false, &info);) {
    cuda += info.device.type == KUGEL_CUDA;
    opencl += every_several(&info);
    every_twins(&info, &last, twins);
  }
  check_lanes("cpu");
  if (cuda)
    check_lanes(cuda > 1 ? "cuda:0,1" : "cuda:0,0");
  if (opencl)
    check_lanes(every_pair(twins));
  END();
}
