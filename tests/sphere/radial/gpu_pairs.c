/* SPDX-License-Identifier: BSD-3-Clause */
/* LABEL: long. Pairs of maps with a spin, and kernels of displaced parts, on every device: the numbers of the
 * CPU. */
#include "check.h"
#include "core/alloc.h"
#include <kugel/kugel.h>

static uint64_t seed = 4;

static const double weight[] = {0.5, 0.3, 0.2, -0.1}, distance[] = {0, 0.07, 0.15, 0.3},
                    bearing[] = {0, 0.4, 2.5, -1};

static double largest(const double *a, int64_t n)
{
  double top = 0;
  for (int64_t i = 0; i < n; i++)
    top = a[i] < -1e30 ? top : fmax(top, fabs(a[i]));
  return top;
}

/* Unseen pixels agree, others to bound times the largest. */
static void same_maps(const double *got, const double *want, int64_t n, double bound)
{
  double worst = 0;
  int64_t unseen = 0;
  for (int64_t i = 0; i < n; i++) {
    unseen += (got[i] < -1e30) != (want[i] < -1e30);
    if (want[i] > -1e30)
      worst = fmax(worst, fabs(got[i] - want[i]));
  }
  CHECK_LE((double)unseen, 0);
  CHECK_LE(worst, bound * largest(want, n));
}

static void run(kugel_ctx *ctx, kugel_radial_opts o, bool adjoint, bool f32, const double *in, double *out)
{
  int64_t npix = kugel_grid_npix(o.grid), maps = o.spin ? 2 : 1, n = 2 * maps * npix;
  kugel_radial *p = NULL;
  CHECK_OK(kugel_radial_create(ctx, &o, &p));
  float *single = malloc((size_t)n * 4);
  for (int64_t i = 0; i < n; i++)
    single[i] = (float)in[i];
  memcpy(out, in, (size_t)n * 8);
  void *data = f32 ? (void *)single : (void *)out;
  kugel_dtype type = f32 ? KUGEL_F32 : KUGEL_F64;
  const kugel_array *pairs = KUGEL_ARRAY(data, type, 2, 2, npix), *plain = KUGEL_ARRAY(data, type, 2, npix);
  const kugel_array *a = o.spin ? pairs : plain;
  if (p) /* in place */
    CHECK_OK(adjoint ? kugel_radial_adjoint(p, a, a, NULL) : kugel_radial_execute(p, a, a, NULL));
  for (int64_t i = 0; i < n && f32; i++)
    out[i] = single[i];
  kugel_radial_destroy(p);
  free(single);
}

static void compare(kugel_ctx *ctx, kugel_radial_opts o)
{
  int64_t n = 2 * (o.spin ? 2 : 1) * kugel_grid_npix(o.grid);
  double *in = malloc((size_t)n * 8), *want = malloc((size_t)n * 8), *got = malloc((size_t)n * 8);
  for (int64_t i = 0; i < n; i++)
    in[i] = i % 11 == 3 ? KUGEL_UNSEEN : check_random(&seed);
  for (int adjoint = 0; adjoint <= (o.normalise_mask || o.nparts ? 0 : 1); adjoint++) {
    run(NULL, o, adjoint, false, in, want);
    run(ctx, o, adjoint, false, in, got);
    same_maps(got, want, n, 1e-13);
    run(ctx, o, adjoint, true, in, got);
    same_maps(got, want, n, 2e-5);
  }
  free(in), free(want), free(got);
}

static kugel_grid *make_grid(kugel_grid_kind kind, int64_t n)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {
      .size = sizeof o, .kind = kind, .nside = n, .ntheta = n, .nphi = 2 * n + 2, .phi0 = 0.2};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static void spins(kugel_ctx *ctx)
{
  static const int spin[] = {2, 1, -2, 3};
  kugel_grid *hp = make_grid(KUGEL_GRID_HEALPIX, 16), *gauss = make_grid(KUGEL_GRID_GAUSS, 24);
  for (int k = 0; k < 4; k++) {
    compare(ctx, (kugel_radial_opts){
                     .size = sizeof(kugel_radial_opts), .grid = hp, .width = 0.2, .spin = spin[k]});
    compare(ctx, (kugel_radial_opts){
                     .size = sizeof(kugel_radial_opts), .grid = gauss, .width = 0.3, .spin = spin[k]});
  }
  compare(ctx,
          (kugel_radial_opts){
              .size = sizeof(kugel_radial_opts), .grid = hp, .width = 0.1, .spin = 2, .normalise_mask = 1});
  compare(ctx, (kugel_radial_opts){.size = sizeof(kugel_radial_opts),
                                   .grid = hp,
                                   .kernel = KUGEL_RADIAL_TOP_HAT,
                                   .width = 2, /* past the poles, and beyond a hemisphere */
                                   .spin = 2});
  kugel_grid_destroy(hp);
  kugel_grid_destroy(gauss);
}

static void parts(kugel_ctx *ctx)
{
  kugel_grid *hp = make_grid(KUGEL_GRID_HEALPIX, 16), *gauss = make_grid(KUGEL_GRID_GAUSS, 24);
  double turn[64];
  for (int i = 0; i < 64; i++)
    turn[i] = sin(i);
  kugel_radial_opts o = {.size = sizeof o, .grid = hp, .width = 0.15, .nparts = 4, .part_weight = weight};
  o.part_distance = distance;
  o.part_bearing = bearing;
  compare(ctx, o);
  o.orientation = turn;
  compare(ctx, o);
  o.normalise_mask = 1;
  compare(ctx, o);
  o.grid = gauss;
  o.normalise_mask = 0;
  compare(ctx, o);
  kugel_grid_destroy(hp);
  kugel_grid_destroy(gauss);
}

typedef struct store {
  const double *in;
  double *out;
  int64_t npix;
} store;

static kugel_status give_pixels(void *user, int map, int64_t first, int64_t n, void *values)
{
  const store *s = user;
  memcpy(values, s->in + map * s->npix + first, (size_t)n * 8);
  return KUGEL_OK;
}

static kugel_status take_pixels(void *user, int map, int64_t first, int64_t n, const void *values)
{
  const store *s = user;
  memcpy(s->out + map * s->npix + first, values, (size_t)n * 8);
  return KUGEL_OK;
}

static kugel_status refuse(void *user, int map, int64_t first, int64_t n, void *values)
{
  (void)user, (void)map, (void)first, (void)n, (void)values;
  return KUGEL_EIO;
}

/* From function to function: the numbers of a map in memory, held whole and in blocks. */
static void streams(kugel_ctx *ctx)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 64);
  int64_t npix = kugel_grid_npix(g);
  double *in = malloc((size_t)(2 * npix) * 8), *want = malloc((size_t)(2 * npix) * 8),
         *got = malloc((size_t)(2 * npix) * 8);
  for (int64_t i = 0; i < 2 * npix; i++)
    in[i] = i % 9 == 1 ? KUGEL_UNSEEN : check_random(&seed);
  for (int k = 0; k < 5; k++) {
    kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.06, .method = KUGEL_RADIAL_DIRECT};
    o.spin = k == 1 ? 2 : 0;
    o.normalise_mask = k == 2;
    if (k == 4)
      o.method = KUGEL_RADIAL_RINGS;
    int64_t maps = o.spin ? 2 : 1;
    kugel_radial *p = NULL;
    kugel_radial_info info = {.size = sizeof info};
    CHECK_OK(kugel_ctx_limit_memory(ctx, k == 3 ? 2500000 : 0));
    CHECK_OK(kugel_radial_create(ctx, &o, &p));
    CHECK_OK(kugel_radial_get_info(p, &info));
    CHECK((k == 3) == (info.blocks > 1));
    CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(in, KUGEL_F64, maps, npix),
                                  KUGEL_ARRAY(want, KUGEL_F64, maps, npix), NULL));
    store s = {in, got, npix};
    kugel_radial_stream_opts so = {.size = sizeof so, .read = give_pixels, .write = take_pixels, .user = &s};
    CHECK_OK(kugel_radial_stream(p, &so));
    CHECK(!memcmp(got, want, (size_t)(maps * npix) * 8));
    so.read = refuse;
    CHECK_IS(kugel_radial_stream(p, &so), KUGEL_EIO);
    so.first = 1;
    CHECK_IS(kugel_radial_stream(p, &so), KUGEL_ENOTSUP);
    kugel_radial_destroy(p);
  }
  kugel_grid_destroy(g);
  free(in), free(want), free(got);
}

static void faults(kugel_ctx *ctx)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 4);
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.3, .spin = 2};
  kugel_status s = KUGEL_ENOMEM;
  for (int64_t n = 1; n < 500 && s; n++) {
    kugel_radial *p = NULL;
    kugel__fault_alloc(n);
    s = kugel_radial_create(ctx, &o, &p);
    CHECK((s == KUGEL_OK) == (p != NULL));
    kugel_radial_destroy(p);
  }
  kugel__fault_alloc(0);
  CHECK_OK(s);
  kugel_grid_destroy(g);
}

int main(void)
{
  for (int i = 0; i < kugel_device_count(); i++) {
    kugel_device_info info = {.size = sizeof info};
    kugel_ctx *ctx = NULL;
    CHECK_OK(kugel_device_describe(i, &info));
    if (info.device.type == KUGEL_CPU || !info.available || !info.kernels || !info.fp64)
      continue;
    char title[4][128];
    CHECK_OK(kugel_ctx_create(&(kugel_ctx_opts){.size = sizeof(kugel_ctx_opts), .device = info.name}, &ctx));
    snprintf(title[0], sizeof title[0], "%s: spins", info.name);
    CASE(title[0]) spins(ctx);
    snprintf(title[1], sizeof title[1], "%s: parts", info.name);
    CASE(title[1]) parts(ctx);
    snprintf(title[2], sizeof title[2], "%s: failing allocations", info.name);
    CASE(title[2]) faults(ctx);
    snprintf(title[3], sizeof title[3], "%s: streams", info.name);
    CASE(title[3]) streams(ctx);
    kugel_ctx_destroy(ctx);
  }
  END();
}
