/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators as sums of ladder steps between components, row by row. With A, B of ball.h and D+ = f' - l f / r, D- = f' + (l + 1) f / r:
 *   grad s = (A D- s, -B D+ s, 0)                 div (a, b, c) = A D+ a - B D- b
 *   curl (a, b, c) = (-B D- c, -A D+ c, B D+ a + A D- b)
 *   potentials (t, p): (a, b, c) = ((l + 1) A D- p, l B D+ p, -sqrt(l (l + 1)) t) */
#include <math.h>
#include <string.h>
#include "ball/gpu.h"
#include "ball/operators.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"

/* Weights: sign, p, q, r of operators.h. */
#define ONE                1, 0, 0, 0
#define A                  1, 1, 0, -1
#define B                  1, 0, 1, -1
#define MINUS_A            -1, 1, 0, -1
#define MINUS_B            -1, 0, 1, -1
#define A_TIMES_L1         1, 1, 2, -1
#define B_TIMES_L          1, 2, 1, -1
#define A_BY_LL            1, -1, -2, -1
#define MINUS_B_BY_LL      -1, -2, -1, -1
#define MINUS_ROOT         -1, 1, 1, 0
#define MINUS_INVERSE_ROOT -1, -1, -1, 0
#define STEP(out, in, shift, ladder, first, ...)                                                             \
  {                                                                                                          \
    out, in, shift, KUGEL__LADDER_##ladder, first, __VA_ARGS__, 0                                            \
  }

static const kugel__ball_op operators[] = {
    [KUGEL_BALL_GRAD] = {1, 3, 2, {STEP(0, 0, 0, LOWER, 1, A), STEP(1, 0, 0, RAISE, 0, MINUS_B)}},
    [KUGEL_BALL_DIV] = {3, 1, 2, {STEP(0, 0, -1, RAISE, 1, A), STEP(0, 1, 1, LOWER, 0, MINUS_B)}},
    [KUGEL_BALL_CURL] = {3,
                         3,
                         4,
                         {STEP(0, 2, 0, LOWER, 1, MINUS_B), STEP(1, 2, 0, RAISE, 1, MINUS_A),
                          STEP(2, 0, -1, RAISE, 1, B), STEP(2, 1, 1, LOWER, 1, A)}},
    [KUGEL_BALL_LAPLACIAN] = {1, 1, 1, {STEP(0, 0, 0, LAPLACIAN, 0, ONE)}},
    [KUGEL_BALL_VECTOR_LAPLACIAN] = {3,
                                     3,
                                     3,
                                     {STEP(0, 0, -1, LAPLACIAN, 1, ONE), STEP(1, 1, 1, LAPLACIAN, 0, ONE),
                                      STEP(2, 2, 0, LAPLACIAN, 1, ONE)}},
    [KUGEL_BALL_FROM_POTENTIALS] = {2,
                                    3,
                                    3,
                                    {STEP(0, 1, 0, LOWER, 1, A_TIMES_L1), STEP(1, 1, 0, RAISE, 1, B_TIMES_L),
                                     STEP(2, 0, 0, SAME, 1, MINUS_ROOT)}},
    [KUGEL_BALL_TO_POTENTIALS] = {3,
                                  2,
                                  3,
                                  {STEP(0, 2, 0, SAME, 1, MINUS_INVERSE_ROOT), STEP(1, 0, -1, UP, 1, A_BY_LL),
                                   STEP(1, 1, 1, DOWN, 1, MINUS_B_BY_LL)}},
};

static double power(double x, int e)
{
  double y = e == 2 || e == -2 ? x * x : x;
  return !e ? 1 : e < 0 ? 1 / y : y;
}

static double weight_of(const kugel__ball_step *t, int64_t degree)
{
  double l = (double)degree;
  return t->sign * sqrt(power(l, t->p) * power(l + 1, t->q) * power(2 * l + 1, t->r));
}

typedef struct call {
  const kugel_ball *p;
  const kugel__ball_op *op;
  bool transposed;
  const char *in;
  char *out, *work;
} call;

static void load(const kugel_ball *p, const char *from, int64_t n, double *to)
{
  if (!p->single)
    memcpy(to, from, (size_t)n * 16);
  for (int64_t i = 0; p->single && i < 2 * n; i++)
    to[i] = (double)((const float *)(const void *)from)[i];
}

static void store(const kugel_ball *p, const double *from, int64_t n, char *to)
{
  size_t pair = 2 * p->word;
  if (!p->single)
    memcpy(to, from, (size_t)n * 16);
  for (int64_t i = 0; p->single && i < 2 * n; i++)
    ((float *)(void *)to)[i] = (float)from[i];
  memset(to + (size_t)n * pair, 0, (size_t)(p->n - n) * pair);
}

/* Work of a thread, in numbers for each term of a row: tables of an operator's steps, components in and out, room of a ladder. */
enum { TABLES = KUGEL__BALL_STEPS * KUGEL__LADDER_TABLE, WORK = TABLES + 6 + 6 + 4 };

static void one_row(const call *c, int64_t l, int64_t at, double *work)
{
  const kugel_ball *p = c->p;
  const kugel__ball_op *op = c->op;
  int64_t n = p->nl[l];
  int ins = c->transposed ? op->out : op->in, outs = c->transposed ? op->in : op->out;
  double *in = work + TABLES * n, *out = in + 6 * n, *room = out + 6 * n;
  for (int i = 0; i < ins; i++)
    load(p, c->in + (size_t)((i * p->nlm + at) * p->n) * 2 * p->word, n, in + 2 * i * n);
  memset(out, 0, (size_t)(6 * n) * 8);
  for (int i = 0; i < op->steps; i++) {
    const kugel__ball_step *t = &op->step[i];
    if (l >= t->first)
      kugel__ladder_add((kugel__ladder)t->ladder, c->transposed, p->shift, n,
                        work + i * KUGEL__LADDER_TABLE * n, weight_of(t, l),
                        in + 2 * (c->transposed ? t->out : t->in) * n,
                        out + 2 * (c->transposed ? t->in : t->out) * n, room);
  }
  for (int i = 0; i < outs; i++)
    store(p, out + 2 * i * n, n, c->out + (size_t)((i * p->nlm + at) * p->n) * 2 * p->word);
}

static kugel_status one_degree(void *arg, int64_t l, int worker)
{
  const call *c = arg;
  const kugel_ball *p = c->p;
  double *work = (double *)(void *)c->work + (size_t)worker * (size_t)p->n * WORK;
  int64_t first = kugel__ball_row(p, l), rows = kugel__ball_row(p, l + 1) - first;
  for (int i = 0; i < c->op->steps; i++)
    if (l >= c->op->step[i].first)
      kugel__ladder_table((kugel__ladder)c->op->step[i].ladder, p->a, p->shift, l + c->op->step[i].shift,
                          p->nl[l], work + i * KUGEL__LADDER_TABLE * p->nl[l]);
  for (int64_t i = 0; i < rows; i++)
    one_row(c, l, first + i, work);
  return KUGEL_OK;
}

static kugel_status apply(const kugel_ball *p, kugel_ball_operator op, bool transposed, const kugel_array *in,
                          const kugel_array *out, kugel_queue *queue)
{
  int64_t batch, other;
  KUGEL_CHECK(p, KUGEL_EINVAL, "plan is NULL: make one with kugel_ball_create");
  KUGEL_CHECK((int)op >= 0 && op <= KUGEL_BALL_TO_POTENTIALS, KUGEL_EINVAL,
              "op is %d, must be KUGEL_BALL_GRAD (0) to KUGEL_BALL_TO_POTENTIALS (6)", (int)op);
  KUGEL_CHECK(!queue || p->gpu, KUGEL_EINVAL, "queue is not NULL: the plan runs on the CPU");
  call c = {.p = p, .op = &operators[op], .transposed = transposed};
  int ins = transposed ? c.op->out : c.op->in, outs = transposed ? c.op->in : c.op->out;
  KUGEL_TRY(kugel__ball_array(p, in, "in", ins, KUGEL__BALL_COEFFS, &batch));
  KUGEL_TRY(kugel__ball_array(p, out, "out", outs, KUGEL__BALL_COEFFS, &other));
  KUGEL_CHECK(batch == other, KUGEL_ESHAPE, "in has %lld fields and out %lld: give as many", (long long)batch,
              (long long)other);
  KUGEL_TRY(kugel__ball_apart(in, "in", out, "out"));
  if (in->device.type != KUGEL_CPU || out->device.type != KUGEL_CPU)
    return kugel__ball_gpu_apply(p, c.op, transposed, batch, in, out, queue);
  if (p->gpu)
    KUGEL_TRY(kugel__queue_join(kugel__ctx_device(p->ctx), queue));
  int workers = kugel__ctx_threads(p->ctx);
  size_t bytes = (size_t)workers * (size_t)p->n * WORK * sizeof(double),
         field = (size_t)(p->nlm * p->n) * 2 * p->word;
  c.work = kugel__scratch_get(p->ctx, bytes);
  KUGEL_CHECK(c.work, KUGEL_ENOMEM, "no memory for work spaces of %zu bytes", bytes);
  kugel_status s = KUGEL_OK;
  kugel__span outer = kugel__progress_enter(0, 1);
  for (int64_t i = 0; !s && i < batch; i++) {
    c.in = (const char *)kugel__array_data(in) + (size_t)(i * ins) * field;
    c.out = (char *)kugel__array_data(out) + (size_t)(i * outs) * field;
    kugel__progress_stage((double)i / (double)batch, (double)(i + 1) / (double)batch, "operator");
    s = kugel__parallel_on(p->ctx, workers, p->lmax + 1, one_degree, &c);
  }
  kugel__progress_leave(outer);
  kugel__scratch_put(p->ctx, c.work);
  return s;
}

kugel_status kugel_ball_apply(const kugel_ball *plan, kugel_ball_operator op, const kugel_array *in,
                              const kugel_array *out, kugel_queue *queue)
{
  return apply(plan, op, false, in, out, queue);
}

kugel_status kugel_ball_apply_adjoint(const kugel_ball *plan, kugel_ball_operator op, const kugel_array *in,
                                      const kugel_array *out, kugel_queue *queue)
{
  return apply(plan, op, true, in, out, queue);
}
