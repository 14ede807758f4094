/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout COLUMNS: the lanes of a warp have neighbouring columns, the warps of a team parts of them. Elements
 * go from memory to registers and back, without shared memory between. */
#include "banded/kernel_build.h"

enum { WARP = KUGEL__WARP };

typedef struct sweep {
  bool backward;
  kugel__val from, panel;
  kugel__val column; /* of the arrays: the thread's, and one that exists */
  kugel__val safe;
  kugel__val start; /* first row of the part */
} sweep;

static kugel__val row_at(kugel__banded_band *b, kugel__val row, kugel__val column)
{
  return g_add(b->g, g_mul(b->g, kugel__gen_widen(b->g, row), b->batch), column);
}

/* Rows of the part; 0 beyond the matrix. */
static void load(kugel__banded_band *b, const sweep *p, kugel__val *y)
{
  kugel__gen *g = b->g;
  kugel__val last = g_sub(g, b->n, whole(1));
  for (int j = 0; j < b->s->q; j++) {
    kugel__val i = g_add(g, p->start, whole(j));
    y[j] = kugel__gen_load(g, p->from, row_at(b, b->s->ragged ? g_min(g, i, last) : i, p->safe), false);
    if (b->s->ragged)
      y[j] = kugel__gen_select(g, i, b->n, y[j], zero());
  }
}

static void store(kugel__banded_band *b, const sweep *p, const kugel__val *y)
{
  kugel__gen *g = b->g;
  kugel__gen_if(g, p->column, b->batch);
  for (int j = 0; j < b->s->q; j++) {
    kugel__val i = g_add(g, p->start, whole(j));
    if (b->s->ragged)
      kugel__gen_if(g, i, b->n);
    kugel__gen_store(g, b->out, row_at(b, i, p->column), y[j]);
    if (b->s->ragged)
      kugel__gen_end(g);
  }
  kugel__gen_end(g);
}

/* The row beside the part, 0 beyond the matrix. */
static kugel__val beside(kugel__banded_band *b, const sweep *p, bool after)
{
  kugel__gen *g = b->g;
  kugel__val none = whole(0), one = whole(1), x;
  if (after) {
    kugel__val i = g_add(g, p->start, whole(b->s->q));
    x = kugel__gen_load(g, p->from, row_at(b, g_min(g, i, g_sub(g, b->n, one)), p->safe), false);
    return kugel__gen_select(g, i, b->n, x, zero());
  }
  kugel__val i = g_min(g, g_sub(g, kugel__gen_widen(g, p->start), one), g_sub(g, b->n, one));
  x = kugel__gen_load(g, p->from, row_at(b, kugel__gen_select(g, i, none, none, i), p->safe), false);
  return kugel__gen_select(g, i, none, zero(), x);
}

/* In place, the row before a panel is what the last panel wrote: it was kept. */
static void product(kugel__banded_band *b, const sweep *p, kugel__val *y)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val left = s->lower ? beside(b, p, false) : zero(), right = s->upper ? beside(b, p, true) : zero();
  if (s->lower && s->panels)
    left = kugel__gen_select(g, b->column, whole(1), kugel__gen_load(g, b->shared, b->carry, false), left);
  if (s->threads > 1)
    kugel__gen_barrier(g); /* all rows are read before one is written */
  if (s->lower && s->panels)
    kugel__band_carry_on(b, false, y[s->q - 1]);
  kugel__band_multiply(b, y, left, right);
}

/* Columns of a block go through the kernel. */
static sweep begin(kugel__banded_band *b)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val row = g_add(g, g_mul(g, b->group, whole(kugel__banded_held(s) / s->abreast)), b->row_of_teams);
  kugel__val column = kugel__gen_name(g, "column", g_add(g, g_mul(g, row, whole(s->abreast)), b->team.side));
  return (sweep){.from = b->in,
                 .panel = whole(0),
                 .column = column,
                 .safe = g_min(g, column, g_sub(g, b->batch, whole(1)))};
}

static void place(kugel__banded_band *b, sweep *p)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val first = g_mul(g, p->panel, whole((int64_t)s->threads * s->q));
  p->start = g_add(g, first, g_mul(g, b->column, whole(s->q)));
}

static void panels(kugel__banded_band *b, sweep p)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val y[KUGEL__BANDED_ELEMENTS], threads = whole(s->threads);
  kugel__band_carry_nothing(b);
  kugel__val k = kugel__gen_for(g, "step_of_panels", whole(0), b->rounds);
  p.panel = p.backward ? g_sub(g, g_sub(g, b->rounds, whole(1)), k) : k;
  place(b, &p);
  load(b, &p, y);
  kugel__band_table(b, s->each ? p.safe : whole(0), g_mul(g, p.panel, threads), g_mul(g, b->rounds, threads));
  kugel__band_room(b, whole(0));
  if (s->product) {
    product(b, &p, y);
  } else {
    kugel__band_recur(b, y, p.backward, kugel__gen_load(g, b->shared, b->carry, false));
    kugel__band_carry_on(b, p.backward, y[p.backward ? 0 : s->q - 1]);
  }
  store(b, &p, y);
  if (s->threads > 1)
    kugel__gen_barrier(g);
  kugel__gen_end(g);
}

void kugel__band_columns(kugel__banded_band *b)
{
  const kugel__banded_shape *s = b->s;
  kugel__val y[KUGEL__BANDED_ELEMENTS];
  sweep p = begin(b);
  if (s->panels) {
    if (s->product || s->forward)
      panels(b, p);
    p.backward = true;
    p.from = s->forward ? b->out : b->in;
    if (!s->product && s->backward)
      panels(b, p);
    return;
  }
  place(b, &p);
  load(b, &p, y);
  kugel__band_table(b, s->each ? p.safe : whole(0), whole(0), whole(s->threads));
  kugel__band_room(b, whole(0));
  if (s->product)
    product(b, &p, y);
  if (!s->product && s->forward)
    kugel__band_recur(b, y, false, zero());
  kugel__band_room(b, whole(1));
  if (!s->product && s->backward)
    kugel__band_recur(b, y, true, zero());
  store(b, &p, y);
}
