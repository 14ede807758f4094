/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>
#include "codegen/fold.h"
#include "codegen/machine.h"
#include "core/alloc.h"

static int64_t int_op(kugel__op op, int64_t a, int64_t b, int64_t c)
{
  switch (op) {
  case KUGEL__ADD:
    return a + b;
  case KUGEL__SUB:
    return a - b;
  case KUGEL__MUL:
    return a * b;
  case KUGEL__DIV:
    return b ? a / b : 0;
  case KUGEL__MOD:
    return b ? a % b : 0;
  case KUGEL__MIN:
    return a < b ? a : b;
  case KUGEL__NEG:
    return -a;
  case KUGEL__FMA:
    return a * b + c;
  case KUGEL__FMS:
    return a * b - c;
  default:
    return c - a * b;
  }
}

static double real_op(kugel__op op, double a, double b, double c)
{
  switch (op) {
  case KUGEL__ADD:
    return a + b;
  case KUGEL__SUB:
    return a - b;
  case KUGEL__MUL:
    return a * b;
  case KUGEL__DIV:
    return a / b;
  case KUGEL__NEG:
    return -a;
  case KUGEL__SQRT:
    return sqrt(a);
  case KUGEL__LOG:
    return log(a);
  case KUGEL__FMA:
    return fma(a, b, c);
  case KUGEL__FMS:
    return fma(a, b, -c);
  default:
    return fma(-a, b, c);
  }
}

static void arithmetic(kugel__machine *m, const kugel__ins *ins, int thread)
{
  kugel__slot a = kugel__machine_value(m, ins->a[0], thread), b = kugel__machine_value(m, ins->a[1], thread),
              c = kugel__machine_value(m, ins->a[2], thread);
  kugel__slot *x = &m->vars[ins->dst * m->threads + thread];
  if (ins->op == KUGEL__LOCAL_ID)
    x->i = thread % m->width;
  else if (ins->op == KUGEL__GROUP_ID)
    x->i = m->block + thread / m->width;
  else if (ins->op == KUGEL__PAIR_X || ins->op == KUGEL__PAIR_Y)
    x->dd[0] = a.dd[ins->op == KUGEL__PAIR_Y];
  else if (ins->op == KUGEL__NARROW || ins->op == KUGEL__WIDEN)
    x->i = a.i;
  else if (ins->op == KUGEL__SELECT)
    *x = a.i < b.i ? c : kugel__machine_value(m, ins->a[3], thread);
  else if (m->g->vars[ins->dst].type <= KUGEL__U32)
    x->i = int_op((kugel__op)ins->op, a.i, b.i, c.i);
  else if (m->g->vars[ins->dst].type == KUGEL__DD)
    x->dd[0] = kugel__fold_real((kugel__op)ins->op, a.dd[0], b.dd[0], c.dd[0]);
  else
    x->dd[0] = dd_from(real_op((kugel__op)ins->op, a.d, b.d, c.d));
}

static int64_t end_of(const kugel__gen *g, int64_t at) // of the block that opens at `at`
{
  for (int depth = 0;; at++) {
    depth += g->code[at].op == KUGEL__FOR || g->code[at].op == KUGEL__IF;
    depth -= g->code[at].op == KUGEL__END;
    if (depth == 0)
      return at;
  }
}

static kugel_status run(kugel__machine *m, int64_t from, int64_t to);

static kugel_status run_if(kugel__machine *m, int64_t at, int64_t end)
{
  const kugel__ins *ins = &m->g->code[at];
  bool *before;
  KUGEL_ALLOC(m->g->ctx, before, (size_t)m->threads);
  memcpy(before, m->active, (size_t)m->threads);
  for (int t = 0; t < m->threads; t++)
    m->active[t] =
        before[t] && kugel__machine_value(m, ins->a[0], t).i < kugel__machine_value(m, ins->a[1], t).i;
  kugel_status s = run(m, at + 1, end);
  memcpy(m->active, before, (size_t)m->threads);
  kugel__free(m->g->ctx, before);
  return s;
}

static kugel_status run_for(kugel__machine *m, int64_t at, int64_t end) // bounds are the same in all threads
{
  const kugel__ins *ins = &m->g->code[at];
  int64_t last = kugel__machine_value(m, ins->a[1], 0).i;
  for (int64_t i = kugel__machine_value(m, ins->a[0], 0).i; i < last; i++) {
    for (int t = 0; t < m->threads; t++)
      m->vars[ins->dst * m->threads + t].i = i;
    KUGEL_TRY(run(m, at + 1, end));
  }
  return KUGEL_OK;
}

static void barrier(kugel__machine *m, bool cluster)
{
  for (int64_t i = 0; i < m->shared_size * (m->threads / m->width); i++) {
    kugel__cell *c = &m->shared[i];
    c->writer = c->reader = c->readers = c->warp = 0;
    c->spread = false;
    c->own = c->own && !cluster;
    c->lent = c->lent && !cluster;
  }
}

/* What only one warp touched is its own until the next barrier. */
static void warp_sync(kugel__machine *m)
{
  for (int64_t i = 0; i < m->shared_size * (m->threads / m->width); i++) {
    kugel__cell *c = &m->shared[i];
    int by = c->writer ? c->writer : c->reader;
    if (!by || c->spread)
      continue;
    c->writer = c->reader = c->readers = 0;
    c->warp = kugel__machine_warp(m, by - 1) + 1;
  }
}

static bool sync(kugel__machine *m, const kugel__ins *ins)
{
  switch (ins->op) {
  case KUGEL__BARRIER:
  case KUGEL__CLUSTER_WAIT:
    barrier(m, ins->op == KUGEL__CLUSTER_WAIT);
    return true;
  case KUGEL__WARP_SYNC:
    warp_sync(m);
    return true;
  case KUGEL__ASYNC_COMMIT:
    m->copies++;
    return true;
  case KUGEL__ASYNC_WAIT:
    m->arrived = kugel__max(m->arrived, m->copies - 1 - ins->a[0].i);
    return true;
  default:
    return ins->op == KUGEL__CLUSTER_ARRIVE;
  }
}

static kugel_status run(kugel__machine *m, int64_t from, int64_t to)
{
  for (int64_t at = from; at < to; at++) {
    const kugel__ins *ins = &m->g->code[at];
    if (!ins->live || ins->op == KUGEL__NOTE)
      continue;
    if (ins->op == KUGEL__FOR || ins->op == KUGEL__IF) {
      int64_t end = end_of(m->g, at);
      KUGEL_TRY(ins->op == KUGEL__FOR ? run_for(m, at, end) : run_if(m, at, end));
      at = end;
      continue;
    }
    if (sync(m, ins))
      continue;
    bool far = ins->op == KUGEL__REMOTE || ins->op == KUGEL__REMOTE_PAIR;
    bool moves = ins->op == KUGEL__LOAD || ins->op == KUGEL__STORE || ins->op == KUGEL__STORE_PAIR ||
                 ins->op == KUGEL__STREAM_PAIR;
    bool pairs = ins->op == KUGEL__SHARED_PAIR || ins->op == KUGEL__PUT_SHARED_PAIR;
    bool shuffles = kugel__shuffles((kugel__op)ins->op);
    for (int t = 0; t < m->threads; t++)
      if (shuffles)
        KUGEL_TRY(kugel__machine_shuffle(m, ins, t));
      else if (m->active[t] && moves)
        KUGEL_TRY(kugel__machine_memory(m, ins, t));
      else if (m->active[t] && kugel__machine_copies(ins))
        KUGEL_TRY(kugel__machine_copy(m, ins, t));
      else if (m->active[t] && far)
        KUGEL_TRY(kugel__machine_remote(m, ins, t));
      else if (m->active[t] && pairs)
        KUGEL_TRY(kugel__machine_shared_pair(m, ins, t));
      else if (m->active[t])
        arithmetic(m, ins, t);
  }
  return KUGEL_OK;
}

static void start_block(kugel__machine *m, int64_t block)
{
  m->block = block;
  m->copies = 1;
  m->arrived = 0;
  for (int64_t i = 0; i < m->shared_size * (m->threads / m->width); i++)
    m->shared[i] = (kugel__cell){.value = {NAN, NAN}};
  for (int t = 0; t < m->threads; t++)
    m->active[t] = true;
  for (int64_t v = 0; v < m->g->nvars * m->threads; v++) {
    const kugel__var *var = &m->g->vars[v / m->threads];
    const kugel__argument *arg = var->parameter < 0 ? NULL : &m->arguments[var->parameter];
    if (!arg)
      m->vars[v].i = m->symbol;
    else if (var->type <= KUGEL__U32)
      m->vars[v].i = arg->i;
    else
      m->vars[v].dd[0] = dd_from(arg->d);
  }
}

kugel_status kugel__gen_run(kugel__gen *g, const kugel__argument *arguments, int64_t symbol, int64_t blocks)
{
  KUGEL_TRY(kugel__gen_finish(g));
  int together = kugel__max(g->cluster, 1), width = kugel__max(g->threads, 1);
  kugel__machine m = {
      .g = g, .arguments = arguments, .symbol = symbol, .width = width, .threads = width * together};
  for (int64_t v = 0; v < g->nvars; v++)
    m.shared_size = kugel__max(m.shared_size, g->vars[v].shared);
  m.vars = kugel__alloc(g->ctx, (size_t)(g->nvars + 1) * sizeof *m.vars * (size_t)m.threads);
  m.active = kugel__alloc(g->ctx, (size_t)m.threads);
  m.shared = kugel__alloc(g->ctx, (size_t)(m.shared_size * together) * sizeof *m.shared + 1);
  kugel_status s = KUGEL_OK;
  if (!m.vars || !m.active || !m.shared)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory to run %s with %d threads", g->name, m.threads);
  for (int64_t b = 0; b < blocks && !s; b += together) {
    start_block(&m, b);
    s = run(&m, 0, g->n);
  }
  kugel__free(g->ctx, m.vars);
  kugel__free(g->ctx, m.active);
  kugel__free(g->ctx, m.shared);
  return s;
}
