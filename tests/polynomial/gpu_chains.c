/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Chains of rotations on devices by scans and by tensor cores, and rows that are not there, against the CPU. */
#include "device/every.h"
#include "device/faults.h"
#include "gpu_both.h"

/* Chains by scans: 4, 2 and 1 lines at once, places of a warp that are all in use or not; the errors of rotations. */
static void scans(kugel_ctx *ctx)
{
  int64_t l[] = {0, 1, 2, 9, 40, 41, 300, 261}, mult[] = {1, 2, 3, 1, 2, 1, 3, 2}, high[] = {360, 5};
  double radii[] = {0, 0.25, 0.5, 0.7, 0.9, 0.99, 1};
  static const struct {
    int64_t n, nr;
    int blocks, type, single, complex, points;
  } c[] = {{37, 200, 8, 0, 0, 1, 0}, {37, 200, 8, 1, 0, 0, 0},  {37, 7, 8, 0, 1, 1, 1},
           {37, 7, 8, 2, 0, 1, 1},   {200, 400, 8, 0, 0, 1, 0}, {700, 888, 2, 0, 0, 1, 0}};
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    both b = make(ctx, (kugel_jwt_opts){.type = c[i].type,
                                        .precision = c[i].single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                                        .engine = KUGEL_WORLAND_SCAN,
                                        .n = c[i].n,
                                        .blocks = c[i].blocks,
                                        .l = c[i].blocks == 2 ? high : l,
                                        .multiplicity = mult,
                                        .nr = c[i].nr,
                                        .radii = c[i].points ? radii : NULL,
                                        .complex_data = c[i].complex});
    for (int which = 0; which < 4; which += 1 + c[i].points)
      for (int op = 0; op < (c[i].n > 100 ? 1 : 3); op += 2) {
        bool same;
        double e = compare(&b, which, op, c[i].single, c[i].complex, 3, &same);
        if (!(e < (c[i].single ? 3e-6 : 5e-15)))
          CHECK_FAIL("case %zu, verb %d, op %d: %g", i, which, op, e);
      }
    drop(&b);
  }
  kugel_jwt *none;
  CHECK_IS(
      kugel_jwt_create(
          ctx,
          &(kugel_jwt_opts){
              .size = sizeof(kugel_jwt_opts), .engine = KUGEL_WORLAND_SCAN, .n = 889, .blocks = 1, .l = l},
          &none),
      KUGEL_ENOTSUP);
}

/* Chains by tensor cores: degrees of every rest of 16 steps, passes of one to all blocks, systems that fill a warp or not; bands before
 * the chain; float32 is refused. */
static void tensor(kugel_ctx *ctx)
{
  int64_t low[] = {0, 1, 2, 9, 40, 41, 68, 261}, mult[] = {1, 2, 3, 1, 9, 1, 40, 2},
          nl[] = {37, 1, 37, 5, 37, 36, 37, 37};
  int64_t high[] = {64, 65, 127, 128, 162, 193, 290, 360}, own[] = {90, 90, 2, 90, 64, 63, 90, 17};
  static const struct {
    int64_t n, nr;
    int type, complex, batch, high;
  } c[] = {{37, 200, 0, 1, 3, 0}, {37, 200, 1, 0, 1, 0}, {90, 300, 0, 0, 1, 1}};
  for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
    both b = make(ctx, (kugel_jwt_opts){.type = c[i].type,
                                        .engine = KUGEL_WORLAND_TENSOR,
                                        .n = c[i].n,
                                        .blocks = 8,
                                        .l = c[i].high ? high : low,
                                        .nl = c[i].high ? own : nl,
                                        .multiplicity = mult,
                                        .nr = c[i].nr,
                                        .complex_data = c[i].complex});
    for (int which = 0; which < 4; which++)
      for (int op = 0; op < (i ? 1 : 3); op += 2) {
        bool same;
        double e = compare(&b, which, op, false, c[i].complex, c[i].batch, &same);
        if (!(e < 5e-15))
          CHECK_FAIL("case %zu, verb %d, op %d: %g", i, which, op, e);
      }
    drop(&b);
  }
  kugel_jwt *none;
  CHECK_IS(kugel_jwt_create(ctx,
                            &(kugel_jwt_opts){.size = sizeof(kugel_jwt_opts),
                                              .engine = KUGEL_WORLAND_TENSOR,
                                              .precision = KUGEL_PRECISION_F32,
                                              .n = 8,
                                              .blocks = 1,
                                              .l = low},
                            &none),
           KUGEL_ENOTSUP);
}

/* Coefficients beyond those of a degree are zeros whatever the values are: of a lane with NaN its own coefficients are NaN, those
 * beyond are 0, and other lanes have the bits that they have without it. */
static void rows_beyond(kugel_ctx *ctx, int engine)
{
  enum { N = 20, NR = 95, LANES = 3 };
  const bool tensor = engine == KUGEL_WORLAND_TENSOR;
  int64_t l[] = {3, tensor ? 72 : 8, tensor ? 32 : 0}, nl[] = {N, 7, 1};
  for (int single = 0; single < (tensor ? 1 : 2); single++) {
    both b = make(ctx, (kugel_jwt_opts){.precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                                        .engine = engine,
                                        .n = N,
                                        .blocks = LANES,
                                        .l = l,
                                        .nl = nl,
                                        .nr = NR});
    kugel_dtype type = single ? KUGEL_F32 : KUGEL_F64;
    for (int sick = -1; sick < LANES; sick++) {
      static double f[LANES * NR], c[LANES * N], healthy[LANES * N];
      uint64_t seed = 7;
      for (int i = 0; i < LANES * NR; i++) {
        double number = check_random(&seed), v = i / NR == sick && i % NR == 40 ? NAN : number;
        if (single)
          ((float *)(void *)f)[i] = (float)v;
        else
          f[i] = v;
      }
      for (int device = 0; device < 2; device++) {
        memset(c, 255, sizeof c);
        CHECK_OK(kugel_jwt_analysis(device ? b.gpu : b.cpu, 0, KUGEL_ARRAY(f, type, LANES, NR),
                                    KUGEL_ARRAY(c, type, LANES, N), NULL));
        for (int i = 0; i < LANES * N; i++) {
          double v = single ? (double)((float *)(void *)c)[i] : c[i];
          bool beyond = i % N >= nl[i / N], of_sick = i / N == sick;
          bool right = beyond ? v <= 0 && v >= 0 : of_sick ? isnan(v) : isfinite(v);
          if (device && sick >= 0 && !of_sick)
            right = right && v <= healthy[i] && v >= healthy[i];
          if (device && sick < 0)
            healthy[i] = v;
          if (!right)
            CHECK_FAIL("precision %d, lane %d with NaN, on %s: coefficient %d of lane %d is %g", single, sick,
                       device ? "the device" : "the CPU", i % N, i / N, v);
        }
      }
    }
    drop(&b);
  }
}

static kugel_status tensor_once(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  static double c[60], f[120];
  int64_t l[] = {2, 35, 36};
  kugel_jwt *p;
  kugel_status s = kugel_jwt_create(ctx,
                                    &(kugel_jwt_opts){.size = sizeof(kugel_jwt_opts),
                                                      .engine = KUGEL_WORLAND_TENSOR,
                                                      .n = 20,
                                                      .blocks = 3,
                                                      .l = l,
                                                      .nr = 40},
                                    &p);
  if (s)
    return s;
  s = kugel_jwt_synthesis(p, 0, KUGEL_ARRAY(c, KUGEL_F64, 3, 20), KUGEL_ARRAY(f, KUGEL_F64, 3, 40), NULL);
  kugel_jwt_destroy(p);
  return s;
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx;
    if (!info.fp64)
      continue;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "scans"))
    {
      scans(ctx);
    }
    CASE(every_title(&info, "tensor cores"))
    {
      tensor(ctx);
    }
    CASE(every_title(&info, "rows beyond a table's own are zeros, of lanes with NaN too"))
    {
      rows_beyond(ctx, KUGEL_WORLAND_DENSE);
      rows_beyond(ctx, KUGEL_WORLAND_TENSOR);
      setenv("KUGEL_POLYNOMIAL_TENSOR", "1", 1);
      rows_beyond(ctx, KUGEL_WORLAND_DENSE);
      unsetenv("KUGEL_POLYNOMIAL_TENSOR");
    }
    CASE(every_title(&info, "failures"))
    {
      sweep_memory(ctx, INT64_MAX, tensor_once, NULL);
      sweep_driver(ctx, INT64_MAX, tensor_once, NULL);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
