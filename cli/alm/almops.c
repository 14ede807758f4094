/* SPDX-License-Identifier: BSD-3-Clause */
/* Beams, windows, spectra, random draws and rotations of coefficients. */
#include <stdlib.h>
#include <string.h>
#include "map/skyops.h"

/* Multiplies set c by windows + c (lmax + 1). */
static int multiply(alms *a, const double *windows)
{
  for (int64_t c = 0; c < a->n; c++) {
    double _Complex *set = a->data + c * a->count;
    LIB(kugel_alm_multiply(NULL, a->lmax, mmax_argument(a->mmax), set, a->lmax + 1,
                           windows + c * (a->lmax + 1), set));
  }
  return EXIT_DONE;
}

static double *make_windows(const alms *a)
{
  return calloc((size_t)(3 * (a->lmax + 1)), sizeof(double));
}

int alms_smooth(alms *a, double fwhm)
{
  OWNED double *windows = make_windows(a);
  if (!windows)
    return fail("no memory for a beam of lmax %lld", (long long)a->lmax);
  LIB(kugel_beam_gauss(fwhm, a->lmax, (int)a->n, windows));
  return multiply(a, windows);
}

int alms_pixwin(alms *a, int64_t nside)
{
  OWNED double *windows = make_windows(a);
  if (!windows)
    return fail("no memory for a window of lmax %lld", (long long)a->lmax);
  int64_t n = a->lmax + 1;
  LIB(kugel_pixel_window(NULL, nside, a->lmax, windows, a->n == 3 ? windows + n : NULL));
  memcpy(windows + 2 * n, windows + n, (size_t)n * sizeof *windows); /* B as E */
  return multiply(a, windows);
}

int alms_spectra(const alms *a, const alms *b, double *cl)
{
  static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}};
  int64_t n = a->lmax + 1;
  OWNED double *other = malloc((size_t)n * sizeof *other);
  if (!other)
    return fail("no memory for a spectrum of lmax %lld", (long long)a->lmax);
  for (int i = 0; i < (a->n == 3 ? 6 : 1); i++) {
    int64_t c = pairs[i][0] * a->count, d = pairs[i][1] * a->count;
    LIB(kugel_alm_cl(NULL, a->lmax, mmax_argument(a->mmax), a->data + c, b->data + d, a->lmax, cl + i * n));
    if (c == d || a == b)
      continue;
    LIB(kugel_alm_cl(NULL, a->lmax, mmax_argument(a->mmax), a->data + d, b->data + c, a->lmax, other));
    for (int64_t l = 0; l < n; l++) /* cross spectra of two maps: the mean of both orders */
      cl[i * n + l] = (cl[i * n + l] + other[l]) / 2;
  }
  return EXIT_DONE;
}

int alms_random(alms *a, const double *cl, uint64_t seed, uint64_t index, bool zero_indefinite)
{
  kugel_alm_random_opts opts = {.size = sizeof opts,
                                .n = a->n,
                                .lmax = a->lmax,
                                .mmax = mmax_argument(a->mmax),
                                .cl = cl,
                                .n_cl = a->n == 3 ? 4 : 1,
                                .cl_lmax = a->lmax,
                                .seed = seed,
                                .index = index,
                                .zero_indefinite = zero_indefinite};
  LIB(kugel_alm_random(NULL, &opts, a->data, NULL));
  return EXIT_DONE;
}

int alms_turn(alms *a, double psi, double theta, double phi)
{
  LIB(kugel_alm_rotate(NULL, a->n, a->lmax, a->data, psi, theta, phi));
  return EXIT_DONE;
}

int alms_to_coord(alms *a, char from, char to)
{
  double matrix[9], psi, theta, phi;
  LIB(kugel_rotation_from_coord(from, to, matrix));
  LIB(kugel_rotation_to_euler(matrix, &psi, &theta, &phi));
  return alms_turn(a, psi, theta, phi);
}
