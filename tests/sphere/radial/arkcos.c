/* SPDX-License-Identifier: BSD-3-Clause */
/* Radial convolution as Elsner and Wandelt (2011) print it: equal to their formulas written down anew; and
 * where it differs from the sum over pixels, which series with replicated spectra do not. */
#include "check.h"
#include <kugel/radial.h>

static uint64_t seed = 8;

typedef struct rings {
  int64_t n, nphi[256], first[256];
  double theta[256], phi0[256], weight[256];
} rings;

static kugel_grid *make_grid(kugel_grid_kind kind, int64_t n, rings *r)
{
  kugel_grid *g = NULL;
  kugel_grid_opts o = {.size = sizeof o, .kind = kind, .nside = n, .ntheta = n, .nphi = 2 * n, .phi0 = 0.3};
  CHECK_OK(kugel_grid_create(NULL, &o, &g));
  r->n = kugel_grid_nrings(g);
  CHECK_OK(kugel_grid_rings(g, r->theta, r->nphi, r->phi0, r->first, r->weight));
  return g;
}

static kugel_radial *plan(const kugel_grid *g, double width, kugel_radial_method method)
{
  kugel_radial *p = NULL;
  kugel_radial_opts o = {.size = sizeof o, .grid = g, .width = width, .method = method, .tolerance = 1e-13};
  CHECK_OK(kugel_radial_create(NULL, &o, &p));
  return p;
}

/* Transforms of rings to the Nyquist frequency with phases (their eq. 8), the kernel at as many points as the
 * longest ring has (their eq. 9, which is the squared chord), sums over rings, and back. */
static void as_printed(const rings *r, double radius, double fwhm, double norm, const double *f, double *out)
{
  int64_t size = 0;
  for (int64_t i = 0; i < r->n; i++)
    size = r->nphi[i] > size ? r->nphi[i] : size;
  double *sum = calloc((size_t)size + 2, 8), *kernel = malloc((size_t)size * 8);
  for (int64_t i = 1; i < r->n - 1; i++) {
    memset(sum, 0, (size_t)(size + 2) * 8);
    for (int64_t q = 0; q < r->n; q++) {
      for (int64_t k = 0; k < size; k++) {
        double s = sin((r->theta[i] - r->theta[q]) / 2), h = sin(M_PI * (double)k / (double)size);
        double c = sqrt(s * s + sin(r->theta[i]) * sin(r->theta[q]) * h * h), a = 2 * asin(c);
        kernel[k] = a <= radius ? norm * exp(-4 * M_LN2 * a * a / fwhm / fwhm) : 0;
      }
      for (int64_t m = 0; m <= r->nphi[i] / 2 && m <= r->nphi[q] / 2; m++) {
        double re = 0, im = 0, row = 0;
        for (int64_t k = 0; k < size; k++)
          row += kernel[k] / (double)size * cos(2 * M_PI * (double)(m * k % size) / (double)size);
        for (int64_t k = 0; k < r->nphi[q]; k++) {
          double phi = r->phi0[q] + 2 * M_PI * (double)k / (double)r->nphi[q];
          re += r->weight[q] * f[r->first[q] + k] * cos((double)m * phi);
          im -= r->weight[q] * f[r->first[q] + k] * sin((double)m * phi);
        }
        sum[2 * m] += row * re;
        sum[2 * m + 1] += row * im;
      }
    }
    for (int64_t k = 0; k < r->nphi[i]; k++) {
      double phi = r->phi0[i] + 2 * M_PI * (double)k / (double)r->nphi[i], v = 0;
      for (int64_t m = 0; m <= r->nphi[i] / 2; m++)
        v += (m == 0 || 2 * m == r->nphi[i] ? 1 : 2) *
             (sum[2 * m] * cos((double)m * phi) - sum[2 * m + 1] * sin((double)m * phi));
      out[r->first[i] + k] = v;
    }
  }
  free(sum), free(kernel);
}

static void formulas(kugel_grid_kind kind, int64_t n, double width)
{
  rings r;
  kugel_grid *g = make_grid(kind, n, &r);
  int64_t npix = kugel_grid_npix(g);
  kugel_radial *p = plan(g, width, KUGEL_RADIAL_ARKCOS);
  kugel_radial_info info = {.size = sizeof info};
  CHECK_OK(kugel_radial_get_info(p, &info));
  CHECK(info.method == KUGEL_RADIAL_ARKCOS);
  double *f = malloc((size_t)npix * 8), *want = malloc((size_t)npix * 8), *got = malloc((size_t)npix * 8);
  for (int64_t i = 0; i < npix; i++)
    f[i] = check_random(&seed);
  CHECK_OK(kugel_radial_execute(p, KUGEL_ARRAY(f, KUGEL_F64, npix), KUGEL_ARRAY(got, KUGEL_F64, npix), NULL));
  memcpy(want, got, (size_t)npix * 8); /* the first and last ring are another sum */
  as_printed(&r, info.radius, width, info.scale, f, want);
  CHECK_CLOSE(got, want, (size_t)npix, 1e-13);
  kugel_radial_destroy(p);
  kugel_grid_destroy(g);
  free(f), free(want), free(got);
}

/* Largest difference to the sum over pixels of a point source in ring `at`, over the peak: on all rings; and
 * beyond the cut-off. */
static void point(const rings *r, kugel_radial *all[3], int64_t at, double error[3], double beyond[3])
{
  int64_t npix = r->first[r->n - 1] + r->nphi[r->n - 1], source = r->first[at] + r->nphi[at] / 3;
  double *f = calloc((size_t)npix * 4, 8), *out[3] = {f + npix, f + 2 * npix, f + 3 * npix};
  f[source] = 1;
  for (int i = 0; i < 3; i++) {
    CHECK_OK(kugel_radial_execute(all[i], KUGEL_ARRAY(f, KUGEL_F64, npix),
                                  KUGEL_ARRAY(out[i], KUGEL_F64, npix), NULL));
    error[i] = beyond[i] = 0;
    for (int64_t k = 0; k < npix; k++) {
      error[i] = fmax(error[i], fabs(out[i][k] - out[0][k]) / out[0][source]);
      if (out[0][k] == 0)
        beyond[i] = fmax(beyond[i], fabs(out[i][k]) / out[0][source]);
    }
  }
  free(f);
}

/* A source in the fourth ring from the pole, and at the equator, under Gaussians of some pixels. */
static void point_sources(double pixels, double cap_least, double belt_least, double belt_most)
{
  enum { NSIDE = 32 };
  rings r;
  double error[3], beyond[3];
  static const kugel_radial_method methods[] = {KUGEL_RADIAL_DIRECT, KUGEL_RADIAL_RINGS, KUGEL_RADIAL_ARKCOS};
  kugel_grid *g = make_grid(KUGEL_GRID_HEALPIX, NSIDE, &r);
  kugel_radial *all[3];
  for (int i = 0; i < 3; i++)
    all[i] = plan(g, pixels * sqrt(M_PI / 3) / NSIDE, methods[i]);
  point(&r, all, 3, error, beyond);
  printf("  FWHM %g pixels, cap: rings %.1e, arkcos %.1e, beyond the cut-off %.1e\n", pixels, error[1],
         error[2], beyond[2]);
  CHECK_LE(error[1], 1e-12);
  CHECK_LE(cap_least, error[2]);
  point(&r, all, 2 * NSIDE - 1, error, beyond);
  printf("  FWHM %g pixels, belt: rings %.1e, arkcos %.1e, beyond the cut-off %.1e\n", pixels, error[1],
         error[2], beyond[2]);
  CHECK_LE(error[1], 1e-12);
  CHECK_LE(belt_least, error[2]);
  CHECK_LE(error[2], belt_most);
  for (int i = 0; i < 3; i++)
    kugel_radial_destroy(all[i]);
  kugel_grid_destroy(g);
}

int main(void)
{
  CASE("the printed formulas")
  {
    formulas(KUGEL_GRID_HEALPIX, 6, 0.4);
    formulas(KUGEL_GRID_HEALPIX, 8, 0.15);
    formulas(KUGEL_GRID_GAUSS, 13, 0.6);
  }
  CASE("point sources")
  {
    point_sources(1.5, 0.05, 0.05, 0.2);
    point_sources(3, 5e-3, 4e-3, 0.02);
    point_sources(5, 5e-4, 5e-6, 3e-5);
    point_sources(10, 4e-6, 0, 1e-12); /* nothing beyond Nyquist in the belt */
  }
  END();
}
