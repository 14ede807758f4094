/* SPDX-License-Identifier: BSD-3-Clause */
/* One line in two passes (four-step), its columns and then its rows in the lanes: n = R C, j = C r + c,
 * k = q + R p, X[q + R p] = sum_c w_C^(c p) [ w_n^(c q) sum_r x[C r + c] w_R^(r q) ]. Source: Bailey 1990,
 * doi:10.1007/BF00162341. For long lines, whose lanes would leave the caches, and for lines too few to fill
 * lanes. Real input: two groups of columns share a DFT of the first pass, and of its rows q <= R / 2 are
 * kept. Real output: of the columns c <= C / 2 are transformed, and two groups of rows share a DFT of the
 * second pass. */
#ifndef KUGEL_FFT_CPU_LONGLINE_H
#define KUGEL_FFT_CPU_LONGLINE_H

#include "fft/cpu/lanes.h"

typedef enum kugel__long_kind { KUGEL__LONG_C2C, KUGEL__LONG_R2C, KUGEL__LONG_C2R } kugel__long_kind;

typedef struct kugel__longline {
  kugel__long_kind kind;
  int64_t n, rows, cols; /* n = R C */
  int64_t qs, cs;        /* rows kept between the passes, columns transformed */
  kugel__lanes *first;   /* DFTs of R; NULL: there is no split of n, and nothing else here is set */
  kugel__lanes *second;  /* of C */
  int64_t fine,
      roots;     /* fine 0: all twiddles are stored; else q = fine * coarse + rest, roots = fine + coarses */
  double *table; /* [group of columns][roots][2][VLEN]: w_n^(c q), q < roots or fine, then q = 0, fine, 2
                    fine, ... */
  int64_t middle, points; /* between the passes, work space of one worker: points of 2 VLEN doubles */
  bool quick;             /* of adjacent elements faster than lines in lanes, however many there are */
  int64_t groups, blocks; /* units of work of the passes */
} kugel__longline;

/* Leaves out->first NULL if no two factors of n are at least VLEN. */
kugel_status kugel__longline_create(kugel_ctx *ctx, kugel__long_kind kind, int64_t n, kugel__longline *out);
void kugel__longline_destroy(kugel_ctx *ctx, kugel__longline *l);

/* Elements of arrays are complex or real numbers of float or double. */
typedef struct kugel__longjob {
  const kugel__longline *line;
  bool inverse; /* C2C: exponent + */
  bool f32;
  const char *in;
  char *out; /* may be in */
  int64_t in_step, out_step;
  double scale;
  double *middle; /* line->middle points */
} kugel__longjob;

typedef struct kugel__long_ops {
  int vlen;
  /* units begin ... end - 1 of a pass; the second pass starts after the end of the first */
  void (*first)(const kugel__longjob *job, int64_t begin, int64_t end, double *work);
  void (*second)(const kugel__longjob *job, int64_t begin, int64_t end, double *work);
} kugel__long_ops;

const kugel__long_ops *kugel__long_ops_now(void);

#endif
