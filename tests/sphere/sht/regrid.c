/* SPDX-License-Identifier: BSD-3-Clause */
/* ISA: once. Regridding: a bump off every symmetry arrives where it was on every pair of grids, vectors too;
 * truncation, beams, batches, masks, the adjoint, relief of the Earth, bad input, failing allocations. */
#include "sphere/bump.h"
#include "sphere/every_grid.h"
#include "sphere/golden.h"
#include "core/alloc.h"
#include <kugel/regrid.h>

static uint64_t seed = 11;

static kugel_regrid *plan_of(kugel_regrid_opts o)
{
  kugel_regrid *p = NULL;
  o.size = sizeof o;
  CHECK_OK(kugel_regrid_create(NULL, &o, &p));
  return p;
}

/* lmax is not given: also that it is the grids' own. */
static void check_pair(kugel_grid *from, kugel_grid *to, int iterations, double bound, int vectors)
{
  int64_t a = kugel_grid_npix(from), b = kugel_grid_npix(to), lmax;
  double *in = malloc((size_t)a * 16), *got = malloc((size_t)b * 16), *want = malloc((size_t)b * 16);
  kugel_regrid_opts o = {.from = from, .to = to, .iterations = iterations};
  bool custom_grid = kugel_grid_lmax(from) < 0 || kugel_grid_lmax(to) < 0;
  if (custom_grid)
    o.lmax = LMAX;
  kugel_regrid *p = plan_of(o);
  kugel_regrid_info info = {.size = sizeof info};
  CHECK_OK(kugel_regrid_get_info(p, &info));
  lmax = info.lmax;
  CHECK(lmax >= LMAX);
  bump_maps(from, LMAX, 0.1, in, NULL, NULL);
  bump_maps(to, LMAX, 0.1, want, NULL, NULL);
  CHECK_OK(kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_F64, a), KUGEL_ARRAY(got, KUGEL_F64, b), NULL));
  CHECK_LE(bump_error(b, got, want), bound);
  kugel_regrid_destroy(p);
  if (vectors) {
    static int turned; // (v_theta, v_phi) and (u, v) by turns
    turned = !turned;
    o.spin = 1;
    p = plan_of(o);
    bump_maps(from, LMAX, 0.1, NULL, turned ? NULL : in, turned ? in : NULL);
    bump_maps(to, LMAX, 0.1, NULL, turned ? NULL : want, turned ? want : NULL);
    CHECK_OK(
        kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_F64, 2, a), KUGEL_ARRAY(got, KUGEL_F64, 2, b), NULL));
    CHECK_LE(bump_error(2 * b, got, want), bound);
    kugel_regrid_destroy(p);
  }
  free(in), free(got), free(want);
}

static void check_beam(void)
{
  enum { N = 40 };
  const double fwhm = 0.3, sigma = fwhm / sqrt(8 * M_LN2);
  kugel_grid *from = grid_of(KUGEL_GRID_GAUSS, N, 2 * N, 0), *to = grid_of(KUGEL_GRID_FEJER1, 30, 58, 0.3);
  int64_t a = kugel_grid_npix(from), b = kugel_grid_npix(to);
  double *in = malloc((size_t)a * 16), *got = malloc((size_t)b * 16), *want = malloc((size_t)b * 16),
         window[N];
  bump_maps(from, N - 1, 0.1, in, NULL, NULL);
  bump_maps(to, 28, sqrt(0.01 + sigma * sigma), want, NULL, NULL); // beams of Gaussians add up; lmax of `to`
  for (int l = 0; l < N; l++)
    window[l] = exp(-0.5 * l * (l + 1) * sigma * sigma);
  for (int k = 0; k < 2; k++) {
    kugel_regrid_opts o = {
        .from = from, .to = to, .fwhm = k ? 0 : fwhm, .window = k ? window : NULL, .n_window = k * N};
    kugel_regrid *p = plan_of(o);
    CHECK_OK(kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_F64, a), KUGEL_ARRAY(got, KUGEL_F64, b), NULL));
    CHECK_LE(bump_error(b, got, want), 1e-13);
    kugel_regrid_destroy(p);
  }
  // spin 1: the gradient of a smoothed bump, but for exp(sigma^2 / 2)
  kugel_regrid *p = plan_of((kugel_regrid_opts){.from = from, .to = to, .fwhm = fwhm, .spin = 1});
  bump_maps(from, N - 1, 0.1, NULL, in, NULL);
  bump_maps(to, 28, sqrt(0.01 + sigma * sigma), NULL, want, NULL);
  for (int64_t i = 0; i < 2 * b; i++)
    want[i] *= exp(0.5 * sigma * sigma);
  CHECK_OK(
      kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_F64, 2, a), KUGEL_ARRAY(got, KUGEL_F64, 2, b), NULL));
  CHECK_LE(bump_error(2 * b, got, want), 1e-13);
  kugel_regrid_destroy(p);
  kugel_grid_destroy(from);
  kugel_grid_destroy(to);
  free(in), free(got), free(want);
}

// [2, 3, npix] doubles to floats and back, and one at a time.
static void check_batch(void)
{
  kugel_grid *from = grid_of(KUGEL_GRID_GAUSS, 9, 18, 0), *to = grid_of(KUGEL_GRID_HEALPIX, 4, 0, 0);
  enum { A = 162, B = 192 };
  static double in[6 * A], one[B], pairs[3][2 * B];
  static float out[6 * B];
  for (int i = 0; i < 6 * A; i++)
    in[i] = check_random(&seed);
  kugel_regrid *p = plan_of((kugel_regrid_opts){.from = from, .to = to});
  CHECK_OK(kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_F64, 2, 3, A), KUGEL_ARRAY(out, KUGEL_F32, 2, 3, B),
                                NULL));
  for (int k = 0; k < 6; k++) {
    CHECK_OK(
        kugel_regrid_execute(p, KUGEL_ARRAY(in + k * A, KUGEL_F64, A), KUGEL_ARRAY(one, KUGEL_F64, B), NULL));
    for (int i = 0; i < B; i++)
      CHECK(out[k * B + i] == (float)one[i]);
  }
  CHECK_OK(
      kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_F64, 0, A), KUGEL_ARRAY(out, KUGEL_F32, 0, B), NULL));
  CHECK_IS(kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_F64, 2, A), KUGEL_ARRAY(out, KUGEL_F32, 3, B), NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_F64, B), KUGEL_ARRAY(out, KUGEL_F32, B), NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_I32, A), KUGEL_ARRAY(out, KUGEL_F32, B), NULL),
           KUGEL_ESHAPE);
  CHECK_IS(kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_F64, A), KUGEL_ARRAY(in, KUGEL_F64, B), NULL),
           KUGEL_EINVAL);
  kugel_regrid_destroy(p);
  p = plan_of((kugel_regrid_opts){.from = from, .to = to, .spin = 2});
  CHECK_OK(kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_F64, 3, 2, A),
                                KUGEL_ARRAY(pairs, KUGEL_F64, 3, 2, B), NULL));
  double pair[2 * B];
  CHECK_OK(kugel_regrid_execute(p, KUGEL_ARRAY(in + 4 * A, KUGEL_F64, 2, A),
                                KUGEL_ARRAY(pair, KUGEL_F64, 2, B), NULL));
  CHECK(!memcmp(pair, pairs[2], sizeof pair));
  kugel_regrid_destroy(p);
  kugel_grid_destroy(from);
  kugel_grid_destroy(to);
}

// Bad pixels: an error, zeros, or UNSEEN where the mask says so.
static void check_masks(void)
{
  kugel_grid *from = grid_of(KUGEL_GRID_GAUSS, 32, 64, 0), *to = grid_of(KUGEL_GRID_FEJER1, 40, 80, 0);
  enum { A = 32 * 64, B = 40 * 80 };
  static double in[2 * A], out[2 * B], zero[2 * A], want[2 * B];
  for (int i = 0; i < 2 * A; i++) {
    bool bad = i < A && i / 64 < 8 && i % 64 < 32; // a quarter of the north, in the first of two maps
    in[i] = bad ? (i % 2 ? NAN : KUGEL_UNSEEN) : 1;
    zero[i] = bad ? 0 : 1;
  }
  kugel_array *two = KUGEL_ARRAY(in, KUGEL_F64, 2, A), *result = KUGEL_ARRAY(out, KUGEL_F64, 2, B);
  kugel_regrid *p = plan_of((kugel_regrid_opts){.from = from, .to = to});
  CHECK_IS(kugel_regrid_execute(p, two, result, NULL), KUGEL_EINVAL);
  CHECK_OK(
      kugel_regrid_execute(p, KUGEL_ARRAY(zero, KUGEL_F64, 2, A), KUGEL_ARRAY(want, KUGEL_F64, 2, B), NULL));
  kugel_regrid_destroy(p);
  p = plan_of((kugel_regrid_opts){.from = from, .to = to, .bad_pixels = KUGEL_BAD_ZERO});
  CHECK_OK(kugel_regrid_execute(p, two, result, NULL));
  CHECK(!memcmp(out, want, sizeof out));
  kugel_regrid_destroy(p);
  for (int spin = 0; spin < 2; spin++) {
    p = plan_of((kugel_regrid_opts){
        .from = from, .to = to, .bad_pixels = KUGEL_BAD_ZERO, .least_good = 0.5, .spin = spin});
    CHECK_OK(kugel_regrid_execute(p, two, result, NULL));
    CHECK(out[4 * 80 + 20] == KUGEL_UNSEEN && out[4 * 80 + 60] != KUGEL_UNSEEN &&
          out[30 * 80 + 20] != KUGEL_UNSEEN);
    CHECK((out[B + 4 * 80 + 20] == KUGEL_UNSEEN) == (spin == 1)); // pairs have one mask
    int64_t blank = 0;
    for (int i = 0; i < B; i++)
      blank += out[i] == KUGEL_UNSEEN;
    CHECK(blank > B / 8 - 80 && blank < B / 8 + 80);
    kugel_regrid_destroy(p);
  }
  kugel_grid_destroy(from);
  kugel_grid_destroy(to);
}

static void check_adjoint(kugel_grid *from, kugel_grid *to, int spin, double fwhm)
{
  int64_t n = spin ? 2 : 1, a = n * kugel_grid_npix(from), b = n * kugel_grid_npix(to);
  double *x = malloc((size_t)a * 8), *rx = malloc((size_t)b * 8), *y = malloc((size_t)b * 8),
         *ty = malloc((size_t)a * 8);
  kugel_regrid *p = plan_of(
      (kugel_regrid_opts){.from = from, .to = to, .spin = spin, .fwhm = fwhm, .iterations = 1, .lmax = LMAX});
  for (int64_t i = 0; i < a; i++)
    x[i] = check_random(&seed);
  for (int64_t i = 0; i < b; i++)
    y[i] = check_random(&seed);
  CHECK_OK(kugel_regrid_execute(p, KUGEL_ARRAY(x, KUGEL_F64, n, a / n), KUGEL_ARRAY(rx, KUGEL_F64, n, b / n),
                                NULL));
  CHECK_OK(kugel_regrid_adjoint(p, KUGEL_ARRAY(y, KUGEL_F64, n, b / n), KUGEL_ARRAY(ty, KUGEL_F64, n, a / n),
                                NULL));
  double left = 0, right = 0, norm_rx = 0, norm_y = 0;
  for (int64_t i = 0; i < b; i++) {
    left += rx[i] * y[i];
    norm_rx += rx[i] * rx[i];
    norm_y += y[i] * y[i];
  }
  for (int64_t i = 0; i < a; i++)
    right += x[i] * ty[i];
  CHECK_LE(fabs(left - right) / sqrt(norm_rx * norm_y), 1e-14);
  kugel_regrid_destroy(p);
  free(x), free(rx), free(y), free(ty);
}

// Heights at places of the Earth, in metres, of the relief on rows of latitude taken to other grids.
static void check_relief(void)
{
  enum { ROWS = 180, COLUMNS = 360 };
  size_t bytes;
  float *relief = golden_npy("sphere/earth/etopo60_fejer1_180x360.npy", &bytes);
  if (!relief)
    return;
  CHECK(bytes == sizeof(float) * ROWS * COLUMNS);
  kugel_grid *from = grid_of(KUGEL_GRID_FEJER1, ROWS, COLUMNS, M_PI / COLUMNS);
  static const struct {
    const char *name;
    double lat, lon, lo, hi;
  } places[] = {{"Tibet", 33, 88, 4000, 6000},       {"Greenland", 72, -40, 1500, 3500},
                {"Altiplano", -19, -67, 2500, 5000}, {"East Antarctica", -80, 90, 2500, 4500},
                {"Pacific", 10, -150, -6500, -4000}, {"Sahara", 23, 10, 200, 1200}};
  kugel_grid *to[] = {grid_of(KUGEL_GRID_HEALPIX, 64, 0, 0), grid_of(KUGEL_GRID_GAUSS_OCTAHEDRAL, 256, 0, 0),
                      grid_of(KUGEL_GRID_CLENSHAW_CURTIS, 91, 180, 0)};
  for (int k = 0; k < 3; k++) {
    int64_t npix = kugel_grid_npix(to[k]), n = kugel_grid_nrings(to[k]);
    float *map = malloc((size_t)npix * 4);
    double *theta = malloc((size_t)n * 16), *phi0 = theta + n;
    int64_t *nphi = malloc((size_t)n * 16), *first = nphi + n;
    kugel_regrid *p = plan_of((kugel_regrid_opts){.from = from, .to = to[k], .fwhm = 2 * M_PI / 180});
    CHECK_OK(kugel_regrid_execute(p, KUGEL_ARRAY(relief, KUGEL_F32, ROWS * COLUMNS),
                                  KUGEL_ARRAY(map, KUGEL_F32, npix), NULL));
    CHECK_OK(kugel_grid_rings(to[k], theta, nphi, phi0, first, NULL));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
      double t = (90 - places[i].lat) * M_PI / 180, phi = places[i].lon * M_PI / 180;
      int64_t ring = 0;
      while (ring + 1 < n && fabs(theta[ring + 1] - t) < fabs(theta[ring] - t))
        ring++;
      int64_t at = (int64_t)llround((phi - phi0[ring]) * (double)nphi[ring] / (2 * M_PI));
      double h = (double)map[first[ring] + (at + nphi[ring]) % nphi[ring]];
      if (!(h > places[i].lo && h < places[i].hi))
        CHECK_FAIL("grid %d: %s is at %g m", k, places[i].name, h);
    }
    kugel_regrid_destroy(p);
    kugel_grid_destroy(to[k]);
    free(map), free(theta), free(nphi);
  }
  free(relief);
  kugel_grid_destroy(from);
}

static void check_bad(kugel_grid *gauss, kugel_grid *own)
{
  double w[2] = {1, 1}, theta = 1;
  int64_t nphi = 4;
  kugel_grid *bare;
  kugel_regrid *p = (kugel_regrid *)1;
  CHECK_OK(kugel_grid_create(
      NULL,
      &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .nrings = 1, .theta = &theta, .ring_nphi = &nphi},
      &bare));
  kugel_regrid_opts o[] = {{.from = NULL, .to = gauss},
                           {.from = gauss, .to = NULL},
                           {.from = gauss, .to = own}, // lmax
                           {.from = own, .to = gauss},
                           {.from = gauss, .to = gauss, .lmax = -1},
                           {.from = gauss, .to = gauss, .spin = -1},
                           {.from = gauss, .to = gauss, .fwhm = -1},
                           {.from = gauss, .to = gauss, .fwhm = NAN},
                           {.from = gauss, .to = gauss, .n_window = 2},
                           {.from = gauss, .to = gauss, .n_window = 2, .window = w, .fwhm = 1},
                           {.from = gauss, .to = gauss, .least_good = 0.5},
                           {.from = gauss, .to = gauss, .least_good = NAN, .bad_pixels = KUGEL_BAD_ZERO},
                           {.from = gauss, .to = gauss, .least_good = 1.5, .bad_pixels = KUGEL_BAD_ZERO}};
  for (size_t i = 0; i < sizeof o / sizeof o[0]; i++) {
    o[i].size = sizeof o[i];
    CHECK_IS(kugel_regrid_create(NULL, &o[i], &p), KUGEL_EINVAL);
    CHECK(!p);
  }
  kugel_regrid_opts none = {.size = sizeof none, .from = bare, .to = gauss, .lmax = 1};
  CHECK_IS(kugel_regrid_create(NULL, &none, &p), KUGEL_ENOTSUP);
  CHECK_IS(kugel_regrid_create(NULL, NULL, &p), KUGEL_EINVAL);
  CHECK_IS(kugel_regrid_create(NULL, &none, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_regrid_execute(NULL, NULL, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_regrid_adjoint(NULL, NULL, NULL, NULL), KUGEL_EINVAL);
  CHECK_IS(kugel_regrid_get_info(NULL, NULL), KUGEL_EINVAL);
  p = plan_of((kugel_regrid_opts){.from = gauss, .to = gauss});
  CHECK_IS(kugel_regrid_execute(p, NULL, NULL, NULL), KUGEL_EINVAL);
  kugel_regrid_destroy(p);
  kugel_regrid_destroy(NULL);
  kugel_grid_destroy(bare);
  CHECK(kugel_grid_lmax(NULL) == -1);
}

static void check_allocations(void)
{
  kugel_grid *from = grid_of(KUGEL_GRID_GAUSS, 5, 10, 0), *to = grid_of(KUGEL_GRID_GAUSS_OCTAHEDRAL, 8, 0, 0);
  static double in[100], out[500];
  for (int64_t k = 1;; k++) {
    kugel_regrid *p = NULL;
    in[3] = NAN;
    kugel__fault_alloc(k);
    kugel_status s = kugel_regrid_create(NULL,
                                         &(kugel_regrid_opts){.size = sizeof(kugel_regrid_opts),
                                                              .from = from,
                                                              .to = to,
                                                              .spin = 1,
                                                              .fwhm = 0.1,
                                                              .least_good = 0.5,
                                                              .bad_pixels = KUGEL_BAD_ZERO},
                                         &p);
    if (!s)
      s = kugel_regrid_execute(p, KUGEL_ARRAY(in, KUGEL_F64, 2, 50),
                               KUGEL_ARRAY(out, KUGEL_F64, 2, kugel_grid_npix(to)), NULL);
    if (!s)
      s = kugel_regrid_adjoint(p, KUGEL_ARRAY(out, KUGEL_F64, 2, kugel_grid_npix(to)),
                               KUGEL_ARRAY(in, KUGEL_F64, 2, 50), NULL);
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
    kugel_regrid_destroy(p);
    kugel_ctx_trim(NULL);
    if (!s || k > 500)
      break;
  }
  kugel_grid_destroy(from);
  kugel_grid_destroy(to);
}

int main(void)
{
  kugel_grid *g[GRIDS];
  grids_make(g);
  CASE("grids know their lmax")
  {
    static const int64_t want[] = {LMAX, LMAX, LMAX + 1, LMAX, LMAX, LMAX, LMAX, LMAX, LMAX, -1, 32, 40};
    for (int i = 0; i < GRIDS; i++)
      if (kugel_grid_lmax(g[i]) != want[i])
        CHECK_FAIL("grid %d: lmax %lld, not %lld", i, (long long)kugel_grid_lmax(g[i]), (long long)want[i]);
  }
  CASE("a bump and its gradient arrive where they were, on every pair of grids")
  for (int i = 0; i < GRIDS - 1; i++)
    for (int k = 0; k < GRIDS; k++)
      check_pair(g[i], g[k], i == 10 ? 20 : 0, i == 8 ? 2e-13 : 5e-14,
                 (i + k) % 3 == 0); // octahedral: its own error
  CASE("beams, and truncation to the lower lmax") check_beam();
  CASE("batches, types of numbers, shapes") check_batch();
  CASE("masks") check_masks();
  CASE("the adjoint")
  {
    check_adjoint(g[0], g[8], 0, 0);
    check_adjoint(g[10], g[2], 0, 0.1);
    check_adjoint(g[1], g[10], 1, 0.1);
    check_adjoint(g[9], g[7], 2, 0);
  }
  CASE("relief of the Earth") check_relief();
  CASE("bad input") check_bad(g[0], g[9]);
  CASE("every allocation may fail") check_allocations();
  for (int i = 0; i < GRIDS; i++)
    kugel_grid_destroy(g[i]);
  END();
}
