/* SPDX-License-Identifier: BSD-3-Clause */
/* The transforms of fft/rings.h on a device: all pairs in one call, all arrays in device memory. */
#ifndef KUGEL_FFT_RINGS_GPU_H
#define KUGEL_FFT_RINGS_GPU_H

#include "device/device.h"
#include "fft/rings/rings.h"

typedef struct kugel__rings_gpu kugel__rings_gpu;

kugel_status kugel__rings_gpu_create(kugel_ctx *ctx, const kugel__rings_desc *desc, kugel__rings_gpu **out);
void kugel__rings_gpu_destroy(kugel__rings_gpu *plan);

enum { KUGEL__RINGS_GPU_MAPS = 8 }; /* of one call, of any plan */
/* The most that a plan takes, which is at least this. */
int kugel__rings_gpu_most(const kugel__rings_gpu *plan);
/* Bytes of work memory that a call needs. */
size_t kugel__rings_gpu_work(const kugel__rings_gpu *plan);

/* Bytes of double-precision tables that a plan keeps for rings of n pixels after rings of `before`, both in order of
 * their lengths; before = 0: for the first. */
int64_t kugel__rings_gpu_tables(int64_t n, int64_t before);

/* Whether rings of n pixels are transformed by chirps, which take 2.1 times as long per pixel (72 ps; other rings 30 in synthesis, 36
 * in its adjoint: H200, nside 4096). */
bool kugel__rings_gpu_chirped(int64_t n);

/* leg[m][row][4]: north re, im, south re, im of each pair, from complex element leg_at on. The map starts at
 * element map_at; more maps and their coefficients follow at the strides. */
typedef struct kugel__rings_gpu_job {
  kugel__mem leg, map, work;
  int64_t leg_at, row, map_at;
  int maps; /* at least 1 */
  int64_t leg_stride, map_stride;
  bool f32;
  kugel__mem weight; /* [npairs][2] factors of north and south, on the side of the map; base NULL: 1 */
  int check; /* adjoint: 1: bad pixels count as zero; 2: and their number is added to the int32 at bad */
  kugel__mem bad;
} kugel__rings_gpu_job;

/* Queued; the memory of the job must stay. The first map in single precision compiles kernels and takes memory. */
kugel_status kugel__rings_gpu_synth(kugel__rings_gpu *plan, const kugel__rings_gpu_job *job,
                                    kugel_queue *queue);
kugel_status kugel__rings_gpu_adjoint(kugel__rings_gpu *plan, const kugel__rings_gpu_job *job,
                                      kugel_queue *queue);

#endif
