/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums at points on a device. The grid stays there between the stages: Legendre sums, circles of the torus, their FFT, a
 * non-uniform FFT in (phi, theta).
 *
 * Non-uniform transforms there are complex. The orders m = 0 ... mmax alone are their modes, -half ... mmax - half, and the real
 * part is taken of what they give times e^{i half phi}: half the grid of all orders. Circles are multiplied by (-1)^i, so that
 * the modes in theta ascend, too. */
#ifndef KUGEL_SPHERE_POINTS_GPU_H
#define KUGEL_SPHERE_POINTS_GPU_H

#include "codegen/module.h"
#include "device/lend.h"
#include "fft/gpu/work.h"
#include "sphere/legendre/gpu.h"
#include "sphere/points/points.h"

struct kugel__points_gpu {
  kugel__device *dev;
  kugel__leg_gpu *leg;
  kugel__module *torus;
  kugel__kernel *extend, *fold, *to_values, *from_values;
  int64_t row;                  /* pairs of a row of Legendre sums */
  size_t coefs, leg_work, grid; /* bytes of these parts of the work memory */
  kugel__gpu_work work;
};

/* Of a set of points, parts of one block of device memory: phases [n], and of lenses turns [n], complex numbers of the plan's
 * precision. */
struct kugel__points_gpu_points {
  void *memory;
  kugel__mem phase, turn; /* turn.base NULL: directions stay */
};

kugel_status kugel__points_gpu_create(kugel_sht_points_plan *p);
void kugel__points_gpu_destroy(kugel_sht_points_plan *p);
uint64_t kugel__points_gpu_bytes(const kugel_sht_points_plan *p);

/* Points [n, 2], checked but for their numbers; with a deflection [2, n] (NULL: none) those at its end, with turns. Returns when
 * they are sorted. */
kugel_status kugel__points_gpu_place(kugel_sht_points *p, const kugel_array *points,
                                     const kugel_array *deflection);
void kugel__points_gpu_points_destroy(kugel_sht_points *p);

/* Arrays that were checked. */
kugel_status kugel__points_gpu_run(const kugel_sht_points *p, bool to_alm, const kugel_array *alm,
                                   const kugel_array *values, int64_t batch, kugel_queue *queue);
kugel_status kugel__points_gpu_solve(const kugel_sht_points *p, const kugel_array *values,
                                     const kugel_array *alm, const kugel_solve_opts *o,
                                     kugel_solve_stats *stats, kugel_queue *queue);

/* Lends an array and gives its first element, in units of `bytes`: kernels get the memory from its start, because OpenCL's
 * buffers begin at multiples of 128 bytes. */
kugel_status kugel__points_gpu_lend(const kugel_sht_points_plan *p, const kugel_array *a, const char *name,
                                    int use, int64_t bytes, kugel_queue *queue, kugel__loan *loan,
                                    int64_t *at);

/* The module of kernels/places.cl; floats: of coordinates. */
kugel_status kugel__points_gpu_module(const kugel_sht_points_plan *p, bool floats, kugel__module **module);

/* Copies to the host and waits for it. */
kugel_status kugel__points_gpu_read(kugel__device *dev, kugel__mem from, void *to, size_t bytes,
                                    kugel_queue *queue);

#endif
