/* SPDX-License-Identifier: BSD-3-Clause */
/* Pixels of directions. Formulas are those of pix.h but for rounding; a direction so close to an edge that
 * rounding might decide goes to plain arithmetic. */
#include <float.h>
#include "healpix/ops.h"
#include "healpix/pixlanes.h"

/* A direction: phi / (pi/2) in [0, 4); in the belt cos theta, else sqrt(3 (1 - |cos theta|)). */
typedef struct direction {
  vf64 quarters, height;
  vi64 belt, south;
} direction;

// Above all rounding errors of lines in units of nside: a few 1e-15, with room.
static const double NEAR = 2e-14;

// Too close to a whole number, or not a number.
LANE_INLINE vi64 near_whole(vf64 v, vf64 floor, double near)
{
  vf64 part = v - floor;
  return ~((part > near) & (part < 1 - near));
}

LANE_INLINE vi64 find(kugel_order order, const sphere_size *s, const direction *d, vi64 *near)
{
  double nd = (double)s->n, eps = NEAR * nd;
  vf64 quarter = v_floor(d->quarters), radius = nd * d->height, tp = d->quarters - quarter;
  vf64 across = nd * (0.5 + d->quarters), up = 0.75 * radius, share = tp * radius;
  // rising and falling edge lines
  vf64 p = v_select(d->belt, across - up, share), m = v_select(d->belt, across + up, radius - share);
  vf64 pf = v_floor(p), mf = v_floor(m);
  *near |= near_whole(p, pf, eps) | near_whole(m, mf, eps);
  vi64 jp = v_int(v_keep(~*near, pf)), jm = v_int(v_keep(~*near, mf));
  if (order == RING) {
    vi64 row = jp - jm + s->n,
         in_row = vi_shr((jp + jm - s->n + (row & 1) + 1) & d->belt & ~*near, 1); // row 0: the belt's first
    in_row -= (4 * s->n) & ~vi_less(in_row, vi_set(4 * s->n));
    vi64 ring = (jp + jm + 1) & ~d->belt; // from the nearer pole
    vf64 at = d->quarters * v_double(ring), af = v_floor(at);
    *near |= ~d->belt & near_whole(at, af, eps);
    vi64 before = 2 * vi_mul(ring, ring - 1), in_cap = v_int(v_keep(~*near, af));
    vi64 cap = in_cap + vi_select(d->south, s->npix - before - 4 * ring, before);
    return vi_select(d->belt, s->cap + vi_mul(row, vi_set(4 * s->n)) + in_row, cap);
  }
  vi64 ifp = vi_shr(jp, s->shift), ifm = vi_shr(jm, s->shift), last = vi_set(s->n - 1),
       q = v_int(v_keep(~*near, quarter));
  vi64 belt_face =
      vi_select(vi_less(ifp, ifm), ifp & 3, vi_select(vi_less(ifm, ifp), (ifm & 3) + 8, (ifp & 3) | 4));
  vi64 to_x = vi_select(d->belt | d->south, jp, jm), to_y = vi_select(d->belt | d->south, jm, jp);
  // belt: x = jm, y = n - 1 - jp; north: x = n - 1 - jm, y = n - 1 - jp; south: x = jp, y = jm
  vi64 x = vi_select(d->belt, to_y & last, vi_select(d->south, to_x, last - to_x));
  vi64 y = vi_select(d->belt, last - (to_x & last), vi_select(d->south, to_y, last - to_y));
  face_place f = {x, y, vi_select(d->belt, belt_face, q + (d->south & 8))};
  return nest_from_face(s, &f);
}

// cos theta = sin(pi/2 - theta) in the belt; sqrt(1 - cos theta) = sqrt 2 sin(theta / 2)
LANE_INLINE direction from_angles(vf64 theta, vf64 phi, vi64 *near, vi64 *bad)
{
  const double edge = 0.72972765622696634, half_pi_lo = 0x1.1a62633145c07p-54; // asin 2/3
  direction d;
  *bad |= ~((theta >= 0) & (theta <= M_PI) & (v_abs(phi) <= DBL_MAX));
  vf64 x = (M_PI / 2 - theta) + half_pi_lo, off = v_abs(x) - edge;
  d.belt = off <= 0;
  d.south = x < 0;
  vf64 from_pole = v_select(d.south, (M_PI - theta) + 2 * half_pi_lo, theta);
  vf64 sine = v_sin(v_select(d.belt, x, 0.5 * from_pole));
  d.height = v_select(d.belt, sine, 2.449489742783178 * sine);
  d.quarters = quarters_of(phi);
  *near = (v_abs(off) < NEAR) | (v_abs(phi) > 0x1p40);
  return d;
}

LANE_INLINE bool angles_loop(kugel_order order, sphere_size s, int64_t n, const double *theta,
                             const double *phi, int64_t *p)
{
  vi64 bad = vi_set(0), near;
  for (int64_t i = 0; i < n; i += VLEN) {
    direction d = from_angles(v_load_part(theta + i, n - i), v_load_part(phi + i, n - i), &near, &bad);
    vi64 found = find(order, &s, &d, &near);
    vi_store_part(p + i, found, n - i);
    if (v_any(near))
      for (int64_t k = 0; k < VLEN && i + k < n; k++)
        if (near[k])
          p[i + k] = kugel__angle_pixel(s.n, order, theta[i + k], phi[i + k]);
  }
  return !v_any(bad);
}

static bool ang2pix(int64_t nside, kugel_order order, int64_t n, const double *theta, const double *phi,
                    int64_t *p)
{
  return BY_ORDER(order, angles_loop, size_of(nside), n, theta, phi, p);
}

// atan2(y, x) / (pi/2) in [0, 4)
LANE_INLINE vf64 quarter_turns(vf64 y, vf64 x)
{
  vf64 ax = v_abs(x), ay = v_abs(y), lo = v_min(ax, ay), hi = v_max(ax, ay);
  vi64 far = lo > 0.41421356237309503 * hi; // by atan t = pi/4 + atan((t - 1) / (t + 1))
  vf64 e = v_atan((lo - v_select(far, hi, v_set(0))) / (hi + v_select(far, lo, v_set(0)))) * (2 / M_PI);
  e = v_select(far, 0.5 + e, e);
  e = v_select(ay > ax, 1 - e, e);
  e = v_select(x < 0, 2 - e, e);
  e = v_select(y < 0, 4 - e, e);
  return v_select(e >= 4, v_set(0), e);
}

// 1 - |z| / r = s^2 / (r (r + |z|)) where s^2 = x^2 + y^2
LANE_INLINE direction from_vectors(vf64 x, vf64 y, vf64 z, vi64 *near)
{
  direction d;
  vf64 ss = x * x + y * y, rr = ss + z * z, r = v_sqrt(rr), az = v_abs(z);
  d.belt = az <= r * (2.0 / 3);
  d.south = z < 0;
  vf64 ratio = v_select(d.belt, z, 3 * ss) / v_select(d.belt, r, rr + r * az);
  d.height = v_select(d.belt, ratio, v_sqrt(ratio));
  d.quarters = quarter_turns(y, x);
  *near = (v_abs(az - r * (2.0 / 3)) < NEAR * r) | ~((rr > 1e-280) & (rr < 1e300));
  return d;
}

LANE_INLINE bool vectors_loop(kugel_order order, sphere_size s, int64_t n, const double *vec, int64_t *p)
{
  bool good = true;
  for (int64_t i = 0; i < n; i += VLEN) {
    int64_t have = n - i < VLEN ? n - i : VLEN;
    vf64 x = v_set(1), y = x, z = x;
    const double *v = vec + 3 * i;
    if (have == VLEN)
      v_split3(v, &x, &y, &z);
    for (int64_t k = 0; k < have && have < VLEN; k++) {
      x[k] = v[3 * k];
      y[k] = v[3 * k + 1];
      z[k] = v[3 * k + 2];
    }
    vi64 near;
    direction d = from_vectors(x, y, z, &near);
    vi64 found = find(order, &s, &d, &near);
    vi_store_part(p + i, found, have);
    if (v_any(near))
      for (int64_t k = 0; k < have; k++)
        if (near[k]) {
          p[i + k] = kugel__vector_pixel(s.n, order, v + 3 * k);
          good &= p[i + k] >= 0;
        }
  }
  return good;
}

static bool vec2pix(int64_t nside, kugel_order order, int64_t n, const double *vec, int64_t *p)
{
  return BY_ORDER(order, vectors_loop, size_of(nside), n, vec, p);
}

extern const kugel__dir_ops ISA_NAME(kugel__dir_ops);
const kugel__dir_ops ISA_NAME(kugel__dir_ops) = {ang2pix, vec2pix};
