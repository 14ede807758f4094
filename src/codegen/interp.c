/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include "codegen/interp.h"
#include "core/alloc.h"

typedef union slot {
  int64_t i;
  double d;
} slot;

typedef struct machine {
  const kugel__gen *g;
  const kugel__argument *arguments;
  slot *vars;
} machine;

static slot value(const machine *m, kugel__val a)
{
  if (a.kind == KUGEL__NUMBER)
    return a.type == KUGEL__I64 ? (slot){.i = a.i} : (slot){.d = dd_value(a.d)};
  return m->vars[a.var];
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
  case KUGEL__FMA:
    return fma(a, b, c);
  case KUGEL__FMS:
    return fma(a, b, -c);
  default:
    return fma(-a, b, c);
  }
}

static kugel_status memory(machine *m, const kugel__ins *ins)
{
  const kugel__var *pointer = &m->g->vars[ins->a[0].var];
  const kugel__argument *arg = &m->arguments[pointer->parameter];
  int64_t at = value(m, ins->a[1]).i;
  KUGEL_CHECK(at >= 0 && at < arg->size, KUGEL_EINTERNAL, "%s: %s[%lld] is outside 0 to %lld", m->g->name,
              pointer->hint, (long long)at, (long long)arg->size - 1);
  if (ins->op == KUGEL__STORE) {
    arg->data[at] = value(m, ins->a[2]).d;
    return KUGEL_OK;
  }
  KUGEL_CHECK(!isnan(arg->data[at]), KUGEL_EINTERNAL, "%s reads %s[%lld] before it is written", m->g->name,
              pointer->hint, (long long)at);
  m->vars[ins->dst].d = arg->data[at];
  return KUGEL_OK;
}

static int64_t end_of(const kugel__gen *g, int64_t at) // of the loop at `at`
{
  for (int depth = 0;; at++) {
    depth += g->code[at].op == KUGEL__FOR;
    depth -= g->code[at].op == KUGEL__END;
    if (depth == 0)
      return at;
  }
}

static kugel_status run(machine *m, int64_t from, int64_t to)
{
  for (int64_t at = from; at < to; at++) {
    const kugel__ins *ins = &m->g->code[at];
    if (!ins->live || ins->op == KUGEL__NOTE)
      continue;
    if (ins->op == KUGEL__LOAD || ins->op == KUGEL__STORE) {
      KUGEL_TRY(memory(m, ins));
    } else if (ins->op == KUGEL__FOR) {
      int64_t end = end_of(m->g, at), last = value(m, ins->a[1]).i;
      for (int64_t i = value(m, ins->a[0]).i; i < last; i++) {
        m->vars[ins->dst].i = i;
        KUGEL_TRY(run(m, at + 1, end));
      }
      at = end;
    } else {
      slot a = value(m, ins->a[0]), b = value(m, ins->a[1]), c = value(m, ins->a[2]);
      if (m->g->vars[ins->dst].type == KUGEL__I64)
        m->vars[ins->dst].i = int_op((kugel__op)ins->op, a.i, b.i, c.i);
      else
        m->vars[ins->dst].d = real_op((kugel__op)ins->op, a.d, b.d, c.d);
    }
  }
  return KUGEL_OK;
}

kugel_status kugel__gen_run(kugel__gen *g, const kugel__argument *arguments, int64_t symbol)
{
  KUGEL_TRY(kugel__gen_finish(g));
  machine m = {.g = g, .arguments = arguments};
  KUGEL_ALLOC(g->ctx, m.vars, (size_t)(g->nvars + 1) * sizeof *m.vars);
  for (int64_t v = 0; v < g->nvars; v++) {
    const kugel__var *var = &g->vars[v];
    if (var->parameter < 0)
      m.vars[v].i = symbol;
    else if (var->type == KUGEL__I64)
      m.vars[v].i = arguments[var->parameter].i;
    else
      m.vars[v].d = arguments[var->parameter].d;
  }
  kugel_status s = run(&m, 0, g->n);
  kugel__free(g->ctx, m.vars);
  return s;
}
