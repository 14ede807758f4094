/* SPDX-License-Identifier: BSD-3-Clause */
/* Cosine and sine transforms of one line, by a DFT of a line made from it: sweeps before and after that DFT.
 * The DFT runs in place in a buffer of doubles: real, its spectrum, or complex. Formulas: Makhoul 1980,
 * doi:10.1109/TASSP.1980.1163351. */
#ifndef KUGEL_FFT_CPU_TRIG_H
#define KUGEL_FFT_CPU_TRIG_H

#include <kugel/fft.h>
#include "fft/cpu/longline.h"

typedef struct kugel__trig {
  kugel_fft_kind kind;
  int64_t n;
  kugel__long_kind dft; /* what runs in the buffer */
  int64_t length;       /* of it; 0: this kind and n have no such DFT, and nothing else is set */
  int64_t buffer;       /* doubles */
  double *root;         /* complex, see trig.c */
} kugel__trig;

kugel_status kugel__trig_create(kugel_ctx *ctx, kugel_fft_kind kind, int64_t n, kugel__trig *out);
void kugel__trig_destroy(kugel_ctx *ctx, kugel__trig *t);

/* Index ranges of the sweeps: any partition of [0, steps) does the whole. */
int64_t kugel__trig_steps(const kugel__trig *t, bool after);

/* Values are of the array in `job`: in, in_step, out, out_step, f32, scale. */
void kugel__trig_before(const kugel__trig *t, const kugel__longjob *job, int64_t begin, int64_t end,
                        double *buffer);
void kugel__trig_after(const kugel__trig *t, const kugel__longjob *job, int64_t begin, int64_t end,
                       const double *buffer);

#endif
