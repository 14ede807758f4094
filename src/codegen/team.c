/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/team.h"

enum { WARP = 32 };

/* Threads of a warp that are of one team. */
static int in_warp(const kugel__team *t)
{
  return t->abreast ? WARP / t->abreast : t->threads < WARP ? t->threads : WARP;
}

/* Lanes from one thread of a team to the next. */
static int apart(const kugel__team *t)
{
  return t->abreast ? t->abreast : 1;
}

int64_t kugel__team_room(const kugel__team *t)
{
  return t->warps > 1 ? 2 * t->warps * apart(t) : 0;
}

int kugel__team_levels(const kugel__team *t)
{
  int levels = 0;
  while (1 << levels < in_warp(t))
    levels++;
  return levels;
}

int kugel__team_reaches(const kugel__team *t)
{
  return t->threads == 1 ? 0 : kugel__team_levels(t) + (t->warps > 1);
}

static kugel__val zero(void)
{
  return kugel__real(dd_from(0));
}

static kugel__val from(const kugel__team *t, bool backward, kugel__val x, int distance)
{
  return (backward ? kugel__gen_shuffle_down : kugel__gen_shuffle_up)(t->g, x, distance * apart(t));
}

/* Number of a thread or warp of `count` in the order of the recurrence. */
static kugel__val in_order(kugel__gen *g, bool backward, kugel__val number, int count)
{
  return backward ? g_sub(g, kugel__int(count - 1), number) : number;
}

/* For the thread that is the warp's last in the order of the recurrence. */
static void if_last(const kugel__team *t, kugel__val rank)
{
  kugel__gen_if(t->g, kugel__int(in_warp(t) - 2), in_warp(t) == 1 ? kugel__int(0) : rank);
}

/* Where a warp's number is kept: its end (what = 0) or its reach (1). */
static kugel__val room(const kugel__team *t, int what, kugel__val warp)
{
  kugel__gen *g = t->g;
  kugel__val at = g_add(g, warp, kugel__int(what * t->warps));
  if (t->abreast)
    at = g_add(g, g_mul(g, at, kugel__int(t->abreast)), t->side);
  return g_add(g, t->room, at);
}

kugel__val kugel__team_shift(const kugel__team *t, bool backward, kugel__val x)
{
  kugel__gen *g = t->g;
  if (t->threads == 1)
    return zero();
  kugel__val rank = in_order(g, backward, t->rank, in_warp(t)), before = zero(), one = kugel__int(1);
  if (t->warps > 1) {
    kugel__val warp = in_order(g, backward, t->warp, t->warps);
    if_last(t, rank);
    kugel__gen_store(g, t->shared, room(t, 0, warp), x);
    kugel__gen_end(g);
    kugel__gen_barrier(g);
    kugel__val at = g_sub(g, kugel__gen_select(g, warp, one, one, warp), one);
    before = kugel__gen_select(g, warp, one, zero(), kugel__gen_load(g, t->shared, room(t, 0, at), false));
  }
  return kugel__gen_select(g, rank, one, before, from(t, backward, x, 1));
}

static kugel__val element(const kugel__val *y, int q, int j)
{
  return j >= 0 && j < q ? y[j] : zero();
}

kugel__val kugel__team_dealt(const kugel__team *t, bool backward, const kugel__val *y, int q, int j,
                             int distance)
{
  kugel__gen *g = t->g;
  int rows = distance / t->threads, lanes = distance % t->threads, step = backward ? 1 : -1;
  kugel__val near = element(y, q, j + rows * step), far = element(y, q, j + (rows + 1) * step);
  if (!lanes)
    return near;
  /* The thread that is asked gives what the asking one needs. */
  kugel__val rank = in_order(g, backward, t->rank, t->threads);
  kugel__val given = kugel__gen_select(g, rank, kugel__int(t->threads - lanes), near, far);
  kugel__val by = kugel__int(backward ? lanes : t->threads - lanes), threads = kugel__int(t->threads);
  kugel__val source = g_mod(g, g_add(g, t->rank, by), threads);
  return kugel__gen_shuffle(g, given, g_add(g, t->start, source));
}

/* What arrives at a warp: the ends of the warps before it, in turn. */
static kugel__val arrives(const kugel__team *t, bool backward, kugel__val rank, kugel__val end,
                          kugel__val reach, kugel__val carry)
{
  kugel__gen *g = t->g;
  kugel__val warp = in_order(g, backward, t->warp, t->warps);
  if_last(t, rank);
  kugel__gen_store(g, t->shared, room(t, 0, warp), end);
  kugel__gen_store(g, t->shared, room(t, 1, warp), reach);
  kugel__gen_end(g);
  kugel__gen_barrier(g);
  for (int w = 0; w + 1 < t->warps; w++) {
    kugel__val e = kugel__gen_load(g, t->shared, room(t, 0, kugel__int(w)), false);
    kugel__val r = kugel__gen_load(g, t->shared, room(t, 1, kugel__int(w)), false);
    carry = kugel__gen_select(g, kugel__int(w), warp, g_fma(g, r, carry, e), carry);
  }
  return carry;
}

kugel__val kugel__team_scan(const kugel__team *t, bool backward, kugel__val end, const kugel__val *reach,
                            bool carried, kugel__val carry)
{
  kugel__gen *g = t->g;
  if (t->threads == 1)
    return carry;
  bool alone = in_warp(t) == 1;
  kugel__val rank =
      alone ? kugel__int(0) : kugel__gen_name(g, "order", in_order(g, backward, t->rank, in_warp(t)));
  kugel__val one = kugel__int(1), all = reach[0];
  bool whole = t->warps > 1 || !kugel__equals(carry, 0); // what arrives from before the warp
  for (int k = 0; k < kugel__team_levels(t); k++) {
    kugel__val by = carried ? all : reach[k], d = kugel__int(1 << k);
    end = kugel__gen_select(g, rank, d, end, g_fma(g, by, from(t, backward, end, 1 << k), end));
    if (carried)
      all = kugel__gen_select(g, rank, d, all, g_mul(g, all, from(t, backward, all, 1 << k)));
  }
  kugel__val before = kugel__gen_select(g, rank, one, zero(), from(t, backward, end, 1));
  if (!whole)
    return before;
  kugel__val unit = kugel__real(dd_from(1));
  kugel__val way = alone     ? unit
                   : carried ? kugel__gen_select(g, rank, one, unit, from(t, backward, all, 1))
                             : reach[kugel__team_levels(t)];
  if (t->warps > 1)
    carry = arrives(t, backward, rank, end, carried ? all : g_mul(g, way, reach[0]), carry);
  return g_fma(g, way, carry, before);
}
