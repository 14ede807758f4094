/* SPDX-License-Identifier: BSD-3-Clause */
/* For *.isa.c: DFTs of 4, 8 or 16 points in registers. */
#ifndef KUGEL_FFT_CPU_BUTTERFLY_H
#define KUGEL_FFT_CPU_BUTTERFLY_H

#include "fft/cpu/points.h"
#include "fft/cpu/codelets_f64.h" /* after the vectors */

enum { MAX_BUTTERFLY = 16 };

ALWAYS bool has_butterfly(int64_t radix)
{
  return radix == 4 || radix == 8 || radix == 16;
}

ALWAYS void butterfly(int radix, const cvec *x, cvec *y)
{
  if (radix == 4)
    dft4_f64((const double *)x, (double *)y);
  else if (radix == 8)
    dft8_f64((const double *)x, (double *)y);
  else
    dft16_f64((const double *)x, (double *)y);
}

#endif
