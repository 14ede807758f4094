/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Radial sums on every device present: the same numbers as on the CPU. */
#include "check.h"
#include "core/alloc.h"
#include <kugel/kugel.h>

static uint64_t seed = 2;

typedef struct sky {
  kugel_grid_opts grid;
  double width, radius;
  kugel_radial_kernel kernel;
  int normalise;
  kugel_radial_method method;
} sky;

static kugel_radial_opts options(const sky *k, const kugel_grid *g)
{
  kugel_radial_opts o = {
      .size = sizeof o, .grid = g, .kernel = k->kernel, .width = k->width, .radius = k->radius};
  o.method = k->method;
  o.tolerance = k->method == KUGEL_RADIAL_DIRECT ? 0 : 1e-13;
  o.normalise_mask = k->normalise;
  o.norm = k->kernel == KUGEL_RADIAL_MEXICAN_HAT ? KUGEL_RADIAL_UNIT_PEAK : KUGEL_RADIAL_UNIT_INTEGRAL;
  return o;
}

/* One plan on ctx: convolution and adjoint (unless normalised) of two maps. */
static void convolve(kugel_ctx *ctx, const sky *k, const kugel_grid *g, bool f32, const void *in, void *out,
                     void *back)
{
  kugel_radial *p = NULL;
  kugel_radial_opts o = options(k, g);
  CHECK_OK(kugel_radial_create(ctx, &o, &p));
  kugel_dtype type = f32 ? KUGEL_F32 : KUGEL_F64;
  int64_t n = kugel_grid_npix(g);
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY((void *)in, type, 2, n), KUGEL_ARRAY(out, type, 2, n), NULL));
  if (!k->normalise)
    CHECK_OK(
        kugel_radial_adjoint(p, KUGEL_ARRAY((void *)in, type, 2, n), KUGEL_ARRAY(back, type, 2, n), NULL));
  kugel_radial_destroy(p);
}

static double magnitude(double angle, void *plan)
{
  double v = 0;
  CHECK_OK(kugel_radial_evaluate(plan, 1, &angle, &v));
  return fabs(v);
}

static double one(double angle, void *user)
{
  (void)user, (void)angle;
  return 1;
}

/* What rounding to float32 may do to each sum: with u = 2^-24, a term has five roundings (pixel, weight,
 * their product, kernel, product with it) and N - 1 additions, and the adjoint's weight adds two: at most (N
 * + 6) u sum |K w f|. The quotient of two such sums (normalised) has twice that and its own. */
static void roundings(const sky *k, const kugel_grid *g, const double *in, double *bound, double *bound_t)
{
  int64_t n = kugel_grid_npix(g), nr = kugel_grid_nrings(g);
  kugel_radial *p = NULL, *sizes = NULL, *counts = NULL;
  kugel_radial_info info = {.size = sizeof info};
  kugel_radial_opts o = options(k, g);
  o.normalise_mask = 0;
  o.method = KUGEL_RADIAL_DIRECT;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_radial_get_info(p, &info));
  o.kernel = KUGEL_RADIAL_FUNCTION;
  o.norm = KUGEL_RADIAL_AS_IS;
  o.radius = info.radius;
  o.user = p;
  o.function = magnitude;
  CHECK_OK(kugel_radial_create(NULL, &o, &sizes));
  o.function = one;
  CHECK_OK(kugel_radial_create(NULL, &o, &counts));
  double *block = calloc((size_t)(5 * n), 8), *inverse = block, *count = block + n, *f = count + n;
  double *weight = malloc((size_t)nr * 8), least = INFINITY;
  int64_t *nphi = malloc((size_t)nr * 8), *first = malloc((size_t)nr * 8);
  CHECK_OK(kugel_grid_rings(g, NULL, nphi, NULL, first, weight));
  for (int64_t r = 0; r < nr; r++)
    for (int64_t i = 0; i < nphi[r]; i++)
      inverse[first[r] + i] = 1 / weight[r];
  for (int64_t i = 0; i < 2 * n; i++)
    f[i] = in[i] < -1e30 ? 0 : fabs(in[i]);
  const kugel_array *pair = KUGEL_ARRAY(f, KUGEL_F64, 2, n);
  CHECK_OK(kugel_radial_execute(counts, KUGEL_ARRAY(inverse, KUGEL_F64, n), KUGEL_ARRAY(count, KUGEL_F64, n),
                                NULL));
  CHECK_OK(kugel_radial_execute(sizes, pair, KUGEL_ARRAY(bound, KUGEL_F64, 2, n), NULL));
  CHECK_OK(kugel_radial_adjoint(sizes, pair, KUGEL_ARRAY(bound_t, KUGEL_F64, 2, n), NULL));
  if (k->normalise) { /* sums over the observed pixels' weights, which the quotient divides by */
    for (int64_t i = 0; i < 2 * n; i++)
      f[i] = in[i] < -1e30 ? 0 : 1;
    CHECK_OK(kugel_radial_execute(sizes, pair, pair, NULL));
  }
  for (int64_t i = 0; i < 2 * n; i++) {
    double u = ldexp(count[i % n] + 6, -24);
    bound[i] *= k->normalise ? (2 * u + ldexp(1, -24)) / f[i] : u;
    bound_t[i] *= u;
    least = fmin(least, count[i % n]);
  }
  CHECK(least > 0.9);
  kugel_radial_destroy(p), kugel_radial_destroy(sizes), kugel_radial_destroy(counts);
  free(block), free(weight), free(nphi), free(first);
}

static void compare(kugel_ctx *ctx, const sky *k)
{
  kugel_grid *g = NULL;
  CHECK_OK(kugel_grid_create(NULL, &k->grid, &g));
  int64_t n = 2 * kugel_grid_npix(g);
  double *block = calloc((size_t)n * 7, 8), *in = block, *want = in + n, *got = want + n, *want_t = got + n,
         *got_t = want_t + n, *bound = got_t + n, *bound_t = bound + n;
  float *in32 = malloc((size_t)n * 4), *got32 = calloc((size_t)n, 4), *got32_t = calloc((size_t)n, 4);
  for (int64_t i = 0; i < n; i++) {
    in[i] = i % 7 == 3 ? KUGEL_UNSEEN : 2 + check_random(&seed);
    in32[i] = (float)in[i];
  }
  convolve(NULL, k, g, false, in, want, want_t);
  convolve(ctx, k, g, false, in, got, got_t);
  convolve(ctx, k, g, true, in32, got32, got32_t);
  roundings(k, g, in, bound, bound_t);
  for (int64_t i = 0; i < n; i++) {
    bool unseen = want[i] < -1e30;
    CHECK(unseen == (got[i] < -1e30) && unseen == (got32[i] < -1e30f));
    if (unseen)
      want[i] = got[i] = 0, got32[i] = got32_t[i] = 0, want_t[i] = got_t[i] = 0, bound[i] = 0;
  }
  double close = k->method == KUGEL_RADIAL_HARMONIC ? 1e-12 : 1e-13;
  CHECK_CLOSE(got, want, (size_t)n, close);
  CHECK_CLOSE(got_t, want_t, (size_t)n, close);
  for (int64_t i = 0; i < n; i++) {
    CHECK_LE(fabs(got32[i] - want[i]), bound[i]);
    CHECK_LE(fabs(got32_t[i] - want_t[i]), bound_t[i]);
  }
  kugel_grid_destroy(g);
  free(block), free(in32), free(got32), free(got32_t);
}

static void skies(kugel_ctx *ctx)
{
  static const double theta[] = {0.1, 0.4, 0.9, 1.1, 1.9, 2.9}, phi0[] = {0, 0.3, 5, -2, 0.7, 1};
  static const double weight[] = {0.1, 0.2, 0.3, 0.15, 0.05, 0.4};
  static const int64_t nphi[] = {1, 7, 12, 9, 12, 5};
  const kugel_grid_opts healpix = {.size = sizeof healpix, .kind = KUGEL_GRID_HEALPIX, .nside = 16};
  kugel_grid_opts odd = healpix, one = healpix, gauss = {.size = sizeof gauss, .kind = KUGEL_GRID_GAUSS};
  odd.nside = 5;
  one.nside = 1;
  gauss.ntheta = 17;
  gauss.nphi = 38;
  gauss.phi0 = 0.2;
  kugel_grid_opts custom = {.size = sizeof custom, .nrings = 6, .theta = theta, .ring_nphi = nphi};
  custom.ring_phi0 = phi0;
  custom.ring_weight = weight;
  const kugel_radial_method SUM = KUGEL_RADIAL_DIRECT, RINGS = KUGEL_RADIAL_RINGS,
                            HARMONIC = KUGEL_RADIAL_HARMONIC, PRINTED = KUGEL_RADIAL_ARKCOS;
  const sky all[] = {{healpix, 0.15, 0, KUGEL_RADIAL_GAUSSIAN, 0, SUM},
                     {healpix, 0.15, 0, KUGEL_RADIAL_GAUSSIAN, 1, SUM},
                     {healpix, 0.3, 0, KUGEL_RADIAL_TOP_HAT, 0, SUM},
                     {odd, 0.31, 0.5, KUGEL_RADIAL_GAUSSIAN, 0, SUM},
                     {odd, 2, 2.1, KUGEL_RADIAL_GAUSSIAN, 0, SUM},
                     {one, 0.3, 0.001, KUGEL_RADIAL_GAUSSIAN, 0, SUM},
                     {gauss, 0.3, 0, KUGEL_RADIAL_MEXICAN_HAT, 0, SUM},
                     {custom, 1.1, 1.3, KUGEL_RADIAL_GAUSSIAN, 0, SUM},
                     {healpix, 0.15, 0, KUGEL_RADIAL_GAUSSIAN, 0, RINGS},
                     {healpix, 0.15, 0, KUGEL_RADIAL_GAUSSIAN, 1, RINGS},
                     {healpix, 0.6, 0, KUGEL_RADIAL_GAUSSIAN, 0, RINGS},
                     {healpix, 0.3, 0, KUGEL_RADIAL_TOP_HAT, 1, RINGS},
                     {odd, 0.31, 0.5, KUGEL_RADIAL_GAUSSIAN, 0, RINGS},
                     {one, 1, 0, KUGEL_RADIAL_GAUSSIAN, 0, RINGS},
                     {gauss, 0.3, 0, KUGEL_RADIAL_MEXICAN_HAT, 0, RINGS},
                     {custom, 1.1, 1.3, KUGEL_RADIAL_GAUSSIAN, 0, RINGS},
                     {healpix, 0.3, 0, KUGEL_RADIAL_FISHER, 0, RINGS},
                     {healpix, 0.3, 0, KUGEL_RADIAL_GAUSSIAN, 0, PRINTED},
                     {healpix, 0.6, 0, KUGEL_RADIAL_GAUSSIAN, 0, HARMONIC},
                     {gauss, 0.6, 0, KUGEL_RADIAL_GAUSSIAN, 1, HARMONIC}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    compare(ctx, all + i);
}

static void faults(const char *name, kugel_radial_method method)
{
  kugel_grid_opts healpix = {.size = sizeof healpix, .kind = KUGEL_GRID_HEALPIX, .nside = 4};
  kugel_ctx *ctx = NULL;
  kugel_grid *g = NULL;
  double map[192] = {1};
  CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = name}, &ctx));
  CHECK_OK(kugel_grid_create(NULL, &healpix, &g));
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.5, .method = method};
  bool done = false;
  for (int64_t n = 1; n < 400 && !done; n++) {
    kugel_radial *p = NULL;
    kugel__fault_alloc(n);
    kugel_status s = kugel_radial_create(ctx, &o, &p);
    if (!s)
      s = kugel_radial_execute(p, KUGEL_ARRAY(map, KUGEL_F64, 192), KUGEL_ARRAY(map, KUGEL_F64, 192), NULL);
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
    kugel_radial_destroy(p);
    done = s != KUGEL_ENOMEM;
  }
  CHECK(done);
  kugel_grid_destroy(g);
  kugel_ctx_destroy(ctx);
}

int main(void)
{
  for (int i = 0; i < kugel_device_count(); i++) {
    kugel_device_info info = {.size = sizeof info};
    CHECK_OK(kugel_device_describe(i, &info));
    if (info.device.type == KUGEL_CPU || !info.available || !info.kernels || !info.fp64)
      continue;
    CASE(info.name)
    {
      kugel_ctx *ctx = NULL;
      CHECK_OK(
          kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
      skies(ctx);
      kugel_ctx_destroy(ctx);
    }
    CASE("failing allocations")
    {
      for (int method = KUGEL_RADIAL_DIRECT; method <= KUGEL_RADIAL_RINGS; method++)
        faults(info.name, (kugel_radial_method)method);
    }
  }
  END();
}
