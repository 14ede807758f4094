/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once, LABEL: long. Direct sums and sums by series along rings against the sum over pixels in long
 * double: all grids, rings in caps, belt and at the poles, odd supports, cut-offs past a pole, past the
 * hemisphere and none, float64 and float32. Prints the largest error of each. */
#include <stdbool.h>
#include "check.h"
#include <kugel/radial.h>

static uint64_t seed = 77;

/* Of the pixels compared. */
static int64_t step_of(int64_t npix)
{
  return npix < 100 ? 1 : 23;
}

typedef struct shape {
  kugel_grid_kind kind;
  int64_t n, nphi;
  double phi0;
} shape;

typedef struct kind {
  const char *name;
  kugel_radial_kernel kernel;
  double width, radius;
  double cusp; /* at opposite points, whose angle is known to 1e-8: the error that this leaves; 0: none */
} kind;

static long double value_of(const kind *k, long double a)
{
  long double w = k->width, y, s, f;
  switch (k->kernel) {
  case KUGEL_RADIAL_GAUSSIAN:
    return expl(-4 * logl(2) * (a / w) * (a / w));
  case KUGEL_RADIAL_TOP_HAT:
    return a <= w;
  case KUGEL_RADIAL_MEXICAN_HAT:
    y = 2 * tanl(a / 2);
    return (1 + y * y / 4) * (1 + y * y / 4) * (2 - y / w * y / w) * expl(-y / w * y / w / 2);
  case KUGEL_RADIAL_FISHER: {
    s = sinl(a / 2), f = sinl(w / 4);
    long double kappa = logl(2) / (2 * f * f);
    return kappa / (-2 * M_PIl * expm1l(-2 * kappa)) * expl(-2 * kappa * s * s);
  }
  default:
    return 1 / (1 + a / w);
  }
}

static double cone(double a, void *user)
{
  return 1 / (1 + a / *(double *)user);
}

static kugel_grid *make_grid(const shape *s)
{
  static const double theta[] = {0.1, 0.4, 0.9, 1.1, 1.9, 2.9}, phi0[] = {0, 0.3, 5, -2, 0.7, 1};
  static const double weight[] = {0.1, 0.2, 0.3, 0.15, 0.05, 0.4};
  static const int64_t nphi[] = {1, 9, 12, 9, 12, 5};
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = s->kind, .nside = s->n, .ntheta = s->n, .nphi = s->nphi};
  o.phi0 = s->phi0;
  if (s->kind == KUGEL_GRID_CUSTOM) {
    o = (kugel_grid_opts){.size = sizeof o, .nrings = 6, .theta = theta, .ring_nphi = nphi};
    o.ring_phi0 = phi0;
    o.ring_weight = weight;
  }
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

/* Sums from positions as vectors of long doubles. */
static void brute(const kugel_grid *g, const kind *k, double cut, double norm, const double *f, double *out)
{
  int64_t nr = kugel_grid_nrings(g), npix = kugel_grid_npix(g);
  double *block = malloc((size_t)nr * 24), *theta = block, *phi0 = block + nr, *w = block + 2 * nr;
  int64_t *nphi = malloc((size_t)nr * 16), *first = nphi + nr;
  CHECK_OK(kugel_grid_rings(g, theta, nphi, phi0, first, w));
  long double(*at)[4] = malloc((size_t)npix * sizeof *at);
  for (int64_t r = 0; r < nr; r++)
    for (int64_t i = 0; i < nphi[r]; i++) {
      long double phi = phi0[r] + 2 * M_PIl * (long double)i / (long double)nphi[r], *a = at[first[r] + i];
      a[0] = sinl(theta[r]) * cosl(phi), a[1] = sinl(theta[r]) * sinl(phi), a[2] = cosl(theta[r]),
      a[3] = w[r];
    }
  for (int64_t i = 0; i < npix; i += step_of(npix)) {
    long double sum = 0;
    for (int64_t j = 0; j < npix; j++) {
      long double x = at[i][0] - at[j][0], y = at[i][1] - at[j][1], z = at[i][2] - at[j][2];
      long double chord = sqrtl(x * x + y * y + z * z) / 2, angle = 2 * asinl(chord > 1 ? 1 : chord);
      if (angle <= cut || cut >= M_PI)
        sum += value_of(k, angle) * at[j][3] * f[j];
    }
    out[i / step_of(npix)] = (double)(norm * sum);
  }
  free(block), free(nphi), free(at);
}

static double error_of(int64_t npix, const double *want, const void *got, bool f32)
{
  double worst = 0, most = 0;
  for (int64_t i = 0; i < npix; i += step_of(npix)) {
    double v = f32 ? (double)((const float *)got)[i] : ((const double *)got)[i];
    worst = fmax(worst, fabs(v - want[i / step_of(npix)]));
    most = fmax(most, fabs(want[i / step_of(npix)]));
  }
  return worst / most;
}

typedef struct worst {
  double direct, rings, single;
} worst;

static void one(const shape *s, const kind *k, worst *w)
{
  kugel_grid *g = make_grid(s);
  int64_t npix = kugel_grid_npix(g);
  double *f = malloc((size_t)npix * 8), *want = malloc((size_t)npix * 8), *got = malloc((size_t)npix * 8);
  float *f32 = malloc((size_t)npix * 4), *got32 = malloc((size_t)npix * 4);
  for (int64_t i = 0; i < npix; i++)
    f[i] = f32[i] = (float)check_random(&seed);
  double cut = 0;
  for (int m = KUGEL_RADIAL_DIRECT; m <= KUGEL_RADIAL_RINGS; m += KUGEL_RADIAL_RINGS - KUGEL_RADIAL_DIRECT) {
    kugel_radial *p = NULL;
    kugel_radial_info info = {.size = sizeof info};
    kugel_radial_opts o = {.size = sizeof o, .grid = g, .kernel = k->kernel, .width = k->width};
    double width = k->width;
    o.radius = k->radius;
    o.tolerance = 1e-14;
    o.method = (kugel_radial_method)m;
    o.norm = k->kernel == KUGEL_RADIAL_MEXICAN_HAT ? KUGEL_RADIAL_UNIT_PEAK : KUGEL_RADIAL_UNIT_INTEGRAL;
    o.function = cone;
    o.user = &width;
    CHECK_OK(kugel_radial_create(NULL, &o, &p));
    CHECK_OK(kugel_radial_get_info(p, &info));
    if (cut != info.radius)
      brute(g, k, cut = info.radius, info.scale, f, want);
    CHECK_OK(
        kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(got, KUGEL_F64, npix), NULL));
    CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f32, KUGEL_F32, npix), KUGEL_ARRAY(got32, KUGEL_F32, npix),
                                  NULL));
    double error = error_of(npix, want, got, false), single = error_of(npix, want, got32, true);
    double *to = m == KUGEL_RADIAL_DIRECT ? &w->direct : &w->rings;
    *to = k->cusp > 0 ? *to : fmax(*to, error);
    w->single = fmax(w->single, single);
    CHECK_LE(error, k->cusp > 0 ? k->cusp : m == KUGEL_RADIAL_DIRECT ? 1e-14 : 1e-13);
    CHECK_LE(single, 1e-6);
    kugel_radial_destroy(p);
  }
  kugel_grid_destroy(g);
  free(f), free(want), free(got), free(f32), free(got32);
}

static void all_kinds(const char *name, const shape *s)
{
  static const kind kinds[] = {{"narrow", KUGEL_RADIAL_GAUSSIAN, 0.21, 0, 0},
                               {"wide", KUGEL_RADIAL_GAUSSIAN, 0.83, 0, 0},
                               {"as the sphere", KUGEL_RADIAL_GAUSSIAN, 4, 0, 2e-9},
                               {"cut in its flank", KUGEL_RADIAL_GAUSSIAN, 0.31, 0.213, 0},
                               {"cut past a pole", KUGEL_RADIAL_FUNCTION, 0.5, 0.937, 0},
                               {"cut past the hemisphere", KUGEL_RADIAL_FUNCTION, 0.7, 2.137, 0},
                               {"cut by a hair", KUGEL_RADIAL_FUNCTION, 2, 3.1, 0},
                               {"not cut", KUGEL_RADIAL_FUNCTION, 1, M_PI, 2e-9},
                               {"less than a pixel", KUGEL_RADIAL_GAUSSIAN, 0.1, 0.01, 0},
                               {"top hat", KUGEL_RADIAL_TOP_HAT, 0.3217, 0, 0},
                               {"Mexican hat", KUGEL_RADIAL_MEXICAN_HAT, 0.13, 0, 0},
                               {"Fisher", KUGEL_RADIAL_FISHER, 0.4, 0, 0},
                               {"wide Fisher", KUGEL_RADIAL_FISHER, 2.2, 0, 0}};
  worst w = {0, 0, 0};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    int before = check__.bad;
    one(s, kinds + i, &w);
    if (check__.bad != before)
      printf("  %s\n", kinds[i].name);
  }
  printf("  %s: direct %.1e, rings %.1e, float32 %.1e\n", name, w.direct, w.rings, w.single);
}

int main(void)
{
  CASE("HEALPix")
  {
    all_kinds("nside 8", &(shape){KUGEL_GRID_HEALPIX, 8, 0, 0});
    all_kinds("nside 5", &(shape){KUGEL_GRID_HEALPIX, 5, 0, 0});
    all_kinds("nside 1", &(shape){KUGEL_GRID_HEALPIX, 1, 0, 0});
  }
  CASE("other grids")
  {
    all_kinds("Gauss", &(shape){KUGEL_GRID_GAUSS, 17, 36, 0});
    all_kinds("Gauss, odd rings", &(shape){KUGEL_GRID_GAUSS, 16, 31, 0.2});
    all_kinds("Clenshaw-Curtis", &(shape){KUGEL_GRID_CLENSHAW_CURTIS, 18, 34, 0.1});
    all_kinds("Clenshaw-Curtis, odd", &(shape){KUGEL_GRID_CLENSHAW_CURTIS, 15, 29, 0});
    all_kinds("Fejer", &(shape){KUGEL_GRID_FEJER1, 14, 30, 0});
    all_kinds("custom", &(shape){KUGEL_GRID_CUSTOM, 6, 0, 0});
  }
  END();
}
