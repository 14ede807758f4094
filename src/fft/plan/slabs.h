/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of one array over several ranks, on the CPU: by slabs, or by pencils on a grid of P x Q ranks, of which slabs are
 * those with Q = 1.
 *
 * Rank p Q + q has of the data the planes p along axis 0 and the strip q along axis 1; of the spectrum, with s[d] = n[d] but for
 * the halved axis, the rows p along axis 1 and the columns q, which are elements of axis 2 with all of axes 3 and more:
 *
 *   data [planes p][strip q][all columns]  -- axes 2 and more; trade 0 with the ranks of the same p -->
 *        [planes p][all rows][columns q]   -- axis 1; trade 1 with the ranks of the same q -->
 *        [n[0]][rows p][columns q]         -- axis 0: the spectrum
 *
 * and back. Slabs have no trade 0. A trade is an exchange in pieces: of planes in trade 0, of columns in trade 1; while one flies,
 * the one before is used and the next one made. Consecutive ranks, which are on one host as a rule, trade most of what there is.
 * Each line is transformed whole, by one rank, by the solver that suits full vectors of lines, whatever the number of its lines and
 * their strides: hence the same bits for any number and grid of ranks.
 *
 * A message of trade 0 is [planes][strip][columns], of trade 1 [rows][planes][columns] on the way to the spectrum: the transforms along axis
 * 1 write it; and [planes][rows][columns] on the way back, written by those along axis 0. */
#ifndef KUGEL_FFT_PLAN_SLABS_H
#define KUGEL_FFT_PLAN_SLABS_H

#include "comm/layout.h"
#include "fft/cpu/pass.h"

typedef struct kugel__slabs {
  kugel_comm *comm;
  int rank, size, pieces;
  int grid[2], at[2];            /* P, Q; this rank's p, q */
  int64_t planes, rows, columns; /* of all: n[0], s[1], s[2] s[3] ... */
  int64_t inner;                 /* s[3] s[4] ...: columns of an element of axis 2 */
  int64_t *plane, *row;          /* [P + 1]: those of p are plane[p] ... plane[p + 1] - 1 */
  int64_t *strip, *column;       /* [Q + 1]: of axis 1 of the data; of all columns */
  size_t *
      messages; /* [2][4][size], forward: bytes to each rank, where; from each, where; in trade 0 of a plane, in 1 of a column */
} kugel__slabs;

/* Of a plan with opts.comm, in the middle of an agreement. */
kugel_status kugel__slabs_create(kugel_fft *p);
void kugel__slabs_destroy(kugel_fft *p);
/* Fills in what the rank has, and the grid. */
void kugel__slabs_info(const kugel__slabs *d, kugel_fft_info *info);
kugel_status kugel__slabs_execute(const kugel_fft *p, int sign, const kugel_array *in,
                                  const kugel_array *out);

/* ---- within an execution ---- */

typedef struct kugel__slabs_job {
  const kugel_fft *plan;
  const kugel__slabs *d;
  bool back;
  int64_t number;                       /* bytes of a complex number */
  int64_t planes, rows, strip, columns; /* of this rank */
  char *in, *out;                       /* of this item of the batch */
  char *work;                           /* [planes][all rows][columns]: `out` itself, or scratch */
  char *strips;                         /* [planes of a piece][strip][all columns]: scratch */
  char *send, *recv;                    /* messages of two pieces each, the way forward */
  size_t most_out, most_in;             /* bytes of a piece */
} kugel__slabs_job;

/* What a piece of trade 0 and 1 takes or makes on the side where it starts, and where it ends. */
kugel_status kugel__slabs_fill(const kugel__slabs_job *t, int trade, int piece);
kugel_status kugel__slabs_use(const kugel__slabs_job *t, int trade, int piece);
/* Slabs: axes 2 and more, before trade 1 forward and after it back, where two dimensions have axis 1. */
kugel_status kugel__slabs_inner(const kugel__slabs_job *t);

/* Planes, or columns, before a piece. */
static inline int64_t kugel__slabs_before(const kugel__slabs_job *t, int trade, int piece)
{
  return (trade ? t->columns : t->planes) * piece / t->d->pieces;
}

#endif
