/* SPDX-License-Identifier: BSD-3-Clause */
/* Real numbers of complex results, in host memory by a sweep, on devices within the last kernel (fft/ends.c).
 */
#ifndef KUGEL_FFT_PLAN_MODULUS_H
#define KUGEL_FFT_PLAN_MODULUS_H

#include <kugel/fft.h>
#include "fft/cpu/pass.h"

kugel_status kugel__modulus_check(const kugel_fft_opts *opts);

/* out[i] = modulus of the complex in[i]: views of one shape, apart. */
kugel_status kugel__modulus_apply(kugel_ctx *ctx, kugel_fft_modulus modulus, bool single,
                                  const kugel__view *in, const kugel__view *out);

#endif
