/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of a length with a large prime factor, by Bluestein's convolution of a length m that goes in two
 * passes: for lines too few to fill lanes. X_k = c_k sum_j (x_j c_j) conj(c_{k-j}), c_k = e^{-i pi k^2 / n}.
 */
#ifndef KUGEL_FFT_CPU_CHIRPLINE_H
#define KUGEL_FFT_CPU_CHIRPLINE_H

#include "fft/cpu/longline.h"

typedef struct kugel__chirpline {
  kugel__long_kind kind;
  int64_t n;                 /* 0: this length needs none, and nothing else is set */
  kugel__longline transform; /* C2C of m >= 2 n - 1 */
  double *chirp;             /* [n] re, im */
  double *spectrum;          /* [m] re, im: DFT of the wrapped conjugate chirp, over m */
  int64_t points;            /* work space of a line: points of 2 VLEN doubles */
} kugel__chirpline;

kugel_status kugel__chirpline_create(kugel_ctx *ctx, kugel__long_kind kind, int64_t n, kugel__chirpline *out);
void kugel__chirpline_destroy(kugel_ctx *ctx, kugel__chirpline *l);

/* `line` of the job is ignored, `middle` is the work space. */
void kugel__chirpline_run(const kugel__chirpline *l, const kugel__longjob *job);

typedef struct kugel__chirp_ops {
  int vlen;
  /* z[m] = the line times the chirp, then zeros */
  void (*before)(const kugel__chirpline *l, const kugel__longjob *job, double *z);
  /* z = z times the spectrum, re and im exchanged: the next DFT is the inverse */
  void (*between)(const kugel__chirpline *l, double *z);
  void (*after)(const kugel__chirpline *l, const kugel__longjob *job, const double *z);
} kugel__chirp_ops;

#endif
