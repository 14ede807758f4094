/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution by spectra of rings: equal to the sum over pixels, which sphere_radial_sums compares with long double.
 */
#include "check.h"
#include "core/alloc.h"
#include "sphere/radial/faults.h"
#include <kugel/radial.h>

static uint64_t seed = 5;

typedef struct sky {
  kugel_grid_kind kind;
  int64_t n;
  kugel_radial_kernel kernel;
  double width, radius;
  double bound;
} sky;

static kugel_grid *make_grid(const sky *k)
{
  static const double theta[] = {0.1, 0.4, 0.9, 1.1, 1.9, 2.9}, phi0[] = {0, 0.3, 5, -2, 0.7, 1};
  static const double weight[] = {0.1, 0.2, 0.3, 0.15, 0.05, 0.4};
  static const int64_t nphi[] = {1, 7, 12, 9, 12, 5};
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = k->kind, .nside = k->n, .ntheta = k->n};
  o.nphi = 2 * k->n + 1;
  o.phi0 = 0.2;
  if (k->kind == KUGEL_GRID_CUSTOM) {
    o = (kugel_grid_opts){.size = sizeof o, .nrings = 6, .theta = theta, .ring_nphi = nphi};
    o.ring_phi0 = phi0;
    o.ring_weight = weight;
  }
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static kugel_radial *plan(const kugel_grid *g, const sky *k, kugel_radial_method method, int normalise)
{
  kugel_radial *p = NULL;
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .kernel = k->kernel, .width = k->width};
  o.radius = k->radius;
  o.method = method;
  o.tolerance = 1e-13;
  o.normalise_mask = normalise;
  o.norm = k->kernel == KUGEL_RADIAL_MEXICAN_HAT ? KUGEL_RADIAL_UNIT_PEAK : KUGEL_RADIAL_UNIT_INTEGRAL;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  return p;
}

static void compare(const sky *k, int normalise)
{
  kugel_grid *g = make_grid(k);
  int64_t n = kugel_grid_npix(g);
  kugel_radial *direct = plan(g, k, KUGEL_RADIAL_DIRECT, normalise),
               *rings = plan(g, k, KUGEL_RADIAL_RINGS, normalise);
  double *f = malloc((size_t)n * 8), *want = malloc((size_t)n * 8), *got = malloc((size_t)n * 8);
  double *again = malloc((size_t)n * 8);
  for (int64_t i = 0; i < n; i++)
    f[i] = i % 11 == 5 ? KUGEL_UNSEEN : check_random(&seed);
  const kugel_array *in = KUGEL_ARRAY(f, KUGEL_F64, n);
  CHECK_OK(kugel_radial_execute(direct, in, KUGEL_ARRAY(want, KUGEL_F64, n), NULL));
  CHECK_OK(kugel_radial_execute(rings, in, KUGEL_ARRAY(got, KUGEL_F64, n), NULL));
  kugel_set_num_threads(3);
  CHECK_OK(kugel_radial_execute(rings, in, KUGEL_ARRAY(again, KUGEL_F64, n), NULL));
  kugel_set_num_threads(0);
  CHECK(!memcmp(got, again, (size_t)n * 8));
  CHECK_CLOSE(got, want, (size_t)n, k->bound);
  if (!normalise) {
    CHECK_OK(kugel_radial_adjoint(direct, in, KUGEL_ARRAY(want, KUGEL_F64, n), NULL));
    CHECK_OK(kugel_radial_adjoint(rings, in, KUGEL_ARRAY(got, KUGEL_F64, n), NULL));
    CHECK_CLOSE(got, want, (size_t)n, k->bound);
  }
  CHECK_OK(kugel_radial_execute(rings, in, in, NULL));
  if (!normalise)
    CHECK(!memcmp(f, again, (size_t)n * 8));
  kugel_radial_destroy(direct);
  kugel_radial_destroy(rings);
  kugel_grid_destroy(g);
  free(f), free(want), free(got), free(again);
}

static void faults(void)
{
  const sky k = {KUGEL_GRID_HEALPIX, 4, KUGEL_RADIAL_GAUSSIAN, 0.5, 0.6, 0};
  kugel_grid *g = make_grid(&k);
  radial_faults(
      &(kugel_radial_opts){
          .size = sizeof(kugel_radial_opts), .grid = g, .width = 0.5, .method = KUGEL_RADIAL_RINGS},
      192);
  kugel_grid_destroy(g);
}

int main(void)
{
  CASE("series along rings")
  {
    static const sky all[] = {{KUGEL_GRID_HEALPIX, 16, KUGEL_RADIAL_GAUSSIAN, 0.15, 0, 1e-12},
                              {KUGEL_GRID_HEALPIX, 16, KUGEL_RADIAL_GAUSSIAN, 0.05, 0, 1e-12},
                              {KUGEL_GRID_HEALPIX, 32, KUGEL_RADIAL_GAUSSIAN, 0.3, 0, 1e-12},
                              {KUGEL_GRID_HEALPIX, 7, KUGEL_RADIAL_GAUSSIAN, 0.4, 0, 1e-12},
                              {KUGEL_GRID_HEALPIX, 1, KUGEL_RADIAL_GAUSSIAN, 1, 0, 1e-12},
                              {KUGEL_GRID_HEALPIX, 16, KUGEL_RADIAL_MEXICAN_HAT, 0.1, 0, 1e-12},
                              {KUGEL_GRID_HEALPIX, 16, KUGEL_RADIAL_GAUSSIAN, 0.9, 0, 1e-12},
                              {KUGEL_GRID_GAUSS, 33, KUGEL_RADIAL_GAUSSIAN, 0.2, 0, 1e-12},
                              {KUGEL_GRID_CLENSHAW_CURTIS, 30, KUGEL_RADIAL_GAUSSIAN, 0.2, 0, 1e-12},
                              {KUGEL_GRID_CUSTOM, 0, KUGEL_RADIAL_GAUSSIAN, 0.5, 0, 1e-12}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
      compare(all + i, 0);
    compare(all, 1);
  }
  CASE("kernels with an edge")
  {
    static const sky all[] = {{KUGEL_GRID_HEALPIX, 16, KUGEL_RADIAL_TOP_HAT, 0.2, 0, 1e-13},
                              {KUGEL_GRID_HEALPIX, 8, KUGEL_RADIAL_GAUSSIAN, 0.6, 0.5, 1e-13},
                              {KUGEL_GRID_HEALPIX, 8, KUGEL_RADIAL_GAUSSIAN, 3, 2.1, 1e-13},
                              {KUGEL_GRID_CLENSHAW_CURTIS, 21, KUGEL_RADIAL_TOP_HAT, 0.5, 0, 1e-13},
                              {KUGEL_GRID_GAUSS, 20, KUGEL_RADIAL_GAUSSIAN, 2, 1.9, 1e-13},
                              {KUGEL_GRID_CUSTOM, 0, KUGEL_RADIAL_GAUSSIAN, 1.1, 1.3, 1e-13}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
      compare(all + i, 0);
  }
  CASE("failing allocations") faults();
  END();
}
