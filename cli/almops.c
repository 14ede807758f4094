/* SPDX-License-Identifier: BSD-3-Clause */
/* Beams, spectra, random draws and rotations of coefficients. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include "skyops.h"

/* b_l = exp(-l(l+1) sigma^2 / 2) for T, and exp(-(l(l+1) - 4) sigma^2 / 2) for E and B (Challinor et al.
 * 2000). */
int alms_smooth(alms *a, double fwhm)
{
  double variance = fwhm * fwhm / (8 * M_LN2);
  for (int64_t c = 0; c < a->n; c++) {
    double _Complex *row = a->data + c * a->count;
    for (int64_t m = 0; m <= a->mmax; m++)
      for (int64_t l = m; l <= a->lmax; l++)
        *row++ *= exp(-0.5 * ((double)l * (double)(l + 1) - (c ? 4 : 0)) * variance);
  }
  return EXIT_DONE;
}

/* sum over m of a_lm conj(b_lm), m of either sign, over 2l + 1; real for real fields. */
static void cross_spectrum(const alms *a, int64_t ca, const alms *b, int64_t cb, double *cl)
{
  const double _Complex *p = a->data + ca * a->count, *q = b->data + cb * b->count;
  for (int64_t m = 0; m <= a->mmax; m++)
    for (int64_t l = m; l <= a->lmax; l++, p++, q++)
      cl[l] += (m ? 2 : 1) * (creal(*p) * creal(*q) + cimag(*p) * cimag(*q)) / (double)(2 * l + 1);
}

int alms_spectra(const alms *a, const alms *b, double *cl)
{
  static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}};
  for (int i = 0; i < (a->n == 3 ? 6 : 1); i++) {
    double *row = cl + i * (a->lmax + 1);
    int c = pairs[i][0], d = pairs[i][1];
    cross_spectrum(a, c, b, d, row);
    if (c == d || a == b)
      continue;
    cross_spectrum(a, d, b, c, row); /* the mean of both orders */
    for (int64_t l = 0; l <= a->lmax; l++)
      row[l] /= 2;
  }
  return EXIT_DONE;
}

/* ---- random coefficients
 * ------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t z) /* splitmix64's finaliser: a counter in, 64 random bits out */
{
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* Two independent normal numbers for counter (seed, component, l, m), by Box and Muller. */
static void normal_pair(uint64_t seed, int component, int64_t l, int64_t m, double out[2])
{
  uint64_t key = mix(mix(seed) ^ (uint64_t)component) ^ ((uint64_t)l << 32 | (uint64_t)m);
  double u = ((double)(mix(key) >> 11) + 0.5) * 0x1p-53, v = (double)(mix(~key) >> 11) * 0x1p-53;
  double r = sqrt(-2 * log(u));
  out[0] = r * cos(2 * M_PI * v);
  out[1] = r * sin(2 * M_PI * v);
}

/* T, E, B of degree l from their covariance: the Cholesky factor of [TT TE; TE EE], and BB apart. */
static int draw_degree(alms *a, const double *cl, int64_t l, uint64_t seed)
{
  int64_t stride = a->lmax + 1;
  double tt = cl[l], ee = a->n == 3 ? cl[stride + l] : 0, bb = a->n == 3 ? cl[2 * stride + l] : 0;
  double te = a->n == 3 ? cl[3 * stride + l] : 0;
  if (!(tt >= 0 && ee >= 0 && bb >= 0) || !(te * te <= tt * ee * (1 + 1e-9)))
    return fail("the spectra at l = %lld are no covariance: TT %g, EE %g, BB %g, TE %g", (long long)l, tt, ee,
                bb, te);
  double t = sqrt(tt), mixed = t > 0 ? te / t : 0, e = sqrt(fmax(ee - mixed * mixed, 0)), b = sqrt(bb);
  for (int64_t m = 0; m <= l && m <= a->mmax; m++) {
    int64_t i = m * (2 * a->lmax + 1 - m) / 2 + l;
    double n[3][2], scale = m ? M_SQRT1_2 : 1;
    for (int c = 0; c < a->n; c++) {
      normal_pair(seed, c, l, m, n[c]);
      n[c][1] = m ? n[c][1] : 0;
    }
    a->data[i] = scale * t * (n[0][0] + I * n[0][1]);
    if (a->n < 3)
      continue;
    a->data[a->count + i] = scale * (mixed * n[0][0] + e * n[1][0] + I * (mixed * n[0][1] + e * n[1][1]));
    a->data[2 * a->count + i] = scale * b * (n[2][0] + I * n[2][1]);
  }
  return EXIT_DONE;
}

int alms_random(alms *a, const double *cl, uint64_t seed)
{
  for (int64_t l = 0; l <= a->lmax; l++)
    STEP(draw_degree(a, cl, l, seed));
  return EXIT_DONE;
}

/* ---- rotations
 * ------------------------------------------------------------------------------------------------- */

/* d^l_{m,k}(theta) at l = max(m, |k|), m >= 0; the sign and size of Edmonds' formula. */
static long double wigner_start(int64_t m, int64_t k, long double half)
{
  bool by_m = m >= llabs(k);
  int64_t j = by_m ? m : llabs(k), q = by_m    ? k
                                       : k > 0 ? m
                                               : -m; /* d_{m,k} = (-1)^(m-k) d_{k,m} = d_{-k,-m} */
  long double sine = by_m || k < 0 ? -sinl(half) : sinl(half);
  long double size = 0.5L * (lgammal(2 * j + 1) - lgammal(j + q + 1) - lgammal(j - q + 1));
  long double log_size =
      size + (long double)(j + q) * logl(cosl(half)) + (long double)(j - q) * logl(fabsl(sine));
  if (j == q)
    log_size = size + (long double)(j + q) * logl(cosl(half));
  if (j == -q)
    log_size = size + (long double)(j - q) * logl(fabsl(sine));
  return (sine < 0 && (j - q) % 2 ? -1 : 1) * expl(log_size);
}

/* Adds d^l_{m,k} times the input's (l, k), for all l; long double carries the tiny starts of large m. */
static void turn_pair(const double _Complex *in, double _Complex *out, int64_t lmax, int64_t m, int64_t k,
                      double theta, double _Complex phase)
{
  int64_t kk = llabs(k), l0 = m > kk ? m : kk;
  long double x = cosl(theta), before = 0, d = wigner_start(m, k, (long double)theta / 2);
  const double _Complex *row = in + kk * (2 * lmax + 1 - kk) / 2;
  double _Complex *to = out + m * (2 * lmax + 1 - m) / 2;
  for (int64_t l = l0; l <= lmax; l++) {
    double _Complex a = k < 0 ? (kk % 2 ? -conj(row[l]) : conj(row[l])) : row[l];
    to[l] += (double)d * phase * a;
    long double p = (long double)(l + 1), q = (long double)l;
    long double up = sqrtl((p * p - m * m) * (p * p - k * k));
    long double shift = l ? (long double)(m * k) / (q * p) : 0;
    long double back = l ? sqrtl((q * q - m * m) * (q * q - k * k)) * p / (q * up) : 0;
    long double next = p * (2 * q + 1) / up * (x - shift) * d - back * before;
    before = d;
    d = next;
  }
}

/* a'_lm = sum_k e^{-i m phi} d^l_{mk}(theta) e^{-i k psi} a_lk. */
int alms_turn(alms *a, double psi, double theta, double phi)
{
  OWNED double _Complex *out = malloc((size_t)a->count * sizeof *out);
  if (!out)
    return fail("no memory for a_lm to lmax %lld", (long long)a->lmax);
  for (int64_t c = 0; c < a->n; c++) {
    double _Complex *in = a->data + c * a->count;
    for (int64_t i = 0; i < a->count; i++)
      out[i] = 0;
    for (int64_t m = 0; m <= a->lmax; m++) {
      if (interrupted())
        return fail_interrupted();
      for (int64_t k = -a->lmax; k <= a->lmax; k++)
        turn_pair(in, out, a->lmax, m, k, theta, cexp(-I * ((double)m * phi + (double)k * psi)));
    }
    for (int64_t i = 0; i < a->count; i++)
      in[i] = i <= a->lmax ? creal(out[i]) : out[i];
  }
  return EXIT_DONE;
}

typedef double matrix[3][3];

/* Galactic from equatorial J2000 (Murray 1989, A&A 218, 325, the ICRS matrix of Hipparcos, vol. 1,
 * eq. 1.5.11). */
static const matrix galactic_of_equatorial = {
    {-0.0548755604162154, -0.8734370902348850, -0.4838350155487132},
    {+0.4941094278755837, -0.4448296299600112, +0.7469822444972189},
    {-0.8676661490190047, -0.1980763734312015, +0.4559837761750669},
};

/* Equatorial coordinates (to) of a vector in those of `system`. */
static void to_equatorial(char system, matrix r)
{
  const double tilt = 84381.406 / 3600 * M_PI / 180; /* obliquity of the ecliptic, J2000 (IAU 2006) */
  const matrix ecliptic = {{1, 0, 0}, {0, cos(tilt), -sin(tilt)}, {0, sin(tilt), cos(tilt)}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      r[i][j] = system == 'G' ? galactic_of_equatorial[j][i] : system == 'E' ? ecliptic[i][j] : i == j;
}

int alms_to_coord(alms *a, char from, char to)
{
  matrix r_from, r_to, r = {{0}};
  to_equatorial(from, r_from);
  to_equatorial(to, r_to);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++)
        r[i][j] += r_to[k][i] * r_from[k][j];
  /* r = Rz(phi) Ry(theta) Rz(psi) */
  double theta = acos(fmin(fmax(r[2][2], -1), 1));
  if (theta < 1e-12)
    return alms_turn(a, 0, 0, atan2(r[1][0], r[0][0]));
  return alms_turn(a, atan2(r[2][1], -r[2][0]), theta, atan2(r[1][2], r[0][2]));
}
