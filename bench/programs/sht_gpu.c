/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of transforms on every GPU, device memory to device memory, by the device's events.
 * --kernels: of each kernel; --sweep: of the Legendre kernels cut in other ways; --any, --smoke: devices that are no
 * GPUs too, with small transforms; --only=N: stages of nside N, or of Gauss grids to lmax N. */
#include <dlfcn.h>
#include "clock.h"
#include "device/every.h"
#include "device/spy.h"
#include "sphere/legendre/gpu.h"
#include "sphere/sht/gpu_plan.h"

enum { WARM = 2, RUNS = 9 };
static bool any;
static int only; // nside or, of Gauss grids, lmax; 0: all

/* ---- what is measured ---- */

typedef struct subject {
  kugel_ctx *ctx;
  kugel__device *device;
  kugel_grid *grid;
  kugel_sht *plan;
  kugel__mem alm, map;
  const kugel__leg_gpu *leg; // alone, if not NULL
  kugel__mem coefs, work;
  bool adjoint;
  int what; // stages: 1 Legendre, 2 rings, 3 both
} subject;

static const char *const modes[] = {"scalar", "spin", "TEB", "grad", "der1"};

static double floor_ms(const kugel_sht *p)
{
  const int64_t *mlim = kugel__leg_mlim(p->leg);
  double units = 0;
  for (int64_t m = 0; m <= p->mmax; m++)
    for (int64_t i = 0; i < p->grid->npairs; i++)
      units += mlim[i] >= m ? (double)((p->lmax - m) / 2 + 1) : 0;
  return units * (4 + 8 * p->n_map) / 34e12 * 1e3; // recurrence 2 FMA, sums 4 per map; 34 TFLOP/s
}

static void queue_stages(const subject *t, kugel_queue *queue)
{
  static const kugel__gpu_how plain = {.check = 0};
  kugel__gpu_side alm = {.mem = t->alm}, map = {.mem = t->map};
  for (int k = 0; k < 2; k++) {
    bool rings = (k == 0) == t->adjoint;
    if (t->what & (rings ? 2 : 1))
      CHECK_OK(rings ? kugel__sht_gpu_rings(t->plan, &map, &plain, t->adjoint, queue)
                     : kugel__sht_gpu_legendre(t->plan, &alm, &plain, t->adjoint, queue));
  }
}

static void queue_on(const subject *t, kugel_queue *queue)
{
  kugel__leg_gpu_job job = {.alm = t->alm, .leg = t->coefs, .work = t->work};
  if (!t->leg)
    queue_stages(t, queue);
  else
    CHECK_OK(t->adjoint ? kugel__leg_gpu_adjoint(t->leg, &job, queue)
                        : kugel__leg_gpu_synth(t->leg, &job, queue));
}

static void queue_once(const subject *t)
{
  queue_on(t, &t->device->queue);
}

static double median_ms(const subject *t)
{
  const kugel__device_ops *ops = t->device->ops;
  kugel_queue *queue = &t->device->queue;
  double ms[RUNS];
  for (int i = -WARM; i < RUNS; i++) {
    kugel__event *from = NULL, *to = NULL;
    double seconds = 0;
    CHECK_OK(ops->record(queue, &from));
    queue_once(t);
    CHECK_OK(ops->record(queue, &to));
    CHECK_OK(ops->elapsed(from, to, &seconds));
    ops->event_free(from);
    ops->event_free(to);
    if (i >= 0)
      ms[i] = seconds * 1e3;
  }
  qsort(ms, RUNS, sizeof *ms, by_value);
  return ms[RUNS / 2];
}

/* The transform captured into a CUDA graph: a replay among others, in microseconds; 0 where there are no
 * graphs. */
static double graph_us(const subject *t)
{
  enum { REPLAYS = 200 };
  const kugel__device_ops *ops = t->device->ops;
  kugel_queue *queue = NULL;
  void *driver = ops->type == KUGEL_CUDA ? dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*begin)(void *, int), (*end)(void *, void **), (*make)(void **, void *, unsigned long long);
  int (*launch)(void *, void *), (*drop)(void *), (*drop_graph)(void *);
  int (*context_of)(void *, void **), (*enter)(void *), (*leave)(void **);
  void *graph = NULL, *ready = NULL, *context = NULL;
  double seconds = 0;
  if (!driver)
    return 0;
  *(void **)&begin = dlsym(driver, "cuStreamBeginCapture_v2");
  *(void **)&end = dlsym(driver, "cuStreamEndCapture");
  *(void **)&make = dlsym(driver, "cuGraphInstantiateWithFlags");
  *(void **)&launch = dlsym(driver, "cuGraphLaunch");
  *(void **)&drop = dlsym(driver, "cuGraphExecDestroy");
  *(void **)&drop_graph = dlsym(driver, "cuGraphDestroy");
  *(void **)&context_of = dlsym(driver, "cuStreamGetCtx");
  *(void **)&enter = dlsym(driver, "cuCtxPushCurrent_v2");
  *(void **)&leave = dlsym(driver, "cuCtxPopCurrent_v2");
  CHECK_OK(kugel_queue_create(t->ctx, &queue));
  CHECK(begin && end && make && launch && drop && drop_graph && context_of && enter && leave && queue);
  CHECK_IS(context_of(queue->native, &context), 0);
  CHECK_IS(begin(queue->native, 2), 0); // relaxed
  queue_on(t, queue);
  CHECK_IS(end(queue->native, &graph), 0);
  CHECK_IS(enter(context), 0);
  CHECK_IS(make(&ready, graph, 0), 0);
  for (int i = 0; ready && i < 2; i++) {
    kugel__event *from = NULL, *to = NULL;
    CHECK_OK(ops->record(queue, &from));
    for (int k = 0; k < REPLAYS; k++)
      CHECK_IS(launch(ready, queue->native), 0);
    CHECK_OK(ops->record(queue, &to));
    CHECK_OK(ops->elapsed(from, to, &seconds));
    ops->event_free(from);
    ops->event_free(to);
  }
  if (ready)
    drop(ready);
  if (graph)
    drop_graph(graph);
  leave(&context);
  kugel_queue_destroy(queue);
  return seconds / REPLAYS * 1e6;
}

static bool open_subject(kugel_ctx *ctx, int64_t nside, int64_t lmax, kugel_sht_mode mode, subject *t)
{
  *t = (subject){.ctx = ctx, .device = kugel__ctx_device(ctx), .what = 3};
  kugel_grid_opts go = {.size = sizeof go, .kind = KUGEL_GRID_HEALPIX, .nside = nside};
  if (!nside)
    go = (kugel_grid_opts){
        .size = sizeof go, .kind = KUGEL_GRID_GAUSS, .ntheta = lmax + 1, .nphi = 2 * (lmax + 1)};
  CHECK_OK(kugel_grid_create(NULL, &go, &t->grid));
  kugel_sht_opts o = {
      .size = sizeof o, .grid = t->grid, .lmax = lmax, .mode = mode, .spin = mode == KUGEL_SHT_SPIN ? 2 : 0};
  CHECK_OK(kugel_sht_create(ctx, &o, &t->plan));
  if (!t->plan)
    return false;
  size_t na = (size_t)(t->plan->n_alm * t->plan->nalm) * 16,
         nm = (size_t)(t->plan->n_map * t->plan->npix) * 8;
  double *a = malloc(na);
  uint64_t seed = 1;
  for (size_t i = 0; i < na / 8; i++)
    a[i] = check_random(&seed);
  CHECK_OK(kugel_device_alloc(ctx, na, &t->alm.base));
  CHECK_OK(kugel_device_alloc(ctx, nm, &t->map.base));
  CHECK_OK(kugel_device_upload(ctx, t->alm.base, 0, a, na, NULL));
  free(a);
  return true;
}

static void close_subject(subject *t)
{
  kugel_device_free(t->ctx, t->alm.base);
  kugel_device_free(t->ctx, t->map.base);
  kugel_sht_destroy(t->plan);
  kugel_grid_destroy(t->grid);
}

/* ---- reports ---- */

static void stages(kugel_ctx *ctx, int64_t nside, int64_t lmax, kugel_sht_mode mode)
{
  subject t;
  if (open_subject(ctx, nside, lmax, mode, &t))
    for (int adjoint = 0; adjoint < 2; adjoint++) {
      double ms[4] = {0};
      t.adjoint = adjoint;
      for (t.what = 1; t.what <= 3; t.what++)
        ms[t.what] = median_ms(&t);
      printf("%5lld %5lld  %-6s %-9s %9.3f %8.3f %8.3f %8.3f", (long long)nside, (long long)lmax, modes[mode],
             adjoint ? "adjoint" : "synthesis", ms[1], ms[2], ms[3], floor_ms(t.plan));
      t.what = 3;
      if (nside == 64 || lmax == 1023)
        printf("  %.1f us in a graph", graph_us(&t));
      printf("\n");
    }
  close_subject(&t);
}

// Each kernel of one transform, as they run among each other; the least of a few runs.
static void kernels(kugel_ctx *ctx, int64_t nside, int64_t lmax, kugel_sht_mode mode)
{
  subject t;
  if (open_subject(ctx, nside, lmax, mode, &t))
    for (int adjoint = 0; adjoint < 2; adjoint++) {
      static double least[SPY_LAUNCHES], first[SPY_LAUNCHES];
      int n = 0;
      t.adjoint = adjoint;
      for (int run = 0; run < 5; run++) {
        spy.launches = 0;
        queue_once(&t);
        CHECK_OK(t.device->ops->wait(&t.device->queue));
        n = spy.launches;
        spy.launches = -1;
        for (int i = 0; i < n; i++) {
          double s = 0, at = 0;
          CHECK_OK(t.device->ops->elapsed(spy.launched[i].from, spy.launched[i].to, &s));
          CHECK_OK(t.device->ops->elapsed(spy.launched[0].from, spy.launched[i].from, &at));
          if (run == 0 || s < least[i]) {
            least[i] = s;
            first[i] = at;
          }
        }
        for (int i = 0; i < n; i++) {
          t.device->ops->event_free(spy.launched[i].from);
          t.device->ops->event_free(spy.launched[i].to);
        }
      }
      printf("nside %lld lmax %lld %s %s: begin and length in us\n", (long long)nside, (long long)lmax,
             modes[mode], adjoint ? "adjoint" : "synthesis");
      for (int i = 0; i < n; i++)
        printf("  %-16s %8.1f %8.1f\n", spy.names[spy.launched[i].name], first[i] * 1e6, least[i] * 1e6);
    }
  close_subject(&t);
}

static void try_tuning(subject *t, const kugel__leg_gpu_tuning *u, double *ms)
{
  kugel__leg_gpu *leg = NULL;
  ms[0] = ms[1] = INFINITY;
  if (kugel__leg_gpu_create(t->ctx, t->plan->leg, u, &leg)) {
    printf("  %s\n", kugel_last_error());
    return;
  }
  int64_t coefs = t->plan->n_map * (t->plan->mmax + 1) * kugel__leg_gpu_row(leg) * 32;
  CHECK_OK(kugel_device_alloc(t->ctx, (size_t)coefs, &t->coefs.base));
  CHECK_OK(kugel_device_alloc(t->ctx, kugel__leg_gpu_work(leg), &t->work.base));
  CHECK_OK(t->device->ops->fill(t->device, t->coefs, 0, (size_t)coefs, &t->device->queue));
  t->leg = leg;
  for (int adjoint = 0; adjoint < 2; adjoint++) {
    t->adjoint = adjoint;
    ms[adjoint] = median_ms(t);
  }
  t->leg = NULL;
  kugel_device_free(t->ctx, t->coefs.base);
  kugel_device_free(t->ctx, t->work.base);
  t->coefs.base = t->work.base = NULL;
  kugel__leg_gpu_destroy(leg);
}

// The Legendre stage, strips x warps x blocks; each line tries one way for synthesis and one for the adjoint.
static void sweep(kugel_ctx *ctx, int64_t nside, int64_t lmax, kugel_sht_mode mode)
{
  static const struct {
    int count;
    kugel__leg_gpu_tuning ways[5];
  } tables[] = {
      [KUGEL_SHT_SCALAR] = {5,
                            {{{8, 4}, {2, 2}, {4, 6}, {0, 1}},
                             {{4, 4}, {2, 4}, {6, 2}, {1, 1}},
                             {{3, 3}, {2, 4}, {6, 3}, {1, 1}},
                             {{2, 4}, {2, 4}, {8, 2}, {1, 1}},
                             {{6, 2}, {2, 4}, {4, 4}, {0, 1}}}},
      [KUGEL_SHT_SPIN] = {5,
                          {{{3, 3}, {1, 2}, {12, 6}, {1, 1}},
                           {{3, 4}, {1, 4}, {8, 2}, {1, 1}},
                           {{2, 3}, {1, 4}, {12, 3}, {1, 1}},
                           {{4, 4}, {2, 4}, {4, 2}, {1, 1}},
                           {{2, 2}, {1, 4}, {16, 4}, {1, 1}}}},
      [KUGEL_SHT_TEB] = {5,
                         {{{3, 4}, {2, 4}, {4, 2}, {1, 1}},
                          {{3, 3}, {1, 4}, {8, 2}, {1, 1}},
                          {{2, 2}, {1, 4}, {12, 3}, {1, 1}},
                          {{2, 2}, {2, 8}, {4, 1}, {1, 1}},
                          {{4, 2}, {1, 4}, {8, 3}, {1, 1}}}},
  };
  subject t;
  double best[2] = {INFINITY, INFINITY};
  kugel__leg_gpu_tuning won = {{0}, {0}, {0}, {0}};
  printf("nside %lld lmax %lld %s, Legendre stage, ms: strips x warps x blocks\n", (long long)nside,
         (long long)lmax, modes[mode]);
  if (open_subject(ctx, nside, lmax, mode, &t))
    for (int i = 0; i < tables[mode].count; i++) {
      const kugel__leg_gpu_tuning *u = &tables[mode].ways[i];
      kugel__leg_gpu_tuning single = *u;
      double ms[2];
      if (!t.device->info.is_gpu)
        single = (kugel__leg_gpu_tuning){{u->strips[0], u->strips[1]}, {1, 1}, {1, 1}, {0}};
      try_tuning(&t, &single, ms);
      for (int k = 0; k < 2; k++) {
        printf("  %s %2d x %d x %2d%s %8.3f", k ? "  adjoint" : "synthesis", u->strips[k], u->warps[k],
               u->blocks[k], u->products[k] ? " products" : "", ms[k]);
        if (ms[k] < best[k]) {
          best[k] = ms[k];
          won.strips[k] = u->strips[k];
          won.warps[k] = u->warps[k];
          won.blocks[k] = u->blocks[k];
          won.products[k] = u->products[k];
        }
      }
      printf("\n");
    }
  printf("  best: {{%d, %d}, {%d, %d}, {%d, %d}, {%d, %d}}, %.3f and %.3f ms; floor %.3f\n", won.strips[0],
         won.strips[1], won.warps[0], won.warps[1], won.blocks[0], won.blocks[1], won.products[0],
         won.products[1], best[0], best[1], t.plan ? floor_ms(t.plan) : 0);
  close_subject(&t);
}

static void report(kugel_ctx *ctx, bool want_kernels, bool want_sweep)
{
  static const int sizes[][2] = {{64, 128},    {512, 1024}, {1024, 2048},
                                 {2048, 4096}, {0, 1023},   {0, 2047}}; // 0: Gauss
  int64_t nside = any ? 16 : 1024;
  if (want_kernels)
    spy_on(kugel__ctx_device(ctx));
  for (int mode = 0; mode < 3; mode++) {
    if (want_kernels)
      kernels(ctx, nside, 2 * nside, (kugel_sht_mode)mode);
    if (want_sweep)
      sweep(ctx, nside, 2 * nside, (kugel_sht_mode)mode);
  }
  if (want_kernels)
    spy_off(kugel__ctx_device(ctx));
  if (want_kernels || want_sweep)
    return;
  printf("nside  lmax  mode   verb       Legendre    rings    whole   floor of 34 TFLOP/s, ms\n");
  for (int k = 0; k < (any ? 1 : 6); k++)
    for (int mode = 0; mode < 3 && (!only || any || only == (sizes[k][0] ? sizes[k][0] : sizes[k][1]));
         mode++)
      stages(ctx, any ? 16 : sizes[k][0], any ? 32 : sizes[k][1], (kugel_sht_mode)mode);
}

int main(int argc, char **argv)
{
  kugel_device_info info;
  bool want_kernels = false, want_sweep = false;
  for (int i = 1; i < argc; i++) {
    want_kernels |= !strcmp(argv[i], "--kernels");
    want_sweep |= !strcmp(argv[i], "--sweep");
    any |= !strcmp(argv[i], "--any") || !strcmp(argv[i], "--smoke");
    if (!strncmp(argv[i], "--only=", 7))
      only = atoi(argv[i] + 7);
  }
  for (int i = 0; every_device(&i, true, &info);) {
    CASE(every_title(&info, "speed"))
    {
      kugel_ctx *ctx = NULL;
      kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
      if (!info.is_gpu && !any)
        SKIP("not a GPU");
      else {
        CHECK_OK(kugel_ctx_create(&o, &ctx));
        if (ctx)
          report(ctx, want_kernels, want_sweep);
        kugel_ctx_destroy(ctx);
      }
    }
  }
  END();
}
