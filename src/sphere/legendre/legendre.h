/* SPDX-License-Identifier: BSD-3-Clause */
/* The Legendre stage: for one m, alm <-> Fourier coefficients of ring pairs. */
#ifndef KUGEL_SPHERE_LEGENDRE_LEGENDRE_H
#define KUGEL_SPHERE_LEGENDRE_LEGENDRE_H

#include "core/base.h"

typedef struct kugel__leg kugel__leg;

/* Same values as kugel_sht_mode. */
typedef enum kugel__leg_mode {
  KUGEL__LEG_SCALAR = 0,
  KUGEL__LEG_SPIN = 1,
  KUGEL__LEG_TEB = 2,
  KUGEL__LEG_GRAD = 3,
  KUGEL__LEG_DER1 = 4
} kugel__leg_mode;

/* Pairs of rings at colatitudes theta and pi - theta, by rising sin theta; cth >= 0. Tables are copied. */
kugel_status kugel__leg_create(kugel_ctx *ctx, int64_t lmax, int64_t mmax, kugel__leg_mode mode, int spin,
                               int64_t npairs, const double *cth, const double *sth, kugel__leg **out);
void kugel__leg_destroy(kugel__leg *leg);

/* [npairs], rising: the highest m to which a pair contributes more than rounding. Synthesis writes zeros
 * beyond it, the adjoint does not read beyond it. */
const int64_t *kugel__leg_mlim(const kugel__leg *leg);

/* Bytes of scratch that each call needs, aligned to 64. */
size_t kugel__leg_scratch(const kugel__leg *leg);

/* alm[c] points at the column of m: l = m ... lmax, re and im in turn. Pairs [p0, p1); values go to
 * out[(c * 4 + k) * row + p - p0], k = 0 ... 3: north re, north im, south re, south im; row is a multiple
 * of 8. */
void kugel__leg_synth(const kugel__leg *leg, int64_t m, int64_t p0, int64_t p1, const double *const *alm,
                      double *out, int64_t row, void *scratch);

/* The transpose: alm[c] += sum over rings of conj(function) in. */
void kugel__leg_adjoint(const kugel__leg *leg, int64_t m, int64_t p0, int64_t p1, const double *in,
                        int64_t row, double *const *alm, void *scratch);

/* Orders are dealt out to ranks there and back by falling cost, degrees times pairs, which does not rise with m; so every two
 * rounds give each rank a heavy order and a light one. The order number `slot` of a rank, which rise with it. */
static inline int64_t kugel__leg_dealt(int64_t slot, int64_t rank, int64_t size)
{
  return slot * size + (slot % 2 ? size - 1 - rank : rank);
}
/* How many of its orders are less than `orders`. */
static inline int64_t kugel__leg_dealt_below(int64_t orders, int64_t rank, int64_t size)
{
  int64_t whole = orders / size;
  return whole + (kugel__leg_dealt(whole, rank, size) < orders);
}

#endif
