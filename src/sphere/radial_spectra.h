/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution by the spectra of rings.
 *
 * With f_m(q) = sum_j w f_j e^{-i m phi_j} of ring q, of any m (a spectrum of n numbers, repeated), the sum
 * over pixels on ring r is
 *
 *   s(phi) = sum_m e^{i m phi} sum_q K_m(r, q) f_m(q),  K_m(r, q) = 1/L sum_s K(angle(r, q, phi_s)) cos(m
 * phi_s)
 *
 * for |m| <= M, folded onto the pixels of r with both signs. Two cases make it exact:
 *   aliased: all rings within reach have as many pixels n, and L = n samples at the offsets that pixels
 * really have. The convolution is then one of n numbers, whatever the kernel, and m ends at n / 2. banded:  K
 * has no degrees beyond `band`. Then K_m(r, q) dies away beyond m = band sin(theta_r), and L = 2 M + 2
 * samples give K_m itself, as does a Bessel function where K = A exp(-kappa x / 2), x the squared chord
 * a + b sin^2(h / 2): K_m = A exp(-kappa a / 2) e^{-z} I_m(z), z = kappa b / 4. Rings that are neither are
 * summed directly.
 *
 * Eight output pairs stand in the lanes of vectors. Only samples within the cut-off count, some ten: rows of
 * K_m are products of small matrices, made for a few m at a time and used at once. */
#ifndef KUGEL_SPHERE_RADIAL_SPECTRA_H
#define KUGEL_SPHERE_RADIAL_SPECTRA_H

#include "fft/rings.h"
#include "sphere/radial.h"

enum {
  KUGEL__SPECTRA_LANES = 8,
  KUGEL__SPECTRA_MODES = 32 /* whose rows are made at a time, a multiple of 8 */
};

/* An output pair. */
typedef struct kugel__spectra_row {
  int64_t modes;   /* highest m; -1: summed directly */
  int64_t samples; /* L */
  int64_t half;    /* the m that counts half, -1: none */
  bool aliased;
} kugel__spectra_row;

typedef struct kugel__radial_spectra {
  int64_t npairs, mmax;
  int64_t before, after; /* rings within reach of any output ring */
  int64_t size;          /* samples of a ring within the cut-off, at the most */
  int64_t equator;       /* samples within the cut-off of the last eight pairs, at the most */
  int64_t block;         /* pairs a round, a multiple of LANES */
  bool staggered;        /* every second ring of the belt is half a step on */
  bool truncated;        /* spectra end at the Nyquist frequency of each ring, as in ElsnerWandelt2011 */
  bool direct;           /* some rings are summed directly */
  bool bessel;           /* rows of K_m are Bessel functions where K is banded */
  kugel__spectra_row *row;
  kugel__rings *in, *out;
  double products; /* of samples with cosines, and of rows with spectra, some 9 of the former */
  double pairs;    /* of pixels summed directly */
} kugel__radial_spectra;

/* Eight output rings and the d-th ring from each: key = a + b sin^2(h / 2), h = (s + shift) step. */
typedef struct kugel__spectra_span {
  double a[KUGEL__SPECTRA_LANES], b[KUGEL__SPECTRA_LANES], step[KUGEL__SPECTRA_LANES],
      shift[KUGEL__SPECTRA_LANES];
} kugel__spectra_span;

/* Tables of cosines for eight output rings: factor cos(m (s + shift) step), 0 for m > modes, half of it for
 * m = half. */
typedef struct kugel__spectra_wave {
  double samples[KUGEL__SPECTRA_LANES], modes[KUGEL__SPECTRA_LANES], half[KUGEL__SPECTRA_LANES],
      shift[KUGEL__SPECTRA_LANES];
} kugel__spectra_wave;

/* e^{-z} I_m(z) times a factor of eight z, by recurrence from above: I_{m-1} = I_{m+1} + m by I_m, by = 2 /
 * z, which is stable, and I_0 + 2 sum I_m = e^z. */
typedef struct kugel__bessel {
  double by[KUGEL__SPECTRA_LANES], top[KUGEL__SPECTRA_LANES]; /* 0 beyond top */
  double seed[KUGEL__SPECTRA_LANES];                          /* the factor at first, then the value at top */
  double start[][2][KUGEL__SPECTRA_LANES];                    /* [block]: the last m of MODES, and the next */
} kugel__bessel;

typedef struct kugel__spectra_ops {
  /* w[s][LANES] for s in [0, n) */
  void (*weights)(const kugel__radial_poly *poly, const kugel__spectra_span *span, int64_t n, double *w);
  /* c[m - m0][s][LANES] for MODES m from m0 on, s in [0, n), n at most `size` */
  void (*cosines)(const kugel__spectra_wave *wave, int64_t m0, int64_t n, int64_t size, double *c);
  /* k[m][nd][LANES] = sum_s w[s][LANES] c[m][s][LANES], column d of nd */
  void (*rows)(const double *w, int64_t n, const double *c, int64_t size, int64_t d, int64_t nd, double *k);
  /* Fills the starts of blocks of modes from by, top and seed, of n kugel__bessel `stride` doubles apart. */
  void (*starts)(int64_t n, int64_t stride, int64_t blocks, double *of);
  /* k[m - m0][n][LANES] = or += n kugel__bessel, for MODES m from m0 on, a multiple of MODES */
  void (*bessel)(int64_t n, const double *of, int64_t stride, int64_t m0, bool add, double *k);
  /* out[m][4][out_row] = sum_d k[m][d][LANES] in[m][4][in_row] + d, for m < nm */
  void (*apply)(const double *k, int64_t nd, int64_t nm, const double *in, int64_t in_row, double *out,
                int64_t out_row);
} kugel__spectra_ops;

const kugel__spectra_ops *kugel__spectra_ops_now(void);

/* by, top and seed of one component for eight output rings and the d-th from each. */
void kugel__radial_bessel(const kugel__spectra_span *span, double kappa, double amp, kugel__bessel *out);

/* Degree beyond which the kernel has no more than the tolerance, in the rms of smoothed white noise; -1: none
 * below `limit`. */
kugel_status kugel__radial_band(const kugel_radial *p, int64_t limit, int64_t *band);

/* Fills p->spectra, with p->band known: modes and costs; and what it needs to be run on the CPU. */
kugel_status kugel__radial_spectra_create(kugel_radial *p);
kugel_status kugel__radial_spectra_finish(kugel_radial *p);
/* Ring transforms of a view of the plan whose rings lie elsewhere, in a copy of p->spectra; they live no
 * longer. */
kugel_status kugel__radial_spectra_view(const kugel_radial *p, kugel_radial *view);
/* Ring transforms in and out; their tables are in block [8 npairs]. */
void kugel__radial_spectra_rings(const kugel_radial *p, int64_t *block, kugel__rings_desc desc[2]);
/* Rings [lo, hi) from each of eight pairs from p0 on are within reach of any. */
void kugel__spectra_reach(const kugel_radial *p, int64_t p0, int64_t *lo, int64_t *hi);
/* Their d-th rings, and how many samples are within the cut-off. */
kugel__spectra_span kugel__spectra_span_of(const kugel_radial *p, int64_t p0, int64_t d, int64_t *samples);
/* Bytes that a run needs, besides its maps, with t->block. */
int64_t kugel__radial_spectra_bytes(const kugel_radial *p);
void kugel__radial_spectra_destroy(kugel_radial *p);
/* out = K in on output pairs [first, end), of weighted maps [npix] of doubles; rings summed directly are left
 * alone. */
kugel_status kugel__radial_spectra_run(const kugel_radial *p, int64_t first, int64_t end, double *in,
                                       double *out);

#endif
