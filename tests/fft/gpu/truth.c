/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Transforms on every device against their defining sums: doubles and floats in long double, double-doubles in
 * 113 bits; complex and real lines both ways and cosines, of lengths with small factors, of a prime and in two passes. */
#include "device/every.h"
#include "fft/quad.h"
#include "fft/truth.h"

enum { LINES = 3, SAMPLES = 40, LARGEST = 6561 };

static kugel_fft *plan_of(kugel_ctx *ctx, kugel_fft_kind kind, kugel_precision precision, int64_t n)
{
  kugel_fft *p = NULL;
  kugel_fft_opts o = {.size = sizeof o, .kind = kind, .precision = precision};
  CHECK_OK(kugel_fft_create(ctx, 1, &n, &o, &p));
  return p;
}

/* Relative rms of SAMPLES results of the last line. */
static double error_of(kugel_ctx *ctx, kugel_fft_kind kind, int sign, int64_t n, bool f32)
{
  static double x[2 * LINES * LARGEST], y[2 * LINES * LARGEST];
  static float x32[2 * LINES * LARGEST], y32[2 * LINES * LARGEST];
  bool r2c = kind == KUGEL_FFT_R2C, c2c = kind == KUGEL_FFT_C2C, back = sign == KUGEL_INVERSE;
  int64_t nin = r2c && back ? n / 2 + 1 : n, nout = r2c && !back ? n / 2 + 1 : n;
  int64_t zin = c2c || (r2c && back) ? 2 : 1, zout = c2c || (r2c && !back) ? 2 : 1;
  for (int64_t i = 0; i < LINES * nin * zin; i++)
    x[i] = (double)(x32[i] = (float)check_random(&seed));
  int64_t in_shape[] = {LINES, nin}, out_shape[] = {LINES, nout};
  kugel_array a = {.data = x,
                   .device = {KUGEL_CPU, 0},
                   .ndim = 2,
                   .dtype = type_of(zin == 2, f32),
                   .shape = in_shape},
              b = a;
  b.data = y;
  b.dtype = type_of(zout == 2, f32);
  b.shape = out_shape;
  if (f32)
    a.data = x32, b.data = y32;
  kugel_fft *p = plan_of(ctx, kind, f32 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64, n);
  if (!p)
    return 1;
  CHECK_OK(kugel_fft_execute(p, sign, &a, &b, NULL));
  kugel_fft_destroy(p);
  long double e = 0, s = 0;
  for (int64_t i = 0; i < SAMPLES; i++) {
    int64_t k = i < 2 ? i : i < 4 ? nout + 1 - i : (i * 7919 + 5) % nout;
    ldc w = truth(kind, sign, n, x + (LINES - 1) * nin * zin, k);
    for (int64_t c = 0, at = ((LINES - 1) * nout + k) * zout; c < zout; c++) {
      long double want = c ? cimagl(w) : creall(w),
                  got = f32 ? (long double)y32[at + c] : (long double)y[at + c];
      e += (got - want) * (got - want);
      s += want * want;
    }
  }
  return (double)sqrtl(e / s);
}

static void check_lines(kugel_ctx *ctx, bool f32)
{
  static const struct {
    kugel_fft_kind kind;
    int sign;
    int64_t n;
  } all[] = {{KUGEL_FFT_C2C, KUGEL_FORWARD, 480},    {KUGEL_FFT_C2C, KUGEL_INVERSE, 480},
             {KUGEL_FFT_C2C, KUGEL_FORWARD, 131},    {KUGEL_FFT_R2C, KUGEL_FORWARD, 300},
             {KUGEL_FFT_R2C, KUGEL_INVERSE, 300},    {KUGEL_FFT_DCT2, KUGEL_FORWARD, 96},
             {KUGEL_FFT_DCT4, KUGEL_FORWARD, 105},   {KUGEL_FFT_DST1, KUGEL_FORWARD, 63},
             {KUGEL_FFT_C2C, KUGEL_FORWARD, LARGEST}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    int64_t n = all[i].n;
    double e = error_of(ctx, all[i].kind, all[i].sign, n, f32), eps = f32 ? 0x1p-23 : 0x1p-52;
    double bound = (large_prime(n) ? 1 : 0.5) * eps * sqrt(log2((double)n)) + eps / 2;
    printf("  kind %d, sign %d, n = %lld%s: %.1e, allowed %.1e\n", (int)all[i].kind, all[i].sign,
           (long long)n, f32 ? ", float" : "", e, bound);
    CHECK_LE(e, bound);
  }
}

/* Below 1e-30 sqrt(log2 n) / 2, as include/kugel/fft.h says. */
static void check_dd(kugel_ctx *ctx, int64_t n, int sign)
{
  double *x = malloc((size_t)(4 * n) * 8), *y = calloc((size_t)(4 * n), 8);
  for (int64_t i = 0; i < 4 * n; i++)
    x[i] = check_random(&seed) * (i % 4 > 1 ? 0x1p-54 * fabs(x[i - 2]) : 1);
  kugel_fft *p = plan_of(ctx, KUGEL_FFT_C2C, KUGEL_PRECISION_DD, n);
  if (p)
    CHECK_OK(
        kugel_fft_execute(p, sign, KUGEL_ARRAY(x, KUGEL_C128, n, 2), KUGEL_ARRAY(y, KUGEL_C128, n, 2), NULL));
  quad_unit *w = quad_roots(n);
  double e = 0, s = 0;
  for (int64_t k = 0; k < n; k++) {
    quad_unit want = quad_dft(x, n, k, sign, w);
    double re = (double)(quad_at(y, k, 4, 2) - want.c), im = (double)(quad_at(y + 1, k, 4, 2) - want.s);
    e += re * re + im * im;
    s += (double)(want.c * want.c + want.s * want.s);
  }
  printf("  double-double, sign %d, n = %lld: %.1e\n", sign, (long long)n, sqrt(e / s));
  CHECK_LE(sqrt(e / s), 0.5e-30 * sqrt(log2((double)n)));
  kugel_fft_destroy(p);
  free(x), free(y), free(w);
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "doubles")) check_lines(ctx, false);
    CASE(every_title(&info, "floats")) check_lines(ctx, true);
    CASE(every_title(&info, "double-doubles"))
    {
      check_dd(ctx, 120, KUGEL_FORWARD);
      check_dd(ctx, 120, KUGEL_INVERSE);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
