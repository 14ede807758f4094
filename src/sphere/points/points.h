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
  int64_t
      pitch; /* from circle to circle of the torus, in complex numbers: not a multiple of 4 KiB, which few lines of a cache share */
  kugel__leg *leg;
  kugel_fft *fft; /* along the circle */
  kugel_nufft *nufft;
  bool single;                   /* FFTs in float, on a device */
  struct kugel__points_gpu *gpu; /* of a plan on a device, sphere/points/gpu.h */
};

struct kugel_sht_points {
  kugel_sht_points_plan *plan;
  int64_t n;
  kugel_nufft_points *places;
  struct kugel__points_gpu_points *gpu;
};

void kugel__points_release(kugel_sht_points_plan *plan);

/* Points without places. */
kugel_status kugel__points_open(const kugel_sht_points_plan *plan, int64_t n, kugel_sht_points **out);
/* Of the continuation of component c over the poles: 1 if its sign is that of m + 1, 0 if that of m. */
int kugel__points_odd(const kugel_sht_points_plan *p, int c);

/* Checks what an execution is given; gives the batch. */
kugel_status kugel__points_check(const kugel_sht_points *points, const kugel_array *alm,
                                 const kugel_array *values, kugel_queue *queue, int64_t *batch);

#endif
