/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once */
/* Exchanges between devices of ranks that are threads: by host memory in many rounds, by NCCL or its stand-in; failures that all
 * ranks hear of. */
#include <stdlib.h>
#include "device/every.h"
#include "comm/faults.h"
#include "ranks.h"
#include "comm/comm.h"
#include "core/ctx.h"
#include "wire/wire.h"

enum { MAX = 5, UNIT = 700 };

typedef struct task {
  const char *device; // with %d: of each rank its own
  size_t piece;
  int fails;    // a rank that fails before its exchange, -1: none
  bool settles; // ranks settle after their exchanges
  long breaks,
      made;   // the beginning or end of an exchange of rank 1 that fails, and how many there were; 0: none
  bool half;  // it fails half way
  bool loses; // rank 1 loses its device before it joins
  bool broken[MAX];
  int wrong[MAX];
  kugel_status status[MAX];
  char name[MAX][32], why[MAX][300], settled[MAX][300];
} task;

/* Bytes from one rank to another, some of them none. */
static size_t bytes_of(int from, int to)
{
  return from + 1 == to && from > 0 ? 0 : (size_t)(UNIT * (1 + 3 * from) + 11 * to);
}

static unsigned char byte_of(int from, int to, size_t i, int turn)
{
  return (unsigned char)((i + (size_t)(7 * from + 31 * to + 101 * turn)) % 251);
}

typedef struct sizes {
  size_t out[MAX], out_at[MAX], in[MAX], in_at[MAX], all_out, all_in;
} sizes;

static sizes sizes_of(int rank, int ranks)
{
  sizes z = {.all_out = 0};
  for (int r = 0; r < ranks; r++) {
    z.out[r] = bytes_of(rank, r);
    z.in[r] = bytes_of(r, rank);
    z.out_at[r] = z.all_out;
    z.in_at[r] = z.all_in;
    z.all_out += z.out[r];
    z.all_in += z.in[r];
  }
  return z;
}

/* Three exchanges, each queued behind what it sends; of NCCL the first between two ranks is not like the others. */
static kugel_status exchange(task *t, kugel_comm *c, kugel_ctx *ctx, kugel__wire *w, kugel_queue *queue,
                             void *const memory[2], unsigned char *host)
{
  int rank = rank_of(c), ranks = ranks_of(c);
  sizes z = sizes_of(rank, ranks);
  kugel__wire_job job = {{memory[0], 0}, {memory[1], 0}, z.out, z.out_at, z.in, z.in_at, NULL};
  kugel_status s = KUGEL_OK;
  for (int turn = 0; turn < 3 && !s; turn++) {
    for (int r = 0; r < ranks; r++)
      for (size_t i = 0; i < z.out[r]; i++)
        host[z.out_at[r] + i] = byte_of(rank, r, i, turn);
    s = kugel_device_upload(ctx, memory[0], 0, host, z.all_out, queue);
    s = s ? s : kugel_queue_wait(queue);
    if (rank == t->fails)
      s = KUGEL_FAIL(KUGEL_EINVAL, "this rank has no data");
    s = kugel__wire_exchange(w, s, &job, queue);
    if (t->settles) {
      s = kugel__wire_settle(w, s);
      t->broken[rank] = w->broken;
      snprintf(t->settled[rank], sizeof t->settled[rank], "%s", s ? kugel_last_error() : "");
      if (s)
        CHECK_IS(kugel__wire_exchange(w, KUGEL_OK, &job, queue), w->broken ? KUGEL_EDEVICE : KUGEL_OK);
    }
    s = s ? s : kugel_device_download(ctx, host, memory[1], 0, z.all_in, queue);
    s = s ? s : kugel_queue_wait(queue);
    for (int r = 0; r < ranks && !s; r++)
      for (size_t i = 0; i < z.in[r]; i++)
        t->wrong[rank] += host[z.in_at[r] + i] != byte_of(r, rank, i, turn);
  }
  return s;
}

static void one_rank(kugel_comm *c, void *arg)
{
  task *t = arg;
  int rank = rank_of(c), ranks = ranks_of(c);
  sizes z = sizes_of(rank, ranks);
  char device[64];
  kugel_ctx *ctx = NULL;
  kugel__wire *w = NULL;
  kugel_queue *queue = NULL;
  void *memory[2] = {NULL, NULL};
  unsigned char *host = malloc(z.all_out + z.all_in + 1);
  snprintf(device, sizeof device, t->device, rank);
  kugel__comm_enter(c);
  kugel_status s =
      kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = device}, &ctx);
  s = s ? s : kugel_queue_create(ctx, &queue);
  s = s ? s : kugel_device_alloc(ctx, z.all_out + 1, &memory[0]);
  s = s ? s : kugel_device_alloc(ctx, z.all_in + 1, &memory[1]);
  s = kugel__comm_agree(c, s);
  if (!s && t->loses && rank == 1)
    kugel__ctx_device(ctx)->lost = 700;
  s = s ? s : kugel__wire_open(c, ctx, t->piece, &w);
  if (ctx)
    kugel__ctx_device(ctx)->lost = 0;
  snprintf(t->name[rank], sizeof t->name[rank], "%s", w ? kugel__wire_name(w) : "");
  kugel_comm_ops ops = failing_engine(c, rank == 1 ? t->breaks : 0, t->half);
  s = s ? s : exchange(t, c, ctx, w, queue, memory, host);
  c->ops = ops;
  CHECK(engine_at_rest());
  if (rank == 1)
    t->made = rank_engine.count;
  t->status[rank] = kugel__comm_leave(c, s);
  snprintf(t->why[rank], sizeof t->why[rank], "%s", t->status[rank] ? kugel_last_error() : "");
  if (queue)
    kugel_queue_wait(queue);
  kugel__wire_close(w);
  for (int i = 0; i < 2; i++)
    kugel_device_free(ctx, memory[i]);
  kugel_queue_destroy(queue);
  kugel_ctx_destroy(ctx);
  free(host);
}

/* The status of all ranks, which agree. */
static kugel_status run(task *t, int n)
{
  memset(t->wrong, 0, sizeof t->wrong);
  run_ranks(NULL, n, one_rank, t);
  for (int r = 0; r < n; r++) {
    CHECK(t->status[r] == t->status[0] && !strcmp(t->why[r], t->why[0]));
    CHECK(t->status[r] || t->wrong[r] == 0); // a failure within is heard of after what came was compared
    CHECK(t->status[r] || !strcmp(t->name[r], t->name[0]));
  }
  return t->status[0];
}

static void by_host(const char *device)
{
  static const int counts[] = {1, 2, 3, MAX};
  setenv("KUGEL_PEERS", "copy", 1);
  for (int i = 0; i < 4; i++)
    for (size_t piece = 1024; piece < 5000; piece += 3000) {
      task t = {.device = device, .piece = piece, .fails = -1};
      CHECK_OK(run(&t, counts[i]));
      CHECK(!strcmp(t.name[0], i ? "host memory" : "device"));
    }
  unsetenv("KUGEL_PEERS");
}

static void failures(const char *device)
{
  setenv("KUGEL_PEERS", "copy", 1);
  task t = {.device = device, .piece = 1024, .fails = 1};
  CHECK(run(&t, 3) == KUGEL_EINVAL);
  CHECK(strstr(t.why[0], "rank 1: ") != NULL && strstr(t.why[0], "this rank has no data") != NULL);
  setenv("KUGEL_PEERS", "carrier pigeons", 1);
  CHECK(run(&t, 2) == KUGEL_EINVAL);
  CHECK(strstr(t.why[0], "must be auto, copy or nccl") != NULL);
  setenv("KUGEL_PEERS", "copy", 1);
  setenv("KUGEL_PEERS_WAIT", "a while", 1);
  CHECK(run(&t, 2) == KUGEL_EINVAL);
  CHECK(strstr(t.why[0], "must be seconds") != NULL);
  unsetenv("KUGEL_PEERS_WAIT");
  t.fails = -1;
  kugel_status s = KUGEL_EDEVICE;
  for (int n = 1; s && n < 1000; n += n < 40 ? 1 : 13) {
    kugel__fault_device(n);
    s = run(&t, 2);
    kugel__fault_device(0);
    CHECK(!s || s == KUGEL_EDEVICE || s == KUGEL_ENOMEM || s == KUGEL_ENOTSUP);
  }
  CHECK_OK(s);
  unsetenv("KUGEL_PEERS");
}

/* Each beginning, and each end, of a round of one rank fails: every rank hears of it, and each round that has begun is ended. */
static void rounds_break(const char *device)
{
  setenv("KUGEL_PEERS", "copy", 1);
  for (int half = 0; half < 2; half++) {
    task t = {.device = device, .piece = 1024, .fails = -1, .half = half};
    do {
      t.breaks++;
      kugel_status s = run(&t, 3);
      CHECK(s == (t.breaks <= t.made ? KUGEL_EIO : KUGEL_OK));
    } while (t.breaks <= t.made);
    CHECK(t.made >= 12); // two exchanges of several rounds
  }
  unsetenv("KUGEL_PEERS");
}

static void not_there(const char *device)
{
  task t = {.device = device, .fails = -1};
  CHECK_OK(run(&t, 2));
  CHECK(!strcmp(t.name[0], "host memory"));
  setenv("KUGEL_PEERS", "nccl", 1);
  CHECK(run(&t, 2) == KUGEL_ENOTSUP);
  CHECK(strstr(t.why[0], "KUGEL_PEERS is nccl") != NULL);
  unsetenv("KUGEL_PEERS");
}

/* Two devices, "cuda:%d". False: NCCL is not there. */
static bool by_nccl(void)
{
  task t = {.device = "cuda:%d", .fails = -1};
  setenv("KUGEL_PEERS", "nccl", 1);
  kugel_status s = run(&t, 2);
  unsetenv("KUGEL_PEERS");
  if (s == KUGEL_ENOTSUP) {
    printf("  without NCCL: %s\n", t.why[0]);
    return false;
  }
  CHECK_OK(s);
  CHECK(!strncmp(t.name[0], "NCCL ", 5));
  printf("  %s\n", t.name[0]);
  CHECK_OK(run(&t, 2));
  CHECK(!strncmp(t.name[0], "NCCL ", 5));
  t.fails = 0;
  CHECK(run(&t, 2) == KUGEL_EINVAL);
  return true;
}

/* NCCL would refuse two ranks on one device, and not tell those on others. */
static void one_device(void)
{
  task t = {.device = "cuda:0", .fails = -1};
  CHECK_OK(run(&t, 2));
  CHECK(!strcmp(t.name[0], "host memory"));
  setenv("KUGEL_PEERS", "nccl", 1);
  CHECK_IS(run(&t, 2), KUGEL_ENOTSUP);
  CHECK(strstr(t.why[0], "two ranks share a GPU") != NULL);
  unsetenv("KUGEL_PEERS");
}

/* Calls of the stand-in that fail. */
static void stand_in(void)
{
  static const char *const calls[] = {"ncclGetUniqueId", "ncclCommInitRank", "ncclCommSplit",
                                      "ncclGroupStart",  "ncclSend",         "ncclGroupEnd"};
  task t = {.device = "cuda:%d", .fails = -1};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    if (i == 2 && getenv("KUGEL_FAKE_NCCL_VERSION"))
      continue; // older ones have none
    setenv("KUGEL_FAKE_NCCL", calls[i], 1);
    kugel_status s = run(&t, 2);
    if (i < 3) {
      CHECK_OK(s);
      CHECK(!strcmp(t.name[0], "host memory"));
    } else {
      CHECK_IS(s, KUGEL_EDEVICE);
      CHECK(strstr(t.why[0], calls[i]) != NULL);
    }
  }
  unsetenv("KUGEL_FAKE_NCCL");
}

/* A group of one rank fails: the others, whose messages wait for its, do not. A failure that is not of a device breaks nothing. */
static void group_of_one(void)
{
  setenv("KUGEL_PEERS", "nccl", 1);
  task t = {.device = "cuda:%d", .fails = -1, .settles = true};
  setenv("KUGEL_FAKE_NCCL", "ncclGroupEnd:1", 1);
  CHECK_IS(run(&t, 2), KUGEL_EDEVICE);
  CHECK(t.broken[0] && t.broken[1]);
  CHECK(strstr(t.settled[0], "rank 1: ncclGroupEnd") != NULL && !strcmp(t.settled[0], t.settled[1]));
  CHECK(strstr(t.why[0], "make the plan again") != NULL);
  unsetenv("KUGEL_FAKE_NCCL");
  t.fails = 1;
  CHECK_IS(run(&t, 2), KUGEL_EINVAL);
  CHECK(!t.broken[0] && !t.broken[1]);
  t.fails = -1;
  CHECK_OK(run(&t, 2));
  unsetenv("KUGEL_PEERS");
}

/* A rank fails alone, before it joins or while others wait for it: they go by the host, or fail as it does. */
static void one_is_missing(void)
{
  setenv("KUGEL_PEERS_WAIT", "0.3", 1);
  for (int how = 0; how < 4; how++) {
    task t = {.device = "cuda:%d", .fails = -1, .loses = how & 1};
    if (getenv("KUGEL_FAKE_NCCL_VERSION") && !t.loses)
      continue; // the others would wait for ever
    if (!t.loses)
      setenv("KUGEL_FAKE_NCCL", "ncclCommInitRankConfig:1", 1);
    if (how & 2)
      setenv("KUGEL_PEERS", "nccl", 1);
    kugel_status s = run(&t, 2);
    CHECK(s == (how & 2 ? KUGEL_EDEVICE : KUGEL_OK));
    CHECK(s || !strcmp(t.name[0], "host memory"));
    unsetenv("KUGEL_FAKE_NCCL");
    unsetenv("KUGEL_PEERS");
  }
  unsetenv("KUGEL_PEERS_WAIT");
}

int main(void)
{
  kugel_device_info info;
  int cuda = 0;
  unsetenv("KUGEL_PEERS");
  setenv("KUGEL_FAKE_CUDA_DEVICES", "2", 0);
  for (int at = 0; every_device(&at, false, &info);) {
    bool is_cuda = info.device.type == KUGEL_CUDA;
    if (is_cuda && cuda++)
      continue;
    CASE(every_title(&info, "by host memory")) by_host(info.name);
    CASE(every_title(&info, "a round that does not begin, or end")) rounds_break(info.name);
    every_hold(&info, true);
    CASE(every_title(&info, "failures")) failures(info.name);
    every_hold(&info, false);
    if (!is_cuda)
      CASE(every_title(&info, "no library")) not_there(info.name);
  }
  if (cuda > 1) {
    bool nccl = false;
    CASE("cuda: NCCL") nccl = by_nccl();
    CASE("cuda: two ranks on one device") nccl ? one_device() : (void)0;
    if (getenv("KUGEL_FAKE_CUDA")) {
      CASE("cuda: failures of NCCL") stand_in();
      CASE("cuda: a group of one rank fails") group_of_one();
      CASE("cuda: a rank fails before or while the others join") one_is_missing();
    }
  }
  END();
}
