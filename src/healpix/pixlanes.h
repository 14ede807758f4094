/* SPDX-License-Identifier: BSD-3-Clause */
/* pix.h in vectors: numbers of pixels from one form to the other, branch-free; for *.isa.c only. Places are
 * as in pix.h; a ring's quarter (its number of pixels over 4) is i in the caps and nside in the belt. */
#ifndef KUGEL_HEALPIX_PIXLANES_H
#define KUGEL_HEALPIX_PIXLANES_H

#include <math.h>
#include "healpix/lanes.h"
#include <kugel/healpix.h>

#define RING   KUGEL_ORDER_RING
#define NESTED KUGEL_ORDER_NESTED
/* A loop with the order known to the compiler. */
#define BY_ORDER(order, loop, ...) ((order) == RING ? loop(RING, __VA_ARGS__) : loop(NESTED, __VA_ARGS__))

typedef struct sphere_size {
  int64_t n, cap, npix; /* nside; pixels of a polar cap; of the sphere */
  int shift;            /* log2 nside; -1: not a power of two */
  double per_ring;      /* 1 / (4 nside) */
} sphere_size;

typedef struct ring_place {
  vi64 ring, quarter, at, shifted; /* `at` counts along the ring */
  vi64 north, south;               /* masks of the caps */
} ring_place;

typedef struct face_place {
  vi64 x, y, face;
} face_place;

LANE_INLINE sphere_size size_of(int64_t nside)
{
  bool power = (nside & (nside - 1)) == 0;
  return (sphere_size){nside, 2 * nside * (nside - 1), 12 * nside * nside,
                       power ? __builtin_ctzll((unsigned long long)nside) : -1, 0.25 / (double)nside};
}

LANE_INLINE vi64 spread_bits(vi64 x)
{
  x = (x | x << 16) & 0x0000ffff0000ffff;
  x = (x | x << 8) & 0x00ff00ff00ff00ff;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0f;
  x = (x | x << 2) & 0x3333333333333333;
  return (x | x << 1) & 0x5555555555555555;
}
LANE_INLINE vi64 gather_bits(vi64 x)
{
  x &= 0x5555555555555555;
  x = (x | vi_shr(x, 1)) & 0x3333333333333333;
  x = (x | vi_shr(x, 2)) & 0x0f0f0f0f0f0f0f0f;
  x = (x | vi_shr(x, 4)) & 0x00ff00ff00ff00ff;
  x = (x | vi_shr(x, 8)) & 0x0000ffff0000ffff;
  return (x | vi_shr(x, 16)) & 0xffffffff;
}

/* kugel__cap_ring; the square root is off by less than one. */
LANE_INLINE vi64 cap_ring(vi64 k)
{
  vi64 i = v_int(v_floor(0.5 + 0.5 * v_sqrt(v_double_long(1 + 2 * k))));
  i += vi_less(k, 2 * vi_mul(i, i - 1)); // a mask counts as -1
  i -= ~vi_less(k, 2 * vi_mul(i, i + 1));
  return i;
}

/* Faces of nside lines that a count of lines in [0, 5 nside) has passed. */
LANE_INLINE vi64 faces_passed(const sphere_size *s, vi64 lines)
{
  if (s->shift >= 0)
    return vi_shr(lines, s->shift);
  vi64 n = vi_set(s->n);
  return 4 + vi_less(lines, n) + vi_less(lines, 2 * n) + vi_less(lines, 3 * n) + vi_less(lines, 4 * n);
}

LANE_INLINE ring_place ring_from_pixel(const sphere_size *s, vi64 p)
{
  ring_place r = {.north = vi_less(p, vi_set(s->cap)), .south = ~vi_less(p, vi_set(s->npix - s->cap))};
  vi64 k = vi_select(r.south, s->npix - 1 - p, p), i = cap_ring(k & (r.north | r.south)),
       in_cap = k - 2 * vi_mul(i, i - 1), in_belt = p - s->cap, row, at;
  if (s->shift >= 0) {
    row = vi_shr(in_belt, s->shift + 2);
    at = in_belt & (4 * s->n - 1);
  } else { // the quotient is off by less than one
    row = v_int(v_floor(v_double_long(in_belt & ~(r.north | r.south)) * s->per_ring));
    at = in_belt - vi_mul(row, vi_set(4 * s->n));
    vi64 over = ~vi_less(at, vi_set(4 * s->n)), under = vi_negative(at);
    row += under - over;
    at += (under & (4 * s->n)) - (over & (4 * s->n));
  }
  vi64 cap = r.north | r.south;
  r.ring = vi_select(r.north, i, vi_select(r.south, 4 * s->n - i, row + s->n));
  r.quarter = vi_select(cap, i, vi_set(s->n));
  r.at = vi_select(r.north, in_cap, vi_select(r.south, 4 * i - 1 - in_cap, at));
  r.shifted = vi_select(cap, vi_set(1), ~row & 1);
  return r;
}

LANE_INLINE vi64 pixel_from_ring(const sphere_size *s, const ring_place *r)
{
  vi64 cap = 2 * vi_mul(r->quarter, r->quarter - 1);
  return r->at + vi_select(r->north, cap,
                           vi_select(r->south, s->npix - cap - 4 * r->quarter,
                                     s->cap + vi_mul((r->ring - s->n) & ~r->north, vi_set(4 * s->n))));
}

/* Southern corner of a face: ring over nside, and longitude over pi / 4. */
LANE_INLINE vi64 face_ring(vi64 face)
{
  return 2 + vi_shr(face, 2);
}
LANE_INLINE vi64 face_lon(vi64 face)
{
  return 2 * (face & 3) + (~vi_shr(face, 2) & 1);
}

LANE_INLINE face_place face_from_ring(const sphere_size *s, const ring_place *r)
{
  vi64 q = r->quarter, twice = 2 * r->at + r->shifted, cap = r->north | r->south;
  vi64 in_cap = 3 + vi_less(r->at, q) + vi_less(r->at, 2 * q) + vi_less(r->at, 3 * q) + (r->south & 8);
  // edge lines of the faces through the pixel's centre
  vi64 up = faces_passed(s, vi_shr(twice + r->ring - s->n, 1)),
       down = faces_passed(s, vi_shr(twice + 3 * s->n - r->ring, 1));
  vi64 in_belt =
      vi_select(vi_less(up, down), up & 3, vi_select(vi_less(down, up), (down & 3) + 8, (up & 3) | 4));
  vi64 face = vi_select(cap, in_cap, in_belt);
  vi64 across = twice - vi_mul(face_lon(face), q),
       along = vi_mul(face_ring(face), vi_set(s->n)) - 1 - r->ring;
  across -= vi_less(4 * q, across) & (8 * q);
  across += vi_less(across, -4 * q) & (8 * q);
  return (face_place){vi_shr(along + across, 1), vi_shr(along - across, 1), face};
}

/* All but `at` of a place whose ring is known. */
LANE_INLINE void set_ring(const sphere_size *s, ring_place *r)
{
  r->north = vi_less(r->ring, vi_set(s->n));
  r->south = vi_less(vi_set(3 * s->n), r->ring);
  r->quarter = vi_select(r->north, r->ring, vi_select(r->south, 4 * s->n - r->ring, vi_set(s->n)));
  r->shifted = vi_select(r->north | r->south, vi_set(1), ~(r->ring - s->n) & 1);
}

LANE_INLINE ring_place ring_from_face(const sphere_size *s, const face_place *f)
{
  ring_place r = {.ring = vi_mul(face_ring(f->face), vi_set(s->n)) - f->x - f->y - 1};
  set_ring(s, &r);
  vi64 turn = 4 * r.quarter, twice = vi_mul(face_lon(f->face), r.quarter) + f->x - f->y - r.shifted;
  r.at = vi_shr(twice + 2 * turn, 1) - turn; // the sum is even, perhaps negative
  r.at += vi_negative(r.at) & turn;
  r.at -= turn & ~vi_less(r.at, turn);
  return r;
}

LANE_INLINE face_place face_from_nest(const sphere_size *s, vi64 p)
{
  vi64 in = p & (((int64_t)1 << 2 * s->shift) - 1);
  return (face_place){gather_bits(in), gather_bits(vi_shr(in, 1)), vi_shr(p, 2 * s->shift)};
}

LANE_INLINE vi64 nest_from_face(const sphere_size *s, const face_place *f)
{
  return (f->face << 2 * s->shift) + (spread_bits(f->x) | spread_bits(f->y) << 1);
}

LANE_INLINE ring_place ring_from(const sphere_size *s, kugel_order order, vi64 p)
{
  if (order == KUGEL_ORDER_RING)
    return ring_from_pixel(s, p);
  face_place f = face_from_nest(s, p);
  return ring_from_face(s, &f);
}

LANE_INLINE face_place face_from(const sphere_size *s, kugel_order order, vi64 p)
{
  if (order == KUGEL_ORDER_NESTED)
    return face_from_nest(s, p);
  ring_place r = ring_from_pixel(s, p);
  return face_from_ring(s, &r);
}

LANE_INLINE vi64 pixel_from(const sphere_size *s, kugel_order order, const face_place *f)
{
  if (order == KUGEL_ORDER_NESTED)
    return nest_from_face(s, f);
  ring_place r = ring_from_face(s, f);
  return pixel_from_ring(s, &r);
}

/* Colatitude of a ring, also of the poles as rings 0 and 4 nside. In a cap sin(theta / 2) = i / (nside sqrt
 * 6) from the nearer pole; in the belt cos theta = 2/3 (2 - ring / nside). */
LANE_INLINE vf64 ring_theta(const sphere_size *s, vi64 ring, vf64 quarter, vi64 north, vi64 south)
{
  const double pi_lo = 0x1.1a62633145c07p-53; // pi = M_PI + pi_lo
  double nd = (double)s->n, half_sine = 1 / (nd * 2.449489742783178);
  vf64 z = v_double(4 * s->n - 2 * ring) / (3 * nd);
  vf64 a = v_asin(v_select(north | south, quarter * half_sine, z));
  vf64 in_cap = v_select(south, M_PI - (2 * a - pi_lo), 2 * a);
  return v_select(north | south, in_cap, M_PI / 2 - (a - pi_lo / 2));
}

/* phi / (pi/2) in [0, 4), for |phi| < 2^51. */
LANE_INLINE vf64 quarters_of(vf64 phi)
{
  vf64 t = phi * (2 / M_PI);
  if (v_any((t < 0) | (t >= 4))) {
    t -= 4 * v_floor(0.25 * t);
    t = v_select(t >= 4, v_set(0), t);
  }
  return t;
}

#endif
