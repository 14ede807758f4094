/* SPDX-License-Identifier: BSD-3-Clause */
/* Discs, strips, reordering and ud_grade. */
#include "check.h"
#include "core/alloc.h"
#include <kugel/healpix.h>

static uint64_t seed = 3;

// Every disc pixel by the definition.
static void brute(int64_t nside, kugel_order order, const double *v, double radius)
{
  int64_t npix = 12 * nside * nside, *p = malloc((size_t)npix * 8), *got, n = 0;
  double *c = malloc((size_t)npix * 24), length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  for (int64_t i = 0; i < npix; i++)
    p[i] = i;
  CHECK_OK(kugel_healpix_pix2vec(NULL, nside, order, npix, p, c));
  kugel_pixset *set, *wide;
  CHECK_OK(kugel_healpix_query_disc(NULL, nside, order, v, radius, 0, &set));
  CHECK_OK(kugel_healpix_query_disc(NULL, nside, order, v, radius, 1, &wide));
  got = malloc((size_t)(set->n_pixels + wide->n_pixels) * 8 + 8);
  CHECK_OK(kugel_pixset_pixels(set, got));
  for (int64_t i = 0; i < npix; i++) {
    double d[3] = {c[3 * i] - v[0] / length, c[3 * i + 1] - v[1] / length, c[3 * i + 2] - v[2] / length};
    double angle = 2 * asin(fmin(1, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / 2));
    if (fabs(angle - radius) < 1e-12)
      continue;
    while (n < set->n_pixels && got[n] < i)
      n++;
    CHECK((n < set->n_pixels && got[n] == i) == (angle <= radius));
  }
  int64_t *more = got + set->n_pixels, k = 0;
  CHECK_OK(kugel_pixset_pixels(wide, more));
  for (n = 0; n < set->n_pixels; n++) {
    while (k < wide->n_pixels && more[k] < got[n])
      k++;
    CHECK(k < wide->n_pixels && more[k] == got[n]);
  }
  kugel_pixset_destroy(set);
  kugel_pixset_destroy(wide);
  free(p), free(c), free(got);
}

int main(void)
{
  CASE("discs hold the centres within them, for any centre and radius; overlap only adds")
  {
    for (int k = 0; k < 60; k++) {
      int64_t sizes[] = {1, 2, 4, 16, 5, 9};
      int64_t nside = sizes[k % 6];
      double v[3] = {check_random(&seed), check_random(&seed), check_random(&seed)};
      if (k % 7 == 0)
        v[0] = v[1] = 0;
      double radius = k % 5 == 0 ? 3.1 : k % 5 == 1 ? 0.01 : 1.5 * (1 + check_random(&seed)) / 2;
      brute(nside, k % 6 < 4 && k % 2 ? KUGEL_ORDER_NESTED : KUGEL_ORDER_RING, v, radius);
    }
  }
  CASE("a disc smaller than its pixel overlaps it")
  {
    double v[3] = {0.3, 0.4, 0.5};
    int64_t p, q;
    kugel_pixset *set;
    CHECK_OK(kugel_healpix_vec2pix(NULL, 2, KUGEL_ORDER_RING, 1, v, &p));
    CHECK_OK(kugel_healpix_query_disc(NULL, 2, KUGEL_ORDER_RING, v, 1e-9, 1, &set));
    CHECK(set->n_pixels == 1);
    CHECK_OK(kugel_pixset_pixels(set, &q));
    CHECK(p == q);
    kugel_pixset_destroy(set);
  }
  CASE("every point of a disc lies in a pixel of the inclusive set")
  {
    for (int k = 0; k < 400; k++) {
      int64_t sizes[] = {1, 2, 4, 16, 5, 9}, nside = sizes[k % 6], q;
      double c[3] = {check_random(&seed), check_random(&seed), check_random(&seed)};
      if (k % 7 == 0) // near a pole
        c[0] *= 1e-3, c[1] *= 1e-3;
      double radius = (k % 3 ? 0.02 : 0.5) * (1.01 + check_random(&seed)) / (double)nside;
      double length = sqrt(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
      kugel_pixset *set;
      CHECK_OK(kugel_healpix_query_disc(NULL, nside, KUGEL_ORDER_RING, c, radius, 1, &set));
      for (int i = 0; i < 100; i++) {
        double v[3], d = 0;
        for (int j = 0; j < 3; j++) {
          v[j] = check_random(&seed);
          d += v[j] * v[j];
        }
        for (int j = 0; j < 3; j++) // within the chord of the radius before it is brought onto the sphere
          v[j] = c[j] / length + v[j] * sin(radius) * 0.999 / sqrt(d);
        CHECK_OK(kugel_healpix_vec2pix(NULL, nside, KUGEL_ORDER_RING, 1, v, &q));
        bool in = false;
        for (int64_t r = 0; r < set->n_ranges; r++)
          in |= q >= set->ranges[2 * r] && q < set->ranges[2 * r + 1];
        CHECK(in);
      }
      kugel_pixset_destroy(set);
    }
  }
  CASE("strips: HEALPix's counts")
  {
    struct {
      int64_t nside;
      double t1, t2;
      int inclusive;
      int64_t n, first, last;
    } want[] = {{32, 0.5, 0.9, 0, 1608, 760, 2367},
                {32, 0.5, 0.9, 1, 1812, 684, 2495},
                {64, 1.5, 1.65, 0, 3584, 22912, 26495},
                {64, 1.5, 1.65, 1, 4096, 22656, 26751}};
    for (int k = 0; k < 4; k++) {
      kugel_pixset *set;
      CHECK_OK(kugel_healpix_query_strip(NULL, want[k].nside, KUGEL_ORDER_RING, want[k].t1, want[k].t2,
                                         want[k].inclusive, &set));
      CHECK(set->n_pixels == want[k].n && set->n_ranges == 1 && set->ranges[0] == want[k].first &&
            set->ranges[1] == want[k].last + 1);
      kugel_pixset_destroy(set);
    }
    kugel_pixset *set;
    CHECK_OK(kugel_healpix_query_strip(NULL, 8, KUGEL_ORDER_RING, 2, 1, 0, &set));
    CHECK(set->n_ranges == 2);
    kugel_pixset_destroy(set);
  }
  CASE("maps go to NESTED order and back, elements of every size; ud_grade keeps means and masks")
  {
    enum { NSIDE = 128, NPIX = 12 * NSIDE * NSIDE };
    static double a[2 * NPIX], b[2 * NPIX], c[2 * NPIX];
    for (int64_t i = 0; i < 2 * NPIX; i++)
      a[i] = check_random(&seed);
    kugel_array *va = KUGEL_ARRAY(a, KUGEL_F64, 2, NPIX), *vb = KUGEL_ARRAY(b, KUGEL_F64, 2, NPIX);
    CHECK_OK(kugel_healpix_reorder(NULL, NSIDE, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED, va, vb, NULL));
    for (int64_t p = 0; p < NPIX; p += 97) {
      int64_t q;
      CHECK_OK(kugel_healpix_convert(NULL, NSIDE, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED, 1, &p, &q));
      CHECK(b[q] == a[p] && b[NPIX + q] == a[NPIX + p]);
    }
    CHECK_OK(kugel_healpix_reorder(NULL, NSIDE, KUGEL_ORDER_NESTED, KUGEL_ORDER_RING, vb,
                                   KUGEL_ARRAY(c, KUGEL_F64, 2, NPIX), NULL));
    CHECK(!memcmp(a, c, sizeof a));
    kugel_dtype types[] = {{KUGEL_UINT, 8, 1}, {KUGEL_INT, 16, 1}, KUGEL_F32, KUGEL_C128};
    for (int k = 0; k < 4; k++) {
      CHECK_OK(kugel_healpix_reorder(NULL, 64, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED,
                                     KUGEL_ARRAY(a, types[k], 49152), KUGEL_ARRAY(b, types[k], 49152), NULL));
      CHECK_OK(kugel_healpix_reorder(NULL, 64, KUGEL_ORDER_NESTED, KUGEL_ORDER_RING,
                                     KUGEL_ARRAY(b, types[k], 49152), KUGEL_ARRAY(c, types[k], 49152), NULL));
      CHECK(!memcmp(a, c, (size_t)(49152 * types[k].bits / 8)));
    }
    double coarse[12], sum = 0, fine = 0;
    CHECK_OK(
        kugel_healpix_ud_grade(NULL, NSIDE, KUGEL_ORDER_RING, KUGEL_ARRAY(a, KUGEL_F64, NPIX), 1,
                               KUGEL_ORDER_NESTED, KUGEL_ARRAY(coarse, KUGEL_F64, 12),
                               &(kugel_ud_grade_opts){.size = sizeof(kugel_ud_grade_opts), .power = -2}));
    for (int i = 0; i < NPIX; i++)
      fine += a[i];
    for (int i = 0; i < 12; i++)
      sum += coarse[i];
    CHECK_LE(fabs(sum - fine), 1e-10);
    double child[48], parent[12];
    for (int i = 0; i < 48; i++)
      child[i] = i / 4 == 3 ? NAN : i == 0 ? -1.6375e30 : 5;
    CHECK_OK(kugel_healpix_ud_grade(NULL, 2, KUGEL_ORDER_NESTED, KUGEL_ARRAY(child, KUGEL_F64, 48), 1,
                                    KUGEL_ORDER_NESTED, KUGEL_ARRAY(parent, KUGEL_F64, 12), NULL));
    CHECK(parent[0] == 5 && parent[3] == -1.6375e30 && parent[4] == 5);
    CHECK_OK(kugel_healpix_ud_grade(
        NULL, 2, KUGEL_ORDER_NESTED, KUGEL_ARRAY(child, KUGEL_F64, 48), 1, KUGEL_ORDER_NESTED,
        KUGEL_ARRAY(parent, KUGEL_F64, 12),
        &(kugel_ud_grade_opts){.size = sizeof(kugel_ud_grade_opts), .pessimistic = 1}));
    CHECK(parent[0] == -1.6375e30 && parent[4] == 5);
    CHECK_IS(kugel_healpix_reorder(NULL, 3, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED, va, vb, NULL),
             KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_reorder(NULL, 64, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED, va, vb, NULL),
             KUGEL_ESHAPE);
    CHECK_IS(kugel_healpix_reorder(NULL, NSIDE, KUGEL_ORDER_RING, KUGEL_ORDER_NESTED, va, va, NULL),
             KUGEL_EINVAL);
  }
  CASE("bad queries and failing allocations")
  {
    double v[3] = {0, 0, 1}, zero[3] = {0, 0, 0};
    kugel_pixset *set = (kugel_pixset *)1;
    CHECK_IS(kugel_healpix_query_disc(NULL, 8, KUGEL_ORDER_RING, v, -1, 0, &set), KUGEL_EINVAL);
    CHECK(!set);
    CHECK_IS(kugel_healpix_query_disc(NULL, 8, KUGEL_ORDER_RING, zero, 1, 0, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_query_disc(NULL, 7, KUGEL_ORDER_NESTED, v, 1, 0, &set), KUGEL_EINVAL);
    CHECK_IS(kugel_healpix_query_strip(NULL, 8, KUGEL_ORDER_RING, 0, NAN, 0, &set), KUGEL_EINVAL);
    kugel_pixset_destroy(NULL);
    for (int n = 1; n < 50; n++) {
      kugel__fault_alloc(n);
      kugel_status s = kugel_healpix_query_disc(NULL, 64, KUGEL_ORDER_NESTED, v, 2, 0, &set);
      kugel__fault_alloc(0);
      kugel_pixset_destroy(set);
      if (s == KUGEL_OK)
        break;
      CHECK(s == KUGEL_ENOMEM && n < 40);
    }
  }
  END();
}
