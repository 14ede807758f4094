/* SPDX-License-Identifier: BSD-3-Clause */
/* Couplings of the degrees of masked fields, diagonal by diagonal.
 *
 * Xi(l, l') is a sum over k of the mask's spectrum times two 3j symbols (l l' k; s -s 0). For l' = l + d and k = d + 2 j they
 * are products of p(j) = (2 j)! / (j!^2 4^j), r(g) = 1 / ((2 g + 1) p(g)) and a polynomial of
 * X = l (l + 1) + l' (l' + 1) - k (k + 1):
 *
 *   (l l' k; 0 0 0)^2 = p(j) p(d + j) p(l - j) r(l' + j)
 *   F_s = (l l' k; s -s 0) = F_0 Q_s / (C_0 ... C_{s-1}),   C_m^2 = (lam - m (m + 1)) (lam' - m (m + 1)),  lam = l (l + 1)
 *   Q_0 = 1,  Q_1 = -X / 2,  Q_{m+1} = -(X - 2 m^2) Q_m - C_{m-1}^2 Q_{m-1}
 *
 * and for odd l + l' + k, k = d + 2 j + 1, the same recurrence from 0 and -1/2, times
 * [(2 j + 1) p(j)] [(2 (d + j) + 1) p(d + j)] [2 (l - j) p(l - j)] [2 (l' + j + 1) r(l' + j)]. Follows from the three-term
 * recurrence of 3j symbols in m (Schulten & Gordon 1975) and the closed form at m = 0. All terms of 00, and of PLUS and MINUS of
 * equal spins, have the spectrum's sign: nothing cancels. */
#ifndef KUGEL_SPHERE_SPECTRA_COUPLING_H
#define KUGEL_SPHERE_SPECTRA_COUPLING_H

#include <kugel/spectra.h>
#include "core/base.h"
#include "core/cpu.h"

enum { KUGEL__FAMILIES = 4, KUGEL__COUPLING_PAD = 64 /* numbers past an end that lanes read or write */ };

/* Tables with KUGEL__COUPLING_PAD zeros before the first number and after the last. */
typedef struct kugel__coupling_tables {
  int64_t lmax, lmax_mask;
  const double *p, *r;         /* p(j), r(g) */
  const double *p_odd, *r_odd; /* 2 j p(j), 2 (g + 1) r(g) */
  const double *w;             /* [lmax_mask + 1]: (2 k + 1) / 4 pi times the spectrum */
} kugel__coupling_tables;

/* out[f][l] = Xi_f(l, l + d), l = 0 ... lmax - d, for the families of `families`, in their order; out[f] has room for
 * lmax + 1 + KUGEL__COUPLING_PAD; `b` for 2 (lmax + 1). */
typedef void (*kugel__coupling_diagonal)(const kugel__coupling_tables *t, int64_t d, int s1, int s2,
                                         unsigned families, double *b, double *const out[KUGEL__FAMILIES]);

typedef struct kugel__coupling_ops {
  kugel__coupling_diagonal diagonal;
} kugel__coupling_ops;

/* Some diagonals of the couplings: Xi_f(l, l + d) = data[(f count + d - first) stride + l], d = first ... first + count - 1. */
typedef struct kugel__diagonals {
  int64_t lmax, first, count, stride;
  int families;
  const double *data;
} kugel__diagonals;

static inline double kugel__diagonals_at(const kugel__diagonals *s, int family, int64_t l, int64_t d)
{
  return s->data[(family * s->count + d - s->first) * s->stride + l];
}

typedef kugel_status (*kugel__diagonals_use)(void *arg, const kugel__diagonals *some);

/* Calls `use` with all diagonals, some at a time, by rising d. Progress is the current part's. */
kugel_status kugel__coupling_each(kugel_ctx *ctx, const kugel_coupling_opts *o, kugel__diagonals_use use,
                                  void *arg);
/* Checks all but the spectrum, which may be NULL here. */
kugel_status kugel__coupling_check(const kugel_coupling_opts *o);
/* p and r of 2 lmax + 1 and their odd kin, without the zeros around. */
void kugel__coupling_fill(int64_t lmax, double *p, double *r, double *p_odd, double *r_odd);
/* (2 k + 1) / 4 pi times a spectrum, k <= lmax_mask. */
void kugel__coupling_spectrum(int64_t lmax_mask, const double *mask_cl, double *w);
/* Number of families asked for. */
int kugel__coupling_count(unsigned families);

#endif
