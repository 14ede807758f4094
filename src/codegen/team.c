/* SPDX-License-Identifier: BSD-3-Clause */
#include "codegen/team.h"

enum { WARP = 32 };

/* Threads of a warp that are of one team. */
static int in_warp(const kugel__team *t)
{
  return t->upright ? 1 : t->threads < WARP ? t->threads : WARP;
}

int64_t kugel__team_room(const kugel__team *t)
{
  return t->warps > 1 ? 2 * t->warps * (t->upright ? WARP : 1) : 0;
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
  return (backward ? kugel__gen_shuffle_down : kugel__gen_shuffle_up)(t->g, x, distance);
}

/* Number of a thread or warp of `count` in the order of the recurrence. */
static kugel__val in_order(kugel__gen *g, bool backward, kugel__val number, int count)
{
  return backward ? g_sub(g, kugel__int(count - 1), number) : number;
}

/* Where a warp's number is kept: its end (what = 0) or its reach (1). */
static kugel__val room(const kugel__team *t, int what, kugel__val warp)
{
  kugel__gen *g = t->g;
  kugel__val at = g_add(g, warp, kugel__int(what * t->warps));
  if (t->upright)
    at = g_add(g, g_mul(g, at, kugel__int(WARP)), t->rank);
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
    kugel__gen_if(g, kugel__int(WARP - 2), rank);
    kugel__gen_store(g, t->shared, room(t, 0, warp), x);
    kugel__gen_end(g);
    kugel__gen_barrier(g);
    kugel__val at = g_sub(g, kugel__gen_select(g, warp, one, one, warp), one);
    before = kugel__gen_select(g, warp, one, zero(), kugel__gen_load(g, t->shared, room(t, 0, at), false));
  }
  return kugel__gen_select(g, rank, one, before, from(t, backward, x, 1));
}

/* What arrives at a warp: the ends of the warps before it, in turn. */
static kugel__val arrives(const kugel__team *t, bool backward, kugel__val rank, kugel__val end,
                          kugel__val reach, kugel__val carry)
{
  kugel__gen *g = t->g;
  kugel__val warp = in_order(g, backward, t->warp, t->warps);
  if (!t->upright)
    kugel__gen_if(g, kugel__int(WARP - 2), rank);
  kugel__gen_store(g, t->shared, room(t, 0, warp), end);
  kugel__gen_store(g, t->shared, room(t, 1, warp), reach);
  if (!t->upright)
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
  if (t->upright)
    return arrives(t, backward, t->rank, end, reach[0], carry);
  kugel__val rank = kugel__gen_name(g, "order", in_order(g, backward, t->rank, in_warp(t)));
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
  kugel__val way = carried ? kugel__gen_select(g, rank, one, unit, from(t, backward, all, 1))
                           : reach[kugel__team_levels(t)];
  if (t->warps > 1)
    carry = arrives(t, backward, rank, end, carried ? all : g_mul(g, way, reach[0]), carry);
  return g_fma(g, way, carry, before);
}
