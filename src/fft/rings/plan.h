/* SPDX-License-Identifier: BSD-3-Clause */
/* What a ring plan holds, and its inner loops.
 *
 * With z = north + i south of one length n, Z_k = N_k + i S_k and Z_{-k} = conj N_k + i conj S_k for real
 * rings; modes m beyond Nyquist fall on k = m mod n with both signs. A task takes GROUP pairs: their
 * coefficients as rows over m, the spectrum Z of each pair as real and imaginary array, and its pixels as
 * such arrays too. */
#ifndef KUGEL_FFT_RINGS_PLAN_H
#define KUGEL_FFT_RINGS_PLAN_H

#include "fft/cpu/lanes.h"
#include "fft/rings/rings.h"

enum { KUGEL__FINE = 64, KUGEL__RING_GROUP = 8 /* doubles of a cache line */ };

/* e^{i m phi0} = coarse[m / FINE] (complex) times fine[m % FINE] + i fine[FINE + m % FINE]. */
typedef struct kugel__phase {
  const double *coarse, *fine;
} kugel__phase;

struct kugel__ring_ops;

/* DFTs of one length. Decimated: n = parts sub, the subsequences k mod parts side by side in the lanes of
 * `ops`, whose vectors have V >= parts numbers; then joined with w^{r j}, w = e^{-2 pi i / n}, 0 < r < parts,
 * which are coarse[j / V][r - 1] (complex) times fine[r - 1][2][j % V]. */
typedef struct kugel__ring_length {
  int64_t n, sub;
  int parts;                         /* 2, 4, 8: vlen of ops; 3: of 4; 5, 7: of 8; 1: not decimated */
  const struct kugel__ring_ops *ops; /* NULL if parts is 1 */
  const kugel__lanes *lanes;         /* of length sub */
  double *coarse, *fine;             /* one block */
  const kugel__lanes *whole;         /* length n, for rings side by side; NULL if never needed */
} kugel__ring_length;

/* A ring pair, or one lone ring with the other offset -1. */
typedef struct kugel__ring_job {
  int64_t pair;
  int64_t offset_north, offset_south;
  int length, phase_north, phase_south; /* indices */
  int64_t mlim;
} kugel__ring_job;

struct kugel__rings {
  kugel_ctx *ctx;
  bool view; /* only the jobs are its own */
  int64_t npairs, mmax, max_n;
  int64_t njobs;
  kugel__ring_job *jobs; /* by rising pair */
  int64_t *first_job;    /* [npairs + 1] */
  int nlengths, nphases, nlanes;
  kugel__ring_length *lengths; /* by rising n */
  kugel__phase *phases;
  kugel__lanes **lanes; /* by rising length */
  int64_t *lane_n;      /* their lengths, while the plan is made */
  double *tables;
  /* work of a worker, in doubles: a row, one array of a spectrum or of pixels, all lanes */
  int64_t row_size, split_size, lanes_size;
  int splits; /* pairs transformed side by side */
};

typedef struct kugel__ring_ops {
  int vlen;
  /* rows[(4 p + k) size + m] = leg[m * m_stride + k * row + p] for m < nm, p < count <= GROUP; and back. */
  void (*gather)(const double *leg, int64_t m_stride, int64_t row, int64_t nm, int count, double *rows,
                 int64_t size);
  void (*scatter)(const double *rows, int64_t size, int64_t nm, int count, double *leg, int64_t m_stride,
                  int64_t row);
  /* Adds the modes m < nm of four rows to Z. nm is a multiple of 8; south NULL: the phase of the north. */
  void (*fold)(const double *const rows[4], int64_t nm, const kugel__phase *north, const kugel__phase *south,
               int64_t n, double *re, double *im);
  /* rows = weight / 2 times the modes of Z. */
  void (*unfold)(const double *re, const double *im, int64_t n, const kugel__phase *north,
                 const kugel__phase *south, const double weight[2], int64_t nm, double *const rows[4]);
  /* DFT, exponent -1, of re + i im by decimation; either may be NULL, for zeros, or for results that nobody
   * wants. */
  void (*dft)(const kugel__ring_length *len, const double *re, const double *im, double *out_re,
              double *out_im, double *work);
  /* The same for `count` <= vlen arrays, through `whole`. */
  void (*dft_many)(const kugel__ring_length *len, int count, const double *const *re, const double *const *im,
                   double *const *out_re, double *const *out_im, double *work);
  /* Pixels to and from doubles. */
  void (*read)(const void *map, bool f32, int64_t stride, int64_t n, double *out);
  void (*write)(const double *in, int64_t n, bool f32, int64_t stride, void *map);
  /* Complex numbers to and from real and imaginary parts, out = factor (re + i im). */
  void (*split)(const void *in, bool f32, int64_t stride, int64_t n, double *re, double *im);
  void (*merge)(const double *re, const double *im, double factor, int64_t n, bool f32, int64_t stride,
                void *out);
} kugel__ring_ops;

/* A call: where pixels and coefficients are. Users put more behind it. */
typedef struct kugel__ring_call kugel__ring_call;
struct kugel__ring_call {
  const kugel__rings *plan;
  int64_t p0, p1; /* pairs */
  void *map;
  int64_t stride; /* of pixels */
  bool f32, adjoint;
  const double *weight_north, *weight_south; /* by pair, NULL: 1 */
  /* Modes m < nm of `count` pairs from `first` on into rows[count][4][plan->row_size], and from there. */
  void (*get)(const kugel__ring_call *call, int64_t first, int count, int64_t nm, double *rows);
  void (*put)(const kugel__ring_call *call, int64_t first, int count, int64_t nm, const double *rows);
};

/* One task: pairs first ... first + count - 1, count <= GROUP. work: as many doubles as kugel__rings_work
 * says. */
void kugel__rings_group(const kugel__ring_call *call, int64_t first, int count, double *work);
int64_t kugel__rings_work(const kugel__rings *plan);

const kugel__ring_ops *kugel__ring_ops_now(void);
/* The best for dft_many of `count` arrays. */
const kugel__ring_ops *kugel__ring_ops_for(int count);

#endif
