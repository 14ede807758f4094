/* SPDX-License-Identifier: BSD-3-Clause */
/* Layout ROWS, systems that are too long to be held at once: a block's go by in panels, forward and, if the
 * matrix has three diagonals, backward again through what it wrote. */
#include "banded/kernel_build.h"

enum { WARP = KUGEL__WARP };

/* A sweep over the panels of the block's systems. */
typedef struct pass {
  kugel__val from, panel;
  kugel__val number, before; /* of the thread's system; elements of it before the warp's of this panel */
  bool backward;
} pass;

/* Units of a system in the tile. */
static int run_units(const kugel__banded_band *b)
{
  return (b->s->threads < WARP ? b->s->threads : WARP) * b->s->q / b->s->unit;
}

/* Moves row k of the tile between memory and the tile. */
static void move_panel(kugel__banded_band *b, const pass *p, int k, bool store)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val unit = whole(s->unit), one = whole(1), u = g_add(g, b->lane, whole(WARP * k)), number = b->group;
  if (s->threads == 1) {
    kugel__val run = whole(run_units(b)), warp = g_add(g, g_mul(g, b->group, whole(s->warps)), b->warp);
    number = g_add(g, g_mul(g, warp, whole(WARP)), g_div(g, u, run));
    u = g_mod(g, u, run);
  }
  kugel__val i = g_add(g, g_div(g, p->before, unit), u), units = g_div(g, b->n, unit);
  if (!store) {
    i = g_min(g, i, g_sub(g, units, one));
    number = g_min(g, number, g_sub(g, b->batch, one));
    kugel__tile_fetch_row(&b->tile, k, p->from, g_add(g, g_mul(g, kugel__gen_widen(g, number), units), i));
    return;
  }
  kugel__gen_if(g, i, units);
  kugel__gen_if(g, number, b->batch);
  kugel__tile_store_row(&b->tile, k, b->out, g_add(g, g_mul(g, kugel__gen_widen(g, number), units), i));
  kugel__gen_end(g);
  kugel__gen_end(g);
}

/* The element after the panel of several warps, 0 where there is none. */
static kugel__val after_panel(kugel__banded_band *b, const pass *p)
{
  kugel__gen *g = b->g;
  int64_t length = (int64_t)b->s->threads * b->s->q;
  kugel__val i = g_mul(g, g_add(g, p->panel, whole(1)), whole(length));
  kugel__val at = g_add(g, g_mul(g, kugel__gen_widen(g, p->number), b->n),
                        g_min(g, i, g_sub(g, b->n, whole(b->s->unit)))),
             x;
  if (b->s->unit == 2)
    x = kugel__gen_load_pair(g, p->from, g_div(g, at, whole(2))).re;
  else
    x = kugel__gen_load(g, p->from, at, false);
  return kugel__gen_select(g, i, b->n, x, zero());
}

static void work_on_panel(kugel__banded_band *b, const pass *p, kugel__val *y)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val carry = kugel__gen_load(g, b->shared, b->carry, false), one = whole(1), right = zero();
  kugel__band_room(b, whole(0));
  if (!s->product) {
    kugel__band_recur(b, y, p->backward, carry);
    kugel__band_carry_on(b, p->backward, y[p->backward ? 0 : s->q - 1]);
    return;
  }
  kugel__val left = kugel__team_shift(&b->team, false, y[s->q - 1]);
  left = kugel__gen_select(g, b->column, one, carry, left);
  kugel__band_carry_on(b, false, y[s->q - 1]);
  kugel__band_room(b, one);
  if (s->upper) {
    right = kugel__team_shift(&b->team, true, y[0]);
    right = kugel__gen_select(g, whole(s->threads - 2), b->column, after_panel(b, p), right);
  }
  kugel__band_multiply(b, y, left, right);
}

static void sweep(kugel__banded_band *b, pass p)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val y[KUGEL__BANDED_ELEMENTS], one = whole(1), zero_at = whole(0);
  int64_t length = (int64_t)s->threads * s->q;
  bool many = s->threads > 1;
  kugel__band_carry_nothing(b);
  kugel__val k = kugel__gen_for(g, "step_of_panels", zero_at, b->rounds);
  p.panel = p.backward ? g_sub(g, g_sub(g, b->rounds, one), k) : k;
  p.before = g_mul(g, p.panel, whole(length));
  p.number = b->group;
  if (many)
    p.before = g_add(g, p.before, g_mul(g, b->warp, whole(WARP * s->q)));
  else
    p.number = g_add(g, g_mul(g, b->group, whole(s->warps * WARP)),
                     g_add(g, g_mul(g, b->warp, whole(WARP)), b->lane));
  kugel__band_buffer(b, zero_at);
  for (int row = 0; row < b->tile.units / WARP; row++)
    move_panel(b, &p, row, false);
  kugel__gen_async_commit(g);
  kugel__val matrix = s->each ? g_min(g, p.number, g_sub(g, b->batch, one)) : zero_at;
  kugel__band_table(b, matrix, g_mul(g, p.panel, whole(s->threads)), g_mul(g, b->rounds, whole(s->threads)));
  kugel__gen_async_wait(g, 0);
  kugel__gen_warp_sync(g);
  kugel__val run = whole(run_units(b) * s->unit);
  kugel__band_part at = {.begin = many ? g_mul(g, b->team.rank, whole(s->q)) : zero_at,
                         .run = run,
                         .count = g_min(g, g_sub(g, b->n, p.before), run)};
  kugel__band_take(b, &at, y);
  work_on_panel(b, &p, y);
  kugel__band_put(b, &at, y);
  kugel__gen_warp_sync(g);
  for (int row = 0; row < b->tile.units / WARP; row++)
    move_panel(b, &p, row, true);
  kugel__gen_barrier(g);
  kugel__gen_end(g);
}

void kugel__band_panels(kugel__banded_band *b)
{
  const kugel__banded_shape *s = b->s;
  if (s->product || s->forward)
    sweep(b, (pass){.from = b->in});
  if (!s->product && s->backward)
    sweep(b, (pass){.from = s->forward ? b->out : b->in, .backward = true});
}
