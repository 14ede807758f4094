/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>
#include "codegen/fold.h"
#include "codegen/interp.h"
#include "core/alloc.h"

typedef union slot {
  int64_t i;
  double d;
  kugel__dd dd[2]; // a real, whose high part is d, or a pair
} slot;

/* An element of shared memory: its value and who touched it since the last barrier (thread + 1; 0: nobody).
 */
typedef struct cell {
  kugel__dd value;
  int writer, reader, readers; // readers: 2 stands for many
  int warp;                    // + 1, whose threads alone touched it before their last WARP_SYNC; 0: none
  int64_t group;               // of asynchronous copies that brings it; 0: it is there
  bool spread;                 // threads of several warps touched it since the last barrier
  bool own, lent;              // since the cluster's last barrier: written; read by another block
} cell;

typedef struct machine {
  const kugel__gen *g;
  const kugel__argument *arguments;
  int64_t symbol, block;
  int threads, width;      // of all blocks of a cluster, which run in step; of a block
  slot *vars;              // [nvars][threads]
  bool *active;            // [threads]: inside the IFs entered
  int64_t copies, arrived; // groups of asynchronous copies: the current one; those that are there
  cell *shared;            // [blocks of the cluster][shared_size]
  int64_t shared_size;
} machine;

static slot value(const machine *m, kugel__val a, int thread)
{
  if (a.kind == KUGEL__NUMBER)
    return a.type <= KUGEL__U32 ? (slot){.i = a.i} : (slot){.dd = {a.d}};
  return m->vars[a.var * m->threads + thread];
}

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

static int warp_of(const machine *m, int thread)
{
  return thread % m->width / 32;
}

static kugel_status check_touch(machine *m, const cell *c, bool reads, int64_t at, int thread)
{
  int me = thread + 1, warp = warp_of(m, thread) + 1;
  KUGEL_CHECK(!c->warp || c->warp == warp, KUGEL_EINTERNAL,
              "%s: thread %d touches shared element %lld of warp %d without a barrier", m->g->name, thread,
              (long long)at, c->warp - 1);
  KUGEL_CHECK(c->group <= m->arrived, KUGEL_EINTERNAL,
              "%s: thread %d touches shared element %lld while a copy is on its way", m->g->name, thread,
              (long long)at);
  KUGEL_CHECK(!reads || !c->writer || c->writer == me, KUGEL_EINTERNAL,
              "%s: threads %d and %d race for shared element %lld", m->g->name, c->writer - 1, thread,
              (long long)at);
  KUGEL_CHECK(!reads || !isnan(c->value.hi), KUGEL_EINTERNAL,
              "%s reads shared element %lld before it is written", m->g->name, (long long)at);
  return KUGEL_OK;
}

static bool copies(const kugel__ins *ins)
{
  return ins->op == KUGEL__COPY_ASYNC || ins->op == KUGEL__COPY_ASYNC_PAIR;
}

static kugel_status touch_shared(machine *m, const kugel__ins *ins, int64_t at, int thread, slot *result)
{
  cell *c = &m->shared[thread / m->width * m->shared_size + at];
  int me = thread + 1;
  bool reads = ins->op == KUGEL__LOAD || ins->op == KUGEL__SHARED_PAIR;
  KUGEL_TRY(check_touch(m, c, reads, at, thread));
  int before = c->writer ? c->writer : c->reader;
  c->spread |= before && warp_of(m, before - 1) != warp_of(m, thread);
  if (reads) {
    c->readers = c->readers && c->reader != me ? 2 : 1;
    c->reader = me;
    result->dd[0] = c->value;
    return KUGEL_OK;
  }
  kugel__dd x = ins->op != KUGEL__STORE ? result->dd[0] : value(m, ins->a[2], thread).dd[0];
  bool others = c->lent || c->readers > 1 || (c->readers && c->reader != me) ||
                (c->writer && c->writer != me && (c->value.hi != x.hi || c->value.lo != x.lo));
  KUGEL_CHECK(!others, KUGEL_EINTERNAL, "%s: thread %d overwrites shared element %lld in use", m->g->name,
              thread, (long long)at);
  c->value = x;
  c->writer = me;
  c->own = true;
  c->group = copies(ins) ? m->copies : 0;
  return KUGEL_OK;
}

/* Asynchronous copies: what they bring may be read after a wait. */
static kugel_status copy(machine *m, const kugel__ins *ins, int thread)
{
  const kugel__var *from = &m->g->vars[ins->a[2].var];
  const kugel__argument *arg = &m->arguments[from->parameter];
  int64_t i = value(m, ins->a[1], thread).i, j = value(m, ins->a[3], thread).i;
  int width = ins->op == KUGEL__COPY_ASYNC_PAIR ? 2 : 1, parts = from->type == KUGEL__DD ? 2 : 1;
  KUGEL_CHECK(i >= 0 && width * (i + 1) <= m->shared_size && j >= 0 && j < arg->size, KUGEL_EINTERNAL,
              "%s: a copy of %s[%lld] of %lld to shared element %lld of %lld", m->g->name, from->hint,
              (long long)j, (long long)arg->size, (long long)(width * i), (long long)m->shared_size);
  for (int k = 0; k < width; k++) {
    const double *x = arg->data + width * parts * j + k;
    KUGEL_CHECK(!isnan(*x), KUGEL_EINTERNAL, "%s reads %s[%lld] before it is written", m->g->name, from->hint,
                (long long)j);
    slot one = {.dd = {{x[0], parts == 2 ? x[1] : 0}}};
    KUGEL_TRY(touch_shared(m, ins, width * i + k, thread, &one));
  }
  return KUGEL_OK;
}

static kugel_status shuffle(machine *m, const kugel__ins *ins, int thread)
{
  int64_t by = value(m, ins->a[1], thread).i;
  int lane = thread % m->width % 32, start = ins->op == KUGEL__SHUFFLE ? 0 : lane;
  int from = start + (int)(ins->op == KUGEL__SHUFFLE_UP ? -by : by);
  int source = from < 0 || from > 31 ? thread : thread - lane + from;
  KUGEL_CHECK(source < m->threads && m->active[source] && m->active[thread], KUGEL_EINTERNAL,
              "%s: thread %d shuffles with thread %d, and not both are there", m->g->name, thread, source);
  m->vars[ins->dst * m->threads + thread] = value(m, ins->a[0], source);
  return KUGEL_OK;
}

static kugel_status memory(machine *m, const kugel__ins *ins, int thread)
{
  const kugel__var *pointer = &m->g->vars[ins->a[0].var];
  slot none, *result = ins->dst == UINT32_MAX ? &none : &m->vars[ins->dst * m->threads + thread];
  int64_t at = value(m, ins->a[1], thread).i;
  const kugel__argument *arg = pointer->shared ? NULL : &m->arguments[pointer->parameter];
  int64_t size = arg ? arg->size : m->shared_size;
  KUGEL_CHECK(at >= 0 && at < size, KUGEL_EINTERNAL, "%s: %s[%lld] is outside 0 to %lld", m->g->name,
              pointer->hint, (long long)at, (long long)size - 1);
  if (!arg)
    return touch_shared(m, ins, at, thread, result);
  int width = pointer->type >= KUGEL__C16 ? 2 : 1;
  bool dd = pointer->type == KUGEL__DD || pointer->type == KUGEL__CDD;
  double *x = arg->data + width * (dd ? 2 : 1) * at;
  for (int k = 0; k < width; k++)
    if (ins->op != KUGEL__LOAD) {
      kugel__dd v = value(m, ins->a[2 + k], thread).dd[0];
      x[k] = v.hi;
      if (dd)
        x[width + k] = v.lo;
    } else {
      KUGEL_CHECK(!isnan(x[k]), KUGEL_EINTERNAL, "%s reads %s[%lld] before it is written", m->g->name,
                  pointer->hint, (long long)at);
      if (pointer->type <= KUGEL__U32)
        result->i = (int64_t)x[k];
      else
        result->dd[k] = (kugel__dd){x[k], dd ? x[width + k] : 0};
    }
  return KUGEL_OK;
}

static kugel_status shared_pair(machine *m, const kugel__ins *ins, int thread)
{
  int64_t at = 2 * value(m, ins->a[1], thread).i;
  KUGEL_CHECK(at >= 0 && at + 1 < m->shared_size, KUGEL_EINTERNAL, "%s: shared pair %lld is outside %lld",
              m->g->name, (long long)at / 2, (long long)m->shared_size / 2);
  slot *pair = ins->dst == UINT32_MAX ? NULL : &m->vars[ins->dst * m->threads + thread];
  slot got = {.dd = {value(m, ins->a[2], thread).dd[0], value(m, ins->a[3], thread).dd[0]}};
  for (int k = 0; k < 2; k++) {
    slot one = {.dd = {got.dd[k]}};
    KUGEL_TRY(touch_shared(m, ins, at + k, thread, &one));
    if (pair)
      pair->dd[k] = one.dd[0];
  }
  return KUGEL_OK;
}

static kugel_status remote(machine *m, const kugel__ins *ins, int thread)
{
  int64_t block = value(m, ins->a[1], thread).i, i = value(m, ins->a[2], thread).i;
  int width = ins->op == KUGEL__REMOTE_PAIR ? 2 : 1;
  slot *to = &m->vars[ins->dst * m->threads + thread];
  for (int k = 0; k < width; k++) {
    int64_t at = width * i + k;
    KUGEL_CHECK(block >= 0 && block < m->threads / m->width && at >= 0 && at < m->shared_size,
                KUGEL_EINTERNAL, "%s: element %lld of block %lld of the cluster is outside", m->g->name,
                (long long)at, (long long)block);
    cell *c = &m->shared[block * m->shared_size + at];
    KUGEL_CHECK(!c->own && !isnan(c->value.hi), KUGEL_EINTERNAL,
                "%s: element %lld of block %lld is read before the cluster's barrier", m->g->name,
                (long long)at, (long long)block);
    c->lent = true;
    to->dd[k] = c->value;
  }
  return KUGEL_OK;
}

static void arithmetic(machine *m, const kugel__ins *ins, int thread)
{
  slot a = value(m, ins->a[0], thread), b = value(m, ins->a[1], thread), c = value(m, ins->a[2], thread);
  slot *x = &m->vars[ins->dst * m->threads + thread];
  if (ins->op == KUGEL__LOCAL_ID)
    x->i = thread % m->width;
  else if (ins->op == KUGEL__GROUP_ID)
    x->i = m->block + thread / m->width;
  else if (ins->op == KUGEL__PAIR_X || ins->op == KUGEL__PAIR_Y)
    x->dd[0] = a.dd[ins->op == KUGEL__PAIR_Y];
  else if (ins->op == KUGEL__NARROW || ins->op == KUGEL__WIDEN)
    x->i = a.i;
  else if (ins->op == KUGEL__SELECT)
    *x = a.i < b.i ? c : value(m, ins->a[3], thread);
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

static kugel_status run(machine *m, int64_t from, int64_t to);

static kugel_status run_if(machine *m, int64_t at, int64_t end)
{
  const kugel__ins *ins = &m->g->code[at];
  bool *before;
  KUGEL_ALLOC(m->g->ctx, before, (size_t)m->threads);
  memcpy(before, m->active, (size_t)m->threads);
  for (int t = 0; t < m->threads; t++)
    m->active[t] = before[t] && value(m, ins->a[0], t).i < value(m, ins->a[1], t).i;
  kugel_status s = run(m, at + 1, end);
  memcpy(m->active, before, (size_t)m->threads);
  kugel__free(m->g->ctx, before);
  return s;
}

static kugel_status run_for(machine *m, int64_t at, int64_t end) // bounds are the same in all threads
{
  const kugel__ins *ins = &m->g->code[at];
  int64_t last = value(m, ins->a[1], 0).i;
  for (int64_t i = value(m, ins->a[0], 0).i; i < last; i++) {
    for (int t = 0; t < m->threads; t++)
      m->vars[ins->dst * m->threads + t].i = i;
    KUGEL_TRY(run(m, at + 1, end));
  }
  return KUGEL_OK;
}

static void barrier(machine *m, bool cluster)
{
  for (int64_t i = 0; i < m->shared_size * (m->threads / m->width); i++) {
    cell *c = &m->shared[i];
    c->writer = c->reader = c->readers = c->warp = 0;
    c->spread = false;
    c->own = c->own && !cluster;
    c->lent = c->lent && !cluster;
  }
}

/* What only one warp touched is its own until the next barrier. */
static void warp_sync(machine *m)
{
  for (int64_t i = 0; i < m->shared_size * (m->threads / m->width); i++) {
    cell *c = &m->shared[i];
    int by = c->writer ? c->writer : c->reader;
    if (!by || c->spread)
      continue;
    c->writer = c->reader = c->readers = 0;
    c->warp = warp_of(m, by - 1) + 1;
  }
}

static bool sync(machine *m, const kugel__ins *ins)
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

static kugel_status run(machine *m, int64_t from, int64_t to)
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
        KUGEL_TRY(shuffle(m, ins, t));
      else if (m->active[t] && moves)
        KUGEL_TRY(memory(m, ins, t));
      else if (m->active[t] && copies(ins))
        KUGEL_TRY(copy(m, ins, t));
      else if (m->active[t] && far)
        KUGEL_TRY(remote(m, ins, t));
      else if (m->active[t] && pairs)
        KUGEL_TRY(shared_pair(m, ins, t));
      else if (m->active[t])
        arithmetic(m, ins, t);
  }
  return KUGEL_OK;
}

static void start_block(machine *m, int64_t block)
{
  m->block = block;
  m->copies = 1;
  m->arrived = 0;
  for (int64_t i = 0; i < m->shared_size * (m->threads / m->width); i++)
    m->shared[i] = (cell){.value = {NAN, NAN}};
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
  machine m = {.g = g, .arguments = arguments, .symbol = symbol, .width = width, .threads = width * together};
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
