/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of a pair of masked fields. */
#ifndef KUGEL_SPHERE_SPECTRA_ESTIMATE_H
#define KUGEL_SPHERE_SPECTRA_ESTIMATE_H

#include "sphere/spectra/coupling.h"
#include "sphere/spectra/factor.h"

enum { KUGEL__SPECTRA = 4, KUGEL__KINDS = 5, KUGEL__GROUPS = 2 };

/* A pure component is that of the scalar field of its degree, times root(l') / root(l) of the fields of two degrees,
 * root(l)^2 = (l + 2)! / (l - 2)! (integrating the mask's derivatives by parts): each kind of coupling is a family times
 * (root(l') / root(l))^power. */
typedef struct kugel__kind {
  int family; /* 0 ... KUGEL__FAMILIES - 1, in the order of opts.families */
  int power;
} kugel__kind;

struct kugel_spectra {
  kugel_ctx *ctx;
  int64_t lmax, lmax_mask, bands;
  int spin1, spin2, families; /* families: set of KUGEL_COUPLING_... */
  int n, kinds;               /* spectra; kinds of couplings */
  kugel__kind kind[KUGEL__KINDS];
  int8_t sign[KUGEL__SPECTRA][KUGEL__SPECTRA],
      which[KUGEL__SPECTRA][KUGEL__SPECTRA]; /* of spectrum i from j */
  double *mask_cl;
  int32_t *band;
  double *row;     /* [lmax + 1] weight of a degree in its band, with factor; 0 outside of bands */
  double *inverse; /* [lmax + 1] 1 / factor, 0 outside of bands */
  double *column;  /* [lmax + 1] (2 l + 1) and beams */
  double *root;    /* [lmax + 1] */
  double *binned;  /* [kinds][bands][lmax + 1]: P M, beams included */
  int groups, members[KUGEL__GROUPS][2], size; /* groups of `size` spectra that mix */
  kugel__lu lu[KUGEL__GROUPS];
  double condition, mask_tail;
};

/* Which kinds there are, and the sign and kind of each pair of spectra. */
void kugel__spectra_kinds(kugel_spectra *p, const kugel_spectra_opts *o);
/* Fills p->binned. */
kugel_status kugel__spectra_bin(kugel_spectra *p);
/* root(l)^power */
static inline double kugel__spectra_root(const kugel_spectra *p, int64_t l, int power)
{
  return power == 0 ? 1 : power == 1 ? p->root[l] : p->root[l] * p->root[l];
}
static inline double kugel__spectra_unroot(const kugel_spectra *p, int64_t l, int power)
{
  return power == 0 ? 1 : l < 2 ? 0 : 1 / kugel__spectra_root(p, l, power);
}

#endif
