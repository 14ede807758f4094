/* SPDX-License-Identifier: BSD-3-Clause */
/* Stencils on devices: applications and steps in time. */
#include "core/array.h"
#include "core/parallel.h"
#include "device/lend.h"
#include "stencil/gpu.h"

enum { THREADS = 128 /* of a block of kernels/edge.cl */ };

typedef kugel__stencil_level level;
typedef kugel__stencil_gpu_use use;
typedef kugel__stencil_gpu_march march;

kugel_status kugel__stencil_gpu_apply(const kugel_stencil *p, bool transposed, int64_t count,
                                      const kugel_array *in, const kugel_array *out, kugel_queue *queue)
{
  kugel__device *dev = p->gpu->dev;
  kugel_queue *on;
  kugel__loan loans[2] = {0};
  KUGEL_TRY(kugel__queue_of(dev, queue, &on));
  if (!count)
    return KUGEL_OK;
  kugel__progress_stage(0, 1, "stencil");
  KUGEL_TRY(kugel__progress_step(0));
  kugel_status s = kugel__lend(dev, in, KUGEL__READ, on, &loans[0]);
  if (!s)
    s = kugel__lend(dev, out, KUGEL__WRITE, on, &loans[1]);
  if (!s) {
    const use u = {.in = kugel__stencil_level_of(p, &loans[0], 0),
                   .out = kugel__stencil_level_of(p, &loans[1], 0),
                   .a = 1};
    s = kugel__stencil_gpu_operate(p, transposed, &u, count, on);
  }
  s = kugel__lend_end(2, loans, on, s);
  return s || queue ? s : dev->ops->wait(on);
}

/* ---- steps in time ---- */

/* The kernel `exchange` of two levels, or `negate` of one. */
static kugel_status change(const march *m, const level *first, const level *second, bool negates)
{
  const struct kugel__stencil_gpu *g = m->p->gpu;
  const int64_t blocks = kugel__min((m->size + THREADS - 1) / THREADS, 1 << 20);
  kugel__mem mem = first->mem;
  int64_t one = first->at, two = second ? second->at : 0, size = m->size, sign = negates;
  kugel__arg pair[] = {KUGEL__MEM_ARG(mem), KUGEL__VALUE_ARG(one), KUGEL__VALUE_ARG(two),
                       KUGEL__VALUE_ARG(size), KUGEL__VALUE_ARG(sign)};
  kugel__arg single[] = {pair[0], pair[1], pair[3]};
  return kugel__launch(g->dev, second ? g->exchange : g->negate,
                       &(kugel__grid){.blocks = {(uint32_t)blocks}, .threads = {THREADS}}, second ? 5 : 3,
                       second ? pair : single, m->queue);
}

/* Single steps from step k on. Their transpose is leapfrog of (-a, b) with L^T, as on the CPU; signs are the steps' own factors: `folded`,
 * the first level is a as yet. The level before the last gets its sign back in the step that writes it, or on its way to its place. */
static kugel_status single_steps(const march *m, level before, level now, int64_t k, bool folded)
{
  const level first = before, second = now;
  const bool odd = (m->steps - k) % 2;
  double sign = 1, sign_before = folded ? -1 : 1; // of what the levels have
  for (; k < m->steps; k++) {
    KUGEL_TRY(kugel__progress_step((double)k / (double)m->steps));
    const double own = folded && !odd && k == m->steps - 2 ? -1 : 1;
    const use u = {.in = now,
                   .out = before,
                   .p = now,
                   .q = before,
                   .a = own * sign * m->dt * m->dt,
                   .b = own * sign * 2,
                   .c = own * sign_before * -1};
    KUGEL_TRY(kugel__stencil_gpu_operate(m->p, m->transposed, &u, 1, m->queue));
    const level next = before;
    before = now;
    now = next;
    sign_before = sign;
    sign = own;
  }
  return odd ? change(m, &first, &second, folded) : KUGEL_OK;
}

static kugel_status leapfrog(const march *m, level before, level now)
{
  const bool folded = m->transposed && !kugel__stencil_gpu_has_passes(m, true),
             negates = m->transposed && !folded;
  int64_t done = 0;
  if (negates)
    KUGEL_TRY(change(m, &before, NULL, true));
  if (!folded)
    KUGEL_TRY(kugel__stencil_gpu_passes(m, before, now, &done));
  KUGEL_TRY(single_steps(m, before, now, done, folded));
  return negates ? change(m, &before, NULL, true) : KUGEL_OK;
}

/* u + dt L (u + dt/2 L (u + dt/3 L (u + dt/4 L u))). */
static kugel_status runge_kutta(const march *m, int64_t from, level state, const level *room)
{
  for (int64_t k = 4 * from; k < 4 * m->steps; k++) {
    const int stage = 4 - (int)(k % 4);
    KUGEL_TRY(kugel__progress_step((double)k / (4 * (double)m->steps)));
    const use u = {.in = stage == 4 ? state : room[(stage + 1) % 2],
                   .out = stage == 1 ? state : room[stage % 2],
                   .p = state,
                   .a = m->dt / stage,
                   .b = 1};
    KUGEL_TRY(kugel__stencil_gpu_operate(m->p, m->transposed, &u, 1, m->queue));
  }
  return KUGEL_OK;
}

static kugel_status advance(const march *m, const kugel__loan *loan)
{
  const kugel_stencil *p = m->p;
  const level state = kugel__stencil_level_of(p, loan, 0);
  const size_t word = p->single ? 4 : 8, bytes = (size_t)kugel__round_up(m->size * (int64_t)word, 512);
  kugel__gpu_hold hold = {NULL, NULL};
  kugel__progress_stage(0, 1, "stencil");
  if (m->method == KUGEL_STENCIL_ADI)
    return kugel__stencil_gpu_adi(m, state);
  if (m->method == KUGEL_STENCIL_LEAPFROG)
    return leapfrog(m, state, (level){state.mem, state.at + m->size});
  int64_t done = 0;
  KUGEL_TRY(kugel__stencil_gpu_passes(m, (level){{NULL, 0}, 0}, state, &done));
  if (done == m->steps)
    return KUGEL_OK;
  KUGEL_TRY(kugel__gpu_work_take(p->gpu->dev, &p->gpu->work, 2 * bytes, m->queue, &hold));
  const level room[2] = {{{hold.memory, 0}, 0}, {{hold.memory, 0}, (int64_t)(bytes / word)}};
  kugel_status s = runge_kutta(m, done, state, room);
  kugel__gpu_work_give(p->gpu->dev, &hold);
  return s;
}

kugel_status kugel__stencil_gpu_advance(const kugel_stencil *p, bool transposed, kugel_stencil_method method,
                                        double dt, int64_t steps, const kugel_array *state,
                                        kugel_queue *queue)
{
  kugel__device *dev = p->gpu->dev;
  march m = {.p = p, .transposed = transposed, .method = method, .dt = dt, .steps = steps};
  kugel__loan loan = {0};
  m.size = p->side[0].targets * p->nodes;
  KUGEL_TRY(kugel__queue_of(dev, queue, &m.queue));
  if (!steps)
    return KUGEL_OK;
  kugel_status s = kugel__lend(dev, state, KUGEL__READ | KUGEL__WRITE, m.queue, &loan);
  if (!s)
    s = advance(&m, &loan);
  s = kugel__lend_end(1, &loan, m.queue, s);
  return s || queue ? s : dev->ops->wait(m.queue);
}
