/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels of von Mises-Fisher form: Bessel functions and convolutions against long double, and against rows
 * of the sampled kernel. */
#include "check.h"
#include "core/alloc.h"
#include "sphere/radial/spectra.h"
#include "sphere/radial/faults.h"

static uint64_t seed = 31;

/* e^{-z} I_m(z) is the mean of exp(z (cos h - 1)) cos(m h) over h; equidistant points leave out I_{n-m}. */
static long double bessel(long double z, int m)
{
  long double sum = 0, n = 1024 + 2 * ceill(sqrtl(100 * z));
  for (long double k = 0; k < n; k++) {
    long double s = sinl(M_PIl * k / n);
    sum += expl(-2 * z * s * s) * cosl(2 * M_PIl * fmodl(m * k, n) / n);
  }
  return sum / n;
}

static void functions(void)
{
  enum { BLOCKS = 4, MODES = KUGEL__SPECTRA_MODES, LANES = KUGEL__SPECTRA_LANES };
  static const double z[LANES] = {0, 1e-14, 1e-3, 0.7, 13, 250, 1e4, 1e6};
  const kugel__spectra_ops *ops = kugel__spectra_ops_now();
  kugel__spectra_span span = {.a = {0}};
  size_t size = sizeof(kugel__bessel) + sizeof(double[BLOCKS][2][LANES]);
  kugel__bessel *of = aligned_alloc(64, size + 64 - size % 64);
  double *k = aligned_alloc(64, sizeof(double) * MODES * LANES);
  for (int g = 0; g < LANES; g++)
    span.b[g] = z[g]; /* kappa = 4 */
  span.a[0] = INFINITY;
  kugel__radial_bessel(&span, 4, 3, of);
  ops->starts(1, 0, BLOCKS, (double *)of);
  for (int add = 0; add < 2; add++)
    for (int64_t b = add; b < BLOCKS; b += 1 + add) {
      for (int i = 0; i < MODES * LANES; i++)
        k[i] = add;
      ops->bessel(1, (double *)of, 0, b * MODES, add, k);
      for (int m = 0; m < MODES; m += 1 + 4 * (b > 0))
        for (int g = 0; g < LANES; g++) {
          double want = g ? (double)(3 * bessel(z[g], (int)b * MODES + m)) : 0;
          CHECK_LE(fabs(k[m * LANES + g] - want - add), 2e-14 * want + 1e-17 + add * 1e-15);
        }
    }
  free(of), free(k);
}

typedef struct sky {
  kugel_grid_kind kind;
  int64_t n, components;
  double kappa[2], parts[2];
} sky;

static double mixture(double a, void *user)
{
  const sky *k = user;
  double sum = 0;
  for (int64_t c = 0; c < k->components; c++) {
    double x = 2 * sin(a / 2) * sin(a / 2);
    sum += k->parts[c] * k->kappa[c] / (-2 * M_PI * expm1(-2 * k->kappa[c])) * exp(-k->kappa[c] * x);
  }
  return sum;
}

enum { STEP = 37 }; /* of the pixels compared */

/* Every STEP-th pixel's sum. Positions from the grid's own table of rings. */
static void brute(const kugel_grid *g, const sky *k, double norm, const double *f, double *out)
{
  int64_t nr = kugel_grid_nrings(g), npix = kugel_grid_npix(g);
  double *theta = malloc((size_t)nr * 8), *phi0 = malloc((size_t)nr * 8), *w = malloc((size_t)nr * 8);
  int64_t *nphi = malloc((size_t)nr * 8), *first = malloc((size_t)nr * 8);
  CHECK_OK(kugel_grid_rings(g, theta, nphi, phi0, first, w));
  long double *at = malloc((size_t)npix * 4 * sizeof *at), *sum = calloc((size_t)npix, sizeof *sum);
  for (int64_t r = 0; r < nr; r++)
    for (int64_t j = 0; j < nphi[r]; j++) {
      long double *a = at + 4 * (first[r] + j),
                  phi = phi0[r] + 2 * M_PIl * (long double)j / (long double)nphi[r];
      a[0] = sinl(theta[r]) * cosl(phi), a[1] = sinl(theta[r]) * sinl(phi), a[2] = cosl(theta[r]),
      a[3] = w[r];
    }
  for (int64_t i = 0; i < npix; i += STEP)
    for (int64_t j = 0; j < npix; j++) {
      const long double *a = at + 4 * i, *b = at + 4 * j;
      long double x =
          (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
      for (int64_t c = 0; c < k->components; c++) {
        long double kappa = k->kappa[c], amp = k->parts[c] * kappa / (-2 * M_PIl * expm1l(-2 * kappa));
        sum[i / STEP] += norm * amp * expl(-kappa * x / 2) * b[3] * f[j];
      }
    }
  for (int64_t i = 0; i * STEP < npix; i++)
    out[i] = (double)sum[i];
  free(theta), free(phi0), free(w), free(nphi), free(first), free(at), free(sum);
}

static kugel_grid *make_grid(const sky *k)
{
  static const double theta[] = {0.1, 0.4, 0.9, 1.1, 1.9, 2.9}, phi0[] = {0, 0.3, 5, -2, 0.7, 1};
  static const double weight[] = {0.1, 0.2, 0.3, 0.15, 0.05, 0.4};
  static const int64_t nphi[] = {1, 7, 12, 9, 12, 5};
  kugel_grid *g = NULL;
  kugel_grid_opts o = {
      .size = sizeof o, .kind = k->kind, .nside = k->n, .ntheta = k->n, .nphi = 2 * k->n + 1};
  if (k->kind == KUGEL_GRID_CUSTOM)
    o = (kugel_grid_opts){.size = sizeof o, .nrings = 6, .theta = theta, .ring_nphi = nphi};
  if (k->kind == KUGEL_GRID_CUSTOM)
    o.ring_phi0 = phi0, o.ring_weight = weight;
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static kugel_radial *plan(const kugel_grid *g, const sky *k, bool sampled, kugel_radial_method method)
{
  kugel_radial *p = NULL;
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .kernel = KUGEL_RADIAL_FISHER, .n = k->components};
  o.kappa = k->kappa;
  o.values = k->parts;
  if (sampled) {
    o.kernel = KUGEL_RADIAL_FUNCTION;
    o.function = mixture;
    o.user = (void *)k;
  }
  o.norm = KUGEL_RADIAL_AS_IS;
  o.tolerance = 1e-14;
  o.method = method;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  return p;
}

static void convolutions(const sky *k)
{
  kugel_grid *g = make_grid(k);
  int64_t n = kugel_grid_npix(g);
  double *f = malloc((size_t)n * 8), *want = malloc((size_t)n * 8), *got = malloc((size_t)n * 8);
  kugel_radial *all[] = {plan(g, k, false, KUGEL_RADIAL_RINGS), plan(g, k, true, KUGEL_RADIAL_RINGS),
                         plan(g, k, false, KUGEL_RADIAL_DIRECT)};
  CHECK(all[0]->spectra->bessel && !all[1]->spectra->bessel);
  for (int64_t i = 0; i < n; i++)
    f[i] = check_random(&seed);
  brute(g, k, 1, f, want);
  for (int i = 0; i < 3; i++) {
    CHECK_OK(
        kugel_radial_execute(all[i], KUGEL_ARRAY(f, KUGEL_F64, n), KUGEL_ARRAY(got, KUGEL_F64, n), NULL));
    for (int64_t j = 0; j * STEP < n; j++)
      got[j] = got[j * STEP];
    CHECK_CLOSE(got, want, (size_t)((n + STEP - 1) / STEP), 1e-13);
    kugel_radial_destroy(all[i]);
  }
  kugel_grid_destroy(g);
  free(f), free(want), free(got);
}

/* A width is the full width at half maximum, and one component normalised is itself. */
static void constructors(void)
{
  const sky k = {KUGEL_GRID_HEALPIX, 4, 1, {0}, {1}};
  kugel_grid *g = make_grid(&k);
  kugel_radial *p = NULL;
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .kernel = KUGEL_RADIAL_FISHER, .width = 0.5};
  o.tolerance = 1e-15;
  double at[2] = {0, 0.25}, value[2], kappa = log(2) / (2 * sin(0.125) * sin(0.125)), one = 7, b[2];
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_radial_evaluate(p, 2, at, value));
  CHECK_LE(fabs(value[1] / value[0] - 0.5), 1e-14);
  CHECK_LE(fabs(value[0] * (1 - exp(-2 * kappa)) * 2 * M_PI / kappa - 1), 1e-13);
  CHECK_OK(kugel_radial_coefficients(p, 1, b)); /* coth kappa - 1 / kappa */
  CHECK_LE(fabs(b[1] - (1 / tanh(kappa) - 1 / kappa)), 1e-13);
  kugel_radial_destroy(p);
  p = NULL;
#define REFUSED(...)                                                                                         \
  do {                                                                                                       \
    kugel_radial_opts bad = {.size = sizeof bad, .grid = g, .kernel = KUGEL_RADIAL_FISHER, .n = 1};          \
    bad.kappa = &kappa;                                                                                      \
    bad.values = &one;                                                                                       \
    __VA_ARGS__;                                                                                             \
    CHECK_IS(kugel_radial_create(NULL, &bad, &p), KUGEL_EINVAL);                                             \
    CHECK(!p);                                                                                               \
  } while (0)
  double zero = 0, nan = NAN;
  REFUSED(bad.width = -1);
  REFUSED(bad.width = 7);
  REFUSED(bad.width = NAN);
  REFUSED(bad.n = 0);
  REFUSED(bad.kappa = NULL);
  REFUSED(bad.values = NULL);
  REFUSED(bad.kappa = &zero);
  REFUSED(bad.kappa = &nan);
  REFUSED(bad.values = &nan);
  REFUSED(bad.values = &zero);
  kugel_grid_destroy(g);
}

static void faults(void)
{
  const sky k = {KUGEL_GRID_HEALPIX, 4, 1, {20}, {1}};
  kugel_grid *g = make_grid(&k);
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .kernel = KUGEL_RADIAL_FISHER, .n = 1};
  o.kappa = k.kappa;
  o.values = k.parts;
  o.method = KUGEL_RADIAL_RINGS;
  radial_faults(&o, 192);
  kugel_grid_destroy(g);
}

int main(void)
{
  CASE("Bessel functions") functions();
  CASE("convolutions")
  {
    static const sky all[] = {{KUGEL_GRID_HEALPIX, 12, 1, {80}, {1}},
                              {KUGEL_GRID_HEALPIX, 8, 1, {3}, {1}},
                              {KUGEL_GRID_HEALPIX, 11, 2, {60, 9}, {1, -0.9}},
                              {KUGEL_GRID_HEALPIX, 15, 2, {300, 60}, {0.7, 0.3}},
                              {KUGEL_GRID_GAUSS, 33, 1, {90}, {1}},
                              {KUGEL_GRID_CLENSHAW_CURTIS, 31, 2, {90, 20}, {2, 1}},
                              {KUGEL_GRID_CUSTOM, 0, 1, {11}, {1}}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      convolutions(all + i);
  }
  CASE("widths, bad input") constructors();
  CASE("failing allocations") faults();
  END();
}
