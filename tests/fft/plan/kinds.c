/* SPDX-License-Identifier: BSD-3-Clause */
/* Every kind against its defining sum in long double; strides, batches, axes, in place, float; bad input. */
#include <complex.h>
#include <stdbool.h>
#include <string.h>
#include "check.h"
#include "core/alloc.h"
#include <kugel/fft.h>

static uint64_t seed = 5;
typedef long double _Complex ldc;

// One output of a real kind by its definition.
static long double real_sum(kugel_fft_kind kind, int64_t n, const double *x, int64_t k)
{
  long double s = 0, K = (long double)k, N = (long double)n;
  for (int64_t j = 0; j < n; j++) {
    long double J = (long double)j, t;
    switch (kind) {
    case KUGEL_FFT_DCT1:
      t = (j == 0       ? 1
           : j == n - 1 ? (k % 2 ? -1 : 1)
                        : 2 * cosl(M_PIl * (long double)(j * k % (2 * (n - 1))) / (N - 1)));
      break;
    case KUGEL_FFT_DCT2:
      t = 2 * cosl(M_PIl * (J + 0.5L) * K / N);
      break;
    case KUGEL_FFT_DCT3:
      t = j ? 2 * cosl(M_PIl * J * (K + 0.5L) / N) : 1;
      break;
    case KUGEL_FFT_DCT4:
      t = 2 * cosl(M_PIl * (J + 0.5L) * (K + 0.5L) / N);
      break;
    case KUGEL_FFT_DST1:
      t = 2 * sinl(M_PIl * (J + 1) * (K + 1) / (N + 1));
      break;
    case KUGEL_FFT_DST2:
      t = 2 * sinl(M_PIl * (J + 0.5L) * (K + 1) / N);
      break;
    case KUGEL_FFT_DST3:
      t = j == n - 1 ? (k % 2 ? -1 : 1) : 2 * sinl(M_PIl * (J + 1) * (K + 0.5L) / N);
      break;
    default:
      t = 2 * sinl(M_PIl * (J + 0.5L) * (K + 0.5L) / N);
    }
    s += t * x[j];
  }
  return s;
}

static ldc complex_sum(int64_t n, const double *x, bool real, int sign, int64_t k)
{
  ldc s = 0;
  for (int64_t j = 0; j < n; j++) {
    long double a = 2 * M_PIl * (long double)((j * k) % n) / (long double)n;
    s += (real ? x[j] : x[2 * j] + 1.0Li * x[2 * j + 1]) * (cosl(a) + sign * 1.0Li * sinl(a));
  }
  return s;
}

// Whether the DFT of length n, up to a factor of two, is padded to a longer one.
static bool padded(int64_t n)
{
  for (int64_t f = 2; f <= 61; f++)
    while (n > 1 && n % f == 0)
      n /= f;
  return n > 1;
}

// rms error over rms of the truth, and what is allowed: 0.7 eps sqrt(log2 n) + eps, doubled where the length
// is padded.
static void check_rms(const char *what, int64_t n, const double *got, const long double *want, int64_t count,
                      double eps)
{
  long double e = 0, s = 0;
  for (int64_t i = 0; i < count; i++) {
    e += (got[i] - want[i]) * (got[i] - want[i]);
    s += want[i] * want[i];
  }
  double rms = s > 0 ? (double)sqrtl(e / s) : (double)sqrtl(e);
  double bound =
      (padded(n) || padded(n - 1) || padded(n + 1) ? 2 : 1) * (0.7 * eps * sqrt(log2((double)n + 2)) + eps);
  if (!(rms <= bound))
    CHECK_FAIL("%s, n = %lld: rms error %.2g, allowed %.2g", what, (long long)n, rms, bound);
}

static void one_length(int64_t n)
{
  int64_t step = n > 200 ? n / 40 : 1; // of the outputs compared with direct sums
  enum { BATCH = 11 };
  double *x = malloc((size_t)(2 * n * BATCH) * 8), *y = malloc((size_t)(2 * (n + 2) * BATCH) * 8),
         *z = malloc((size_t)(2 * n * BATCH) * 8);
  long double *want = malloc((size_t)(2 * n + 4) * sizeof *want);
  for (int64_t i = 0; i < 2 * n * BATCH; i++)
    x[i] = check_random(&seed);
  int64_t last = (BATCH - 1) * n; // the last line is checked: it sits in a partly filled vector
  kugel_fft *p;
  CHECK_OK(kugel_fft_create(
      NULL, 1, &n, &(kugel_fft_opts){.size = sizeof(kugel_fft_opts), .inverse_scale = 1 / (double)n}, &p));
  CHECK_OK(kugel_fft_execute(p, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_C128, BATCH, n),
                             KUGEL_ARRAY(y, KUGEL_C128, BATCH, n), NULL));
  int64_t count = 0;
  for (int64_t k = 0; k < n; k += step, count++) {
    ldc s = complex_sum(n, x + 2 * last, false, -1, k);
    want[2 * count] = creall(s);
    want[2 * count + 1] = cimagl(s);
    memcpy(z + 2 * count, y + 2 * (last + k), 16);
  }
  check_rms("C2C", n, z, want, 2 * count, 0x1p-52);
  CHECK_OK(kugel_fft_execute(p, KUGEL_INVERSE, KUGEL_ARRAY(y, KUGEL_C128, BATCH, n),
                             KUGEL_ARRAY(z, KUGEL_C128, BATCH, n), NULL));
  CHECK_LE(check_l2(z, x, (size_t)(2 * n * BATCH)), 4e-15);
  CHECK_OK(kugel_fft_execute(p, KUGEL_INVERSE, KUGEL_ARRAY(y, KUGEL_C128, BATCH, n),
                             KUGEL_ARRAY(y, KUGEL_C128, BATCH, n), NULL));
  CHECK(!memcmp(y, z, (size_t)(2 * n * BATCH) * 8));
  kugel_fft_destroy(p);
  kugel_fft_opts o = {.size = sizeof o, .kind = KUGEL_FFT_R2C, .inverse_scale = 1 / (double)n};
  CHECK_OK(kugel_fft_create(NULL, 1, &n, &o, &p));
  int64_t half = n / 2 + 1;
  CHECK_OK(kugel_fft_execute(p, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_F64, BATCH, n),
                             KUGEL_ARRAY(y, KUGEL_C128, BATCH, half), NULL));
  count = 0;
  for (int64_t k = 0; k < half; k += step, count++) {
    ldc s = complex_sum(n, x + last, true, -1, k);
    want[2 * count] = creall(s);
    want[2 * count + 1] = cimagl(s);
    memcpy(z + 2 * count, y + 2 * ((BATCH - 1) * half + k), 16);
  }
  check_rms("R2C", n, z, want, 2 * count, 0x1p-52);
  CHECK_OK(kugel_fft_execute(p, KUGEL_INVERSE, KUGEL_ARRAY(y, KUGEL_C128, BATCH, half),
                             KUGEL_ARRAY(z, KUGEL_F64, BATCH, n), NULL));
  CHECK_LE(check_l2(z, x, (size_t)(n * BATCH)), 4e-15);
  kugel_fft_destroy(p);
  for (int kind = KUGEL_FFT_DCT1; kind <= KUGEL_FFT_DST4 && n <= 20000; kind++) {
    if (kind == KUGEL_FFT_DCT1 && n < 2)
      continue;
    o = (kugel_fft_opts){.size = sizeof o, .kind = (kugel_fft_kind)kind};
    CHECK_OK(kugel_fft_create(NULL, 1, &n, &o, &p));
    kugel_array *a = KUGEL_ARRAY(x, KUGEL_F64, BATCH, n), *b = KUGEL_ARRAY(y, KUGEL_F64, BATCH, n);
    CHECK_OK(kugel_fft_execute(p, KUGEL_FORWARD, a, b, NULL));
    count = 0;
    for (int64_t k = 0; k < n; k += step, count++) {
      want[count] = real_sum((kugel_fft_kind)kind, n, x + last, k);
      z[count] = y[last + k];
    }
    char name[16];
    snprintf(name, sizeof name, "kind %d", kind);
    check_rms(name, n, z, want, count, 0x1p-52);
    CHECK_OK(kugel_fft_execute(p, KUGEL_INVERSE, b, KUGEL_ARRAY(z, KUGEL_F64, BATCH, n), NULL));
    for (int64_t i = 0; i < n * BATCH; i++)
      z[i] /= kugel_fft_gain(p);
    CHECK_LE(check_l2(z, x, (size_t)(n * BATCH)), 4e-15);
    kugel_fft_destroy(p);
  }
  free(x), free(y), free(z), free(want);
}

int main(void)
{
  CASE("all kinds at all lengths to 50 and chosen ones beyond")
  {
    for (int64_t n = 1; n <= 50; n++)
      one_length(n);
    int64_t more[] = {61,  64,  67,  97,  100, 127,  128,  134,  210,   243,
                      256, 343, 509, 512, 625, 1000, 1009, 1024, 65536, 69984};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
      one_length(more[i]);
  }
  CASE("three dimensions: separable inputs give products, for any set of axes, also in float")
  {
    int64_t n[3] = {6, 9, 10}, half = 6;
    double f[3][20], x[540], y[1080], z[540];
    float xs[540], ys[1080], zs[540];
    for (int a = 0; a < 3; a++)
      for (int i = 0; i < 20; i++)
        f[a][i] = check_random(&seed);
    for (int i = 0; i < 540; i++) {
      x[i] = f[0][i / 90] * f[1][i / 10 % 9] * f[2][i % 10];
      xs[i] = (float)x[i];
    }
    kugel_fft *p, *s;
    kugel_fft_opts o = {.size = sizeof o, .kind = KUGEL_FFT_R2C, .inverse_scale = 1.0 / 540};
    CHECK_OK(kugel_fft_create(NULL, 3, n, &o, &p));
    o.precision = KUGEL_PRECISION_F32;
    CHECK_OK(kugel_fft_create(NULL, 3, n, &o, &s));
    CHECK(kugel_fft_gain(p) == 540);
    kugel_array *spectrum = KUGEL_ARRAY(y, KUGEL_C128, 6, 9, half),
                *narrow = KUGEL_ARRAY(ys, KUGEL_C64, 6, 9, half);
    CHECK_OK(kugel_fft_execute(p, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_F64, 6, 9, 10), spectrum, NULL));
    CHECK_OK(kugel_fft_execute(s, KUGEL_FORWARD, KUGEL_ARRAY(xs, KUGEL_F32, 6, 9, 10), narrow, NULL));
    double worst = 0, single = 0;
    for (int64_t k = 0; k < 324; k++) {
      ldc w = complex_sum(6, f[0], true, -1, k / 54) * complex_sum(9, f[1], true, -1, k / 6 % 9) *
              complex_sum(10, f[2], true, -1, k % 6);
      worst = fmax(worst, fabs(y[2 * k] - (double)creall(w)) + fabs(y[2 * k + 1] - (double)cimagl(w)));
      single = fmax(single, fabs((double)ys[2 * k] - (double)creall(w)));
    }
    CHECK_LE(worst, 1e-13);
    CHECK_LE(single, 1e-5);
    CHECK_OK(kugel_fft_execute(p, KUGEL_INVERSE, spectrum, KUGEL_ARRAY(z, KUGEL_F64, 6, 9, 10), NULL));
    CHECK_LE(check_l2(z, x, 540), 1e-15);
    CHECK_OK(kugel_fft_execute(s, KUGEL_INVERSE, narrow, KUGEL_ARRAY(zs, KUGEL_F32, 6, 9, 10), NULL));
    for (int i = 0; i < 540; i++)
      z[i] = (double)zs[i];
    CHECK_LE(check_l2(z, x, 540), 2e-7);
    kugel_fft_destroy(p);
    kugel_fft_destroy(s);
    // one axis of three, with strides and guard words around
    int axes[] = {1};
    o = (kugel_fft_opts){.size = sizeof o, .kind = KUGEL_FFT_DCT2, .naxes = 1, .axes = axes};
    CHECK_OK(kugel_fft_create(NULL, 3, n, &o, &p));
    double wide[6 * 9 * 23];
    for (int i = 0; i < 6 * 9 * 23; i++)
      wide[i] = 1e300;
    int64_t shape[] = {6, 9, 10}, strides[] = {9 * 23, 23, 2};
    kugel_array out = {.data = wide,
                       .device = {KUGEL_CPU, 0},
                       .ndim = 3,
                       .dtype = KUGEL_F64,
                       .shape = shape,
                       .strides = strides};
    CHECK_OK(kugel_fft_execute(p, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_F64, 6, 9, 10), &out, NULL));
    for (int i = 0; i < 6 * 9 * 23; i++) {
      int a = i / (9 * 23), k = i / 23 % 9, c = i % 23;
      if (c % 2 || c >= 20)
        CHECK(wide[i] == 1e300);
      else
        CHECK_LE(fabs(wide[i] - f[0][a] * f[2][c / 2] * (double)real_sum(KUGEL_FFT_DCT2, 9, f[1], k)), 1e-14);
    }
    kugel_fft_destroy(p);
  }
  CASE("real to complex in place, rows padded")
  {
    int64_t n = 10, shape[] = {7, 10}, strides[] = {12, 1};
    double x[84], y[84], keep[84];
    for (int i = 0; i < 84; i++)
      keep[i] = x[i] = check_random(&seed);
    kugel_array real = {.data = x,
                        .device = {KUGEL_CPU, 0},
                        .ndim = 2,
                        .dtype = KUGEL_F64,
                        .shape = shape,
                        .strides = strides};
    kugel_array apart = real;
    apart.data = keep;
    kugel_fft *p;
    kugel_fft_opts o = {.size = sizeof o, .kind = KUGEL_FFT_R2C, .inverse_scale = 0.1};
    CHECK_OK(kugel_fft_create(NULL, 1, &n, &o, &p));
    CHECK_OK(kugel_fft_execute(p, KUGEL_FORWARD, &apart, KUGEL_ARRAY(y, KUGEL_C128, 7, 6), NULL));
    CHECK_OK(kugel_fft_execute(p, KUGEL_FORWARD, &real, KUGEL_ARRAY(x, KUGEL_C128, 7, 6), NULL));
    CHECK(!memcmp(x, y, sizeof x));
    CHECK_OK(kugel_fft_execute(p, KUGEL_INVERSE, KUGEL_ARRAY(x, KUGEL_C128, 7, 6), &real, NULL));
    for (int i = 0; i < 84; i++)
      if (i % 12 < 10)
        CHECK_LE(fabs(x[i] - keep[i]), 1e-15 * 4);
    kugel_fft_destroy(p);
  }
  CASE("the same bits for any number of threads")
  {
    enum { N = 1000, BATCH = 200 };
    static double x[2 * N * BATCH], y[2 * N * BATCH], z[2 * N * BATCH];
    int64_t n = N;
    for (int i = 0; i < 2 * N * BATCH; i++)
      x[i] = check_random(&seed);
    kugel_fft *p;
    CHECK_OK(kugel_fft_create(NULL, 1, &n, NULL, &p));
    kugel_set_num_threads(1);
    CHECK_OK(kugel_fft_execute(p, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_C128, BATCH, N),
                               KUGEL_ARRAY(y, KUGEL_C128, BATCH, N), NULL));
    kugel_set_num_threads(4);
    CHECK_OK(kugel_fft_execute(p, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_C128, BATCH, N),
                               KUGEL_ARRAY(z, KUGEL_C128, BATCH, N), NULL));
    CHECK(!memcmp(y, z, sizeof y));
    kugel_set_num_threads(0);
    kugel_fft_destroy(p);
  }
  CASE("bad input is named; every allocation may fail")
  {
    int64_t n[] = {8, 0}, ok = 8;
    double x[64], y[64];
    memset(x, 0, sizeof x);
    kugel_fft *p = (kugel_fft *)1;
    CHECK_IS(kugel_fft_create(NULL, 2, n, NULL, &p), KUGEL_EINVAL);
    CHECK(!p && strstr(kugel_last_error(), "n[1] is 0"));
    CHECK_IS(kugel_fft_create(NULL, 9, n, NULL, &p), KUGEL_EINVAL);
    CHECK_IS(kugel_fft_create(NULL, 1, NULL, NULL, &p), KUGEL_EINVAL);
    int64_t huge[] = {(int64_t)1 << 39, 1000};
    CHECK_IS(kugel_fft_create(NULL, 2, huge, NULL, &p), KUGEL_EINVAL);
    kugel_fft_opts o = {.size = sizeof o, .kind = (kugel_fft_kind)12};
    CHECK_IS(kugel_fft_create(NULL, 1, &ok, &o, &p), KUGEL_EINVAL);
    CHECK_OK(kugel_fft_create(NULL, 1, &ok, NULL, &p));
    kugel_array *a = KUGEL_ARRAY(x, KUGEL_C128, 8), *b = KUGEL_ARRAY(y, KUGEL_C128, 8);
    CHECK_IS(kugel_fft_execute(p, 0, a, b, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_fft_execute(NULL, -1, a, b, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_fft_execute(p, -1, NULL, b, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_fft_execute(p, -1, KUGEL_ARRAY(x, KUGEL_C128, 9), b, NULL), KUGEL_ESHAPE);
    CHECK_IS(kugel_fft_execute(p, -1, KUGEL_ARRAY(x, KUGEL_F64, 8), b, NULL), KUGEL_ESHAPE);
    CHECK_IS(kugel_fft_execute(p, -1, a, KUGEL_ARRAY(x + 2, KUGEL_C128, 8), NULL), KUGEL_EINVAL);
    CHECK_IS(
        kugel_fft_execute(p, -1, KUGEL_ARRAY(x, KUGEL_C128, 2, 8), KUGEL_ARRAY(y, KUGEL_C128, 1, 8), NULL),
        KUGEL_ESHAPE);
    CHECK_OK(
        kugel_fft_execute(p, -1, KUGEL_ARRAY(x, KUGEL_C128, 0, 8), KUGEL_ARRAY(y, KUGEL_C128, 0, 8), NULL));
    kugel_fft_destroy(p);
    kugel_fft_destroy(NULL);
    CHECK(kugel_fft_good_size(11) == 12 && kugel_fft_good_size(97) == 98 && kugel_fft_good_size(1) == 1);
    int k = 1;
    for (; k < 60; k++) {
      int64_t m[] = {4, 67};
      o = (kugel_fft_opts){.size = sizeof o, .kind = KUGEL_FFT_R2C};
      double big[4 * 67], half[2 * 4 * 34];
      memset(half, 0, sizeof half);
      kugel_ctx_trim(NULL);
      kugel__fault_alloc(k);
      kugel_status s = kugel_fft_create(NULL, 2, m, &o, &p);
      if (!s)
        s = kugel_fft_execute(p, KUGEL_INVERSE, KUGEL_ARRAY(half, KUGEL_C128, 4, 34),
                              KUGEL_ARRAY(big, KUGEL_F64, 4, 67), NULL);
      kugel__fault_alloc(0);
      kugel_fft_destroy(p);
      if (!s)
        break;
      CHECK(s == KUGEL_ENOMEM);
    }
    CHECK(k > 5 && k < 60);
  }
  CASE("arrays that leave the address space, overlap themselves or are not aligned")
  {
    static const int64_t strides[] = {INT64_MAX / 2, INT64_MIN, INT64_MAX, (int64_t)1 << 61, 0};
    double x[64] = {0}, y[64];
    int64_t n = 4, stride[2] = {4, 1}, back[2] = {4, -1};
    kugel_fft *p;
    CHECK_OK(kugel_fft_create(NULL, 1, &n, NULL, &p));
    kugel_array in = *KUGEL_ARRAY(x, KUGEL_C128, 2, 4), out = *KUGEL_ARRAY(y, KUGEL_C128, 2, 4), bad;
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
      for (int axis = 0; axis < 2; axis++) {
        int64_t s[2] = {4, 1};
        s[axis] = strides[i];
        bad = in;
        bad.strides = s;
        if (strides[i])
          CHECK_IS(kugel_fft_execute(p, KUGEL_FORWARD, &bad, &out, NULL), KUGEL_EINVAL);
        bad = out;
        bad.strides = s;
        CHECK_IS(kugel_fft_execute(p, KUGEL_FORWARD, &in, &bad, NULL), KUGEL_EINVAL);
      }
    bad = in;
    bad.byte_offset = UINT64_MAX - 7;
    CHECK_IS(kugel_fft_execute(p, KUGEL_FORWARD, &bad, &out, NULL), KUGEL_EINVAL);
    bad.byte_offset = 4;
    CHECK_IS(kugel_fft_execute(p, KUGEL_FORWARD, &bad, &out, NULL), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "multiple of 8 bytes") != NULL);
    stride[0] = 1; // rows one element apart
    bad = out;
    bad.strides = stride;
    CHECK_IS(kugel_fft_execute(p, KUGEL_FORWARD, &in, &bad, NULL), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "overlap") != NULL);
    bad.strides = back;
    bad.byte_offset = 48;
    CHECK_OK(kugel_fft_execute(p, KUGEL_FORWARD, &in, &bad, NULL));
    kugel_fft_destroy(p);
  }
  END();
}
