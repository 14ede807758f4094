/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms in the ball over ranks, on the CPU: rows by orders <-> values by shells.
 *
 * A rank has the rows (l, m) of its orders m, all l of each, so that operators, which go from degree to degree, need no other rank;
 * and the values of a run of radii, whose spherical-harmonic transforms are whole. Between them, chunk of degrees by chunk:
 *
 *   rows of own orders, all radii -- to the owner of each radius --> alm of own radii, all orders
 *
 * A message of a chunk is an array of alm [map][number], as kugel__ball_turn writes them: the maps of the radii of the rank that has
 * the values, and of each the orders of the one that has the rows, rising, with the degrees of the chunk. While a chunk flies, the next is
 * transformed in radius, or packed. The chunks, the engines of their transforms in radius, and the maps of a radius do not depend on the
 * number of ranks; each row and each shell is transformed whole. So the bits are those of one process. */
#ifndef KUGEL_BALL_RANKS_H
#define KUGEL_BALL_RANKS_H

#include "ball/ball.h"
#include "comm/layout.h"

typedef struct kugel__ball_ranks {
  kugel_comm *comm;
  int rank, size;
  int64_t *shell; /* [size + 1]: radii of rank r are shell[r] ... shell[r + 1] - 1 */
  int64_t *begin; /* [size + 1]: orders of rank r are order[begin[r]] ... order[begin[r + 1] - 1], rising */
  int64_t *order; /* [mmax + 1] */
} kugel__ball_ranks;

/* Who has what, of a plan whose sizes are those of one process; then its sizes are this rank's. In the middle of an agreement. */
kugel_status kugel__ball_ranks_create(kugel_ball *p);
void kugel__ball_ranks_destroy(kugel_ball *p);
/* Bytes of the messages of a call. */
size_t kugel__ball_ranks_bytes(const kugel_ball *p, int components);
/* Numbers that rank r has of each map in the degrees of a chunk. */
int64_t kugel__ball_width(const kugel_ball *p, int r, int chunk);

/* A transform of `batch` fields, or this rank's failure: collective, with the agreement. */
kugel_status kugel__ball_ranks_run(kugel__ball_call *c, kugel_status s, int64_t batch, char *coeffs,
                                   char *values);
/* Sums over all orders, [batch][count], of own[batch][orders][count], in the order of m: the same everywhere. With the agreement. */
kugel_status kugel__ball_ranks_sum(const kugel_ball *p, kugel_status s, int64_t batch, int64_t count,
                                   const double *own, double *sum);

/* Plans of rank 0 whose transforms are shared among the ranks that serve (comm/lead.h); `radii` and `sphere` as in opts. */
kugel_status kugel__ball_be_led(kugel_ball *p, const double *radii, const kugel_grid *sphere);
void kugel__ball_unlead(kugel_ball *p);
kugel_status kugel__ball_led_run(const kugel__ball_call *c, int64_t batch, char *coeffs, char *values);
extern const struct kugel__lead_kind kugel__ball_served;

#endif
