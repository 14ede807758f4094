/* SPDX-License-Identifier: BSD-3-Clause */
/* What all banded kernels have: shapes, ids and parameters, arithmetic on the part of a thread. */
#include <string.h>
#include "banded/kernel_build.h"

enum { WARP = KUGEL__WARP };

/* ---- shapes ---- */

static kugel__team team_of(const kugel__banded_shape *s)
{
  int warps = s->abreast ? s->threads * s->abreast / WARP : s->threads > WARP ? s->warps : 1;
  return (kugel__team){.threads = s->threads, .warps = warps, .abreast = s->abreast};
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

/* Levels of a cyclic reduction that have coefficients of their own in the table. */
static int levels(const kugel__banded_shape *s)
{
  int n = 0;
  while (1 << n < s->threads * s->q)
    n++;
  return s->each && n ? 1 : n;
}

int kugel__banded_stage_rows(const kugel__banded_shape *s, int stage)
{
  if (s->cyclic && stage)
    return s->q * (levels(s) + (stage == KUGEL__SCALED_STAGE));
  return stage ? s->q * (stage + s->spread) + kugel__banded_reaches(s) : 0;
}

int kugel__banded_rows(const kugel__banded_shape *s)
{
  int rows = s->product ? s->q * (1 + s->lower + s->upper)
                        : kugel__banded_stage_rows(s, s->forward) + kugel__banded_stage_rows(s, s->backward);
  return s->real == KUGEL__DD ? rows : rows + rows % 2; /* pairs */
}

/* Tiles of a warp: one is computed while the next one arrives. */
static int buffers(const kugel__banded_shape *s)
{
  return s->panels ? 1 : 2;
}

void kugel__banded_pad(kugel__banded_shape *s, int64_t n)
{
  int64_t start[WARP];
  int systems = kugel__banded_systems(s), threads = s->threads < WARP ? s->threads : WARP;
  int64_t run = s->panels ? (int64_t)threads * s->q : n; /* elements of a system in the tile */
  for (int lane = 0; lane < WARP; lane++)
    start[lane] = lane >= systems * threads ? -1 : (lane / threads * run + lane % threads * s->q) / s->unit;
  s->period =
      kugel__tile_period(s->unit * kugel__real_bytes((kugel__type)s->real), WARP * s->q / s->unit, start);
}

/* Elements of shared memory: the tiles; rooms of the block's teams, twice; what panels hand on. */
static int64_t tiles(const kugel__banded_shape *s)
{
  kugel__tile tile = tile_of(s);
  return s->abreast || s->direct ? 0 : s->warps * buffers(s) * s->unit * kugel__tile_size(&tile);
}

static int64_t rooms(const kugel__banded_shape *s)
{
  kugel__team team = team_of(s);
  return 2 * kugel__team_room(&team) * (s->abreast ? s->warps / team.warps : 1);
}

static int64_t carries(const kugel__banded_shape *s)
{
  if (!s->panels)
    return 0;
  return s->abreast ? kugel__banded_held(s) : s->threads == 1 ? s->warps * WARP : 1;
}

static int64_t elements(const kugel__banded_shape *s)
{
  return tiles(s) + rooms(s) + carries(s);
}

int64_t kugel__banded_shared(const kugel__banded_shape *s)
{
  return elements(s) * kugel__real_bytes((kugel__type)s->real);
}

/* ---- ids and parameters ---- */

static void set_up_team(kugel__banded_band *b, kugel__val thread)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  int threads = s->threads < WARP ? s->threads : WARP;
  b->team = team_of(s);
  b->team.g = g;
  b->team.shared = b->shared;
  b->team.room = whole(tiles(s));
  kugel__val carries_at = whole(tiles(s) + rooms(s));
  if (s->abreast) {
    kugel__val abreast = whole(s->abreast), warps = whole(b->team.warps);
    b->row_of_teams = g_div(g, b->warp, warps);
    b->team.rank = g_div(g, b->lane, abreast);
    b->team.side = kugel__gen_name(g, "side", g_mod(g, b->lane, abreast));
    b->team.warp = g_mod(g, b->warp, warps);
    b->column = g_add(g, g_mul(g, b->team.warp, whole(WARP / s->abreast)), b->team.rank);
    b->column = kugel__gen_name(g, "part", b->column);
    b->team.room = g_add(g, b->team.room, g_mul(g, b->row_of_teams, whole(2 * kugel__team_room(&b->team))));
    b->carry = g_add(g, carries_at, g_add(g, g_mul(g, b->row_of_teams, abreast), b->team.side));
    return;
  }
  b->team.rank = kugel__gen_name(g, "rank", g_mod(g, b->lane, whole(threads)));
  b->team.warp = b->warp;
  b->slot = g_div(g, b->lane, whole(threads));
  if (WARP % threads)
    b->slot = g_min(g, b->slot, whole(kugel__banded_systems(s) - 1));
  b->slot = kugel__gen_name(g, "slot", b->slot);
  b->team.start = g_mul(g, b->slot, whole(threads));
  b->column = s->threads > WARP ? thread : b->team.rank;
  b->carry = s->threads > WARP ? carries_at : g_add(g, carries_at, thread);
}

static void set_up(kugel__banded_band *b, kugel_ctx *ctx, kugel__gen *g)
{
  const kugel__banded_shape *s = b->s;
  kugel__gen_init(g, ctx, s->product ? "product" : "solve");
  g->threads = s->warps * WARP;
  g->blocks = s->resident;
  b->g = g;
  kugel__type real = (kugel__type)s->real, moved = s->unit == 2 ? kugel__pair_of(real) : real;
  b->in = kugel__gen_pointer(g, moved, "in");
  b->out = kugel__gen_pointer(g, moved, "out");
  b->table = kugel__gen_pointer(g, real == KUGEL__DD ? real : kugel__pair_of(real), "table");
  b->batch = kugel__gen_parameter(g, KUGEL__U32, "batch");
  b->n = kugel__gen_parameter(g, KUGEL__U32, "n");
  b->rounds = kugel__gen_parameter(g, KUGEL__I64, "rounds");
  b->step = kugel__gen_parameter(g, KUGEL__U32, "step");
  if (elements(s))
    b->shared = kugel__gen_shared(g, real, "shared", elements(s));
  b->group = kugel__gen_name(g, "block", kugel__gen_narrow(g, kugel__gen_group_id(g)));
  kugel__val thread = kugel__gen_name(g, "thread", kugel__gen_local_id(g));
  b->lane = kugel__gen_name(g, "lane", g_mod(g, thread, whole(WARP)));
  b->warp = s->warps > 1 ? kugel__gen_name(g, "warp", g_div(g, thread, whole(WARP))) : whole(0);
  set_up_team(b, thread);
  b->tile = tile_of(s);
  b->tile.g = g;
  b->tile.lane = b->lane;
  b->tile.shared = b->shared;
}

/* ---- numbers of the table ---- */

/* Rows that lie as pairs of numbers. */
static int together(const kugel__banded_shape *s)
{
  return s->real == KUGEL__DD ? 1 : 2;
}

kugel__val kugel__band_number(kugel__banded_band *b, int row)
{
  kugel__gen *g = b->g;
  int first = row - row % together(b->s);
  if (b->known[first])
    return b->held[row];
  kugel__val at = g_add(g, b->table_at, g_mul(g, b->columns, whole(first / together(b->s))));
  b->known[first] = true;
  if (together(b->s) == 1)
    return b->held[row] = kugel__gen_load(g, b->table, at, false);
  kugel__cval pair = kugel__gen_load_pair(g, b->table, at);
  b->held[first] = pair.re;
  b->held[first + 1] = pair.im;
  return b->held[row];
}

/* What is not held is read again. */
static void forget(kugel__banded_band *b)
{
  if (!b->s->held)
    memset(b->known, 0, sizeof b->known);
}

void kugel__band_table(kugel__banded_band *b, kugel__val matrix, kugel__val column, kugel__val columns)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  int rows = kugel__banded_rows(s);
  kugel__val at = g_add(g, column, b->column);
  if (s->abreast && s->each) { /* the matrices side by side, too */
    kugel__val batch = kugel__gen_widen(g, b->batch);
    b->table_at = g_add(g, g_mul(g, at, batch), matrix);
    b->columns = g_mul(g, columns, batch);
  } else {
    kugel__val size = g_mul(g, whole(rows / together(s)), columns);
    b->table_at = g_add(g, at, g_mul(g, kugel__gen_widen(g, matrix), size));
    b->columns = columns;
  }
  memset(b->known, 0, sizeof b->known);
  for (int r = 0; r < rows && s->held; r++)
    kugel__band_number(b, r);
}

/* ---- what is done with a part ---- */

void kugel__band_room(kugel__banded_band *b, kugel__val number)
{
  kugel__gen *g = b->g;
  kugel__val first = b->first_room;
  b->team.room = g_add(g, first, g_mul(g, number, whole(kugel__team_room(&b->team))));
}

void kugel__band_recur(kugel__banded_band *b, kugel__val *y, bool backward, kugel__val carry)
{
  kugel__gen *g = b->g;
  const kugel__banded_shape *s = b->s;
  int q = s->q, first = backward ? q - 1 : 0, step = backward ? -1 : 1;
  int stage = backward ? s->backward : s->forward,
      row = backward ? kugel__banded_stage_rows(s, s->forward) : 0;
  int off = row + (stage == KUGEL__SCALED_STAGE ? q : 0);
  kugel__gen_note(g, backward ? "backward" : "forward");
  for (int j = 0; j < q && stage == KUGEL__SCALED_STAGE; j++)
    y[j] = g_mul(g, kugel__band_number(b, row + j), y[j]);
  if (s->threads > 1) {
    kugel__val end = y[first], reach[KUGEL__TEAM_REACHES];
    reach[0] = s->each ? kugel__band_number(b, off + first) : zero();
    for (int k = 1, j = first + step; k < q; k++, j += step) {
      end = g_fma(g, kugel__band_number(b, off + j), end, y[j]);
      reach[0] = s->each ? g_mul(g, kugel__band_number(b, off + j), reach[0]) : zero();
      y[j] = s->spread ? end : y[j];
    }
    for (int k = 0; k < kugel__banded_reaches(s); k++)
      reach[k] = kugel__band_number(b, off + q + k);
    carry = kugel__team_scan(&b->team, backward, end, reach, s->each, carry);
    forget(b);
  }
  int products = off + q + kugel__banded_reaches(s);
  for (int k = 0, j = first; k < q; k++, j += step)
    if (s->spread)
      y[j] = g_fma(g, kugel__band_number(b, products + j), carry, y[j]);
    else
      carry = y[j] = g_fma(g, kugel__band_number(b, off + j), carry, y[j]);
}

void kugel__band_multiply(kugel__banded_band *b, kugel__val *y, kugel__val left, kugel__val right)
{
  kugel__gen *g = b->g;
  int q = b->s->q, diagonal = b->s->lower ? q : 0, upper = diagonal + q;
  for (int j = 0; j < q; j++) {
    kugel__val x = g_mul(g, kugel__band_number(b, diagonal + j), y[j]);
    if (b->s->lower)
      x = g_fma(g, kugel__band_number(b, j), left, x);
    if (b->s->upper)
      x = g_fma(g, kugel__band_number(b, upper + j), j + 1 < q ? y[j + 1] : right, x);
    left = y[j];
    y[j] = x;
  }
}

void kugel__band_carry_on(kugel__banded_band *b, bool backward, kugel__val x)
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

void kugel__band_carry_nothing(kugel__banded_band *b)
{
  kugel__band_carry_on(b, true, zero());
  kugel__gen_barrier(b->g);
}

void kugel__banded_build(const kugel__banded_shape *s, kugel_ctx *ctx, kugel__gen *g)
{
  kugel__banded_band b = {.s = s};
  set_up(&b, ctx, g);
  b.first_room = b.team.room;
  (s->abreast  ? kugel__band_columns
   : s->direct ? kugel__band_direct
   : s->panels ? kugel__band_panels
               : kugel__band_whole)(&b);
}
