/* SPDX-License-Identifier: BSD-3-Clause */
/* Integrals over the pupil. With s = n sin(theta) the index across the axis, which all layers share, and k = 2 pi / lambda:
 *   scalar     U = 2 / sin^2(alpha) int_0^alpha J0(k s r) exp(i k L(s, z)) sin cos d theta
 *   vectorial  I0 = int A (ts + tp cos_s) J0, I1 = int A tp sin_s J1, I2 = int A (ts - tp cos_s) J2, A = sqrt(cos) sin
 * with sin_s, cos_s in the medium of the source and Fresnel's coefficients of both interfaces. The path is
 *   L = depth q(ns) + tg q(ng) - tg0 q(ng0) + ti q(ni) - ti0 q(ni0),  q(n) = sqrt(n^2 - s^2),
 *   ti = ni (ti0 / ni0 + tg0 / ng0 - tg / ng - depth / ns) - z: no defocus for paraxial rays at z = 0.
 * Sources: Gibson and Lanni, JOSA A 8 (1991) 1601; Richards and Wolf, Proc. R. Soc. A 253 (1959) 358; Toeroek and Varga,
 * Appl. Opt. 36 (1997) 2305. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "core/parallel.h"
#include "core/quadrature.h"
#include "psf/psf.h"

enum { LEAST_NODES = 40, RATES = 256 };

typedef struct pupil {
  const kugel__psf_optics *o;
  int64_t nodes;
  double k, *s, *w; // s and the weight times A or sin cos
  double complex *ts, *tp, *cos_s;
  double focus; // of a perfect objective: the integral's modulus there
} pupil;

static double complex q(double n, double s)
{
  return n >= s ? sqrt((n - s) * (n + s)) : I * sqrt((s - n) * (s + n));
}

static double paraxial(const kugel__psf_optics *o)
{
  return o->ni * (o->ti0 / o->ni0 + o->tg0 / o->ng0 - o->tg / o->ng - o->depth / o->ns);
}

static double complex path(const kugel__psf_optics *o, double s, double z)
{
  if (o->model == KUGEL_PSF_BORN_WOLF)
    return -z * q(o->ni, s);
  double complex glass = o->tg * q(o->ng, s) - o->tg0 * q(o->ng0, s);
  return o->depth * q(o->ns, s) + glass + (paraxial(o) - z) * q(o->ni, s) - o->ti0 * q(o->ni0, s);
}

// The largest change of the phase by theta, where waves do not decay.
static double phase_rate(const kugel__psf_optics *o, double r, double z)
{
  double k = 2 * M_PI / o->wavelength, alpha = asin(o->na / o->ni), most = 0, before = 0;
  for (int i = 0; i <= RATES; i++) {
    double phase = k * creal(path(o, o->ni * sin(alpha * i / RATES), z));
    if (i)
      most = fmax(most, fabs(phase - before) * RATES / alpha);
    before = phase;
  }
  return most + k * o->ni * r;
}

static void fresnel(const kugel__psf_optics *o, double s, double complex *ts, double complex *tp)
{
  double n[3] = {o->ni, o->ng, o->ns};
  *ts = *tp = 1;
  for (int i = 0; i < 2; i++) {
    double complex a = q(n[i], s), b = q(n[i + 1], s); // n cos(theta) on both sides
    *ts *= 2 * a / (a + b);
    *tp *= 2 * a / (a * n[i + 1] / n[i] + b * n[i] / n[i + 1]);
  }
}

static void pupil_free(kugel_ctx *ctx, pupil *p)
{
  kugel__free(ctx, p->s);
  kugel__free(ctx, p->ts);
}

// Nodes in [lo, hi] of theta; toward `end` (-1, 1, or 0: none) the integrand has a square root.
static void place(const pupil *p, int64_t first, int64_t n, double lo, double hi, int end, const double *x,
                  const double *weight)
{
  for (int64_t i = 0; i < n; i++) {
    double u = (1 - x[i]) / 2, du = weight[i] / 2, length = hi - lo; // u from 0 to 1
    double at = end > 0 ? 1 - u * u : end < 0 ? u * u : u;
    double theta = lo + length * at, w = length * du * (end ? 2 * u : 1);
    p->s[first + i] = p->o->ni * sin(theta);
    bool vectorial = p->o->model == KUGEL_PSF_RICHARDS_WOLF;
    p->w[first + i] = w * sin(theta) * (vectorial ? sqrt(cos(theta)) : cos(theta));
  }
}

static kugel_status place_all(kugel_ctx *ctx, pupil *p, int64_t each, int parts, double *x)
{
  const kugel__psf_optics *o = p->o;
  double alpha = asin(o->na / o->ni), critical = parts == 2 ? asin(o->ns / o->ni) : alpha;
  KUGEL_TRY(kugel__gauss_legendre(ctx, each, x, x + each, x + 2 * each, x + 3 * each));
  place(p, 0, each, 0, critical, parts == 2 ? 1 : 0, x + each, x + 3 * each);
  if (parts == 2)
    place(p, each, each, critical, alpha, -1, x + each, x + 3 * each);
  double sum = 0;
  for (int64_t j = 0; j < p->nodes; j++) {
    double c = sqrt(1 - p->s[j] * p->s[j] / (o->ni * o->ni));
    sum += p->w[j] * (o->model == KUGEL_PSF_RICHARDS_WOLF ? 1 + c : 1);
    fresnel(o, p->s[j], &p->ts[j], &p->tp[j]);
    p->cos_s[j] = q(o->ns, p->s[j]) / o->ns;
  }
  p->focus = sum;
  return KUGEL_OK;
}

static kugel_status pupil_make(kugel_ctx *ctx, const kugel__psf_optics *o, double r, int64_t nz,
                               const double *z, pupil *p)
{
  double lo = z[0], hi = z[0];
  for (int64_t i = 1; i < nz; i++) {
    lo = fmin(lo, z[i]);
    hi = fmax(hi, z[i]);
  }
  double rate = fmax(phase_rate(o, r, lo), phase_rate(o, r, hi)) * asin(o->na / o->ni);
  int parts = o->model != KUGEL_PSF_BORN_WOLF && o->ns < o->na ? 2 : 1;
  KUGEL_CHECK(
      rate < 2e6, KUGEL_EINVAL,
      "the phase in the pupil changes by %.3g radians, must be below 2e6: check that wavelengths, voxels and "
      "depths have one unit",
      rate);
  int64_t each = LEAST_NODES + (int64_t)(rate * (parts == 2 ? 1.1 : 0.55));
  *p = (pupil){.o = o, .nodes = parts * each, .k = 2 * M_PI / o->wavelength};
  double *x = kugel__alloc(ctx, (size_t)(4 * each) * sizeof *x);
  p->s = kugel__alloc(ctx, (size_t)(2 * p->nodes) * sizeof(double));
  p->ts = kugel__alloc(ctx, (size_t)(3 * p->nodes) * sizeof(double complex));
  kugel_status status = KUGEL_OK;
  if (!x || !p->s || !p->ts)
    status = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld nodes in the pupil", (long long)p->nodes);
  if (!status) {
    p->w = p->s + p->nodes;
    p->tp = p->ts + p->nodes;
    p->cos_s = p->tp + p->nodes;
    status = place_all(ctx, p, each, parts, x);
  }
  kugel__free(ctx, x);
  return status;
}

/* ---- profiles ---- */

typedef struct profile_job {
  pupil pupil;
  kugel__psf_profile *out;
  double *waves; // weight exp(i k L): [node][re, im][plane]
  double *sums;  // of each worker: I0, I1, I2, each [re, im][plane]
} profile_job;

static void add_row(int64_t n, const double *wave, double complex f, double *sum)
{
  double a = creal(f), b = cimag(f), *re = sum, *im = sum + n;
  if (b == 0) {
    for (int64_t i = 0; i < 2 * n; i++)
      sum[i] += a * wave[i];
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    re[i] += a * wave[i] - b * wave[n + i];
    im[i] += a * wave[n + i] + b * wave[i];
  }
}

static double square(const double *sum, int64_t n, int64_t i)
{
  return sum[i] * sum[i] + sum[n + i] * sum[n + i];
}

static kugel_status profile_row(void *arg, int64_t i, int worker)
{
  const profile_job *j = arg;
  const pupil *p = &j->pupil;
  int64_t n = j->out->planes;
  bool vectorial = p->o->model == KUGEL_PSF_RICHARDS_WOLF;
  double *sum = j->sums + worker * 6 * n, *even = j->out->even + i * n, r = (double)i * j->out->step;
  memset(sum, 0, (size_t)(6 * n) * sizeof *sum);
  for (int64_t node = 0; node < p->nodes; node++) {
    const double *wave = j->waves + node * 2 * n;
    double v = p->k * p->s[node] * r;
    double complex along = p->tp[node] * p->cos_s[node];
    if (!vectorial) {
      add_row(n, wave, j0(v), sum);
      continue;
    }
    double b0 = j0(v), b1 = j1(v), b2 = v < 1e-4 ? v * v / 8 : 2 * b1 / v - b0;
    add_row(n, wave, b0 * (p->ts[node] + along), sum);
    add_row(n, wave, b1 * p->tp[node] * (p->s[node] / p->o->ns), sum + 2 * n);
    add_row(n, wave, b2 * (p->ts[node] - along), sum + 4 * n);
  }
  double scale = 1 / (p->focus * p->focus);
  for (int64_t z = 0; z < n; z++)
    even[z] =
        scale * (vectorial ? square(sum, n, z) + 2 * square(sum + 2 * n, n, z) + square(sum + 4 * n, n, z)
                           : square(sum, n, z));
  if (j->out->cos2)
    for (int64_t z = 0; z < n; z++) {
      double cross = sum[z] * sum[4 * n + z] + sum[n + z] * sum[5 * n + z];
      j->out->cos2[i * n + z] = scale * 2 * (square(sum + 2 * n, n, z) + cross);
    }
  return KUGEL_OK;
}

static void fill_waves(const profile_job *j, const double *z)
{
  int64_t n = j->out->planes;
  for (int64_t node = 0; node < j->pupil.nodes; node++)
    for (int64_t i = 0; i < n; i++) {
      double complex wave =
          j->pupil.w[node] * cexp(I * j->pupil.k * path(j->pupil.o, j->pupil.s[node], z[i]));
      j->waves[node * 2 * n + i] = creal(wave);
      j->waves[(node * 2 + 1) * n + i] = cimag(wave);
    }
}

static void gaussian(const kugel__psf_optics *o, const double *z, kugel__psf_profile *p)
{
  for (int64_t i = 0; i < p->radii; i++)
    for (int64_t k = 0; k < p->planes; k++) {
      double a = (double)i * p->step / o->sigma_r, b = z[k] / o->sigma_z;
      p->even[i * p->planes + k] = exp(-(a * a + b * b) / 2);
    }
}

kugel_status kugel__psf_profile_make(kugel_ctx *ctx, const kugel__psf_optics *o, const double *z,
                                     kugel__psf_profile *p)
{
  int64_t count = p->radii * p->planes;
  p->even = kugel__alloc(ctx, (size_t)count * (o->polarised ? 2 : 1) * sizeof(double));
  KUGEL_CHECK(p->even, KUGEL_ENOMEM, "no memory for a profile of %lld radii and %lld planes",
              (long long)p->radii, (long long)p->planes);
  p->cos2 = o->polarised ? p->even + count : NULL;
  if (o->model == KUGEL_PSF_GAUSSIAN) {
    gaussian(o, z, p);
    return KUGEL_OK;
  }
  profile_job j = {.out = p};
  int workers = 0;
  kugel_status status = pupil_make(ctx, o, (double)p->radii * p->step, p->planes, z, &j.pupil);
  if (!status) {
    j.waves = kugel__alloc(ctx, (size_t)(2 * j.pupil.nodes * p->planes) * sizeof(double));
    workers = kugel__ctx_threads(ctx);
    j.sums = kugel__alloc(ctx, (size_t)(6 * p->planes * workers) * sizeof(double));
    if (!j.waves || !j.sums)
      status = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for %lld waves in %lld planes", (long long)j.pupil.nodes,
                          (long long)p->planes);
  }
  if (!status) {
    fill_waves(&j, z);
    status = kugel__parallel_on(ctx, workers, p->radii, profile_row, &j);
  }
  kugel__free(ctx, j.waves);
  kugel__free(ctx, j.sums);
  pupil_free(ctx, &j.pupil);
  return status;
}

void kugel__psf_profile_free(kugel_ctx *ctx, kugel__psf_profile *p)
{
  kugel__free(ctx, p->even);
  *p = (kugel__psf_profile){0};
}

kugel_status kugel__psf_on_axis(kugel_ctx *ctx, const kugel__psf_optics *o, int64_t n, const double *z,
                                double *intensity)
{
  pupil p = {0};
  kugel_status status = pupil_make(ctx, o, 0, n, z, &p);
  for (int64_t i = 0; i < n && !status; i++) {
    double complex sum = 0;
    for (int64_t j = 0; j < p.nodes; j++) {
      bool vectorial = o->model == KUGEL_PSF_RICHARDS_WOLF;
      double complex f = vectorial ? p.ts[j] + p.tp[j] * p.cos_s[j] : 1;
      sum += f * p.w[j] * cexp(I * p.k * path(o, p.s[j], z[i]));
    }
    intensity[i] = (creal(sum) * creal(sum) + cimag(sum) * cimag(sum)) / (p.focus * p.focus);
  }
  pupil_free(ctx, &p);
  return status;
}

void kugel__psf_foci(const kugel__psf_optics *o, double *lo, double *hi, double *scale)
{
  double na = o->na;
  *lo = *hi = 0;
  *scale = o->wavelength / (o->ni - sqrt(o->ni * o->ni - na * na));
  for (int i = 1; i <= 64; i++) {
    double s = fmin(na, 0.999 * o->ns) * i / 64;
    double bend = o->depth / creal(q(o->ns, s)) + o->tg / creal(q(o->ng, s)) - o->tg0 / creal(q(o->ng0, s)) -
                  o->ti0 / creal(q(o->ni0, s));
    double z = paraxial(o) + bend * creal(q(o->ni, s)); // dL/ds = 0 there
    *lo = fmin(*lo, z);
    *hi = fmax(*hi, z);
  }
}

/* ---- radii ---- */

int64_t kugel__psf_taps(double r, double step, double *weights)
{
  enum { N = KUGEL__PSF_TAPS };
  double x = r / step, first = floor(x) - (N / 2 - 1),
         t = x - first; // nodes 0 ... N - 1, t in [N/2 - 1, N/2)
  double product = 1, sign = -1;
  double binomial = 1; // (N - 1 over i)
  for (int i = 0; i < N; i++) {
    if (t == i) {
      memset(weights, 0, N * sizeof *weights);
      weights[i] = 1;
      return (int64_t)first;
    }
    product *= t - i;
  }
  double factorial = 39916800; // (N - 1)!
  for (int i = 0; i < N;
       i++, sign = -sign) { // w_i = prod_j (t - j) / ((t - i) i! (N - 1 - i)! (-1)^(N - 1 - i))
    weights[i] = product / (t - i) * sign * binomial / factorial;
    binomial *= (double)(N - 1 - i) / (i + 1);
  }
  return (int64_t)first;
}

typedef struct pinhole_job {
  const kugel__psf_profile *in;
  double *out, radius, *x, *w;
  int64_t rings, spokes;
} pinhole_job;

static kugel_status pinhole_row(void *arg, int64_t i)
{
  const pinhole_job *j = arg;
  const kugel__psf_profile *p = j->in;
  double *out = j->out + i * p->planes, r = (double)i * p->step, weights[KUGEL__PSF_TAPS];
  memset(out, 0, (size_t)p->planes * sizeof *out);
  for (int64_t a = 0; a < j->rings; a++) {
    double rho = j->radius * sqrt((1 - j->x[a]) / 2), w = j->w[a] / 2 / (double)j->spokes; // uniform in rho^2
    for (int64_t b = 0; b < j->spokes; b++) {
      double phi = M_PI * ((double)b + 0.5) / (double)j->spokes;
      int64_t first = kugel__psf_taps(sqrt(r * r + rho * rho - 2 * r * rho * cos(phi)), p->step, weights);
      for (int t = 0; t < KUGEL__PSF_TAPS; t++) {
        const double *row = p->even + llabs(first + t) * p->planes;
        double f = w * weights[t];
        for (int64_t k = 0; k < p->planes; k++)
          out[k] += f * row[k];
      }
    }
  }
  return KUGEL_OK;
}

kugel_status kugel__psf_pinhole(kugel_ctx *ctx, double radius, kugel__psf_profile *p)
{
  int64_t beyond = (int64_t)ceil(radius / p->step) + KUGEL__PSF_TAPS, radii = p->radii - beyond;
  pinhole_job j = {.in = p, .radius = radius};
  j.rings = 12 + (int64_t)(radius / p->step / 6);
  j.spokes = 24 + (int64_t)(radius / p->step / 2);
  double *x = kugel__alloc(ctx, (size_t)(4 * j.rings) * sizeof *x);
  j.out = kugel__alloc(ctx, (size_t)(radii * p->planes) * sizeof(double));
  kugel_status status = KUGEL_OK;
  if (!x || !j.out)
    status = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the profile behind the pinhole");
  if (!status)
    status = kugel__gauss_legendre(ctx, j.rings, x, x + j.rings, x + 2 * j.rings, x + 3 * j.rings);
  if (!status) {
    j.x = x + j.rings;
    j.w = x + 3 * j.rings;
    status = kugel__parallel(ctx, radii, pinhole_row, &j);
  }
  kugel__free(ctx, x);
  if (status) {
    kugel__free(ctx, j.out);
    return status;
  }
  kugel__free(ctx, p->even);
  p->even = j.out;
  p->radii = radii;
  return KUGEL_OK;
}
