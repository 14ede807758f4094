/* SPDX-License-Identifier: BSD-3-Clause */
#include "nufft/kernel.h"
#include <math.h>
#include <string.h>
#include "core/quadrature.h"

static const long double PI_L = 3.14159265358979323846264338327950288L;

/* psi's coefficients v_k, k = 0, 2, ..., in normalised Legendre polynomials: the eigenvector of the smallest eigenvalue of
 *   diagonal     k (k + 1) + c^2 (2 k (k + 1) - 1) / ((2 k + 3) (2 k - 1))
 *   off-diagonal c^2 (k + 1) (k + 2) / ((2 k + 3) sqrt((2 k + 1) (2 k + 5)))
 * (Xiao, Rokhlin & Yarvin 2001, doi:10.1088/0266-5611/17/4/315). The matrix is positive definite and its next eigenvalue
 * is several times as large, so that inverse iteration from the factors of the matrix itself converges. */
static void eigenvector(long double c, long double *v)
{
  enum { N = KUGEL__NUFFT_TERMS };
  long double pivot[N], off[N], factor[N];
  for (int i = 0; i < N; i++) {
    long double k = 2 * i;
    pivot[i] = k * (k + 1) + c * c * (2 * k * (k + 1) - 1) / ((2 * k + 3) * (2 * k - 1));
    off[i] = c * c * (k + 1) * (k + 2) / ((2 * k + 3) * sqrtl((2 * k + 1) * (2 * k + 5)));
    v[i] = i == 0;
  }
  for (int i = 1; i < N; i++) {
    factor[i] = off[i - 1] / pivot[i - 1];
    pivot[i] -= factor[i] * off[i - 1];
  }
  for (int round = 0; round < 60; round++) {
    long double norm = 0;
    for (int i = 1; i < N; i++)
      v[i] -= factor[i] * v[i - 1];
    v[N - 1] /= pivot[N - 1];
    for (int i = N - 2; i >= 0; i--)
      v[i] = v[i] / pivot[i] - factor[i + 1] * v[i + 1];
    for (int i = 0; i < N; i++)
      norm += v[i] * v[i];
    for (int i = 0; i < N; i++)
      v[i] /= sqrtl(norm);
  }
}

static long double phi(const kugel__nufft_kernel *k, long double z)
{
  long double p = 1, q = 0, sum = 0; // P_n and P_(n-1)
  for (int n = 0; n < 2 * KUGEL__NUFFT_TERMS; n++) {
    if (n % 2 == 0)
      sum += k->series[n / 2] * p;
    long double next = ((2 * n + 1) * z * p - n * q) / (n + 1);
    q = p;
    p = next;
  }
  return sum;
}

double kugel__nufft_transform(const kugel__nufft_kernel *k, double f)
{
  return (double)(k->width / 2.0L * k->integral * phi(k, PI_L * k->width * f / k->shape));
}

void kugel__nufft_decay_make(const kugel__nufft_kernel *k, kugel__nufft_decay *v)
{
  enum { TERMS = sizeof v->term / sizeof *v->term };
  double value[TERMS];
  v->edge = 1 / (2 * k->upsampling);
  for (int i = 0; i < TERMS; i++)
    value[i] = -log(kugel__nufft_transform(k, v->edge * cos(M_PI * (i + 0.5) / (2 * TERMS))));
  for (int m = 0; m < TERMS; m++) {
    v->term[m] = 0;
    for (int i = 0; i < TERMS; i++)
      v->term[m] +=
          (m ? 2.0 : 1.0) / TERMS * value[i] * cos(M_PI * (m * (2 * i + 1) % (4 * TERMS)) / (2 * TERMS));
  }
  v->terms = TERMS;
  while (v->terms > 1 && fabs(v->term[v->terms - 1]) < 1e-17)
    v->terms--;
}

double kugel__nufft_decay_at(const kugel__nufft_decay *v, double f)
{
  double y = 2 * (f / v->edge) * (f / v->edge) - 1, a = 0, b = 0; // Clenshaw
  for (int m = v->terms - 1; m > 0; m--) {
    double next = v->term[m] + 2 * y * a - b;
    b = a;
    a = next;
  }
  return v->term[0] + y * a - b;
}

/* Squared relative l2 error for random strengths: the mean over modes, f = k / nf, of
 *   sum over m != 0 of (phihat(f + m) / phihat(f))^2,
 * aliases from the neighbouring periods of the fine grid; of derivatives each alias times (f + m)^2, over the mean of f^2.
 * From m = 4 on they fall off as 1 / m^2, by the jump of phi at its ends: 1 / 4^2 + 1 / 5^2 + ... = 4.54 / 4^2. The highest
 * modes have most of the error, so the nodes are those of Gauss, which are dense there. */
static kugel_status expect_error(kugel_ctx *ctx, kugel__nufft_kernel *k)
{
  enum { NODES = 160, MODES = 24, ALIASES = 4 };
  double theta[NODES], z[NODES], s[NODES], weight[NODES], mode[MODES], share[MODES];
  double sum = 0, slopes = 0, squares = 0, gains = 0;
  KUGEL_TRY(kugel__gauss_legendre(ctx, MODES, theta, mode, s, share));
  KUGEL_TRY(kugel__gauss_legendre(ctx, NODES, theta, z, s, weight));
  for (int i = 0; i < NODES / 2; i++) // z > 0
    weight[i] *= (double)phi(k, z[i]);
  for (int i = 0; i < MODES; i++) {
    double f = (1 + mode[i]) / (4 * k->upsampling), aliases = 0, steep = 0;
    for (int m = -ALIASES; m <= ALIASES; m++) {
      double a = (double)PI_L * k->width * (f + m), part = 0;
      for (int n = 0; m != 0 && n < NODES / 2; n++)
        part += weight[n] * cos(a * z[n]);
      double square = (m == ALIASES || m == -ALIASES ? 4.54 : 1) * part * part;
      aliases += square;
      steep += square * (f + m) * (f + m);
    }
    double own = kugel__nufft_transform(k, f) / k->width;
    sum += share[i] / 2 * aliases / (own * own);
    slopes += share[i] / 2 * steep / (own * own);
    squares += share[i] / 2 * f * f;
    gains += share[i] / 2 / (own * own);
  }
  k->error = sqrt(sum);
  // times f + m rounding would be more than the aliases: about 10 times the error, as of narrower kernels
  k->slope_error = k->error < 5e-14 ? 10 * k->error : sqrt(slopes / squares);
  k->gain = sqrt(gains) * kugel__nufft_transform(k, 0) / k->width;
  return KUGEL_OK;
}

kugel_status kugel__nufft_kernel_make(kugel_ctx *ctx, int width, double upsampling, kugel__nufft_kernel *k)
{
  memset(k, 0, sizeof *k);
  k->width = width;
  k->upsampling = upsampling;
  k->shape = PI_L * width * (1 - 1 / (2 * (long double)upsampling)) - 0.05L;
  eigenvector(k->shape, k->series);
  for (int i = 0; i < KUGEL__NUFFT_TERMS; i++)
    k->series[i] *= sqrtl(2 * i + 0.5L);
  long double middle = phi(k, 0);
  for (int i = 0; i < KUGEL__NUFFT_TERMS; i++)
    k->series[i] /= middle;
  k->integral = 2 * k->series[0];
  return expect_error(ctx, k);
}

/* Chebyshev coefficients of a piece, phi((t + 1 + 2 j) / width - 1) = sum_m c_m T_m(t). */
static void expand(const kugel__nufft_kernel *k, int piece, long double *c)
{
  enum { N = KUGEL__NUFFT_DEGREE + 1 };
  long double value[N];
  for (int i = 0; i < N; i++)
    value[i] = phi(k, (cosl(PI_L * (i + 0.5L) / N) + 1 + 2 * piece) / k->width - 1);
  for (int m = 0; m < N; m++) {
    c[m] = 0;
    for (int i = 0; i < N; i++)
      c[m] += (m ? 2.0L : 1.0L) / N * value[i] * cosl(PI_L * (m * (2 * i + 1) % (4 * N)) / (2 * N));
  }
}

/* sum_m c_m T_m(t), m <= degree, in powers of t. */
static void powers(const long double *c, int degree, double *power, int stride)
{
  enum { N = KUGEL__NUFFT_DEGREE + 1 };
  long double before[N] = {0}, last[N] = {1}, sum[N] = {0}; // T_(m-1), T_m
  for (int m = 0; m <= degree; m++) {
    long double next[N] = {0};
    for (int i = 0; i <= m; i++)
      sum[i] += c[m] * last[i];
    for (int i = 0; i <= m && i < N - 1; i++)
      next[i + 1] = (m ? 2 : 1) * last[i];
    for (int i = 0; i < N; i++)
      next[i] -= m ? before[i] : 0;
    memcpy(before, last, sizeof last);
    memcpy(last, next, sizeof last);
  }
  for (int i = 0; i <= degree; i++)
    power[i * stride] = (double)sum[i];
}

/* Of the least degree whose misfit, the sum of what is left out, is below a third of the kernel's error: phi is 1 in the
 * middle, and the division by phihat enlarges a misfit. */
void kugel__nufft_kernel_pieces(kugel__nufft_kernel *k, int more)
{
  long double c[KUGEL__NUFFT_WIDTH][KUGEL__NUFFT_DEGREE + 1];
  k->degree = 0;
  for (int j = 0; j < k->width; j++) {
    long double rest = 0;
    int degree = KUGEL__NUFFT_DEGREE;
    expand(k, j, c[j]);
    while (degree > 0 && rest + fabsl(c[j][degree]) < k->error / (3 * k->gain))
      rest += fabsl(c[j][degree--]);
    k->degree = degree > k->degree ? degree : k->degree;
  }
  k->degree = (int)kugel__min(KUGEL__NUFFT_DEGREE, k->degree + more);
  for (int j = 0; j < k->width; j++)
    powers(c[j], k->degree, &k->piece[0][j], KUGEL__NUFFT_WIDTH);
}
