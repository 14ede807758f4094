/* SPDX-License-Identifier: BSD-3-Clause */
/* Couplings on devices: kernels/coupling.cl makes diagonals, kernels/diagonals.cl sums of them. */
#ifndef KUGEL_SPHERE_SPECTRA_COUPLING_GPU_H
#define KUGEL_SPHERE_SPECTRA_COUPLING_GPU_H

#include "sphere/spectra/coupling.h"
#include "sphere/spectra/sums.h"

/* Whether a context's couplings are made on its device: one that runs kernels in double precision. */
bool kugel__coupling_on_device(kugel_ctx *ctx);

/* kugel__coupling_each on the device: the diagonals come to the host. */
kugel_status kugel__coupling_gpu_each(kugel_ctx *ctx, const kugel_coupling_opts *o, kugel__diagonals_use use,
                                      void *arg);

/* kugel__coupling_sums on the device; sums->out is overwritten. */
kugel_status kugel__coupling_gpu_sums(kugel_ctx *ctx, const kugel_coupling_opts *o,
                                      const kugel__band_sums *sums);

/* out[i][l] = sum over l' of Xi(l, l') of family[i] times in[i][l'], i < count <= KUGEL__SUMS. */
kugel_status kugel__coupling_gpu_products(kugel_ctx *ctx, const kugel_coupling_opts *o, int count,
                                          const int *family, const double *in, double *out);

/* The matrices of `masks` spectra o->mask_cl [masks][lmax_mask + 1], to an array on the device. */
kugel_status kugel__coupling_gpu_matrices(kugel_ctx *ctx, const kugel_coupling_opts *o, int64_t masks,
                                          const kugel_array *xi, kugel_queue *queue);

#endif
