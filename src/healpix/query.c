/* SPDX-License-Identifier: BSD-3-Clause */
/* Pixels of discs and strips, ring by ring. */
#include "healpix/ranges.h"

/* ---- discs ---- */

kugel_status kugel_healpix_query_disc(kugel_ctx *ctx, int64_t nside, kugel_order order, const double *vec,
                                      double radius, int inclusive, kugel_pixset **out)
{
  kugel__ranges b;
  KUGEL_TRY(kugel__ranges_begin(&b, ctx, nside, order, out));
  KUGEL_CHECK(vec, KUGEL_EINVAL, "vec is NULL: pass the direction of the centre");
  double u[3];
  KUGEL_CHECK(kugel__unit(vec, u), KUGEL_EINVAL, "vec is (%g, %g, %g), must be finite and not zero", vec[0],
              vec[1], vec[2]);
  KUGEL_CHECK(radius >= 0 && radius <= M_PI, KUGEL_EINVAL, "radius is %g radians, must be in [0, pi]",
              radius);
  kugel__cap cap = kugel__cap_make(nside, u, radius);
  kugel_status s = KUGEL_OK;
  for (int64_t i = cap.first; i <= cap.last && !s; i++) {
    kugel__ring r = kugel__ring_of(nside, i);
    kugel__pix_span span = inclusive ? kugel__cap_overlap(&cap, i, r) : kugel__cap_centres(&cap, i, r);
    s = kugel__ranges_push_span(&b, r, span);
  }
  return kugel__ranges_finish(&b, order, s, out);
}

kugel_status kugel_healpix_list_disc(kugel_ctx *ctx, int64_t nside, kugel_order order, const double *vec,
                                     double radius, int inclusive, int64_t capacity, int64_t *pixel,
                                     int64_t *count)
{
  KUGEL_CHECK(count, KUGEL_EINVAL, "count is NULL: pass where to put the number of pixels");
  *count = 0;
  KUGEL_CHECK(capacity >= 0 && (pixel || !capacity), KUGEL_EINVAL,
              "capacity is %lld, must be at least 0, and pixel must not be NULL", (long long)capacity);
  kugel_pixset *set = NULL;
  KUGEL_TRY(kugel_healpix_query_disc(ctx, nside, order, vec, radius, inclusive, &set));
  *count = set->n_pixels;
  kugel_status s = set->n_pixels <= capacity ? kugel_pixset_pixels(set, pixel) : KUGEL_OK;
  kugel_pixset_destroy(set);
  return s;
}

/* ---- strips ---- */

static double theta_of(int64_t nside, int64_t ring) // 0 and 4 nside: the poles
{
  double z, s;
  kugel__ring_z(nside, ring, &z, &s);
  return ring <= 0 ? 0 : ring >= 4 * nside ? M_PI : atan2(s, z);
}

// The first ring, from 0 to 4 nside, with a colatitude of at least theta.
static int64_t first_ring(int64_t nside, double theta)
{
  int64_t lo = 0, hi = 4 * nside;
  while (lo < hi) {
    int64_t mid = (lo + hi) / 2;
    if (theta_of(nside, mid) < theta)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static kugel_status push_strip(kugel__ranges *b, double theta1, double theta2, bool inclusive)
{
  // a pixel reaches from the ring above its own to the ring below
  int64_t first = first_ring(b->nside, theta1) - (inclusive ? 1 : 0),
          last = first_ring(b->nside, nextafter(theta2, 4)) - 1 + (inclusive ? 1 : 0);
  first = kugel__max(first, 1);
  last = kugel__min(last, 4 * b->nside - 1);
  if (first > last)
    return KUGEL_OK;
  kugel__ring end = kugel__ring_of(b->nside, last);
  return kugel__ranges_push(b, kugel__ring_of(b->nside, first).start, end.start + end.length);
}

kugel_status kugel_healpix_query_strip(kugel_ctx *ctx, int64_t nside, kugel_order order, double theta1,
                                       double theta2, int inclusive, kugel_pixset **out)
{
  kugel__ranges b;
  KUGEL_TRY(kugel__ranges_begin(&b, ctx, nside, order, out));
  KUGEL_CHECK(theta1 >= 0 && theta1 <= M_PI && theta2 >= 0 && theta2 <= M_PI, KUGEL_EINVAL,
              "theta1 is %g and theta2 %g, must be in [0, pi]", theta1, theta2);
  kugel_status s = push_strip(&b, theta1 <= theta2 ? theta1 : 0, theta2, inclusive);
  if (!s && theta1 > theta2)
    s = push_strip(&b, theta1, M_PI, inclusive);
  return kugel__ranges_finish(&b, order, s, out);
}
