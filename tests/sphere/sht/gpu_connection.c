/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long: OpenCL compilers take their time. Engine connection on every device: the CPU's engine, the recurrence, direct sums, adjoints, floats, iterations, arrays in device
 * memory, failures. */
#include "core/ctx.h"
#include "device/every.h"
#include "device/faults.h"
#include "sphere/every_grid.h"
#include "sphere/truth.h"

static const struct {
  kugel_sht_mode mode;
  int spin;
} kinds[] = {{KUGEL_SHT_SCALAR, 0}, {KUGEL_SHT_SPIN, 1}, {KUGEL_SHT_SPIN, 2}, {KUGEL_SHT_SPIN, 5},
             {KUGEL_SHT_TEB, 0},    {KUGEL_SHT_GRAD, 0}, {KUGEL_SHT_DER1, 0}};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct setup {
  kugel_grid *grid;
  int kind, iterations;
  int64_t lmax, mmax;
} setup;

static kugel_sht *plan_of(kugel_ctx *ctx, const setup *s, kugel_sht_engine engine)
{
  kugel_sht *p = NULL;
  CHECK_OK(kugel_sht_create(ctx,
                            &(kugel_sht_opts){.size = sizeof(kugel_sht_opts),
                                              .grid = s->grid,
                                              .lmax = s->lmax,
                                              .mmax = s->mmax ? s->mmax : KUGEL_ONLY_M0,
                                              .mode = kinds[s->kind].mode,
                                              .spin = kinds[s->kind].spin,
                                              .iterations = s->iterations,
                                              .engine = engine},
                            &p));
  return p;
}

typedef kugel_status verb(const kugel_sht *, const kugel_array *, const kugel_array *, kugel_queue *);
static verb *const verbs[] = {kugel_sht_synthesis, kugel_sht_synthesis_adjoint, kugel_sht_analysis,
                              kugel_sht_analysis_adjoint};

/* Relative difference of both plans by a verb, of random numbers that go in. */
static double differ(const kugel_sht *one, const kugel_sht *two, const setup *s, int which, bool single)
{
  shape h = shape_of(kinds[s->kind].mode, kinds[s->kind].spin);
  kugel_sht_info info = {.size = sizeof info};
  CHECK_OK(kugel_sht_get_info(one, &info));
  bool to_map = which % 3 == 0;
  int64_t reals[2] = {2 * h.alm * info.nalm, h.map * info.npix}, n = reals[to_map];
  char *in = calloc((size_t)reals[!to_map], 8), *out[2];
  double *value[2], e;
  for (int64_t i = 0; i < reals[!to_map]; i++)
    if (single)
      ((float *)(void *)in)[i] = (float)check_random(&seed);
    else
      ((double *)(void *)in)[i] = check_random(&seed);
  for (int k = 0; k < 2; k++) {
    out[k] = malloc((size_t)n * 8);
    value[k] = malloc((size_t)n * 8);
    memset(out[k], 255, (size_t)n * 8);
    char *alm = to_map ? in : out[k], *map = to_map ? out[k] : in;
    const kugel_array *a = KUGEL_ARRAY(alm, single ? KUGEL_C64 : KUGEL_C128, h.alm, info.nalm),
                      *f = KUGEL_ARRAY(map, single ? KUGEL_F32 : KUGEL_F64, h.map, info.npix);
    CHECK_OK(verbs[which](k ? two : one, to_map ? a : f, to_map ? f : a, NULL));
    for (int64_t i = 0; i < n; i++)
      value[k][i] = single ? (double)((float *)(void *)out[k])[i] : ((double *)(void *)out[k])[i];
  }
  e = check_l2(value[1], value[0], (size_t)n);
  for (int k = 0; k < 2; k++)
    free(out[k]), free(value[k]);
  free(in);
  return e;
}

static bool analyses(int kind)
{
  return kinds[kind].mode != KUGEL_SHT_GRAD && kinds[kind].mode != KUGEL_SHT_DER1;
}

/* All verbs against the CPU's engine, which tests/sphere/sht/connection*.c compare with direct sums. */
static void with_cpu(kugel_ctx *ctx, setup s)
{
  kugel_sht *there = plan_of(ctx, &s, KUGEL_SHT_CONNECTION), *here = plan_of(NULL, &s, KUGEL_SHT_CONNECTION);
  for (int which = 0; which < (analyses(s.kind) ? 4 : 2); which++)
    for (int single = 0; single < 2 && (!single || s.lmax == 21); single++) {
      double e = differ(here, there, &s, which, single);
      if (!(e <= (single ? 3e-7 : 5e-15)))
        CHECK_FAIL("kind %d, lmax %lld, mmax %lld, verb %d, single %d: %g", s.kind, (long long)s.lmax,
                   (long long)s.mmax, which, single, e);
    }
  kugel_sht_destroy(there);
  kugel_sht_destroy(here);
  kugel_grid_destroy(s.grid);
}

static kugel_grid *fejer(int64_t n, int64_t mmax)
{
  return grid_of(KUGEL_GRID_FEJER1, n, 2 * mmax + 1, 0.3);
}

static void equal_rings(kugel_ctx *ctx)
{
  static const int64_t lmax[] = {0, 2, 21};
  for (int kind = 0; kind < KINDS; kind++)
    for (int i = 0; i < 3; i++) {
      with_cpu(ctx, (setup){fejer(lmax[i] + 1, lmax[i]), kind, 0, lmax[i], lmax[i]});
      if (lmax[i] == 21)
        with_cpu(ctx, (setup){fejer(23, 7), kind, 1, 21, 7});
    }
}

static void other_grids(kugel_ctx *ctx)
{
  static const kugel_grid_kind grids[] = {KUGEL_GRID_HEALPIX, KUGEL_GRID_GAUSS, KUGEL_GRID_CLENSHAW_CURTIS};
  for (int i = 0; i < 3; i++)
    for (int kind = i; kind < KINDS; kind += 3)
      with_cpu(ctx, (setup){grid_of(grids[i], i ? 16 : 8, 40, 0.1), kind, 0, 13, i ? 13 : 12});
}

/* Orders of many steps, several passes of the array: every coefficient comes back, and the recurrence agrees within its error. */
static void long_chains(kugel_ctx *ctx)
{
  for (int kind = 0; kind < 3; kind += 2) {
    setup s = {fejer(128, 127), kind, 0, 127, 127};
    shape h = shape_of(kinds[kind].mode, kinds[kind].spin);
    kugel_sht *p = plan_of(ctx, &s, KUGEL_SHT_CONNECTION), *other = plan_of(ctx, &s, KUGEL_SHT_RECURRENCE);
    kugel_sht_info info = {.size = sizeof info};
    CHECK_OK(kugel_sht_get_info(p, &info));
    CHECK(info.parts == 1 && info.device_bytes > 0);
    double *a = random_alm(h.alm, 127, 127, h.lowest), *b = calloc((size_t)(h.alm * info.nalm), 16),
           *f = calloc((size_t)(h.map * info.npix), 8);
    const kugel_array *map = KUGEL_ARRAY(f, KUGEL_F64, h.map, info.npix);
    CHECK_OK(kugel_sht_synthesis(p, KUGEL_ARRAY(a, KUGEL_C128, h.alm, info.nalm), map, NULL));
    CHECK_OK(kugel_sht_analysis(p, map, KUGEL_ARRAY(b, KUGEL_C128, h.alm, info.nalm), NULL));
    CHECK_LE(check_l2(b, a, (size_t)(2 * h.alm * info.nalm)), 5e-15);
    CHECK_LE(differ(p, other, &s, 0, false), 5e-13);
    CHECK_LE(differ(p, other, &s, 1, false), 5e-13);
    kugel_sht_destroy(p);
    kugel_sht_destroy(other);
    kugel_grid_destroy(s.grid);
    free(a), free(b), free(f);
  }
}

/* Arrays in the device's memory: a batch with gaps before it, on a queue; least squares. */
static void on_device(kugel_ctx *ctx)
{
  setup s = {fejer(22, 21), 2, 0, 21, 21};
  kugel_sht *p = plan_of(ctx, &s, KUGEL_SHT_CONNECTION), *here = plan_of(NULL, &s, KUGEL_SHT_CONNECTION);
  kugel_sht_info info = {.size = sizeof info};
  CHECK_OK(kugel_sht_get_info(p, &info));
  int64_t sets[] = {3, 2, info.nalm}, maps[] = {3, 2, info.npix}, one[] = {2, info.nalm},
          single[] = {2, info.npix};
  size_t na = (size_t)(6 * info.nalm), nf = (size_t)(6 * info.npix);
  double *a = calloc(na, 16), *f = calloc(nf, 8), *want = calloc(nf, 8), *back = calloc(na, 16);
  static const int lowest[] = {2, 2};
  for (int i = 0; i < 3; i++) {
    double *r = random_alm(2, 21, 21, lowest);
    memcpy(a + 4 * i * info.nalm, r, (size_t)(2 * info.nalm) * 16);
    free(r);
  }
  CHECK_OK(kugel_sht_synthesis(here, KUGEL_ARRAY(a, KUGEL_C128, 3, 2, info.nalm),
                               KUGEL_ARRAY(want, KUGEL_F64, 3, 2, info.npix), NULL));
  void *alm, *map;
  kugel_queue *queue;
  kugel__device *device = kugel__ctx_device(ctx);
  CHECK_OK(kugel_queue_create(ctx, &queue));
  CHECK_OK(kugel_device_alloc(ctx, na * 16 + 512, &alm));
  CHECK_OK(kugel_device_alloc(ctx, nf * 8 + 512, &map));
  kugel_array x = {.data = alm,
                   .byte_offset = 512,
                   .device = ctx->device,
                   .ndim = 3,
                   .dtype = KUGEL_C128,
                   .shape = sets},
              y = {.data = map,
                   .byte_offset = 512,
                   .device = ctx->device,
                   .ndim = 3,
                   .dtype = KUGEL_F64,
                   .shape = maps};
  CHECK_OK(
      kugel__device_copy(device, KUGEL__UPLOAD, (kugel__mem){alm, 512}, (kugel__mem){a, 0}, na * 16, queue));
  CHECK_OK(kugel_sht_synthesis(p, &x, &y, queue));
  CHECK_OK(
      kugel__device_copy(device, KUGEL__DOWNLOAD, (kugel__mem){f, 0}, (kugel__mem){map, 512}, nf * 8, queue));
  CHECK_OK(kugel_queue_wait(queue));
  CHECK_LE(check_l2(f, want, nf), 5e-15);
  CHECK_OK(kugel__device_fill(device, (kugel__mem){alm, 512}, 255, na * 16, queue));
  CHECK_OK(kugel_sht_analysis(p, &y, &x, queue));
  CHECK_OK(kugel__device_copy(device, KUGEL__DOWNLOAD, (kugel__mem){back, 0}, (kugel__mem){alm, 512}, na * 16,
                              queue));
  CHECK_OK(kugel_queue_wait(queue));
  CHECK_LE(check_l2(back, a, 2 * na), 5e-15);
  x.ndim = y.ndim = 2;
  x.shape = one;
  y.shape = single;
  CHECK_OK(kugel_sht_solve(p, &y, &x, NULL, NULL, queue));
  CHECK_OK(kugel__device_copy(device, KUGEL__DOWNLOAD, (kugel__mem){back, 0}, (kugel__mem){alm, 512},
                              (size_t)(2 * info.nalm) * 16, queue));
  CHECK_OK(kugel_queue_wait(queue));
  CHECK_LE(check_l2(back, a, (size_t)(4 * info.nalm)), 1e-9);
  kugel_queue_destroy(queue);
  kugel_device_free(ctx, alm);
  kugel_device_free(ctx, map);
  free(a), free(f), free(want), free(back);
  kugel_sht_destroy(p);
  kugel_sht_destroy(here);
  kugel_grid_destroy(s.grid);
}

static void refusals(kugel_ctx *ctx, bool several)
{
  kugel_grid *g = fejer(64, 63);
  kugel_sht *p = NULL;
  kugel_sht_opts o = {.size = sizeof o, .grid = g, .lmax = 63, .engine = KUGEL_SHT_CONNECTION};
  kugel_ctx_limit_memory(ctx, 100000);
  CHECK_IS(kugel_sht_create(ctx, &o, &p), KUGEL_ENOMEM);
  CHECK(strstr(kugel_last_error(), "100000 are allowed: take KUGEL_SHT_RECURRENCE"));
  kugel_ctx_limit_memory(ctx, 0);
  o.mode = KUGEL_SHT_SPIN;
  o.spin = 33;
  CHECK_IS(kugel_sht_create(ctx, &o, &p), KUGEL_ENOTSUP);
  CHECK(strstr(kugel_last_error(), "spins to 32"));
  kugel_ctx *two = NULL;
  if (several) {
    CHECK_OK(
        kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = every_pair("")}, &two));
    o.spin = 2;
    CHECK_IS(kugel_sht_create(two, &o, &p), KUGEL_ENOTSUP);
    CHECK(strstr(kugel_last_error(), "runs on one device, and the context has 2"));
    kugel_ctx_destroy(two);
  }
  kugel_grid_destroy(g);
}

static kugel_status once(kugel_ctx *ctx, void *arg)
{
  setup *s = arg;
  shape h = shape_of(kinds[s->kind].mode, kinds[s->kind].spin);
  static double a[400], f[400];
  kugel_sht *p = NULL;
  kugel_sht_opts o = {.size = sizeof o,
                      .grid = s->grid,
                      .lmax = s->lmax,
                      .mode = kinds[s->kind].mode,
                      .spin = kinds[s->kind].spin,
                      .engine = KUGEL_SHT_CONNECTION};
  kugel_status status = kugel_sht_create(ctx, &o, &p);
  int64_t nalm = (s->lmax + 1) * (s->lmax + 2) / 2, npix = (s->lmax + 1) * (2 * s->lmax + 1);
  if (!status)
    status = kugel_sht_synthesis(p, KUGEL_ARRAY(a, KUGEL_C128, h.alm, nalm),
                                 KUGEL_ARRAY(f, KUGEL_F64, h.map, npix), NULL);
  if (!status)
    status = kugel_sht_analysis(p, KUGEL_ARRAY(f, KUGEL_F64, h.map, npix),
                                KUGEL_ARRAY(a, KUGEL_C128, h.alm, nalm), NULL);
  kugel_sht_destroy(p);
  return status;
}

int main(void)
{
  kugel_device_info info;
  for (int index = 0; every_device(&index, true, &info);) {
    kugel_ctx *ctx;
    if (!info.fp64 || every_miscompiles(&info))
      continue;
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    CASE(every_title(&info, "equidistant rings: the CPU's transforms, every verb, floats, iterations"))
    {
      equal_rings(ctx);
    }
    CASE(every_title(&info, "other grids: the CPU's transforms"))
    {
      other_grids(ctx);
    }
    CASE(every_title(&info, "lmax = 127: coefficients come back, and the recurrence agrees"))
    {
      long_chains(ctx);
    }
    CASE(every_title(&info, "arrays of the device, a batch, a queue, least squares"))
    {
      on_device(ctx);
    }
    CASE(every_title(&info, "what cannot be"))
    {
      refusals(ctx, every_several(&info));
    }
    CASE(every_title(&info, "every call of the driver and every allocation may fail"))
    {
      setup s = {fejer(6, 5), 4, 0, 5, 5};
      sweep_memory(ctx, 60, once, &s);
      sweep_driver(ctx, 60, once, &s);
      kugel_grid_destroy(s.grid);
    }
    kugel_ctx_destroy(ctx);
  }
  END();
}
