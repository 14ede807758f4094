/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once */
/* kugel_comm_measure_devices: straight and in two steps, what it says, what it refuses. */
#include <stdlib.h>
#include "device/every.h"
#include "comm/faults.h"
#include "ranks.h"

typedef struct task {
  const char *device;
  int64_t bytes;
  int repeats, alone; // the rank whose bytes differ; -1: none
  kugel_status status[4];
  double seconds[4];
  char way[4][64], why[4][200];
} task;

static void one_rank(kugel_comm *c, void *arg)
{
  task *t = arg;
  const int own = rank_of(c);
  kugel_ctx *ctx = NULL;
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = t->device}, &ctx));
  t->seconds[own] = 0;
  t->status[own] = kugel_comm_measure_devices(c, ctx, t->bytes + (own == t->alone), t->repeats, t->way[own],
                                              sizeof t->way[own], &t->seconds[own]);
  snprintf(t->why[own], sizeof t->why[own], "%s", t->status[own] ? kugel_last_error() : "");
  kugel_ctx_destroy(ctx);
}

static kugel_status run(task *t, int ranks)
{
  run_ranks(NULL, ranks, one_rank, t);
  for (int r = 1; r < ranks; r++)
    CHECK(t->status[r] == t->status[0] && !strcmp(t->why[r], t->why[0]) &&
          (t->status[0] || (t->seconds[r] == t->seconds[0] && !strcmp(t->way[r], t->way[0]))));
  return t->status[0];
}

static void measures(const char *device)
{
  task t = {.device = device, .repeats = 3, .alone = -1};
  setenv("KUGEL_PEERS", "copy", 1);
  for (t.bytes = 1; t.bytes < 100000; t.bytes *= 17) {
    CHECK_OK(run(&t, 3));
    CHECK(t.seconds[0] > 0 && t.seconds[0] < 60 && !strcmp(t.way[0], "host memory"));
    setenv("KUGEL_PEERS_GROUP", "2", 1);
    CHECK_OK(run(&t, 4));
    CHECK(t.seconds[0] > 0 && !strcmp(t.way[0], "host memory, in two steps"));
    unsetenv("KUGEL_PEERS_GROUP");
  }
  CHECK_OK(run(&t, 1));
  unsetenv("KUGEL_PEERS");
}

static void refuses(const char *device)
{
  task t = {.device = device, .bytes = 64, .repeats = 3, .alone = 2};
  CHECK_IS(run(&t, 4), KUGEL_EINVAL);
  CHECK(strstr(t.why[0], "differ in bytes") != NULL);
  t.alone = -1;
  t.bytes = 0;
  CHECK_IS(run(&t, 2), KUGEL_EINVAL);
  CHECK(strstr(t.why[0], "bytes is 0, must be 1 to 2^40") != NULL);
  t.bytes = 1;
  t.repeats = 1001;
  CHECK_IS(run(&t, 2), KUGEL_EINVAL);
  t.repeats = 1;
  t.bytes = (int64_t)1 << 40;
  CHECK_IS(run(&t, 2), KUGEL_ENOMEM);
  double seconds;
  CHECK_IS(kugel_comm_measure_devices(NULL, NULL, 1, 1, NULL, 0, &seconds), KUGEL_EINVAL);
}

static kugel_status once(kugel_ctx *ctx, kugel_comm *comm, void *arg)
{
  double seconds;
  (void)arg;
  return kugel_comm_measure_devices(comm, ctx, 100, 2, NULL, 0, &seconds);
}

int main(void)
{
  CASE("an allocation of one rank fails") sweep_rank(1, 1, once, NULL, 4);
  CASE("an exchange of one rank fails") sweep_exchanges(2, once, NULL);
  kugel_device_info info;
  for (int at = 0; every_device(&at, true, &info);) {
    CASE(every_title(&info, "measures")) measures(info.name);
    every_hold(&info, true);
    CASE(every_title(&info, "refuses")) refuses(info.name);
    every_hold(&info, false);
  }
  END();
}
