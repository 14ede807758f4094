/* SPDX-License-Identifier: BSD-3-Clause */
#include "fft/roots/dft.h"

// A_k = x_0 + sum_j (x_j + x_{n-j}) cos(2 pi j k / n), B_k = sum_j (x_j - x_{n-j}) sin(2 pi j k / n);
// X_k = A_k + sign i B_k, X_{n-k} = A_k - sign i B_k.
static void dft_prime(kugel__gen *g, kugel__cval *x, int n, int sign)
{
  int half = (n - 1) / 2;
  kugel__cval s[KUGEL__DFT_MAX], d[KUGEL__DFT_MAX], first = x[0];
  for (int j = 1; j <= half; j++) {
    s[j] = g_cadd(g, x[j], x[n - j]);
    d[j] = g_csub(g, x[j], x[n - j]);
    x[0] = g_cadd(g, x[0], s[j]);
  }
  for (int k = 1; k <= half; k++) {
    kugel__cval a = first, b = {kugel__real(dd_from(0)), kugel__real(dd_from(0))};
    for (int j = 1; j <= half; j++) {
      kugel__unit t = kugel__unit_of(j * k, n);
      kugel__val c = kugel__real(t.cos), sine = kugel__real(sign < 0 ? t.sin : dd_neg(t.sin));
      a = (kugel__cval){g_fma(g, s[j].re, c, a.re), g_fma(g, s[j].im, c, a.im)};
      b = (kugel__cval){g_fma(g, d[j].im, sine, b.re), g_fma(g, d[j].re, sine, b.im)};
    }
    x[k] = (kugel__cval){g_add(g, a.re, b.re), g_sub(g, a.im, b.im)};
    x[n - k] = (kugel__cval){g_sub(g, a.re, b.re), g_add(g, a.im, b.im)};
  }
}

static void dft_two(kugel__gen *g, kugel__cval *x)
{
  kugel__cval a = x[0];
  x[0] = g_cadd(g, a, x[1]);
  x[1] = g_csub(g, a, x[1]);
}

// n = a b, coprime: j = (b j1 + a j2) mod n, k = the number with k = k1 mod a, k = k2 mod b.
static void dft_coprime(kugel__gen *g, kugel__cval *x, int a, int b, int sign)
{
  int n = a * b;
  kugel__cval y[KUGEL__DFT_MAX], line[KUGEL__DFT_MAX];
  for (int j2 = 0; j2 < b; j2++) { // with j1 the phase is e^{2 pi i j1 k1 / a}
    for (int j1 = 0; j1 < a; j1++)
      line[j1] = x[(b * j1 + a * j2) % n];
    kugel__fft_dft(g, line, a, sign);
    for (int k1 = 0; k1 < a; k1++)
      y[k1 * b + j2] = line[k1];
  }
  for (int k1 = 0; k1 < a; k1++) {
    kugel__fft_dft(g, y + k1 * b, b, sign);
    for (int k = k1; k < n; k += a)
      x[k] = y[k1 * b + k % b];
  }
}

// n = a b: j = b j1 + j2, k = k1 + a k2, twiddles e^{2 pi i j2 k1 / n}.
static void dft_composite(kugel__gen *g, kugel__cval *x, int a, int b, int sign)
{
  kugel__cval y[KUGEL__DFT_MAX], line[KUGEL__DFT_MAX];
  for (int j2 = 0; j2 < b; j2++) {
    for (int j1 = 0; j1 < a; j1++)
      line[j1] = x[b * j1 + j2];
    kugel__fft_dft(g, line, a, sign);
    for (int k1 = 0; k1 < a; k1++) {
      kugel__unit t = kugel__unit_of(sign * j2 * k1, a * b);
      y[k1 * b + j2] = kugel__gen_cmul(g, line[k1], (kugel__cval){kugel__real(t.cos), kugel__real(t.sin)});
    }
  }
  for (int k1 = 0; k1 < a; k1++) {
    kugel__fft_dft(g, y + k1 * b, b, sign);
    for (int k2 = 0; k2 < b; k2++)
      x[k1 + a * k2] = y[k1 * b + k2];
  }
}

void kugel__fft_dft(kugel__gen *g, kugel__cval *x, int n, int sign)
{
  int p = 2;
  while (p < n && n % p)
    p++;
  if (n == 1)
    return;
  if (p == n) {
    if (n == 2)
      dft_two(g, x);
    else
      dft_prime(g, x, n, sign);
    return;
  }
  int power = p; // the whole power of the smallest prime
  while (n / power % p == 0)
    power *= p;
  if (power < n)
    dft_coprime(g, x, power, n / power, sign);
  else if (n == 8 || n == 32)
    dft_composite(g, x, n == 8 ? 4 : 8, n == 8 ? 2 : 4, sign);
  else if (n == 16)
    dft_composite(g, x, 4, 4, sign);
  else
    dft_composite(g, x, p, n / p, sign);
}
