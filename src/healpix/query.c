/* SPDX-License-Identifier: BSD-3-Clause */
/* Pixels of discs and strips: ring by ring for centres, with a test of the pixel's outline for overlap. */
#include <stdlib.h>
#include <string.h>
#include "core/alloc.h"
#include "core/ctx.h"
#include "healpix/pix.h"

enum { OUTLINE = 16 };

typedef struct builder {
  kugel_ctx *ctx;
  int64_t n, capacity, *ranges;
} builder;

static kugel_status push(builder *b, int64_t lo, int64_t hi)
{
  if (lo >= hi)
    return KUGEL_OK;
  if (b->n && b->ranges[2 * b->n - 1] == lo) {
    b->ranges[2 * b->n - 1] = hi;
    return KUGEL_OK;
  }
  if (b->n == b->capacity) {
    int64_t more = b->capacity ? 2 * b->capacity : 64, *grown = kugel__alloc(b->ctx, (size_t)more * 16);
    KUGEL_CHECK(grown, KUGEL_ENOMEM, "no memory for %lld ranges of pixels", (long long)more);
    if (b->n)
      memcpy(grown, b->ranges, (size_t)b->n * 16);
    kugel__free(b->ctx, b->ranges);
    b->ranges = grown;
    b->capacity = more;
  }
  b->ranges[2 * b->n] = lo;
  b->ranges[2 * b->n + 1] = hi;
  b->n++;
  return KUGEL_OK;
}

static int by_value(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

// The same set in NESTED numbers. Runs of whole aligned squares could be kept together; pixels are sorted
// instead.
static kugel_status to_nested(builder *b, int64_t nside)
{
  int64_t count = 0, at = 0;
  for (int64_t r = 0; r < b->n; r++)
    count += b->ranges[2 * r + 1] - b->ranges[2 * r];
  int64_t *pixels;
  KUGEL_ALLOC(b->ctx, pixels, (size_t)count * 8 + 8);
  for (int64_t r = 0; r < b->n; r++)
    for (int64_t p = b->ranges[2 * r]; p < b->ranges[2 * r + 1]; p++)
      pixels[at++] = kugel__xyf_to_nest(nside, kugel__ring_to_xyf(nside, p));
  qsort(pixels, (size_t)count, 8, by_value);
  b->n = 0;
  kugel_status s = KUGEL_OK;
  for (int64_t i = 0; i < count && !s; i++)
    s = push(b, pixels[i], pixels[i] + 1);
  kugel__free(b->ctx, pixels);
  return s;
}

static kugel_status finish(builder *b, int64_t nside, kugel_order order, kugel_status s, kugel_pixset **out)
{
  if (!s && order == KUGEL_ORDER_NESTED)
    s = to_nested(b, nside);
  kugel_pixset *set = s ? NULL : kugel__calloc(b->ctx, sizeof *set);
  if (!s && !set)
    s = KUGEL_FAIL(KUGEL_ENOMEM, "no memory for a set of pixels");
  if (s) {
    kugel__free(b->ctx, b->ranges);
    return s;
  }
  set->ctx = kugel__ctx_retain(b->ctx);
  set->ranges = b->ranges;
  set->n_ranges = b->n;
  for (int64_t r = 0; r < b->n; r++)
    set->n_pixels += b->ranges[2 * r + 1] - b->ranges[2 * r];
  *out = set;
  return KUGEL_OK;
}

static kugel_status begin(kugel_ctx *ctx, builder *b, int64_t nside, kugel_order order, kugel_pixset **out)
{
  KUGEL_CHECK(out, KUGEL_EINVAL, "out is NULL: pass where to put the set");
  *out = NULL;
  KUGEL_CHECK(kugel__nside_ok(nside, order), KUGEL_EINVAL,
              "nside is %lld with order %d: nside must be 1 to 2^29, for NESTED (2) a power of two",
              (long long)nside, (int)order);
  b->ctx = kugel__ctx(ctx);
  return KUGEL_OK;
}

typedef struct disc {
  double v[3], radius, z, s, phi, cos_radius;
} disc;

static double distance(const double *a, const double *b)
{
  double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]},
         chord = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  return 2 * asin(chord < 2 ? chord / 2 : 1);
}

// Whether a pixel whose centre is outside reaches into the disc: the disc's centre in it, or a point of its
// outline in the disc. No point of an outline is further from a tested one than `slack`, so none is missed.
static bool overlaps(const disc *d, int64_t nside, int64_t pixel, double slack)
{
  double n = (double)nside, z, s, phi;
  if (kugel__direction_to_pixel(nside, KUGEL_ORDER_RING, d->z, d->s, kugel__quarters(d->phi)) == pixel)
    return true;
  kugel__xyf f = kugel__ring_to_xyf(nside, pixel);
  for (int k = 0; k < 4 * OUTLINE; k++) {
    double t = (double)(k % OUTLINE) / OUTLINE, x = (double)f.x, y = (double)f.y;
    int side = k / OUTLINE;
    x += side == 0 ? 1 - t : side == 1 ? 0 : side == 2 ? t : 1;
    y += side == 0 ? 1 : side == 1 ? 1 - t : side == 2 ? 0 : t;
    kugel__face_point(f.face, x / n, y / n, &z, &s, &phi);
    double p[3] = {s * cos(phi), s * sin(phi), z};
    if (distance(p, d->v) <= d->radius + slack)
      return true;
  }
  return false;
}

// Half width in longitude of the disc of radius r on the ring (z, s); -1: none, pi: all of it.
static double half_width(const disc *d, double r, double z, double s)
{
  double x = cos(r) - z * d->z, y = s * d->s;
  if (y <= 0) // the disc's centre is a pole
    return x <= 0 ? M_PI : -1;
  x /= y;
  return x >= 1 ? -1 : x <= -1 ? M_PI : acos(x);
}

// Centres of ring r between phi - w and phi + w as numbers [lo, hi] that may run beyond the ring.
static void span(kugel__ring r, double phi, double w, int64_t *lo, int64_t *hi)
{
  double per = (double)r.length / (2 * M_PI), shift = 0.5 * r.shifted;
  *lo = (int64_t)ceil((phi - w) * per - shift);
  *hi = (int64_t)floor((phi + w) * per - shift);
}

static kugel_status push_span(builder *b, kugel__ring r, int64_t lo, int64_t hi)
{
  if (lo > hi)
    return KUGEL_OK;
  if (hi - lo + 1 >= r.length)
    return push(b, r.start, r.start + r.length);
  lo = (lo % r.length + r.length) % r.length;
  hi = (hi % r.length + r.length) % r.length;
  if (lo <= hi)
    return push(b, r.start + lo, r.start + hi + 1);
  KUGEL_TRY(push(b, r.start, r.start + hi + 1));
  return push(b, r.start + lo, r.start + r.length);
}

static kugel_status disc_ring(builder *b, const disc *d, int64_t nside, int64_t i, double reach,
                              bool inclusive)
{
  kugel__ring r = kugel__ring_of(nside, i);
  double z, s;
  kugel__ring_z(nside, i, &z, &s);
  double inner = half_width(d, d->radius, z, s);
  int64_t lo = 1, hi = 0;
  if (inner >= 0)
    span(r, d->phi, inner, &lo, &hi);
  if (!inclusive)
    return push_span(b, r, lo, hi);
  double outer = half_width(d, d->radius + reach > M_PI ? M_PI : d->radius + reach, z, s);
  if (outer < 0)
    return KUGEL_OK;
  int64_t first, last;
  span(r, d->phi, outer, &first, &last);
  first--, last++;
  if (last - first >= r.length) { // all of the ring once, centred on phi
    first = (int64_t)floor(d->phi * (double)r.length / (2 * M_PI)) - r.length / 2;
    last = first + r.length - 1;
    if (lo <= hi) {
      first = kugel__min(first, lo);
      last = kugel__max(last, hi);
    }
  }
  // inwards from beyond the reach of any pixel, to the run of centres if there is one
  int64_t stop_lo = lo <= hi ? lo : last + 1, stop_hi = lo <= hi ? hi : first - 1;
#define REACHES(k) overlaps(d, nside, r.start + (((k) % r.length) + r.length) % r.length, reach / OUTLINE)
  while (first < stop_lo && !REACHES(first))
    first++;
  while (last > stop_hi && last >= first && !REACHES(last))
    last--;
#undef REACHES
  lo = first, hi = last;
  return push_span(b, r, lo, hi);
}

kugel_status kugel_healpix_query_disc(kugel_ctx *ctx, int64_t nside, kugel_order order, const double *vec,
                                      double radius, int inclusive, kugel_pixset **out)
{
  builder b = {0};
  KUGEL_TRY(begin(ctx, &b, nside, order, out));
  KUGEL_CHECK(vec, KUGEL_EINVAL, "vec is NULL: pass the direction of the centre");
  double u[3];
  KUGEL_CHECK(kugel__unit(vec, u), KUGEL_EINVAL, "vec is (%g, %g, %g), must be finite and not zero", vec[0],
              vec[1], vec[2]);
  KUGEL_CHECK(radius >= 0 && radius <= M_PI, KUGEL_EINVAL, "radius is %g radians, must be in [0, pi]",
              radius);
  disc d = {{u[0], u[1], u[2]}, radius, 0, 0, 0, cos(radius)};
  d.z = d.v[2];
  d.s = hypot(d.v[0], d.v[1]);
  d.phi = d.s > 0 ? atan2(d.v[1], d.v[0]) : 0;
  double reach = inclusive ? kugel_healpix_max_pixel_radius(nside) : 0, theta = atan2(d.s, d.z);
  double top = theta - radius - reach, bottom = theta + radius + reach;
  // rings from just above to just below
  int64_t pixel, first = 1, last = 4 * nside - 1;
  if (top > 0) {
    pixel = kugel__direction_to_pixel(nside, KUGEL_ORDER_RING, cos(top), sin(top), 0);
    first = kugel__max(1, kugel__pixel_ring(nside, pixel) - 1);
  }
  if (bottom < M_PI) {
    pixel = kugel__direction_to_pixel(nside, KUGEL_ORDER_RING, cos(bottom), sin(bottom), 0);
    last = kugel__min(4 * nside - 1, kugel__pixel_ring(nside, pixel) + 1);
  }
  kugel_status s = KUGEL_OK;
  for (int64_t i = first; i <= last && !s; i++)
    s = disc_ring(&b, &d, nside, i, reach, inclusive != 0);
  return finish(&b, nside, order, s, out);
}

// Whether ring i lies in [t1, t2], or with `inclusive` reaches into it.
static bool ring_in(int64_t nside, int64_t i, double t1, double t2, bool inclusive)
{
  double z, s, top = 0, bottom = M_PI;
  kugel__ring_z(nside, i, &z, &s);
  double theta = atan2(s, z);
  if (!inclusive)
    return theta >= t1 && theta <= t2;
  if (i > 1) { // a pixel reaches from the ring above to the ring below
    kugel__ring_z(nside, i - 1, &z, &s);
    top = atan2(s, z);
  }
  if (i < 4 * nside - 1) {
    kugel__ring_z(nside, i + 1, &z, &s);
    bottom = atan2(s, z);
  }
  return bottom >= t1 && top <= t2;
}

kugel_status kugel_healpix_query_strip(kugel_ctx *ctx, int64_t nside, kugel_order order, double theta1,
                                       double theta2, int inclusive, kugel_pixset **out)
{
  builder b = {0};
  KUGEL_TRY(begin(ctx, &b, nside, order, out));
  KUGEL_CHECK(theta1 >= 0 && theta1 <= M_PI && theta2 >= 0 && theta2 <= M_PI, KUGEL_EINVAL,
              "theta1 is %g and theta2 %g, must be in [0, pi]", theta1, theta2);
  bool inside = theta1 <= theta2;
  kugel_status s = KUGEL_OK;
  for (int64_t i = 1; i < 4 * nside && !s; i++) {
    kugel__ring r = kugel__ring_of(nside, i);
    bool in = inside ? ring_in(nside, i, theta1, theta2, inclusive)
                     : ring_in(nside, i, 0, theta2, inclusive) || ring_in(nside, i, theta1, M_PI, inclusive);
    if (in)
      s = push(&b, r.start, r.start + r.length);
  }
  return finish(&b, nside, order, s, out);
}

kugel_status kugel_pixset_pixels(const kugel_pixset *set, int64_t *pixel)
{
  KUGEL_CHECK(set && (pixel || !set->n_pixels), KUGEL_EINVAL, "%s is NULL", set ? "pixel" : "set");
  for (int64_t r = 0; r < set->n_ranges; r++)
    for (int64_t p = set->ranges[2 * r]; p < set->ranges[2 * r + 1]; p++)
      *pixel++ = p;
  return KUGEL_OK;
}

void kugel_pixset_destroy(kugel_pixset *set)
{
  if (!set)
    return;
  kugel_ctx *ctx = set->ctx;
  kugel__free(ctx, set->ranges);
  kugel__free(ctx, set);
  kugel_ctx_destroy(ctx);
}
