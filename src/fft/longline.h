/* SPDX-License-Identifier: BSD-3-Clause */
/* Long complex lines in two passes over memory (four-step): n = n1 n2, j = n2 j1 + j2, k = k1 + n1 k2,
 * X[k1 + n1 k2] = sum_j2 w_n2^(j2 k2) [ w_n^(j2 k1) sum_j1 x[n2 j1 + j2] w_n1^(j1 k1) ]. Source: Bailey 1990.
 */
#ifndef KUGEL_FFT_LONGLINE_H
#define KUGEL_FFT_LONGLINE_H

#include "fft/lines.h"

enum { KUGEL__LONG = 65536 }; /* from here on the lanes of whole lines leave the caches */

typedef struct kugel__longline {
  int64_t n, n1, n2, fine;   /* fine: length of the second table of w_n^e = coarse[e / fine] fine[e % fine] */
  kugel__axis first, second; /* DFTs of n1 and n2 */
  double *table;             /* coarse, then fine: complex */
} kugel__longline;

/* out->table stays NULL if n is short or has no divisor near its root. */
kugel_status kugel__longline_create(kugel_ctx *ctx, int64_t n, kugel__longline *out);
void kugel__longline_destroy(kugel_ctx *ctx, kugel__longline *l);

/* data[k1 n2 + j2] *= w_n^(j2 k1), or its conjugate; double complex. */
kugel_status kugel__longline_twiddle(kugel_ctx *ctx, const kugel__longline *l, bool inverse, double *data);

#endif
