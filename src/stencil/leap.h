/* SPDX-License-Identifier: BSD-3-Clause */
/* Several steps in time in one pass over device memory. A block owns a tile of columns, as a marching kernel does (stencil/march.h), and
 * halos of as many nodes as all its steps reach. It marches along the slowest axis, and in each iteration every stage j works `lag`
 * planes behind stage j - 1: the plane of a level whose neighbours in the plane it needs is in shared memory, its neighbours along the
 * march, and the level before, are in registers of the thread that owns the column. Nodes in halos are computed by several blocks; each
 * node has the arithmetic of a single step, in its order.
 *
 * Stages are steps of leapfrog, or the four of a step of Runge-Kutta. Plans have one field. Where it is multiplied with a coefficient before it
 * is differentiated, as in transposes, products are in shared memory, for neighbours along the march too. */
#ifndef KUGEL_STENCIL_LEAP_H
#define KUGEL_STENCIL_LEAP_H

#include "stencil/march.h"

enum { KUGEL__LEAP_STEPS = 8, KUGEL__LEAP_WORDS = 29 };

/* All that the text of a kernel depends on. */
typedef struct kugel__leap_shape {
  kugel__march_shape march; /* of one source and target; wide, tall and rows are those of this kernel */
  int32_t stages;
  int32_t nested; /* stages of Runge-Kutta: out = a_j L in + u; else of leapfrog */
  int32_t walls;  /* some end is not periodic */
  int32_t ring;   /* coefficients wait in shared memory for their next stage */
} kugel__leap_shape;

typedef struct kugel__leap_setting {
  const kugel_stencil *plan;
  int64_t shared;    /* bytes of a block */
  int most, threads; /* stages wanted, 0: by the model; threads of a block */
  bool nested, walls, unrolled;
  /* By role: rows next to an end that are not those inside, and the nodes from the end on that they read. */
  int64_t first[3], span[3];
  bool mirrored; /* an end of the march: its planes go without the pass */
} kugel__leap_setting;

static inline int kugel__leap_lag(const kugel__leap_shape *s)
{
  return s->march.reach > 1 ? s->march.reach : 1;
}

/* Planes of a level in shared memory: those whose neighbours in the plane are still needed, and where products with a coefficient are read,
 * all that a difference reaches. */
static inline int kugel__leap_hold(const kugel__leap_shape *s)
{
  return (s->march.source[0].coefficient ? 2 : 1) * kugel__leap_lag(s) + 1;
}

static inline int kugel__leap_reach(const kugel__leap_shape *s, int role)
{
  return role ? s->march.source[0].halo[role - 1] : s->march.reach;
}

/* Nodes next to an end of an axis for which a pass has no values, 0: none. */
int64_t kugel__leap_end(const kugel__leap_setting *set, const kugel__leap_shape *s, int role);

/* The shape of the most stages per pass that pay; false: none. */
bool kugel__leap_choose(const kugel__leap_setting *s, const kugel__march_sheet *sheet,
                        kugel__leap_shape *out);

int64_t kugel__leap_shared(const kugel__leap_shape *s); /* bytes of a block */
kugel__module_spec kugel__leap_module(const kugel__leap_shape *s);
void kugel__leap_walls(struct kugel__text *text); /* functions for ends that are not periodic */

#endif
