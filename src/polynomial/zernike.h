/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside of Zernike plans. Fields are real: f = F_0 + 2 Re sum_m F_m(r) e^{i m phi}, F_m = s (c_{n,m} - i c_{n,-m}) W_k^m / 2 with the
 * Jones-Worland functions of weight r dr. */
#ifndef KUGEL_POLYNOMIAL_ZERNIKE_H
#define KUGEL_POLYNOMIAL_ZERNIKE_H

#include <kugel/fft.h>
#include <kugel/polynomial.h>
#include <kugel/zernike.h>
#include "polynomial/systems.h"

struct kugel_zernike {
  kugel_ctx *ctx;
  bool single;
  size_t word;
  int64_t nmax, rows, nr, nphi, points,
      count;         /* rows: nmax / 2 + 1 radial functions; count of coefficients */
  int64_t width;     /* radii of the radial plan: nr or points */
  kugel_jwt *radial; /* of m = 0 ... nmax */
  kugel_fft *fft;    /* of rings; NULL for points */
  int64_t *at;       /* [nmax + 1][rows][2]: of the cosine's and the sine's coefficient, -1: none */
  double *norm;      /* [nmax + 1][rows]: Z = norm W cos(m phi) */
  double *r, *phi;   /* [points] */
  void *phase;       /* [nmax + 1][points]: e^{i m phi} in the plan's precision */
};

int64_t kugel__zernike_index(kugel_zernike_order order, int64_t n, int64_t m);

#endif
