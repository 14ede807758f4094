/* SPDX-License-Identifier: BSD-3-Clause */
/* The operator and its transpose on arrays, and steps in time. */
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/array.h"
#include "core/parallel.h"
#include "stencil/plan.h"

static kugel_status check_array(const kugel_stencil *p, const kugel_array *a, const char *name, int levels,
                                int fields, int64_t *lead)
{
  const int extra = levels > 1;
  int64_t shape[5] = {levels};
  shape[extra] = fields;
  memcpy(shape + extra + 1, p->n + 3 - p->ndim, sizeof *shape * (size_t)p->ndim);
  KUGEL_CHECK(a, KUGEL_EINVAL, "%s is NULL: pass an array", name);
  return kugel__array_check(a, name, p->single ? KUGEL_F32 : KUGEL_F64, extra + 1 + p->ndim, shape, lead);
}

static kugel_status each(const kugel_stencil *p, const kugel__stencil_side *side, int64_t count,
                         const char *in, char *out)
{
  const int64_t bytes = p->nodes * (p->single ? 4 : 8);
  for (int64_t i = 0; i < count; i++) {
    kugel__span span = kugel__progress_enter((double)i / (double)count, (double)(i + 1) / (double)count);
    kugel__progress_stage(0, 1, "stencil");
    kugel__stencil_use use = {
        .in = in + i * side->sources * bytes, .out = out + i * side->targets * bytes, .a = 1};
    kugel_status s = kugel__stencil_run(p, side, &use);
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
  KUGEL_CHECK(!queue, KUGEL_EINVAL, "queue is not NULL: this plan is on the CPU");
  const kugel__stencil_side *side = &p->side[transposed];
  int64_t count = -1;
  KUGEL_TRY(check_array(p, in, "in", 1, side->sources, &count));
  KUGEL_TRY(check_array(p, out, "out", 1, side->targets, &count));
  KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status s = each(p, side, count, kugel__array_data(in), kugel__array_data(out));
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

/* u_{k+1} takes the place of u_{k-1}, node by node. */
static kugel_status leap(const kugel_stencil *p, double dt, int steps, void *before, void *now)
{
  if (steps > 1)
    return kugel__stencil_leap(p, dt, steps, before, now);
  kugel__stencil_use use = {.in = now, .out = before, .a = dt * dt, .b = 2, .p = now, .c = -1, .q = before};
  return kugel__stencil_run(p, &p->side[0], &use);
}

/* Of a linear operator that does not change with time the four stages nest:
 * u + dt L (u + dt/2 L (u + dt/3 L (u + dt/4 L u))). The last stage may write u, which L does not read there. */
static kugel_status runge_kutta(const kugel_stencil *p, double dt, char *u, char *room, int64_t bytes)
{
  const void *from = u;
  for (int stage = 4; stage >= 1; stage--) {
    char *to = stage == 1 ? u : room + stage % 2 * bytes;
    kugel__stencil_use use = {.in = from, .out = to, .a = dt / stage, .b = 1, .p = u};
    KUGEL_TRY(kugel__stencil_run(p, &p->side[0], &use));
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

static kugel_status advance(const kugel_stencil *p, kugel_stencil_method method, double dt, int64_t steps,
                            char *state, char *room)
{
  const int64_t bytes = p->side[0].targets * p->nodes * (p->single ? 4 : 8);
  char *before = state, *now = state + bytes;
  const int most = method == KUGEL_STENCIL_LEAPFROG ? kugel__stencil_leaps(p) : 1;
  for (int64_t k = 0, some; k < steps; k += some) {
    some = kugel__min(most, steps - k);
    kugel__progress_stage((double)k / (double)steps, (double)(k + some) / (double)steps, "stencil");
    if (method == KUGEL_STENCIL_RUNGE_KUTTA) {
      KUGEL_TRY(runge_kutta(p, dt, state, room, bytes));
      continue;
    }
    KUGEL_TRY(leap(p, dt, (int)some, before, now));
    if (some % 2) {
      char *next = before;
      before = now;
      now = next;
    }
  }
  if (now == state)
    exchange(before, now, bytes);
  return KUGEL_OK;
}

kugel_status kugel_stencil_advance(const kugel_stencil *p, kugel_stencil_method method, double dt,
                                   int64_t steps, const kugel_array *state, kugel_queue *queue)
{
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_stencil_create");
  KUGEL_CHECK(!queue, KUGEL_EINVAL, "queue is not NULL: this plan is on the CPU");
  KUGEL_CHECK(method == KUGEL_STENCIL_LEAPFROG || method == KUGEL_STENCIL_RUNGE_KUTTA, KUGEL_EINVAL,
              "method is %d, must be KUGEL_STENCIL_LEAPFROG (0) or KUGEL_STENCIL_RUNGE_KUTTA (1)",
              (int)method);
  const double most = p->single ? 1e19 : 1e150; // the square is a number
  KUGEL_CHECK(fabs(dt) <= most, KUGEL_EINVAL, "dt is %g, must be -%g to %g", dt, most, most);
  KUGEL_CHECK(steps >= 0, KUGEL_EINVAL, "steps is %lld, must be at least 0", (long long)steps);
  KUGEL_CHECK(p->side[0].sources == p->side[0].targets, KUGEL_EINVAL,
              "this plan has %d fields and %d outs: steps in time need as many outs as fields",
              p->side[0].sources, p->side[0].targets);
  const bool leapfrog = method == KUGEL_STENCIL_LEAPFROG;
  int64_t one = 1;
  KUGEL_TRY(check_array(p, state, "state", leapfrog ? 2 : 1, p->side[0].sources, &one));
  char *room = NULL;
  if (!leapfrog && steps) {
    const size_t bytes = 2 * (size_t)(p->side[0].targets * p->nodes) * (p->single ? 4 : 8);
    room = kugel__scratch_get(p->ctx, bytes);
    KUGEL_CHECK(room, KUGEL_ENOMEM, "no memory for two states of %zu bytes in all", bytes);
  }
  kugel__span span = kugel__progress_enter(0, 1);
  kugel_status s = advance(p, method, dt, steps, kugel__array_data(state), room);
  kugel__progress_leave(span);
  kugel__scratch_put(p->ctx, room);
  return s;
}
