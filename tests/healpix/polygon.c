/* SPDX-License-Identifier: BSD-3-Clause */
/* Polygons against every pixel's centre and outline. */
#include "check.h"
#include "core/alloc.h"
#include <kugel/healpix.h>

#define RING   KUGEL_ORDER_RING
#define NESTED KUGEL_ORDER_NESTED
enum { STEP = 8, POINTS = 4 * STEP, MOST = 12 };
static uint64_t seed = 17;

static double uniform(void)
{
  return (check_random(&seed) + 1) / 2;
}

// Vertices on a circle of the given radius about a random centre, which are convex.
static void make(int64_t n, double radius, int kind, double (*v)[3])
{
  double z = kind == 0   ? 1
             : kind == 1 ? -0.99999
                         : 2 * uniform() - 1,
         phi = 2 * M_PI * uniform(), s = sqrt(1 - z * z);
  double a[3] = {z * cos(phi), z * sin(phi), -s}, b[3] = {-sin(phi), cos(phi), 0},
         c[3] = {s * cos(phi), s * sin(phi), z};
  for (int64_t i = 0; i < n; i++) {
    double t = 2 * M_PI * ((double)i + 0.8 * uniform()) / (double)n, way = kind % 2 ? -1 : 1;
    for (int k = 0; k < 3; k++)
      v[i][k] = 7 * (cos(radius) * c[k] + sin(radius) * (cos(t) * a[k] + way * sin(t) * b[k]));
  }
}

// The smallest scaled distance of a point from the edges, positive inside.
static double depth(int64_t n, const long double (*m)[3], const double *u)
{
  long double least = 9;
  for (int64_t i = 0; i < n; i++)
    least = fminl(least, m[i][0] * u[0] + m[i][1] * u[1] + m[i][2] * u[2]);
  return (double)least;
}

static void normals(int64_t n, const double (*v)[3], long double (*m)[3])
{
  for (int64_t i = 0; i < n; i++) {
    const double *a = v[i], *b = v[(i + 1) % n], *c = v[(i + 2) % n];
    long double w[3];
    for (int k = 0; k < 3; k++)
      w[k] = (long double)a[(k + 1) % 3] * b[(k + 2) % 3] - (long double)a[(k + 2) % 3] * b[(k + 1) % 3];
    long double size = sqrtl(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]),
                way = w[0] * c[0] + w[1] * c[1] + w[2] * c[2] > 0 ? 1 : -1;
    for (int k = 0; k < 3; k++)
      m[i][k] = way * w[k] / size;
  }
}

static void members(const kugel_pixset *set, uint8_t *in, int64_t npix)
{
  memset(in, 0, (size_t)npix);
  for (int64_t r = 0; r < set->n_ranges; r++)
    for (int64_t p = set->ranges[2 * r]; p < set->ranges[2 * r + 1]; p++)
      in[p] = 1;
}

static void check_polygon(int64_t nside, int64_t n, const double (*v)[3], const double *centres,
                          const double *outlines)
{
  int64_t npix = kugel_healpix_npix(nside), bad = 0, missed = 0, extra = 0, differ = 0, holds[MOST];
  uint8_t *in = malloc((size_t)npix), *over = malloc((size_t)npix), *nest = malloc((size_t)npix);
  long double m[MOST][3];
  kugel_pixset *set;
  normals(n, v, m);
  CHECK_OK(kugel_healpix_query_polygon(NULL, nside, RING, n, v[0], 0, &set));
  members(set, in, npix);
  kugel_pixset_destroy(set);
  CHECK_OK(kugel_healpix_query_polygon(NULL, nside, RING, n, v[0], 1, &set));
  members(set, over, npix);
  kugel_pixset_destroy(set);
  CHECK_OK(kugel_healpix_vec2pix(NULL, nside, RING, n, v[0], holds));
  for (int64_t i = 0; i < n; i++)
    missed += !over[holds[i]];
  for (int64_t i = 0; i < npix; i++) {
    double d = depth(n, m, centres + 3 * i);
    bad += fabs(d) > 1e-12 && in[i] != (d > 0);
    bad += in[i] && !over[i];
    double most = -9;
    for (int k = 0; k < POINTS; k++)
      most = fmax(most, depth(n, m, outlines + 3 * (i * POINTS + k)));
    missed += most > 1e-9 && !over[i];
    for (int64_t e = 0; e < n && over[i] && !in[i]; e++) { // reaches over each edge
      double reach = -9;
      for (int k = 0; k < POINTS; k++)
        reach = fmax(reach, depth(1, m + e, outlines + 3 * (i * POINTS + k)));
      extra += reach < -kugel_healpix_max_pixel_radius(nside) / STEP;
    }
  }
  CHECK(bad == 0);
  CHECK(missed == 0);
  CHECK(extra == 0);
  for (int k = 0; k < 2 && !(nside & (nside - 1)); k++) {
    CHECK_OK(kugel_healpix_query_polygon(NULL, nside, NESTED, n, v[0], k, &set));
    members(set, nest, npix);
    kugel_pixset_destroy(set);
    for (int64_t i = 0; i < npix; i++) {
      int64_t p;
      CHECK_OK(kugel_healpix_convert(NULL, nside, RING, NESTED, 1, &i, &p));
      differ += nest[p] != (k ? over : in)[i];
    }
  }
  CHECK(differ == 0);
  free(in), free(over), free(nest);
}

int main(void)
{
  double v[MOST][3];
  CASE("polygons hold the centres in them, inclusive ones each pixel that they overlap")
  {
    int64_t sizes[] = {1, 2, 3, 8, 15};
    for (int k = 0; k < 5; k++) {
      int64_t npix = kugel_healpix_npix(sizes[k]), *p = malloc((size_t)npix * 8);
      double *centres = malloc((size_t)npix * 24), *outlines = malloc((size_t)npix * 24 * POINTS);
      for (int64_t i = 0; i < npix; i++)
        p[i] = i;
      CHECK_OK(kugel_healpix_pix2vec(NULL, sizes[k], RING, npix, p, centres));
      CHECK_OK(kugel_healpix_boundaries(NULL, sizes[k], RING, npix, p, STEP, outlines));
      for (int t = 0; t < 60; t++) {
        int64_t n = 3 + t % (MOST - 2);
        make(n, pow(10, -2 * uniform()) * 1.5, t % 7, v);
        check_polygon(sizes[k], n, (const double(*)[3])v, centres, outlines);
      }
      free(p), free(centres), free(outlines);
    }
  }
  CASE("an eighth of the sphere")
  {
    double eighth[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int64_t nside = 1; nside <= 64; nside *= 2) {
      kugel_pixset *set;
      CHECK_OK(kugel_healpix_query_polygon(NULL, nside, NESTED, 3, eighth[0], 0, &set));
      double share = (double)set->n_pixels / (double)kugel_healpix_npix(nside); // edges count as inside
      CHECK(share >= 0.125 && share <= 0.125 + 1.5 / (double)nside);
      kugel_pixset_destroy(set);
    }
  }
  CASE("small polygons at the largest nside")
  for (int t = 0; t < 30; t++) {
    int64_t nside = (int64_t)1 << 29, n = 3 + t % 5, found[3000];
    long double m[MOST][3];
    double u[3], radius = 1e-8 * (1 + uniform());
    kugel_pixset *set;
    make(n, radius, 2, v);
    normals(n, (const double(*)[3])v, m);
    CHECK_OK(kugel_healpix_query_polygon(NULL, nside, t % 2 ? NESTED : RING, n, v[0], 0, &set));
    CHECK(set->n_pixels > 3 && set->n_pixels < 3000);
    CHECK_OK(kugel_pixset_pixels(set, found));
    for (int64_t i = 0; i < set->n_pixels; i++) {
      CHECK_OK(kugel_healpix_pix2vec(NULL, nside, t % 2 ? NESTED : RING, 1, found + i, u));
      CHECK(depth(n, (const long double(*)[3])m, u) > -2e-15);
    }
    kugel_pixset_destroy(set);
  }
  CASE("bad polygons and failing allocations")
  {
    kugel_pixset *set = (kugel_pixset *)1;
    double same[4][3] = {{1, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double line[3][3] = {{1, 0, 0}, {1, 1, 0}, {0, 1, 0}},
           star[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 1, 1}};
    CHECK_IS(kugel_healpix_query_polygon(NULL, 8, RING, 4, same[0], 0, &set), KUGEL_EINVAL);
    CHECK(set == NULL && strstr(kugel_last_error(), "degenerate"));
    CHECK_IS(kugel_healpix_query_polygon(NULL, 8, RING, 3, line[0], 0, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_query_polygon(NULL, 8, RING, 4, star[0], 0, &set), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "not convex") != NULL);
    CHECK_IS(kugel_healpix_query_polygon(NULL, 8, RING, 2, star[0], 0, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_query_polygon(NULL, 8, RING, INT64_MAX, star[0], 0, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_query_polygon(NULL, 8, RING, 3, NULL, 0, &set), KUGEL_EINVAL);
    star[1][0] = NAN;
    CHECK_IS(kugel_healpix_query_polygon(NULL, 8, RING, 4, star[0], 0, &set), KUGEL_EINVAL);
    CHECK(strstr(kugel_last_error(), "vertex 1") != NULL);
    make(5, 0.7, 3, v);
    for (int kind = 0; kind < 2; kind++)
      for (int64_t k = 1; k < 100; k++) {
        kugel__fault_alloc(k);
        kugel_status s = kugel_healpix_query_polygon(NULL, 64, kind ? NESTED : RING, 5, v[0], 1, &set);
        kugel__fault_alloc(0);
        CHECK((s == KUGEL_ENOMEM && !set) || s == KUGEL_OK);
        if (!s) {
          kugel_pixset_destroy(set);
          break;
        }
      }
  }
  END();
}
