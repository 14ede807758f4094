/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm and radices a length is transformed with, by measured costs. */
#ifndef KUGEL_FFT_CPU_RADICES_H
#define KUGEL_FFT_CPU_RADICES_H

#include "fft/cpu/lanes.h"

typedef struct kugel__radices {
  int count;
  int64_t radix[KUGEL__MAX_STAGES]; /* in the order of the stages; primes above KUGEL__MAX_RADIX: Rader */
  int64_t bluestein;                /* 0, or the length of the convolution that replaces the stages */
  double cost;                      /* of one transform, in units of a radix-8 stage's time a point */
} kugel__radices;

kugel__radices kugel__radices_of(int64_t n);

/* The rows LANE_SOLVER of fft/solvers.def. Costs of stages may be infinite; `bluestein` leaves the stages' radices. */
#define LANE_SOLVER(name, better) void better(int64_t n, kugel__radices *best);
#include "fft/solvers.def"

/* The fewest stages of radices to 16 and primes to 31, for devices; count 0: n has larger
 * primes. */
kugel__radices kugel__radices_fewest(int64_t n);
/* The length at least n with the least such cost, for convolutions. */
int64_t kugel__radices_above(int64_t n);

#endif
