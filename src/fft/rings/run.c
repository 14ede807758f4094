/* SPDX-License-Identifier: BSD-3-Clause */
/* Ring transforms, a group of pairs at a time: coefficients as rows over m, spectra, DFTs, pixels. */
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "fft/rings/plan.h"

enum { GROUP = KUGEL__RING_GROUP };

/* A worker's memory for a group. */
typedef struct group {
  const kugel__ring_call *call;
  int64_t first;                        // pair
  double *rows, *idle, *splits, *lanes; // rows[GROUP][4][row_size], idle[row_size]: rows of a missing ring
} group;

int64_t kugel__rings_work(const kugel__rings *p)
{
  return (4 * GROUP + 1) * p->row_size + 2 * p->splits * p->split_size + kugel__round_up(p->lanes_size, 8);
}

/* ---- one job ---- */

static void rows_of(const group *g, const kugel__ring_job *job, double *rows[4])
{
  const kugel__rings *p = g->call->plan;
  double *mine = g->rows + (job->pair - g->first) * 4 * p->row_size;
  for (int k = 0; k < 4; k++)
    rows[k] = (k < 2 ? job->offset_north : job->offset_south) >= 0 ? mine + k * p->row_size : g->idle;
}

// Modes of a job, in whole cache lines.
static int64_t modes(const kugel__ring_job *job)
{
  return kugel__round_up(job->mlim + 1, 8);
}

static const kugel__phase *south_phase(const kugel__rings *p, const kugel__ring_job *job)
{
  return job->phase_south == job->phase_north ? NULL : &p->phases[job->phase_south];
}

static void fold(const group *g, const kugel__ring_job *job, double *re, double *im)
{
  const kugel__rings *p = g->call->plan;
  int64_t n = p->lengths[job->length].n, nm = modes(job);
  double *rows[4];
  rows_of(g, job, rows);
  memset(re, 0, (size_t)n * 8);
  memset(im, 0, (size_t)n * 8);
  for (int k = 0; k < 4; k++)
    if (rows[k] == g->idle)
      memset(rows[k], 0, (size_t)nm * 8);
    else
      memset(rows[k] + job->mlim + 1, 0, (size_t)(nm - job->mlim - 1) * 8);
  kugel__ring_ops_now()->fold((const double *const *)rows, nm, &p->phases[job->phase_north],
                              south_phase(p, job), n, re, im);
}

static void unfold(const group *g, const kugel__ring_job *job, int64_t nm, const double *re, const double *im)
{
  const kugel__ring_call *c = g->call;
  const kugel__rings *p = c->plan;
  double *rows[4], weight[2] = {c->weight_north ? c->weight_north[job->pair] : 1,
                                c->weight_south ? c->weight_south[job->pair] : 1};
  rows_of(g, job, rows);
  kugel__ring_ops_now()->unfold(re, im, p->lengths[job->length].n, &p->phases[job->phase_north],
                                south_phase(p, job), weight, nm, rows);
}

// The pixels of a ring as doubles: in the map itself, or in `copy`; NULL if there is no ring.
static double *pixels(const kugel__ring_call *c, int64_t offset, double *copy)
{
  return offset < 0 ? NULL : c->f32 || c->stride != 1 ? copy : (double *)c->map + offset;
}

static void *map_at(const kugel__ring_call *c, int64_t offset)
{
  return (char *)c->map + offset * c->stride * (c->f32 ? 4 : 8);
}

static void read_pixels(const kugel__ring_call *c, int64_t offset, int64_t n, double *copy)
{
  if (offset >= 0 && (c->f32 || c->stride != 1))
    kugel__ring_ops_now()->read(map_at(c, offset), c->f32, c->stride, n, copy);
}

static void write_pixels(const kugel__ring_call *c, int64_t offset, int64_t n, const double *copy)
{
  if (offset >= 0 && (c->f32 || c->stride != 1))
    kugel__ring_ops_now()->write(copy, n, c->f32, c->stride, map_at(c, offset));
}

/* ---- jobs of one length: one by decimation, or up to vlen side by side ---- */

static void dft(const group *g, const kugel__ring_length *l, int count, double *const *re, double *const *im,
                double *const *out_re, double *const *out_im)
{
  if (count == 1 && l->ops)
    l->ops->dft(l, re[0], im[0], out_re[0], out_im[0], g->lanes);
  else
    kugel__ring_ops_for(count)->dft_many(l, count, (const double *const *)re, (const double *const *)im,
                                         out_re, out_im, g->lanes);
}

// The inverse DFT is the forward one with re and im exchanged.
static void run_jobs(const group *g, const kugel__ring_job *jobs, int count, int64_t nm)
{
  const kugel__ring_call *c = g->call;
  const kugel__rings *p = c->plan;
  const kugel__ring_length *l = &p->lengths[jobs->length];
  double *re[GROUP], *im[GROUP], *north[GROUP], *south[GROUP];
  for (int i = 0; i < count; i++) {
    re[i] = g->splits + 2 * i * p->split_size;
    im[i] = re[i] + p->split_size;
    north[i] = pixels(c, jobs[i].offset_north, re[i]);
    south[i] = pixels(c, jobs[i].offset_south, im[i]);
    if (!c->adjoint) {
      fold(g, &jobs[i], re[i], im[i]);
      continue;
    }
    read_pixels(c, jobs[i].offset_north, l->n, re[i]);
    read_pixels(c, jobs[i].offset_south, l->n, im[i]);
  }
  if (c->adjoint)
    dft(g, l, count, north, south, re, im);
  else
    dft(g, l, count, im, re, south, north);
  for (int i = 0; i < count; i++) {
    if (c->adjoint) {
      unfold(g, &jobs[i], nm, re[i], im[i]);
      continue;
    }
    write_pixels(c, jobs[i].offset_north, l->n, re[i]);
    write_pixels(c, jobs[i].offset_south, l->n, im[i]);
  }
}

/* ---- groups ---- */

static void run_all_jobs(const group *g, int count, int64_t nm)
{
  const kugel__rings *p = g->call->plan;
  int64_t j = p->first_job[g->first], end = p->first_job[g->first + count];
  while (j < end) {
    const kugel__ring_length *l = &p->lengths[p->jobs[j].length];
    int together = 1, most = l->whole ? kugel__ring_ops_now()->vlen : 1;
    while (together < most && j + together < end && p->jobs[j + together].length == p->jobs[j].length)
      together++;
    if (l->parts > 2 && together < 4) // decimation uses more lanes
      together = 1;
    run_jobs(g, p->jobs + j, together, nm);
    j += together;
  }
}

// The adjoint gives zero for a ring that is not there.
static void clear_missing(const group *g, int count, int64_t nm)
{
  const kugel__rings *p = g->call->plan;
  for (int64_t i = 0; i < count; i++) {
    bool north = false, south = false;
    for (int64_t j = p->first_job[g->first + i]; j < p->first_job[g->first + i + 1]; j++) {
      north |= p->jobs[j].offset_north >= 0;
      south |= p->jobs[j].offset_south >= 0;
    }
    for (int64_t k = 0; k < 4; k++)
      if (!(k < 2 ? north : south))
        memset(g->rows + (4 * i + k) * p->row_size, 0, (size_t)nm * 8);
  }
}

void kugel__rings_group(const kugel__ring_call *c, int64_t first, int count, double *work)
{
  const kugel__rings *p = c->plan;
  group g = {.call = c, .first = first, .rows = work, .idle = work + 4 * GROUP * p->row_size};
  g.splits = g.idle + p->row_size;
  g.lanes = g.splits + 2 * p->splits * p->split_size;
  int64_t mlim = -1;
  for (int64_t j = p->first_job[first]; j < p->first_job[first + count]; j++)
    mlim = kugel__max(mlim, p->jobs[j].mlim);
  if (!c->adjoint) {
    c->get(c, first, count, mlim + 1, g.rows);
    run_all_jobs(&g, count, 0);
    return;
  }
  int64_t nm = kugel__round_up(mlim + 1, 8);
  clear_missing(&g, count, nm);
  run_all_jobs(&g, count, nm);
  c->put(c, first, count, mlim + 1, g.rows);
}

/* ---- coefficients as the Legendre stage holds them ---- */

typedef struct leg_call {
  kugel__ring_call call;
  double *leg;
  int64_t m_stride, row;
  double *scratch;
  int64_t work;
} leg_call;

static void get_leg(const kugel__ring_call *call, int64_t first, int count, int64_t nm, double *rows)
{
  const leg_call *c = (const leg_call *)call;
  kugel__ring_ops_now()->gather(c->leg + first - call->p0, c->m_stride, c->row, nm, count, rows,
                                call->plan->row_size);
}

static void put_leg(const kugel__ring_call *call, int64_t first, int count, int64_t nm, const double *rows)
{
  const leg_call *c = (const leg_call *)call;
  kugel__ring_ops_now()->scatter(rows, call->plan->row_size, nm, count, c->leg + first - call->p0,
                                 c->m_stride, c->row);
}

static kugel_status run_task(void *arg, int64_t task, int worker)
{
  const leg_call *c = arg;
  int64_t first = c->call.p0 + task * GROUP;
  kugel__rings_group(&c->call, first, (int)kugel__min(GROUP, c->call.p1 - first),
                     c->scratch + worker * c->work);
  return KUGEL_OK;
}

// Threads that find a group of pairs to do: the same in every call, so that the cached scratch memory fits the next.
static int64_t workers_of(const kugel__rings *p)
{
  return kugel__min(kugel__ctx_threads(p->ctx), kugel__max(1, (p->npairs + GROUP - 1) / GROUP));
}

int64_t kugel__rings_bytes(const kugel__rings *plan)
{
  return 8 * workers_of(plan) * kugel__rings_work(plan);
}

static kugel_status run(leg_call *c)
{
  const kugel__rings *p = c->call.plan;
  c->call.stride = 1;
  c->call.get = get_leg;
  c->call.put = put_leg;
  int64_t workers = workers_of(p);
  c->work = kugel__rings_work(p);
  c->scratch = kugel__scratch_get(p->ctx, (size_t)(workers * c->work) * 8);
  KUGEL_CHECK(c->scratch, KUGEL_ENOMEM, "no memory for ring transforms of %lld pixels", (long long)p->max_n);
  kugel_status s =
      kugel__parallel_on(p->ctx, workers, (c->call.p1 - c->call.p0 + GROUP - 1) / GROUP, run_task, c);
  kugel__scratch_put(p->ctx, c->scratch);
  return s;
}

kugel_status kugel__rings_synth(const kugel__rings *plan, int64_t p0, int64_t p1, const double *leg,
                                int64_t m_stride, int64_t row, void *map, bool f32)
{
  leg_call c = {.call = {.plan = plan, .p0 = p0, .p1 = p1, .map = map, .f32 = f32},
                .leg = (double *)leg,
                .m_stride = m_stride,
                .row = row};
  return run(&c);
}

kugel_status kugel__rings_adjoint(const kugel__rings *plan, int64_t p0, int64_t p1, const void *map, bool f32,
                                  const double *weight_north, const double *weight_south, double *leg,
                                  int64_t m_stride, int64_t row)
{
  leg_call c = {.call = {.plan = plan,
                         .p0 = p0,
                         .p1 = p1,
                         .map = (void *)map,
                         .f32 = f32,
                         .adjoint = true,
                         .weight_north = weight_north,
                         .weight_south = weight_south},
                .leg = leg,
                .m_stride = m_stride,
                .row = row};
  return run(&c);
}
