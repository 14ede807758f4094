/* SPDX-License-Identifier: BSD-3-Clause */
/* Integrals over theta from equidistant rings, exact up to their sampling limit.
 *
 * For one m, F(theta) = sum_l a_lm lambda_lm(theta), continued over the pole with the parity (-1)^(m + spin),
 * is a trigonometric polynomial of degree lmax on the circle: N > 2 lmax samples fix it. Of F |sin theta|
 * only the frequencies to lmax meet those of lambda_lm, so that product, cut off there and sampled at M >
 * lmax intervals of [0, pi], G_j, gives a_lm = sum_j G_j lambda_lm(theta_j) without error (McEwen and Wiaux,
 * IEEE TSP 59 (2011); Huffenberger and Wandelt, ApJS 189 (2010)). */
#ifndef KUGEL_SPHERE_SHT_THETAFFT_H
#define KUGEL_SPHERE_SHT_THETAFFT_H

#include "fft/cpu/lanes.h"
#include "sphere/grid/grid.h"

/* Samples at (i + delta) 2 pi / n, delta = 0 or 1/2; the first `rings` of them lie in [0, pi]. */
typedef struct kugel__circle {
  int64_t n, rings, npairs, row;
  int64_t cut;    /* frequencies used: -cut ... cut */
  int64_t mirror; /* sample i has its mirror image at (mirror - i) mod n */
  const int64_t
      *at; /* [rings] where a ring lies in the four rows of a component; imaginary parts `row` later */
  const double *phase; /* [cut + 1] re, im: h_k e^{-i k delta 2 pi / n}; h_k = 1/2 at k = n/2, else 1 */
  kugel__lanes *dft;   /* length n */
} kugel__circle;

typedef struct kugel__thetafft {
  kugel_ctx *ctx;
  kugel__circle grid, dense; /* dense: Clenshaw-Curtis rings, enough for products of degree 2 lmax */
  kugel__lanes *dft;         /* length of the product with |sin theta| */
  const double *gain;        /* [dft->n] |sin theta|, band-limited, with all constant factors */
  double *tables;            /* owns phase and gain */
  int64_t *places;           /* owns at */
  int64_t work;              /* points of scratch */
} kugel__thetafft;

/* Whether the grid can be analysed so, and needs it: plain weights are not exact to lmax, but this is. */
bool kugel__thetafft_helps(const kugel_grid *grid, int64_t lmax);

/* `factor` goes into all results. cth and sth, [*npairs], are the pairs of dense rings for a Legendre plan;
 * the caller frees *cth, which holds both. */
kugel_status kugel__thetafft_create(kugel_ctx *ctx, const kugel_grid *grid, int64_t lmax, double factor,
                                    kugel__thetafft **out, double **cth, double **sth);
void kugel__thetafft_destroy(kugel__thetafft *plan);

/* Bytes of scratch that each call needs, aligned to 64. */
size_t kugel__thetafft_scratch(const kugel__thetafft *plan);

typedef struct kugel__thetafft_ops {
  int vlen;
  /* `count` <= vlen lines: in[i], the four rows of a component on `from`, gives out[i], G_j on `to`. With
   * grid and dense exchanged it is the transpose. Rows of rings that do not exist are not written. */
  void (*run)(const kugel__thetafft *plan, const kugel__circle *from, const kugel__circle *to, int count,
              const double *const *in, const bool *odd, double *const *out, double *scratch);
} kugel__thetafft_ops;
const kugel__thetafft_ops *kugel__thetafft_ops_now(void);

#endif
