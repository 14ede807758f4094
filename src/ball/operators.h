/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators as sums of ladder steps between components. */
#ifndef KUGEL_BALL_OPERATORS_H
#define KUGEL_BALL_OPERATORS_H

#include "ball/ladder.h"

enum { KUGEL__BALL_STEPS = 4 };

/* sign sqrt(l^p (l + 1)^q (2 l + 1)^r) times a ladder step, of degrees from `first` on. As in kernels/series.cl. */
typedef struct kugel__ball_step {
  int32_t out, in, shift; /* components; degree of `in` less l */
  int32_t ladder;         /* kugel__ladder */
  int32_t first;          /* 1: of l = 0, vectors have b alone, and potentials give nothing */
  int32_t sign, p, q, r, pad;
} kugel__ball_step;

typedef struct kugel__ball_op {
  int in, out, steps; /* components, ladder steps */
  kugel__ball_step step[KUGEL__BALL_STEPS];
} kugel__ball_op;

#endif
