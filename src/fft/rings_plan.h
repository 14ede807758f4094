/* SPDX-License-Identifier: BSD-3-Clause */
/* What a ring plan holds; the work is done by rings.isa.c. */
#ifndef KUGEL_FFT_RINGS_PLAN_H
#define KUGEL_FFT_RINGS_PLAN_H

#include "fft/lanes.h"
#include "fft/rings.h"

/* e^{i m phi0} = coarse[m / 64] fine[m % 64]. */
enum { KUGEL__FINE = 64 };
typedef struct kugel__phase {
  double phi0;
  const double *coarse, *fine; /* complex */
} kugel__phase;

/* One length: n = parts * sub, the parts transformed side by side and combined with step[j] = e^{-2 pi i j /
 * n}, j < sub. */
typedef struct kugel__ring_length {
  int64_t n, sub;
  int parts;
  kugel__lanes *lanes; /* length sub */
  kugel__lanes *whole; /* length n, for VLEN rings of this length side by side; NULL if never needed */
  const double *step;
} kugel__ring_length;

/* A ring pair, or one lone ring with the other offset -1. */
typedef struct kugel__ring_job {
  int64_t pair;
  int64_t offset_north, offset_south;
  int length, phase; /* indices */
  int64_t mlim;
} kugel__ring_job;

struct kugel__rings {
  kugel_ctx *ctx;
  int64_t npairs, mmax, max_n, work; /* work: points a worker needs */
  int64_t njobs;
  kugel__ring_job *jobs; /* by rising pair */
  int64_t *first_job;    /* [npairs + 1] */
  int nlengths, nphases;
  kugel__ring_length *lengths; /* by rising n */
  kugel__phase *phases;
  double *tables;
};

typedef struct kugel__ring_call {
  const kugel__rings *plan;
  int64_t p0, p1, m_stride, row;
  double *leg;
  void *map;
  bool f32, adjoint;
  const double *weight_north, *weight_south;
  char *scratch;
  size_t scratch_size;
} kugel__ring_call;

typedef struct kugel__ring_ops {
  /* `count` jobs from `first`: VLEN rings of one length if count == VLEN, else one after another. */
  void (*run)(const kugel__ring_call *call, int64_t first, int64_t count, double *work);
} kugel__ring_ops;

#endif
