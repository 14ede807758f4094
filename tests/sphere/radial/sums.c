/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution: sums over pixels in long double, constants, adjoint, masks, harmonics, bad input. */
#include "check.h"
#include "core/alloc.h"
#include "sphere/radial/brute.h"
#include "sphere/radial/faults.h"
#include <kugel/radial.h>

static uint64_t seed = 11;

static double *random_map(int64_t n)
{
  double *f = malloc((size_t)n * 8);
  for (int64_t i = 0; i < n; i++)
    f[i] = check_random(&seed);
  return f;
}

static kugel_grid *make_grid(kugel_grid_kind kind, int64_t n)
{
  static const double theta[] = {0.1, 0.4, 0.9, 1.1, 1.9, 2.9}, phi0[] = {0, 0.3, 5, -2, 0.7, 1};
  static const double weight[] = {0.1, 0.2, 0.3, 0.15, 0.05, 0.4};
  static const int64_t nphi[] = {1, 7, 12, 9, 12, 5};
  kugel_grid *g = NULL;
  kugel_grid_opts o = {
      .size = sizeof o, .kind = kind, .nside = n, .ntheta = n, .nphi = 2 * n + 2, .phi0 = 0.2};
  if (kind == KUGEL_GRID_CUSTOM) {
    o = (kugel_grid_opts){.size = sizeof o, .nrings = 6, .theta = theta, .ring_nphi = nphi};
    o.ring_phi0 = phi0;
    o.ring_weight = weight;
  }
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static void against_sum(kugel_grid_kind kind, int64_t n, double width, double radius, bool smooth)
{
  kugel_grid *g = make_grid(kind, n);
  int64_t npix = kugel_grid_npix(g);
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = width, .radius = radius};
  o.method = KUGEL_RADIAL_DIRECT;
  if (!smooth) {
    o.kernel = KUGEL_RADIAL_FUNCTION;
    o.function = cone_function;
    o.user = &width;
  }
  kugel_radial *p = NULL;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  kugel_radial_info info = {.size = sizeof info};
  CHECK_OK(kugel_radial_get_info(p, &info));
  double *f = random_map(npix), *got = malloc((size_t)npix * 8), *want = malloc((size_t)npix * 8);
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(got, KUGEL_F64, npix), NULL));
  brute(g, smooth ? gaussian : cone, width, info.radius, info.scale, 1, f, want);
  CHECK_LE(info.table_error, 1e-14);
  CHECK_CLOSE(got, want, (size_t)npix, 1e-14);
  double *h = random_map(npix), *back = malloc((size_t)npix * 8), left = 0, right = 0, size = 0;
  CHECK_OK(
      kugel_radial_adjoint(p, KUGEL_ARRAY(h, KUGEL_F64, npix), KUGEL_ARRAY(back, KUGEL_F64, npix), NULL));
  for (int64_t i = 0; i < npix; i++) {
    left += got[i] * h[i];
    right += f[i] * back[i];
    size += fabs(got[i] * h[i]) + fabs(f[i] * back[i]);
  }
  CHECK_LE(fabs(left - right), 1e-14 * size);
  kugel_set_num_threads(3);
  CHECK_OK(
      kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(back, KUGEL_F64, npix), NULL));
  kugel_set_num_threads(0);
  CHECK(!memcmp(got, back, (size_t)npix * 8));
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f), free(got), free(want), free(h), free(back);
}

static void masks(void)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 16);
  int64_t npix = kugel_grid_npix(g);
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.15, .normalise_mask = 1};
  kugel_radial *p = NULL;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  float *f = malloc((size_t)npix * 4);
  for (int64_t i = 0; i < npix; i++)
    f[i] = i < npix / 2 && i % 3 ? 2.5f : (float)KUGEL_UNSEEN;
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F32, npix), KUGEL_ARRAY(f, KUGEL_F32, npix), NULL));
  for (int64_t i = 0; i < npix; i++)
    CHECK(i < npix / 2 && i % 3 ? fabsf(f[i] - 2.5f) < 1e-6f : f[i] == (float)KUGEL_UNSEEN);
  CHECK_IS(kugel_radial_adjoint(p, KUGEL_ARRAY(f, KUGEL_F32, npix), KUGEL_ARRAY(f, KUGEL_F32, npix), NULL),
           KUGEL_ENOTSUP);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f);
}

/* Maps of a batch that have the mask of the map before share its convolution: the numbers of maps one by one,
 * in place too, and half the time. */
static void shared_masks(kugel_radial_method method, int spin)
{
  enum { N = 5 };
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 16);
  int64_t maps = spin ? 2 : 1, length = maps * kugel_grid_npix(g);
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.3, .normalise_mask = 1, .method = method};
  o.spin = spin;
  kugel_radial *p = NULL;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  double *f = random_map(N * length), *want = malloc((size_t)(N * length) * 8);
  for (int64_t k = 0; k < N; k++)
    for (int64_t i = 0; i < length; i++)
      if (k < 3 ? i % 5 == 2 : k == 3 && (i * i) % 7 == 2) /* three alike, another, and none */
        f[k * length + i] = i % 2 ? KUGEL_UNSEEN : NAN;
  for (int64_t k = 0; k < N; k++)
    CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f + k * length, KUGEL_F64, maps, length / maps),
                                  KUGEL_ARRAY(want + k * length, KUGEL_F64, maps, length / maps), NULL));
  const kugel_array *batch = KUGEL_ARRAY(f, KUGEL_F64, N, maps, length / maps);
  CHECK_OK(kugel_radial_execute(p, batch, batch, NULL));
  CHECK(!memcmp(f, want, (size_t)(N * length) * 8));
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f), free(want);
}

/* Harmonics to a degree at which the kernel has died away are the same sum. */
static void harmonics(kugel_grid_kind kind, int64_t n, int64_t lmax)
{
  kugel_grid *g = make_grid(kind, n);
  int64_t npix = kugel_grid_npix(g);
  double *f = random_map(npix), *a = malloc((size_t)npix * 8), *b = malloc((size_t)npix * 8);
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.35, .radius = 1.2};
  o.lmax = lmax;
  kugel_radial *direct = NULL, *harmonic = NULL;
  o.method = KUGEL_RADIAL_DIRECT;
  CHECK_OK(kugel_radial_create(NULL, &o, &direct));
  o.method = KUGEL_RADIAL_HARMONIC;
  CHECK_OK(kugel_radial_create(NULL, &o, &harmonic));
  CHECK_OK(
      kugel_radial_execute(direct, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(a, KUGEL_F64, npix), NULL));
  CHECK_OK(
      kugel_radial_execute(harmonic, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(b, KUGEL_F64, npix), NULL));
  CHECK_CLOSE(b, a, (size_t)npix, 1e-12);
  kugel_radial_destroy(direct);
  kugel_radial_destroy(harmonic);
  kugel_grid_destroy(g);
  free(f), free(a), free(b);
}

static void delta(void)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 8);
  int64_t npix = kugel_grid_npix(g);
  static const double angle[] = {0, 0.1, 0.25, 0.3, 0.4}, value[] = {2, 1.5, 0.2, -0.1, 0},
                      b[] = {1, 0.5, 0.2};
  double *f = calloc((size_t)npix, 8), got[3], sum = 0;
  kugel_radial *p = NULL;
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .kernel = KUGEL_RADIAL_TABLE, .n = 5, .radius = 0.4};
  o.angles = angle;
  o.values = value;
  o.norm = KUGEL_RADIAL_AS_IS;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_radial_evaluate(p, 3, angle, got));
  CHECK_CLOSE(got, value, 3, 1e-6);
  f[300] = (double)npix / (4 * M_PI);
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(f, KUGEL_F64, npix), NULL));
  CHECK_LE(fabs(f[300] - 2), 1e-6);
  kugel_radial_destroy(p);
  o = (kugel_radial_opts){.size = sizeof o, .grid = g, .kernel = KUGEL_RADIAL_SERIES, .n = 3, .values = b};
  o.norm = KUGEL_RADIAL_AS_IS;
  o.radius = M_PI;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_radial_coefficients(p, 2, got));
  CHECK_CLOSE(got, b, 3, 1e-14);
  kugel_radial_destroy(p);
  o = (kugel_radial_opts){.size = sizeof o, .grid = g, .kernel = KUGEL_RADIAL_MEXICAN_HAT, .width = 0.3};
  o.norm = KUGEL_RADIAL_UNIT_PEAK;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_radial_coefficients(p, 0, &sum));
  CHECK_LE(fabs(sum), 1e-3 * 0.3 * 0.3); /* the wavelet has no mean but for its cut-off */
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f);
}

/* A band-limited map times b_l, and the same in coefficients. */
static void series_by_harmonics(void)
{
  enum { LMAX = 12 };
  kugel_grid *g = make_grid(KUGEL_GRID_GAUSS, LMAX + 1);
  int64_t npix = kugel_grid_npix(g);
  double b[LMAX + 1], got[LMAX + 3], at[2] = {0, 1}, value[2], *f = malloc((size_t)npix * 8),
                                     *out = malloc((size_t)npix * 8);
  for (int l = 0; l <= LMAX; l++)
    b[l] = 2.0 / (1 + l * l);
  kugel_radial *p = NULL;
  kugel_radial_opts o = {
      .size = sizeof o, .grid = g, .kernel = KUGEL_RADIAL_SERIES, .n = LMAX + 1, .values = b};
  o.method = KUGEL_RADIAL_HARMONIC;
  o.lmax = LMAX;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_radial_coefficients(p, LMAX + 2, got));
  CHECK(got[0] == 1 && got[LMAX + 1] == 0);
  CHECK_OK(kugel_radial_evaluate(p, 2, at, value));
  CHECK(value[0] > value[1]);
  double theta[LMAX + 1];
  int64_t nphi[LMAX + 1], first[LMAX + 1];
  CHECK_OK(kugel_grid_rings(g, theta, nphi, NULL, first, NULL));
  for (int r = 0; r <= LMAX; r++)
    for (int64_t k = 0; k < nphi[r]; k++)
      f[first[r] + k] = 3 + cos(theta[r]) + (1.5 * cos(theta[r]) * cos(theta[r]) - 0.5);
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(out, KUGEL_F64, npix), NULL));
  for (int r = 0; r <= LMAX; r++)
    CHECK_LE(fabs(out[first[r]] -
                  (3 + got[1] * cos(theta[r]) + got[2] * (1.5 * cos(theta[r]) * cos(theta[r]) - 0.5))),
             1e-13);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f), free(out);
}

static kugel_radial_method chosen(const kugel_grid *g, double width, double radius)
{
  kugel_radial *p = NULL;
  kugel_radial_info info = {.size = sizeof info};
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = width, .radius = radius};
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_radial_get_info(p, &info));
  kugel_radial_destroy(p);
  return info.method;
}

static void choice(void)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 64);
  CHECK(chosen(g, 0.03, 0) == KUGEL_RADIAL_DIRECT);
  CHECK(chosen(g, 0.6, 0) == KUGEL_RADIAL_HARMONIC);
  CHECK(chosen(g, 3, 0.6) != KUGEL_RADIAL_HARMONIC); /* cut off sharply: no band limit */

  kugel_grid_destroy(g);
}

/* The range that a plan tells, from a sample, is that of the constant convolved. */
static void narrow(double width_in_pixels, double expected)
{
  enum { NPIX = 12288 };
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 32);
  kugel_radial *p = NULL;
  kugel_radial_info info = {.size = sizeof info};
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = width_in_pixels * sqrt(4 * M_PI / NPIX)};
  o.method = KUGEL_RADIAL_DIRECT;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_radial_get_info(p, &info));
  static double f[NPIX];
  double least = INFINITY, most = 0;
  for (int i = 0; i < NPIX; i++)
    f[i] = 1;
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, NPIX), KUGEL_ARRAY(f, KUGEL_F64, NPIX), NULL));
  for (int i = 0; i < NPIX; i++) {
    least = fmin(least, f[i]);
    most = fmax(most, f[i]);
  }
  CHECK(info.constant_least >= least - 1e-13 && info.constant_most <= most + 1e-13);
  CHECK_LE(1 - least, 1.3 * (1 - info.constant_least));
  CHECK_LE(fabs(1 - least - expected), 0.002);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
}

static double nan_function(double a, void *user)
{
  (void)user;
  return a > 0.5 ? NAN : 1;
}

static void bad_input(void)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 2);
  kugel_radial *p = NULL;
  const kugel_radial_opts good = {.size = sizeof good, .grid = g, .width = 0.5};
  static const double angle[] = {0.1, 0.2}, value[] = {1, NAN}, zero[] = {0, 0};
  CHECK_IS(kugel_radial_create(NULL, NULL, &p), KUGEL_EINVAL);
  CHECK_IS(kugel_radial_create(NULL, &good, NULL), KUGEL_EINVAL);
#define REFUSED(...)                                                                                         \
  do {                                                                                                       \
    kugel_radial_opts o = good;                                                                              \
    __VA_ARGS__;                                                                                             \
    CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_EINVAL);                                               \
    CHECK(!p && strlen(kugel_last_error()) > 20);                                                            \
  } while (0)
  REFUSED(o.grid = NULL);
  REFUSED(o.kernel = (kugel_radial_kernel)9);
  REFUSED(o.width = 0);
  REFUSED(o.width = -1);
  REFUSED(o.width = NAN);
  REFUSED(o.width = INFINITY);
  REFUSED(o.radius = 4);
  REFUSED(o.radius = -1);
  REFUSED(o.tolerance = 1);
  REFUSED(o.lmax = -1);
  REFUSED(o.method = (kugel_radial_method)7);
  REFUSED(o.norm = (kugel_radial_norm)3);
  REFUSED(o.kernel = KUGEL_RADIAL_FUNCTION);
  REFUSED(o.kernel = KUGEL_RADIAL_FUNCTION, o.function = nan_function);
  REFUSED(o.kernel = KUGEL_RADIAL_TABLE, o.n = 1, o.angles = angle, o.values = zero);
  REFUSED(o.kernel = KUGEL_RADIAL_TABLE, o.n = 2, o.angles = angle, o.values = zero);
  REFUSED(o.kernel = KUGEL_RADIAL_SERIES, o.n = 2, o.values = value);
  REFUSED(o.kernel = KUGEL_RADIAL_SERIES, o.n = 2, o.values = zero);
  CHECK_OK(kugel_radial_create(NULL, &good, &p));
  double f[48] = {0};
  CHECK_IS(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, 47), KUGEL_ARRAY(f, KUGEL_F64, 47), NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_radial_execute(NULL, KUGEL_ARRAY(f, KUGEL_F64, 48), KUGEL_ARRAY(f, KUGEL_F64, 48), NULL),
           KUGEL_EINVAL);
  CHECK_IS(kugel_radial_coefficients(p, -1, f), KUGEL_EINVAL);
  f[0] = 4;
  CHECK_IS(kugel_radial_evaluate(p, 1, f, f + 1), KUGEL_EINVAL);
  kugel_radial_destroy(p);
  kugel_radial_destroy(NULL);
  kugel_grid_destroy(g);
}

static void faults(void)
{
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 4);
  for (int method = 1; method <= 2; method++) {
    kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.5};
    o.method = (kugel_radial_method)method;
    radial_faults(&o, 192);
  }
  kugel_grid_destroy(g);
}

int main(void)
{
  CASE("HEALPix against the sum over pixels")
  {
    against_sum(KUGEL_GRID_HEALPIX, 8, 0.2, 0, true);
    against_sum(KUGEL_GRID_HEALPIX, 5, 0.31, 0.5, true);
    against_sum(KUGEL_GRID_HEALPIX, 4, 2, 2.1, true);
    against_sum(KUGEL_GRID_HEALPIX, 1, 0.3, 0.001, true);
    against_sum(KUGEL_GRID_HEALPIX, 8, 0.2, 0.8, false);
  }
  CASE("other grids against the sum over pixels")
  {
    against_sum(KUGEL_GRID_GAUSS, 17, 0.3, 0, true);
    against_sum(KUGEL_GRID_CLENSHAW_CURTIS, 18, 0.3, 0, true);
    against_sum(KUGEL_GRID_FEJER1, 15, 1.1, 1.9, true);
    against_sum(KUGEL_GRID_CUSTOM, 0, 1.1, 1.3, true);
    against_sum(KUGEL_GRID_CUSTOM, 0, 1.1, 2.5, false);
  }
  CASE("masks, floats, in place") masks();
  CASE("a mask that maps share")
  {
    shared_masks(KUGEL_RADIAL_DIRECT, 0);
    shared_masks(KUGEL_RADIAL_RINGS, 0);
    shared_masks(KUGEL_RADIAL_HARMONIC, 0);
    shared_masks(KUGEL_RADIAL_DIRECT, 2);
  }
  CASE("harmonics agree")
  {
    harmonics(KUGEL_GRID_HEALPIX, 16, 60);
    harmonics(KUGEL_GRID_GAUSS, 40, 60);
  }
  CASE("a point gives the kernel; tables and series") delta();
  CASE("a series by harmonics") series_by_harmonics();
  CASE("the choice of the method") choice();
  CASE("kernels as narrow as pixels") /* with losses known from other programs */
  {
    narrow(1.5, 0.049);
    narrow(2, 0.047);
    narrow(3, 0.027);
  }
  CASE("bad input") bad_input();
  CASE("failing allocations") faults();
  END();
}
