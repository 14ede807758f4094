/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan behind kugel_regrid. */
#ifndef KUGEL_SPHERE_SHT_REGRID_H
#define KUGEL_SPHERE_SHT_REGRID_H

#include "codegen/module.h"
#include "sphere/sht/sht.h"
#include <kugel/regrid.h>

enum { KUGEL__WINDOW, KUGEL__FIND_BAD, KUGEL__BLANK, KUGEL__REGRID_KERNELS };

struct kugel_regrid {
  kugel_ctx *ctx;
  kugel_regrid_opts opts;
  kugel_sht *from, *to;
  kugel_sht *mask_from,
      *mask_to;          // scalar, for masks of pairs of maps; the same as from and to without a spin
  double *window;        // [lmax + 1]; NULL: none
  kugel__module *module; // on a device, with a window or masks
  kugel__kernel *kernels[KUGEL__REGRID_KERNELS];
  kugel__mem window_there;
};

/* regrid_gpu.c: the window and kernels of a plan on a device; nothing on the CPU. */
kugel_status kugel__regrid_gpu_create(kugel_regrid *plan);
void kugel__regrid_gpu_destroy(kugel_regrid *plan);
/* Coefficients of some sets times the window, if there is one. */
kugel_status kugel__regrid_gpu_window(const kugel_regrid *plan, kugel__mem alm, int64_t sets,
                                      kugel_queue *queue);
/* UNSEEN in `out` where too many pixels of `in` are bad; both in device memory. Waits. */
kugel_status kugel__regrid_gpu_mask(const kugel_regrid *plan, const kugel_array *in, const kugel_array *out,
                                    int64_t sets, kugel_queue *queue);

#endif
