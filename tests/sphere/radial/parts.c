/* SPDX-License-Identifier: BSD-3-Clause */
/* Asymmetric kernels as sums of displaced ones: sums over pixels in long double, elliptical beams, bad input.
 */
#include "check.h"
#include "core/alloc.h"
#include "sphere/tangent.h"
#include "sphere/radial/faults.h"
#include <kugel/radial.h>

static uint64_t seed = 9;

static void against_sum(const kugel_grid_opts *grid, double fwhm, bool turned)
{
  enum { PARTS = 4 };
  static const double weight[] = {0.5, 0.3, -0.2, 0.4}, distance[] = {0, 0.2, 0.7, 2.4},
                      bearing[] = {0, 0.5, -2, 4};
  kugel_grid *g = NULL;
  kugel_radial *p = NULL;
  CHECK_OK(kugel_grid_create(NULL, grid, &g));
  int64_t npix = kugel_grid_npix(g), nr = kugel_grid_nrings(g);
  double *orientation = malloc((size_t)nr * 8), *f = malloc((size_t)npix * 8),
         *got = malloc((size_t)npix * 8), *want = malloc((size_t)npix * 8);
  for (int64_t i = 0; i < nr; i++)
    orientation[i] = 3 * check_random(&seed);
  for (int64_t i = 0; i < npix; i++)
    f[i] = check_random(&seed);
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = fwhm, .nparts = PARTS};
  o.part_weight = weight;
  o.part_distance = distance;
  o.part_bearing = bearing;
  o.orientation = turned ? orientation : NULL;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  kugel_radial_info info = {.size = sizeof info};
  CHECK_OK(kugel_radial_get_info(p, &info));
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(got, KUGEL_F64, npix), NULL));
  pixel *all = pixels_of(g);
  for (int64_t i = 0; i < npix; i++) {
    long double sum = 0;
    for (int k = 0; k < PARTS; k++) {
      long double to = bearing[k] + (turned ? orientation[all[i].ring] : 0), centre[3];
      for (int c = 0; c < 3; c++)
        centre[c] = all[i].at[c] * cosl(distance[k]) +
                    (all[i].south[c] * cosl(to) + all[i].east[c] * sinl(to)) * sinl(distance[k]);
      for (int64_t j = 0; j < npix; j++) {
        long double a = angle(centre, all[j].at);
        if (a <= info.radius)
          sum += weight[k] * expl(-4 * logl(2) * (a / fwhm) * (a / fwhm)) * all[j].weight * f[j];
      }
    }
    want[i] = (double)(info.scale * sum);
  }
  CHECK_CLOSE(got, want, (size_t)npix, 2e-14);
  kugel_set_num_threads(3);
  CHECK_OK(
      kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(want, KUGEL_F64, npix), NULL));
  kugel_set_num_threads(0);
  CHECK(!memcmp(got, want, (size_t)npix * 8));
  CHECK_IS(kugel_radial_adjoint(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(f, KUGEL_F64, npix), NULL),
           KUGEL_ENOTSUP);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(orientation), free(f), free(got), free(want), free(all);
}

/* The error of the parts, of the peak: that of the quadrature, then that of the sphere's curvature. */
static double ellipse_error(double major, double minor, int n)
{
  enum { NSIDE = 16, NPIX = 12 * NSIDE * NSIDE };
  double weight[64], distance[64], bearing[64], sum = 0;
  kugel_grid *g = NULL;
  kugel_radial *p = NULL;
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = NSIDE},
      &g));
  CHECK_OK(kugel_radial_ellipse(major, minor, n, weight, distance, bearing));
  for (int k = 0; k < n; k++)
    sum += weight[k];
  CHECK_LE(fabs(sum - 1), 1e-14);
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = minor, .nparts = n, .tolerance = 1e-9};
  o.part_weight = weight;
  o.part_distance = distance;
  o.part_bearing = bearing;
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  static double f[NPIX], got[NPIX];
  pixel *all = pixels_of(g);
  memset(f, 0, sizeof f);
  int64_t source = NPIX / 2 + 5;
  f[source] = 1 / (double)all[source].weight;
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, NPIX), KUGEL_ARRAY(got, KUGEL_F64, NPIX), NULL));
  double worst = 0, peak = 4 * M_LN2 / (M_PI * major * minor);
  for (int i = 0; i < NPIX; i++) {
    long double a = angle(all[i].at, all[source].at), x = 0, y = 0;
    for (int c = 0; c < 3; c++) {
      x += all[source].at[c] * all[i].south[c];
      y += all[source].at[c] * all[i].east[c];
    }
    long double s = a / (sqrtl(x * x + y * y) + 1e-300L), u = x * s / major, v = y * s / minor;
    double want = peak * (double)expl(-4 * logl(2) * (u * u + v * v));
    worst = fmax(worst, fabs(got[i] - want) / peak);
  }
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(all);
  return worst;
}

static void ellipses(void)
{
  double last = 1;
  for (int n = 1; n <= 9; n += 2) {
    double e = ellipse_error(0.015, 0.01, n);
    printf("  major 1.5 minor, %d parts: error %.1e of the peak\n", n, e);
    CHECK_LE(e, last);
    last = e / 3;
  }
  CHECK_LE(ellipse_error(0.15, 0.1, 9), 0.15 * 0.15);  /* curvature */
  CHECK_LE(ellipse_error(0.03, 0.02, 9), 0.03 * 0.03); /* and it falls with the square */
  CHECK_LE(ellipse_error(0.1, 0.1, 3), 0.1 * 0.1);
}

static void bad_input(void)
{
  kugel_grid *g = NULL;
  kugel_radial *p = NULL;
  double one[1] = {1}, bad[1] = {NAN}, w[3];
  CHECK_OK(kugel_grid_create(
      NULL, &(kugel_grid_opts){.size = sizeof(kugel_grid_opts), .kind = KUGEL_GRID_HEALPIX, .nside = 2}, &g));
  const kugel_radial_opts good = {.size = sizeof good,
                                  .grid = g,
                                  .width = 0.5,
                                  .nparts = 1,
                                  .part_weight = one,
                                  .part_distance = one,
                                  .part_bearing = one};
  kugel_radial_opts o = good;
  o.part_weight = NULL;
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_EINVAL);
  o = good;
  o.part_distance = bad;
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_EINVAL);
  o = good;
  o.nparts = -1;
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_EINVAL);
  o = good;
  o.method = KUGEL_RADIAL_HARMONIC;
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_ENOTSUP);
  o = good;
  double turn[7] = {0, 0, 0, INFINITY, 0, 0, 0};
  o.orientation = turn;
  CHECK_IS(kugel_radial_create(NULL, &o, &p), KUGEL_EINVAL);
  CHECK_IS(kugel_radial_ellipse(1, 2, 3, w, w, w), KUGEL_EINVAL);
  CHECK_IS(kugel_radial_ellipse(2, 1, 65, w, w, w), KUGEL_EINVAL);
  CHECK_IS(kugel_radial_ellipse(2, NAN, 3, w, w, w), KUGEL_EINVAL);
  CHECK_IS(kugel_radial_ellipse(2, 1, 3, w, NULL, w), KUGEL_EINVAL);
  turn[3] = 0;
  radial_faults(&o, 48);
  kugel_grid_destroy(g);
}

int main(void)
{
  static const double theta[] = {0.1, 0.4, 0.9, 1.1, 1.9, 2.9}, phi0[] = {0, 0.3, 5, -2, 0.7, 1};
  static const double weight[] = {0.1, 0.2, 0.3, 0.15, 0.05, 0.4};
  static const int64_t nphi[] = {1, 7, 12, 9, 12, 5};
  const kugel_grid_opts healpix = {.size = sizeof healpix, .kind = KUGEL_GRID_HEALPIX, .nside = 8},
                        gauss = {.size = sizeof gauss, .kind = KUGEL_GRID_GAUSS, .ntheta = 12, .nphi = 26},
                        custom = {.size = sizeof custom,
                                  .kind = KUGEL_GRID_CUSTOM,
                                  .nrings = 6,
                                  .theta = theta,
                                  .ring_nphi = nphi,
                                  .ring_phi0 = phi0,
                                  .ring_weight = weight};
  CASE("displaced kernels against sums over pixels")
  {
    against_sum(&healpix, 0.3, false);
    against_sum(&healpix, 0.3, true);
    against_sum(&gauss, 0.4, true);
    against_sum(&custom, 0.8, true);
  }
  CASE("elliptical beams") ellipses();
  CASE("bad input, failing allocations") bad_input();
  END();
}
