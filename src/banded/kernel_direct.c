/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout ROWS, lanes that take neighbours from memory and keep them: a unit each, or for cyclic reduction the
 * elements that are dealt to the lanes in turn. A level of that adds to every element what is s elements
 * before it, for s = 1, 2, 4 ...; the coefficients of all levels are in the table. */
#include "banded/kernel_build.h"

enum { WARP = KUGEL__WARP };

/* y_i += a_i y_{i-s}; then a_i a_{i-s} is the coefficient of the next level. With a matrix for each system
 * the products are made here. */
static void reduce(kugel__banded_band *b, kugel__val *y, bool backward)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  const kugel__team *t = &b->team;
  int q = s->q, stage = backward ? s->backward : s->forward;
  int row = backward ? kugel__banded_stage_rows(s, s->forward) : 0, length = s->threads * q;
  kugel__val a[KUGEL__BANDED_ELEMENTS], x[KUGEL__BANDED_ELEMENTS], c[KUGEL__BANDED_ELEMENTS];
  kugel__gen_note(g, backward ? "backward" : "forward");
  for (int j = 0; j < q && stage == KUGEL__SCALED_STAGE; j++)
    y[j] = g_mul(g, kugel__band_number(b, row + j), y[j]);
  row += stage == KUGEL__SCALED_STAGE ? q : 0;
  for (int distance = 1; distance < length; distance *= 2, row += s->each ? 0 : q) {
    for (int j = 0; j < q; j++) {
      a[j] = s->each && distance > 1 ? a[j] : kugel__band_number(b, row + j);
      x[j] = kugel__team_dealt(t, backward, y, q, j, distance);
    }
    for (int j = 0; j < q; j++) {
      y[j] = g_fma(g, a[j], x[j], y[j]);
      c[j] = s->each ? g_mul(g, a[j], kugel__team_dealt(t, backward, a, q, j, distance)) : a[j];
    }
    for (int j = 0; j < q; j++)
      a[j] = c[j];
  }
}

/* Unit k of the thread, in the system. */
static kugel__val unit_of(kugel__banded_band *b, int k)
{
  return g_add(b->g, b->team.rank, whole((int64_t)b->s->threads * k));
}

/* 0 beyond the system's end. */
static void load(kugel__banded_band *b, kugel__val first, kugel__val units, kugel__val *y)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  for (int k = 0; k < s->q / s->unit; k++) {
    kugel__val i = unit_of(b, k);
    kugel__val at = g_add(g, first, s->ragged ? g_min(g, i, g_sub(g, units, whole(1))) : i);
    if (s->unit == 2) {
      kugel__cval pair = kugel__gen_load_pair(g, b->in, at);
      y[2 * k] = pair.re;
      y[2 * k + 1] = pair.im;
    } else {
      y[k] = kugel__gen_load(g, b->in, at, false);
      y[k] = s->ragged ? kugel__gen_select(g, i, units, y[k], zero()) : y[k];
    }
  }
}

static void store(kugel__banded_band *b, kugel__val first, kugel__val units, const kugel__val *y)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  for (int k = 0; k < s->q / s->unit; k++) {
    kugel__val i = unit_of(b, k), at = g_add(g, first, i);
    if (s->ragged)
      kugel__gen_if(g, i, units);
    if (s->unit == 2)
      kugel__gen_store_pair(g, b->out, at, (kugel__cval){y[2 * k], y[2 * k + 1]});
    else
      kugel__gen_store(g, b->out, at, y[k]);
    if (s->ragged)
      kugel__gen_end(g);
  }
}

void kugel__band_direct(kugel__banded_band *b)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val y[KUGEL__BANDED_ELEMENTS], one = whole(1), none = whole(0);
  int systems = kugel__banded_systems(s);
  kugel__val warp = g_add(g, g_mul(g, b->group, whole(s->warps)), b->warp);
  kugel__val wanted = g_add(g, g_mul(g, warp, whole(systems)), b->slot);
  kugel__val number = kugel__gen_name(g, "number", g_min(g, wanted, g_sub(g, b->batch, one)));
  kugel__val units = g_div(g, b->n, whole(s->unit)), first = g_mul(g, kugel__gen_widen(g, number), units);
  load(b, first, units, y);
  kugel__band_table(b, s->each ? number : none, none, whole(s->threads));
  if (s->cyclic) {
    if (s->forward)
      reduce(b, y, false);
    if (s->backward)
      reduce(b, y, true);
  } else {
    kugel__band_work(b, y, none);
  }
  kugel__gen_if(g, wanted, b->batch);
  kugel__gen_if(g, b->lane, whole((int64_t)systems * s->threads)); /* idle lanes have what the last one has */
  store(b, first, units, y);
  kugel__gen_end(g);
  kugel__gen_end(g);
}
