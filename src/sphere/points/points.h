/* SPDX-License-Identifier: BSD-3-Clause */
/* Harmonic sums at points: Legendre sums on equidistant colatitudes, their continuation to the torus, an FFT in theta, a
 * non-uniform FFT in (theta, phi).
 *
 * With F_m(theta) = sum_l a_lm lambda_lm(theta) = sum_k c_km e^{i k theta}, |k| <= lmax, a real field is
 *   f(theta, phi) = Re sum_{m >= 0} (2 - [m = 0]) e^{i m phi} F_m(theta),
 * so that only the modes m >= 0 are transformed, as those of real data. All `circle` coefficients in theta are modes: those
 * beyond lmax are zero to rounding, and synthesis and adjoint stay each other's transposes.
 */
#ifndef KUGEL_SPHERE_POINTS_POINTS_H
#define KUGEL_SPHERE_POINTS_POINTS_H

#include <stdatomic.h>
#include <kugel/fft.h>
#include <kugel/nufft.h>
#include <kugel/points.h>
#include "sphere/alm/sets.h"
#include "sphere/legendre/legendre.h"

struct kugel_sht_points_plan {
  kugel_ctx *ctx;
  atomic_int references; /* the caller's and one per set of points */
  kugel_sht_mode mode;
  int spin, n_alm, n_map;
  int64_t lmax, mmax, nalm;
  double tolerance;
  int64_t rings, circle; /* colatitudes 0 ... pi, samples of a whole circle: 2 (rings - 1) */
  int64_t npairs, row;
  kugel__leg *leg;
  kugel_fft *fft; /* along the circle */
  kugel_nufft *nufft;
};

struct kugel_sht_points {
  kugel_sht_points_plan *plan;
  int64_t n;
  kugel_nufft_points *places;
};

void kugel__points_release(kugel_sht_points_plan *plan);

/* Checks what an execution is given; gives the batch. */
kugel_status kugel__points_check(const kugel_sht_points *points, const kugel_array *alm,
                                 const kugel_array *values, kugel_queue *queue, int64_t *batch);

#endif
