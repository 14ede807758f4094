/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of many strided lines of one length, a line in each SIMD lane. */
#ifndef KUGEL_FFT_CPU_LINES_H
#define KUGEL_FFT_CPU_LINES_H

#include <kugel/fft.h>
#include "fft/cpu/lanes.h"

/* The kind that undoes a kind, up to a factor. */
static inline kugel_fft_kind kugel__inverse_kind(kugel_fft_kind kind)
{
  static const kugel_fft_kind inverse[] = {KUGEL_FFT_C2C,  KUGEL_FFT_R2C,  KUGEL_FFT_DCT1, KUGEL_FFT_DCT3,
                                           KUGEL_FFT_DCT2, KUGEL_FFT_DCT4, KUGEL_FFT_DST1, KUGEL_FFT_DST3,
                                           KUGEL_FFT_DST2, KUGEL_FFT_DST4};
  return inverse[kind];
}

/* What is done along one axis; immutable. */
typedef struct kugel__axis {
  kugel_fft_kind kind; /* the kind executed: an inverse has been translated */
  int64_t n, half;     /* line length on the real or complex side; n / 2 + 1 */
  kugel__lanes *lanes; /* the complex DFT inside */
  double *root;        /* complex, see kugel__axis_create */
  int64_t points;      /* work space in points of 2 VLEN doubles */
} kugel__axis;

kugel_status kugel__axis_create(kugel_ctx *ctx, kugel_fft_kind kind, int64_t n, kugel__axis *out);
void kugel__axis_destroy(kugel_ctx *ctx, kugel__axis *axis);

/* Up to VLEN lines, of R2C with odd n up to 2 VLEN. Offsets and strides in elements (complex numbers are one
 * element) of the arrays. */
typedef struct kugel__lines {
  const kugel__axis *axis;
  bool inverse; /* C2C: exponent +; R2C: complex to real. Other kinds: ignored */
  bool f32;
  int count;
  const char *in;
  char *out;
  const int64_t *in_at, *out_at; /* [VLEN or 2 VLEN]: first element of each line; all are readable */
  int64_t in_step, out_step;
  double scale;
} kugel__lines;

typedef struct kugel__line_ops {
  void (*run)(const kugel__lines *lines, double *work);
} kugel__line_ops;

const kugel__line_ops *kugel__line_ops_now(void);

/* Lines that a lane takes at once. */
static inline int kugel__axis_lines(const kugel__axis *axis)
{
  return axis->kind == KUGEL_FFT_R2C && axis->n % 2 ? 2 : 1;
}

#endif
