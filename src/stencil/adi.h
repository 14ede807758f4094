/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of alternating directions, see stencil/adi.c: their moves, and what the moves of each axis need. */
#ifndef KUGEL_STENCIL_ADI_H
#define KUGEL_STENCIL_ADI_H

#include "stencil/plan.h"

typedef struct kugel__stencil_move {
  int axis;
  bool implicit;
} kugel__stencil_move;

typedef struct kugel__stencil_adi {
  const kugel_stencil *p;
  bool transposed;
  bool turned;              /* lines of the middle axis are columns of [n, outer inner] */
  const char *coefficients; /* all of the plan in host memory; NULL: where the terms say */
  int count;                /* of moves of a step */
  kugel__stencil_move moves[10];
  kugel__stencil_line second[3];     /* compact: B along each axis, as the side needs it */
  kugel__stencil_side side[3];       /* E_d - 1, with k in the factors */
  kugel__stencil_solver **solver[3]; /* I_d of each field; NULL: 1 */
} kugel__stencil_adi;

/* p, transposed, turned and coefficients are set, the rest is 0. Cleared after failures too. */
kugel_status kugel__stencil_adi_make(kugel__stencil_adi *a, double dt);
void kugel__stencil_adi_clear(kugel__stencil_adi *a);

#endif
