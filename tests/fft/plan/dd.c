/* SPDX-License-Identifier: BSD-3-Clause */
/* Double-double transforms of all kinds on the CPU, and their kernels in the interpreter, against sums of 113
 * bits. */
#include "check.h"
#include "codegen/interp.h"
#include "core/alloc.h"
#include "fft/gpu/block.h"
#include "fft/gpu/block_tables.h"
#include "fft/roots/roots_dd.h"
#include "fft/quad.h"

enum { SAMPLES = 6 };
static const double bound = 1e-29;

// Normalised random double-doubles.
static void fill(double *x, int64_t count, int64_t width, uint64_t *seed)
{
  for (int64_t i = 0; i < count; i++)
    for (int64_t part = 0; part < width; part++) {
      x[2 * width * i + part] = check_random(seed);
      x[2 * width * i + width + part] = check_random(seed) * 0x1p-54 * fabs(x[2 * width * i + part]);
    }
}

static kugel_fft *plan_of(kugel_fft_kind kind, int64_t n)
{
  kugel_fft_opts o = {.size = sizeof o, .kind = kind, .precision = KUGEL_PRECISION_DD};
  kugel_fft *plan = NULL;
  CHECK_OK(kugel_fft_create(NULL, 1, &n, &o, &plan));
  return plan;
}

// Samples of the complex transform and of real to complex, relative to the root mean square.
static double complex_error(int64_t n, bool real, int sign, quad_unit *w)
{
  int64_t m = real ? n / 2 + 1 : n;
  double *x = calloc((size_t)n * 10, 8), *y = x + 4 * n, *r = y + 4 * n;
  uint64_t seed = (uint64_t)n;
  fill(x, n, 2, &seed);
  fill(r, n, 1, &seed);
  for (int64_t j = 0; j < n && real; j++) {
    x[4 * j] = r[2 * j];
    x[4 * j + 2] = r[2 * j + 1];
    x[4 * j + 1] = x[4 * j + 3] = 0;
  }
  kugel_fft *plan = plan_of(real ? KUGEL_FFT_R2C : KUGEL_FFT_C2C, n);
  kugel_array *in = real ? KUGEL_ARRAY(r, KUGEL_F64, n, 2) : KUGEL_ARRAY(x, KUGEL_C128, n, 2);
  CHECK_OK(kugel_fft_execute(plan, sign, in, KUGEL_ARRAY(y, KUGEL_C128, m, 2), NULL));
  kugel_fft_destroy(plan);
  quad err = 0, norm = 0;
  for (int64_t i = 0, k = 0; i < SAMPLES; i++, k = (k * 5 + n / 3 + i) % m) {
    quad_unit t = quad_dft(x, n, k, sign, w);
    quad re = quad_at(y, k, 4, 2) - t.c, im = quad_at(y + 1, k, 4, 2) - t.s;
    err += re * re + im * im;
    norm += t.c * t.c + t.s * t.s;
  }
  free(x);
  return sqrt((double)(err / norm));
}

static double real_error(kugel_fft_kind kind, int64_t n)
{
  double *x = calloc((size_t)n * 4, 8), *y = x + 2 * n;
  uint64_t seed = (uint64_t)n;
  fill(x, n, 1, &seed);
  kugel_fft *plan = plan_of(kind, n);
  CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, KUGEL_ARRAY(x, KUGEL_F64, n, 2),
                             KUGEL_ARRAY(y, KUGEL_F64, n, 2), NULL));
  kugel_fft_destroy(plan);
  quad_unit *w = quad_roots(quad_angle_of(kind, n, 0, 0).turns);
  quad err = 0, norm = 0;
  for (int64_t i = 0, k = 0; i < SAMPLES; i++, k = (k * 5 + n / 3 + i) % n) {
    quad t = quad_trig(kind, x, n, k, w), e = quad_at(y, k, 2, 1) - t;
    err += e * e;
    norm += t * t;
  }
  free(w);
  free(x);
  return sqrt((double)(err / norm));
}

static double worst;
static void check(double error, const char *what, int64_t n)
{
  worst = fmax(worst, error);
  if (!(error <= bound))
    CHECK_FAIL("%s of %lld: error %.3g exceeds %.3g", what, (long long)n, error, bound);
}

// Forward and inverse of several axes with strides, a batch and scales, in place.
static void round_trip(kugel_fft_kind kind)
{
  enum { B = 3, N0 = 6, N1 = 10 };
  int64_t n[2] = {N0, N1}, m1 = N1 / 2 + 1;
  bool r2c = kind == KUGEL_FFT_R2C, c2c = kind == KUGEL_FFT_C2C;
  int64_t width = c2c ? 4 : 2, row = r2c ? 4 * m1 : width * N1;
  double x[B * N0 * N1 * 4 + 64], y[B * N0 * N1 * 4 + 64];
  uint64_t seed = 5;
  for (size_t i = 0; i < sizeof x / 8; i += 2) {
    x[i] = y[i] = check_random(&seed);
    x[i + 1] = y[i + 1] = c2c ? check_random(&seed) : x[i] * 0x1p-55;
    if (c2c && i % 4 == 2)
      for (int p = 0; p < 2; p++)
        x[i + (size_t)p] = y[i + (size_t)p] = x[i - 2 + (size_t)p] * 0x1p-55;
  }
  kugel_fft_opts o = {.size = sizeof o, .kind = kind, .precision = KUGEL_PRECISION_DD};
  kugel_fft *plan;
  CHECK_OK(kugel_fft_create(NULL, 2, n, &o, &plan));
  kugel__dd scale = dd_div(dd_from(1), dd_from(kugel_fft_gain(plan)));
  kugel_fft_destroy(plan);
  o.inverse_scale = scale.hi;
  o.inverse_scale_low = scale.lo;
  CHECK_OK(kugel_fft_create(NULL, 2, n, &o, &plan));
  int64_t shape[] = {B, N0, N1, 2}, half[] = {B, N0, m1, 2}, strides[] = {N0 * row / 2, row / 2, 2, 1};
  if (!c2c)
    strides[0] = N0 * row, strides[1] = row;
  int64_t wide[] = {N0 * row / 2, row / 2, 2, 1};
  kugel_array a = {.data = y,
                   .device = {KUGEL_CPU, 0},
                   .ndim = 4,
                   .dtype = c2c ? KUGEL_C128 : KUGEL_F64,
                   .shape = shape,
                   .strides = strides};
  kugel_array b = {
      .data = y, .device = {KUGEL_CPU, 0}, .ndim = 4, .dtype = KUGEL_C128, .shape = half, .strides = wide};
  CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, &a, r2c ? &b : &a, NULL));
  CHECK_OK(kugel_fft_execute(plan, KUGEL_INVERSE, r2c ? &b : &a, &a, NULL));
  kugel_fft_destroy(plan);
  double err = 0;
  for (int64_t i = 0; i < B * N0; i++)
    for (int64_t j = 0; j < width * N1; j += width)
      for (int64_t p = 0; p < width / 2; p++) {
        const double *u = x + i * row + j + p, *v = y + i * row + j + p;
        err = fmax(err, fabs((u[0] - v[0]) + (u[width / 2] - v[width / 2])));
      }
  check(err, "there and back", kind);
}

// The kernel of one block, in the interpreter.
static double block_error(int64_t n)
{
  kugel__block b;
  if (!kugel__block_fit(n, KUGEL__DD, 1 << 17, &b)) {
    CHECK_FAIL("no block holds %lld points", (long long)n);
    return 0;
  }
  kugel__gen g;
  kugel__block_build(&b, NULL, &g);
  int64_t tables = kugel__tables_of(&b).total;
  double *x = calloc((size_t)(8 * n + 4 * tables + b.m), 8), *y = x + 4 * n, *t = y + 4 * n,
         *order = t + 4 * tables;
  uint64_t seed = (uint64_t)n;
  fill(x, n, 2, &seed);
  CHECK_OK(kugel__block_fill_tables(&b, NULL, t));
  kugel__argument args[15], *a = args;
  *a++ = (kugel__argument){.data = x, .size = n};
  *a++ = (kugel__argument){.data = y, .size = n};
  *a++ = (kugel__argument){.data = t, .size = tables};
  if (kugel__block_ordered(&b)) {
    uint32_t *logs = calloc((size_t)b.m, sizeof *logs);
    kugel__block_fill_order(&b, logs);
    for (int64_t i = 0; i < b.m; i++)
      order[i] = logs[i];
    free(logs);
    *a++ = (kugel__argument){.data = order, .size = b.m};
  }
  int64_t values[] = {1, 1, 0, 0, n, 0, 1, n, 0, 1};
  for (int i = 0; i < 10; i++)
    *a++ = (kugel__argument){.i = values[i]};
  *a++ = (kugel__argument){.d = 1};
  CHECK_OK(kugel__gen_run(&g, args, 0, 1));
  quad_unit *w = quad_roots(n);
  quad err = 0, norm = 0;
  for (int64_t i = 0, k = 0; i < SAMPLES; i++, k = (k * 5 + n / 3 + i) % n) {
    quad_unit want = quad_dft(x, n, k, -1, w);
    quad re = quad_at(y, k, 4, 2) - want.c, im = quad_at(y + 1, k, 4, 2) - want.s;
    err += re * re + im * im;
    norm += want.c * want.c + want.s * want.s;
  }
  free(w);
  free(x);
  kugel__gen_free(&g);
  return sqrt((double)(err / norm));
}

int main(void)
{
  CASE("roots of unity")
  {
    double off = 0;
    for (int64_t n = 1; n < 3000; n = n * 3 / 2 + 1)
      for (int64_t k = 0; k < n; k++) {
        kugel__unit u = kugel__root_dd(kugel__turn_ratio(k, n));
        quad_unit w = quad_root(k, n);
        off = fmax(off, fabs((double)((quad)u.cos.hi + (quad)u.cos.lo - w.c)));
        off = fmax(off, fabs((double)((quad)u.sin.hi + (quad)u.sin.lo - w.s)));
      }
    CHECK_LE(off, 4e-31);
    for (int k = 0; k < 4; k++) {
      kugel__unit u = kugel__root_dd(kugel__turn_ratio(k, 4));
      CHECK(u.cos.lo == 0 && u.sin.lo == 0 && fabs(u.cos.hi) + fabs(u.sin.hi) == 1);
    }
  }
  CASE("complex lines of 1 to 300 points, and longer ones")
  {
    static const int64_t more[] = {512, 1000, 1009, 2310, 4096, 4099, 16384, 30030, 65536};
    for (int64_t i = 1; i <= 309; i++) {
      int64_t n = i <= 300 ? i : more[i - 301];
      quad_unit *w = quad_roots(n);
      check(complex_error(n, false, i % 2 ? KUGEL_FORWARD : KUGEL_INVERSE, w), "C2C", n);
      check(complex_error(n, true, KUGEL_FORWARD, w), "R2C", n);
      free(w);
    }
    printf("  worst error %.2g\n", worst);
  }
  CASE("cosines and sines")
  {
    worst = 0;
    for (int kind = KUGEL_FFT_DCT1; kind <= KUGEL_FFT_DST4; kind++)
      for (int64_t n = kind == KUGEL_FFT_DCT1 ? 2 : 1; n < 1500; n = n < 40 ? n + 1 : n * 7 / 4)
        check(real_error((kugel_fft_kind)kind, n), "cosine or sine", n);
    printf("  worst error %.2g\n", worst);
  }
  CASE("axes, batches, strides, scales, in place")
  {
    for (int kind = KUGEL_FFT_C2C; kind <= KUGEL_FFT_DST4; kind++)
      round_trip((kugel_fft_kind)kind);
  }
  CASE("kernels in the interpreter")
  {
    for (int64_t n = 1; n <= 40; n++)
      check(block_error(n), "kernel", n);
    check(block_error(103), "kernel", 103);
    check(block_error(256), "kernel", 256);
  }
  CASE("what is refused")
  {
    double x[16] = {0};
    int64_t n = 4;
    kugel_fft *plan;
    kugel_fft_opts o = {.size = sizeof o};
    o.forward_scale_low = 1;
    CHECK_IS(kugel_fft_create(NULL, 1, &n, &o, &plan), KUGEL_EINVAL);
    o.forward_scale_low = NAN;
    CHECK_IS(kugel_fft_create(NULL, 1, &n, &o, &plan), KUGEL_EINVAL);
    o = (kugel_fft_opts){.size = sizeof o, .precision = (kugel_precision)7};
    CHECK_IS(kugel_fft_create(NULL, 1, &n, &o, &plan), KUGEL_EINVAL);
    o = (kugel_fft_opts){.size = sizeof o, .forward_scale = 1, .forward_scale_low = 1e-20};
    CHECK_IS(kugel_fft_create(NULL, 1, &n, &o, &plan), KUGEL_EINVAL);
    plan = plan_of(KUGEL_FFT_C2C, 4);
    kugel_array *good = KUGEL_ARRAY(x, KUGEL_C128, 4, 2), odd = *good;
    CHECK_IS(kugel_fft_execute(plan, -1, KUGEL_ARRAY(x, KUGEL_C128, 4), good, NULL), KUGEL_ESHAPE);
    CHECK_IS(kugel_fft_execute(plan, -1, KUGEL_ARRAY(x, KUGEL_F64, 4, 2), good, NULL), KUGEL_ESHAPE);
    CHECK_IS(kugel_fft_execute(plan, -1, NULL, good, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_fft_execute(plan, -1, KUGEL_ARRAY(x + 2, KUGEL_C128, 4, 2), good, NULL), KUGEL_EINVAL);
    odd.strides = (int64_t[]){3, 1};
    CHECK_IS(kugel_fft_execute(plan, -1, &odd, good, NULL), KUGEL_ESHAPE);
    odd.strides = (int64_t[]){1, 4};
    CHECK_IS(kugel_fft_execute(plan, -1, &odd, good, NULL), KUGEL_ESHAPE);
    kugel_fft_destroy(plan);
  }
  CASE("failing allocations")
  {
    static const int64_t lengths[] = {12, 17};
    for (int i = 0; i < 8; i++)
      for (int64_t fail = 1; fail < 40; fail++) {
        kugel_fft_opts o = {
            .size = sizeof o, .kind = (kugel_fft_kind)(i / 2 * 3), .precision = KUGEL_PRECISION_DD};
        kugel_fft *plan = NULL;
        double x[17 * 4] = {0};
        int64_t n = lengths[i % 2];
        kugel__fault_alloc(fail);
        kugel_status s = kugel_fft_create(NULL, 1, &n, &o, &plan);
        if (!s)
          s = kugel_fft_execute(plan, -1, KUGEL_ARRAY(x, o.kind ? KUGEL_F64 : KUGEL_C128, n, 2),
                                KUGEL_ARRAY(x, o.kind ? KUGEL_F64 : KUGEL_C128, n, 2), NULL);
        kugel__fault_alloc(0);
        kugel_fft_destroy(plan);
        CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
        if (!s)
          break;
      }
  }
  END();
}
