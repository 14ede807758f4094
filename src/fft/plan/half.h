/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of halves in host memory, to and from floats. */
#ifndef KUGEL_FFT_PLAN_HALF_H
#define KUGEL_FFT_PLAN_HALF_H

#include "fft/cpu/pass.h"

/* Views of the same shape; `complex`: elements are pairs. */
kugel_status kugel__halves_read(kugel_ctx *ctx, bool complex, const kugel__view *halves,
                                const kugel__view *floats);
kugel_status kugel__halves_write(kugel_ctx *ctx, bool complex, const kugel__view *floats,
                                 const kugel__view *halves);

#endif
