/* SPDX-License-Identifier: BSD-3-Clause */
/* Points on devices: sorted by kernels/sort.cl, with lists of jobs for both directions. */
#include <stdio.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "device/lend.h"
#include "nufft/gpu.h"

enum { BLOCK = 128, DIGIT = 6, SPAN = 2048, MOST_BLOCKS = 1 << 20 };

/* As in kernels/sort.cl. */
typedef struct axis_shape {
  int64_t fine, parts, step;
  double period, period_low, cells, cells_low, per_cell;
} axis_shape;

typedef struct sort_shape {
  axis_shape axis[3];
  int64_t n, stride, bins, layer_mask;
  double width;
} sort_shape;

/* What the kernels find, in `found`: the first point that is not finite, jobs of spreading, parts in the side buffer, jobs of
 * interpolation. Read once, at the end: a wait for the device costs as much as a pass over the points. */
enum { BAD, SPREADS, SIDES, INTERPOLATES, NUMBERS };
enum { BINS, DIGITS, SCATTER, SPAN_TOTALS, TOTAL_SUMS, SPAN_SUMS, STARTS, FRACTIONS, EMIT, KERNELS };

typedef struct sorter {
  kugel_nufft_points *p;
  kugel__device *dev;
  kugel_queue *queue;
  kugel__module *module;
  kugel__kernel *kernel[KERNELS];
  sort_shape shape;
  kugel__nufft_boxes spread, interpolate;
  void *memory; /* while points are sorted, of `bytes`, with the following parts */
  size_t bytes;
  kugel__mem key[2], other, count, totals, found,
      counts; /* other: numbers of points; counts: of boxes' jobs */
  kugel__mem x;
} sorter;

static kugel_status launch(const sorter *s, kugel__kernel *kernel, int64_t blocks, int threads, int nargs,
                           const kugel__arg *args)
{
  kugel__grid grid = {.blocks = {(uint32_t)kugel__max(1, blocks)}, .threads = {(uint32_t)threads}};
  return kugel__launch(s->dev, kernel, &grid, nargs, args, s->queue);
}

static kugel_status get_kernels(sorter *s, bool floats)
{
  static const char *names[KERNELS] = {"bins",      "digits", "scatter",   "span_totals", "total_sums",
                                       "span_sums", "starts", "fractions", "emit"};
  const kugel_nufft *plan = s->p->plan;
  char defines[96];
  snprintf(defines, sizeof defines, "#define NDIM %d\n#define COORD %s\n#define FRACTION %s\n", plan->ndim,
           floats ? "float" : "double", plan->single ? "float" : "double");
  kugel__module_spec spec = {.name = "nufft/sort", .defines = defines};
  KUGEL_TRY(kugel__module_get(plan->ctx, &spec, &s->module));
  for (int i = 0; i < KERNELS; i++)
    KUGEL_TRY(kugel__module_kernel(s->module, names[i], &s->kernel[i], NULL));
  return KUGEL_OK;
}

/* x[i] becomes x[0] + ... + x[i - 1]; x[n - 1] was 0 if the sum of all is wanted there. */
static kugel_status sum_before(const sorter *s, kugel__mem x, int64_t n)
{
  int64_t spans = (n + SPAN - 1) / SPAN;
  kugel__arg each[] = {KUGEL__MEM_ARG(x), KUGEL__MEM_ARG(s->totals), KUGEL__VALUE_ARG(n)},
             top[] = {KUGEL__MEM_ARG(s->totals), KUGEL__VALUE_ARG(spans)};
  KUGEL_TRY(launch(s, s->kernel[SPAN_TOTALS], spans, BLOCK, 3, each));
  KUGEL_TRY(launch(s, s->kernel[TOTAL_SUMS], 1, BLOCK, 2, top));
  return launch(s, s->kernel[SPAN_SUMS], spans, BLOCK, 3, each);
}

static int32_t bits_of(int64_t x)
{
  int32_t bits = 0;
  while (x >> bits)
    bits++;
  return bits;
}

/* Keys and numbers of points, sorted: in s->key[0] and p->gpu->source. */
static kugel_status sort(sorter *s)
{
  struct kugel__nufft_gpu_points *g = s->p->gpu;
  int64_t n = s->shape.n, spans = (n + SPAN - 1) / SPAN;
  int32_t bits = bits_of(s->shape.bins - 1);
  bool odd = (bits + DIGIT - 1) / DIGIT % 2; // passes: the last one writes to g->source
  kugel__mem source = odd ? s->other : g->source, source_out = odd ? g->source : s->other;
  kugel__arg place[] = {KUGEL__MEM_ARG(s->x), KUGEL__MEM_ARG(s->key[0]), KUGEL__MEM_ARG(source),
                        KUGEL__MEM_ARG(s->found), KUGEL__VALUE_ARG(s->shape)};
  KUGEL_TRY(kugel__device_fill(s->dev, s->found, 0xff, 4, s->queue));
  KUGEL_TRY(launch(s, s->kernel[BINS], (n + BLOCK - 1) / BLOCK, BLOCK, 5, place));
  for (int32_t shift = 0; shift < bits; shift += DIGIT) {
    kugel__arg of[] = {KUGEL__MEM_ARG(s->key[0]), KUGEL__MEM_ARG(s->count), KUGEL__VALUE_ARG(n),
                       KUGEL__VALUE_ARG(shift)};
    kugel__arg move[] = {KUGEL__MEM_ARG(s->key[0]),  KUGEL__MEM_ARG(source),   KUGEL__MEM_ARG(s->key[1]),
                         KUGEL__MEM_ARG(source_out), KUGEL__MEM_ARG(s->count), KUGEL__VALUE_ARG(n),
                         KUGEL__VALUE_ARG(shift)};
    KUGEL_TRY(launch(s, s->kernel[DIGITS], spans, BLOCK, 4, of));
    KUGEL_TRY(sum_before(s, s->count, spans << DIGIT));
    KUGEL_TRY(launch(s, s->kernel[SCATTER], spans, BLOCK, 7, move));
    kugel__mem swap = s->key[0];
    s->key[0] = s->key[1], s->key[1] = swap;
    swap = source, source = source_out, source_out = swap;
  }
  return KUGEL_OK;
}

/* Where bins start, fractions and places. */
static kugel_status finish(sorter *s)
{
  struct kugel__nufft_gpu_points *g = s->p->gpu;
  int64_t n = s->shape.n, bins = s->shape.bins;
  kugel__arg of_bins[] = {KUGEL__MEM_ARG(s->key[0]), KUGEL__MEM_ARG(g->start), KUGEL__VALUE_ARG(n),
                          KUGEL__VALUE_ARG(bins)};
  kugel__arg of_points[] = {KUGEL__MEM_ARG(s->x), KUGEL__MEM_ARG(g->source), KUGEL__MEM_ARG(g->fraction),
                            KUGEL__MEM_ARG(g->place), KUGEL__VALUE_ARG(s->shape)};
  KUGEL_TRY(launch(s, s->kernel[STARTS], kugel__min(MOST_BLOCKS, bins / BLOCK + 1), BLOCK, 4, of_bins));
  return n ? launch(s, s->kernel[FRACTIONS], (n + BLOCK - 1) / BLOCK, BLOCK, 5, of_points) : KUGEL_OK;
}

/* ---- jobs ---- */

/* Numbers of jobs of each box become where they start, with the total behind, which is found number `k`; then the list, if
 * there is one. */
static kugel_status list_jobs(const sorter *s, kugel__mem starts, int64_t boxes, const kugel__mem *jobs,
                              int k)
{
  KUGEL_TRY(sum_before(s, starts, boxes + 1));
  if (jobs) {
    kugel__arg args[] = {KUGEL__MEM_ARG(starts), KUGEL__MEM_ARG(*jobs), KUGEL__VALUE_ARG(boxes)};
    KUGEL_TRY(launch(s, s->kernel[EMIT], kugel__min(MOST_BLOCKS, boxes / BLOCK + 1), BLOCK, 3, args));
  }
  return kugel__device_copy(s->dev, KUGEL__WITHIN,
                            (kugel__mem){s->found.base, s->found.offset + (size_t)k * 4},
                            (kugel__mem){starts.base, starts.offset + (size_t)boxes * 4}, 4, s->queue);
}

static kugel_status make_jobs(sorter *s)
{
  const struct kugel__nufft_gpu *plan = s->p->plan->gpu;
  struct kugel__nufft_gpu_points *g = s->p->gpu;
  kugel__arg of_spread[] = {KUGEL__MEM_ARG(g->start), KUGEL__MEM_ARG(g->spread_starts),
                            KUGEL__MEM_ARG(g->spread_sides), KUGEL__VALUE_ARG(s->spread)};
  kugel__arg of_interpolate[] = {KUGEL__MEM_ARG(g->start), KUGEL__MEM_ARG(s->counts),
                                 KUGEL__VALUE_ARG(s->interpolate)};
  KUGEL_TRY(launch(s, plan->spread_count, s->spread.boxes / plan->spread_threads + 1, plan->spread_threads, 4,
                   of_spread));
  KUGEL_TRY(launch(s, plan->interpolate_count, s->interpolate.boxes / KUGEL__NUFFT_INTERPOLATE_THREADS + 1,
                   KUGEL__NUFFT_INTERPOLATE_THREADS, 3, of_interpolate));
  KUGEL_TRY(list_jobs(s, g->spread_starts, s->spread.boxes, &g->spread_jobs, SPREADS));
  KUGEL_TRY(list_jobs(s, g->spread_sides, s->spread.boxes, NULL, SIDES));
  return list_jobs(s, s->counts, s->interpolate.boxes, &g->interpolate_jobs, INTERPOLATES);
}

static kugel_status read_found(const sorter *s)
{
  struct kugel__nufft_gpu_points *g = s->p->gpu;
  uint32_t found[NUMBERS] = {UINT32_MAX};
  KUGEL_TRY(
      kugel__device_copy(s->dev, KUGEL__DOWNLOAD, (kugel__mem){found, 0}, s->found, sizeof found, s->queue));
  KUGEL_TRY(s->dev->ops->wait(s->queue));
  KUGEL_CHECK(!s->p->n || found[BAD] == UINT32_MAX, KUGEL_EINVAL,
              "a coordinate of point %u is not finite, all must be", found[BAD]);
  g->spreads = found[SPREADS];
  g->sides = found[SIDES];
  g->interpolates = found[INTERPOLATES];
  return KUGEL_OK;
}

/* ---- memory ---- */

static void set_shape(sorter *s, const kugel_array *points)
{
  const kugel_nufft *plan = s->p->plan;
  const kugel__nufft_boxes *b = &plan->gpu->to_grid;
  bool own = points->strides && points->device.type != KUGEL_CPU;
  s->shape = (sort_shape){.n = s->p->n,
                          .stride = own ? points->strides[0] : plan->ndim,
                          .bins = kugel__nufft_gpu_bins(plan),
                          .layer_mask = plan->gpu->spread_layers - 1,
                          .width = plan->kernel.width};
  for (int d = 0; d < plan->ndim; d++) {
    const kugel__nufft_axis *a = &plan->axis[d];
    int role = kugel__nufft_role(plan->ndim, d);
    s->shape.axis[role] = (axis_shape){.fine = a->fine,
                                       .parts = b->parts[role],
                                       .step = d * (own ? points->strides[1] : 1),
                                       .period = a->period,
                                       .period_low = a->period_low,
                                       .cells = a->cells,
                                       .cells_low = a->cells_low,
                                       .per_cell = (double)b->parts[role] / (double)a->fine};
  }
  if (plan->ndim == 1)
    s->shape.axis[1] = (axis_shape){.fine = 1, .parts = 1};
}

/* Sizes of boxes' jobs. Twice what a block would have to do if all did the same, margins counted: only clusters are cut. */
static void set_limits(sorter *s)
{
  const struct kugel__nufft_gpu *plan = s->p->plan->gpu;
  int64_t n = s->shape.n, units = kugel__max(1, s->dev->info.units);
  s->spread = plan->to_grid;
  s->interpolate = plan->to_points;
  s->spread.limit = kugel__max(2048, kugel__min(INT32_MAX, 6 * n / kugel__min(s->spread.boxes, 32 * units)));
  s->interpolate.limit = s->p->gpu->limit = 1024;
}

/* The next `bytes` of a block whose first *at are taken; parts begin at multiples of 512, which NVIDIA's OpenCL asks for. */
static void cut(kugel__mem *part, int64_t bytes, void *memory, size_t *at)
{
  *part = (kugel__mem){memory, *at};
  *at += ((size_t)bytes + 511) / 512 * 512;
}

/* The parts of both blocks; returns their sizes in *kept and s->bytes. */
static void lay_out(sorter *s, size_t *kept)
{
  struct kugel__nufft_gpu_points *g = s->p->gpu;
  const kugel_nufft *plan = s->p->plan;
  int64_t n = kugel__max(1, s->shape.n), boxes = s->spread.boxes + 1, spans = (n + SPAN - 1) / SPAN;
  int64_t sums = kugel__max(spans << DIGIT, kugel__max(boxes, s->interpolate.boxes + 1));
  int64_t copies = plan->gpu->spread_copies; // a point is in at most so many boxes' lists
  size_t at = 0;
  cut(&g->source, n * 4, g->memory, &at);
  cut(&g->place, n * 4, g->memory, &at);
  cut(&g->fraction, n * plan->ndim * (plan->single ? 4 : 8), g->memory, &at);
  cut(&g->start, (s->shape.bins + 1) * 4, g->memory, &at);
  cut(&g->spread_starts, boxes * 4, g->memory, &at);
  cut(&g->spread_sides, boxes * 4, g->memory, &at);
  cut(&g->spread_jobs, (boxes + copies * n / s->spread.limit) * 8, g->memory, &at);
  cut(&g->interpolate_jobs, (s->interpolate.boxes + n / s->interpolate.limit + 1) * 8, g->memory, &at);
  *kept = at;
  at = 0;
  cut(&s->key[0], n * 4, s->memory, &at);
  cut(&s->key[1], n * 4, s->memory, &at);
  cut(&s->other, n * 4, s->memory, &at);
  cut(&s->count, spans << DIGIT << 2, s->memory, &at);
  cut(&s->totals, (sums / SPAN + 2) * 4, s->memory, &at);
  cut(&s->counts, (s->interpolate.boxes + 1) * 4, s->memory, &at);
  cut(&s->found, NUMBERS * 4, s->memory, &at);
  s->bytes = at;
}

static kugel_status allocate(sorter *s)
{
  size_t *kept =
      &s->p->gpu
           ->bytes; // both from what the device keeps: drivers take as long for new memory as the sort does
  lay_out(s, kept);
  KUGEL_TRY(kugel__device_scratch_get(s->dev, *kept, &s->p->gpu->memory));
  KUGEL_TRY(kugel__device_scratch_get(s->dev, s->bytes, &s->memory));
  lay_out(s, kept);
  return KUGEL_OK;
}

kugel_status kugel__nufft_gpu_sort(kugel_nufft_points *p, const kugel_array *points)
{
  kugel__loan loan = {0};
  KUGEL_TRY(kugel__nufft_gpu_place(p->plan, points, "points"));
  p->gpu = kugel__calloc(p->plan->ctx, sizeof *p->gpu);
  KUGEL_CHECK(p->gpu, KUGEL_ENOMEM, "no memory for points");
  pthread_mutex_init(&p->gpu->uses.lock, NULL);
  sorter s = {.p = p, .dev = p->plan->gpu->dev};
  s.queue = &s.dev->queue;
  set_shape(&s, points);
  set_limits(&s);
  kugel_status status = get_kernels(&s, points->dtype.bits == 32);
  if (!status)
    status = allocate(&s);
  if (!status)
    status = kugel__lend(s.dev, points, KUGEL__READ, s.queue, &loan);
  s.x = loan.mem.base ? loan.mem : s.key[0]; // without points: any memory
  if (!status && p->n)
    status = sort(&s);
  if (!status)
    status = finish(&s);
  if (!status)
    status = make_jobs(&s);
  if (!status)
    status = read_found(&s);
  kugel_status waited = s.dev->ops->wait(s.queue);
  status = kugel__lend_end(1, &loan, s.queue, status ? status : waited);
  kugel__device_scratch_put(s.dev, s.memory, s.bytes);
  kugel__module_put(s.module);
  return status;
}

/* ---- the end ---- */

void kugel__nufft_gpu_used(const kugel_nufft_points *p, kugel_queue *queue)
{
  const kugel__device_ops *ops = p->plan->gpu->dev->ops;
  kugel__nufft_uses *u = &p->gpu->uses;
  kugel__event *now = NULL, *before = NULL;
  int i = 0;
  const bool known = !ops->record(queue, &now);
  pthread_mutex_lock(&u->lock);
  while (i < KUGEL__NUFFT_QUEUES && u->event[i] && u->queue[i] != queue)
    i++;
  if (known && i < KUGEL__NUFFT_QUEUES) {
    before = u->event[i];
    u->event[i] = now;
    u->queue[i] = queue;
  } else {
    before = now;
    u->more = true;
  }
  pthread_mutex_unlock(&u->lock);
  if (before)
    ops->event_free(before);
}

/* Whether all uses are over. */
static bool wait_for_uses(kugel__device *dev, kugel__nufft_uses *u)
{
  bool done = !u->more;
  for (int i = 0; i < KUGEL__NUFFT_QUEUES && u->event[i]; i++) {
    done = !dev->ops->after(NULL, u->event[i]) && done;
    dev->ops->event_free(u->event[i]);
  }
  pthread_mutex_destroy(&u->lock);
  return done;
}

void kugel__nufft_gpu_points_destroy(kugel_nufft_points *p)
{
  struct kugel__nufft_gpu_points *g = p->gpu;
  if (!g)
    return;
  if (wait_for_uses(p->plan->gpu->dev, &g->uses))
    kugel__device_scratch_put(p->plan->gpu->dev, g->memory, g->bytes);
  else
    kugel__device_free(p->plan->gpu->dev, g->memory);
  kugel__free(p->plan->ctx, g);
}
