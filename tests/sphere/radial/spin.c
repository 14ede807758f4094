/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution of pairs of maps with a spin: sums in long double over tangent vectors carried along
 * great circles, harmonics by d^l_22, adjoint, masks, bad input. */
#include "check.h"
#include "core/alloc.h"
#include "sphere/tangent.h"
#include <kugel/radial.h>

static uint64_t seed = 5;

static long double dot(const long double *a, const long double *b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The direction from p towards q, as an angle from south towards east. */
static long double bearing(const pixel *p, const pixel *q)
{
  return atan2l(dot(q->at, p->east), dot(q->at, p->south));
}

static void brute(const kugel_grid *g, int spin, double fwhm, double cut, double norm, const double *f,
                  double *out)
{
  int64_t npix = kugel_grid_npix(g);
  pixel *all = pixels_of(g);
  for (int64_t i = 0; i < npix; i++) {
    long double re = 0, im = 0;
    for (int64_t j = 0; j < npix; j++) {
      const pixel *p = all + i, *q = all + j;
      long double a = angle(p->at, q->at), turn;
      if (a > cut)
        continue;
      if (a > 1e-14L) // at q the circle goes on away from p
        turn = (long double)spin * (bearing(p, q) - bearing(q, p) - M_PIl);
      else // pixels of a pole differ in their south
        turn = (long double)spin * atan2l(dot(q->south, p->east), dot(q->south, p->south));
      long double w = q->weight * expl(-4 * logl(2) * (a / fwhm) * (a / fwhm));
      re += w * (f[j] * cosl(turn) - f[npix + j] * sinl(turn));
      im += w * (f[j] * sinl(turn) + f[npix + j] * cosl(turn));
    }
    out[i] = (double)(norm * re);
    out[npix + i] = (double)(norm * im);
  }
  free(all);
}

static void against_sum(const kugel_grid_opts *grid, int spin, double fwhm, double radius)
{
  kugel_grid *g = NULL;
  kugel_radial *p = NULL;
  CHECK_OK(kugel_grid_create(NULL, grid, &g));
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = fwhm, .radius = radius, .spin = spin};
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  kugel_radial_info info = {.size = sizeof info};
  CHECK_OK(kugel_radial_get_info(p, &info));
  int64_t npix = kugel_grid_npix(g), n = 2 * npix;
  double *f = malloc((size_t)n * 8), *h = malloc((size_t)n * 8), *got = malloc((size_t)n * 8),
         *want = malloc((size_t)n * 8), left = 0, right = 0, size = 0;
  for (int64_t i = 0; i < n; i++) {
    f[i] = check_random(&seed);
    h[i] = check_random(&seed);
  }
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, 2, npix), KUGEL_ARRAY(got, KUGEL_F64, 2, npix),
                                NULL));
  brute(g, spin, fwhm, info.radius, info.scale, f, want);
  CHECK_CLOSE(got, want, (size_t)n, 2e-14);
  kugel_set_num_threads(3);
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, 2, npix), KUGEL_ARRAY(want, KUGEL_F64, 2, npix),
                                NULL));
  kugel_set_num_threads(0);
  CHECK(!memcmp(got, want, (size_t)n * 8));
  CHECK_OK(kugel_radial_adjoint(p, KUGEL_ARRAY(h, KUGEL_F64, 2, npix), KUGEL_ARRAY(want, KUGEL_F64, 2, npix),
                                NULL));
  for (int64_t i = 0; i < n; i++) {
    left += got[i] * h[i];
    right += f[i] * want[i];
    size += fabs(got[i] * h[i]) + fabs(f[i] * want[i]);
  }
  CHECK_LE(fabs(left - right), 1e-14 * size);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f), free(h), free(got), free(want);
}

/* b_l = 2 pi int K(a) d^l_22(a) sin a da, d^l_22 = cos^4(a / 2) P_{l-2}^{(0,4)}(cos a), by the midpoint rule.
 */
static void spin2_coefficients(const kugel_radial *p, double radius, int lmax, double *b)
{
  enum { N = 40000 };
  memset(b, 0, (size_t)(lmax + 1) * 8);
  for (int i = 0; i < N; i++) {
    double a = radius * (i + 0.5) / N, k, x = cos(a), c4 = pow(cos(a / 2), 4), before = 0, now = 1;
    CHECK_OK(kugel_radial_evaluate(p, 1, &a, &k));
    for (int n = 0; n + 2 <= lmax; n++) {
      b[n + 2] += 2 * M_PI * radius / N * k * sin(a) * c4 * now;
      double m = n + 1, t = 2 * m + 4; // P_m^{(0,4)} by its recurrence
      double next = ((t - 1) * (t * (t - 2) * x - 16) * now - 2 * (m - 1) * (m + 3) * t * before) /
                    (2 * m * (m + 4) * (t - 2));
      before = now;
      now = next;
    }
  }
}

static void against_harmonics(void)
{
  enum { LMAX = 40, N = 96 };
  kugel_grid *g = NULL;
  kugel_radial *p = NULL;
  kugel_sht *sht = NULL;
  CHECK_OK(kugel_grid_create(
      NULL,
      &(kugel_grid_opts){
          .size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_GAUSS, .ntheta = N, .nphi = 2 * N},
      &g));
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.16, .spin = 2, .tolerance = 1e-9};
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_sht_create(
      NULL,
      &(kugel_sht_opts){
          .size = sizeof(kugel_sht_opts), .grid = g, .lmax = LMAX, .mode = KUGEL_SHT_SPIN, .spin = 2},
      &sht));
  kugel_radial_info info = {.size = sizeof info};
  CHECK_OK(kugel_radial_get_info(p, &info));
  int64_t npix = kugel_grid_npix(g), nalm = (LMAX + 1) * (LMAX + 2) / 2;
  double b[LMAX + 1], *alm = calloc((size_t)nalm * 4, 8), *f = malloc((size_t)npix * 16),
                      *got = malloc((size_t)npix * 16);
  spin2_coefficients(p, info.radius, LMAX, b);
  for (int pass = 0; pass < 2; pass++) {
    for (int64_t s = 0, i = 0; s < 2; s++)
      for (int m = 0; m <= LMAX; m++)
        for (int l = m; l <= LMAX; l++, i++)
          for (int c = 0; c < 2; c++)
            alm[2 * i + c] = pass ? alm[2 * i + c] * b[l] : l < 2 || (c && !m) ? 0 : check_random(&seed);
    CHECK_OK(kugel_sht_synthesis(sht, KUGEL_ARRAY(alm, KUGEL_C128, 2, nalm),
                                 KUGEL_ARRAY(f, KUGEL_F64, 2, npix), NULL));
    if (!pass)
      CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, 2, npix),
                                    KUGEL_ARRAY(got, KUGEL_F64, 2, npix), NULL));
  }
  CHECK_CLOSE(got, f, (size_t)npix * 2, 1e-7);
  kugel_sht_destroy(sht);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(alm), free(f), free(got);
}

/* Bad in one map is bad in both; a mask divides by the part of the kernel that saw pixels. */
static void masks(void)
{
  enum { NPIX = 3072 };
  kugel_grid *g = NULL;
  kugel_radial *p = NULL, *scalar = NULL;
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = 16},
      &g));
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.2, .spin = 2};
  static double f[2 * NPIX], got[2 * NPIX], want[2 * NPIX], seen[NPIX];
  for (int i = 0; i < 2 * NPIX; i++)
    f[i] = i % NPIX < 1000 ? 0 : check_random(&seed);
  for (int i = 0; i < 1000; i++)
    f[i + (i % 2) * NPIX] = i % 3 ? KUGEL_UNSEEN : NAN;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, 2, NPIX), KUGEL_ARRAY(want, KUGEL_F64, 2, NPIX),
                                NULL));
  kugel_radial_destroy(p);
  o.normalise_mask = 1;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, 2, NPIX), KUGEL_ARRAY(got, KUGEL_F64, 2, NPIX),
                                NULL));
  kugel_radial_destroy(p);
  o.normalise_mask = o.spin = 0;
  o.method = KUGEL_RADIAL_DIRECT;
  for (int i = 0; i < NPIX; i++)
    seen[i] = i < 1000 ? 0 : 1;
  CHECK_OK(kugel_radial_create(NULL, &o, &scalar));
  CHECK_OK(kugel_radial_execute(scalar, KUGEL_ARRAY(seen, KUGEL_F64, NPIX),
                                KUGEL_ARRAY(seen, KUGEL_F64, NPIX), NULL));
  kugel_radial_destroy(scalar);
  for (int i = 0; i < 2 * NPIX; i++)
    if (i % NPIX < 1000)
      CHECK(got[i] == KUGEL_UNSEEN && want[i] == KUGEL_UNSEEN);
    else
      CHECK_LE(fabs(got[i] * seen[i % NPIX] - want[i]), 1e-14);
  kugel_grid_destroy(g);
}

static void bad_input(void)
{
  kugel_grid *g = NULL;
  kugel_radial *p = NULL;
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = 2}, &g));
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = 0.5, .spin = 11};
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_EINVAL);
  o.spin = 2;
  o.method = KUGEL_RADIAL_HARMONIC;
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_ENOTSUP);
  o.method = KUGEL_RADIAL_AUTO;
  double f[96] = {0}, out[96];
  bool done = false;
  for (int64_t n = 1; n < 500 && !done; n++) {
    kugel_ctx_trim(NULL);
    kugel__fault_alloc(n);
    kugel_status s = kugel_radial_create(NULL, &o, &p);
    if (!s)
      s = kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, 2, 48), KUGEL_ARRAY(out, KUGEL_F64, 2, 48), NULL);
    kugel__fault_alloc(0);
    CHECK(s == KUGEL_OK || s == KUGEL_ENOMEM);
    done = s == KUGEL_OK;
    if (!done)
      kugel_radial_destroy(p);
  }
  CHECK(done);
  CHECK_IS(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, 96), KUGEL_ARRAY(f, KUGEL_F64, 96), NULL),
           KUGEL_ESHAPE);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
}

int main(void)
{
  static const double theta[] = {0.1, 0.4, 0.9, 1.1, 1.9, 2.9}, phi0[] = {0, 0.3, 5, -2, 0.7, 1};
  static const double weight[] = {0.1, 0.2, 0.3, 0.15, 0.05, 0.4};
  static const int64_t nphi[] = {1, 7, 12, 9, 12, 5};
  const kugel_grid_opts healpix = {.size = sizeof healpix, .kind = KUGEL_GRID_HEALPIX, .nside = 8},
                        fine = {.size = sizeof fine, .kind = KUGEL_GRID_HEALPIX, .nside = 16},
                        latlon = {.size = sizeof latlon,
                                  .kind = KUGEL_GRID_CLENSHAW_CURTIS,
                                  .ntheta = 13,
                                  .nphi = 28,
                                  .phi0 = 0.2},
                        custom = {.size = sizeof custom,
                                  .kind = KUGEL_GRID_CUSTOM,
                                  .nrings = 6,
                                  .theta = theta,
                                  .ring_nphi = nphi,
                                  .ring_phi0 = phi0,
                                  .ring_weight = weight};
  CASE("HEALPix: caps, belt, past a pole, past the hemisphere")
  {
    against_sum(&healpix, 2, 0.3, 0);
    against_sum(&fine, 2, 0.15, 0.31);
    against_sum(&healpix, 2, 0.9, 2.5);
    against_sum(&healpix, 1, 0.3, 0);
    against_sum(&healpix, -3, 0.4, 0.7);
  }
  CASE("other grids")
  {
    against_sum(&latlon, 2, 0.4, 0);
    against_sum(&latlon, 1, 2, 3);
    against_sum(&custom, 2, 0.8, 1.9);
  }
  CASE("harmonics of spin 2") against_harmonics();
  CASE("masks") masks();
  CASE("bad input, failing allocations") bad_input();
  END();
}
