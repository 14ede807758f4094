/* SPDX-License-Identifier: BSD-3-Clause */
/* Truth for double-double transforms: sums of the definitions in numbers of 113 bits. */
#ifndef KUGEL_TESTS_QUAD_H
#define KUGEL_TESTS_QUAD_H

#include <stdlib.h>
#include <kugel/fft.h>

#ifdef __SIZEOF_FLOAT128__
typedef __float128 quad;
#else
typedef long double quad; /* has 113 bits where there is no __float128 */
#endif

typedef struct quad_unit {
  quad c, s;
} quad_unit;

// e^{2 pi i k / n} by Taylor's series in the first octant.
static inline quad_unit quad_root(int64_t k, int64_t n)
{
  const quad pi = (quad)0x1.921fb54442d18p+1 + (quad)0x1.1a62633145c07p-53 - (quad)0x1.f1976b7ed8fbcp-109;
  int64_t e = (k % n + n) % n * 8;
  int down = e > 4 * n;
  e = down ? 8 * n - e : e;
  int left = e > 2 * n;
  e = left ? 4 * n - e : e;
  int swap = e > n;
  e = swap ? 2 * n - e : e;
  quad a = pi * (quad)e / (4 * (quad)n), term = 1, sum[2] = {0, 0};
  for (int i = 0; i < 32; term *= a / (quad)++i)
    sum[i & 1] += i & 2 ? -term : term;
  quad_unit w = swap ? (quad_unit){sum[1], sum[0]} : (quad_unit){sum[0], sum[1]};
  w.c = left ? -w.c : w.c;
  w.s = down ? -w.s : w.s;
  return w;
}

static inline quad_unit *quad_roots(int64_t n)
{
  quad_unit *w = malloc((size_t)n * sizeof *w);
  for (int64_t k = 0; k < n; k++)
    w[k] = quad_root(k, n);
  return w;
}

/* Elements: a real is x[stride i] (high part) and the low part `low` doubles on. */
static inline quad quad_at(const double *x, int64_t i, int64_t stride, int64_t low)
{
  return (quad)x[i * stride] + (quad)x[i * stride + low];
}

// Parts of result k of the complex line x, sign as kugel_fft_execute's; w: quad_roots(n).
static inline quad_unit quad_dft(const double *x, int64_t n, int64_t k, int sign, const quad_unit *w)
{
  quad_unit y = {0, 0};
  for (int64_t j = 0; j < n; j++) {
    quad_unit t = w[(int64_t)((__int128)j * k % n)];
    quad re = quad_at(x, j, 4, 2), im = quad_at(x + 1, j, 4, 2), s = sign < 0 ? -t.s : t.s;
    y.c += re * t.c - im * s;
    y.s += re * s + im * t.c;
  }
  return y;
}

/* Of the cosine and sine kinds: result k = sum over j of factor x_j times the cosine or sine of this part of
 * a turn: over / turns. */
typedef struct quad_angle {
  int64_t over, turns;
  int factor;
} quad_angle;

static inline quad_angle quad_angle_of(kugel_fft_kind kind, int64_t n, int64_t j, int64_t k)
{
  switch (kind) {
  case KUGEL_FFT_DCT1:
    return (quad_angle){j * k, 2 * (n - 1), j == 0 || j == n - 1 ? 1 : 2};
  case KUGEL_FFT_DCT2:
    return (quad_angle){(2 * j + 1) * k, 4 * n, 2};
  case KUGEL_FFT_DCT3:
    return (quad_angle){j * (2 * k + 1), 4 * n, j ? 2 : 1};
  case KUGEL_FFT_DST1:
    return (quad_angle){(j + 1) * (k + 1), 2 * (n + 1), 2};
  case KUGEL_FFT_DST2:
    return (quad_angle){(2 * j + 1) * (k + 1), 4 * n, 2};
  case KUGEL_FFT_DST3:
    return (quad_angle){(j + 1) * (2 * k + 1), 4 * n, j < n - 1 ? 2 : 1};
  default:
    return (quad_angle){(2 * j + 1) * (2 * k + 1), 8 * n, 2};
  }
}

// Result k of a real line; w: quad_roots(quad_angle_of(kind, n, 0, 0).turns).
static inline quad quad_trig(kugel_fft_kind kind, const double *x, int64_t n, int64_t k, const quad_unit *w)
{
  quad y = 0;
  for (int64_t j = 0; j < n; j++) {
    quad_angle a = quad_angle_of(kind, n, j, k);
    quad_unit t = w[a.over % a.turns];
    y += (quad)a.factor * quad_at(x, j, 2, 1) * (kind >= KUGEL_FFT_DST1 ? t.s : t.c);
  }
  return y;
}

#endif
