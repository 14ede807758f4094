/* SPDX-License-Identifier: BSD-3-Clause */
/* The Legendre stage on a device: plans, and launches of kernels/legendre.cl
 * (pairs off the poles), kernels/polar.cl and kernels/series.cl. */
#include <stdio.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "sphere/leg_gpu_plan.h"

/* The structs of the kernels' texts. */
typedef struct shape {
  int32_t npairs, first, tiles, top, m0, nm, mmax, row, stride, strips, middle, pole_tiles, pole_strips,
      groups;
} shape;
typedef struct columns {
  int32_t lmax, mmax, top, f32, m0, nm, tiles, polar, accumulate, spare;
  int64_t alm;
} columns;
typedef struct polar_shape {
  int32_t lmax, mmax, count, room, steps, row, f32, set, orders, from, first, rows;
  int64_t alm;
} polar_shape;

enum { LEG_SYNTH, LEG_ADJOINT, LEG_STARTS, TO_SERIES, FROM_SERIES, RECURRENCES, KERNELS };
_Static_assert((int)KERNELS == (int)KUGEL__LEG_GPU_KERNELS, "as many as the plan has");
enum { WARP = KUGEL__LEG_GPU_WARP, PAGE = 4096 };
// By series; elsewhere small blocks: synthesis of one warp.
static const kugel__leg_gpu_tuning cuda_tuning[KUGEL__MAX_SERIES + 1] = {{{0}, {0}, {0}, {0}},
                                                                         {{8, 8}, {2, 2}, {4, 4}, {0}},
                                                                         {{4, 6}, {2, 2}, {6, 4}, {0}},
                                                                         {{5, 4}, {2, 4}, {4, 2}, {0}}};
static const kugel__leg_gpu_tuning products_tuning[KUGEL__MAX_SERIES + 1] = {
    {{0}, {0}, {0}, {0}},
    {{8, 4}, {2, 2}, {4, 6}, {false, true}},
    {{4, 4}, {1, 2}, {12, 6}, {true, true}},
    {{4, 4}, {2, 4}, {4, 2}, {true, true}}};
static const kugel__leg_gpu_tuning other_tuning[KUGEL__MAX_SERIES + 1] = {{{0}, {0}, {0}, {0}},
                                                                          {{2, 2}, {1, 2}, {1, 1}, {0}},
                                                                          {{2, 2}, {1, 2}, {1, 1}, {0}},
                                                                          {{2, 2}, {1, 1}, {1, 1}, {0}}};
// Of batches of scalar maps: with matrix products of 8, else of 4.
static const kugel__leg_gpu_tuning batch_products = {{1, 1}, {2, 4}, {4, 2}, {true, true}};
static const kugel__leg_gpu_tuning batch_cuda = {{2, 2}, {2, 2}, {6, 4}, {0}};
static const kugel__leg_gpu_tuning batch_other = {{1, 1}, {1, 1}, {1, 1}, {0}};
static const int64_t sums_aim = (int64_t)1 << 30; // bytes of partial sums held at a time

/* ---- plans ---- */

/* Modules of a plan: synthesis, adjoint, series, recurrences, polar pairs. */
enum { SYNTH_MODULE, ADJOINT_MODULE, SERIES_MODULE, RECURRENCE_MODULE, POLAR_MODULE };
_Static_assert((int)POLAR_MODULE + 2 == (int)KUGEL__LEG_GPU_MODULES, "one polar module a part");

static kugel_status get_modules(kugel__leg_gpu *p)
{
  const kugel__leg_gpu_tuning *u = &p->tuning;
  char tiles[256], series[96], polar[2][96];
  kugel__module_spec specs[KUGEL__LEG_GPU_MODULES] = {
      [SERIES_MODULE] = {.name = "sphere/series", .defines = series},
      [RECURRENCE_MODULE] = {.name = "sphere/recurrence", .words = "codegen/dd"}};
  snprintf(
      tiles, sizeof tiles,
      "#define MODE %d\n#define NS %d\n#define K %d\n#define KA %d\n#define WARPS %d\n#define WARPSA %d\n"
      "#define BLOCKS %d\n#define BLOCKSA %d\n",
      (int)p->leg->mode, p->ns, u->strips[0], u->strips[1], u->warps[0], u->warps[1], u->blocks[0],
      u->blocks[1]);
  for (int i = 0; i < 2; i++)
    specs[i] = (kugel__module_spec){.name = u->products[i] ? "sphere/legendre_mma" : "sphere/legendre",
                                    .defines = tiles};
  snprintf(series, sizeof series, "#define MODE %d\n#define NS %d\n#define SPIN %d\n", (int)p->leg->mode,
           p->ns, kugel__leg_gpu_spin(p->leg));
  int n = POLAR_MODULE;
  for (int i = 0; i < 2; i++) {
    const kugel__polar_part *part = &p->polar[i];
    if (!part->used)
      continue;
    snprintf(polar[i], sizeof polar[i], "#define SPIN %d\n#define GRADIENT %d\n#define WIGNER %d\n",
             part->spin, part->gradient, part->wigner);
    specs[n++] = (kugel__module_spec){.name = "sphere/polar", .defines = polar[i]};
  }
  return kugel__module_get_all(p->ctx, n, specs, p->modules);
}

static kugel_status load_kernels(kugel__leg_gpu *p)
{
  static const char *const names[KERNELS] = {"leg_synth", "leg_adjoint", "leg_starts",
                                             "to_series", "from_series", "recurrences"};
  static const int modules[KERNELS] = {SYNTH_MODULE,  ADJOINT_MODULE, SYNTH_MODULE,
                                       SERIES_MODULE, SERIES_MODULE,  RECURRENCE_MODULE};
  KUGEL_TRY(get_modules(p));
  for (int k = 0; k < KERNELS; k++)
    KUGEL_TRY(kugel__module_kernel(p->modules[modules[k]], names[k], &p->kernels[k], NULL));
  for (int i = 0, n = POLAR_MODULE; i < 2; i++) {
    kugel__polar_part *part = &p->polar[i];
    if (!part->used)
      continue;
    KUGEL_TRY(kugel__module_kernel(p->modules[n], "polar_synth", &part->synth, NULL));
    KUGEL_TRY(kugel__module_kernel(p->modules[n++], "polar_adjoint", &part->adjoint, NULL));
  }
  return KUGEL_OK;
}

// Orders [m0, next) whose partial sums fit into the aim.
static int64_t next_chunk(const kugel__leg_gpu *p, int64_t m0)
{
  int64_t m = m0, step = (int64_t)p->groups * p->ns * 32;
  do
    m++;
  while (m <= p->leg->mmax && (p->offset[m + 1] - p->offset[m0]) * step <= sums_aim);
  return m;
}

static int32_t tiles(int64_t pairs, int64_t size)
{
  return (int32_t)((pairs + size - 1) / size);
}

// Where sin^2 gives way to cos^2: near 1/2, and such that tiles come out full.
static int64_t choose_middle(const kugel__leg *g, int64_t first, int64_t tile)
{
  int64_t half = first;
  while (half < g->npairs && g->ssq[half] < 0.5)
    half++;
  int64_t full = g->npairs - (g->npairs - half + tile / 2) / tile * tile;
  bool near = full > first && full < g->npairs && g->ssq[full - 1] < 0.7 && g->ssq[full] > 0.3;
  return near ? full : half;
}

static shape shape_of(const kugel__leg_gpu *p, int adjoint)
{
  const kugel__leg *g = p->leg;
  return (shape){.npairs = (int32_t)g->npairs,
                 .first = p->begin,
                 .tiles = p->tiles[adjoint],
                 .top = p->top,
                 .nm = (int32_t)g->mmax + 1,
                 .mmax = (int32_t)g->mmax,
                 .row = p->row,
                 .stride = p->stride,
                 .strips = p->strips,
                 .middle = p->middle,
                 .pole_tiles = p->pole_tiles[adjoint],
                 .pole_strips = p->pole_strips,
                 .groups = p->groups};
}

static kugel_status make_coefs(kugel__leg_gpu *p)
{
  int32_t orders = (int32_t)p->leg->mmax + 1;
  KUGEL_TRY(kugel__device_alloc(p->device, (size_t)kugel__max(p->offset[orders] * 16, 64), &p->coef.base));
  kugel__grid grid = {.blocks = {(uint32_t)(orders + WARP - 1) / WARP}, .threads = {WARP}};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->offsets), KUGEL__MEM_ARG(p->coef), KUGEL__VALUE_ARG(orders)};
  return kugel__launch(p->device, p->kernels[RECURRENCES], &grid, 3, args, NULL);
}

// Runs each recurrence once, until its values count.
static kugel_status find_starts(kugel__leg_gpu *p)
{
  shape t = shape_of(p, 0);
  KUGEL_TRY(
      kugel__device_alloc(p->device, (size_t)kugel__max((int64_t)t.nm * t.strips * 4, 64), &p->starts.base));
  kugel__grid grid = {.blocks = {(uint32_t)t.nm, (uint32_t)((t.strips + 3) / 4)}, .threads = {4 * WARP}};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->coef),  KUGEL__MEM_ARG(p->offsets), KUGEL__MEM_ARG(p->mfac),
                       KUGEL__MEM_ARG(p->pairs), KUGEL__MEM_ARG(p->mlim),    KUGEL__MEM_ARG(p->starts),
                       KUGEL__VALUE_ARG(t)};
  return t.strips ? kugel__launch(p->device, p->kernels[LEG_STARTS], &grid, 7, args, NULL) : KUGEL_OK;
}

static kugel_status build(kugel__leg_gpu *p)
{
  const kugel__leg *g = p->leg;
  p->begin = (int32_t)(g->spin > 2 ? g->npairs : g->npolar);
  p->middle = (int32_t)(p->divide < 0 ? choose_middle(g, p->begin, WARP * p->tuning.strips[1])
                                      : kugel__max(p->begin, kugel__min(p->divide, g->npairs)));
  p->pole_strips = tiles(p->middle - p->begin, WARP);
  p->strips = p->pole_strips + tiles(g->npairs - p->middle, WARP);
  for (int i = 0; i < 2; i++) {
    int64_t size = WARP * p->tuning.strips[i];
    p->pole_tiles[i] = tiles(p->middle - p->begin, size);
    p->tiles[i] = p->pole_tiles[i] + tiles(g->npairs - p->middle, size);
  }
  p->groups = tiles(p->tiles[1], p->tuning.warps[1]);
  p->stride = (int32_t)(g->npairs + WARP * kugel__max(p->tuning.strips[0], p->tuning.strips[1]));
  p->row = (int32_t)(kugel__round_up(g->npairs, 4) + 4); // no power of two
  KUGEL_ALLOC(p->ctx, p->offset, (size_t)(g->mmax + 2) * 8);
  p->offset[0] = 0;
  for (int64_t m = 0; m <= g->mmax; m++)
    p->offset[m + 1] = p->offset[m] + (p->top - m) / 2 + 1;
  for (int64_t m0 = 0, m1; m0 <= g->mmax; m0 = m1) {
    m1 = next_chunk(p, m0);
    p->sums = kugel__max(p->sums, (p->offset[m1] - p->offset[m0]) * kugel__max(p->groups, 1) * p->ns * 32);
  }
  kugel__leg_gpu_plan_polar(p);
  KUGEL_TRY(load_kernels(p));
  KUGEL_TRY(kugel__leg_gpu_tables(p));
  if (!p->lender)
    KUGEL_TRY(make_coefs(p));
  return find_starts(p);
}

// Fewer strips a warp where there would be too few warps for the device.
static kugel__leg_gpu_tuning choose(const kugel__device *device, const kugel__leg *leg)
{
  bool cuda = device->info.device.type == KUGEL_CUDA;
  bool products = cuda && device->info.compute_capability >= 90;
  kugel__leg_gpu_tuning t = (products ? products_tuning : cuda ? cuda_tuning : other_tuning)[leg->nseries];
  if (products && leg->mode >= KUGEL__LEG_GRAD)
    t.strips[0] = 3; // or registers spill
  for (int i = 0; i < 2; i++)
    while (cuda && t.strips[i] > 1 &&
           (leg->mmax + 1) * leg->npairs < 16 * WARP * t.strips[i] * device->info.units)
      t.strips[i] = (t.strips[i] + 1) / 2;
  return t;
}

static kugel_status create(kugel_ctx *ctx, const kugel__leg *leg, const kugel__leg_gpu_tuning *tuning,
                           int64_t divide, const kugel__leg_gpu *lender, int maps, kugel__leg_gpu **out)
{
  *out = NULL;
  kugel__device *device = kugel__ctx_device(ctx);
  KUGEL_CHECK(device->info.fp64, KUGEL_ENOTSUP, "%s has no double precision: use a context on the CPU",
              device->info.name);
  KUGEL_CHECK(leg->lmax < 1 << 16 && leg->npairs < 1 << 24, KUGEL_ENOTSUP,
              "lmax is %lld with %lld ring pairs, on a device at most %d with %d", (long long)leg->lmax,
              (long long)leg->npairs, (1 << 16) - 1, (1 << 24) - 1);
  kugel__leg_gpu *p = kugel__calloc(ctx, sizeof *p);
  KUGEL_CHECK(p, KUGEL_ENOMEM, "no memory for a Legendre plan");
  p->ctx = kugel__ctx_retain(ctx);
  p->device = device;
  p->leg = leg;
  p->maps = maps;
  p->ns = leg->nseries * maps;
  p->lender = lender;
  p->divide = divide;
  p->tuning = tuning ? *tuning : choose(device, leg);
  p->top = (int32_t)(leg->lmax + leg->reach);
  kugel_status s = build(p);
  if (s) {
    kugel__leg_gpu_destroy(p);
    return s;
  }
  *out = p;
  return KUGEL_OK;
}

kugel_status kugel__leg_gpu_create(kugel_ctx *ctx, const kugel__leg *leg, const kugel__leg_gpu_tuning *tuning,
                                   kugel__leg_gpu **out)
{
  return create(ctx, leg, tuning, -1, NULL, 1, out);
}

static bool has_products(const kugel__device *device)
{
  return device->info.device.type == KUGEL_CUDA && device->info.compute_capability >= 90;
}

int kugel__leg_gpu_together(const kugel__device *device)
{
  return has_products(device) ? 8 : 4;
}

kugel_status kugel__leg_gpu_create_batch(kugel_ctx *ctx, int maps, const kugel__leg_gpu *lender,
                                         kugel__leg_gpu **out)
{
  const kugel__device *device = lender->device;
  bool cuda = device->info.device.type == KUGEL_CUDA;
  const kugel__leg_gpu_tuning *t = has_products(device) ? &batch_products : cuda ? &batch_cuda : &batch_other;
  return create(ctx, lender->leg, t, -1, lender, maps, out);
}

kugel__leg_gpu_cut kugel__leg_gpu_cuts(const kugel__device *device, const kugel__leg *leg)
{
  kugel__leg_gpu_cut c = {.tuning = choose(device, leg), .begin = leg->spin > 2 ? leg->npairs : leg->npolar};
  c.middle = choose_middle(leg, c.begin, WARP * c.tuning.strips[1]);
  c.tile = WARP * c.tuning.strips[0];
  return c;
}

kugel_status kugel__leg_gpu_create_part(kugel_ctx *ctx, const kugel__leg *leg, const kugel__leg_gpu_cut *cut,
                                        int64_t p0, const kugel__leg_gpu *lender, kugel__leg_gpu **out)
{
  return create(ctx, leg, &cut->tuning, kugel__max(0, cut->middle - p0), lender, 1, out);
}

void kugel__leg_gpu_destroy(kugel__leg_gpu *p)
{
  if (!p)
    return;
  kugel_ctx *ctx = p->ctx;
  void *tables[] = {p->pairs.base, p->mlim.base, p->starts.base, p->coef.base, p->offsets.base, p->mfac.base};
  for (int i = 0; i < (p->lender ? 3 : 6); i++)
    kugel__device_free(p->device, tables[i]);
  for (int i = 0; i < 2; i++)
    kugel_queue_destroy(p->side[i]);
  for (int i = 0; i < 2; i++) {
    kugel__device_free(p->device, p->polar[i].rec.base);
    kugel__device_free(p->device, p->polar[i].start.base);
    kugel__device_free(p->device, p->polar[i].pairs.base);
  }
  for (int i = 0; i < KUGEL__LEG_GPU_MODULES; i++)
    kugel__module_put(p->modules[i]);
  kugel__free(ctx, p->offset);
  kugel__free(ctx, p);
  kugel_ctx_destroy(ctx);
}

kugel__leg_gpu_tuning kugel__leg_gpu_tuned(const kugel__leg_gpu *p)
{
  return p->tuning;
}

/* ---- execution ---- */

/* Work memory: the series; or the partial sums, the first steps of tiles, the sums of the polar pairs. */
typedef struct parts {
  kugel__mem sums, begun, polar;
  size_t polar_bytes, end;
} parts;

static parts lay_out(const kugel__leg_gpu *p, kugel__mem work)
{
  const kugel__leg *g = p->leg;
  size_t sums = (size_t)kugel__round_up(p->sums, PAGE);
  size_t begun = (size_t)kugel__round_up((g->mmax + 1) * p->groups * 4, PAGE);
  size_t polar = (size_t)(p->maps * g->n_map * p->polar_orders * (g->lmax + 1)) * 16;
  return (parts){.sums = work,
                 .begun = {work.base, work.offset + sums},
                 .polar = {work.base, work.offset + sums + begun},
                 .polar_bytes = polar,
                 .end = sums + begun + polar};
}

size_t kugel__leg_gpu_work(const kugel__leg_gpu *p)
{
  int64_t series = p->offset[p->leg->mmax + 1] * p->ns * 32;
  return (size_t)kugel__max(series, (int64_t)lay_out(p, (kugel__mem){NULL, 0}).end) + PAGE;
}

int64_t kugel__leg_gpu_row(const kugel__leg_gpu *p)
{
  return p->row;
}

static columns columns_of(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job)
{
  const kugel__leg *g = p->leg;
  return (columns){.lmax = (int32_t)g->lmax,
                   .mmax = (int32_t)g->mmax,
                   .top = p->top,
                   .f32 = job->f32,
                   .tiles = p->groups,
                   .polar = p->polar_orders,
                   .accumulate = job->accumulate,
                   .alm = job->alm_at};
}

static kugel__grid grid_of(const kugel__leg_gpu *p, int adjoint, int64_t orders)
{
  int64_t warps = p->tuning.warps[adjoint];
  int64_t blocks = adjoint ? orders * p->groups : (orders * p->tiles[0] + warps - 1) / warps;
  kugel__grid grid = {.blocks = {(uint32_t)blocks}, .threads = {(uint32_t)(WARP * warps)}};
  if (adjoint && p->tuning.products[1])
    grid.shared = (size_t)(warps * 16 * (WARP * p->tuning.strips[1] + 4)) * sizeof(double);
  return grid;
}

static kugel__grid steps_of(const kugel__leg_gpu *p, int64_t orders, int64_t steps)
{
  int64_t block = p->ns > 3 ? 64 : 128; // STEPS of the kernels
  return (kugel__grid){.blocks = {(uint32_t)orders, (uint32_t)((steps + block - 1) / block)},
                       .threads = {(uint32_t)block}};
}

// Later work of `then` waits for what `first` has now.
static kugel_status order(const kugel__leg_gpu *p, kugel_queue *first, kugel_queue *then)
{
  kugel__event *event = NULL;
  KUGEL_TRY(p->device->ops->record(first, &event));
  kugel_status s = p->device->ops->after(then, event);
  p->device->ops->event_free(event);
  return s;
}

/* Queues the polar pairs on the sides; join() makes the queue wait for them. Their long chains come first: if
 * the queue went on at once, its blocks would fill the device before them. */
static kugel_status fork_polar(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job, const kugel__mem *sums,
                               size_t bytes, kugel_queue *queue)
{
  const kugel__leg *g = p->leg;
  if (sums && bytes)
    KUGEL_TRY(kugel__device_fill(p->device, *sums, 0, bytes, queue));
  for (int i = 0; i < 2; i++) {
    const kugel__polar_part *part = &p->polar[i];
    kugel_queue *side = p->side[i] ? p->side[i] : p->side[0];
    if (!part->used)
      continue;
    KUGEL_TRY(order(p, queue, side));
    polar_shape t = {.lmax = (int32_t)g->lmax,
                     .mmax = (int32_t)g->mmax,
                     .count = part->count,
                     .room = part->room,
                     .steps = part->steps,
                     .row = p->row,
                     .f32 = job->f32,
                     .set = part->set,
                     .from = part->from,
                     .orders = part->orders,
                     .first = part->first,
                     .rows = p->polar_orders,
                     .alm = job->alm_at};
    kugel__grid grid = {
        .blocks = {(uint32_t)part->orders, sums ? 1 : (uint32_t)(part->room / WARP), (uint32_t)p->maps},
        .threads = {WARP}};
    kugel__arg to_leg[] = {KUGEL__MEM_ARG(job->alm),    KUGEL__MEM_ARG(part->rec),
                           KUGEL__MEM_ARG(part->start), KUGEL__MEM_ARG(part->pairs),
                           KUGEL__MEM_ARG(job->leg),    KUGEL__VALUE_ARG(t)};
    kugel__arg to_sums[] = {KUGEL__MEM_ARG(job->leg),    KUGEL__MEM_ARG(part->rec),
                            KUGEL__MEM_ARG(part->start), KUGEL__MEM_ARG(part->pairs),
                            KUGEL__MEM_ARG(p->mlim),     {sums, 0},
                            KUGEL__VALUE_ARG(t)};
    KUGEL_TRY(sums ? kugel__launch(p->device, part->adjoint, &grid, 7, to_sums, side)
                   : kugel__launch(p->device, part->synth, &grid, 6, to_leg, side));
  }
  return KUGEL_OK;
}

static kugel_status join(const kugel__leg_gpu *p, kugel_queue *queue)
{
  for (int i = 0; i < 2; i++)
    if (p->side[i])
      KUGEL_TRY(order(p, p->side[i], queue));
  return KUGEL_OK;
}

// After a failure nothing may still run beside the queue.
static kugel_status settle(const kugel__leg_gpu *p, kugel_status s)
{
  for (int i = 0; s && i < 2; i++)
    if (p->side[i])
      p->device->ops->wait(p->side[i]);
  return s;
}

static kugel_status synth(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job, kugel_queue *queue)
{
  columns c = columns_of(p, job);
  shape t = shape_of(p, 0);
  kugel__grid steps = steps_of(p, t.nm, p->top / 2 + 1), grid = grid_of(p, 0, t.nm);
  kugel__arg to_series[] = {KUGEL__MEM_ARG(job->alm), KUGEL__MEM_ARG(p->coef), KUGEL__MEM_ARG(p->offsets),
                            KUGEL__MEM_ARG(job->work), KUGEL__VALUE_ARG(c)};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->coef),   KUGEL__MEM_ARG(job->work), KUGEL__MEM_ARG(p->offsets),
                       KUGEL__MEM_ARG(p->mfac),   KUGEL__MEM_ARG(p->pairs),  KUGEL__MEM_ARG(p->mlim),
                       KUGEL__MEM_ARG(p->starts), KUGEL__MEM_ARG(job->leg),  KUGEL__VALUE_ARG(t)};
  KUGEL_TRY(fork_polar(p, job, NULL, 0, queue));
  if (t.tiles && !(job->series && *job->series)) {
    KUGEL_TRY(kugel__launch(p->device, p->kernels[TO_SERIES], &steps, 5, to_series, queue));
    if (job->series)
      *job->series = true;
  }
  if (t.tiles)
    KUGEL_TRY(kugel__launch(p->device, p->kernels[LEG_SYNTH], &grid, 9, args, queue));
  return join(p, queue);
}

kugel_status kugel__leg_gpu_synth(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job, kugel_queue *queue)
{
  return settle(p, synth(p, job, queue));
}

static kugel_status adjoint(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job, kugel_queue *queue)
{
  columns c = columns_of(p, job);
  shape t = shape_of(p, 1);
  parts w = lay_out(p, job->work);
  if (!w.polar_bytes)
    w.polar = w.sums; // not read
  KUGEL_TRY(fork_polar(p, job, &w.polar, w.polar_bytes, queue));
  for (int64_t m0 = 0, m1; m0 <= p->leg->mmax; m0 = m1) {
    m1 = next_chunk(p, m0);
    c.m0 = t.m0 = (int32_t)m0;
    c.nm = t.nm = (int32_t)(m1 - m0);
    kugel__grid grid = grid_of(p, 1, t.nm);
    kugel__grid steps = steps_of(p, t.nm, (c.lmax - m0) / 2 + 1);
    kugel__arg args[] = {KUGEL__MEM_ARG(p->coef),   KUGEL__MEM_ARG(job->leg), KUGEL__MEM_ARG(p->offsets),
                         KUGEL__MEM_ARG(p->mfac),   KUGEL__MEM_ARG(p->pairs), KUGEL__MEM_ARG(p->mlim),
                         KUGEL__MEM_ARG(p->starts), KUGEL__MEM_ARG(w.sums),   KUGEL__MEM_ARG(w.begun),
                         KUGEL__VALUE_ARG(t)};
    kugel__arg from[] = {KUGEL__MEM_ARG(w.sums),     KUGEL__MEM_ARG(w.begun), KUGEL__MEM_ARG(p->coef),
                         KUGEL__MEM_ARG(p->offsets), KUGEL__MEM_ARG(w.polar), KUGEL__MEM_ARG(job->alm),
                         KUGEL__VALUE_ARG(c)};
    if (t.tiles)
      KUGEL_TRY(kugel__launch(p->device, p->kernels[LEG_ADJOINT], &grid, 10, args, queue));
    if (!m0)
      KUGEL_TRY(join(p, queue));
    KUGEL_TRY(kugel__launch(p->device, p->kernels[FROM_SERIES], &steps, 7, from, queue));
  }
  return KUGEL_OK;
}

kugel_status kugel__leg_gpu_adjoint(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job,
                                    kugel_queue *queue)
{
  return settle(p, adjoint(p, job, queue));
}
