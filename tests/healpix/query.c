/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries against every pixel's centre and outline; NESTED sets against RING ones; large nside. */
#include "check.h"
#include "core/alloc.h"
#include <kugel/healpix.h>

#define RING   KUGEL_ORDER_RING
#define NESTED KUGEL_ORDER_NESTED
enum { STEP = 16, POINTS = 4 * STEP };
static uint64_t seed = 3;

static double uniform(void)
{
  return (check_random(&seed) + 1) / 2;
}

static void direction(double *v, int kind)
{
  double z = 2 * uniform() - 1, phi = 2 * M_PI * uniform();
  z = kind == 0   ? 1
      : kind == 1 ? -1
      : kind == 2 ? 1 - 1e-3 * uniform()
      : kind == 3 ? -1 + 1e-6 * uniform()
                  : z;
  phi = kind == 4 ? M_PI / 2 * (double)(int)(4 * uniform()) : phi;
  z = kind == 5 ? 2.0 / 3 : kind == 6 ? 0 : z;
  double s = sqrt(1 - z * z);
  v[0] = s * cos(phi), v[1] = s * sin(phi), v[2] = z;
}

static double distance(const double *a, const double *b)
{
  double c = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
  return 2 * asin(fmin(1, c / 2));
}

static uint8_t *members(const kugel_pixset *set, int64_t npix)
{
  uint8_t *in = calloc((size_t)npix, 1);
  int64_t count = 0, before = -1;
  for (int64_t r = 0; r < set->n_ranges; r++) {
    CHECK(set->ranges[2 * r] > before && set->ranges[2 * r] < set->ranges[2 * r + 1] &&
          set->ranges[2 * r + 1] <= npix);
    before = set->ranges[2 * r + 1];
    for (int64_t p = set->ranges[2 * r]; p < set->ranges[2 * r + 1]; p++, count++)
      in[p] = 1;
  }
  CHECK(count == set->n_pixels);
  return in;
}

// The NESTED set is the RING set.
static void same_nested(int64_t nside, const uint8_t *in, const kugel_pixset *nest)
{
  int64_t npix = kugel_healpix_npix(nside), *p = malloc((size_t)npix * 8), wrong = 0;
  uint8_t *found = members(nest, npix);
  for (int64_t i = 0; i < npix; i++)
    p[i] = i;
  CHECK_OK(kugel_healpix_convert(NULL, nside, RING, NESTED, npix, p, p));
  for (int64_t i = 0; i < npix; i++)
    wrong += in[i] != found[p[i]];
  CHECK(wrong == 0);
  free(p), free(found);
}

typedef struct grid {
  int64_t nside, npix;
  double *centre, *outline; // [npix, 3], [npix, POINTS, 3]
} grid;

static grid grid_make(int64_t nside)
{
  grid g = {nside, kugel_healpix_npix(nside), NULL, NULL};
  int64_t *p = malloc((size_t)g.npix * 8);
  for (int64_t i = 0; i < g.npix; i++)
    p[i] = i;
  g.centre = malloc((size_t)g.npix * 24);
  g.outline = malloc((size_t)g.npix * 24 * POINTS);
  CHECK_OK(kugel_healpix_pix2vec(NULL, nside, RING, g.npix, p, g.centre));
  CHECK_OK(kugel_healpix_boundaries(NULL, nside, RING, g.npix, p, STEP, g.outline));
  free(p);
  return g;
}

static double outline_distance(const grid *g, int64_t i, const double *v)
{
  double least = 9;
  for (int k = 0; k < POINTS; k++) {
    const double *u = g->outline + 3 * (i * POINTS + k);
    least = fmin(least, 1 - (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]));
  }
  return acos(fmax(-1, 1 - least));
}

static void check_disc(const grid *g, const double *v, double radius)
{
  kugel_pixset *set, *wide, *nest;
  CHECK_OK(kugel_healpix_query_disc(NULL, g->nside, RING, v, radius, 0, &set));
  CHECK_OK(kugel_healpix_query_disc(NULL, g->nside, RING, v, radius, 1, &wide));
  uint8_t *in = members(set, g->npix), *over = members(wide, g->npix);
  int64_t holds, bad = 0, missed = 0, extra = 0;
  double gap = kugel_healpix_max_pixel_radius(g->nside) / STEP;
  CHECK_OK(kugel_healpix_vec2pix(NULL, g->nside, RING, 1, v, &holds));
  CHECK(over[holds]);
  for (int64_t i = 0; i < g->npix; i++) {
    double d = distance(g->centre + 3 * i, v);
    bad += fabs(d - radius) > 1e-7 && in[i] != (d < radius);
    bad += in[i] && !over[i];
    if (in[i] || i == holds)
      continue;
    d = outline_distance(g, i, v);
    missed += d < radius - 1e-7 && !over[i];
    extra += d > radius + gap && over[i];
  }
  CHECK(bad == 0);
  CHECK(missed == 0);
  CHECK(extra == 0);
  if (!(g->nside & (g->nside - 1)))
    for (int k = 0; k < 2; k++) {
      CHECK_OK(kugel_healpix_query_disc(NULL, g->nside, NESTED, v, radius, k, &nest));
      same_nested(g->nside, k ? over : in, nest);
      kugel_pixset_destroy(nest);
    }
  free(in), free(over);
  kugel_pixset_destroy(set), kugel_pixset_destroy(wide);
}

int main(void)
{
  int64_t sizes[] = {1, 2, 3, 4, 7, 8, 16};
  CASE("discs hold the centres in them, inclusive ones each pixel whose outline they meet and no other")
  for (int k = 0; k < 7; k++) {
    grid g = grid_make(sizes[k]);
    for (int t = 0; t < 150; t++) {
      double v[3], scale = pow(10, -3 * uniform());
      direction(v, t % 12);
      check_disc(&g, v, t % 10 == 9 ? M_PI * (1 - 0.3 * scale) : t % 10 == 8 ? M_PI / 2 : 2.5 * scale);
    }
    free(g.centre), free(g.outline);
  }
  CASE("strips are whole rings, in NESTED order too")
  for (int k = 0; k < 7; k++) {
    int64_t nside = sizes[k], npix = kugel_healpix_npix(nside), ring[64], start[64], count[64];
    double theta[66], t1, t2;
    for (int i = 0; i < 4 * nside - 1; i++)
      ring[i] = i + 1;
    CHECK_OK(kugel_healpix_rings(nside, 4 * nside - 1, ring, start, count, theta + 1, NULL));
    theta[0] = 0, theta[4 * nside] = M_PI;
    for (int t = 0; t < 40; t++) {
      t1 = t % 3 ? M_PI * uniform() : theta[(int)(uniform() * (double)(4 * nside + 1))];
      t2 = t % 4 ? M_PI * uniform() : theta[(int)(uniform() * (double)(4 * nside + 1))];
      for (int inclusive = 0; inclusive < 2; inclusive++) {
        kugel_pixset *set, *nest;
        CHECK_OK(kugel_healpix_query_strip(NULL, nside, RING, t1, t2, inclusive, &set));
        uint8_t *in = members(set, npix);
        for (int i = 1; i < 4 * nside; i++) {
          double top = theta[inclusive ? i - 1 : i], bottom = theta[inclusive ? i + 1 : i];
          bool want = t1 <= t2 ? bottom >= t1 && top <= t2 : top <= t2 || bottom >= t1;
          CHECK(in[start[i - 1]] == want && in[start[i - 1] + count[i - 1] - 1] == want);
        }
        if (!(nside & (nside - 1))) {
          CHECK_OK(kugel_healpix_query_strip(NULL, nside, NESTED, t1, t2, inclusive, &nest));
          same_nested(nside, in, nest);
          kugel_pixset_destroy(nest);
        }
        free(in);
        kugel_pixset_destroy(set);
      }
    }
  }
  CASE("small discs at the largest nside")
  for (int t = 0; t < 60; t++) {
    int64_t nside = (int64_t)1 << 29, p[4], found[2000];
    double v[3], u[12];
    direction(v, t % 12);
    double radius = (1 + 9 * uniform()) * 1e-9; // pixels are 2e-9 wide
    for (int order = 1; order <= 2; order++)
      for (int inclusive = 0; inclusive < 2; inclusive++) {
        kugel_pixset *set;
        CHECK_OK(kugel_healpix_query_disc(NULL, nside, (kugel_order)order, v, radius, inclusive, &set));
        double area = M_PI * radius * radius / (4 * M_PI / (double)kugel_healpix_npix(nside));
        CHECK(set->n_pixels < 2000 && (double)set->n_pixels > (inclusive ? area : 0.5 * area - 4));
        CHECK_OK(kugel_pixset_pixels(set, found));
        int64_t listed[2000], count;
        CHECK_OK(kugel_healpix_list_disc(NULL, nside, (kugel_order)order, v, radius, inclusive, 2000, listed,
                                         &count));
        CHECK(count == set->n_pixels && !memcmp(listed, found, (size_t)count * 8));
        for (int64_t i = 0; i < set->n_pixels; i++) {
          CHECK_OK(kugel_healpix_pix2vec(NULL, nside, (kugel_order)order, 1, found + i, u));
          CHECK(distance(u, v) < radius + (inclusive ? 3e-9 : 1e-15));
        }
        CHECK_OK(kugel_healpix_vec2pix(NULL, nside, (kugel_order)order, 1, v, p));
        bool holds = false;
        for (int64_t i = 0; i < set->n_pixels; i++)
          holds |= found[i] == p[0];
        CHECK(holds || !inclusive);
        kugel_pixset_destroy(set);
      }
  }
  CASE("half the sphere at the largest nside")
  {
    kugel_pixset *set;
    int64_t nside = (int64_t)1 << 29, npix = kugel_healpix_npix(nside);
    CHECK_OK(kugel_healpix_query_strip(NULL, nside, RING, 0, M_PI / 2, 0, &set));
    CHECK(set->n_ranges == 1 && set->n_pixels == npix / 2 + 2 * nside);
    kugel_pixset_destroy(set);
    CHECK_OK(kugel_healpix_query_strip(NULL, nside, NESTED, 0, M_PI, 0, &set));
    CHECK(set->n_ranges == 1 && set->n_pixels == npix);
    kugel_pixset_destroy(set);
  }
  CASE("bad queries and failing allocations")
  {
    kugel_pixset *set = (kugel_pixset *)1;
    double v[3] = {0.3, 0.4, -0.5}, zero[3] = {0}, nan[3] = {NAN, 0, 1};
    CHECK_IS(kugel_healpix_query_disc(NULL, 8, RING, zero, 1, 0, &set), KUGEL_EINVAL);
    CHECK(set == NULL);
    CHECK_IS(kugel_healpix_query_disc(NULL, 8, RING, nan, 1, 0, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_query_disc(NULL, 8, RING, v, NAN, 0, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_query_disc(NULL, 8, RING, v, 4, 0, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_query_disc(NULL, 8, RING, NULL, 1, 0, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_query_disc(NULL, 8, RING, v, 1, 0, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_query_disc(NULL, 6, NESTED, v, 1, 0, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_query_strip(NULL, 8, RING, -1, 1, 0, &set), KUGEL_EINVAL);
    int64_t pixel[2] = {-7, -7}, count;
    CHECK_OK(kugel_healpix_list_disc(NULL, 8, RING, v, 1, 0, 2, pixel, &count));
    CHECK(count > 2 && pixel[0] == -7);
    CHECK_OK(kugel_healpix_list_disc(NULL, 8, RING, v, 1, 0, 0, NULL, &count));
    CHECK_IS(kugel_healpix_list_disc(NULL, 8, RING, v, 1, 0, 1, NULL, &count), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_list_disc(NULL, 8, RING, v, 1, 0, -1, pixel, &count), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_list_disc(NULL, 8, RING, v, 1, 0, 2, pixel, NULL), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_list_disc(NULL, 8, RING, zero, 1, 0, 2, pixel, &count), KUGEL_EINVAL);
    for (int kind = 0; kind < 4; kind++)
      for (int64_t k = 1; k < 100; k++) {
        kugel__fault_alloc(k);
        kugel_status s = kind < 3
                             ? kugel_healpix_query_disc(NULL, 64, kind ? NESTED : RING, v, 1, kind == 2, &set)
                             : kugel_healpix_query_strip(NULL, 64, NESTED, 1, 0.5, 1, &set);
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
