/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Polynomial transforms on devices: against the CPU, bit by bit where no cosine transform comes between. */
#include "core/ctx.h"
#include "device/every.h"
#include "device/faults.h"
#include "gpu_both.h"

/* Radii of the caller: rotations and a table, no cosine transforms. Tensor cores of CUDA add doubles of the table in an order of
 * their own. */
static void bits_of(kugel_ctx *ctx, int type, int single, bool lift)
{
  int64_t l[] = {0, 1, 2, 9, 40, 41, 300, 261}, mult[] = {1, 2, 3, 1, 2, 1, 3, 2};
  double radii[] = {0, 0.25, 0.5, 0.7, 0.9, 0.99, 1};
  both b = make(ctx, (kugel_jwt_opts){.type = type,
                                      .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                                      .engine = KUGEL_WORLAND_CONNECTION,
                                      .n = 37,
                                      .blocks = 8,
                                      .l = l,
                                      .multiplicity = mult,
                                      .nr = 7,
                                      .radii = radii,
                                      .complex_data = single});
  for (int op = 0; op < 3; op++)
    for (int which = 0; which < 3; which += 2) {
      bool same;
      double e = compare(&b, which, op, single, single, 3, &same);
      bool own = lift || (ctx->device.type == KUGEL_CUDA && !single);
      if (contracts() && !own ? !same : !(e < (single ? 1e-5 : 1e-14)))
        CHECK_FAIL("type %d, precision %d, op %d, verb %d: %g, bits %s", type, single, op, which, e,
                   same ? "equal" : "differ");
    }
  drop(&b);
}

static void bits(kugel_ctx *ctx)
{
  for (int type = 0; type < 2; type++)
    for (int single = 0; single < 2; single++)
      bits_of(ctx, type, single, false);
}

/* Other shapes of the systolic array: the same bits, or three operations a rotation. */
static void shapes(kugel_ctx *ctx)
{
  static const char *const name[] = {"GROUP", "STEPS", "LANES", "WARPS", "TICKS", "LIFT"};
  static const char *const value[][6] = {{"4", "2", "2", "2", "8", "0"}, {"8", "1", "2", "1", "4", "1"}};
  for (int i = 0; i < 2; i++) {
    char variable[64];
    for (int k = 0; k < 6; k++) {
      snprintf(variable, sizeof variable, "KUGEL_POLYNOMIAL_%s", name[k]);
      setenv(variable, value[i][k], 1);
    }
    bits_of(ctx, 0, 0, i == 1);
    for (int k = 0; k < 6; k++) {
      snprintf(variable, sizeof variable, "KUGEL_POLYNOMIAL_%s", name[k]);
      unsetenv(variable);
    }
  }
}

static void operators(kugel_ctx *ctx, int from, int to)
{
  static const int synthesis[] = {0, 1, 2, 3, 4, 5, 6, 0x101},
                   analysis[] = {0, 2, 3, 4, 0x200, 0x402, 0x104, 0x203};
  int64_t l[] = {3, 0, 1, 2, 8, 17, 140}, mult[] = {1, 2, 3, 1, 2, 1, 3}, nl[] = {20, 20, 20, 7, 20, 1, 20};
  for (int type = 0; type < 4; type += type ? 2 : 1)
    for (int engine = from; engine < to; engine += 1 + engine / 2) /* all but quadrature */
      for (int single = 0; single < 2; single++) {
        both b = make(ctx, (kugel_jwt_opts){.type = type,
                                            .precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                                            .norm = engine == 1,
                                            .engine = engine,
                                            .n = 20,
                                            .blocks = 7,
                                            .l = l,
                                            .multiplicity = mult,
                                            .nl = nl,
                                            .nr = 95,
                                            .complex_data = engine != 1});
        for (int i = 0; i < 8; i++)
          for (int which = 0; which < 4; which++) {
            bool same;
            int op = which % 2 ? analysis[i] : synthesis[i];
            double e = compare(&b, which, op, single, engine != 1, 2, &same);
            double bound = engine == KUGEL_WORLAND_BIDIAGONAL ? 20 : 1; /* as its errors are */
            if (!(e < bound * (single ? 1e-5 : 1e-14)))
              CHECK_FAIL("type %d, engine %d, precision %d, verb %d, op %x: %g", type, engine, single, which,
                         (unsigned)op, e);
          }
        drop(&b);
      }
}

typedef kugel_status alt_verb(const kugel_alt *, const kugel_array *, const kugel_array *, kugel_queue *);

static void legendre_one(kugel_ctx *ctx, kugel_alt_opts o, bool same)
{
  static alt_verb *const all[] = {kugel_alt_synthesis, kugel_alt_analysis, kugel_alt_synthesis_adjoint,
                                  kugel_alt_analysis_adjoint};
  int64_t m[] = {0, 1, 2, 9, 10, 33, o.lmax - 1, o.lmax}, mult[] = {2, 1, 3, 1, 4, 2, 1, 2}, systems = 16;
  kugel_alt *cpu, *gpu;
  o.size = sizeof o;
  o.blocks = 8;
  o.m = m;
  o.multiplicity = mult;
  CHECK_OK(kugel_alt_create(NULL, &o, &cpu));
  CHECK_OK(kugel_alt_create(ctx, &o, &gpu));
  int64_t n = o.n ? o.n : o.lmax + 1;
  bool single = o.precision == KUGEL_PRECISION_F32, tensor = ctx->device.type == KUGEL_CUDA;
  kugel_dtype type = o.complex_data ? (single ? KUGEL_C64 : KUGEL_C128) : single ? KUGEL_F32 : KUGEL_F64;
  for (int which = 0; which < 4; which += o.theta ? 2 : 1) {
    bool to_values = which == 0 || which == 3;
    int64_t from = to_values ? o.lmax + 1 : n, to = to_values ? n : o.lmax + 1,
            parts = o.complex_data ? 2 : 1;
    size_t a = (size_t)(2 * systems * from * parts), b = (size_t)(2 * systems * to * parts);
    char *in = malloc(8 * a), *x = malloc(8 * b), *y = malloc(8 * b);
    uint64_t seed = 3;
    for (size_t i = 0; i < a; i++)
      if (single)
        ((float *)(void *)in)[i] = (float)check_random(&seed);
      else
        ((double *)(void *)in)[i] = check_random(&seed);
    memset(y, 255, 8 * b);
    CHECK_OK(
        all[which](cpu, KUGEL_ARRAY(in, type, 2, systems, from), KUGEL_ARRAY(x, type, 2, systems, to), NULL));
    CHECK_OK(
        all[which](gpu, KUGEL_ARRAY(in, type, 2, systems, from), KUGEL_ARRAY(y, type, 2, systems, to), NULL));
    double worst = 0, scale = 0;
    bool equal = true;
    for (size_t i = 0; i < b; i++) {
      double u = single ? (double)((float *)(void *)x)[i] : ((double *)(void *)x)[i];
      double v = single ? (double)((float *)(void *)y)[i] : ((double *)(void *)y)[i];
      equal = equal && u <= v && u >= v;
      scale = fmax(scale, fabs(u));
      if (!(fabs(u - v) <= worst))
        worst = fabs(u - v);
    }
    if (!(worst <= (single ? 3e-6 : 5e-15) * scale) || (same && contracts() && (single || !tensor) && !equal))
      CHECK_FAIL("lmax %lld, n %lld, verb %d, precision %d: %g of %g, bits %s", (long long)o.lmax,
                 (long long)n, which, single, worst, scale, equal ? "equal" : "differ");
    free(in);
    free(x);
    free(y);
  }
  kugel_alt_destroy(cpu);
  kugel_alt_destroy(gpu);
}

static void legendre(kugel_ctx *ctx)
{
  double theta[] = {0, 0.001, 0.5, 1, 1.5, 2, 3.1};
  for (int single = 0; single < 2; single++)
    for (int complex = 0; complex < 2; complex++) {
      kugel_alt_opts o = {.precision = single ? KUGEL_PRECISION_F32 : KUGEL_PRECISION_F64,
                          .complex_data = complex};
      o.lmax = 79;
      legendre_one(ctx, o, false);
      o.n = o.lmax + 20;
      legendre_one(ctx, o, false);
      o.n = 7;
      o.theta = theta;
      legendre_one(ctx, o, true);
    }
}

/* Systems side by side in memory of the device, on a queue. */
static void on_device(kugel_ctx *ctx)
{
  int64_t l[] = {2, 5, 6}, n = 20, nr = 30;
  size_t at = 512;
  both b = make(ctx, (kugel_jwt_opts){.n = n, .blocks = 3, .l = l, .nr = nr, .energy = 1});
  double *c = malloc(sizeof *c * 60), *want = malloc(sizeof *want * 90), *got = malloc(sizeof *got * 90);
  kugel_queue *queue;
  void *in, *out;
  uint64_t seed = 5;
  for (int i = 0; i < 60; i++)
    c[i] = check_random(&seed);
  int64_t from[] = {3, n}, to[] = {3, nr}, stride[] = {1, 3};
  kugel_array a = {.data = c, .ndim = 2, .dtype = KUGEL_F64, .shape = from, .strides = stride};
  a.device.type = KUGEL_CPU;
  kugel_array f = a;
  f.data = want;
  f.shape = to;
  CHECK_OK(kugel_jwt_synthesis(b.cpu, KUGEL_WORLAND_D1, &a, &f, NULL));
  CHECK_IS(kugel_jwt_synthesis(b.gpu, KUGEL_WORLAND_D1, &a, &f, NULL), KUGEL_ENOTSUP);
  CHECK_OK(kugel_jwt_energy(b.cpu, 0, &a, KUGEL_ARRAY(want, KUGEL_F64, 3), NULL)); /* on the CPU for both */
  CHECK_OK(kugel_jwt_energy(b.gpu, 0, &a, KUGEL_ARRAY(got, KUGEL_F64, 3), NULL));
  CHECK_CLOSE(got, want, 3, 1e-15);
  CHECK_OK(kugel_jwt_synthesis(b.cpu, KUGEL_WORLAND_D1, &a, &f, NULL));
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_device_alloc(ctx, 2048, &in));
  CHECK_OK(kugel_device_alloc(ctx, 2048, &out));
  kugel__mem there = {in, at}, back = {out, at}, host = {c, 0}, result = {got, 0};
  kugel__device *device = kugel__ctx_device(ctx);
  CHECK_OK(kugel__device_copy(device, KUGEL__UPLOAD, there, host, 480, queue));
  a.device = f.device = ctx->device;
  a.data = in;
  f.data = out;
  a.byte_offset = f.byte_offset = at;
  CHECK_OK(kugel_jwt_synthesis(b.gpu, KUGEL_WORLAND_D1, &a, &f, queue));
  CHECK_OK(kugel__device_copy(device, KUGEL__DOWNLOAD, result, back, 720, queue));
  CHECK_OK(kugel_queue_wait(queue));
  CHECK_CLOSE(got, want, 90, 1e-14);
  f.data = in;
  CHECK_IS(kugel_jwt_synthesis(b.gpu, 0, &a, &f, queue), KUGEL_EINVAL);
  CHECK_IS(kugel_jwt_synthesis(b.cpu, 0, &a, &f, NULL), KUGEL_EDEVICE);
  kugel_queue_destroy(queue);
  kugel_device_free(ctx, in);
  kugel_device_free(ctx, out);
  free(c);
  free(want);
  free(got);
  drop(&b);
}

static void ultraspherical(kugel_ctx *ctx)
{
  for (int64_t n = 1; n <= 99; n += 98)
    for (int v = 0; v < 6; v++) {
      double *in = malloc(sizeof *in * (size_t)(12 * n)), *x = malloc(sizeof *x * (size_t)(12 * n)),
             *y = malloc(sizeof *y * (size_t)(12 * n));
      uint64_t seed = 11;
      for (int64_t i = 0; i < 12 * n; i++)
        in[i] = check_random(&seed);
      kugel_ultra_opts o = {.size = sizeof o,
                            .n = n,
                            .from = v / 2 == 0 ? 0 : 0.5,
                            .to = v / 2 == 1   ? 0
                                  : v / 2 == 2 ? 2.5
                                               : 0.5};
      kugel_ultra *cpu, *gpu;
      CHECK_OK(kugel_ultra_create(NULL, &o, &cpu));
      CHECK_OK(kugel_ultra_create(ctx, &o, &gpu));
      kugel_status (*run)(const kugel_ultra *, const kugel_array *, const kugel_array *, kugel_queue *) =
          v % 2 ? kugel_ultra_adjoint : kugel_ultra_execute;
      CHECK_OK(run(cpu, KUGEL_ARRAY(in, KUGEL_C128, 2, 3, n), KUGEL_ARRAY(x, KUGEL_C128, 2, 3, n), NULL));
      CHECK_OK(run(gpu, KUGEL_ARRAY(in, KUGEL_C128, 2, 3, n), KUGEL_ARRAY(y, KUGEL_C128, 2, 3, n), NULL));
      CHECK_CLOSE(y, x, (size_t)(12 * n), 3e-14);
      CHECK_OK(run(gpu, KUGEL_ARRAY(in, KUGEL_F64, n), KUGEL_ARRAY(y, KUGEL_F64, n), NULL));
      CHECK_OK(run(cpu, KUGEL_ARRAY(in, KUGEL_F64, n), KUGEL_ARRAY(x, KUGEL_F64, n), NULL));
      CHECK_CLOSE(y, x, (size_t)n, 3e-14);
      kugel_ultra_destroy(cpu);
      kugel_ultra_destroy(gpu);
      free(in);
      free(x);
      free(y);
    }
  kugel_ultra *plan;
  CHECK_IS(kugel_ultra_create(ctx, &(kugel_ultra_opts){.size = sizeof(kugel_ultra_opts), .n = 20000}, &plan),
           KUGEL_ENOTSUP);
  CHECK_IS(kugel_ultra_create(
               ctx,
               &(kugel_ultra_opts){.size = sizeof(kugel_ultra_opts), .n = 20, .method = KUGEL_ULTRA_FAST},
               &plan),
           KUGEL_ENOTSUP);
}

static kugel_status ultra_once(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  static double c[20], f[20];
  kugel_status s = kugel_cheb2leg(ctx, KUGEL_ARRAY(c, KUGEL_F64, 20), KUGEL_ARRAY(f, KUGEL_F64, 20));
  return s;
}

static kugel_status jwt_once(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  static double c[60], f[90];
  int64_t l[] = {2, 5, 6};
  kugel_jwt *p;
  kugel_status s = kugel_jwt_create(
      ctx,
      &(kugel_jwt_opts){.size = sizeof(kugel_jwt_opts), .type = 1, .n = 20, .blocks = 3, .l = l, .nr = 30},
      &p);
  if (s)
    return s;
  s = kugel_jwt_synthesis(p, 1, KUGEL_ARRAY(c, KUGEL_F64, 3, 20), KUGEL_ARRAY(f, KUGEL_F64, 3, 30), NULL);
  kugel_jwt_destroy(p);
  return s;
}

static kugel_status alt_once(kugel_ctx *ctx, void *arg)
{
  (void)arg;
  static double c[33], f[33];
  int64_t m[] = {0, 5, 10};
  kugel_alt *p;
  kugel_status s = kugel_alt_create(
      ctx, &(kugel_alt_opts){.size = sizeof(kugel_alt_opts), .lmax = 10, .blocks = 3, .m = m}, &p);
  if (s)
    return s;
  s = kugel_alt_analysis(p, KUGEL_ARRAY(f, KUGEL_F64, 3, 11), KUGEL_ARRAY(c, KUGEL_F64, 3, 11), NULL);
  kugel_alt_destroy(p);
  return s;
}

static void failures(kugel_ctx *ctx)
{
  static const sweep_work once[] = {jwt_once, alt_once, ultra_once};
  for (int which = 0; which < 3; which++) {
    sweep_memory(ctx, INT64_MAX, once[which], NULL);
    sweep_driver(ctx, INT64_MAX, once[which], NULL);
  }
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx;
    if (!info.fp64)
      continue;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "bits of the CPU"))
    {
      setenv("KUGEL_POLYNOMIAL_LIFT", "0", 1);
      bits(ctx);
      unsetenv("KUGEL_POLYNOMIAL_LIFT");
    }
    CASE(every_title(&info, "shapes"))
    {
      shapes(ctx);
    }
    CASE(every_title(&info, "operators"))
    {
      operators(ctx, 0, 5);
    }
    CASE(every_title(&info, "tables without tensor cores, by blocks as with them"))
    {
      setenv("KUGEL_POLYNOMIAL_TENSOR", "0", 1);
      operators(ctx, KUGEL_WORLAND_DENSE, KUGEL_WORLAND_DENSE + 1);
      unsetenv("KUGEL_POLYNOMIAL_TENSOR");
    }
    CASE(every_title(&info, "tables as on tensor cores, by shuffles where there are none"))
    {
      setenv("KUGEL_POLYNOMIAL_TENSOR", "1", 1);
      operators(ctx, KUGEL_WORLAND_DENSE, KUGEL_WORLAND_DENSE + 1);
      unsetenv("KUGEL_POLYNOMIAL_TENSOR");
    }
    CASE(every_title(&info, "arrays of the device, queues"))
    {
      on_device(ctx);
    }
    CASE(every_title(&info, "ultraspherical"))
    {
      ultraspherical(ctx);
    }
    CASE(every_title(&info, "failures"))
    {
      failures(ctx);
    }
    CASE(every_title(&info, "associated Legendre"))
    {
      setenv("KUGEL_POLYNOMIAL_LIFT", "0", 1);
      legendre(ctx);
      unsetenv("KUGEL_POLYNOMIAL_LIFT");
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
