/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms against direct sums in long double, and their properties: adjoints, round trips, threads,
 * dtypes, batches. */
#include "check.h"
#include "core/alloc.h"
#include "sphere/truth.h"
#include "sphere/info.h"
#include <kugel/sphere.h>

static kugel_grid *make_grid(kugel_grid_kind kind, int64_t a, int64_t b, double phi0)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = kind, .nside = a, .ntheta = a, .nphi = b, .phi0 = phi0};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  return g;
}

static kugel_sht *make_plan(const kugel_grid *g, int64_t lmax, int64_t mmax, kugel_sht_mode mode, int spin)
{
  kugel_sht *p = NULL;
  kugel_sht_opts o = {.size = sizeof o,
                      .grid = g,
                      .lmax = lmax,
                      .mmax = mmax ? mmax : KUGEL_ONLY_M0,
                      .mode = mode,
                      .spin = spin};
  CHECK_OK(kugel_sht_create(NULL, &o, &p));
  return p;
}

static void check_synthesis(const kugel_grid *g, int64_t lmax, int64_t mmax, kugel_sht_mode mode, int spin)
{
  shape s = shape_of(mode, spin);
  int64_t nalm, npix, nrings = kugel_grid_nrings(g);
  kugel_sht *p = make_plan(g, lmax, mmax, mode, spin);
  CHECK_OK(sht_shape(p, &nalm, &npix, NULL, NULL));
  double *alm = random_alm(s.alm, lmax, mmax, s.lowest);
  double *map = calloc((size_t)(s.map * npix), 8), *want = calloc((size_t)(s.map * npix), 8);
  double *theta = malloc((size_t)nrings * 8), *phi0 = malloc((size_t)nrings * 8);
  int64_t *nphi = malloc((size_t)nrings * 8), *first = malloc((size_t)nrings * 8);
  CHECK_OK(kugel_grid_rings(g, theta, nphi, phi0, first, NULL));
  CHECK_OK(kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_C128, s.alm, nalm),
                               KUGEL_ARRAY(map, KUGEL_F64, s.map, npix), NULL));
  for (int64_t r = 0; r < nrings; r++)
    for (int64_t j = 0; j < nphi[r]; j++) {
      double v[3];
      truth(mode, spin, lmax, mmax, alm, nalm, theta[r], phi0[r] + 2 * M_PI * (double)j / (double)nphi[r], v);
      for (int c = 0; c < s.map; c++)
        want[c * npix + first[r] + j] = v[c];
    }
  CHECK_LE(check_l2(map, want, (size_t)(s.map * npix)), 1e-14 + 1e-13 * sqrt((double)lmax / 100));
  // adjoint: <S a, f> = <a, S^T f>
  double *f = malloc((size_t)(s.map * npix) * 8), *back = malloc((size_t)(s.alm * nalm) * 16);
  for (int64_t i = 0; i < s.map * npix; i++)
    f[i] = check_random(&seed);
  CHECK_OK(kugel_sht_synthesis_adjoint(p, KUGEL_ARRAY(f, KUGEL_F64, s.map, npix),
                                       KUGEL_ARRAY(back, KUGEL_C128, s.alm, nalm), NULL));
  double left = dot(s.map * npix, map, f), right = alm_dot(s.alm, nalm, lmax, alm, back);
  CHECK_LE(fabs(left - right), 1e-14 * sqrt(dot(s.map * npix, map, map) * dot(s.map * npix, f, f)));
  free(alm), free(map), free(want), free(theta), free(phi0), free(nphi), free(first), free(f), free(back);
  kugel_sht_destroy(p);
}

static void check_round_trip(kugel_grid_kind kind, int64_t n, int64_t lmax, kugel_sht_mode mode, int spin)
{
  kugel_grid *g = make_grid(kind, n, 2 * lmax + 2, 0.2);
  shape s = shape_of(mode, spin);
  kugel_sht *p = make_plan(g, lmax, lmax, mode, spin);
  int64_t nalm, npix;
  sht_shape(p, &nalm, &npix, NULL, NULL);
  double *alm = random_alm(s.alm, lmax, lmax, s.lowest), *back = malloc((size_t)(s.alm * nalm) * 16);
  double *map = malloc((size_t)(s.map * npix) * 8);
  CHECK_OK(kugel_sht_synthesis(p, KUGEL_ARRAY(alm, KUGEL_C128, s.alm, nalm),
                               KUGEL_ARRAY(map, KUGEL_F64, s.map, npix), NULL));
  CHECK_OK(kugel_sht_analysis(p, KUGEL_ARRAY(map, KUGEL_F64, s.map, npix),
                              KUGEL_ARRAY(back, KUGEL_C128, s.alm, nalm), NULL));
  CHECK_LE(check_l2(back, alm, (size_t)(2 * s.alm * nalm)), 3e-14);
  free(alm), free(back), free(map);
  kugel_sht_destroy(p);
  kugel_grid_destroy(g);
}

int main(void)
{
  static const struct {
    kugel_sht_mode mode;
    int spin;
  } modes[] = {{KUGEL_SHT_SCALAR, 0}, {KUGEL_SHT_SPIN, 1}, {KUGEL_SHT_SPIN, 2}, {KUGEL_SHT_SPIN, 3},
               {KUGEL_SHT_SPIN, 5},   {KUGEL_SHT_TEB, 0},  {KUGEL_SHT_GRAD, 0}, {KUGEL_SHT_DER1, 0}};
  enum { MODES = sizeof modes / sizeof *modes };
  CASE("HEALPix: every mode against direct sums, also beyond Nyquist and with mmax < lmax")
  {
    for (int k = 0; k < MODES; k++) {
      kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 4, 0, 0);
      check_synthesis(g, 11, 11, modes[k].mode, modes[k].spin);
      check_synthesis(g, 20, 20, modes[k].mode, modes[k].spin);
      check_synthesis(g, 9, 3, modes[k].mode, modes[k].spin);
      check_synthesis(g, 6, 0, modes[k].mode, modes[k].spin);
      kugel_grid_destroy(g);
      g = make_grid(KUGEL_GRID_HEALPIX, 3, 0, 0);
      check_synthesis(g, 8, 8, modes[k].mode, modes[k].spin);
      check_synthesis(g, 1, 1, modes[k].mode, modes[k].spin);
      check_synthesis(g, 0, 0, modes[k].mode, modes[k].spin);
      kugel_grid_destroy(g);
    }
  }
  CASE("lat-lon grids with poles, odd and small numbers of pixels")
  {
    for (int kind = KUGEL_GRID_GAUSS; kind <= KUGEL_GRID_MCEWEN_WIAUX; kind++)
      for (int k = 0; k < MODES; k++) {
        kugel_grid *g = make_grid((kugel_grid_kind)kind, 9, 7, 0.3);
        check_synthesis(g, 12, 12, modes[k].mode, modes[k].spin);
        kugel_grid_destroy(g);
        g = make_grid((kugel_grid_kind)kind, 4, 1, -1.3);
        check_synthesis(g, 5, 5, modes[k].mode, modes[k].spin);
        kugel_grid_destroy(g);
      }
  }
  CASE("custom rings in any order and of any length")
  {
    double theta[] = {2.5, M_PI - 1.0, 0.3, 1.0, M_PI / 2, 0, M_PI, 1e-9},
           phi0[] = {0, .1, .2, .3, .4, .5, .6, .7};
    int64_t nphi[] = {4, 6, 5, 6, 37, 3, 2, 64};
    kugel_grid *g;
    kugel_grid_opts o = {.size = sizeof o, .nrings = 8, .theta = theta, .ring_nphi = nphi, .ring_phi0 = phi0};
    CHECK_OK(kugel_grid_create(NULL, &o, &g));
    for (int k = 0; k < MODES; k++)
      check_synthesis(g, 14, 14, modes[k].mode, modes[k].spin);
    kugel_grid_destroy(g);
  }
  CASE("band-limited maps come back from their quadrature")
  {
    for (int k = 0; k < 6; k++) {
      check_round_trip(KUGEL_GRID_GAUSS, 18, 17, modes[k].mode, modes[k].spin);
      check_round_trip(KUGEL_GRID_CLENSHAW_CURTIS, 36, 17, modes[k].mode, modes[k].spin);
      check_round_trip(KUGEL_GRID_FEJER1, 35, 17, modes[k].mode, modes[k].spin);
      check_round_trip(KUGEL_GRID_FEJER2, 35, 17, modes[k].mode, modes[k].spin);
      check_round_trip(KUGEL_GRID_DRISCOLL_HEALY, 36, 17, modes[k].mode, modes[k].spin);
      check_round_trip(KUGEL_GRID_MCEWEN_WIAUX, 35, 17, modes[k].mode, modes[k].spin);
    }
  }
  CASE("analysis and its adjoint agree, with iterations too; the solver inverts synthesis")
  {
    kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 8, 0, 0);
    for (int it = 0; it <= 2; it++) {
      kugel_sht *p;
      kugel_sht_opts o = {.size = sizeof o, .grid = g, .lmax = 20, .mode = KUGEL_SHT_TEB, .iterations = it};
      CHECK_OK(kugel_sht_create(NULL, &o, &p));
      int64_t nalm, npix;
      sht_shape(p, &nalm, &npix, NULL, NULL);
      double *b = random_alm(3, 20, 20, (int[]){0, 2, 2}), *a = malloc((size_t)nalm * 48);
      double *f = malloc((size_t)npix * 24), *h = malloc((size_t)npix * 24);
      for (int64_t i = 0; i < 3 * npix; i++)
        f[i] = check_random(&seed);
      CHECK_OK(kugel_sht_analysis(p, KUGEL_ARRAY(f, KUGEL_F64, 3, npix), KUGEL_ARRAY(a, KUGEL_C128, 3, nalm),
                                  NULL));
      CHECK_OK(kugel_sht_analysis_adjoint(p, KUGEL_ARRAY(b, KUGEL_C128, 3, nalm),
                                          KUGEL_ARRAY(h, KUGEL_F64, 3, npix), NULL));
      double left = alm_dot(3, nalm, 20, a, b), right = dot(3 * npix, f, h);
      CHECK_LE(fabs(left - right),
               1e-14 * sqrt(alm_dot(3, nalm, 20, a, a) * alm_dot(3, nalm, 20, b, b)) * sqrt((double)nalm));
      kugel_solve_stats st;
      CHECK_OK(kugel_sht_synthesis(p, KUGEL_ARRAY(b, KUGEL_C128, 3, nalm), KUGEL_ARRAY(f, KUGEL_F64, 3, npix),
                                   NULL));
      CHECK_OK(kugel_sht_solve(p, KUGEL_ARRAY(f, KUGEL_F64, 3, npix), KUGEL_ARRAY(a, KUGEL_C128, 3, nalm),
                               &(kugel_solve_opts){.size = sizeof(kugel_solve_opts), .tolerance = 1e-13}, &st,
                               NULL));
      CHECK_LE(check_l2(a, b, (size_t)(6 * nalm)), 1e-12);
      CHECK_LE(st.residual, 1e-12);
      free(a), free(b), free(f), free(h);
      kugel_sht_destroy(p);
    }
    kugel_grid_destroy(g);
  }
  CASE("float maps, batches, small blocks and thread counts give the same numbers")
  {
    kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, 64, 0, 0);
    kugel_sht *p = make_plan(g, 100, 100, KUGEL_SHT_SCALAR, 0), *small;
    kugel_sht_opts o = {.size = sizeof o, .grid = g, .lmax = 100};
    kugel_ctx *tight = NULL;
    CHECK_OK(kugel_ctx_create(NULL, &tight));
    CHECK_OK(kugel_ctx_limit_memory(tight, 1)); // as small blocks as there are
    CHECK_OK(kugel_sht_create(tight, &o, &small));
    kugel_ctx_destroy(tight);
    int64_t nalm, npix;
    sht_shape(p, &nalm, &npix, NULL, NULL);
    double *a = random_alm(2, 100, 100, (int[]){0, 0}), *f = malloc((size_t)npix * 16),
           *h = malloc((size_t)npix * 16);
    float *narrow = malloc((size_t)npix * 8);
    kugel_array *alm = KUGEL_ARRAY(a, KUGEL_C128, 2, nalm), *one = KUGEL_ARRAY(a, KUGEL_C128, nalm);
    kugel_set_num_threads(1);
    CHECK_OK(kugel_sht_synthesis(p, alm, KUGEL_ARRAY(f, KUGEL_F64, 2, npix), NULL));
    kugel_set_num_threads(5);
    CHECK_OK(kugel_sht_synthesis(p, alm, KUGEL_ARRAY(h, KUGEL_F64, 2, 1, npix), NULL));
    CHECK(!memcmp(f, h, (size_t)npix * 16));
    CHECK_OK(kugel_sht_synthesis(small, one, KUGEL_ARRAY(h, KUGEL_F64, npix), NULL));
    CHECK_LE(check_l2(h, f, (size_t)npix), 1e-15);
    CHECK_OK(kugel_sht_synthesis(p, alm, KUGEL_ARRAY(narrow, KUGEL_F32, 2, npix), NULL));
    for (int64_t i = 0; i < 2 * npix; i++)
      h[i] = (double)narrow[i];
    CHECK_LE(check_l2(h, f, (size_t)(2 * npix)), 5e-8);
    double *x = malloc((size_t)nalm * 16), *y = malloc((size_t)nalm * 16);
    CHECK_OK(kugel_sht_analysis(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(x, KUGEL_C128, nalm), NULL));
    kugel_set_num_threads(2);
    CHECK_OK(kugel_sht_analysis(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(y, KUGEL_C128, nalm), NULL));
    CHECK(!memcmp(x, y, (size_t)nalm * 16));
    float *ya = malloc((size_t)nalm * 8);
    CHECK_OK(kugel_sht_analysis(small, KUGEL_ARRAY(narrow, KUGEL_F32, npix), KUGEL_ARRAY(ya, KUGEL_C64, nalm),
                                NULL));
    for (int64_t i = 0; i < 2 * nalm; i++)
      y[i] = (double)ya[i];
    CHECK_LE(check_l2(y, x, (size_t)(2 * nalm)), 2e-7);
    kugel_set_num_threads(0);
    free(a), free(f), free(h), free(narrow), free(x), free(y), free(ya);
    kugel_sht_destroy(p);
    kugel_sht_destroy(small);
    kugel_grid_destroy(g);
  }
  END();
}
