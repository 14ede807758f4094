/* SPDX-License-Identifier: BSD-3-Clause */
#include "banded/kernel.h"
#include "codegen/tile.h"

enum { WARP = 32 };

/* ---- shapes ---- */

static kugel__team team_of(const kugel__banded_shape *s)
{
  return (kugel__team){.threads = s->threads, .warps = s->threads > WARP ? s->warps : 1};
}

static kugel__tile tile_of(const kugel__banded_shape *s)
{
  return (kugel__tile){.unit = s->unit, .units = WARP * s->q / s->unit, .period = s->period};
}

int kugel__banded_reaches(const kugel__banded_shape *s)
{
  kugel__team team = team_of(s);
  return s->each ? 0 : kugel__team_reaches(&team);
}

static int stage_rows(const kugel__banded_shape *s, int stage)
{
  return stage ? s->q * stage + kugel__banded_reaches(s) : 0;
}

int kugel__banded_rows(const kugel__banded_shape *s)
{
  return s->product ? s->q * (1 + s->lower + s->upper)
                    : stage_rows(s, s->forward) + stage_rows(s, s->backward);
}

/* Tiles of a warp: one is computed while the next one arrives. */
static int buffers(const kugel__banded_shape *s)
{
  return s->panels ? 1 : 2;
}

void kugel__banded_pad(kugel__banded_shape *s, int64_t n)
{
  int64_t start[WARP];
  int systems = kugel__banded_systems(s), threads = kugel__min(s->threads, WARP);
  int64_t run = s->panels ? (int64_t)threads * s->q : n; /* elements of a system in the tile */
  for (int lane = 0; lane < WARP; lane++)
    start[lane] = lane >= systems * threads ? -1 : (lane / threads * run + lane % threads * s->q) / s->unit;
  s->period =
      kugel__tile_period(s->unit * kugel__real_bytes((kugel__type)s->real), WARP * s->q / s->unit, start);
}

/* Elements of shared memory: the tiles; ends of warps, twice; what a panel hands to the next. */
static int64_t tiles(const kugel__banded_shape *s)
{
  kugel__tile tile = tile_of(s);
  return s->warps * buffers(s) * s->unit * kugel__tile_size(&tile);
}

static int64_t carries(const kugel__banded_shape *s)
{
  return !s->panels ? 0 : s->threads == 1 ? s->warps * WARP : 1;
}

static int64_t elements(const kugel__banded_shape *s)
{
  kugel__team team = team_of(s);
  return tiles(s) + 2 * kugel__team_room(&team) + carries(s);
}

int64_t kugel__banded_shared(const kugel__banded_shape *s)
{
  return elements(s) * kugel__real_bytes((kugel__type)s->real);
}

/* ---- building ---- */

typedef struct build {
  const kugel__banded_shape *s;
  kugel__gen *g;
  kugel__val in, out, table, batch, n, rounds, step, shared, lane, group;
  kugel__val warp;   /* in the block */
  kugel__val slot;   /* of the thread's system in the tile */
  kugel__val start;  /* first element of the thread's part, in the system or panel */
  kugel__val column; /* of the table: the thread's number in the team */
  kugel__val carry;  /* index in shared memory */
  kugel__team team;
  kugel__tile tile;
  kugel__val rows[3 * KUGEL__BANDED_ELEMENTS + 2 * KUGEL__TEAM_REACHES]; /* of the table */
} build;

static kugel__val whole(int64_t x)
{
  return kugel__int(x);
}
static kugel__val zero(void)
{
  return kugel__real(dd_from(0));
}

static void set_up(build *b, kugel_ctx *ctx, kugel__gen *g)
{
  const kugel__banded_shape *s = b->s;
  kugel__gen_init(g, ctx, s->product ? "product" : "solve");
  g->threads = s->warps * WARP;
  g->blocks = s->resident;
  b->g = g;
  kugel__type real = (kugel__type)s->real, moved = s->unit == 2 ? kugel__pair_of(real) : real;
  b->in = kugel__gen_pointer(g, moved, "in");
  b->out = kugel__gen_pointer(g, moved, "out");
  b->table = kugel__gen_pointer(g, real, "table");
  b->batch = kugel__gen_parameter(g, KUGEL__I64, "batch");
  b->n = kugel__gen_parameter(g, KUGEL__U32, "n");
  b->rounds = kugel__gen_parameter(g, KUGEL__I64, "rounds");
  b->step = kugel__gen_parameter(g, KUGEL__I64, "step");
  b->shared = kugel__gen_shared(g, real, "shared", elements(s));
  b->group = kugel__gen_name(g, "block", kugel__gen_group_id(g));
  kugel__val thread = kugel__gen_name(g, "thread", kugel__gen_local_id(g));
  b->lane = kugel__gen_name(g, "lane", g_mod(g, thread, whole(WARP)));
  b->warp = s->warps > 1 ? kugel__gen_name(g, "warp", g_div(g, thread, whole(WARP))) : whole(0);
  bool many = s->threads > WARP;
  int threads = many ? WARP : s->threads;
  b->team = team_of(s);
  b->team.g = g;
  b->team.rank = kugel__gen_name(g, "rank", g_mod(g, b->lane, whole(threads)));
  b->team.warp = b->warp;
  b->team.shared = b->shared;
  b->slot = g_div(g, b->lane, whole(threads));
  if (WARP % threads)
    b->slot = g_min(g, b->slot, whole(kugel__banded_systems(s) - 1));
  b->slot = kugel__gen_name(g, "slot", b->slot);
  b->column = many ? thread : b->team.rank;
  b->start = kugel__gen_name(g, "start", g_mul(g, b->column, whole(s->q)));
  b->carry = g_add(g, whole(tiles(s) + 2 * kugel__team_room(&b->team)), many ? whole(0) : thread);
  b->tile = tile_of(s);
  b->tile.g = g;
  b->tile.lane = b->lane;
  b->tile.shared = b->shared;
}

/* The team's room in shared memory: calls take the two in turn. */
static void use_room(build *b, kugel__val number)
{
  b->team.room = g_add(b->g, whole(tiles(b->s)), g_mul(b->g, number, whole(kugel__team_room(&b->team))));
}

/* The thread's numbers of matrix `matrix` for the system's panel whose first column is `column`, of
 * `columns`. */
static void load_rows(build *b, int from, int to, kugel__val matrix, kugel__val column, kugel__val columns)
{
  kugel__gen *g = b->g;
  kugel__val at = g_add(g, g_add(g, column, b->column),
                        g_mul(g, g_mul(g, matrix, whole(kugel__banded_rows(b->s))), columns));
  for (int r = from; r < to; r++)
    b->rows[r] = kugel__gen_load(g, b->table, g_add(g, at, g_mul(g, columns, whole(r))), false);
}

/* ---- what is done with a part ---- */

/* One recurrence, whose rows begin at `row`; carry arrives at the system or panel. */
static void recur(build *b, kugel__val *y, bool backward, int row, int stage, kugel__val carry)
{
  kugel__gen *g = b->g;
  int q = b->s->q, first = backward ? q - 1 : 0, step = backward ? -1 : 1;
  const kugel__val *scale = b->rows + row, *off = scale + (stage == KUGEL__SCALED_STAGE ? q : 0);
  kugel__gen_note(g, backward ? "backward" : "forward");
  for (int j = 0; j < q && stage == KUGEL__SCALED_STAGE; j++)
    y[j] = g_mul(g, scale[j], y[j]);
  if (b->s->threads > 1) {
    kugel__val end = y[first], product = off[first];
    for (int k = 1, j = first + step; k < q; k++, j += step) {
      end = g_fma(g, off[j], end, y[j]);
      product = b->s->each ? g_mul(g, off[j], product) : product;
    }
    carry = kugel__team_scan(&b->team, backward, end, b->s->each ? &product : off + q, b->s->each, carry);
  }
  for (int k = 0, j = first; k < q; k++, j += step)
    carry = y[j] = g_fma(g, off[j], carry, y[j]);
}

/* left and right are the elements beside the part. */
static void multiply(build *b, kugel__val *y, kugel__val left, kugel__val right)
{
  kugel__gen *g = b->g;
  int q = b->s->q;
  const kugel__val *lower = b->rows, *diagonal = lower + (b->s->lower ? q : 0), *upper = diagonal + q;
  for (int j = 0; j < q; j++) {
    kugel__val x = g_mul(g, diagonal[j], y[j]);
    if (b->s->lower)
      x = g_fma(g, lower[j], left, x);
    if (b->s->upper)
      x = g_fma(g, upper[j], j + 1 < q ? y[j + 1] : right, x);
    left = y[j];
    y[j] = x;
  }
}

/* ---- between the tile and the part ---- */

/* Unit k of the part, and whether it may lie beyond the `count` elements of the system that the tile holds.
 */
static kugel__val unit_of(build *b, int k, kugel__val begin, kugel__val run, kugel__val count, bool inside)
{
  kugel__gen *g = b->g;
  kugel__val i = g_add(g, begin, whole(k * b->s->unit));
  if (inside) {
    kugel__val last = g_sub(g, count, whole(b->s->unit)), none = whole(0);
    i = g_min(g, i, b->s->panels ? kugel__gen_select(g, last, none, none, last) : last);
  }
  return g_div(g, g_add(g, g_mul(g, b->slot, run), i), whole(b->s->unit));
}

/* Systems lie `run` elements apart in the tile; the part begins at `begin` of its own. */
static void take(build *b, kugel__val *y, kugel__val begin, kugel__val run, kugel__val count)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  for (int k = 0; k < s->q / s->unit; k++) {
    kugel__val *x = y + k * s->unit, i = g_add(g, begin, whole(k * s->unit));
    kugel__tile_take(&b->tile, unit_of(b, k, begin, run, count, s->ragged), x);
    for (int j = 0; j < s->unit && s->ragged; j++)
      x[j] = kugel__gen_select(g, i, count, x[j], zero());
  }
}

static void put(build *b, const kugel__val *y, kugel__val begin, kugel__val run, kugel__val count)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  int threads = kugel__min(s->threads, WARP), busy = kugel__banded_systems(s) * threads;
  if (busy < WARP) { /* idle lanes have read what others overwrite */
    kugel__gen_warp_sync(g);
    kugel__gen_if(g, b->lane, whole(busy));
  }
  for (int k = 0; k < s->q / s->unit; k++) {
    if (s->ragged)
      kugel__gen_if(g, g_add(g, begin, whole(k * s->unit)), count);
    kugel__tile_put(&b->tile, unit_of(b, k, begin, run, count, false), y + k * s->unit);
    if (s->ragged)
      kugel__gen_end(g);
  }
  if (busy < WARP)
    kugel__gen_end(g);
}

/* ---- systems that are held whole ---- */

/* The units of a warp in round r: first, count (of its own, whatever the batch) and how many there are. */
typedef struct span {
  kugel__val number, first, count, all;
} span;

static span span_of(build *b, kugel__val round)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val unit = whole(s->unit), tile = g_add(g, b->group, g_mul(g, round, b->step));
  span p = {.all = g_div(g, g_mul(g, b->batch, b->n), unit)};
  if (s->threads > WARP) {
    kugel__val before = g_mul(g, b->warp, whole(WARP * s->q));
    p.number = tile;
    p.first = g_div(g, g_add(g, g_mul(g, tile, b->n), before), unit);
    p.count = g_div(g, g_min(g, g_sub(g, b->n, before), whole(WARP * s->q)), unit);
    return p;
  }
  p.number = g_mul(g, g_add(g, g_mul(g, tile, whole(s->warps)), b->warp), whole(kugel__banded_systems(s)));
  p.first = g_div(g, g_mul(g, p.number, b->n), unit);
  p.count = g_div(g, g_mul(g, b->n, whole(kugel__banded_systems(s))), unit);
  return p;
}

static void use_buffer(build *b, kugel__val round)
{
  kugel__gen *g = b->g;
  kugel__val of_warp = g_mul(g, b->warp, whole(buffers(b->s)));
  kugel__val buffer = b->s->panels ? whole(0) : g_mod(g, round, whole(2));
  b->tile.base = g_mul(g, g_add(g, of_warp, buffer), whole(kugel__tile_size(&b->tile)));
}

static void fetch(build *b, kugel__val round)
{
  kugel__gen *g = b->g;
  span p = span_of(b, round);
  use_buffer(b, round);
  kugel__val end = g_min(g, g_add(g, p.first, p.count), p.all);
  kugel__tile_fetch(&b->tile, b->in, p.first, g_sub(g, end, whole(1)));
}

static void work(build *b, kugel__val *y, kugel__val round)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  bool both = s->forward && s->backward;
  use_room(b, both || (s->product && s->lower && s->upper) ? whole(0) : g_mod(g, round, whole(2)));
  if (s->product) {
    kugel__val left = s->lower ? kugel__team_shift(&b->team, false, y[s->q - 1]) : zero();
    if (s->lower && s->upper)
      use_room(b, whole(1));
    multiply(b, y, left, s->upper ? kugel__team_shift(&b->team, true, y[0]) : zero());
    return;
  }
  if (s->forward)
    recur(b, y, false, 0, s->forward, zero());
  if (both)
    use_room(b, whole(1));
  if (s->backward)
    recur(b, y, true, stage_rows(s, s->forward), s->backward, zero());
}

static void whole_systems(build *b)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val y[KUGEL__BANDED_ELEMENTS], none = whole(0);
  /* of part of a warp, elements of the tile are those of the systems; of several warps, of its own */
  kugel__val begin = s->threads > WARP ? g_mul(g, b->team.rank, whole(s->q)) : b->start;
  kugel__gen_note(g, "the first tile is on its way while the coefficients are read");
  fetch(b, none);
  kugel__gen_async_commit(g);
  if (!s->each)
    load_rows(b, 0, kugel__banded_rows(s), none, none, whole(s->threads));
  kugel__val round = kugel__gen_for(g, "round", none, b->rounds);
  kugel__val next = g_add(g, round, whole(1));
  kugel__gen_if(g, next, b->rounds);
  fetch(b, next);
  kugel__gen_end(g);
  kugel__gen_async_commit(g);
  use_buffer(b, round);
  span p = span_of(b, round);
  if (s->each)
    load_rows(b, 0, kugel__banded_rows(s),
              g_min(g, g_add(g, p.number, b->slot), g_sub(g, b->batch, whole(1))), none, whole(s->threads));
  kugel__gen_async_wait(g, 1);
  kugel__gen_warp_sync(g);
  kugel__val count = s->threads > WARP ? g_mul(g, p.count, whole(s->unit)) : b->n;
  take(b, y, begin, b->n, count);
  work(b, y, round);
  put(b, y, begin, b->n, count);
  kugel__gen_warp_sync(g);
  kugel__tile_store(&b->tile, b->out, p.first, g_min(g, p.count, g_sub(g, p.all, p.first)));
  kugel__gen_warp_sync(g);
  kugel__gen_end(g);
}

/* ---- systems that go by in panels ---- */

/* A sweep over the panels of the block's systems. */
typedef struct pass {
  kugel__val from, panel;
  kugel__val number, before; /* of the thread's system; elements of it before the warp's of this panel */
  bool backward;
  int row, stage;
} pass;

/* Units of a system in the tile. */
static int run_units(const build *b)
{
  return kugel__min(b->s->threads, WARP) * b->s->q / b->s->unit;
}

/* Moves row k of the tile between memory and the tile. */
static void move_panel(build *b, const pass *p, int k, bool store)
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
    kugel__tile_fetch_row(&b->tile, k, p->from, g_add(g, g_mul(g, number, units), i));
    return;
  }
  kugel__gen_if(g, i, units);
  kugel__gen_if(g, number, b->batch);
  kugel__tile_store_row(&b->tile, k, b->out, g_add(g, g_mul(g, number, units), i));
  kugel__gen_end(g);
  kugel__gen_end(g);
}

/* The element after the panel of several warps, 0 where there is none. */
static kugel__val after_panel(build *b, const pass *p)
{
  kugel__gen *g = b->g;
  int64_t length = (int64_t)b->s->threads * b->s->q;
  kugel__val i = g_mul(g, g_add(g, p->panel, whole(1)), whole(length));
  kugel__val at = g_add(g, g_mul(g, p->number, b->n), g_min(g, i, g_sub(g, b->n, whole(b->s->unit)))), x;
  if (b->s->unit == 2)
    x = kugel__gen_load_pair(g, p->from, g_div(g, at, whole(2))).re;
  else
    x = kugel__gen_load(g, p->from, at, false);
  return kugel__gen_select(g, i, b->n, x, zero());
}

/* Keeps x of the thread that is last in the order of the sweep, for the next panel. */
static void carry_on(build *b, bool backward, kugel__val x)
{
  kugel__gen *g = b->g;
  bool many = b->s->threads > 1;
  if (many && backward)
    kugel__gen_if(g, b->column, whole(1));
  else if (many)
    kugel__gen_if(g, whole(b->s->threads - 2), b->column);
  kugel__gen_store(g, b->shared, b->carry, x);
  if (many)
    kugel__gen_end(g);
}

static void work_on_panel(build *b, const pass *p, kugel__val *y)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val carry = kugel__gen_load(g, b->shared, b->carry, false), one = whole(1), right = zero();
  use_room(b, whole(0));
  if (!s->product) {
    recur(b, y, p->backward, p->row, p->stage, carry);
    carry_on(b, p->backward, y[p->backward ? 0 : s->q - 1]);
    return;
  }
  kugel__val left = kugel__team_shift(&b->team, false, y[s->q - 1]);
  left = kugel__gen_select(g, b->column, one, carry, left);
  carry_on(b, false, y[s->q - 1]);
  use_room(b, one);
  if (s->upper) {
    right = kugel__team_shift(&b->team, true, y[0]);
    right = kugel__gen_select(g, whole(s->threads - 2), b->column, after_panel(b, p), right);
  }
  multiply(b, y, left, right);
}

static void sweep(build *b, pass p)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  kugel__val y[KUGEL__BANDED_ELEMENTS], one = whole(1), zero_at = whole(0);
  int64_t length = (int64_t)s->threads * s->q;
  bool many = s->threads > 1;
  if (many)
    kugel__gen_if(g, b->column, one);
  kugel__gen_store(g, b->shared, b->carry, zero());
  if (many)
    kugel__gen_end(g);
  kugel__gen_barrier(g);
  kugel__val k = kugel__gen_for(g, "step_of_panels", zero_at, b->rounds);
  p.panel = p.backward ? g_sub(g, g_sub(g, b->rounds, one), k) : k;
  p.before = g_mul(g, p.panel, whole(length));
  p.number = b->group;
  if (many)
    p.before = g_add(g, p.before, g_mul(g, b->warp, whole(WARP * s->q)));
  else
    p.number = g_add(g, g_mul(g, b->group, whole(s->warps * WARP)),
                     g_add(g, g_mul(g, b->warp, whole(WARP)), b->lane));
  use_buffer(b, zero_at);
  for (int row = 0; row < b->tile.units / WARP; row++)
    move_panel(b, &p, row, false);
  kugel__gen_async_commit(g);
  kugel__val matrix = s->each ? g_min(g, p.number, g_sub(g, b->batch, one)) : zero_at;
  load_rows(b, p.row, s->product ? kugel__banded_rows(s) : p.row + stage_rows(s, p.stage), matrix,
            g_mul(g, p.panel, whole(s->threads)), g_mul(g, b->rounds, whole(s->threads)));
  kugel__gen_async_wait(g, 0);
  kugel__gen_warp_sync(g);
  kugel__val count = g_min(g, g_sub(g, b->n, p.before), whole(run_units(b) * s->unit));
  kugel__val begin = many ? g_mul(g, b->team.rank, whole(s->q)) : zero_at,
             run = whole(run_units(b) * s->unit);
  take(b, y, begin, run, count);
  work_on_panel(b, &p, y);
  put(b, y, begin, run, count);
  kugel__gen_warp_sync(g);
  for (int row = 0; row < b->tile.units / WARP; row++)
    move_panel(b, &p, row, true);
  kugel__gen_barrier(g);
  kugel__gen_end(g);
}

static void panels(build *b)
{
  const kugel__banded_shape *s = b->s;
  if (s->product || s->forward)
    sweep(b, (pass){.from = b->in, .stage = s->forward});
  if (!s->product && s->backward)
    sweep(b, (pass){.from = s->forward ? b->out : b->in,
                    .backward = true,
                    .row = stage_rows(s, s->forward),
                    .stage = s->backward});
}

void kugel__banded_build(const kugel__banded_shape *s, kugel_ctx *ctx, kugel__gen *g)
{
  build b = {.s = s};
  set_up(&b, ctx, g);
  (s->panels ? panels : whole_systems)(&b);
}
