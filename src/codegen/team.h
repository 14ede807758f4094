/* SPDX-License-Identifier: BSD-3-Clause */
/* Routines of level 1 on values that the threads of a team hold: a line parted among them, in the order of
 * their ranks. A team is part of a warp, a warp, or several warps; or some teams stand abreast: 2 to 32 of them
 * share each of their warps, and lane l is of team l mod abreast. All teams of a block do the same. */
#ifndef KUGEL_CODEGEN_TEAM_H
#define KUGEL_CODEGEN_TEAM_H

#include "codegen/gen.h"

enum { KUGEL__TEAM_LEVELS = 5, KUGEL__TEAM_REACHES = KUGEL__TEAM_LEVELS + 1 };

typedef struct kugel__team {
  kugel__gen *g;
  int threads;      /* 1 to 32, or whole warps; of teams abreast: a multiple of 32 / abreast */
  int warps;        /* that have threads of the team */
  int abreast;      /* a power of two, or 0 */
  kugel__val rank;  /* U32: of this thread in the own warp's part of the team */
  kugel__val warp;  /* U32: of the team's warps; only where there are several */
  kugel__val start; /* U32: lane of the team's first thread; only for kugel__team_dealt */
  kugel__val side;  /* U32: number of the team among those abreast */
  kugel__val
      shared;      /* array with room for kugel__team_room(team) elements at `room`; only for several warps */
  kugel__val room; /* rooms of calls that no barrier parts must not be the same */
} kugel__team;

int64_t kugel__team_room(const kugel__team *t);
/* Levels of a scan over the threads of a warp; numbers of `reach` that kugel__team_scan takes. */
int kugel__team_levels(const kugel__team *t);
int kugel__team_reaches(const kugel__team *t);

/* x of the thread before this one in the team, or after it if backward; 0 where there is none.
 * Of several warps: one barrier. */
kugel__val kugel__team_shift(const kugel__team *t, bool backward, kugel__val x);

/* A line dealt to the threads of a team in turn: thread r has elements r, r + threads ... as y[0 .. q - 1].
 * What is `distance` elements before this thread's y[j], or after it if backward; 0 where there is none. The
 * team's threads are a power of two up to 32. */
kugel__val kugel__team_dealt(const kugel__team *t, bool backward, const kugel__val *y, int q, int j,
                             int distance);

/* What arrives at this thread's part of a recurrence. A part turns what arrives into end + reach times it;
 * carry is what arrives at the first part of all. Backward: the last rank's part is the first. Of several
 * warps: one barrier.
 *
 * reach[k] is the product over 2^k parts up to this one (as far as there are such in the warp), and if the
 * team has several warps, reach[kugel__team_levels] that over all parts of the warp before this one, or over
 * this one if it is alone in the warp: numbers of a table. Or with `carried` only reach[0] is given, and the products go through the
 * scan too. */
kugel__val kugel__team_scan(const kugel__team *t, bool backward, kugel__val end, const kugel__val *reach,
                            bool carried, kugel__val carry);

#endif
