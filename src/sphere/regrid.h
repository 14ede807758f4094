/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan behind kugel_regrid. */
#ifndef KUGEL_SPHERE_REGRID_H
#define KUGEL_SPHERE_REGRID_H

#include "codegen/module.h"
#include "sphere/sht.h"
#include <kugel/regrid.h>

struct kugel_regrid {
  kugel_ctx *ctx;
  kugel_regrid_opts opts;
  kugel_sht *from, *to;
  kugel_sht *mask_from,
      *mask_to;          // scalar, for masks of pairs of maps; the same as from and to without a spin
  double *window;        // [lmax + 1]; NULL: none
  kugel__module *module; // on a device with a window
  kugel__kernel *kernel;
};

#endif
