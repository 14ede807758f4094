/* SPDX-License-Identifier: BSD-3-Clause */
/* Routines of level 1 in the interpreter: recurrences over teams of every size against long double, tiles,
 * bank conflicts; and that the interpreter finds what is forgotten around them. */
#include "check.h"
#include "codegen/banks.h"
#include "codegen/interp.h"
#include "codegen/team.h"
#include "codegen/tile.h"

enum { BLOCKS = 2, MOST = 256 };

static kugel__val zero(void)
{
  return kugel__real(dd_from(0));
}

/* ---- scans ---- */

typedef struct scan {
  int threads; // of a team, and of a block if the team is whole warps
  int abreast; // 0: not
  bool backward, carried, carry;
} scan;

// Arrays of a block: what a thread's part does, what arrives. [threads] or [threads][teams abreast].
static void build_scan(const scan *s, kugel__gen *g)
{
  int block = s->abreast ? s->abreast * s->threads : s->threads <= 32 ? 32 : s->threads;
  kugel__gen_init(g, NULL, "scan");
  g->threads = block;
  kugel__val ends = kugel__gen_pointer(g, KUGEL__F64, "ends"),
             table = kugel__gen_pointer(g, KUGEL__F64, "table");
  kugel__val out = kugel__gen_pointer(g, KUGEL__F64, "out");
  kugel__val thread = kugel__gen_local_id(g), lane = g_mod(g, thread, kugel__int(32)),
             reach[KUGEL__TEAM_REACHES];
  kugel__team t = {.g = g, .threads = s->threads, .abreast = s->abreast};
  t.warps = s->abreast || s->threads > 32 ? block / 32 : 1;
  t.rank = s->abreast        ? g_div(g, lane, kugel__int(s->abreast))
           : s->threads > 32 ? lane
                             : g_mod(g, thread, kugel__int(s->threads));
  t.side = s->abreast ? g_mod(g, lane, kugel__int(s->abreast)) : kugel__int(0);
  t.warp = g_div(g, thread, kugel__int(32));
  t.room = kugel__int(0);
  if (kugel__team_room(&t))
    t.shared = kugel__gen_shared(g, KUGEL__F64, "shared", kugel__team_room(&t));
  kugel__val at = g_add(g, g_mul(g, kugel__gen_group_id(g), kugel__int(block)), thread);
  for (int k = 0; k < KUGEL__TEAM_REACHES; k++)
    reach[k] = kugel__gen_load(g, table, g_add(g, thread, kugel__int(k * block)), false);
  kugel__val carry = s->carry ? kugel__gen_load(g, ends, kugel__int(BLOCKS * block), false) : zero();
  kugel__val x =
      kugel__team_scan(&t, s->backward, kugel__gen_load(g, ends, at, false), reach, s->carried, carry);
  kugel__gen_store(g, out, at, x);
}

// Thread number and step of the parts before it, in the order of the recurrence.
static double scan_error(const scan *s)
{
  int block = s->abreast         ? s->abreast * s->threads
              : s->threads <= 32 ? 32
                                 : s->threads,
      apart = s->abreast ? s->abreast : 1;
  int in_warp = s->abreast ? 32 / s->abreast : s->threads < 32 ? s->threads : 32;
  static double ends[BLOCKS * 32 * MOST + 1], table[KUGEL__TEAM_REACHES * 32 * MOST], out[BLOCKS * 32 * MOST];
  static double part[32 * MOST];
  uint64_t seed = (uint64_t)s->threads;
  for (int i = 0; i <= BLOCKS * block; i++)
    ends[i] = check_random(&seed);
  for (int i = 0; i < block; i++)
    part[i] = check_random(&seed);
  kugel__team t = {
      .threads = s->threads, .abreast = s->abreast, .warps = s->threads > 32 || s->abreast ? 2 : 1};
  for (int i = 0; i < block; i++)
    for (int k = 0; k < KUGEL__TEAM_REACHES; k++) {
      int number = i / apart % s->threads, rank = s->backward ? s->threads - 1 - number : number;
      int place = rank % in_warp, step = s->backward ? -apart : apart;
      bool before = in_warp > 1 && k == kugel__team_levels(&t);
      double *x = &table[k * block + i];
      *x = 1;
      for (int d = before; d <= place && (before || d < 1 << k); d++)
        if (i - d * step >= 0 && i - d * step < block)
          *x *= part[i - d * step];
    }
  kugel__gen g;
  build_scan(s, &g);
  kugel__argument args[] = {{.data = ends, .size = BLOCKS * block + 1},
                            {.data = table, .size = KUGEL__TEAM_REACHES * block},
                            {.data = out, .size = BLOCKS * block}};
  CHECK_OK(kugel__gen_run(&g, args, 0, BLOCKS));
  kugel__gen_free(&g);
  long double worst = 0;
  int used = s->abreast ? block : block / s->threads * s->threads;
  for (int b = 0; b < BLOCKS; b++)
    for (int i = 0; i < used; i++) {
      int number = i / apart % s->threads, first = i - number * apart;
      long double x = s->carry ? (long double)ends[BLOCKS * block] : 0;
      for (int r = 0; r < (s->backward ? s->threads - 1 - number : number); r++) {
        int from = first + (s->backward ? s->threads - 1 - r : r) * apart;
        x = (long double)ends[b * block + from] + (long double)part[from] * x;
      }
      long double e = x - (long double)out[b * block + i];
      worst = e > worst ? e : -e > worst ? -e : worst;
    }
  return (double)worst;
}

/* ---- elements that are dealt ---- */

/* A warp of teams of `threads`, q elements a thread, each of which becomes the one `distance` before it. */
static void check_dealt(int threads, int q, int distance, bool backward)
{
  double in[32 * 8], out[32 * 8];
  int length = threads * q, teams = 32 / threads;
  kugel__gen g;
  kugel__gen_init(&g, NULL, "dealt");
  g.threads = 32;
  kugel__val from = kugel__gen_pointer(&g, KUGEL__F64, "from"), to = kugel__gen_pointer(&g, KUGEL__F64, "to");
  kugel__val thread = kugel__gen_local_id(&g), y[8], number = g_div(&g, thread, kugel__int(threads));
  kugel__team t = {.g = &g, .threads = threads, .warps = 1};
  t.rank = g_mod(&g, thread, kugel__int(threads));
  t.start = g_mul(&g, number, kugel__int(threads));
  kugel__val first = g_add(&g, g_mul(&g, number, kugel__int(length)), t.rank);
  for (int j = 0; j < q; j++)
    y[j] = kugel__gen_load(&g, from, g_add(&g, first, kugel__int(threads * j)), false);
  for (int j = 0; j < q; j++)
    kugel__gen_store(&g, to, g_add(&g, first, kugel__int(threads * j)),
                     kugel__team_dealt(&t, backward, y, q, j, distance));
  for (int i = 0; i < 32 * q; i++)
    in[i] = i + 1;
  kugel__argument args[] = {{.data = in, .size = 32 * q}, {.data = out, .size = 32 * q}};
  CHECK_OK(kugel__gen_run(&g, args, 0, 1));
  kugel__gen_free(&g);
  for (int i = 0; i < teams * length; i++) {
    int place = i % length + (backward ? distance : -distance);
    double want = place >= 0 && place < length ? in[i - i % length + place] : 0;
    if (out[i] != want)
      CHECK_FAIL("%d threads of %d, distance %d, element %d: %g, not %g", threads, q, distance, i, out[i],
                 want);
  }
}

/* ---- what the interpreter finds ---- */

enum { FINE, NO_WAIT, NO_SYNC, NO_BARRIER };

// A block of two warps; each turns a tile around, or (NO_BARRIER) reads that of the other.
static kugel_status run_tile(int unit, int period, int forgotten, double *worst)
{
  enum { UNITS = 64 };
  kugel__gen g;
  kugel__gen_init(&g, NULL, "turn");
  g.threads = 64;
  kugel__type moved = unit == 2 ? KUGEL__C64 : KUGEL__F64;
  kugel__val in = kugel__gen_pointer(&g, moved, "in"), out = kugel__gen_pointer(&g, moved, "out");
  kugel__val thread = kugel__gen_local_id(&g), lane = g_mod(&g, thread, kugel__int(32));
  kugel__val warp = g_div(&g, thread, kugel__int(32)), x[2][2];
  kugel__tile t = {.g = &g, .unit = unit, .units = UNITS, .period = period, .lane = lane};
  t.shared = kugel__gen_shared(&g, KUGEL__F64, "shared", 2 * unit * kugel__tile_size(&t));
  t.base = g_mul(&g, warp, kugel__int(kugel__tile_size(&t)));
  kugel__val first = g_mul(&g, warp, kugel__int(UNITS));
  kugel__tile_fetch(&t, in, first, kugel__int(UNITS - 2)); // the last unit is not there
  kugel__gen_async_commit(&g);
  if (forgotten != NO_WAIT)
    kugel__gen_async_wait(&g, 0);
  if (forgotten != NO_SYNC)
    kugel__gen_warp_sync(&g);
  if (forgotten == NO_BARRIER)
    t.base = g_sub(&g, kugel__int(kugel__tile_size(&t)), t.base);
  for (int k = 0; k < 2; k++)
    kugel__tile_take(&t, g_sub(&g, kugel__int(UNITS - 1 - k), g_mul(&g, lane, kugel__int(2))), x[k]);
  kugel__gen_warp_sync(&g);
  for (int k = 0; k < 2; k++)
    kugel__tile_put(&t, g_add(&g, g_mul(&g, lane, kugel__int(2)), kugel__int(k)), x[k]);
  kugel__gen_warp_sync(&g);
  kugel__tile_store(&t, out, first, kugel__int(UNITS - 1));
  static double a[4 * UNITS], b[4 * UNITS];
  for (int i = 0; i < 2 * UNITS * unit; i++) {
    a[i] = i;
    b[i] = -1;
  }
  kugel__argument args[] = {{.data = a, .size = 2 * UNITS}, {.data = b, .size = 2 * UNITS}};
  kugel_status s = kugel__gen_run(&g, args, 0, 1);
  *worst = 0;
  for (int w = 0; w < 2; w++)
    for (int i = 0; i < UNITS; i++)
      for (int p = 0; p < unit; p++) {
        int from = UNITS - 1 - i < UNITS - 1 ? UNITS - 1 - i : UNITS - 2;
        double want = i < UNITS - 1 ? a[(w * UNITS + from) * unit + p] : -1;
        *worst += fabs(b[(w * UNITS + i) * unit + p] - want);
      }
  kugel__gen_free(&g);
  return s;
}

int main(void)
{
  CASE("recurrences over teams")
  {
    for (int threads = 1; threads <= MOST; threads += threads < 32 ? 1 : threads < 128 ? 32 : 128)
      for (int v = 0; v < 4; v++) {
        scan s = {threads, 0, v & 1, v & 2, threads > 32 && v % 3};
        double e = scan_error(&s);
        if (!(e < 1e-14))
          CHECK_FAIL("%d threads, variant %d: %g", threads, v, e);
      }
  }
  CASE("recurrences over teams that stand abreast")
  {
    for (int abreast = 4; abreast <= 32; abreast *= 2)
      for (int warps = 1; warps <= 16; warps += 3)
        for (int v = 0; v < 8; v++) {
          scan s = {32 / abreast * warps, abreast, v & 1, v & 2, warps > 1 && v & 4};
          double e = scan_error(&s);
          if (!(e < 1e-14))
            CHECK_FAIL("%d abreast of %d threads, variant %d: %g", abreast, s.threads, v, e);
        }
  }
  CASE("elements that are dealt to a team")
  {
    for (int threads = 2; threads <= 32; threads *= 2)
      for (int q = 1; q <= 8; q += 1 + q / 2)
        for (int distance = 1; distance < threads * q; distance *= 2)
          for (int backward = 0; backward < 2; backward++)
            check_dealt(threads, q, distance, backward);
  }
  CASE("tiles, and what is forgotten around them")
  {
    double worst;
    for (int unit = 1; unit <= 2; unit++)
      for (int period = 0; period <= 32; period = period ? 2 * period : 4) {
        CHECK_OK(run_tile(unit, period, FINE, &worst));
        CHECK(worst == 0);
      }
    CHECK_IS(run_tile(1, 0, NO_WAIT, &worst), KUGEL_EINTERNAL);
    CHECK(strstr(kugel_last_error(), "on its way"));
    CHECK_IS(run_tile(2, 4, NO_SYNC, &worst), KUGEL_EINTERNAL);
    CHECK(strstr(kugel_last_error(), "race"));
    CHECK_IS(run_tile(1, 8, NO_BARRIER, &worst), KUGEL_EINTERNAL);
    CHECK(strstr(kugel_last_error(), "without a barrier"));
  }
  CASE("bank conflicts")
  {
    int64_t word[32], start[32];
    for (int stride = 1; stride <= 32; stride *= 2) {
      for (int lane = 0; lane < 32; lane++)
        word[lane] = (int64_t)lane * stride;
      CHECK(kugel__bank_conflicts(4, word) == stride);
      CHECK(kugel__bank_conflicts(8, word) == (stride < 16 ? stride : 16));
    }
    for (int lane = 0; lane < 32; lane++)
      start[lane] = 4 * lane;
    int period = kugel__tile_period(16, 128, start); // of 4 units of 16 bytes a lane
    CHECK(period == 4 || period == 8);
  }
  END();
}
