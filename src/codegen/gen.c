/* SPDX-License-Identifier: BSD-3-Clause */
/* Building functions: storage, parameters, memory and loops. Arithmetic: codegen/fold.c. */
#include <stdio.h>
#include <string.h>
#include "codegen/fold.h"
#include "core/alloc.h"

void kugel__gen_init(kugel__gen *g, kugel_ctx *ctx, const char *name)
{
  *g = (kugel__gen){.ctx = ctx};
  snprintf(g->name, sizeof g->name, "%s", name);
}

void kugel__gen_free(kugel__gen *g)
{
  kugel__free(g->ctx, g->code);
  kugel__free(g->ctx, g->vars);
  g->code = NULL;
  g->vars = NULL;
}

// Room for one more element, or a sticky error.
static bool grow(kugel__gen *g, void **array, int64_t n, int64_t *cap, size_t size)
{
  if (g->status)
    return false;
  if (n < *cap)
    return true;
  int64_t more = *cap ? 2 * *cap : 64;
  void *bigger = kugel__alloc(g->ctx, (size_t)more * size);
  if (!bigger) {
    g->status = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the generated function %s", g->name);
    return false;
  }
  if (n)
    memcpy(bigger, *array, (size_t)n * size);
  kugel__free(g->ctx, *array);
  *array = bigger;
  *cap = more;
  return true;
}

static kugel__val new_var(kugel__gen *g, kugel__var v)
{
  if (!grow(g, (void **)&g->vars, g->nvars, &g->vars_cap, sizeof *g->vars))
    return kugel__int(0);
  for (int64_t i = 0; v.hint && i < g->nvars; i++)
    if (g->vars[i].hint && !strcmp(g->vars[i].hint, v.hint) && v.number <= g->vars[i].number)
      v.number = g->vars[i].number + 1;
  g->vars[g->nvars] = v;
  return (kugel__val){.kind = v.kind, .type = v.type, .uniform = v.uniform, .var = (uint32_t)g->nvars++};
}

static kugel__val parameter(kugel__gen *g, kugel__kind kind, kugel__type type, const char *name)
{
  return new_var(g, (kugel__var){.hint = name,
                                 .kind = (uint8_t)kind,
                                 .type = (uint8_t)type,
                                 .uniform = true,
                                 .def = -1,
                                 .parameter = g->nparameters++});
}
kugel__val kugel__gen_parameter(kugel__gen *g, kugel__type type, const char *name)
{
  return parameter(g, KUGEL__VARIABLE, type, name);
}
kugel__val kugel__gen_pointer(kugel__gen *g, kugel__type type, const char *name)
{
  return parameter(g, KUGEL__POINTER, type, name);
}
kugel__val kugel__gen_constants(kugel__gen *g, kugel__type type, const char *name)
{
  kugel__val p = parameter(g, KUGEL__POINTER, type, name);
  if (!g->status)
    g->vars[p.var].constant = true;
  return p;
}
kugel__val kugel__gen_shared(kugel__gen *g, kugel__type type, const char *name, int64_t count)
{
  return new_var(g, (kugel__var){.hint = name,
                                 .kind = KUGEL__POINTER,
                                 .type = (uint8_t)type,
                                 .written = true,
                                 .shared = count,
                                 .def = -1,
                                 .parameter = -1});
}
kugel__val kugel__gen_symbol(kugel__gen *g, const char *name)
{
  return new_var(g, (kugel__var){.hint = name,
                                 .kind = KUGEL__VARIABLE,
                                 .type = KUGEL__I64,
                                 .uniform = true,
                                 .def = -1,
                                 .parameter = -1});
}

static kugel__ins *append(kugel__gen *g, kugel__ins ins)
{
  if (!grow(g, (void **)&g->code, g->n, &g->cap, sizeof *g->code))
    return NULL;
  g->code[g->n] = ins;
  return &g->code[g->n++];
}

kugel__val kugel__gen_emit(kugel__gen *g, kugel__op op, kugel__type type, bool uniform, const kugel__val a[3])
{
  kugel__val v = new_var(
      g,
      (kugel__var){
          .kind = KUGEL__VARIABLE, .type = (uint8_t)type, .uniform = uniform, .def = g->n, .parameter = -1});
  append(g, (kugel__ins){.op = (uint8_t)op, .dst = v.var, .a = {a[0], a[1], a[2]}});
  return v;
}

kugel__val kugel__gen_load(kugel__gen *g, kugel__val pointer, kugel__val index, bool uniform)
{
  return kugel__gen_emit(g, KUGEL__LOAD, kugel__value_of((kugel__type)pointer.type), uniform,
                         (kugel__val[3]){pointer, index, kugel__int(0)});
}

void kugel__gen_store(kugel__gen *g, kugel__val pointer, kugel__val index, kugel__val value)
{
  append(g, (kugel__ins){.op = KUGEL__STORE, .dst = UINT32_MAX, .a = {pointer, index, value}});
  if (!g->status)
    g->vars[pointer.var].written = true;
}

kugel__val kugel__gen_foreign(kugel__gen *g, kugel__type real, const char *name, const char *element)
{
  kugel__val p = kugel__gen_pointer(g, real, name);
  if (!g->status)
    g->vars[p.var].element = element;
  return p;
}

kugel__val kugel__gen_get(kugel__gen *g, kugel__val pointer, kugel__val index)
{
  return kugel__gen_emit(g, KUGEL__GET, (kugel__type)pointer.type, false,
                         (kugel__val[3]){pointer, index, kugel__int(0)});
}

void kugel__gen_put(kugel__gen *g, kugel__val pointer, kugel__val index, kugel__val value, kugel__val counter)
{
  append(g, (kugel__ins){.op = KUGEL__PUT, .dst = UINT32_MAX, .a = {pointer, index, value, counter}});
  if (!g->status)
    g->vars[pointer.var].written = g->vars[counter.var].written = true;
}

static kugel__cval parts(kugel__gen *g, kugel__val pair)
{
  kugel__val none = kugel__int(0);
  kugel__type real = kugel__part_of((kugel__type)pair.type);
  kugel__val re = kugel__gen_emit(g, KUGEL__PAIR_X, real, false, (kugel__val[3]){pair, none, none});
  return (kugel__cval){re, kugel__gen_emit(g, KUGEL__PAIR_Y, real, false, (kugel__val[3]){pair, none, none})};
}

kugel__val kugel__gen_sqrt(kugel__gen *g, kugel__val a)
{
  return kugel__gen_emit(g, KUGEL__SQRT, (kugel__type)a.type, false, (kugel__val[3]){a, a, a});
}

kugel__val kugel__gen_log(kugel__gen *g, kugel__val a)
{
  return kugel__gen_emit(g, KUGEL__LOG, (kugel__type)a.type, false, (kugel__val[3]){a, a, a});
}

kugel__val kugel__gen_narrow(kugel__gen *g, kugel__val a)
{
  if (kugel__is_number(a) || a.type == KUGEL__U32)
    return a;
  return kugel__gen_emit(g, KUGEL__NARROW, KUGEL__U32, a.uniform, (kugel__val[3]){a, a, a});
}

kugel__val kugel__gen_widen(kugel__gen *g, kugel__val a)
{
  if (kugel__is_number(a) || a.type == KUGEL__I64)
    return a;
  return kugel__gen_emit(g, KUGEL__WIDEN, KUGEL__I64, a.uniform, (kugel__val[3]){a, a, a});
}

kugel__cval kugel__gen_load_pair(kugel__gen *g, kugel__val pointer, kugel__val index)
{
  return parts(g, kugel__gen_load(g, pointer, index, false));
}

kugel__cval kugel__gen_shared_pair(kugel__gen *g, kugel__val shared, kugel__val i)
{
  kugel__type pair = kugel__pair_of((kugel__type)shared.type);
  return parts(g, kugel__gen_emit(g, KUGEL__SHARED_PAIR, pair, false, (kugel__val[3]){shared, i, i}));
}

void kugel__gen_put_shared_pair(kugel__gen *g, kugel__val shared, kugel__val i, kugel__cval x)
{
  append(g, (kugel__ins){.op = KUGEL__PUT_SHARED_PAIR, .dst = UINT32_MAX, .a = {shared, i, x.re, x.im}});
}

kugel__val kugel__gen_remote(kugel__gen *g, kugel__val shared, int block, kugel__val i)
{
  return kugel__gen_emit(g, KUGEL__REMOTE, shared.type, false, (kugel__val[3]){shared, kugel__int(block), i});
}

kugel__cval kugel__gen_remote_pair(kugel__gen *g, kugel__val shared, int block, kugel__val i)
{
  kugel__type pair = shared.type == KUGEL__F32 ? KUGEL__C32 : KUGEL__C64;
  return parts(
      g, kugel__gen_emit(g, KUGEL__REMOTE_PAIR, pair, false, (kugel__val[3]){shared, kugel__int(block), i}));
}

void kugel__gen_cluster_arrive(kugel__gen *g)
{
  append(g, (kugel__ins){.op = KUGEL__CLUSTER_ARRIVE, .dst = UINT32_MAX});
}

void kugel__gen_cluster_wait(kugel__gen *g)
{
  append(g, (kugel__ins){.op = KUGEL__CLUSTER_WAIT, .dst = UINT32_MAX});
}

static void store_pair(kugel__gen *g, kugel__op op, kugel__val pointer, kugel__val index, kugel__cval value)
{
  append(g, (kugel__ins){.op = (uint8_t)op, .dst = UINT32_MAX, .a = {pointer, index, value.re, value.im}});
  if (!g->status)
    g->vars[pointer.var].written = true;
}
void kugel__gen_store_pair(kugel__gen *g, kugel__val pointer, kugel__val index, kugel__cval value)
{
  store_pair(g, KUGEL__STORE_PAIR, pointer, index, value);
}
void kugel__gen_stream_pair(kugel__gen *g, kugel__val pointer, kugel__val index, kugel__cval value)
{
  store_pair(g, KUGEL__STREAM_PAIR, pointer, index, value);
}

kugel__val kugel__gen_local_id(kugel__gen *g)
{
  kugel__val none = kugel__int(0);
  return kugel__gen_emit(g, KUGEL__LOCAL_ID, KUGEL__U32, false, (kugel__val[3]){none, none, none});
}
kugel__val kugel__gen_group_id(kugel__gen *g)
{
  kugel__val none = kugel__int(0);
  return kugel__gen_emit(g, KUGEL__GROUP_ID, KUGEL__I64, true, (kugel__val[3]){none, none, none});
}
void kugel__gen_barrier(kugel__gen *g)
{
  append(g, (kugel__ins){.op = KUGEL__BARRIER, .dst = UINT32_MAX});
}
void kugel__gen_warp_sync(kugel__gen *g)
{
  append(g, (kugel__ins){.op = KUGEL__WARP_SYNC, .dst = UINT32_MAX});
}

static kugel__val shuffle(kugel__gen *g, kugel__op op, kugel__val x, kugel__val by)
{
  return kugel__is_number(x) ? x
                             : kugel__gen_emit(g, op, (kugel__type)x.type, false, (kugel__val[3]){x, by, by});
}
kugel__val kugel__gen_shuffle(kugel__gen *g, kugel__val x, kugel__val lane)
{
  return shuffle(g, KUGEL__SHUFFLE, x, lane);
}
kugel__val kugel__gen_shuffle_up(kugel__gen *g, kugel__val x, int distance)
{
  return shuffle(g, KUGEL__SHUFFLE_UP, x, kugel__int(distance));
}
kugel__val kugel__gen_shuffle_down(kugel__gen *g, kugel__val x, int distance)
{
  return shuffle(g, KUGEL__SHUFFLE_DOWN, x, kugel__int(distance));
}

void kugel__gen_copy_async(kugel__gen *g, kugel__val shared, kugel__val i, kugel__val pointer, kugel__val j)
{
  kugel__op op = pointer.type >= KUGEL__C16 ? KUGEL__COPY_ASYNC_PAIR : KUGEL__COPY_ASYNC;
  append(g, (kugel__ins){.op = (uint8_t)op, .dst = UINT32_MAX, .a = {shared, i, pointer, j}});
}
void kugel__gen_async_commit(kugel__gen *g)
{
  append(g, (kugel__ins){.op = KUGEL__ASYNC_COMMIT, .dst = UINT32_MAX});
}
void kugel__gen_async_wait(kugel__gen *g, int groups)
{
  append(g, (kugel__ins){.op = KUGEL__ASYNC_WAIT, .dst = UINT32_MAX, .a = {kugel__int(groups)}});
}

void kugel__gen_if(kugel__gen *g, kugel__val a, kugel__val b)
{
  append(g, (kugel__ins){.op = KUGEL__IF, .dst = UINT32_MAX, .a = {a, b}});
}

kugel__val kugel__gen_for(kugel__gen *g, const char *hint, kugel__val from, kugel__val to)
{
  kugel__val v = kugel__gen_emit(g, KUGEL__FOR, KUGEL__I64, true, (kugel__val[3]){from, to, kugel__int(0)});
  return kugel__gen_name(g, hint, v);
}
void kugel__gen_end(kugel__gen *g)
{
  append(g, (kugel__ins){.op = KUGEL__END, .dst = UINT32_MAX});
}
void kugel__gen_note(kugel__gen *g, const char *text)
{
  append(g, (kugel__ins){.op = KUGEL__NOTE, .dst = UINT32_MAX, .note = text});
}

kugel__val kugel__gen_name(kugel__gen *g, const char *hint, kugel__val a)
{
  if (g->status || kugel__is_number(a) || g->vars[a.var].hint)
    return a;
  int number = 0;
  for (int64_t i = 0; i < g->nvars; i++)
    if (g->vars[i].hint && !strcmp(g->vars[i].hint, hint) && g->vars[i].number >= number)
      number = g->vars[i].number + 1;
  g->vars[a.var].hint = hint;
  g->vars[a.var].number = number;
  return a;
}

kugel_status kugel__gen_finish(kugel__gen *g)
{
  KUGEL_TRY(g->status);
  for (int64_t i = g->n - 1; i >= 0; i--) {
    kugel__ins *ins = &g->code[i];
    bool pure = ins->dst != UINT32_MAX && ins->op != KUGEL__FOR;
    ins->live = ins->live || !pure;
    for (int k = 0; ins->live && k < 4; k++)
      if (!kugel__is_number(ins->a[k]) && g->vars[ins->a[k].var].def >= 0)
        g->code[g->vars[ins->a[k].var].def].live = true;
  }
  return KUGEL_OK;
}
