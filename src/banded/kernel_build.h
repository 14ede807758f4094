/* SPDX-License-Identifier: BSD-3-Clause */
/* A banded kernel under construction: what its parts in several files share. */
#ifndef KUGEL_BANDED_KERNEL_BUILD_H
#define KUGEL_BANDED_KERNEL_BUILD_H

#include "banded/kernel.h"
#include "codegen/tile.h"

enum { KUGEL__WARP = 32, KUGEL__BANDED_ROWS = 5 * KUGEL__BANDED_ELEMENTS + 2 * KUGEL__TEAM_REACHES + 1 };

typedef struct kugel__banded_band {
  const kugel__banded_shape *s;
  kugel__gen *g;
  kugel__val in, out, table, batch, n, rounds, step, shared; /* parameters; shared memory */
  kugel__val group, warp, lane;                              /* block, warp of it, lane of that */
  kugel__val row_of_teams; /* abreast: number of the thread's among those of the block */
  kugel__val slot;         /* of the thread's system in the tile */
  kugel__val column;       /* of the table: the thread's number in the team */
  kugel__val carry;        /* index in shared memory of what goes from panel to panel */
  kugel__val first_room;   /* of the team's two in shared memory */
  kugel__team team;
  kugel__tile tile;
  /* The thread's numbers of the table, in rows (or pairs of rows) `columns` apart: those known so far. */
  kugel__val table_at, columns, held[KUGEL__BANDED_ROWS];
  bool known[KUGEL__BANDED_ROWS];
} kugel__banded_band;

static inline kugel__val whole(int64_t x)
{
  return kugel__int(x);
}
static inline kugel__val zero(void)
{
  return kugel__real(dd_from(0));
}

/* Where a part lies in the tile: of the system in `slot`, `run` elements for each, from `begin` on; `count`
 * elements of the system are there. */
typedef struct kugel__band_part {
  kugel__val begin, run, count;
} kugel__band_part;

/* Points the thread at its numbers of matrix `matrix`, in the panel whose first column is `column`, of
 * `columns`. They are loaded here if the shape says that they are held, else where they are used. */
void kugel__band_table(kugel__banded_band *b, kugel__val matrix, kugel__val column, kugel__val columns);

/* The thread's number in that row of the table. */
kugel__val kugel__band_number(kugel__banded_band *b, int row);

/* The two rooms of the team in turn: by the number's parity. */
void kugel__band_room(kugel__banded_band *b, kugel__val number);

/* One recurrence of the part y, whose rows of the table begin at `row`; carry arrives at the system. */
void kugel__band_recur(kugel__banded_band *b, kugel__val *y, bool backward, kugel__val carry);
/* The product of the part y; left and right are the elements beside it. */
void kugel__band_multiply(kugel__banded_band *b, kugel__val *y, kugel__val left, kugel__val right);

/* A solve or a product of the part y that is held; round: of those that take turns with two rooms. */
void kugel__band_work(kugel__banded_band *b, kugel__val *y, kugel__val round);

/* From the tile to the part and back. */
void kugel__band_take(kugel__banded_band *b, const kugel__band_part *at, kugel__val *y);
void kugel__band_put(kugel__banded_band *b, const kugel__band_part *at, const kugel__val *y);
/* The warp's tile: of a round, of those that take turns. */
void kugel__band_buffer(kugel__banded_band *b, kugel__val round);

/* Keeps x of the thread that is last in the order of a sweep, for the next panel; sets that to zero. */
void kugel__band_carry_on(kugel__banded_band *b, bool backward, kugel__val x);
void kugel__band_carry_nothing(kugel__banded_band *b);

/* The kinds of kernels: systems that are held whole, or go by in panels; layout COLUMNS; no shared memory between. */
void kugel__band_whole(kugel__banded_band *b);
void kugel__band_panels(kugel__banded_band *b);
void kugel__band_columns(kugel__banded_band *b);
void kugel__band_direct(kugel__banded_band *b);

#endif
