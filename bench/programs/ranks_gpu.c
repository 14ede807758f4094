/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that are threads of one process, each with a device of its own: exchanges between the devices, and transforms over
 * them, beside a plan without ranks.
 * usage: bench_ranks_gpu [--device=cuda:%d] [--ranks=1,2] [--bytes=268435456] [--nside=4096] [--lmax=8192] [--runs=5] [--pieces=N] [--stages] [exchange] [sht]
 * %d is the rank's number; --stages: when each rank's stages run, in one more transform each way; --smoke: small, on any device.
 * KUGEL_PEERS: auto, copy or nccl. */
#include "clock.h"
#include "counts.h"
#include "device/every.h"
#include "ranks.h"
#include "comm/comm.h"
#include "core/ctx.h"
#include "device/device.h"
#include "sphere/sht/dist.h"
#include "sphere/sht/gpu_plan.h"

enum { MOST = 8, RUNS = 32, QUEUED = 8 };
static const char *device = "cuda:%d";
static int64_t bytes = 256 << 20, nside = 4096, lmax = 8192;
static int runs = 5, pieces; // pieces 0: the plan's choice
static bool stages;

/* A stage of one rank: milliseconds of its launches, pieces added up; from the first one to the last one, from the start on. */
typedef struct span {
  double sum, from, to;
} span;

typedef struct outcome {
  kugel_grid *grid;
  double seconds
      [2]
      [RUNS]; // of rank 0, from barrier to barrier: synthesis, adjoint; an exchange, one of QUEUED behind each other
  double stages[2]; // of a plan without ranks: Legendre, rings, of synthesis
  span spans[MOST][2][KUGEL__DIST_STAGES];
  char way[64], why[MOST][200];
  double checksum[MOST];
} outcome;

static double median(double *x)
{
  qsort(x, (size_t)runs, sizeof *x, by_value);
  return x[runs / 2];
}

static kugel_status open_ctx(int rank, kugel_ctx **ctx)
{
  char name[64];
  snprintf(name, sizeof name, device, rank);
  return kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = name}, ctx);
}

/* All ranks have come here, and their devices are done. */
static kugel_status together(kugel_comm *comm, kugel__device *d, kugel_status s)
{
  kugel_status done = s ? s : d->ops->wait(&d->queue);
  return comm ? kugel__comm_agree(comm, done) : done;
}

/* ---- exchange ---- */

static kugel_status exchanges(kugel_comm *comm, kugel_ctx *ctx, kugel__wire *w, outcome *o)
{
  size_t out[MOST], at[MOST], n = (size_t)comm->size, each = (size_t)bytes / (n > 1 ? n - 1 : 1) / 256 * 256;
  kugel__device *d = kugel__ctx_device(ctx);
  void *memory[2] = {NULL, NULL};
  kugel_status s = KUGEL_OK;
  for (size_t r = 0; r < n; r++) {
    out[r] = (int)r == comm->rank && n > 1 ? 0 : each;
    at[r] = r * each;
  }
  for (int i = 0; i < 2; i++)
    s = s ? s : kugel__device_alloc(d, n * each, &memory[i]);
  kugel__wire_job job = {{memory[0], 0}, {memory[1], 0}, out, at, out, at, NULL};
  for (int k = -2; k < runs; k++)
    for (int queued = 0; queued < 2; queued++) {
      s = together(comm, d, s);
      if (s)
        break;
      double start = now();
      for (int i = 0; i < (queued ? QUEUED : 1); i++)
        s = kugel__wire_exchange(w, s, &job, &d->queue);
      s = together(comm, d, s);
      if (comm->rank == 0 && k >= 0)
        o->seconds[queued][k] = (now() - start) / (queued ? QUEUED : 1);
    }
  for (int i = 0; i < 2; i++)
    kugel__device_free(d, memory[i]);
  return s;
}

static void exchange_rank(kugel_comm *comm, void *arg)
{
  outcome *o = arg;
  kugel_ctx *ctx = NULL;
  kugel__wire *w = NULL;
  kugel__comm_enter(comm);
  kugel_status s = kugel__comm_agree(comm, open_ctx(comm->rank, &ctx));
  s = s ? s : kugel__wire_open(comm, ctx, 0, &w);
  if (!s && comm->rank == 0)
    snprintf(o->way, sizeof o->way, "%s", kugel__wire_name(w));
  s = s ? s : exchanges(comm, ctx, w, o);
  s = kugel__comm_leave(comm, s);
  if (s)
    snprintf(o->why[comm->rank], sizeof o->why[0], "%s", kugel_last_error());
  kugel__wire_close(w);
  kugel_ctx_destroy(ctx);
}

/* ---- transforms ---- */

static kugel_status stage_times(const kugel_sht *p, kugel__mem alm, kugel__mem map, outcome *o)
{
  static const kugel__gpu_how plain = {.check = 0};
  kugel__gpu_side a = {.mem = alm}, m = {.mem = map};
  kugel_queue *queue = &p->device->queue;
  kugel_status s = KUGEL_OK;
  for (int k = 0; k < 3 && !s; k++) {
    double start = now();
    s = kugel__sht_gpu_legendre(p, &a, &plain, false, queue);
    s = together(NULL, p->device, s);
    double middle = now();
    s = s ? s : kugel__sht_gpu_rings(p, &m, &plain, false, queue);
    s = together(NULL, p->device, s);
    o->stages[0] = middle - start;
    o->stages[1] = now() - middle;
  }
  return s;
}

/* Of one transform: from its first event on. */
static kugel_status read_marks(const kugel__device *d, kugel__dist_marks *t, span *spans)
{
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < t->count; i++) {
    double from = 0, to = 0;
    span *x = &spans[t->list[i].stage];
    if (!s && t->list[i].to) {
      s = d->ops->elapsed(t->list[0].from, t->list[i].from, &from);
      s = s ? s : d->ops->elapsed(t->list[0].from, t->list[i].to, &to);
      x->from = x->sum > 0 && x->from < from * 1e3 ? x->from : from * 1e3;
      x->to = x->to > to * 1e3 ? x->to : to * 1e3;
      x->sum += (to - from) * 1e3;
    }
  }
  for (int i = 0; i < t->count; i++) {
    d->ops->event_free(t->list[i].from);
    d->ops->event_free(t->list[i].to);
  }
  return s;
}

/* One more transform each way. */
static kugel_status mark_stages(kugel_comm *comm, const kugel_sht *plan, const kugel_array *alm,
                                const kugel_array *map, outcome *o)
{
  kugel__device *d = plan->device;
  kugel_status s = KUGEL_OK;
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    kugel__dist_marks marks = {.count = 0};
    s = together(comm, d, s);
    if (s)
      return s;
    plan->gpu->ranks->marks = &marks;
    s = adjoint ? kugel_sht_synthesis_adjoint(plan, map, alm, &d->queue)
                : kugel_sht_synthesis(plan, alm, map, &d->queue);
    s = together(comm, d, s);
    plan->gpu->ranks->marks = NULL;
    kugel_status read = read_marks(d, &marks, o->spans[comm->rank][adjoint]);
    s = s ? s : read;
  }
  return s;
}

static kugel_status transforms(kugel_comm *comm, kugel_ctx *ctx, const kugel_sht *plan, outcome *o)
{
  kugel__device *d = kugel__ctx_device(ctx);
  kugel_sht_info info = {.size = sizeof info};
  void *memory[2] = {NULL, NULL};
  double sum = 0, part[64];
  kugel_sht_get_info(plan, &info);
  size_t n[2] = {(size_t)info.nalm * 16, (size_t)info.npix * 8};
  kugel_status s = KUGEL_OK;
  for (int i = 0; i < 2; i++)
    s = s ? s : kugel__device_alloc(d, n[i] + 64, &memory[i]);
  s = s ? s : kugel__device_fill(d, (kugel__mem){memory[0], 0}, 0x3f, n[0], NULL); // 4.6e-4 each
  kugel_array *alm = KUGEL_ARRAY(memory[0], KUGEL_C128, info.nalm),
              *map = KUGEL_ARRAY(memory[1], KUGEL_F64, info.npix);
  alm->device = map->device = d->info.device;
  if (!s && plan->gpu && !plan->gpu->ranks && !plan->gpu->parts)
    s = stage_times(plan, (kugel__mem){memory[0], 0}, (kugel__mem){memory[1], 0}, o);
  for (int k = -1; k < runs; k++)
    for (int adjoint = 0; adjoint < 2; adjoint++) {
      s = together(comm, d, s);
      if (s)
        break;
      double start = now();
      s = adjoint ? kugel_sht_synthesis_adjoint(plan, map, alm, &d->queue)
                  : kugel_sht_synthesis(plan, alm, map, &d->queue);
      s = together(comm, d, s);
      if (k >= 0 && (!comm || comm->rank == 0))
        o->seconds[adjoint][k] = now() - start;
      if (adjoint) // or numbers grow
        s = s ? s : kugel__device_fill(d, (kugel__mem){memory[0], 0}, 0x3f, n[0], NULL);
    }
  if (stages && comm)
    s = mark_stages(comm, plan, alm, map, o);
  if (!s && n[1] >= sizeof part)
    s = kugel__device_copy(d, KUGEL__DOWNLOAD, (kugel__mem){part, 0}, (kugel__mem){memory[1], 0}, sizeof part,
                           NULL);
  for (int i = 0; i < 64 && !s && n[1] >= sizeof part; i++)
    sum += part[i];
  o->checksum[comm ? comm->rank : 0] = sum;
  for (int i = 0; i < 2; i++)
    kugel__device_free(d, memory[i]);
  return s;
}

static void sht_rank(kugel_comm *comm, void *arg)
{
  outcome *o = arg;
  int rank = comm ? comm->rank : 0;
  kugel_ctx *ctx = NULL;
  kugel_sht *plan = NULL;
  kugel_sht_opts opts = {.size = sizeof opts,
                         .grid = o->grid,
                         .lmax = lmax,
                         .comm = comm,
                         .pieces = comm ? pieces : 0,
                         .bad_pixels = KUGEL_BAD_PASS};
  kugel_status s = open_ctx(rank, &ctx);
  if (comm)
    s = kugel_comm_agree(comm, s);
  s = s ? s : kugel_sht_create(ctx, &opts, &plan);
  if (!s && rank == 0)
    snprintf(o->way, sizeof o->way, "%s", comm ? kugel__wire_name(plan->gpu->ranks->wire) : "no ranks");
  s = s ? s : transforms(comm, ctx, plan, o);
  if (s)
    snprintf(o->why[rank], sizeof o->why[0], "%s", kugel_last_error());
  kugel_sht_destroy(plan);
  kugel_ctx_destroy(ctx);
}

/* ---- tables ---- */

static bool failed(const outcome *o, int n)
{
  for (int r = 0; r < (n ? n : 1); r++)
    if (*o->why[r]) {
      printf("  %d ranks: %s\n", n, o->why[r]);
      fflush(stdout);
      return true;
    }
  return false;
}

static void exchange_row(int n)
{
  outcome o = {.grid = NULL};
  run_ranks(NULL, n, exchange_rank, &o);
  if (failed(&o, n))
    return;
  double s = median(o.seconds[0]), queued = median(o.seconds[1]);
  printf("  exchange, %d rank%s %-14s %6.0f MiB per rank %9.3f ms %8.1f GB/s per rank and direction; %d "
         "queued: %9.3f ms "
         "%8.1f GB/s\n",
         n, n > 1 ? "s," : ", ", o.way, (double)bytes / 1048576, s * 1e3, (double)bytes / s / 1e9, QUEUED,
         queued * 1e3, (double)bytes / queued / 1e9);
  fflush(stdout);
}

static void print_stages(const outcome *o, int n)
{
  static const char *const names[KUGEL__DIST_STAGES] = {"Legendre", "pack", "exchange",
                                                        "unpack",   "own",  "rings"};
  for (int adjoint = 0; adjoint < 2; adjoint++)
    for (int r = 0; r < n; r++) {
      printf("    %s, rank %d, ms (from, to):", adjoint ? "adjoint" : "synthesis", r);
      for (int i = 0; i < KUGEL__DIST_STAGES; i++) {
        const span *x = &o->spans[r][adjoint][i];
        printf(" %s %.2f (%.2f, %.2f)", names[i], x->sum, x->from, x->to);
      }
      printf("\n");
    }
}

static void sht_row(kugel_grid *grid, int n)
{
  outcome o = {.grid = grid};
  double start = now();
  if (n)
    run_ranks(NULL, n, sht_rank, &o);
  else
    sht_rank(NULL, &o);
  if (failed(&o, n))
    return;
  printf("  sht nside %lld lmax %lld, %d rank%s, %-14s synthesis %8.2f ms, adjoint %8.2f ms; in all %.1f s, "
         "first pixels %.15g\n",
         (long long)nside, (long long)lmax, n, n == 1 ? "" : "s", o.way, median(o.seconds[0]) * 1e3,
         median(o.seconds[1]) * 1e3, now() - start, o.checksum[0]);
  if (o.stages[0] > 0)
    printf("    of synthesis: Legendre %.2f ms, rings %.2f ms\n", o.stages[0] * 1e3, o.stages[1] * 1e3);
  if (stages)
    print_stages(&o, n);
  fflush(stdout);
}

int main(int argc, char **argv)
{
  int counts[MOST + 1] = {1, 2}, ncounts = 2;
  bool exchange = false, sht = false, smoke = false;
  for (int i = 1; i < argc; i++) {
    const char *a = argv[i];
    if (!strncmp(a, "--ranks=", 8)) {
      if (!read_counts(a + 8, MOST, counts, &ncounts))
        return fprintf(stderr, "%s: ranks are 0 (a plan without) to %d\n", argv[i], MOST), 2;
    } else if (!strncmp(a, "--device=", 9))
      device = a + 9;
    else if (sscanf(a, "--bytes=%ld", &bytes) == 1 || sscanf(a, "--nside=%ld", &nside) == 1 ||
             sscanf(a, "--lmax=%ld", &lmax) == 1)
      continue;
    else if (!strncmp(a, "--runs=", 7))
      runs = (int)kugel__max(1, kugel__min(RUNS, atoi(a + 7)));
    else if (!strncmp(a, "--pieces=", 9))
      pieces = (int)kugel__max(0, kugel__min(64, atoi(a + 9)));
    else if (!strcmp(a, "--stages"))
      stages = true;
    else if (!strcmp(a, "--smoke"))
      smoke = true;
    else if (!strcmp(a, "exchange"))
      exchange = true;
    else if (!strcmp(a, "sht"))
      sht = true;
    else
      return fprintf(stderr, "%s is not an option: see the head of bench/programs/ranks_gpu.c\n", a), 2;
  }
  if (smoke) {
    device = every_first();
    bytes = 1 << 20, nside = 16, lmax = 24, runs = 2, stages = true;
    if (!device)
      return 77;
  }
  exchange |= !sht;
  sht |= smoke;
  for (int i = 0; exchange && i < ncounts; i++)
    if (counts[i])
      exchange_row(counts[i]);
  kugel_grid *grid = NULL;
  kugel_grid_opts opts = {.size = sizeof opts, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  if (sht && kugel_grid_create(NULL, &opts, &grid))
    return fprintf(stderr, "%s\n", kugel_last_error()), 1;
  for (int i = 0; sht && i < ncounts; i++)
    sht_row(grid, counts[i]);
  kugel_grid_destroy(grid);
  return 0;
}
