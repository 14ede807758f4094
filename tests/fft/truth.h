/* SPDX-License-Identifier: BSD-3-Clause */
/* One line through kugel_fft against its defining sum in long double. */
#ifndef KUGEL_TESTS_FFT_TRUTH_H
#define KUGEL_TESTS_FFT_TRUTH_H

#include <complex.h>
#include <stdbool.h>
#include "check.h"
#include <kugel/fft.h>

typedef long double _Complex ldc;
static uint64_t seed = 22;

// cos + i sin of pi a / b.
static inline ldc turn(int64_t a, int64_t b)
{
  long double t = M_PIl * (long double)(a % (2 * b)) / (long double)b;
  return cosl(t) + 1.0Li * sinl(t);
}

static inline long double weight(kugel_fft_kind kind, int64_t n, int64_t j, int64_t k)
{
  switch (kind) {
  case KUGEL_FFT_DCT1:
    return creall(turn(j * k, n - 1)) * (j == 0 || j == n - 1 ? 1 : 2);
  case KUGEL_FFT_DCT2:
    return 2 * creall(turn((2 * j + 1) * k, 2 * n));
  case KUGEL_FFT_DCT3:
    return creall(turn(j * (2 * k + 1), 2 * n)) * (j ? 2 : 1);
  case KUGEL_FFT_DCT4:
    return 2 * creall(turn((2 * j + 1) * (2 * k + 1), 4 * n));
  case KUGEL_FFT_DST1:
    return 2 * cimagl(turn((j + 1) * (k + 1), n + 1));
  case KUGEL_FFT_DST2:
    return 2 * cimagl(turn((2 * j + 1) * (k + 1), 2 * n));
  case KUGEL_FFT_DST3:
    return cimagl(turn((j + 1) * (2 * k + 1), 2 * n)) * (j < n - 1 ? 2 : 1);
  default:
    return 2 * cimagl(turn((2 * j + 1) * (2 * k + 1), 4 * n));
  }
}

// Output k of a transform of x: real kinds, C2C of either sign, R2C, and its inverse, whose x is half a
// spectrum.
static inline ldc truth(kugel_fft_kind kind, int sign, int64_t n, const double *x, int64_t k)
{
  ldc s = 0;
  for (int64_t j = 0; j < n; j++) {
    if (kind > KUGEL_FFT_R2C) {
      s += weight(kind, n, j, k) * x[j];
      continue;
    }
    ldc w = turn(2 * (j * k % n), n), v;
    if (kind == KUGEL_FFT_C2C)
      v = x[2 * j] + 1.0Li * x[2 * j + 1];
    else if (sign == KUGEL_FORWARD)
      v = x[j];
    else if (2 * j <= n)
      v = x[2 * j] + (j == 0 || 2 * j == n ? 0 : 1.0Li * x[2 * j + 1]);
    else
      v = x[2 * (n - j)] - 1.0Li * x[2 * (n - j) + 1];
    s += v * (sign == KUGEL_FORWARD ? conjl(w) : w);
  }
  return s;
}

static inline bool large_prime(int64_t n)
{
  for (int64_t f = 2; f <= 23; f++)
    while (n > 1 && n % f == 0)
      n /= f;
  return n > 1;
}

typedef struct line {
  kugel_fft_kind kind;
  int sign;
  int64_t n, lines, in_step, out_step;
  bool f32;
} line;

static inline kugel_dtype type_of(bool is_complex, bool f32)
{
  return (kugel_dtype){is_complex ? KUGEL_COMPLEX : KUGEL_FLOAT,
                       (uint8_t)((is_complex ? 2 : 1) * (f32 ? 32 : 64)), 1};
}

// A transform of random numbers and the last of its lines: `samples` outputs against their sums.
static inline void one(line t, int64_t samples)
{
  bool r2c = t.kind == KUGEL_FFT_R2C, c2c = t.kind == KUGEL_FFT_C2C, back = t.sign == KUGEL_INVERSE;
  int64_t nin = r2c && back ? t.n / 2 + 1 : t.n, nout = r2c && !back ? t.n / 2 + 1 : t.n;
  int64_t zin = c2c || (r2c && back) ? 2 : 1, zout = c2c || (r2c && !back) ? 2 : 1;
  int64_t is = llabs(t.in_step), os = llabs(t.out_step), size = t.f32 ? 4 : 8;
  double *x = malloc((size_t)(nin * zin * t.lines) * 8), *y = malloc((size_t)(nout * zout) * 8);
  char *in = malloc((size_t)(nin * is * zin * t.lines * size)),
       *out = malloc((size_t)(nout * os * zout * t.lines * size));
  for (int64_t i = 0; i < t.lines; i++)
    for (int64_t j = 0; j < nin; j++)
      for (int64_t c = 0; c < zin; c++) {
        double v = (double)(float)check_random(&seed);
        int64_t at = (i * nin * is + (t.in_step < 0 ? nin - 1 - j : j) * is) * zin + c;
        x[(i * nin + j) * zin + c] = v;
        if (t.f32)
          ((float *)(void *)in)[at] = (float)v;
        else
          ((double *)(void *)in)[at] = v;
      }
  int64_t in_shape[] = {t.lines, nin}, out_shape[] = {t.lines, nout};
  int64_t in_strides[] = {nin * is, t.in_step}, out_strides[] = {nout * os, t.out_step};
  kugel_array a = {.data = in + (t.in_step < 0 ? (nin - 1) * is * zin * size : 0),
                   .device = {KUGEL_CPU, 0},
                   .ndim = 2,
                   .dtype = type_of(zin == 2, t.f32),
                   .shape = in_shape,
                   .strides = in_strides};
  kugel_array b = {.data = out + (t.out_step < 0 ? (nout - 1) * os * zout * size : 0),
                   .device = {KUGEL_CPU, 0},
                   .ndim = 2,
                   .dtype = type_of(zout == 2, t.f32),
                   .shape = out_shape,
                   .strides = out_strides};
  kugel_fft_opts o = {
      .size = sizeof o, .kind = t.kind, .precision = t.f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64};
  kugel_fft *p;
  CHECK_OK(kugel_fft_create(NULL, 1, &t.n, &o, &p));
  CHECK_OK(kugel_fft_execute(p, t.sign, &a, &b, NULL));
  kugel_fft_destroy(p);
  long double e = 0, s = 0;
  for (int64_t i = 0; i < samples; i++) {
    int64_t k = samples >= nout ? i % nout : i < 2 ? i : i < 4 ? nout - 1 - (i - 2) : (i * 7919 + 5) % nout;
    ldc w = truth(t.kind, t.sign, t.n, x + (t.lines - 1) * nin * zin, k);
    int64_t at = ((t.lines - 1) * nout * os + (t.out_step < 0 ? nout - 1 - k : k) * os) * zout;
    for (int64_t c = 0; c < zout; c++) {
      double got = t.f32 ? (double)((float *)(void *)out)[at + c] : ((double *)(void *)out)[at + c];
      long double want = c ? cimagl(w) : creall(w);
      e += (got - want) * (got - want);
      s += want * want;
    }
  }
  double eps = t.f32 ? 0x1p-24 : 0x1p-52, rms = (double)sqrtl(e / s);
  bool padded = large_prime(t.n) || large_prime(t.n - 1) || large_prime(t.n + 1);
  double bound = (t.f32 ? 0 : (padded ? 2 : 1) * 0.7 * eps * sqrt(log2((double)t.n))) + eps;
  if (!(rms <= bound))
    CHECK_FAIL(
        "kind %d, sign %d, n = %lld, %lld lines, steps %lld and %lld, %s: rms error %.2g, allowed %.2g",
        t.kind, t.sign, (long long)t.n, (long long)t.lines, (long long)t.in_step, (long long)t.out_step,
        t.f32 ? "float" : "double", rms, bound);
  free(x), free(y), free(in), free(out);
}

static inline void all_kinds(line t, int64_t samples)
{
  for (int kind = KUGEL_FFT_C2C; kind <= KUGEL_FFT_DST4; kind++)
    for (int sign = -1; sign <= (kind <= KUGEL_FFT_R2C ? 1 : -1); sign += 2) {
      t.kind = (kugel_fft_kind)kind;
      t.sign = sign;
      one(t, samples);
    }
}

#endif
