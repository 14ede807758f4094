/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums at points on a device, against direct sums and the CPU. */
#ifndef KUGEL_TESTS_POINTS_DEVICE_H
#define KUGEL_TESTS_POINTS_DEVICE_H

#include "device/every.h"
#include "sphere/points/problem.h"

/* Values and adjoints by the device against direct sums, the CPU and each other. `error`: what is allowed besides the tolerance,
 * `dots`: of the adjoint identity. */
static inline void one(kugel_ctx *ctx, problem *p, double error, double dots)
{
  const int64_t values = p->sets.map * p->n, numbers = 2 * p->sets.alm * p->nalm;
  const int64_t mmax = p->opts.mmax == KUGEL_ONLY_M0 ? 0 : p->opts.mmax;
  double *alm = random_alm(p->sets.alm, p->opts.lmax, mmax, p->sets.lowest), *f = random_numbers(values, 5),
         *got = calloc((size_t)values, 8), *again = calloc((size_t)values, 8),
         *want = calloc((size_t)values, 8), *there = calloc((size_t)numbers, 8),
         *back = calloc((size_t)numbers, 8);
  object here = make(NULL, p), device = make(ctx, p);
  host_apply(&device, p, false, alm, got);
  host_apply(&device, p, false, alm, again);
  CHECK(!memcmp(got, again, (size_t)values * 8));
  host_apply(&here, p, false, alm, want);
  CHECK_LE(check_l2(got, want, (size_t)values), 2 * p->opts.tolerance + error);
  if (!p->by)
    direct(p, alm, want);
  CHECK_LE(check_l2(got, want, (size_t)values), p->opts.tolerance + error);
  host_apply(&device, p, true, there, f);
  host_apply(&device, p, true, back, f);
  CHECK(!memcmp(there, back, (size_t)numbers * 8));
  double left = dot(values, got, f), right = alm_dot(p->sets.alm, p->nalm, p->opts.lmax, alm, there);
  CHECK_LE(fabs(left - right), dots * sqrt(dot(values, got, got) * dot(values, f, f)));
  host_apply(&here, p, true, back, f);
  CHECK_LE(check_l2(there, back, (size_t)numbers), 2 * p->opts.tolerance + error);
  drop(&here), drop(&device);
  free(alm), free(f), free(got), free(again), free(want), free(there), free(back), free(p->x), free(p->by);
}

#endif
