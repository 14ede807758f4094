/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Transforms on every device present against those on the CPU: grids, modes, types of numbers, device arrays,
 * queues, adjoints, failures. */
#include <complex.h>
#include "core/alloc.h"
#include "device/device.h"
#include "device/every.h"
#include "sphere/info.h"
#include <kugel/device.h>
#include <kugel/sphere.h>

static uint64_t seed = 1;

static kugel_grid *make_grid(kugel_grid_kind kind, int64_t a, int64_t b, double phi0)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = kind, .nside = a, .ntheta = a, .nphi = b, .phi0 = phi0};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static kugel_sht_opts opts_of(const kugel_grid *g, int64_t lmax, int64_t mmax, kugel_sht_mode mode)
{
  return (kugel_sht_opts){.size = sizeof(kugel_sht_opts),
                          .grid = g,
                          .lmax = lmax,
                          .mmax = mmax,
                          .mode = mode,
                          .spin = mode == KUGEL_SHT_SPIN ? 2 : 0};
}

static double *random_numbers(int64_t n)
{
  double *x = malloc((size_t)n * 8 + 8);
  for (int64_t i = 0; i < n; i++)
    x[i] = check_random(&seed);
  return x;
}

static double rms(int64_t n, const double *x)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += x[i] * x[i];
  return sqrt(sum / (double)n);
}

// Relative, in the norm of the documented accuracy: L2.
static double difference(int64_t n, const double *x, const double *y)
{
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    sum += isfinite(x[i]) && isfinite(y[i]) ? (x[i] - y[i]) * (x[i] - y[i]) : INFINITY;
  return sum > 0 ? sqrt(sum / (double)n) / rms(n, y) : 0;
}

typedef struct pair {
  kugel_sht *cpu, *gpu;
  int64_t nalm, npix;
  int n_alm, n_map;
} pair;

static bool make_plans(kugel_ctx *ctx, kugel_sht_opts o, pair *p)
{
  *p = (pair){.cpu = NULL};
  CHECK_OK(kugel_sht_create(NULL, &o, &p->cpu));
  CHECK_OK(kugel_sht_create(ctx, &o, &p->gpu));
  if (!p->cpu || !p->gpu)
    return false;
  CHECK_OK(sht_shape(p->cpu, &p->nalm, &p->npix, &p->n_alm, &p->n_map));
  return true;
}

static void drop(pair *p)
{
  kugel_sht_destroy(p->cpu);
  kugel_sht_destroy(p->gpu);
}

/* Host arrays, both ways. */
static void compare(kugel_ctx *ctx, kugel_sht_opts o)
{
  pair p;
  if (!make_plans(ctx, o, &p))
    return;
  int64_t na = p.n_alm * p.nalm, nm = p.n_map * p.npix;
  double bound = 1e-13 * sqrt(fmax((double)o.lmax, 100) / 100);
  double *alm = random_numbers(2 * na), *map = calloc((size_t)nm, 8), *want = calloc((size_t)nm, 8);
  double *back = calloc((size_t)na, 16), *back_want = calloc((size_t)na, 16);
  kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, p.n_alm, p.nalm),
              *m = KUGEL_ARRAY(map, KUGEL_F64, p.n_map, p.npix);
  kugel_array *w = KUGEL_ARRAY(want, KUGEL_F64, p.n_map, p.npix);
  CHECK_OK(kugel_sht_synthesis(p.cpu, a, w, NULL));
  CHECK_OK(kugel_sht_synthesis(p.gpu, a, m, NULL));
  CHECK_LE(difference(nm, map, want), bound);
  printf("  lmax %4lld mmax %4lld mode %d spin %d: synthesis %.1e", (long long)o.lmax, (long long)o.mmax,
         (int)o.mode, o.spin, difference(nm, map, want));
  CHECK_OK(kugel_sht_synthesis_adjoint(p.cpu, w, KUGEL_ARRAY(back_want, KUGEL_C128, p.n_alm, p.nalm), NULL));
  CHECK_OK(kugel_sht_synthesis_adjoint(p.gpu, w, KUGEL_ARRAY(back, KUGEL_C128, p.n_alm, p.nalm), NULL));
  CHECK_LE(difference(2 * na, back, back_want), bound);
  printf(" adjoint %.1e\n", difference(2 * na, back, back_want));
  free(alm);
  free(map);
  free(want);
  free(back);
  free(back_want);
  drop(&p);
}

static void grids(kugel_ctx *ctx)
{
  static const struct {
    kugel_grid_kind kind;
    int64_t a, b, lmax, mmax;
    double phi0;
  } cases[] = {
      {KUGEL_GRID_HEALPIX, 8, 0, 16, 0, 0},         {KUGEL_GRID_HEALPIX, 1, 0, 2, 0, 0},
      {KUGEL_GRID_HEALPIX, 16, 0, 47, 0, 0},        {KUGEL_GRID_HEALPIX, 32, 0, 95, 40, 0},
      {KUGEL_GRID_HEALPIX, 64, 0, 191, 0, 0},       {KUGEL_GRID_GAUSS, 65, 131, 64, 0, 0.3},
      {KUGEL_GRID_GAUSS, 40, 30, 39, 0, 1},         {KUGEL_GRID_GAUSS, 3, 6000, 2, 0, 0.3},
      {KUGEL_GRID_GAUSS, 3, 4095, 2, 0, 0.3},       {KUGEL_GRID_GAUSS, 3, 9001, 2, 0, 0.3},
      {KUGEL_GRID_GAUSS, 3, 16384, 2, 0, 0.3}, // beyond shared memory
      {KUGEL_GRID_HEALPIX, 4, 0, 0, 0, 0},          {KUGEL_GRID_CLENSHAW_CURTIS, 34, 70, 31, 0, 0.2},
      {KUGEL_GRID_MCEWEN_WIAUX, 33, 65, 31, 20, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    kugel_grid *g = make_grid(cases[i].kind, cases[i].a, cases[i].b, cases[i].phi0);
    bool small = cases[i].b < 4000; // the rings' cases need no more than the first modes
    for (int mode = KUGEL_SHT_SCALAR; mode <= (small ? KUGEL_SHT_DER1 : KUGEL_SHT_TEB); mode++)
      compare(ctx, opts_of(g, cases[i].lmax, cases[i].mmax, (kugel_sht_mode)mode));
    kugel_sht_opts one = opts_of(g, cases[i].lmax, cases[i].mmax, KUGEL_SHT_SPIN);
    one.spin = 1;
    if (small)
      compare(ctx, one);
    for (one.spin = 3; one.spin < 20 && i < 3; one.spin += 14) // beyond lmax too
      compare(ctx, one);
    kugel_grid_destroy(g);
  }
}

/* ---- arrays in device memory, queues, batches, single precision ---- */

enum { NSIDE = 8, LMAX = 20, BATCH = 11 }; // 4 or 8 scalar maps go together, the last three too

static kugel_array on_device(kugel_ctx *ctx, const kugel_device_info *info, kugel_array host,
                             const void *data, size_t bytes)
{
  void *p = NULL;
  CHECK_OK(kugel_device_alloc(ctx, bytes + 64, &p));
  if (data)
    CHECK_OK(kugel_device_upload(ctx, p, 32, data, bytes, NULL));
  host.data = p;
  host.byte_offset = 32;
  host.device = info->device;
  return host;
}

static void check_arrays(kugel_ctx *ctx, const kugel_device_info *info, kugel_sht_mode mode)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 2 * NSIDE, 0, 0); // with polar pairs
  kugel_queue *queue = NULL;
  pair p;
  CHECK_OK(kugel_queue_create(ctx, &queue));
  if (make_plans(ctx, opts_of(g, LMAX, 0, mode), &p)) {
    int64_t na = BATCH * p.n_alm * p.nalm, nm = BATCH * p.n_map * p.npix;
    double *alm = random_numbers(2 * na), *map = calloc((size_t)nm, 8), *want = calloc((size_t)nm, 8);
    double *back = calloc((size_t)na, 16), *back_want = calloc((size_t)na, 16);
    kugel_array *ha = KUGEL_ARRAY(alm, KUGEL_C128, BATCH, p.n_alm, p.nalm);
    kugel_array *hm = KUGEL_ARRAY(want, KUGEL_F64, BATCH, p.n_map, p.npix);
    kugel_array da = on_device(ctx, info, *ha, alm, (size_t)na * 16),
                dm = on_device(ctx, info, *hm, NULL, (size_t)nm * 8);
    CHECK_OK(kugel_sht_synthesis(p.cpu, ha, hm, NULL));
    CHECK_OK(kugel_sht_synthesis(p.gpu, &da, &dm, queue));
    CHECK_OK(kugel_queue_wait(queue));
    CHECK_OK(kugel_device_download(ctx, map, dm.data, 32, (size_t)nm * 8, NULL));
    CHECK_LE(difference(nm, map, want), 1e-13);
    kugel_array *hb = KUGEL_ARRAY(back_want, KUGEL_C128, BATCH, p.n_alm, p.nalm);
    CHECK_OK(kugel_sht_synthesis_adjoint(p.cpu, hm, hb, NULL));
    CHECK_OK(kugel_sht_synthesis_adjoint(p.gpu, &dm, &da, queue));
    CHECK_OK(kugel_queue_wait(queue));
    CHECK_OK(kugel_device_download(ctx, back, da.data, 32, (size_t)na * 16, NULL));
    CHECK_LE(difference(2 * na, back, back_want), 1e-13);
    if (mode < KUGEL_SHT_GRAD) {
      CHECK_OK(kugel_sht_analysis(p.cpu, hm, hb, NULL));
      CHECK_OK(kugel_sht_analysis(p.gpu, &dm, &da, queue));
      CHECK_OK(kugel_queue_wait(queue));
      CHECK_OK(kugel_device_download(ctx, back, da.data, 32, (size_t)na * 16, NULL));
      CHECK_LE(difference(2 * na, back, back_want), 1e-13);
    }
    double bad = NAN;
    CHECK_OK(kugel_device_upload(ctx, dm.data, 32 + 40, &bad, 8, NULL));
    CHECK_IS(kugel_sht_synthesis_adjoint(p.gpu, &dm, &da, NULL), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "1 NaN"));
    CHECK_OK(kugel_sht_synthesis(p.gpu, ha, &dm, NULL)); // host in, device out
    CHECK_OK(kugel_device_download(ctx, map, dm.data, 32, (size_t)nm * 8, NULL));
    CHECK_LE(difference(nm, map, want), 1e-13);
    da.byte_offset = 31;
    CHECK_IS(kugel_sht_synthesis(p.gpu, &da, &dm, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_sht_synthesis(p.cpu, &da, &dm, NULL), KUGEL_EDEVICE);
    CHECK_IS(kugel_sht_synthesis(p.gpu, &dm, &dm, NULL), KUGEL_ESHAPE);
    CHECK_IS(kugel_sht_synthesis(p.gpu, NULL, &dm, NULL), KUGEL_EINVAL);
    kugel_device_free(ctx, da.data);
    kugel_device_free(ctx, dm.data);
    free(alm);
    free(map);
    free(want);
    free(back);
    free(back_want);
  }
  drop(&p);
  kugel_queue_destroy(queue);
  kugel_grid_destroy(g);
}

/* Analysis with iterations and single precision, through host arrays. */
static void check_analysis(kugel_ctx *ctx, kugel_sht_mode mode)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, NSIDE, 0, 0);
  kugel_sht_opts o = opts_of(g, LMAX, 0, mode);
  o.iterations = 2;
  o.weights = KUGEL_WEIGHTS_RING;
  pair p;
  if (make_plans(ctx, o, &p)) {
    int64_t na = 2 * p.n_alm * p.nalm, nm = p.n_map * p.npix;
    double *map = random_numbers(nm), *alm = calloc((size_t)na, 8), *want = calloc((size_t)na, 8);
    kugel_array *m = KUGEL_ARRAY(map, KUGEL_F64, p.n_map, p.npix);
    CHECK_OK(kugel_sht_analysis(p.cpu, m, KUGEL_ARRAY(want, KUGEL_C128, p.n_alm, p.nalm), NULL));
    CHECK_OK(kugel_sht_analysis(p.gpu, m, KUGEL_ARRAY(alm, KUGEL_C128, p.n_alm, p.nalm), NULL));
    CHECK_LE(difference(na, alm, want), 3e-13);
    float *narrow = malloc((size_t)nm * 4), *out = malloc((size_t)na * 4);
    for (int64_t i = 0; i < nm; i++)
      narrow[i] = (float)map[i];
    CHECK_OK(kugel_sht_analysis(p.gpu, KUGEL_ARRAY(narrow, KUGEL_F32, p.n_map, p.npix),
                                KUGEL_ARRAY(out, KUGEL_C64, p.n_alm, p.nalm), NULL));
    CHECK_OK(kugel_sht_synthesis(p.gpu, KUGEL_ARRAY(out, KUGEL_C64, p.n_alm, p.nalm),
                                 KUGEL_ARRAY(narrow, KUGEL_F32, p.n_map, p.npix), NULL));
    CHECK_OK(kugel_sht_synthesis(p.cpu, KUGEL_ARRAY(want, KUGEL_C128, p.n_alm, p.nalm), m, NULL));
    for (int64_t i = 0; i < na; i++)
      alm[i] = (double)out[i];
    CHECK_LE(difference(na, alm, want), 1e-6);
    double *wide = malloc((size_t)nm * 8);
    for (int64_t i = 0; i < nm; i++)
      wide[i] = (double)narrow[i];
    CHECK_LE(difference(nm, wide, map), 1e-6);
    free(wide);
    free(narrow);
    free(out);
    free(map);
    free(alm);
    free(want);
  }
  drop(&p);
  kugel_grid_destroy(g);
}

static void download(kugel_ctx *ctx, const kugel_array *from, double *to, int64_t n)
{
  CHECK_OK(kugel_device_download(ctx, to, from->data, 32, (size_t)n * 8, NULL));
}

/* Refinement, pixel weights, the adjoint of analysis and least squares, with all arrays on the device. */
static void check_refined(kugel_ctx *ctx, const kugel_device_info *info, kugel_sht_mode mode,
                          kugel_weights weights)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, NSIDE, 0, 0);
  kugel_sht_opts o = opts_of(g, 2 * NSIDE, 0, mode);
  o.iterations = 2;
  o.weights = weights;
  o.bad_pixels = KUGEL_BAD_ZERO;
  pair p;
  if (make_plans(ctx, o, &p)) {
    int64_t na = 2 * p.n_alm * p.nalm, nm = p.n_map * p.npix;
    double *map = random_numbers(nm), *alm = calloc((size_t)na, 8), *want = calloc((size_t)na, 8);
    double *back = calloc((size_t)nm, 8), *back_want = calloc((size_t)nm, 8);
    map[17] = NAN;
    map[nm - 5] = KUGEL_UNSEEN;
    kugel_array *m = KUGEL_ARRAY(map, KUGEL_F64, p.n_map, p.npix),
                *a = KUGEL_ARRAY(want, KUGEL_C128, p.n_alm, p.nalm);
    kugel_array dm = on_device(ctx, info, *m, map, (size_t)nm * 8),
                da = on_device(ctx, info, *a, alm, (size_t)na * 8);
    CHECK_OK(kugel_sht_analysis(p.cpu, m, a, NULL));
    CHECK_OK(kugel_sht_analysis(p.gpu, &dm, &da, NULL));
    download(ctx, &da, alm, na);
    CHECK_LE(difference(na, alm, want), 3e-13);
    CHECK_OK(kugel_sht_analysis(p.gpu, m, &da, NULL)); // host in, device out
    download(ctx, &da, alm, na);
    CHECK_LE(difference(na, alm, want), 3e-13);
    kugel_solve_opts so = {.size = sizeof so, .tolerance = 1e-9, .max_iterations = 200};
    kugel_solve_stats stats = {0}, stats_want = {0};
    CHECK_OK(kugel_sht_solve(p.cpu, m, a, &so, &stats_want, NULL));
    CHECK_OK(kugel_sht_solve(p.gpu, &dm, &da, &so, &stats, NULL));
    download(ctx, &da, alm, na);
    CHECK_LE(difference(na, alm, want), 1e-7);
    CHECK(abs(stats.iterations - stats_want.iterations) <= 1 && stats.normal_residual <= 1e-9);
    CHECK_LE(fabs(stats.residual - stats_want.residual), 1e-12);
    so.max_iterations = 2;
    CHECK_IS(kugel_sht_solve(p.gpu, &dm, &da, &so, &stats, NULL), KUGEL_ECONVERGE);
    CHECK(stats.iterations == 2);
    CHECK_OK(kugel_device_upload(ctx, da.data, 32, want, (size_t)na * 8, NULL));
    CHECK_OK(kugel_sht_analysis_adjoint(p.cpu, a, KUGEL_ARRAY(back_want, KUGEL_F64, p.n_map, p.npix), NULL));
    CHECK_OK(kugel_sht_analysis_adjoint(p.gpu, &da, &dm, NULL));
    download(ctx, &dm, back, nm);
    CHECK_LE(difference(nm, back, back_want), 3e-13);
    kugel_device_free(ctx, da.data);
    kugel_device_free(ctx, dm.data);
    free(map);
    free(alm);
    free(want);
    free(back);
    free(back_want);
  }
  drop(&p);
  kugel_grid_destroy(g);
}

/* Every driver call and every allocation of create and of both verbs fails once: a status, nothing left. Single
 * precision makes kernels and tables of its own in the first call. */
static void check_faults(kugel_ctx *ctx, bool f32)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 16, 0, 0); // with polar pairs
  kugel_sht_opts o = opts_of(g, 5, 0, KUGEL_SHT_SCALAR);
  static double alm[2 * 21], map[3072];
  kugel_array *a = KUGEL_ARRAY(alm, f32 ? KUGEL_C64 : KUGEL_C128, 21),
              *m = KUGEL_ARRAY(map, f32 ? KUGEL_F32 : KUGEL_F64, 3072);
  int64_t (*const kinds[])(int64_t) = {kugel__fault_device, kugel__fault_alloc};
  for (int kind = 0; kind < 2; kind++) {
    uint64_t before = 0, after = 0;
    int n = 1;
    for (; n < 400; n++) {
      kugel_sht *p = NULL;
      memset(alm, 0, sizeof alm);
      alm[0] = 1; // as floats 0 and 1.875
      if (n == 2)
        kugel_ctx_memory(ctx, &before, NULL);
      kinds[kind](n);
      kugel_status s = kugel_sht_create(ctx, &o, &p);
      if (!s)
        s = kugel_sht_synthesis(p, a, m, NULL);
      if (!s)
        s = kugel_sht_synthesis_adjoint(p, m, a, NULL);
      kinds[kind](0);
      kugel_sht_destroy(p);
      kugel_ctx_trim(ctx);
      kugel_ctx_memory(ctx, &after, NULL);
      if (!s)
        break;
      CHECK(strlen(kugel_last_error()) > 10);
      CHECK(n < 3 || before == after);
    }
    printf("  %d %s\n", n - 1, kind ? "allocations" : "driver calls");
    CHECK(n > 10 && n < 400);
  }
  kugel_grid_destroy(g);
}

int main(void)
{
  kugel_device_info info;
  for (int i = 0; every_device(&i, true, &info);) {
    kugel_ctx *ctx = NULL;
    kugel_ctx_opts o = {.size = sizeof o, .device = info.name};
    if (info.device.type == KUGEL_CPU)
      continue;
    CASE(every_title(&info, "grids and modes against the CPU"))
    {
      CHECK_OK(kugel_ctx_create(&o, &ctx));
      if (ctx)
        grids(ctx);
    }
    CASE(every_title(&info, "device arrays, queues, batches"))
    for (int mode = 0; ctx && mode <= KUGEL_SHT_DER1; mode++)
      check_arrays(ctx, &info, (kugel_sht_mode)mode);
    CASE(every_title(&info, "analysis, single precision"))
    for (int mode = 0; ctx && mode < 3; mode++)
      check_analysis(ctx, (kugel_sht_mode)mode);
    CASE(every_title(&info, "refined analysis, least squares on the device"))
    for (int mode = 0; ctx && mode < 3; mode++)
      check_refined(ctx, &info, (kugel_sht_mode)mode, mode == 1 ? KUGEL_WEIGHTS_PIXEL : KUGEL_WEIGHTS_RING);
    CASE(every_title(&info, "each driver call and allocation fails"))
    for (int f32 = 0; ctx && f32 < 2; f32++)
      check_faults(ctx, f32);
    kugel_ctx_destroy(ctx);
  }
  END();
}
