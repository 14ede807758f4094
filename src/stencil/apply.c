/* SPDX-License-Identifier: BSD-3-Clause */
/* The operator and its transpose on arrays, and steps in time. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "stencil/gpu.h"

static kugel_status check_array(const kugel_stencil *p, const kugel_array *a, const char *name, int levels,
                                int fields, int64_t *lead)
{
  const int extra = levels > 1;
  int64_t shape[5] = {levels};
  shape[extra] = fields;
  memcpy(shape + extra + 1, p->n + 3 - p->ndim, sizeof *shape * (size_t)p->ndim);
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  return kugel__array_check_on(&p->ctx->device, a, name, p->single ? KUGEL_F32 : KUGEL_F64,
                               extra + 1 + p->ndim, shape, lead);
}

static kugel_status operate(const kugel_stencil *p, bool transposed, const kugel__stencil_use *use)
{
  return p->compact ? kugel__stencil_compact_run(p, transposed, use)
                    : kugel__stencil_run(p, &p->side[transposed], use);
}

static kugel_status each(const kugel_stencil *p, bool transposed, int64_t count, const char *in, char *out)
{
  const kugel__stencil_side *side = &p->side[transposed];
  const int64_t bytes = p->nodes * (p->single ? 4 : 8);
  for (int64_t i = 0; i < count; i++) {
    kugel__span span = kugel__progress_enter((double)i / (double)count, (double)(i + 1) / (double)count);
    if (!p->compact)
      kugel__progress_stage(0, 1, "stencil");
    kugel__stencil_use use = {
        .in = in + i * side->sources * bytes, .out = out + i * side->targets * bytes, .a = 1};
    kugel_status s = operate(p, transposed, &use);
    kugel__progress_leave(span);
    if (s)
      return s;
  }
  return KUGEL_OK;
}

static kugel_status apply(const kugel_stencil *p, bool transposed, const kugel_array *in,
                          const kugel_array *out, kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_stencil_create");
  KUGEL_CHECK(!queue || p->gpu, KUGEL_EINVAL, "queue is not NULL: this plan is on the CPU");
  const kugel__stencil_side *side = &p->side[transposed];
  int64_t count = -1;
  KUGEL_TRY(check_array(p, in, "in", 1, side->sources, &count));
  KUGEL_TRY(check_array(p, out, "out", 1, side->targets, &count));
  KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status s = p->gpu ? kugel__stencil_gpu_apply(p, transposed, count, in, out, queue)
                          : each(p, transposed, count, kugel__array_data(in), kugel__array_data(out));
  kugel__progress_leave(span);
  return s;
}

kugel_status kugel_stencil_apply(const kugel_stencil *plan, const kugel_array *in, const kugel_array *out,
                                 kugel_queue *queue)
{
  return apply(plan, false, in, out, queue);
}

kugel_status kugel_stencil_adjoint(const kugel_stencil *plan, const kugel_array *in, const kugel_array *out,
                                   kugel_queue *queue)
{
  return apply(plan, true, in, out, queue);
}

/* ---- steps in time ---- */

typedef struct march {
  const kugel_stencil *p;
  bool transposed;
  kugel_stencil_method method;
  double dt;
  int64_t bytes; /* of a level */
} march;

/* u_{k+1} takes the place of u_{k-1}, node by node. */
static kugel_status leap(const march *m, int steps, void *before, void *now)
{
  if (steps > 1)
    return kugel__stencil_leap(m->p, m->transposed, m->dt, steps, before, now);
  kugel__stencil_use use = {
      .in = now, .out = before, .a = m->dt * m->dt, .b = 2, .p = now, .c = -1, .q = before};
  return operate(m->p, m->transposed, &use);
}

/* Of a linear operator that does not change with time the four stages nest:
 * u + dt L (u + dt/2 L (u + dt/3 L (u + dt/4 L u))). The last stage may write u, which L does not read there. */
static kugel_status runge_kutta(const march *m, char *u, char *room)
{
  const void *from = u;
  for (int stage = 4; stage >= 1; stage--) {
    char *to = stage == 1 ? u : room + stage % 2 * m->bytes;
    kugel__stencil_use use = {.in = from, .out = to, .a = m->dt / stage, .b = 1, .p = u};
    KUGEL_TRY(operate(m->p, m->transposed, &use));
    from = to;
  }
  return KUGEL_OK;
}

static void exchange(char *a, char *b, int64_t bytes)
{
  char part[4096];
  for (int64_t i = 0; i < bytes; i += (int64_t)sizeof part) {
    const size_t size = (size_t)kugel__min(bytes - i, (int64_t)sizeof part);
    memcpy(part, a + i, size);
    memcpy(a + i, b + i, size);
    memcpy(b + i, part, size);
  }
}

static void negate(const march *m, char *level)
{
  const int64_t count = m->bytes / (m->p->single ? 4 : 8);
  for (int64_t i = 0; i < count; i++)
    if (m->p->single)
      ((float *)(void *)level)[i] *= -1;
    else
      ((double *)(void *)level)[i] *= -1;
}

static kugel_status advance(const march *m, int64_t steps, char *state, char *room)
{
  if (m->method == KUGEL_STENCIL_ADI)
    return kugel__stencil_adi_run(m->p, m->transposed, m->dt, steps, state);
  char *before = state, *now = state + m->bytes;
  const bool leapfrog = m->method == KUGEL_STENCIL_LEAPFROG, turned = leapfrog && m->transposed;
  const int most = leapfrog ? kugel__stencil_leaps(m->p, m->transposed) : 1;
  if (turned) // the transpose of (a, b) -> (b, 2 b - a + dt^2 L b) is leapfrog of (-a, b) with L^T
    negate(m, before);
  for (int64_t k = 0, some; k < steps; k += some) {
    some = kugel__min(most, steps - k);
    const kugel__span span =
        kugel__progress_enter((double)k / (double)steps, (double)(k + some) / (double)steps);
    if (!m->p->compact)
      kugel__progress_stage(0, 1, "stencil");
    kugel_status s = leapfrog ? leap(m, (int)some, before, now) : runge_kutta(m, state, room);
    kugel__progress_leave(span);
    if (s)
      return s;
    if (leapfrog && some % 2) {
      char *next = before;
      before = now;
      now = next;
    }
  }
  if (now == state)
    exchange(before, now, m->bytes);
  if (turned)
    negate(m, state);
  return KUGEL_OK;
}

static kugel_status check_steps(const march *m, int64_t steps, const kugel_array *state, kugel_queue *queue)
{
  const kugel_stencil *p = m->p;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_stencil_create");
  KUGEL_CHECK(!queue || p->gpu, KUGEL_EINVAL, "queue is not NULL: this plan is on the CPU");
  KUGEL_CHECK((int)m->method >= 0 && m->method <= KUGEL_STENCIL_ADI, KUGEL_EINVAL,
              "method is %d, must be KUGEL_STENCIL_LEAPFROG (0), KUGEL_STENCIL_RUNGE_KUTTA (1) or "
              "KUGEL_STENCIL_ADI (2)",
              (int)m->method);
  const double most = p->single ? 1e19 : 1e150; // the square is a number
  KUGEL_CHECK(fabs(m->dt) <= most, KUGEL_EINVAL, "dt is %g, must be -%g to %g", m->dt, most, most);
  KUGEL_CHECK(steps >= 0, KUGEL_EINVAL, "steps is %lld, must be at least 0", (long long)steps);
  KUGEL_CHECK(p->side[0].sources == p->side[0].targets, KUGEL_EINVAL,
              "this plan has %d fields and %d outs: steps in time need as many outs as fields",
              p->side[0].sources, p->side[0].targets);
  if (m->method == KUGEL_STENCIL_ADI)
    KUGEL_TRY(kugel__stencil_adi_check(p));
  int64_t one = 1;
  return check_array(p, state, "state", m->method == KUGEL_STENCIL_LEAPFROG ? 2 : 1, p->side[0].sources,
                     &one);
}

static kugel_status march_on(march m, int64_t steps, const kugel_array *state, kugel_queue *queue)
{
  KUGEL_TRY(check_steps(&m, steps, state, queue));
  if (m.p->gpu) {
    const kugel__span whole = kugel__progress_enter(0, 1);
    kugel_status done = kugel__stencil_gpu_advance(m.p, m.transposed, m.method, m.dt, steps, state, queue);
    kugel__progress_leave(whole);
    return done;
  }
  m.bytes = m.p->side[0].targets * m.p->nodes * (m.p->single ? 4 : 8);
  char *room = NULL;
  if (m.method == KUGEL_STENCIL_RUNGE_KUTTA && steps) {
    room = kugel__scratch_get(m.p->ctx, 2 * (size_t)m.bytes);
    KUGEL_CHECK(room, KUGEL_ENOMEM, "no memory for two states of %zu bytes in all", 2 * (size_t)m.bytes);
  }
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status s = advance(&m, steps, kugel__array_data(state), room);
  kugel__progress_leave(span);
  kugel__scratch_put(m.p->ctx, room);
  return s;
}

kugel_status kugel_stencil_advance(const kugel_stencil *p, kugel_stencil_method method, double dt,
                                   int64_t steps, const kugel_array *state, kugel_queue *queue)
{
  return march_on((march){.p = p, .method = method, .dt = dt}, steps, state, queue);
}

kugel_status kugel_stencil_advance_adjoint(const kugel_stencil *p, kugel_stencil_method method, double dt,
                                           int64_t steps, const kugel_array *state, kugel_queue *queue)
{
  return march_on((march){.p = p, .transposed = true, .method = method, .dt = dt}, steps, state, queue);
}
