/* SPDX-License-Identifier: BSD-3-Clause */
/* What instructions of the interpreter read and write: arrays, shared memory, variables of other threads. */
#include <math.h>
#include "codegen/machine.h"

static kugel_status check_touch(kugel__machine *m, const kugel__cell *c, bool reads, int64_t at, int thread)
{
  int me = thread + 1, warp = kugel__machine_warp(m, thread) + 1;
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

static kugel_status touch_shared(kugel__machine *m, const kugel__ins *ins, int64_t at, int thread,
                                 kugel__slot *result)
{
  kugel__cell *c = &m->shared[thread / m->width * m->shared_size + at];
  int me = thread + 1;
  bool reads = ins->op == KUGEL__LOAD || ins->op == KUGEL__SHARED_PAIR;
  KUGEL_TRY(check_touch(m, c, reads, at, thread));
  int before = c->writer ? c->writer : c->reader;
  c->spread |= before && kugel__machine_warp(m, before - 1) != kugel__machine_warp(m, thread);
  if (reads) {
    c->readers = c->readers && c->reader != me ? 2 : 1;
    c->reader = me;
    result->dd[0] = c->value;
    return KUGEL_OK;
  }
  kugel__dd x = ins->op != KUGEL__STORE ? result->dd[0] : kugel__machine_value(m, ins->a[2], thread).dd[0];
  bool others = c->lent || c->readers > 1 || (c->readers && c->reader != me) ||
                (c->writer && c->writer != me && (c->value.hi != x.hi || c->value.lo != x.lo));
  KUGEL_CHECK(!others, KUGEL_EINTERNAL, "%s: thread %d overwrites shared element %lld in use", m->g->name,
              thread, (long long)at);
  c->value = x;
  c->writer = me;
  c->own = true;
  c->group = kugel__machine_copies(ins) ? m->copies : 0;
  return KUGEL_OK;
}

kugel_status kugel__machine_copy(kugel__machine *m, const kugel__ins *ins, int thread)
{
  const kugel__var *from = &m->g->vars[ins->a[2].var];
  const kugel__argument *arg = &m->arguments[from->parameter];
  int64_t i = kugel__machine_value(m, ins->a[1], thread).i, j = kugel__machine_value(m, ins->a[3], thread).i;
  int width = ins->op == KUGEL__COPY_ASYNC_PAIR ? 2 : 1, parts = from->type == KUGEL__DD ? 2 : 1;
  KUGEL_CHECK(i >= 0 && width * (i + 1) <= m->shared_size && j >= 0 && j < arg->size, KUGEL_EINTERNAL,
              "%s: a copy of %s[%lld] of %lld to shared element %lld of %lld", m->g->name, from->hint,
              (long long)j, (long long)arg->size, (long long)(width * i), (long long)m->shared_size);
  for (int k = 0; k < width; k++) {
    const double *x = arg->data + width * parts * j + k;
    KUGEL_CHECK(!isnan(*x), KUGEL_EINTERNAL, "%s reads %s[%lld] before it is written", m->g->name, from->hint,
                (long long)j);
    kugel__slot one = {.dd = {{x[0], parts == 2 ? x[1] : 0}}};
    KUGEL_TRY(touch_shared(m, ins, width * i + k, thread, &one));
  }
  return KUGEL_OK;
}

kugel_status kugel__machine_shuffle(kugel__machine *m, const kugel__ins *ins, int thread)
{
  int64_t by = kugel__machine_value(m, ins->a[1], thread).i;
  int lane = thread % m->width % 32, start = ins->op == KUGEL__SHUFFLE ? 0 : lane;
  int from = start + (int)(ins->op == KUGEL__SHUFFLE_UP ? -by : by);
  int source = from < 0 || from > 31 ? thread : thread - lane + from;
  KUGEL_CHECK(source < m->threads && m->active[source] && m->active[thread], KUGEL_EINTERNAL,
              "%s: thread %d shuffles with thread %d, and not both are there", m->g->name, thread, source);
  m->vars[ins->dst * m->threads + thread] = kugel__machine_value(m, ins->a[0], source);
  return KUGEL_OK;
}

kugel_status kugel__machine_memory(kugel__machine *m, const kugel__ins *ins, int thread)
{
  const kugel__var *pointer = &m->g->vars[ins->a[0].var];
  kugel__slot none, *result = ins->dst == UINT32_MAX ? &none : &m->vars[ins->dst * m->threads + thread];
  int64_t at = kugel__machine_value(m, ins->a[1], thread).i;
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
      kugel__dd v = kugel__machine_value(m, ins->a[2 + k], thread).dd[0];
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

kugel_status kugel__machine_shared_pair(kugel__machine *m, const kugel__ins *ins, int thread)
{
  int64_t at = 2 * kugel__machine_value(m, ins->a[1], thread).i;
  KUGEL_CHECK(at >= 0 && at + 1 < m->shared_size, KUGEL_EINTERNAL, "%s: shared pair %lld is outside %lld",
              m->g->name, (long long)at / 2, (long long)m->shared_size / 2);
  kugel__slot *pair = ins->dst == UINT32_MAX ? NULL : &m->vars[ins->dst * m->threads + thread];
  kugel__slot got = {.dd = {kugel__machine_value(m, ins->a[2], thread).dd[0],
                            kugel__machine_value(m, ins->a[3], thread).dd[0]}};
  for (int k = 0; k < 2; k++) {
    kugel__slot one = {.dd = {got.dd[k]}};
    KUGEL_TRY(touch_shared(m, ins, at + k, thread, &one));
    if (pair)
      pair->dd[k] = one.dd[0];
  }
  return KUGEL_OK;
}

kugel_status kugel__machine_remote(kugel__machine *m, const kugel__ins *ins, int thread)
{
  int64_t block = kugel__machine_value(m, ins->a[1], thread).i,
          i = kugel__machine_value(m, ins->a[2], thread).i;
  int width = ins->op == KUGEL__REMOTE_PAIR ? 2 : 1;
  kugel__slot *to = &m->vars[ins->dst * m->threads + thread];
  for (int k = 0; k < width; k++) {
    int64_t at = width * i + k;
    KUGEL_CHECK(block >= 0 && block < m->threads / m->width && at >= 0 && at < m->shared_size,
                KUGEL_EINTERNAL, "%s: element %lld of block %lld of the cluster is outside", m->g->name,
                (long long)at, (long long)block);
    kugel__cell *c = &m->shared[block * m->shared_size + at];
    KUGEL_CHECK(!c->own && !isnan(c->value.hi), KUGEL_EINTERNAL,
                "%s: element %lld of block %lld is read before the cluster's barrier", m->g->name,
                (long long)at, (long long)block);
    c->lent = true;
    to->dd[k] = c->value;
  }
  return KUGEL_OK;
}
