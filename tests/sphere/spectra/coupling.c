/* SPDX-License-Identifier: BSD-3-Clause */
/* Couplings against sums of 3j symbols by Racah's formula in 113 bits; sum rules; the same bits for any number of threads. */
#include "check.h"
#include <kugel/spectra.h>

typedef __float128 quad;
enum { L = 12, W = 30 };

static quad factorial(int n)
{
  quad x = 1;
  for (int i = 2; i <= n; i++)
    x *= i;
  return x;
}

static double root(quad x)
{
  return (double)sqrtl((long double)x);
}

/* (a b c; m -m 0) */
static double threej(int a, int b, int c, int m)
{
  if (c < abs(a - b) || c > a + b || abs(m) > a || abs(m) > b)
    return 0;
  quad sum = 0;
  for (int t = 0; t <= a + b - c; t++) {
    int d[] = {t, c - b + m + t, c - a + m + t, a + b - c - t, a - m - t, b - m - t}, bad = 0;
    quad p = 1;
    for (int i = 0; i < 6; i++) {
      bad |= d[i] < 0;
      p *= d[i] < 0 ? 1 : factorial(d[i]);
    }
    sum += bad ? 0 : (t % 2 ? -1 : 1) / p;
  }
  quad triangle =
      factorial(a + b - c) * factorial(a - b + c) * factorial(b + c - a) / factorial(a + b + c + 1);
  quad rest =
      factorial(a + m) * factorial(a - m) * factorial(b + m) * factorial(b - m) * factorial(c) * factorial(c);
  return ((a - b) % 2 ? -1 : 1) * (double)sum * root(triangle) * root(rest);
}

static void couple(int64_t lmax, int64_t lmax_mask, int s1, int s2, int families, const double *w, double *xi)
{
  CHECK_OK(kugel_coupling(NULL,
                          &(kugel_coupling_opts){.size = sizeof(kugel_coupling_opts),
                                                 .lmax = lmax,
                                                 .lmax_mask = lmax_mask,
                                                 .spin1 = s1,
                                                 .spin2 = s2,
                                                 .families = families,
                                                 .mask_cl = w},
                          xi));
}

static void symbols(int lmax_mask)
{
  static double xi[4][L + 1][L + 1], want[4][L + 1][L + 1];
  double w[W + 1];
  uint64_t seed = 3;
  for (int k = 0; k <= W; k++)
    w[k] = check_random(&seed);
  for (int s1 = 0; s1 <= 5; s1++)
    for (int s2 = 0; s2 <= 5; s2++) {
      memset(want, 0, sizeof want);
      for (int l = 0; l <= L; l++)
        for (int m = 0; m <= L; m++)
          for (int k = 0; k <= lmax_mask; k++) {
            double f = (2 * k + 1) / (4 * M_PI) * w[k], zero = threej(l, m, k, 0), one = threej(l, m, k, s1),
                   two = threej(l, m, k, s2);
            int odd = (l + m + k) % 2, sign = (s1 + s2) % 2 ? -1 : 1;
            want[0][l][m] += f * zero * zero;
            want[1][l][m] += (s2 % 2 ? -1 : 1) * f * zero * two;
            want[2 + odd][l][m] += sign * f * one * two;
          }
      couple(L, lmax_mask, s1, s2, KUGEL_COUPLING_ALL, w, xi[0][0]);
      for (int f = 0; f < 4; f++) {
        if (f == 3 && !(s1 && s2)) /* spin 0 has none */
          continue;
        CHECK_CLOSE(xi[f][0], want[f][0], (L + 1) * (L + 1), 2e-15);
        static double one[L + 1][L + 1];
        couple(L, lmax_mask, s1, s2, 1 << f, w, one[0]);
        CHECK_CLOSE(one[0], want[f][0], (L + 1) * (L + 1), 2e-15);
      }
    }
}

/* sum over l' of (2 l' + 1) Xi = sum of (2 k + 1) / 4 pi W_k, where l' runs to l + lmax_mask: the same for 00 and PLUS + MINUS. */
static void sum_rules(void)
{
  enum { M = 60, N = 130 };
  double w[M + 1], mean = 0, worst = 0;
  double *xi = malloc(3 * (N + 1) * (N + 1) * sizeof *xi);
  for (int k = 0; k <= M; k++) {
    w[k] = pow(k + 1, -2.5);
    mean += (2 * k + 1) / (4 * M_PI) * w[k];
  }
  couple(N, M, 2, 2, KUGEL_COUPLING_00 | KUGEL_COUPLING_PLUS | KUGEL_COUPLING_MINUS, w, xi);
  for (int l = 2; l <= N - M; l++) {
    double zero = 0, spin = 0;
    for (int m = 0; m <= N; m++) {
      const double *at = xi + l * (N + 1) + m;
      zero += (2 * m + 1) * at[0];
      spin += (2 * m + 1) * (at[(N + 1) * (N + 1)] + at[2 * (N + 1) * (N + 1)]);
    }
    worst = fmax(worst, fmax(fabs(zero - mean), fabs(spin - mean)) / mean);
  }
  printf("  sum rules: %.1e\n", worst);
  CHECK_LE(worst, 5e-14);
  w[0] = 4 * M_PI; /* a mask of ones: the identity */
  couple(N, 0, 2, 2, KUGEL_COUPLING_ALL, w, xi = realloc(xi, 4 * (N + 1) * (N + 1) * sizeof *xi));
  for (int f = 0; f < 4; f++)
    for (int l = 0; l <= N; l++)
      for (int m = 0; m <= N; m++)
        worst = fmax(worst, fabs((2 * m + 1) * xi[(f * (N + 1) + l) * (N + 1) + m] -
                                 (f < 3 && l == m && (!f || l > 1))));
  CHECK_LE(worst, 5e-14);
  free(xi);
}

static void threads(void)
{
  enum { N = 300 };
  size_t bytes = 4 * (N + 1) * (N + 1) * sizeof(double);
  double w[2 * N + 1], *one = malloc(bytes), *two = malloc(bytes);
  uint64_t seed = 9;
  for (int k = 0; k <= 2 * N; k++)
    w[k] = check_random(&seed);
  CHECK_OK(kugel_set_num_threads(1));
  couple(N, 2 * N, 2, 2, KUGEL_COUPLING_ALL, w, one);
  for (int n = 2; n < 8; n += 5) {
    CHECK_OK(kugel_set_num_threads(n));
    couple(N, 2 * N, 2, 2, KUGEL_COUPLING_ALL, w, two);
    CHECK(!memcmp(one, two, bytes));
  }
  CHECK_OK(kugel_set_num_threads(2));
  free(one);
  free(two);
}

int main(void)
{
  CASE("3j symbols, spins 0 to 5, masks of any lmax")
  {
    symbols(0);
    symbols(7);
    symbols(24);
    symbols(W);
  }
  CASE("sum rules and the whole sky")
  {
    sum_rules();
  }
  CASE("threads")
  {
    threads();
  }
  END();
}
