/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution by the spectra of rings.
 *
 * With f_m(q) = sum_j w f_j e^{-i m phi_j} of ring q, for any m (the spectrum of n numbers, repeated), the sum
 * over pixels on ring r is
 *
 *   s(phi) = sum_m e^{i m phi} sum_q K_m(r, q) f_m(q),
 *   K_m(r, q) = 1/L sum_s K(angle(r, q, phi_s)) cos(m phi_s)
 *
 * for |m| <= M, folded onto the pixels of r with both signs. It is exact in two cases:
 *
 * - aliased: all rings within the cut-off have the same number n of pixels, and the L = n samples are at the
 *   offsets of the pixels. The sum is then a cyclic convolution of n numbers, for any kernel, and M = n / 2.
 * - banded: K has no degrees beyond `band`. K_m(r, q) then decays beyond m = band sin(theta_r), and L = 2 M + 2
 *   samples determine K_m. If K = A exp(-kappa x / 2), with the squared chord x = a + b sin^2(h / 2), no samples
 *   are needed: K_m = A exp(-kappa a / 2) e^{-z} I_m(z), z = kappa b / 4.
 *
 * Rings of neither case are summed directly.
 *
 * The lanes of a vector are eight output pairs. Only samples within the cut-off contribute, about ten: rows of
 * K_m are products of small matrices, computed for a few m at a time and used immediately. */
#ifndef KUGEL_SPHERE_RADIAL_SPECTRA_H
#define KUGEL_SPHERE_RADIAL_SPECTRA_H

#include "fft/rings/rings.h"
#include "sphere/radial/radial.h"

enum {
  KUGEL__SPECTRA_LANES = 8,
  KUGEL__SPECTRA_MODES = 32 /* modes whose rows are computed at a time, a multiple of 8 */
};

/* An output pair. */
typedef struct kugel__spectra_row {
  int64_t modes;   /* highest m; -1: summed directly */
  int64_t samples; /* L */
  int64_t half;    /* the m with weight 1/2, -1: none */
  bool aliased;
} kugel__spectra_row;

typedef struct kugel__radial_spectra {
  int64_t npairs, mmax;
  int64_t before, after; /* most rings before and after an output ring within the cut-off */
  int64_t size;          /* most samples of a ring within the cut-off */
  int64_t equator;       /* most samples within the cut-off of the last eight pairs */
  int64_t block;         /* pairs per round, a multiple of LANES */
  bool staggered;        /* every second ring of the belt is shifted by half a pixel */
  bool truncated;        /* spectra end at the Nyquist frequency of each ring, as in ElsnerWandelt2011 */
  bool direct;           /* some rings are summed directly */
  bool bessel;           /* rows of K_m are Bessel functions where K is banded */
  kugel__spectra_row *row;
  kugel__rings *in, *out;
  double products; /* of samples with cosines, and of rows with spectra, some 9 of the former */
  double pairs;    /* pairs of pixels that are summed directly */
} kugel__radial_spectra;

/* Eight output rings and the d-th ring from each: key = a + b sin^2(h / 2), h = (s + shift) step. */
typedef struct kugel__spectra_span {
  double a[KUGEL__SPECTRA_LANES], b[KUGEL__SPECTRA_LANES], step[KUGEL__SPECTRA_LANES],
      shift[KUGEL__SPECTRA_LANES];
} kugel__spectra_span;

/* Parameters of a table of cosines for eight output rings: factor cos(m (s + shift) step), 0 for m > modes,
 * half of it for m = half. */
typedef struct kugel__spectra_wave {
  double samples[KUGEL__SPECTRA_LANES], modes[KUGEL__SPECTRA_LANES], half[KUGEL__SPECTRA_LANES],
      shift[KUGEL__SPECTRA_LANES];
} kugel__spectra_wave;

/* e^{-z} I_m(z) times a factor, for eight z, by the downward recurrence I_{m-1} = I_{m+1} + m by I_m, by = 2
 * / z, which is stable, normalised by I_0 + 2 sum I_m = e^z. */
typedef struct kugel__bessel {
  double by[KUGEL__SPECTRA_LANES], top[KUGEL__SPECTRA_LANES]; /* 0 beyond top */
  double seed[KUGEL__SPECTRA_LANES];       /* initially the factor, then the value at top */
  double start[][2][KUGEL__SPECTRA_LANES]; /* [block]: the last m of MODES, and the next */
} kugel__bessel;

typedef struct kugel__spectra_ops {
  /* w[s][LANES] for s in [0, n) */
  void (*weights)(const kugel__radial_poly *poly, const kugel__spectra_span *span, int64_t n, double *w);
  /* c[m - m0][s][LANES] for MODES m from m0 on, s in [0, n), n at most `size` */
  void (*cosines)(const kugel__spectra_wave *wave, int64_t m0, int64_t n, int64_t size, double *c);
  /* k[m][nd][LANES] = sum_s w[s][LANES] c[m][s][LANES], column d of nd */
  void (*rows)(const double *w, int64_t n, const double *c, int64_t size, int64_t d, int64_t nd, double *k);
  /* Computes the starts of blocks of modes from by, top and seed, for n kugel__bessel `stride` doubles apart.
   * */
  void (*starts)(int64_t n, int64_t stride, int64_t blocks, double *of);
  /* k[m - m0][n][LANES] = or += n kugel__bessel, for MODES m from m0 on, a multiple of MODES */
  void (*bessel)(int64_t n, const double *of, int64_t stride, int64_t m0, bool add, double *k);
  /* out[m][4][out_row] = sum_d k[m][d][LANES] in[m][4][in_row] + d, for m < nm */
  void (*apply)(const double *k, int64_t nd, int64_t nm, const double *in, int64_t in_row, double *out,
                int64_t out_row);
} kugel__spectra_ops;

const kugel__spectra_ops *kugel__spectra_ops_now(void);

/* Sets by, top and seed of one component for eight output rings and the d-th ring from each. */
void kugel__radial_bessel(const kugel__spectra_span *span, double kappa, double amp, kugel__bessel *out);

/* Degree beyond which the kernel contributes no more than the tolerance to the rms of smoothed white noise;
 * -1: there is none below `limit`. */
kugel_status kugel__radial_band(const kugel_radial *p, int64_t limit, int64_t *band);

/* create: fills p->spectra (modes and costs) from p->band. finish: makes what a run on the CPU needs. */
kugel_status kugel__radial_spectra_create(kugel_radial *p);
kugel_status kugel__radial_spectra_finish(kugel_radial *p);
/* Makes ring transforms for a view of the plan whose rings lie at other places, in a copy of p->spectra,
 * which must not outlive p->spectra. */
kugel_status kugel__radial_spectra_view(const kugel_radial *p, kugel_radial *view);
/* Describes the ring transforms in and out; their tables are in block [8 npairs]. */
void kugel__radial_spectra_rings(const kugel_radial *p, int64_t *block, kugel__rings_desc desc[2]);
/* Relative to each of the eight pairs from p0 on, rings [lo, hi) contain all within the cut-off of any of
 * them. */
void kugel__spectra_reach(const kugel_radial *p, int64_t p0, int64_t *lo, int64_t *hi);
/* The span between these eight pairs and the d-th rings from them; the number of samples within the cut-off.
 * */
kugel__spectra_span kugel__spectra_span_of(const kugel_radial *p, int64_t p0, int64_t d, int64_t *samples);
/* Bytes that a run needs, besides its maps, with t->block. */
int64_t kugel__radial_spectra_bytes(const kugel_radial *p);
void kugel__radial_spectra_destroy(kugel_radial *p);
/* out = K in on output pairs [first, end), for weighted maps [npix] of doubles; rings that are summed
 * directly are not written. */
kugel_status kugel__radial_spectra_run(const kugel_radial *p, int64_t first, int64_t end, double *in,
                                       double *out);

#endif
