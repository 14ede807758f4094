/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms of double-double lines on the CPU, of all kinds and lengths, a line in each SIMD lane. In the
 * arrays a real is two doubles, high and low part; a complex number four: both high parts, then both low
 * ones. In lanes x[n][4][VLEN]: parts of the real part, then of the imaginary part. */
#ifndef KUGEL_FFT_CPU_DDLINE_H
#define KUGEL_FFT_CPU_DDLINE_H

#include <kugel/fft.h>
#include "core/dd.h"
#include "fft/cpu/pass.h"

enum { KUGEL__DD_STAGES = 48, KUGEL__DD_LANES = 8 /* at most */ };

/* A complex DFT: Stockham stages of generated codelets for primes to 13, else Bluestein's convolution. */
typedef struct kugel__ddfft {
  int64_t n, work; /* work: points that exec needs besides x */
  int stages;
  int64_t radix[KUGEL__DD_STAGES];
  const double *twiddle[KUGEL__DD_STAGES]; /* [S][radix - 1] numbers, S the product of the radices before */
  double *table;
  /* Bluestein, if not NULL: */
  struct kugel__ddfft *inner; /* length m >= 2 n - 1 */
  const double *chirp;        /* [n] e^{-i pi k^2 / n} */
  const double *spectrum;     /* [m] DFT of the wrapped conjugate chirp, over m */
} kugel__ddfft;

typedef struct kugel__ddline {
  kugel_fft_kind kind;
  bool inverse; /* of R2C: complex to real */
  int64_t n;    /* elements as the forward transform of R2C, or this one, reads them */
  double *root; /* of cosine and sine kinds, ddline.isa.c */
  kugel__ddfft *dft;
} kugel__ddline;

kugel_status kugel__ddline_create(kugel_ctx *ctx, kugel_fft_kind kind, bool inverse, int64_t n,
                                  kugel__ddline *out);
void kugel__ddline_destroy(kugel_ctx *ctx, kugel__ddline *line);

/* All lines along axis `at` of the views, whose elements are double-double numbers. */
typedef struct kugel__ddpass {
  const kugel__ddline *line;
  const kugel__view *in, *out;
  int at;
  bool inverse; /* of C2C */
  kugel__dd scale;
} kugel__ddpass;

kugel_status kugel__ddpass_run(kugel_ctx *ctx, const kugel__ddpass *pass);

/* Lines at once: `count` of them; the other lanes repeat the first. */
typedef struct kugel__ddjob {
  const kugel__ddline *line;
  bool inverse;
  int count;
  const double *in[KUGEL__DD_LANES];
  double *out[KUGEL__DD_LANES];
  int64_t in_step, out_step; /* elements */
  kugel__dd scale;
} kugel__ddjob;

typedef struct kugel__dd_ops {
  int vlen;
  /* DFT with exponent -1; x is overwritten, the result is where the return value points: x or work. */
  double *(*exec)(const kugel__ddfft *plan, double *x, double *work);
  void (*run)(const kugel__ddjob *job, double *work); /* work: dft->n + dft->work points */
} kugel__dd_ops;

#endif
