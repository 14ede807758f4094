/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long: OpenCL compilers take their time. */
/* Transforms on every device present against those on the CPU: grids, modes, types of numbers, device arrays,
 * queues, adjoints, failures. */
#include <complex.h>
#include "core/alloc.h"
#include "device/device.h"
#include "device/every.h"
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

static double difference(int64_t n, const double *x, const double *y)
{
  double most = 0;
  for (int64_t i = 0; i < n; i++)
    most = fmax(most, isfinite(x[i]) && isfinite(y[i]) ? fabs(x[i] - y[i]) : INFINITY);
  return most > 0 ? most / rms(n, y) : 0;
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
  CHECK_OK(kugel_sht_shape(p->cpu, &p->nalm, &p->npix, &p->n_alm, &p->n_map));
  return true;
}

static void drop(pair *p)
{
  kugel_sht_destroy(p->cpu);
  kugel_sht_destroy(p->gpu);
}

/* Host arrays, both ways. */
static void compare(kugel_ctx *ctx, const kugel_grid *g, int64_t lmax, int64_t mmax, kugel_sht_mode mode)
{
  pair p;
  if (!make_plans(ctx, opts_of(g, lmax, mmax, mode), &p))
    return;
  int64_t na = p.n_alm * p.nalm, nm = p.n_map * p.npix;
  double bound = 1e-13 * sqrt(fmax((double)lmax, 100) / 100);
  double *alm = random_numbers(2 * na), *map = calloc((size_t)nm, 8), *want = calloc((size_t)nm, 8);
  double *back = calloc((size_t)na, 16), *back_want = calloc((size_t)na, 16);
  kugel_array *a = KUGEL_ARRAY(alm, KUGEL_C128, p.n_alm, p.nalm),
              *m = KUGEL_ARRAY(map, KUGEL_F64, p.n_map, p.npix);
  kugel_array *w = KUGEL_ARRAY(want, KUGEL_F64, p.n_map, p.npix);
  CHECK_OK(kugel_sht_synthesis(p.cpu, a, w, NULL));
  CHECK_OK(kugel_sht_synthesis(p.gpu, a, m, NULL));
  CHECK_LE(difference(nm, map, want), bound);
  printf("  lmax %4lld mmax %4lld mode %d: synthesis %.1e", (long long)lmax, (long long)mmax, (int)mode,
         difference(nm, map, want));
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
      {KUGEL_GRID_HEALPIX, 8, 0, 16, 0, 0},   {KUGEL_GRID_HEALPIX, 1, 0, 2, 0, 0},
      {KUGEL_GRID_HEALPIX, 16, 0, 47, 0, 0},  {KUGEL_GRID_HEALPIX, 32, 0, 95, 40, 0},
      {KUGEL_GRID_HEALPIX, 64, 0, 191, 0, 0}, {KUGEL_GRID_GAUSS, 65, 131, 64, 0, 0.3},
      {KUGEL_GRID_GAUSS, 40, 30, 39, 0, 1},   {KUGEL_GRID_HEALPIX, 4, 0, 0, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    kugel_grid *g = make_grid(cases[i].kind, cases[i].a, cases[i].b, cases[i].phi0);
    for (int mode = KUGEL_SHT_SCALAR; mode <= KUGEL_SHT_TEB; mode++)
      compare(ctx, g, cases[i].lmax, cases[i].mmax, (kugel_sht_mode)mode);
    kugel_grid_destroy(g);
  }
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
    kugel_ctx_destroy(ctx);
  }
  END();
}
