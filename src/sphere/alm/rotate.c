/* SPDX-License-Identifier: BSD-3-Clause */
/* Rotation of alm: D^l = e^(-i k phi) d^l_km(theta) e^(-i m psi), degree by degree. */
#include "sphere/alm/rotate.h"
#include <complex.h>
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "sphere/alm/alm.h"

enum { LMAX_ROTATE = 32768, SETS = KUGEL__ROTATE_SETS, TABLES = 3 + 4 + 6 * SETS };

typedef struct rotate_arg {
  int64_t lmax, nalm, padded;
  int sets;
  kugel_complex *alm;
  double beta;           // in [0, pi/2]
  bool mirrored, turned; // theta = pi - beta; theta = -beta
  long double half_cos, half_sin;
  const double *before, *after; // [2 (lmax + 1)] e^(-i m psi), e^(-i m phi)
  double *scratch;              // one part of `part` doubles a worker
  int64_t part;
  const kugel__rotate_ops *ops;
} rotate_arg;

/* e^(-i m angle), the product m angle with its rounding error. */
static void make_phases(int64_t lmax, double angle, double *phase)
{
  for (int64_t m = 0; m <= lmax; m++) {
    const double x = (double)m * angle, rest = fma((double)m, angle, -x), c = cos(x), s = sin(x);
    phase[2 * m] = c - rest * s;
    phase[2 * m + 1] = -(s + rest * c);
  }
}

/* d^l_kl = sqrt(binomial(2l, l+k)) cos^(l+k)(beta/2) sin^(l-k)(beta/2), from k = l downwards, as start 2^(300
 * scale). The ratio tan(beta/2) is used to more than double precision: its error would count 2 l times. */
static void make_starts(const rotate_arg *a, int64_t l, double *const start[2], double *const scale[2])
{
  const long double ratio_long = a->half_sin / a->half_cos;
  const double ratio = (double)ratio_long, error = (double)((ratio_long - ratio) / ratio);
  long double power = 1, base = a->half_cos;
  int64_t exponent = 0, base_exponent = 0;
  for (int64_t n = 2 * l; n; n >>= 1) { // cos^(2l) by squaring, the exponent apart
    int e;
    if (n & 1) {
      power = frexpl(power * base, &e);
      exponent += base_exponent + e;
    }
    base = frexpl(base * base, &e);
    base_exponent = 2 * base_exponent + e;
  }
  double value = (double)power;
  for (int64_t k = l; k >= -l; k--) {
    const int64_t s = -((149 - exponent) / KUGEL__ROTATE_BITS);
    const int q = k < 0;
    const double sign = q && (k & 1) ? -1 : 1;
    const double v =
        ldexp(value * (1 + (double)(l - k) * error), (int)(exponent - KUGEL__ROTATE_BITS * s)) * sign;
    if (k >= 0) {
      start[0][k] = v;
      scale[0][k] = (double)s;
    }
    if (k <= 0) {
      start[1][-k] = v;
      scale[1][-k] = (double)s;
    }
    value *= ratio * sqrt((double)(l + k) / (double)(l - k + 1));
    if ((value < 0x1p-60 || value > 1) && k > -l) {
      int e;
      value = frexp(value, &e);
      exponent += e;
    }
  }
  for (int64_t k = l + 1; k < kugel__round_up(l + 1, KUGEL__ROTATE_LANES); k++)
    start[0][k] = start[1][k] = scale[0][k] = scale[1][k] = 0;
}

static void make_coefficients(const rotate_arg *a, int64_t l, double *alpha, double *tau, double *rho)
{
  const double tangent = (double)(2 * a->half_sin / a->half_cos);
  const double inverse = (double)(1 / (a->half_sin * a->half_cos)); // 2 / sin beta
  alpha[0] = tau[0] = rho[0] = 0;
  for (int64_t m = 1; m <= l; m++) {
    const double h2 = (double)(l + m) * (double)(l - m + 1), up2 = (double)(l + m + 1) * (double)(l - m);
    const double h = sqrt(h2);
    alpha[m] = inverse / h;
    tau[m] = (double)m * tangent / h;
    rho[m] = sqrt(up2 / h2);
  }
}

/* Fetches degree l of a set, turned by psi, and sets up the copies that the inner loops use. */
static void gather(const rotate_arg *a, int64_t l, const kugel_complex *alm, double *re, double *im,
                   double *re_alt, double *im_alt)
{
  const int64_t padded = kugel__round_up(l + 1, KUGEL__ROTATE_LANES);
  for (int64_t m = 0; m <= l; m++) {
    const double *x = (const double *)(alm + kugel__alm_offset(a->lmax, m) + l);
    const double c = a->before[2 * m], s = a->before[2 * m + 1], y = m ? x[1] : 0, odd = m & 1 ? -1 : 1;
    const double sign = a->mirrored != a->turned ? odd : 1, half = m ? sign : 0.5;
    re[m] = half * (x[0] * c - y * s);
    im[m] = (a->mirrored ? -half : half) * (x[0] * s + y * c);
    re_alt[m] = odd * re[m];
    im_alt[m] = odd * im[m];
  }
  for (int64_t m = l + 1; m < padded; m++)
    re[m] = im[m] = re_alt[m] = im_alt[m] = 0;
}

static void scatter(const rotate_arg *a, int64_t l, const double *re, const double *im, kugel_complex *alm)
{
  for (int64_t m = 0; m <= l; m++) {
    double *x = (double *)(alm + kugel__alm_offset(a->lmax, m) + l);
    const double c = a->after[2 * m], s = a->after[2 * m + 1];
    const double sign = ((a->mirrored ? l + m : 0) + (a->turned ? m : 0)) & 1 ? -1 : 1;
    x[0] = sign * (re[m] * c - im[m] * s);
    x[1] = m ? sign * (re[m] * s + im[m] * c) : 0;
  }
}

static kugel_status rotate_degree(void *arg, int64_t i, int worker)
{
  const rotate_arg *a = arg;
  const int64_t l = a->lmax - i; // the largest first
  double *table[TABLES], *next = a->scratch + worker * a->part;
  for (int t = 0; t < TABLES; t++, next += a->padded)
    table[t] = next;
  kugel__rotate_degree d = {.l = l,
                            .padded = kugel__round_up(l + 1, KUGEL__ROTATE_LANES),
                            .alpha = table[0],
                            .tau = table[1],
                            .rho = table[2],
                            .start = {table[3], table[4]},
                            .scale = {table[5], table[6]},
                            .column = next};
  for (int s = 0; s < a->sets; s++) {
    double **t = table + 7 + 6 * s;
    gather(a, l, a->alm + s * a->nalm, t[0], t[1], t[2], t[3]);
    d.re[s] = t[0];
    d.im[s] = t[1];
    d.re_alt[s] = t[2];
    d.im_alt[s] = t[3];
    d.out_re[s] = t[4];
    d.out_im[s] = t[5];
  }
  if (a->beta > 0) {
    make_coefficients(a, l, table[0], table[1], table[2]);
    make_starts(a, l, (double *const[]){table[3], table[4]}, (double *const[]){table[5], table[6]});
    a->ops->degree(&d, a->sets);
  } else {
    for (int s = 0; s < a->sets; s++) {
      memcpy(d.out_re[s], d.re[s], (size_t)(l + 1) * sizeof(double));
      memcpy(d.out_im[s], d.im[s], (size_t)(l + 1) * sizeof(double));
      d.out_re[s][0] *= 2;
    }
  }
  for (int s = 0; s < a->sets; s++)
    scatter(a, l, d.out_re[s], d.out_im[s], a->alm + s * a->nalm);
  return KUGEL_OK;
}

/* theta = beta, pi - beta, -beta or beta - pi with beta in [0, pi/2]. Below 1e-18 nothing but the phases is
 * left. */
static void split_angle(rotate_arg *a, double theta)
{
  const long double pi = 3.14159265358979323846264338327950288L;
  long double beta = remainderl(theta, 2 * pi);
  a->turned = beta < 0;
  beta = fabsl(beta);
  a->mirrored = beta > pi / 2;
  if (a->mirrored)
    beta = pi - beta;
  a->beta = beta < 1e-18L ? 0 : (double)beta;
  a->half_cos = cosl(beta / 2);
  a->half_sin = sinl(beta / 2);
}

static kugel_status check(int64_t n, int64_t lmax, const kugel_complex *alm, double psi, double theta,
                          double phi, int64_t *nalm)
{
  int64_t mmax = KUGEL_ALL;
  KUGEL_CHECK(n >= 1, KUGEL_EINVAL, "%lld sets: must be at least 1", (long long)n);
  KUGEL_TRY(kugel__alm_sizes(lmax, &mmax, nalm));
  KUGEL_CHECK(lmax <= LMAX_ROTATE, KUGEL_EINVAL, "lmax %lld: rotation goes up to %d", (long long)lmax,
              (int)LMAX_ROTATE);
  KUGEL_CHECK(alm, KUGEL_EINVAL, "alm is NULL");
  KUGEL_CHECK(isfinite(psi) && isfinite(theta) && isfinite(phi), KUGEL_EINVAL,
              "angles %g, %g, %g: must be finite radians", psi, theta, phi);
  return KUGEL_OK;
}

kugel_status kugel_alm_rotate(kugel_ctx *ctx, int64_t n, int64_t lmax, kugel_complex *alm, double psi,
                              double theta, double phi)
{
  rotate_arg a = {.lmax = lmax, .ops = kugel__rotate_table_get()};
  KUGEL_TRY(check(n, lmax, alm, psi, theta, phi, &a.nalm));
  split_angle(&a, theta);
  a.padded = kugel__round_up(lmax + 1, KUGEL__ROTATE_LANES);
  a.part = a.padded * (TABLES + SETS * 2 * 8);
  kugel_ctx *c = kugel__ctx(ctx);
  KUGEL_CHECK(c, KUGEL_ENOMEM, "no memory for the default context");
  const int64_t workers = kugel__ctx_threads(c), doubles = 4 * (lmax + 1) + a.part * workers + 8;
  double *phase = kugel__scratch_get(ctx, (size_t)doubles * sizeof(double));
  KUGEL_CHECK(phase, KUGEL_ENOMEM, "no memory for %lld bytes of rotation tables", (long long)doubles * 8);
  make_phases(lmax, psi, phase);
  make_phases(lmax, phi, phase + 2 * (lmax + 1));
  a.before = phase;
  a.after = phase + 2 * (lmax + 1);
  a.scratch = phase + kugel__round_up(4 * (lmax + 1), 8);
  kugel_status status = KUGEL_OK;
  for (int64_t first = 0; first < n && status == KUGEL_OK; first += SETS) {
    a.sets = (int)kugel__min(SETS, n - first);
    a.alm = alm + first * a.nalm;
    kugel__progress_stage((double)first / (double)n, (double)(first + a.sets) / (double)n, "rotating");
    status = kugel__parallel_on(ctx, workers, lmax + 1, rotate_degree, &a);
  }
  kugel__scratch_put(ctx, phase);
  return status;
}
