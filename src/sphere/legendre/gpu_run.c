/* SPDX-License-Identifier: BSD-3-Clause */
/* The Legendre stage on a device: launches of kernels/legendre.cl or its forms for tensor cores (pairs off
 * the poles), kernels/polar.cl and kernels/series.cl. */
#include "core/alloc.h"
#include "sphere/legendre/gpu_launch.h"

/* The structs of the kernels' texts. */
typedef struct alm_layout {
  int64_t first, row, part;
} alm_layout;
typedef struct columns {
  int32_t lmax, mmax, top, f32, m0, nm, tiles, polar, accumulate, sets;
  alm_layout alm;
  int64_t step;
} columns;
typedef struct polar_shape {
  int32_t lmax, mmax, count, room, steps, row, f32, set, orders, from, first, rows, components, sets, m0;
  alm_layout alm;
} polar_shape;

enum { WARP = KUGEL__LEG_GPU_WARP, PAGE = 4096 };

kugel_status kugel__leg_gpu_find_starts(kugel__leg_gpu *p)
{
  kugel__leg_shape t = kugel__leg_gpu_shape(p, 0);
  KUGEL_TRY(kugel__device_alloc(p->device, (size_t)kugel__max((int64_t)t.nm * t.strips * 4 + 64, 64),
                                &p->starts.base));
  kugel__grid grid = {.blocks = {(uint32_t)t.nm, (uint32_t)((t.strips + 3) / 4)}, .threads = {4 * WARP}};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->coef),   KUGEL__MEM_ARG(p->offsets), KUGEL__MEM_ARG(p->mfac),
                       KUGEL__MEM_ARG(p->pairs),  KUGEL__MEM_ARG(p->mlim),    KUGEL__MEM_ARG(p->starts),
                       KUGEL__LEG_SHAPE_ARG(p, t)};
  return t.strips ? kugel__launch(p->device, p->kernels[KUGEL__LEG_GPU_STARTS], &grid, 7, args, NULL)
                  : KUGEL_OK;
}

size_t kugel__leg_gpu_work(const kugel__leg_gpu *p)
{
  return kugel__leg_gpu_work_of(p, 1);
}

size_t kugel__leg_gpu_work_of(const kugel__leg_gpu *p, int64_t groups)
{
  int64_t series =
      groups * kugel__leg_gpu_series_bytes(p) + (p->halves.used ? kugel__leg_gpu_halves_work(p, NULL) : 0);
  return (size_t)kugel__max(series, (int64_t)kugel__leg_gpu_lay_out(p, groups, (kugel__mem){NULL, 0}).end) +
         PAGE;
}

bool kugel__leg_gpu_takes_groups(const kugel__leg_gpu *p, bool f32)
{
  return !(f32 && p->halves.used && kugel__leg_gpu_halves_fill(p));
}

int64_t kugel__leg_gpu_row(const kugel__leg_gpu *p)
{
  return p->row;
}

static bool in_halves(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job)
{
  return job->f32 && !job->grouped && p->halves.used;
}

// Maps of a call.
static int maps_of(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job)
{
  return job->maps ? job->maps : p->maps;
}

static uint32_t groups_of(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job)
{
  return (uint32_t)((maps_of(p, job) + p->maps - 1) / p->maps);
}

// The slots of a call: [first, end).
static int64_t end_of(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job)
{
  return job->slots ? job->slot + job->slots : p->orders;
}

// Over ranks the coefficients lie by order.
static alm_layout layout_of(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job)
{
  return p->size ? (alm_layout){job->alm_at, p->size, p->rank}
                 : (alm_layout){job->alm_at, job->row, job->part};
}

static columns columns_of(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job)
{
  const kugel__leg *g = p->leg;
  return (columns){.lmax = (int32_t)g->lmax,
                   .mmax = p->orders - 1,
                   .top = p->top,
                   .f32 = job->f32,
                   .tiles = p->groups,
                   .polar = p->polar_orders,
                   .accumulate = job->accumulate,
                   .sets = g->n_alm * maps_of(p, job),
                   .m0 = (int32_t)job->slot,
                   .nm = (int32_t)(end_of(p, job) - job->slot),
                   .alm = layout_of(p, job)};
}

// Of to_series and from_series, which have blocks of 256 threads.
static kugel__grid steps_of(int64_t orders, int64_t steps, int64_t of_block)
{
  return (kugel__grid){.blocks = {(uint32_t)orders, (uint32_t)((steps + of_block - 1) / of_block)},
                       .threads = {256}};
}

// The sums of the polar pairs, of the slots of a call: polar[component][polar_orders][lmax + 1].
static kugel_status clear_polar(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job, kugel__mem sums,
                                size_t bytes, kugel_queue *queue)
{
  int64_t row = (p->leg->lmax + 1) * 16, n = kugel__min(end_of(p, job), p->polar_orders) - job->slot;
  if (!job->slots)
    return bytes ? kugel__device_fill(p->device, sums, 0, bytes, queue) : KUGEL_OK;
  sums.offset += (size_t)(job->slot * row);
  for (size_t at = 0; at < bytes && n > 0; at += (size_t)(p->polar_orders * row))
    KUGEL_TRY(kugel__device_fill(p->device, (kugel__mem){sums.base, sums.offset + at}, 0, (size_t)(n * row),
                                 queue));
  return KUGEL_OK;
}

/* Queues the polar pairs on the sides; join() makes the queue wait for them. Their long chains come first: if
 * the queue went on at once, its blocks would fill the device before them. */
static kugel_status fork_polar(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job, const kugel__mem *sums,
                               size_t bytes, kugel_queue *queue)
{
  const kugel__leg *g = p->leg;
  if (sums)
    KUGEL_TRY(clear_polar(p, job, *sums, bytes, queue));
  for (int i = 0; i < 2; i++) {
    const kugel__polar_part *part = &p->polar[i];
    kugel_queue *side = p->side[i] ? p->side[i] : p->side[0];
    int64_t orders = kugel__min(kugel__leg_gpu_slots(p, part->orders), end_of(p, job)) - job->slot;
    if (!part->used || orders <= 0)
      continue;
    KUGEL_TRY(kugel__queue_follow(queue, side));
    polar_shape t = {.lmax = (int32_t)g->lmax,
                     .mmax = p->orders - 1,
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
                     .components = g->n_map,
                     .sets = g->n_alm,
                     .m0 = (int32_t)job->slot,
                     .alm = layout_of(p, job)};
    kugel__grid grid = {
        .blocks = {(uint32_t)orders, sums ? 1 : (uint32_t)(part->room / WARP), (uint32_t)maps_of(p, job)},
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
      KUGEL_TRY(kugel__queue_follow(p->side[i], queue));
  return KUGEL_OK;
}

// After a failure nothing may still run beside the queue.
void kugel__leg_gpu_settle(const kugel__leg_gpu *p)
{
  kugel_queue *queues[] = {p->side[0], p->side[1], p->turn, p->ends};
  for (int i = 0; i < 4; i++)
    if (queues[i])
      p->device->ops->wait(queues[i]);
}

kugel_status kugel__leg_gpu_end(const kugel__leg_gpu *p, kugel_queue *queue)
{
  return p->turn ? kugel__queue_follow(p->turn, queue) : KUGEL_OK;
}

static kugel_status settle(const kugel__leg_gpu *p, kugel_status s)
{
  if (s)
    kugel__leg_gpu_settle(p);
  return s;
}

static kugel_status synth(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job, kugel_queue *queue)
{
  columns c = columns_of(p, job);
  kugel__leg_shape t = kugel__leg_gpu_shape(p, 0);
  t.m0 = c.m0;
  t.nm = c.nm;
  kugel__grid steps = steps_of(t.nm, (p->top - kugel__leg_gpu_order_of(p, t.m0)) / 2 + 1,
                               kugel__leg_gpu_series(p).steps),
              grid = kugel__leg_gpu_grid(p, 0, t.nm);
  kugel__arg to_series[] = {KUGEL__MEM_ARG(job->alm), KUGEL__MEM_ARG(p->coef), KUGEL__MEM_ARG(p->offsets),
                            KUGEL__MEM_ARG(job->work), KUGEL__VALUE_ARG(c)};
  kugel__arg args[] = {KUGEL__MEM_ARG(p->coef),   KUGEL__MEM_ARG(job->work), KUGEL__MEM_ARG(p->offsets),
                       KUGEL__MEM_ARG(p->mfac),   KUGEL__MEM_ARG(p->pairs),  KUGEL__MEM_ARG(p->mlim),
                       KUGEL__MEM_ARG(p->starts), KUGEL__MEM_ARG(job->leg),  KUGEL__LEG_SHAPE_ARG(p, t)};
  steps.blocks[2] = grid.blocks[1] = groups_of(p, job);
  c.step = t.series_step = kugel__leg_gpu_series_bytes(p) / 16;
  t.leg_step = 2 * p->maps * p->leg->n_map * p->orders * (int64_t)p->row;
  KUGEL_TRY(fork_polar(p, job, NULL, 0, queue));
  if (t.tiles && !(job->series && *job->series)) {
    KUGEL_TRY(kugel__launch(p->device, p->kernels[KUGEL__LEG_GPU_TO_SERIES], &steps, 5, to_series, queue));
    if (job->series)
      *job->series = true;
  }
  if (t.tiles)
    KUGEL_TRY(in_halves(p, job)
                  ? kugel__leg_gpu_synth_halves(p, job, queue)
                  : kugel__launch(p->device, p->kernels[KUGEL__LEG_GPU_SYNTH], &grid, 9, args, queue));
  return join(p, queue);
}

kugel_status kugel__leg_gpu_synth(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job, kugel_queue *queue)
{
  return settle(p, synth(p, job, queue));
}

/* Chunks of orders go to two queues and rooms in turn, so that the first blocks of one run beside the last ones of that before, and
 * the sums over its groups, which read memory and compute little, beside the next chunk. */
static kugel_status adjoint(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job, kugel_queue *queue)
{
  bool chained = p->turn && job->turn; // goes on where the call before has ended
  bool chunks = chained || (p->turn && kugel__leg_gpu_chunk(p, job->slot) < end_of(p, job));
  kugel_queue *turns[] = {queue, p->turn}, *ends = chunks ? p->ends : queue;
  int turn = chained ? *job->turn : 0;
  for (int i = 0; i < (chunks ? 2 : 1) && job->turn; i++)
    KUGEL_TRY(kugel__queue_follow(job->after, turns[i]));
  columns c = columns_of(p, job);
  kugel__leg_shape t = kugel__leg_gpu_shape(p, 1);
  uint32_t groups = groups_of(p, job);
  kugel__leg_parts w = kugel__leg_gpu_lay_out(p, groups, job->work);
  t.leg_step = 2 * p->maps * p->leg->n_map * p->orders * (int64_t)p->row;
  t.sums_step = p->sums / 8;
  c.step = p->sums / 16;
  bool halves = in_halves(p, job);
  if (halves)
    c.tiles = kugel__leg_gpu_halves_groups(p);
  if (!w.polar_bytes)
    w.polar = w.sums; // not read
  KUGEL_TRY(fork_polar(p, job, &w.polar, w.polar_bytes, turns[turn]));
  const size_t first_room = w.sums.offset;
  if (chunks && !chained)
    KUGEL_TRY(kugel__queue_follow(queue, p->turn));
  for (int64_t m0 = job->slot, m1; m0 < end_of(p, job); m0 = m1, turn ^= chunks) {
    m1 = kugel__min(kugel__leg_gpu_chunk(p, m0), end_of(p, job));
    w.sums.offset = first_room + (size_t)turn * w.room;
    c.m0 = t.m0 = (int32_t)m0;
    c.nm = t.nm = (int32_t)(m1 - m0);
    kugel__grid grid = kugel__leg_gpu_grid(p, 1, t.nm);
    kugel__leg_gpu_rows rows = kugel__leg_gpu_series(p);
    kugel__grid steps =
        steps_of(t.nm, (c.lmax - kugel__leg_gpu_order_of(p, m0)) / 2 + 1, rows.rows - rows.halo);
    steps.blocks[2] = grid.blocks[1] = groups;
    kugel__arg args[] = {KUGEL__MEM_ARG(p->coef),   KUGEL__MEM_ARG(job->leg), KUGEL__MEM_ARG(p->offsets),
                         KUGEL__MEM_ARG(p->mfac),   KUGEL__MEM_ARG(p->pairs), KUGEL__MEM_ARG(p->mlim),
                         KUGEL__MEM_ARG(p->starts), KUGEL__MEM_ARG(w.sums),   KUGEL__MEM_ARG(w.begun),
                         KUGEL__LEG_SHAPE_ARG(p, t)};
    kugel__arg from[] = {KUGEL__MEM_ARG(w.sums),     KUGEL__MEM_ARG(w.begun), KUGEL__MEM_ARG(p->coef),
                         KUGEL__MEM_ARG(p->offsets), KUGEL__MEM_ARG(w.polar), KUGEL__MEM_ARG(job->alm),
                         KUGEL__VALUE_ARG(c)};
    if (t.tiles)
      KUGEL_TRY(halves ? kugel__leg_gpu_adjoint_halves(p, job, &w, t.m0, t.nm, turns[turn])
                       : kugel__launch(p->device, p->kernels[KUGEL__LEG_GPU_ADJOINT], &grid, 10, args,
                                       turns[turn]));
    if (chunks)
      KUGEL_TRY(kugel__queue_follow(turns[turn], ends));
    if (m0 == job->slot)
      KUGEL_TRY(join(p, ends));
    KUGEL_TRY(kugel__launch(p->device, p->kernels[KUGEL__LEG_GPU_FROM_SERIES], &steps, 7, from, ends));
    if (chunks) // its room is free then
      KUGEL_TRY(kugel__queue_follow(ends, turns[turn]));
  }
  if (chained)
    *job->turn = turn;
  return chunks && !chained ? kugel__leg_gpu_end(p, queue) : KUGEL_OK;
}

kugel_status kugel__leg_gpu_adjoint(const kugel__leg_gpu *p, const kugel__leg_gpu_job *job,
                                    kugel_queue *queue)
{
  return settle(p, adjoint(p, job, queue));
}
