/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolution and correlation of all kinds against direct sums. */
#include <float.h>
#include "fft/conv/direct.h"
#include "core/alloc.h"

static void check(const problem *p, int samples, bool swapped)
{
  // Two transforms of at most 2^15 points, each within (0.7 sqrt(15) + 1) eps rms; of 20000 samples the
  // largest error is 4.5 times as much.
  double e = error_of(NULL, p, samples, swapped, 0), rms = sqrt(2) * (.7 * sqrt(15) + 1) * DBL_EPSILON / 2;
  double bound = p->o.precision == KUGEL_PRECISION_F32 ? 1.2e-6 : 4.5 * rms;
  if (!(e <= bound))
    CHECK_FAIL(
        "n %lld %lld %lld k %lld %lld %lld extent %d circular %d correlate %d complex %d single %d: %.3g",
        (long long)p->n[0], (long long)p->n[1], (long long)p->n[2], (long long)p->k[0], (long long)p->k[1],
        (long long)p->k[2], (int)p->o.extent, p->o.circular, p->o.correlate, p->o.complex_data,
        p->o.precision, e);
}

static void every_kind(const problem *shape)
{
  for (int bits = 0; bits < 48; bits++) {
    problem p = *shape;
    p.o.correlate = bits & 1;
    p.o.complex_data = bits >> 1 & 1;
    p.o.precision = bits >> 2 & 1 ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64;
    p.o.circular = bits >> 3 & 1;
    p.o.extent = (kugel_conv_extent)(bits >> 4);
    bool fits = true;
    for (int d = 0; d < p.ndim; d++)
      fits &= p.k[d] <= p.n[d];
    if (p.o.extent == KUGEL_CONV_VALID && (p.o.circular || !fits))
      continue;
    check(&p, 0, bits & 1);
  }
}

static const problem shapes[] = {
    {1, {1}, {1}, 1, {0}},        {1, {7}, {3}, 2, {0}},
    {1, {5}, {9}, 1, {0}},        {1, {1}, {4}, 1, {0}},
    {1, {97}, {10}, 3, {0}},      {2, {6, 9}, {3, 4}, 2, {0}},
    {2, {4, 5}, {7, 2}, 1, {0}},  {3, {5, 4, 6}, {2, 3, 1}, 1, {0}},
    {2, {1, 12}, {1, 5}, 1, {0}},
};

static kugel_conv *small_plan(kugel_status want)
{
  kugel_conv *plan = NULL;
  double h[3] = {1, 2, 3};
  CHECK_IS(
      kugel_conv_create(NULL, 1, (int64_t[]){10}, (int64_t[]){3}, KUGEL_ARRAY(h, KUGEL_F64, 3), NULL, &plan),
      want);
  return plan;
}

static void errors(void)
{
  kugel_conv *p = small_plan(KUGEL_OK);
  double x[10] = {1}, y[12], h[9] = {0};
  int64_t n[] = {10, 10}, k[] = {3, 3}, bad[] = {0}, huge[] = {INT64_MAX};
  kugel_array *a = KUGEL_ARRAY(h, KUGEL_F64, 3), *in = KUGEL_ARRAY(x, KUGEL_F64, 10);
  kugel_conv *q = NULL;
  CHECK_OK(kugel_conv_execute(p, in, KUGEL_ARRAY(y, KUGEL_F64, 12), NULL));
  CHECK(fabs(y[0] - 1) < 1e-15 && fabs(y[2] - 3) < 1e-15 && fabs(y[11]) < 1e-15);
  CHECK_IS(kugel_conv_execute(NULL, in, KUGEL_ARRAY(y, KUGEL_F64, 12), NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_execute(p, NULL, KUGEL_ARRAY(y, KUGEL_F64, 12), NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_execute(p, in, KUGEL_ARRAY(y, KUGEL_F64, 10), NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_conv_execute(p, in, KUGEL_ARRAY(y, KUGEL_F32, 12), NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_conv_execute(p, in, KUGEL_ARRAY(y, KUGEL_F64, 1, 12), NULL), KUGEL_ESHAPE);
  CHECK_IS(kugel_conv_execute(p, KUGEL_ARRAY(y, KUGEL_F64, 10), KUGEL_ARRAY(y, KUGEL_F64, 12), NULL),
           KUGEL_EINVAL);
  CHECK_IS(kugel_conv_execute(p, KUGEL_ARRAY(NULL, KUGEL_F64, 10), KUGEL_ARRAY(y, KUGEL_F64, 12), NULL),
           KUGEL_EINVAL);
  CHECK_OK(
      kugel_conv_execute(p, KUGEL_ARRAY(NULL, KUGEL_F64, 0, 10), KUGEL_ARRAY(NULL, KUGEL_F64, 0, 12), NULL));
  kugel_conv_info info = {.size = 0};
  struct {
    kugel_conv_info info;
    int64_t newer;
  } larger = {.info = {.size = sizeof larger}, .newer = 7};
  CHECK_IS(kugel_conv_get_info(p, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_get_info(p, &info), KUGEL_EINVAL);
  info.size = sizeof info;
  CHECK_IS(kugel_conv_get_info(NULL, &info), KUGEL_EINVAL);
  CHECK_OK(kugel_conv_get_info(p, &larger.info)); // of a newer header
  CHECK(larger.newer == 0 && larger.info.ndim == 1 && larger.info.n[0] == 10 && larger.info.m[0] == 12);
  CHECK(larger.info.m[1] == 0 && larger.info.inputs == 0 && larger.info.outputs == 0);
  kugel_conv_destroy(p);
  kugel_conv_destroy(NULL);
  CHECK_IS(kugel_conv_create(NULL, 1, n, k, a, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 0, n, k, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 9, n, k, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 1, NULL, k, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 1, bad, k, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 1, n, bad, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 1, huge, k, a, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 1, n, k, NULL, NULL, &q), KUGEL_EINVAL);
  CHECK_IS(kugel_conv_create(NULL, 2, n, k, a, NULL, &q), KUGEL_ESHAPE);
  CHECK_IS(kugel_conv_create(NULL, 1, n, k, KUGEL_ARRAY(h, KUGEL_C128, 3), NULL, &q), KUGEL_ESHAPE);
  kugel_conv_opts o[] = {{.extent = (kugel_conv_extent)3},
                         {.extent = KUGEL_CONV_VALID, .circular = 1},
                         {.inputs = -1},
                         {.each = 1, .inputs = 2, .outputs = 3},
                         {.each = 1}};
  for (size_t i = 0; i < sizeof o / sizeof *o; i++) {
    o[i].size = sizeof *o;
    CHECK_IS(kugel_conv_create(NULL, 1, n, k, a, &o[i], &q), KUGEL_EINVAL);
  }
  CHECK_IS(kugel_conv_create(NULL, 1, k, n, KUGEL_ARRAY(x, KUGEL_F64, 10),
                             &(kugel_conv_opts){.size = sizeof *o, .extent = KUGEL_CONV_VALID}, &q),
           KUGEL_EINVAL);
  CHECK(!q);
}

int main(void)
{
  CASE("all kinds of small convolutions equal direct sums")
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    every_kind(&shapes[i]);
  CASE("tiles, one and many, with results at every end")
  {
    for (int i = 0; i < 24; i++) {
      problem p = {
          1, {20011 + 97 * i}, {1 + 37 * i}, 1 + i % 2, {.correlate = i & 1, .circular = i >> 1 & 1}};
      p.o.extent = (kugel_conv_extent)(p.o.circular ? i & 1 : i % 3);
      check(&p, 300, false);
    }
    check(&(problem){2, {150, 700}, {5, 9}, 1, {.extent = KUGEL_CONV_SAME}}, 200, true);
    check(&(problem){2, {700, 60}, {12, 60}, 1, {.circular = 1, .complex_data = 1}}, 200, false);
    check(
        &(problem){
            3, {40, 30, 90}, {3, 5, 4}, 2, {.extent = KUGEL_CONV_SAME, .precision = KUGEL_PRECISION_F32}},
        200, true);
  }
  CASE("many kernels, a matrix of kernels, one for each channel")
  {
    for (int each = 0; each < 2; each++)
      for (int i = 0; i < 3 && (i == 2 || !each); i++) {
        int in = i == 0 ? 0 : 3, out = i == 1 ? 0 : each ? 3 : 4;
        problem p = {2, {11, 13}, {3, 4}, 2, {.inputs = in, .outputs = out, .each = each}};
        check(&p, 0, true);
        p.o.complex_data = p.o.correlate = 1;
        check(&p, 0, false);
        p = (problem){1,
                      {3000},
                      {20},
                      2,
                      {.inputs = in, .outputs = out, .each = each, .precision = KUGEL_PRECISION_F32}};
        check(&p, 200, false);
      }
  }
  CASE("bad arguments")
  errors();
  CASE("failed allocations leave nothing")
  {
    kugel_status s = KUGEL_ENOMEM;
    int64_t fail = 1;
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_ctx_create(NULL, &ctx));
    for (; s && fail < 500; fail++) {
      double h[3] = {1, 2, 3}, x[10] = {1}, y[12];
      uint64_t before = 0, after = 0;
      kugel_conv *p = NULL;
      kugel_ctx_trim(ctx);
      kugel_ctx_memory(ctx, &before, NULL);
      kugel__fault_alloc(fail);
      s = kugel_conv_create(ctx, 1, (int64_t[]){10}, (int64_t[]){3}, KUGEL_ARRAY(h, KUGEL_F64, 3), NULL, &p);
      CHECK((s == KUGEL_OK) == (p != NULL));
      if (!s)
        s = kugel_conv_execute(p, KUGEL_ARRAY(x, KUGEL_F64, 10), KUGEL_ARRAY(y, KUGEL_F64, 12), NULL);
      kugel__fault_alloc(0);
      CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
      kugel_conv_destroy(p);
      kugel_ctx_trim(ctx);
      kugel_ctx_memory(ctx, &after, NULL);
      CHECK(after == before);
    }
    CHECK_OK(s);
    CHECK(fail > 3);
    kugel_ctx_destroy(ctx);
  }
  END();
}
