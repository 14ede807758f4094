/* SPDX-License-Identifier: BSD-3-Clause */
/* Alternating directions on devices: explicit halves are sums of terms, implicit ones banded solves. Matrices are made on the host, once per
 * call. */
#include "core/alloc.h"
#include "core/parallel.h"
#include "stencil/adi.h"
#include "stencil/gpu.h"

typedef kugel__stencil_level level;

typedef struct adi {
  kugel__stencil_adi host;
  kugel__stencil_gpu_side side[3];
  char *coefficients;
} adi;

/* The plan's coefficients, which are on the device, for matrices. */
static kugel_status fetch_coefficients(const kugel__stencil_gpu_march *m, adi *a)
{
  const kugel_stencil *p = m->p;
  int last = -1;
  for (int t = 0; t < p->nterms; t++) {
    const int k = kugel__march_coefficient(p, p->side[0].parts[t].coefficient);
    last = k > last ? k : last;
  }
  if (last < 0)
    return KUGEL_OK;
  const size_t bytes = (size_t)(last + 1) * (size_t)p->nodes * (p->single ? 4 : 8);
  a->coefficients = kugel__scratch_get(p->ctx, bytes);
  KUGEL_CHECK(a->coefficients, KUGEL_ENOMEM, "no memory for coefficients of %zu bytes", bytes);
  a->host.coefficients = a->coefficients;
  return kugel__device_copy(p->gpu->dev, KUGEL__DOWNLOAD, (kugel__mem){a->coefficients, 0},
                            (kugel__mem){p->gpu->coefficients, 0}, bytes, NULL);
}

static kugel_status make(const kugel__stencil_gpu_march *m, adi *a)
{
  const kugel_stencil *p = m->p;
  a->host = (kugel__stencil_adi){.p = p, .transposed = m->transposed, .turned = true};
  KUGEL_TRY(fetch_coefficients(m, a));
  KUGEL_TRY(kugel__stencil_adi_make(&a->host, m->dt));
  for (int d = 3 - p->ndim; d < 3; d++) {
    KUGEL_TRY(kugel__stencil_gpu_side_make(p, &a->host.side[d], &a->side[d]));
    for (int f = 0; f < p->side[0].targets; f++)
      if (a->host.solver[d][f])
        KUGEL_TRY(kugel__stencil_gpu_solver_make(p, a->host.solver[d][f]));
  }
  return KUGEL_OK;
}

static void clear(adi *a)
{
  for (int d = 0; d < 3; d++)
    kugel__stencil_gpu_side_free(a->host.p, &a->side[d]);
  kugel__stencil_adi_clear(&a->host);
  kugel__scratch_put(a->host.p->ctx, a->coefficients);
}

/* A step leaves the state at from; `room` are two fields. */
static kugel_status one_step(const kugel__stencil_gpu_march *m, const adi *a, level *from, level *to,
                             const level *room)
{
  const kugel_stencil *p = m->p;
  for (int i = 0; i < a->host.count; i++) {
    const int axis = a->host.moves[i].axis;
    for (int f = 0; f < p->side[0].targets && a->host.moves[i].implicit; f++) {
      const level field = {from->mem, from->at + f * p->nodes};
      if (a->host.solver[axis][f])
        KUGEL_TRY(kugel__stencil_gpu_solve(p, a->host.solver[axis][f], axis, &field, room, m->queue));
    }
    if (a->host.moves[i].implicit)
      continue;
    const kugel__stencil_gpu_use use = {.in = *from, .out = *to, .a = 1, .b = 1, .p = *from};
    KUGEL_TRY(kugel__stencil_gpu_sum(p, &a->side[axis], &use, 1, m->queue));
    const level next = *from;
    *from = *to;
    *to = next;
  }
  return KUGEL_OK;
}

static kugel_status run(const kugel__stencil_gpu_march *m, const adi *a, const level *state,
                        const level *room)
{
  level from = *state, to = room[0];
  for (int64_t k = 0; k < m->steps; k++) {
    KUGEL_TRY(kugel__progress_step((double)k / (double)m->steps));
    KUGEL_TRY(one_step(m, a, &from, &to, &room[1]));
  }
  if (from.mem.base == state->mem.base && from.at == state->at)
    return KUGEL_OK;
  const size_t word = m->p->single ? 4 : 8;
  const kugel__mem src = {from.mem.base, from.mem.offset + (size_t)from.at * word},
                   dst = {state->mem.base, state->mem.offset + (size_t)state->at * word};
  return kugel__device_copy(m->p->gpu->dev, KUGEL__WITHIN, dst, src, (size_t)m->size * word, m->queue);
}

kugel_status kugel__stencil_gpu_adi(const kugel__stencil_gpu_march *m, kugel__stencil_level state)
{
  struct kugel__stencil_gpu *g = m->p->gpu;
  const size_t word = m->p->single ? 4 : 8, whole = (size_t)kugel__round_up(m->size * (int64_t)word, 512),
               field = (size_t)kugel__round_up(m->p->nodes * (int64_t)word, 512);
  kugel__gpu_hold hold = {NULL, NULL};
  adi a = {.host = {.p = m->p}};
  kugel_status s = make(m, &a);
  if (!s)
    s = kugel__gpu_work_take(g->dev, &g->work, whole + 2 * field, m->queue, &hold);
  if (!s) {
    const level room[3] = {{{hold.memory, 0}, 0},
                           {{hold.memory, 0}, (int64_t)(whole / word)},
                           {{hold.memory, 0}, (int64_t)((whole + field) / word)}};
    s = run(m, &a, &state, room);
    kugel__gpu_work_give(g->dev, &hold);
  }
  const kugel_status done = g->dev->ops->wait(m->queue); // what the queue uses is freed below
  clear(&a);
  return s ? s : done;
}
