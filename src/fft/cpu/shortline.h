/* SPDX-License-Identifier: BSD-3-Clause */
/* Short lines of adjacent elements one at a time, within registers and the first-level cache: n = R C complex
 * elements in two steps as in fft/longline.h, each a single butterfly between the array and a transpose. Real
 * lines are complex ones of half the length, see fft/lines_real.h; these may also be quick long lines. */
#ifndef KUGEL_FFT_CPU_SHORTLINE_H
#define KUGEL_FFT_CPU_SHORTLINE_H

#include "fft/cpu/longline.h"

typedef struct kugel__shortline {
  kugel__long_kind kind;
  int64_t n; /* elements of the complex line, 0: this length has no such plan and nothing else is set */
  kugel__longline core; /* does the complex line if core.first; then the next three are not set */
  int64_t points;       /* work space: points of 2 VLEN doubles */
  int64_t rows, cols;
  double *table; /* [group of VLEN columns c][q < R][2][VLEN]: w_n^(c q) */
  double *root;  /* of real kinds, [n / 2 + 1] re, im: e^{-i pi k / n} */
} kugel__shortline;

/* `n` is that of the line, real or complex. */
kugel_status kugel__shortline_create(kugel_ctx *ctx, kugel__long_kind kind, int64_t n, kugel__shortline *out);
void kugel__shortline_destroy(kugel_ctx *ctx, kugel__shortline *l);

/* `count` lines, `in_pitch` and `out_pitch` bytes apart, of float or double. */
typedef struct kugel__shortjob {
  const kugel__shortline *line;
  bool inverse; /* C2C: exponent + */
  bool f32;
  const char *in;
  char *out; /* may be in */
  int64_t in_pitch, out_pitch, count;
  double scale;
  double *work; /* line->points points */
} kugel__shortjob;

typedef struct kugel__short_ops {
  int vlen;
  void (*run)(const kugel__shortjob *job);
} kugel__short_ops;

const kugel__short_ops *kugel__short_ops_now(void);

#endif
