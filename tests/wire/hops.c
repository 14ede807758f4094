/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once */
/* Exchanges in two steps, between ranks that are threads, in groups as KUGEL_PEERS_GROUP says: each byte comes from where it must;
 * groups of hosts; failures that all ranks hear of. */
#include <stdlib.h>
#include "device/every.h"
#include "comm/faults.h"
#include "ranks.h"
#include "core/ctx.h"
#include "wire/wire.h"

enum { MAX = 12 };

typedef struct task {
  const char *device;     // with %d: of each rank its own
  size_t unit;            // that divides sizes and offsets
  int fails, breaks_rank; // ranks that fail before their second exchange, or in their engine; -1: none
  long breaks, made;      // the beginning or end of an exchange that fails; how many there were
  long starves,
      taken;     // the allocation of rank 1 that fails, from when its wire is opened; how many there were
  bool straight; // no hops are expected
  int wrong[MAX];
  kugel_status status[MAX];
  char why[MAX][300];
} task;

/* Units from one rank to another: many, few, none. */
static size_t units(int from, int to)
{
  return (from + 2 * to) % 5 == 1 ? 0 : (from * to) % 7 == 3 ? 9000 : (size_t)(3 + 2 * from + 5 * to);
}

static unsigned char byte_of(int from, int to, size_t i, int turn)
{
  return (unsigned char)((i + i / 251 + (size_t)(7 * from + 31 * to + 101 * turn)) % 249);
}

typedef struct sizes {
  size_t out[MAX], out_at[MAX], in[MAX], in_at[MAX], all_out, all_in;
} sizes;

/* Offsets in an order that is not the ranks', with gaps. */
static sizes sizes_of(const task *t, int rank, int ranks)
{
  sizes z = {.all_out = 0};
  for (int i = 0; i < ranks; i++) {
    int r = ranks % 5 ? 5 * i % ranks : i;
    z.out[r] = units(rank, r) * t->unit;
    z.in[i] = units(i, rank) * t->unit;
    z.out_at[r] = z.all_out;
    z.in_at[i] = z.all_in;
    z.all_out += z.out[r] + t->unit;
    z.all_in += z.in[i] + 2 * t->unit;
  }
  return z;
}

typedef struct rank {
  task *t;
  kugel_comm *comm;
  kugel_ctx *ctx;
  kugel__wire *wire;
  kugel_queue *queue;
  void *memory[2];
  unsigned char *host;
  sizes z;
} rank;

static kugel_status turn(rank *a, const kugel__wire_job *job, int which)
{
  const sizes *z = &a->z;
  const int own = rank_of(a->comm), ranks = ranks_of(a->comm);
  for (int r = 0; r < ranks; r++)
    for (size_t i = 0; i < z->out[r]; i++)
      a->host[z->out_at[r] + i] = byte_of(own, r, i, which);
  kugel_status s = kugel_device_upload(a->ctx, a->memory[0], 0, a->host, z->all_out, a->queue);
  s = s ? s : kugel_device_fill(a->ctx, a->memory[1], 0, 250, z->all_in, a->queue);
  s = s ? s : kugel_queue_wait(a->queue);
  if (which == 1 && own == a->t->fails)
    s = KUGEL_FAIL(KUGEL_EINVAL, "this rank has no data");
  s = kugel__wire_exchange(a->wire, s, job, a->queue);
  s = s ? s : kugel_device_download(a->ctx, a->host, a->memory[1], 0, z->all_in, a->queue);
  s = s ? s : kugel_queue_wait(a->queue);
  for (int r = 0; r < ranks && !s; r++) {
    for (size_t i = 0; i < z->in[r]; i++)
      a->t->wrong[own] += a->host[z->in_at[r] + i] != byte_of(r, own, i, which);
    for (size_t i = 0; i < 2 * a->t->unit; i++) // nothing lands in the gaps
      a->t->wrong[own] += a->host[z->in_at[r] + z->in[r] + i] != 250;
  }
  return s;
}

static kugel_status exchange(rank *a)
{
  const sizes *z = &a->z;
  kugel__wire_job job = {{a->memory[0], 0}, {a->memory[1], 0}, z->out, z->out_at, z->in, z->in_at, NULL};
  kugel__hops *hops;
  KUGEL_TRY(kugel__hops_make(a->wire, KUGEL_OK, &job, &hops));
  CHECK(!hops == a->t->straight);
  CHECK(!kugel__hops_room(a->wire) == a->t->straight);
  job.hops = hops;
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < 2 && !s; i++)
    s = turn(a, &job, i);
  kugel_queue_wait(a->queue);
  kugel__hops_free(a->wire, hops);
  return s;
}

static void one_rank(kugel_comm *c, void *arg)
{
  task *t = arg;
  int own = rank_of(c);
  rank a = {.t = t, .comm = c, .z = sizes_of(t, own, ranks_of(c))};
  rank_memory memory = {0};
  kugel_allocator allocator = {rank_take, rank_give, &memory};
  kugel_ctx_opts opts = {.size = sizeof opts, .allocator = &allocator};
  char device[64];
  a.host = malloc(a.z.all_out + a.z.all_in);
  snprintf(device, sizeof device, t->device, own);
  opts.device = device;
  kugel__comm_enter(c);
  kugel_status s = kugel_ctx_create(&opts, &a.ctx);
  s = s ? s : kugel_queue_create(a.ctx, &a.queue);
  s = s ? s : kugel_device_alloc(a.ctx, a.z.all_out, &a.memory[0]);
  s = s ? s : kugel_device_alloc(a.ctx, a.z.all_in, &a.memory[1]);
  s = kugel__comm_agree(c, s);
  kugel_comm_ops ops = failing_engine(c, own == t->breaks_rank ? t->breaks : 0, false);
  memory = (rank_memory){.fails_at = own == 1 ? t->starves : 0};
  s = s ? s : kugel__wire_open(c, a.ctx, 1024, &a.wire);
  s = s ? s : exchange(&a);
  c->ops = ops;
  CHECK(engine_at_rest());
  if (own == 1)
    t->taken = memory.count;
  if (own == t->breaks_rank)
    t->made = rank_engine.count;
  t->status[own] = kugel__comm_leave(c, s);
  snprintf(t->why[own], sizeof t->why[own], "%s", t->status[own] ? kugel_last_error() : "");
  if (a.queue)
    kugel_queue_wait(a.queue);
  kugel__wire_close(a.wire);
  for (int i = 0; i < 2; i++)
    kugel_device_free(a.ctx, a.memory[i]);
  kugel_queue_destroy(a.queue);
  kugel_ctx_destroy(a.ctx);
  free(a.host);
}

/* The status of all ranks, which agree. */
static kugel_status run(task *t, int ranks, const char *group)
{
  memset(t->wrong, 0, sizeof t->wrong);
  setenv("KUGEL_PEERS_GROUP", group, 1);
  run_ranks(NULL, ranks, one_rank, t);
  unsetenv("KUGEL_PEERS_GROUP");
  for (int r = 0; r < ranks; r++) {
    CHECK(t->status[r] == t->status[0] && !strcmp(t->why[r], t->why[0]));
    CHECK(t->status[r] || t->wrong[r] == 0);
  }
  return t->status[0];
}

static void all_sizes(const char *device, int most)
{
  static const struct {
    int ranks;
    const char *group;
    bool straight;
  } cases[] = {{4, "2", false}, {6, "3", false}, {6, "2", false},  {12, "4", false},
               {9, "3", false}, {4, "1", true},  {4, "4", true},   {5, "2", true},
               {1, "1", true},  {3, "8", true},  {12, "6", false}, {12, "2", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t unit = 1; unit <= 16 && cases[i].ranks <= most; unit *= unit == 1 ? 4 : 2) {
      task t = {
          .device = device, .unit = unit, .fails = -1, .breaks_rank = -1, .straight = cases[i].straight};
      CHECK_OK(run(&t, cases[i].ranks, cases[i].group));
    }
}

static void failures(const char *device)
{
  task t = {.device = device, .unit = 8, .fails = 2, .breaks_rank = -1};
  CHECK_IS(run(&t, 4, "2"), KUGEL_EINVAL);
  CHECK(strstr(t.why[0], "rank 2: ") != NULL && strstr(t.why[0], "this rank has no data") != NULL);
  t.fails = -1;
  static const char *const bad[] = {"0", "-2", "two", "2 ranks", "99999999999"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK_IS(run(&t, 4, bad[i]), KUGEL_EINVAL);
    CHECK(strstr(t.why[0], bad[i]) != NULL && strstr(t.why[0], "must be ranks per group") != NULL);
  }
  t.unit = 1;
  kugel_status s = KUGEL_EDEVICE;
  for (int n = 1; s && n < 5000; n += n < 60 ? 1 : 23) {
    kugel__fault_device(n);
    s = run(&t, 4, "2");
    kugel__fault_device(0);
    CHECK(!s || s == KUGEL_EDEVICE || s == KUGEL_ENOMEM || s == KUGEL_ENOTSUP || s == KUGEL_ECOMPILE);
  }
  CHECK_OK(s);
}

/* Each beginning and end of an exchange of one rank fails: sizes, then the rounds of both steps. */
static void breaks(const char *device)
{
  task t = {.device = device, .unit = 1, .fails = -1, .breaks_rank = 1};
  do {
    t.breaks++;
    CHECK_IS(run(&t, 4, "2"), t.breaks <= t.made ? KUGEL_EIO : KUGEL_OK);
  } while (t.breaks <= t.made);
  CHECK(t.made >= 10);
}

/* Each allocation of one rank fails. */
static void starves(const char *device)
{
  task t = {.device = device, .unit = 4, .fails = -1, .breaks_rank = -1};
  do {
    t.starves++;
    CHECK_IS(run(&t, 4, "2"), t.starves <= t.taken ? KUGEL_ENOMEM : KUGEL_OK);
  } while (t.starves <= t.taken);
  CHECK(t.taken >= 8);
}

/* Hosts in any order; of unequal size. */
static void hosts(void)
{
  kugel__wire_self all[6] = {{.host = 7}, {.host = 3}, {.host = 7}, {.host = 9}, {.host = 3}, {.host = 9}};
  static const int truth[] = {0, 2, 1, 4, 3, 5};
  int listed[6];
  for (int r = 0; r < 6; r++) {
    kugel__wire_places p = {.rank = listed};
    kugel__places_by_host(&p, 6, r, all);
    CHECK(p.groups == 3 && p.seats == 2 && !p.asked);
    CHECK(!memcmp(listed, truth, sizeof truth));
    CHECK(p.group < 3 && p.seat < 2 && listed[p.group * p.seats + p.seat] == r);
  }
  all[5].host = 7;
  kugel__wire_places p = {.rank = listed};
  kugel__places_by_host(&p, 6, 0, all);
  CHECK(p.groups == 1 && p.seats == 1);
}

int main(void)
{
  kugel_device_info info;
  int cuda = 0;
  CASE("hosts") hosts();
  for (int at = 0; every_device(&at, true, &info);) {
    if (info.device.type == KUGEL_CUDA && cuda++)
      continue;
    setenv("KUGEL_PEERS", "copy", 1);
    CASE(every_title(&info, "by host memory")) all_sizes(info.name, MAX);
    CASE(every_title(&info, "an exchange that does not begin, or end")) breaks(info.name);
    CASE(every_title(&info, "an allocation fails")) starves(info.name);
    every_hold(&info, true);
    CASE(every_title(&info, "failures")) failures(info.name);
    every_hold(&info, false);
    unsetenv("KUGEL_PEERS");
  }
  if (cuda > 3) {
    setenv("KUGEL_PEERS", "nccl", 1);
    CASE("cuda: NCCL") all_sizes("cuda:%d", cuda);
    unsetenv("KUGEL_PEERS");
  }
  END();
}
