/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains of rotations for harmonics with spin on devices, with the stages of spin.c. A system of the work array is one complex
 * function of an order: of spin s, mirrored, then of spin -s; orders of base 0 before those of base 1. A line holds all k; a
 * function is mirrored back where its odd k become a series, by the sign of that product. */
#include "alt/spin.h"
#include "core/alloc.h"
#include "core/ctx.h"

enum { ANALYSIS = 1, ADJOINT = 2 };

int kugel__alt_spin_families(const kugel__alt_spin *p, kugel__poly_rotations *f)
{
  int n = 0;
  bool none = p->spin > p->lmax; /* else no chain has more steps than its base has rows */
  for (int64_t base = 0; base < 2; base++)
    f[n++] = (kugel__poly_rotations){.steps = none ? 0 : p->length[base],
                                     .reach = kugel__max(0, p->lmax - base),
                                     .tables = (const void *const *)p->path[base]};
  for (int64_t m = 0; m <= p->mmax && !kugel__alt_spin_on_path(p, m); m++)
    f[n++] = (kugel__poly_rotations){.steps = none ? 0 : kugel__alt_spin_steps(p, m),
                                     .reach = kugel__max(0, p->lmax - kugel__alt_spin_base(p, m)),
                                     .tables = (const void *const *)p->own[m]};
  return n;
}

/* A list under construction. */
typedef struct job {
  const kugel__alt_spin *p;
  kugel__alt_view v;
  kugel__poly_text *t;
  bool adjoint, to_values;
  int64_t count[2]; /* systems of the bases */
} job;

/* The first system of order m in the work array. */
static int64_t line_of(const job *j, int64_t m)
{
  return kugel__alt_spin_base(j->p, m) * j->count[0] + m / 2 * 2;
}

static kugel__tile_job tile_of(const job *j, int64_t m)
{
  return (kugel__tile_job){.system = 2 * m,
                           .systems = 2,
                           .base = line_of(j, m),
                           .take_step = 1,
                           .put_step = 1,
                           .op = kugel__poly_ops(j->t)};
}

/* Between coefficients of order m, in the caller's array, and those of its base. */
static void add_chain(const job *j, int64_t m)
{
  const kugel__alt_spin *p = j->p;
  int64_t n = kugel__alt_spin_rows(p, m), steps = kugel__alt_spin_steps(p, m),
          base = kugel__max(0, p->lmax + 1 - kugel__alt_spin_base(p, m));
  kugel__tile_job w = tile_of(j, m);
  kugel__poly_family f = j->t->g->family[kugel__alt_spin_on_path(p, m) ? kugel__alt_spin_base(p, m) : 2 + m];
  w.plane = !j->to_values;
  w.take = j->to_values ? n : base;
  w.rows = kugel__max(1, base);
  if (n && steps)
    kugel__poly_op(j->t, (kugel__tile_op){.kind = j->to_values ? KUGEL__OP_LOWER : KUGEL__OP_RAISE,
                                          .n = j->to_values ? n : base,
                                          .steps = steps,
                                          .a = f.at,
                                          .b = steps - 1,
                                          .row = f.width});
  w.ops = kugel__poly_ops(j->t) - w.op;
  w.put = j->to_values && n ? base : n;
  w.put_all = j->to_values ? base : n;
  kugel__poly_tile(j->t, w);
}

/* Values from the caller, or to it. */
static void add_values(const job *j, int64_t m)
{
  kugel__tile_job w = tile_of(j, m);
  w.take = w.rows = w.put = w.put_all = j->v.n;
  w.plane = j->to_values;
  kugel__poly_tile(j->t, w);
}

static void add_product(const job *j, int64_t m, int q)
{
  kugel__table_job w =
      kugel__alt_gpu_series(&j->v, j->t->g, (int)kugel__alt_spin_base(j->p, m), q, j->to_values, j->adjoint);
  *(j->to_values ? &w.take_at : &w.put_at) = q;
  *(j->to_values ? &w.take_step : &w.put_step) = 2;
  w.systems = q ? 1 : 2;
  for (int i = 0; i < 1 + q && w.put_rows; i++) {
    w.base = w.put_base = line_of(j, m) + i;
    kugel__poly_product(j->t, w, q && !i ? -1 : 1);
  }
}

static void make(const void *of, int key, kugel__poly_text *t)
{
  const kugel__alt_spin *p = of;
  bool adjoint = key & ADJOINT, to_values = (key & ANALYSIS ? true : false) == adjoint;
  job j = {.p = p, .v = kugel__alt_view_of(p->ends), .t = t, .adjoint = adjoint, .to_values = to_values};
  for (int64_t m = 0; m <= p->mmax; m++)
    j.count[kugel__alt_spin_base(p, m)] += 2;
  if (to_values) {
    for (int64_t m = p->mmax; m >= 0; m--)
      add_chain(&j, m);
  } else {
    for (int64_t m = 0; m <= p->mmax; m++)
      add_values(&j, m);
  }
  kugel__poly_end_tiles(t, true, false);
  if (!to_values)
    kugel__alt_gpu_waves(&j.v, t, true, adjoint, j.count, 0);
  for (int q = 0; q < 2; q++) {
    for (int64_t m = 0; m <= p->mmax; m++)
      add_product(&j, m, q);
    kugel__poly_end_products(t);
  }
  if (to_values) {
    kugel__alt_gpu_waves(&j.v, t, false, adjoint, j.count, 1);
    for (int64_t m = 0; m <= p->mmax; m++)
      add_values(&j, m);
  } else {
    for (int64_t m = p->mmax; m >= 0; m--)
      add_chain(&j, m);
  }
  kugel__poly_end_tiles(t, false, true);
}

kugel_status kugel__alt_spin_gpu_run(const kugel__alt_spin *p, bool analysis, bool adjoint,
                                     const kugel_array *in, const kugel_array *out, kugel_queue *queue)
{
  const kugel__poly_list *list;
  kugel__systems from, to;
  int64_t systems = 2 * (p->mmax + 1), coeffs = p->lmax + 1, n = p->ends->n;
  bool to_values = analysis == adjoint;
  KUGEL_TRY(kugel__systems_on(p->ctx, in, "in", false, true, systems, to_values ? coeffs : n, false, &from));
  KUGEL_TRY(kugel__systems_on(p->ctx, out, "out", false, true, systems, to_values ? n : coeffs, true, &to));
  KUGEL_TRY(kugel__poly_list_get(p->ends->gpu, (analysis ? ANALYSIS : 0) | (adjoint ? ADJOINT : 0), systems,
                                 make, p, &list));
  return kugel__poly_run(p->ends->gpu, list, in, out, &from, &to, queue);
}
