/* SPDX-License-Identifier: BSD-3-Clause */
/* HEALPix pixel windows. By the addition theorem w_l^2 is the average over pixels, and over pairs of points
 * a, b of a pixel, of P_l(a.b), a polynomial in u = |a - b|^2 / 4. So the averages of u^k over all pixels
 * give w_l for every l. For polarisation P_l becomes d^l_22 with the turn of the frames between a and b, each
 * carried to the pixel's centre. Pixels are images of squares under an equal-area map, so Gauss points of the
 * square average exactly enough; along a ring, and over rings, the averages change smoothly and few sample
 * pixels do. */
#include <complex.h>
#include <math.h>
#include <string.h>
#include "core/alloc.h"
#include "core/parallel.h"
#include "core/quadrature.h"
#include "sphere/alm/alm.h"
#include "sphere/alm/kept.h"

enum {
  POINTS = 10,                      /* Gauss points a side of a pixel */
  MAX_POINTS = 2 * POINTS * POINTS, /* two triangles where the map has a kink */
  MOMENTS = 30,
  SAMPLES = 20,
  SINGLES = 40, /* up to 40 pixels or rings: all of them */
  MAX_NSIDE = 1 << 20
};

typedef struct sample {
  double ring, place, weight; /* place: pixel of the quadrant, from 0; fractions are allowed */
} sample;

typedef struct window_arg {
  double nside;
  const double *node, *node_weight; /* [POINTS] on [0, 1] */
  const sample *samples;
  double (*moments)[2][MOMENTS]; /* [samples]: averages of (u nside^2)^k, plain and with the frames' turn */
} window_arg;

/* Points and weights with which the mean over x = first, first + 1, ... first + n - 1 of a smooth function is
 * found: Gauss-Legendre points of the interval, weights by the Euler-Maclaurin formula for Legendre
 * polynomials. */
static int mean_rule(double first, double n, const double *gauss, const double *gauss_weight, double *x,
                     double *w)
{
  if (n <= SINGLES) {
    for (int i = 0; i < (int)n; i++) {
      x[i] = first + i;
      w[i] = 1 / n;
    }
    return (int)n;
  }
  static const double factor[6] = {
      1, -1 / 24., 7 / 5760., -31 / 967680., 127 / 154828800., -73 / 3503554560.};
  double mean[SAMPLES] = {1}; // of P_d over the midpoints of n cells of [-1, 1]
  const double h = 2 / n;
  for (int d = 2; d < SAMPLES; d += 2)
    for (int k = 1; k < 6 && 2 * k - 1 <= d; k++) {
      double derivative = 1; // P_d^(s)(1) = (d + s)! / (2^s s! (d - s)!), s = 2 k - 1
      for (int i = 1; i <= 2 * k - 1; i++)
        derivative *= (double)((d + i) * (d - i + 1)) / (2.0 * i);
      mean[d] += factor[k] * pow(h, 2 * k) * derivative;
    }
  for (int i = 0; i < SAMPLES; i++) {
    const double t = 2 * gauss[i] - 1;
    double p = 1, before = 0, sum = 0;
    for (int d = 0; d < SAMPLES; d++) {
      sum += (2 * d + 1) * mean[d] * p;
      const double next = ((2 * d + 1) * t * p - d * before) / (d + 1);
      before = p;
      p = next;
    }
    x[i] = first - 0.5 + n * gauss[i];
    w[i] = sum * gauss_weight[i];
  }
  return SAMPLES;
}

/* A point of the sphere from HEALPix face coordinates, measured from the corner at the pole (p, q; in
 * pixels). The formulas of the cap and of the belt are each used a little beyond their end where rings are
 * interpolated. */
static void face_point(double n, bool cap, double p, double q, double *z, double *s, double *phi)
{
  const double k = p + q;
  if (cap) {
    const double t = k * k / (3 * n * n);
    *z = 1 - t;
    *s = sqrt(t * (2 - t));
    *phi = M_PI_2 * q / k;
  } else {
    *z = (4 - 2 * k / n) / 3;
    *s = sqrt((1 - *z) * (1 + *z));
    *phi = M_PI_4 * (1 + (q - p) / n);
  }
}

/* cos(phi/2) cos((theta_a - theta_b)/2) + i sin(phi/2) cos((theta_a + theta_b)/2), phi = phi_b - phi_a: its
 * modulus is cos(gamma/2), twice its argument the turn between the frames at a and b, carried along the great
 * circle. */
static double complex frame_turn(double theta_a, double phi_a, double theta_b, double phi_b)
{
  const double phi = (phi_b - phi_a) / 2;
  return cos(phi) * cos((theta_a - theta_b) / 2) + I * (sin(phi) * cos((theta_a + theta_b) / 2));
}

static double complex fourth_power(double complex x)
{
  return (x * x) * (x * x);
}

typedef struct points {
  int n;
  double z[MAX_POINTS], s[MAX_POINTS], phi[MAX_POINTS], weight[MAX_POINTS];
  double half_theta_cos[MAX_POINTS], half_theta_sin[MAX_POINTS];
  double complex turn[MAX_POINTS]; /* frame at the point against the frame at the centre, spin 2 */
} points;

static void add_point(points *g, double n, bool cap, double p, double q, double weight)
{
  const int i = g->n++;
  face_point(n, cap, p, q, &g->z[i], &g->s[i], &g->phi[i]);
  g->weight[i] = weight;
}

static void make_points(const window_arg *a, double ring, double place, points *g)
{
  const double p = ring - 1 - place, q = place;
  double z, s, phi;
  g->n = 0;
  for (int i = 0; i < POINTS; i++)
    for (int j = 0; j < POINTS; j++) {
      const double x = a->node[i], y = a->node[j], w = a->node_weight[i] * a->node_weight[j];
      if (ring != a->nside && ring != 1) {
        add_point(g, a->nside, ring < a->nside, p + x, q + y, w);
      } else { // the cap ends at the diagonal, or the pole is a corner: a triangle on either side of the
               // diagonal
        add_point(g, a->nside, true, p + x * y, q + x * (1 - y), x * w);
        add_point(g, a->nside, ring < a->nside, p + 1 - x * y, q + 1 - x * (1 - y), x * w);
      }
    }
  face_point(a->nside, ring <= a->nside, p + 0.5, q + 0.5, &z, &s, &phi);
  const double centre = atan2(s, z);
  for (int i = 0; i < g->n; i++) {
    const double theta = atan2(g->s[i], g->z[i]);
    const double complex turn = frame_turn(theta, g->phi[i], centre, phi);
    g->turn[i] = fourth_power(turn / cabs(turn));
    g->half_theta_cos[i] = cos(theta / 2);
    g->half_theta_sin[i] = sin(theta / 2);
  }
}

/* The turn between points i and j and u = |i - j|^2 / 4. */
static double pair(const points *g, int i, int j, double *kernel)
{
  const double half = (g->phi[j] - g->phi[i]) / 2, c = cos(half), s = sin(half);
  const double ci = g->half_theta_cos[i], cj = g->half_theta_cos[j], si = g->half_theta_sin[i],
               sj = g->half_theta_sin[j];
  const double complex turn = c * (ci * cj + si * sj) + I * (s * (ci * cj - si * sj));
  *kernel = creal(fourth_power(turn) * conj(g->turn[i]) * g->turn[j]);
  const double ds = g->s[i] - g->s[j], dz = g->z[i] - g->z[j];
  return (ds * ds + dz * dz) / 4 + g->s[i] * g->s[j] * s * s;
}

static kugel_status sample_moments(void *arg, int64_t index)
{
  const window_arg *a = arg;
  const sample *at = a->samples + index;
  double(*m)[MOMENTS] = a->moments[index];
  points g;
  make_points(a, at->ring, at->place, &g);
  memset(m, 0, sizeof *a->moments);
  for (int i = 0; i < g.n; i++) {
    double u[MAX_POINTS], plain[MAX_POINTS], turned[MAX_POINTS];
    m[0][0] += g.weight[i] * g.weight[i];
    m[1][0] += g.weight[i] * g.weight[i];
    for (int j = 0; j < i; j++) {
      double kernel;
      u[j] = pair(&g, i, j, &kernel) * a->nside * a->nside;
      plain[j] = 2 * g.weight[i] * g.weight[j];
      turned[j] = plain[j] * kernel;
    }
    for (int k = 0; k < MOMENTS; k++) {
      double sum[2][4] = {{0}};
      for (int j = 0; j < i; j++) {
        sum[0][j & 3] += plain[j];
        sum[1][j & 3] += turned[j];
        plain[j] *= u[j];
        turned[j] *= u[j];
      }
      for (int c = 0; c < 2; c++)
        m[c][k] += (sum[c][0] + sum[c][1]) + (sum[c][2] + sum[c][3]);
    }
  }
  /* A point with itself has u = 0 and the kernel 1: the plain zeroth moment is exactly 1. */
  for (int k = 0; k < MOMENTS; k++) {
    m[0][k] *= at->weight;
    m[1][k] *= at->weight;
  }
  return KUGEL_OK;
}

/* Sample pixels of rings first ... first + n - 1 of the north, which stand for `pixels` (their share of the
 * sky). */
static int64_t add_rings(double nside, double first, double n, const double *gauss,
                         const double *gauss_weight, sample *out)
{
  double ring[SINGLES], ring_weight[SINGLES], place[SINGLES], weight[SINGLES];
  const int rings = mean_rule(first, n, gauss, gauss_weight, ring, ring_weight);
  int64_t count = 0;
  for (int r = 0; r < rings; r++) {
    const double q = ring[r] < nside ? ring[r] : nside;
    const double share = n * ring_weight[r] * q / (3 * nside * nside) * (ring[r] < 2 * nside ? 2 : 1);
    if (ring[r] > nside) { // all pixels of a ring of the belt are alike
      out[count++] = (sample){ring[r], nside / 2, share};
      continue;
    }
    const int places = mean_rule(0, q, gauss, gauss_weight, place, weight);
    for (int j = 0; j < places; j++) {
      const double mirror = q - 1 - place[j];
      if (place[j] < mirror + 1e-9) // the other half of the quadrant is its mirror image
        out[count++] = (sample){ring[r], place[j], share * weight[j] * (mirror - place[j] > 1e-9 ? 2 : 1)};
    }
  }
  return count;
}

/* All samples: single rings near the pole, then octaves of rings up to nside - 1, ring nside, the belt, the
 * equator. */
static int64_t make_samples(int64_t nside, const double *gauss, const double *gauss_weight, sample *out)
{
  int64_t count = 0;
  for (int64_t ring = 1, n; ring < nside; ring += n) {
    n = ring < 4 * SINGLES ? 1 : kugel__min(ring / 2, nside - ring);
    count += add_rings((double)nside, (double)ring, (double)n, gauss, gauss_weight, out + count);
  }
  count += add_rings((double)nside, (double)nside, 1, gauss, gauss_weight, out + count);
  if (nside > 1)
    count += add_rings((double)nside, (double)nside + 1, (double)nside - 1, gauss, gauss_weight, out + count);
  return count + add_rings((double)nside, 2 * (double)nside, 1, gauss, gauss_weight, out + count);
}

/* sqrt(sum_k c_k moment_k): P_l = sum_k (-l)_k (l+1)_k / k!^2 u^k; d^l_22 = (1-u)^2 sum_k (2-l)_k (l+3)_k /
 * k!^2 u^k, its first factor being in the kernel. */
static double window(int64_t l, int spin, double nside, const double *moment)
{
  const double a = (double)(l - spin), b = (double)(l + spin + 1);
  double c = 1, sum = moment[0];
  for (int k = 1; k < MOMENTS && (double)k <= a; k++) {
    c *= -(a - k + 1) * (b + k - 1) / ((double)k * k * nside * nside);
    sum += c * moment[k];
  }
  return sqrt(fmax(sum, 0));
}

static kugel_status sum_moments(kugel_ctx *ctx, int64_t nside, double total[2][MOMENTS])
{
  enum { MAX_SAMPLES = 16384 };
  double theta[SAMPLES], gauss[2][SAMPLES], node[2][POINTS];
  KUGEL_TRY(kugel__gauss_legendre(ctx, SAMPLES, theta, NULL, NULL, gauss[1]));
  for (int i = 0; i < SAMPLES; i++) {
    gauss[0][i] = (1 - cos(theta[i])) / 2;
    gauss[1][i] /= 2;
  }
  KUGEL_TRY(kugel__gauss_legendre(ctx, POINTS, theta, NULL, NULL, node[1]));
  for (int i = 0; i < POINTS; i++) {
    node[0][i] = (1 - cos(theta[i])) / 2;
    node[1][i] /= 2;
  }
  sample *samples;
  KUGEL_ALLOC(ctx, samples, MAX_SAMPLES * sizeof *samples);
  window_arg arg = {(double)nside, node[0], node[1], samples, NULL};
  const int64_t count = make_samples(nside, gauss[0], gauss[1], samples);
  arg.moments = kugel__alloc(ctx, (size_t)count * sizeof *arg.moments);
  kugel_status status =
      arg.moments ? kugel__parallel(ctx, count, sample_moments, &arg)
                  : KUGEL_FAIL(KUGEL_ENOMEM, "no memory for the moments of %lld pixels", (long long)count);
  memset(total, 0, 2 * sizeof *total);
  for (int64_t i = 0; i < count && status == KUGEL_OK; i++)
    for (int k = 0; k < MOMENTS; k++) {
      total[0][k] += arg.moments[i][0][k];
      total[1][k] += arg.moments[i][1][k];
    }
  kugel__free(ctx, arg.moments);
  kugel__free(ctx, samples);
  return status;
}

kugel_status kugel_pixel_window(kugel_ctx *ctx, int64_t nside, int64_t lmax, double *wl, double *wl_pol)
{
  KUGEL_CHECK(nside >= 1 && nside <= MAX_NSIDE, KUGEL_EINVAL, "nside %lld: must be between 1 and %d",
              (long long)nside, (int)MAX_NSIDE);
  KUGEL_CHECK(lmax >= 0 && lmax <= 4 * nside, KUGEL_EINVAL, "lmax %lld: must be between 0 and 4 nside = %lld",
              (long long)lmax, (long long)(4 * nside));
  KUGEL_CHECK(wl, KUGEL_EINVAL, "wl is NULL");
  double total[2][MOMENTS];
  const kugel__alm_kept id = {"moments of pixels 1", nside, 2 * MOMENTS, true};
  if (!kugel__kept_get(&id, total[0])) {
    KUGEL_TRY(sum_moments(ctx, nside, total));
    kugel__kept_put(&id, total[0]);
  }
  for (int64_t l = 0; l <= lmax; l++) {
    wl[l] = window(l, 0, (double)nside, total[0]);
    if (wl_pol)
      wl_pol[l] = l < 2 ? 0 : window(l, 2, (double)nside, total[1]);
  }
  return KUGEL_OK;
}
