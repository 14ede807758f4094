/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Grids on Gaussian colatitudes, reduced, octahedral, and Gauss-Lobatto: nodes, tables, exactness.
 */
#include "check.h"
#include "sphere/info.h"
#include <complex.h>
#include "core/alloc.h"
#include "core/quadrature.h"
#include <kugel/sphere.h>

/* From 40 digits: nodes number, which, colatitude, weight. */
static const struct {
  int64_t n, k;
  double theta, weight;
} lobatto[] = {
    {50, 1, 0.07741215229417806846, 0.005027345549741657726},
    {50, 7, 0.459823480468551139, 0.02818765545106024917},
    {50, 24, 1.539058209276802542, 0.06344427417925288684},
    {1001, 1, 0.0038297915529162537, 0.00001231695898901296418},
    {1001, 20, 0.06357957485667003068, 0.0001995253379949527623},
    {1001, 39, 0.1232428644696751233, 0.0003860160562544159652},
    {1001, 40, 0.1263829630238205291, 0.0003957990952685093953},
    {1001, 250, 0.7857902918964183901, 0.002221203450813104196},
    {1001, 499, 1.567656302976292156, 0.003140008338700649095},
    {4000, 1, 0.0009580462558195280898, 7.707742061456001317e-7},
    {4000, 39, 0.03082997160951464966, 0.00002421359142377375868},
    {4000, 40, 0.03161548685752967296, 0.00002483029520418436674},
    {4000, 1999, 1.570403578610468655, 0.0007854963082740774959},
};

static kugel_grid *grid_of(kugel_grid_kind kind, int64_t n, int64_t nphi, const int64_t *ring_nphi)
{
  kugel_grid *g = NULL;
  CHECK_OK(kugel_grid_create(NULL,
                             &(kugel_grid_opts){.size = sizeof(kugel_grid_opts),
                                                .kind = kind,
                                                .ntheta = n,
                                                .nphi = nphi,
                                                .phi0 = 0.1,
                                                .ring_nphi = ring_nphi},
                             &g));
  return g;
}

// Relative L2 error of random coefficients after synthesis and analysis.
static double round_trip(const kugel_grid *g, int64_t lmax, int spin)
{
  static uint64_t seed = 9;
  int n = spin ? 2 : 1;
  int64_t nalm, npix;
  kugel_sht *plan = NULL;
  CHECK_OK(kugel_sht_create(NULL,
                            &(kugel_sht_opts){.size = sizeof(kugel_sht_opts),
                                              .grid = g,
                                              .lmax = lmax,
                                              .mode = spin ? KUGEL_SHT_SPIN : KUGEL_SHT_SCALAR,
                                              .spin = spin},
                            &plan));
  CHECK_OK(sht_shape(plan, &nalm, &npix, NULL, NULL));
  double complex *a = calloc((size_t)(n * nalm), 16), *b = calloc((size_t)(n * nalm), 16);
  double *map = malloc((size_t)(n * npix) * 8), error = 0, norm = 0;
  for (int64_t c = 0; c < n; c++)
    for (int64_t m = 0, i = 0; m <= lmax; m++)
      for (int64_t l = m; l <= lmax; l++, i++)
        a[c * nalm + i] = l < spin ? 0 : check_random(&seed) + (m ? I * check_random(&seed) : 0);
  CHECK_OK(kugel_sht_synthesis(plan, KUGEL_ARRAY(a, KUGEL_C128, n, nalm),
                               KUGEL_ARRAY(map, KUGEL_F64, n, npix), NULL));
  CHECK_OK(kugel_sht_analysis(plan, KUGEL_ARRAY(map, KUGEL_F64, n, npix), KUGEL_ARRAY(b, KUGEL_C128, n, nalm),
                              NULL));
  for (int64_t i = 0; i < n * nalm; i++) {
    error += creal((a[i] - b[i]) * conj(a[i] - b[i]));
    norm += creal(a[i] * conj(a[i]));
  }
  free(a), free(b), free(map);
  kugel_sht_destroy(plan);
  return sqrt(error / norm);
}

int main(void)
{
  CASE("Gauss-Lobatto nodes and weights")
  {
    static double theta[4000], weight[4000], cth[4000], sth[4000];
    for (size_t i = 0; i < sizeof lobatto / sizeof lobatto[0]; i++) {
      int64_t n = lobatto[i].n, k = lobatto[i].k;
      CHECK_OK(kugel__gauss_lobatto(NULL, n, theta, cth, sth, weight));
      CHECK_LE(fabs(theta[k] / lobatto[i].theta - 1), 2.3e-16);
      CHECK_LE(fabs(weight[k] / lobatto[i].weight - 1), 4e-16);
      CHECK_LE(fabs(theta[n - 1 - k] - (M_PI - lobatto[i].theta)), 4.5e-16);
    }
    const double inner[][2] = {
        {3, 0}, {4, 1 / sqrt(5)}, {5, sqrt(3. / 7)}, {6, sqrt(1. / 3 + 2 * sqrt(7) / 21)}};
    for (int i = 0; i < 4; i++) {
      int64_t n = (int64_t)inner[i][0];
      CHECK_OK(kugel__gauss_lobatto(NULL, n, theta, cth, sth, weight));
      CHECK_LE(fabs(cth[1] - inner[i][1]), 2e-16);
      CHECK(theta[0] == 0 && theta[n - 1] == M_PI && sth[0] == 0 && cth[n - 1] == -1);
      CHECK_LE(fabs(weight[0] * (double)(n * (n - 1)) - 2), 5e-16);
    }
  }
  CASE("Lobatto's quadrature is exact to degree 2 n - 3")
  for (int64_t n = 2; n < 40; n += 3) {
    double theta[40], weight[40];
    CHECK_OK(kugel__gauss_lobatto(NULL, n, theta, NULL, NULL, weight));
    for (int64_t l = 0; l <= 2 * n - 2; l += 2) {
      long double sum = 0;
      for (int64_t i = 0; i < n; i++)
        sum += weight[i] * powl(cosl((long double)theta[i]), (long double)l);
      double error = fabs((double)(sum * (l + 1) / 2 - 1));
      if (l <= 2 * n - 3)
        CHECK_LE(error, 1e-14);
      else if (n < 20)
        CHECK(error > 1e-12);
    }
  }
  CASE("Lobatto grids transform exactly to ntheta - 2")
  for (int spin = 0; spin < 3; spin++) {
    kugel_grid *g = grid_of(KUGEL_GRID_LOBATTO, 42, 84, NULL);
    CHECK_LE(round_trip(g, 40, spin), 1e-14);
    kugel_grid_destroy(g);
  }
  CASE("octahedral grids: ECMWF's numbers of pixels")
  {
    int64_t nphi[64], first[64];
    double phi0[64];
    kugel_grid *g = grid_of(KUGEL_GRID_GAUSS_OCTAHEDRAL, 64, 0, NULL);
    CHECK_OK(kugel_grid_rings(g, NULL, nphi, phi0, first, NULL));
    CHECK(kugel_grid_npix(g) == 5248 && nphi[0] == 20 && nphi[31] == 144 && nphi[32] == 144 &&
          nphi[63] == 20);
    CHECK(first[2] == 44 && phi0[40] == 0.1);
    kugel_grid_destroy(g);
    g = grid_of(KUGEL_GRID_GAUSS_OCTAHEDRAL, 2560, 0, NULL); // O1280
    CHECK(kugel_grid_npix(g) == 6599680);
    kugel_grid_destroy(g);
    for (int64_t n = 16; n <= 256; n *= 4) {
      g = grid_of(KUGEL_GRID_GAUSS_OCTAHEDRAL, 2 * n, 0, NULL);
      double error = round_trip(g, n - 1, 0), wind = round_trip(g, n - 1, 1),
             below = round_trip(g, n * 3 / 4, 0);
      printf("  O%lld, lmax %lld: %.1e, winds %.1e; lmax %lld: %.1e\n", (long long)n, (long long)n - 1, error,
             wind, (long long)n * 3 / 4, below);
      CHECK_LE(fmax(error, wind),
               2e-13); // the grid's own: modes of nearly 2 lmax meet on the rings about the poles
      CHECK_LE(below, 2e-14);
      kugel_grid_destroy(g);
    }
  }
  CASE("reduced Gaussian grids: exact to ntheta - 1, with fewer pixels")
  for (int64_t n = 4; n <= 512; n *= 2) {
    kugel_grid *g = grid_of(KUGEL_GRID_GAUSS_REDUCED, n, 0, NULL);
    int64_t *nphi = malloc((size_t)n * 8);
    CHECK_OK(kugel_grid_rings(g, NULL, nphi, NULL, NULL, NULL));
    for (int64_t i = 0; i < n; i++)
      CHECK(nphi[i] == nphi[n - 1 - i] && nphi[i] % 2 == 0 &&
            (i == 0 || i >= n / 2 || nphi[i] >= nphi[i - 1]));
    double error = n < 512 ? round_trip(g, n - 1, 0) : 0, other = n < 256 ? round_trip(g, n - 1, 2) : 0;
    printf("  %lld rings: %.2f of the full grid's pixels, error %.1e, spin 2 %.1e\n", (long long)n,
           (double)kugel_grid_npix(g) / (double)(2 * n * n), error, other);
    CHECK_LE(error, 1e-13);
    CHECK_LE(other, 1e-13);
    CHECK(n < 64 || (double)kugel_grid_npix(g) < 0.95 * 2 * (double)(n * n));
    free(nphi);
    kugel_grid_destroy(g);
  }
  CASE("reduced Gaussian grids with a list of pixels")
  {
    int64_t list[4] = {3, 9, 8, 5}, nphi[4];
    double weight[4], sum = 0;
    kugel_grid *g = grid_of(KUGEL_GRID_GAUSS_REDUCED, 4, 0, list);
    CHECK_OK(kugel_grid_rings(g, NULL, nphi, NULL, NULL, weight));
    for (int i = 0; i < 4; i++)
      sum += weight[i] * (double)nphi[i];
    CHECK(!memcmp(list, nphi, sizeof list) && kugel_grid_npix(g) == 25);
    CHECK_LE(fabs(sum - 4 * M_PI), 1e-14);
    kugel_grid_destroy(g);
  }
  CASE("bad input, and allocations that fail")
  {
    int64_t bad[2] = {4, 0};
    kugel_grid *g;
    kugel_grid_opts o[] = {{.kind = KUGEL_GRID_LOBATTO, .ntheta = 1, .nphi = 4},
                           {.kind = KUGEL_GRID_LOBATTO, .ntheta = 4, .nphi = 0},
                           {.kind = KUGEL_GRID_GAUSS_OCTAHEDRAL, .ntheta = 5},
                           {.kind = KUGEL_GRID_GAUSS_OCTAHEDRAL, .ntheta = -2},
                           {.kind = KUGEL_GRID_GAUSS_REDUCED, .ntheta = 0},
                           {.kind = KUGEL_GRID_GAUSS_REDUCED, .ntheta = 1000001},
                           {.kind = KUGEL_GRID_GAUSS_REDUCED, .ntheta = 2, .ring_nphi = bad},
                           {.kind = KUGEL_GRID_GAUSS_REDUCED, .ntheta = 2, .phi0 = NAN}};
    for (size_t i = 0; i < sizeof o / sizeof o[0]; i++) {
      o[i].size = sizeof o[i];
      CHECK_IS(kugel_grid_create(NULL, &o[i], &g), KUGEL_EINVAL);
      CHECK(!g);
    }
    for (int64_t k = 1; k < 100; k++) {
      kugel__fault_alloc(k);
      kugel_status s = kugel_grid_create(
          NULL,
          &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_GAUSS_REDUCED, .ntheta = 8},
          &g);
      kugel__fault_alloc(0);
      CHECK((s == KUGEL_ENOMEM && !g) || s == KUGEL_OK);
      if (!s) {
        kugel_grid_destroy(g);
        break;
      }
    }
  }
  END();
}
