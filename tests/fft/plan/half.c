/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Transforms of arrays of halves, on the CPU and on every device that runs kernels, against the
 * double ones of the same numbers. */
#include "check.h"
#include "core/alloc.h"
#include "core/half.h"
#include "device/device.h"
#include "device/every.h"
#include <kugel/fft.h>

static const double bound = 3e-4; // relative rms; results just above a power of two round by 2^-11 / sqrt(3)

typedef struct problem {
  kugel_fft_kind kind;
  int sign, ndim;
  int64_t batch, n[3];
  bool in_place, apart; // apart: complex numbers as float16[..., 2]
} problem;

// Shape of one side; returns its halves.
static int64_t side(const problem *p, bool of_result, int64_t shape[5], kugel_array *a)
{
  bool halved = p->kind == KUGEL_FFT_R2C && of_result != (p->sign == KUGEL_INVERSE);
  bool complex = p->kind == KUGEL_FFT_C2C || halved;
  *a = (kugel_array){.device = {KUGEL_CPU, 0}, .ndim = p->ndim + 1, .shape = shape};
  a->dtype = complex ? KUGEL_C32 : KUGEL_F16;
  shape[0] = p->batch;
  for (int i = 0; i < p->ndim; i++)
    shape[1 + i] = p->n[i];
  if (halved)
    shape[p->ndim] = p->n[p->ndim - 1] / 2 + 1;
  int64_t count = complex ? 2 : 1;
  for (int i = 0; i <= p->ndim; i++)
    count *= shape[i];
  if (complex && p->apart) {
    a->dtype = KUGEL_F16;
    shape[a->ndim++] = 2;
  }
  return count;
}

static kugel_fft *plan_of(kugel_ctx *ctx, const problem *p, kugel_precision precision)
{
  kugel_fft_opts o = {
      .size = sizeof o, .kind = p->kind, .precision = precision, .forward_scale = .25, .inverse_scale = .5};
  kugel_fft *plan = NULL;
  CHECK_OK(kugel_fft_create(ctx, p->ndim, p->n, &o, &plan));
  return plan;
}

static void check(kugel_ctx *ctx, const problem *p)
{
  int64_t in_shape[5], out_shape[5];
  kugel_array in, out, wide_in, wide_out;
  int64_t ni = side(p, false, in_shape, &in), no = side(p, true, out_shape, &out);
  problem same = *p;
  same.apart = false;
  int64_t wi[5], wo[5];
  side(&same, false, wi, &wide_in);
  side(&same, true, wo, &wide_out);
  wide_in.dtype.bits = wide_in.dtype.code == KUGEL_COMPLEX ? 128 : 64;
  wide_out.dtype.bits = wide_out.dtype.code == KUGEL_COMPLEX ? 128 : 64;
  uint16_t *x = kugel__alloc(NULL, (size_t)kugel__max(ni, no) * 4), *y = x + kugel__max(ni, no);
  double *u = kugel__alloc(NULL, (size_t)(ni + no) * 8), *v = u + ni;
  uint64_t seed = (uint64_t)ni;
  for (int64_t i = 0; i < ni; i++) {
    x[i] = half_from_float((float)check_random(&seed));
    u[i] = (double)half_to_float(x[i]);
  }
  in.data = x;
  out.data = p->in_place ? x : y;
  wide_in.data = u;
  wide_out.data = v;
  kugel_fft *truth = plan_of(NULL, p, KUGEL_PRECISION_F64), *plan = plan_of(ctx, p, KUGEL_PRECISION_F16);
  CHECK_OK(kugel_fft_execute(truth, p->sign, &wide_in, &wide_out, NULL));
  CHECK_OK(kugel_fft_execute(plan, p->sign, &in, &out, NULL));
  kugel_fft_destroy(truth);
  kugel_fft_destroy(plan);
  double err = 0, norm = 0;
  for (int64_t i = 0; i < no; i++) {
    double e = (double)half_to_float(((uint16_t *)out.data)[i]) - v[i];
    err += e * e;
    norm += v[i] * v[i];
  }
  err = sqrt(err / norm);
  if (!(err <= bound))
    CHECK_FAIL("kind %d, sign %d, n %lld: error %.3g", (int)p->kind, p->sign, (long long)p->n[0], err);
  kugel__free(NULL, x);
  kugel__free(NULL, u);
}

static void check_all(kugel_ctx *ctx, bool many)
{
  static const int64_t n[] = {8, 45, 47, 1000, 20000};
  for (size_t i = 0; i < sizeof n / sizeof *n; i++)
    for (int kind = KUGEL_FFT_C2C; kind <= KUGEL_FFT_DST4; kind++)
      if (many || kind == (i % 2 ? KUGEL_FFT_R2C : KUGEL_FFT_C2C) || kind == 2 + 2 * (int)i)
        for (int sign = -1; sign <= (kind == KUGEL_FFT_R2C ? 1 : -1); sign += 2)
          check(ctx, &(problem){.kind = (kugel_fft_kind)kind,
                                .sign = sign,
                                .ndim = 1,
                                .batch = 3,
                                .n = {n[i]},
                                .in_place = kind != KUGEL_FFT_R2C && i % 2,
                                .apart = i % 3 == 0});
  for (int kind = KUGEL_FFT_C2C; kind <= (many ? KUGEL_FFT_DST4 : KUGEL_FFT_R2C); kind++)
    for (int sign = -1; sign < 2; sign += 2)
      check(ctx,
            &(problem){.kind = (kugel_fft_kind)kind, .sign = sign, .ndim = 3, .batch = 2, .n = {5, 12, 9}});
}

int main(void)
{
  CASE("conversions")
  {
    static const struct {
      float x;
      uint16_t h;
    } known[] = {{0, 0},
                 {-0.0f, 0x8000},
                 {1, 0x3c00},
                 {-2, 0xc000},
                 {65504, 0x7bff},
                 {65519, 0x7bff},
                 {65520, 0x7c00},
                 {1e30f, 0x7c00},
                 {-1e9f, 0xfc00},
                 {0x1p-24f, 1},
                 {0x1p-25f, 0},
                 {0x1.8p-24f, 2},
                 {0x1p-14f, 0x400},
                 {0x1.ff8p-15f, 0x3ff},
                 {0x1.002p0f, 0x3c00},
                 {0x1.006p0f, 0x3c02}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      CHECK(half_from_float(known[i].x) == known[i].h);
    for (uint32_t h = 0; h < 65536; h++) {
      float x = half_to_float((uint16_t)h);
      CHECK(isnan(x) ? (h & 0x7fff) > 0x7c00 && isnan(half_to_float(half_from_float(x)))
                     : half_from_float(x) == h);
    }
  }
  CASE("transforms on the CPU")
  {
    check_all(NULL, true);
  }
  CASE("strides, and what is refused")
  {
    int64_t n = 4;
    uint16_t x[32] = {0}, y[32];
    kugel_fft_opts o = {.size = sizeof o, .precision = KUGEL_PRECISION_F16};
    kugel_fft *plan = NULL;
    x[0] = x[24] = half_from_float(1); // numbers 0 and 3 of a line
    CHECK_OK(kugel_fft_create(NULL, 1, &n, &o, &plan));
    kugel_array in = *KUGEL_ARRAY(x, KUGEL_C32, 4);
    in.strides = (int64_t[]){4};
    CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, &in, KUGEL_ARRAY(y, KUGEL_C32, 4), NULL));
    CHECK(half_to_float(y[0]) == 2 && half_to_float(y[4]) == 0); // 1 + e^{-2 pi i 3 k / 4}
    CHECK_IS(kugel_fft_execute(plan, -1, KUGEL_ARRAY(x, KUGEL_C64, 4), KUGEL_ARRAY(y, KUGEL_C32, 4), NULL),
             KUGEL_ESHAPE);
    CHECK_IS(kugel_fft_execute(plan, -1, KUGEL_ARRAY(x, KUGEL_F16, 4), KUGEL_ARRAY(y, KUGEL_C32, 4), NULL),
             KUGEL_ESHAPE);
    CHECK_IS(kugel_fft_execute(plan, -1, KUGEL_ARRAY(x, KUGEL_F16, 4, 3), KUGEL_ARRAY(y, KUGEL_C32, 4), NULL),
             KUGEL_ESHAPE);
    for (int64_t fail = 1; fail < 6; fail++) {
      kugel_ctx_trim(NULL);
      kugel__fault_alloc(fail);
      kugel_status s =
          kugel_fft_execute(plan, -1, KUGEL_ARRAY(x, KUGEL_C32, 4), KUGEL_ARRAY(y, KUGEL_C32, 4), NULL);
      kugel__fault_alloc(0);
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
    }
    kugel_fft_destroy(plan);
    o.modulus = KUGEL_FFT_POWER;
    CHECK_OK(kugel_fft_create(NULL, 1, &n, &o, &plan));
    CHECK_OK(kugel_fft_execute(plan, KUGEL_FORWARD, &in, KUGEL_ARRAY(y, KUGEL_F16, 4), NULL));
    CHECK(half_to_float(y[0]) == 4 && half_to_float(y[1]) == 2 && half_to_float(y[2]) == 0);
    kugel_fft_destroy(plan);
  }
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);)
    CASE(every_title(&info, "transforms"))
    {
      kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
      kugel_ctx *ctx = NULL;
      CHECK_OK(kugel_ctx_create(&o, &ctx));
      check_all(ctx, every_variant(&info));
      kugel_ctx_destroy(ctx);
    }
  END();
}
