/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators as sums of ladder steps between components, row by row. With A, B of ball.h and D+ = f' - l f / r, D- = f' + (l + 1) f / r:
 *   grad s = (A D- s, -B D+ s, 0)                 div (a, b, c) = A D+ a - B D- b
 *   curl (a, b, c) = (-B D- c, -A D+ c, B D+ a + A D- b)
 *   potentials (t, p): (a, b, c) = ((l + 1) A D- p, l B D+ p, -sqrt(l (l + 1)) t) */
#include <math.h>
#include <string.h>
#include "ball/ball.h"
#include "ball/ladder.h"
#include "core/alloc.h"
#include "core/array.h"
#include "core/ctx.h"
#include "core/parallel.h"

typedef enum weight {
  ONE,
  A,
  MINUS_A,
  B,
  MINUS_B,
  A_TIMES_L1,
  B_TIMES_L,
  MINUS_ROOT,
  MINUS_INVERSE_ROOT,
  A_BY_LL,
  MINUS_B_BY_LL
} weight;

typedef struct term {
  int out, in, shift; /* components; degree of `in` less l */
  kugel__ladder ladder;
  weight weight;
} term;

typedef struct table {
  int in, out, terms;
  term term[4];
} table;

static const table operators[] = {
    [KUGEL_BALL_GRAD] = {1,
                         3,
                         2,
                         {{0, 0, 0, KUGEL__LADDER_LOWER, A}, {1, 0, 0, KUGEL__LADDER_RAISE, MINUS_B}}},
    [KUGEL_BALL_DIV] = {3,
                        1,
                        2,
                        {{0, 0, -1, KUGEL__LADDER_RAISE, A}, {0, 1, 1, KUGEL__LADDER_LOWER, MINUS_B}}},
    [KUGEL_BALL_CURL] = {3,
                         3,
                         4,
                         {{0, 2, 0, KUGEL__LADDER_LOWER, MINUS_B},
                          {1, 2, 0, KUGEL__LADDER_RAISE, MINUS_A},
                          {2, 0, -1, KUGEL__LADDER_RAISE, B},
                          {2, 1, 1, KUGEL__LADDER_LOWER, A}}},
    [KUGEL_BALL_LAPLACIAN] = {1, 1, 1, {{0, 0, 0, KUGEL__LADDER_LAPLACIAN, ONE}}},
    [KUGEL_BALL_VECTOR_LAPLACIAN] = {3,
                                     3,
                                     3,
                                     {{0, 0, -1, KUGEL__LADDER_LAPLACIAN, ONE},
                                      {1, 1, 1, KUGEL__LADDER_LAPLACIAN, ONE},
                                      {2, 2, 0, KUGEL__LADDER_LAPLACIAN, ONE}}},
    [KUGEL_BALL_FROM_POTENTIALS] = {2,
                                    3,
                                    3,
                                    {{0, 1, 0, KUGEL__LADDER_LOWER, A_TIMES_L1},
                                     {1, 1, 0, KUGEL__LADDER_RAISE, B_TIMES_L},
                                     {2, 0, 0, KUGEL__LADDER_SAME, MINUS_ROOT}}},
    [KUGEL_BALL_TO_POTENTIALS] = {3,
                                  2,
                                  3,
                                  {{0, 2, 0, KUGEL__LADDER_SAME, MINUS_INVERSE_ROOT},
                                   {1, 0, -1, KUGEL__LADDER_UP, A_BY_LL},
                                   {1, 1, 1, KUGEL__LADDER_DOWN, MINUS_B_BY_LL}}},
};

static double weight_of(weight w, int64_t degree)
{
  double l = (double)degree, a = sqrt(l / (2 * l + 1)), b = sqrt((l + 1) / (2 * l + 1)), ll = l * (l + 1);
  switch (w) {
  case A:
    return a;
  case MINUS_A:
    return -a;
  case B:
    return b;
  case MINUS_B:
    return -b;
  case A_TIMES_L1:
    return (l + 1) * a;
  case B_TIMES_L:
    return l * b;
  case MINUS_ROOT:
    return -sqrt(ll);
  case MINUS_INVERSE_ROOT:
    return -1 / sqrt(ll);
  case A_BY_LL:
    return a / ll;
  case MINUS_B_BY_LL:
    return -b / ll;
  default:
    return 1;
  }
}

/* Whether a term has anything at degree l: of l = 0, vectors have b alone, and potentials give nothing. */
static bool counts(const table *op, const term *t, int64_t l)
{
  bool missing_in = op->in == 3 && t->in != 1, missing_out = op->out == 3 && t->out != 1;
  return l > 0 || !(missing_in || missing_out || op->in == 2 || op->out == 2);
}

typedef struct call {
  const kugel_ball *p;
  const table *op;
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

/* Work of a thread, in numbers for each term of a row: tables of an operator's terms, components in and out, room of a ladder. */
enum { MOST_TERMS = 4, TABLES = MOST_TERMS * KUGEL__LADDER_TABLE, WORK = TABLES + 6 + 6 + 4 };

static void one_row(const call *c, int64_t l, int64_t at, double *work)
{
  const kugel_ball *p = c->p;
  const table *op = c->op;
  int64_t n = p->nl[l];
  int ins = c->transposed ? op->out : op->in, outs = c->transposed ? op->in : op->out;
  double *in = work + TABLES * n, *out = in + 6 * n, *room = out + 6 * n;
  for (int i = 0; i < ins; i++)
    load(p, c->in + (size_t)((i * p->nlm + at) * p->n) * 2 * p->word, n, in + 2 * i * n);
  memset(out, 0, (size_t)(6 * n) * 8);
  for (int i = 0; i < op->terms; i++) {
    const term *t = &op->term[i];
    if (counts(op, t, l))
      kugel__ladder_add(t->ladder, c->transposed, p->shift, n, work + i * KUGEL__LADDER_TABLE * n,
                        weight_of(t->weight, l), in + 2 * (c->transposed ? t->out : t->in) * n,
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
  for (int i = 0; i < c->op->terms; i++)
    if (counts(c->op, &c->op->term[i], l))
      kugel__ladder_table(c->op->term[i].ladder, p->a, p->shift, l + c->op->term[i].shift, p->nl[l],
                          work + i * KUGEL__LADDER_TABLE * p->nl[l]);
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
  KUGEL_CHECK(!queue, KUGEL_EINVAL, "queue is not NULL: operators run on the CPU");
  call c = {.p = p, .op = &operators[op], .transposed = transposed};
  int ins = transposed ? c.op->out : c.op->in, outs = transposed ? c.op->in : c.op->out;
  KUGEL_TRY(kugel__ball_array(p, in, "in", ins, false, &batch));
  KUGEL_TRY(kugel__ball_array(p, out, "out", outs, false, &other));
  KUGEL_CHECK(batch == other, KUGEL_ESHAPE, "in has %lld fields and out %lld: give as many", (long long)batch,
              (long long)other);
  KUGEL_TRY(kugel__array_disjoint(in, "in", out, "out"));
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
