/* SPDX-License-Identifier: BSD-3-Clause */
/* What lies around pixels and directions. Lanes at edges of faces and about the poles go to plain arithmetic.
 */
#include <float.h>
#include "healpix/ops.h"
#include "healpix/pixlanes.h"

/* ---- neighbours ---- */

// In the face's coordinates, SW, W, NW, N, NE, E, SE, S.
static const int8_t DX[] = {-1, -1, 0, 1, 1, 1, 0, -1}, DY[] = {0, 1, 1, 1, 0, -1, -1, -1};

LANE_INLINE void nested_around(const sphere_size *s, const face_place *f, vi64 *out)
{
  vi64 x[3], y[3], first = f->face << 2 * s->shift;
  for (int k = 0; k < 3; k++) {
    x[k] = spread_bits(f->x + (k - 1)) | first;
    y[k] = spread_bits(f->y + (k - 1)) << 1;
  }
  for (int k = 0; k < 8; k++)
    out[k] = x[1 + DX[k]] | y[1 + DY[k]];
}

// The neighbours lie on five rings; along each, x - y counts half pixels.
LANE_INLINE void ring_around(const sphere_size *s, const face_place *f, vi64 *out)
{
  vi64 lon = face_lon(f->face), ring = vi_mul(face_ring(f->face), vi_set(s->n)) - f->x - f->y - 1;
  vi64 start[5], turn[5], twice[5];
  for (int k = 0; k < 5; k++) {
    ring_place r = {.ring = ring + (k - 2)};
    set_ring(s, &r);
    turn[k] = 4 * r.quarter;
    twice[k] = vi_mul(lon, r.quarter) + f->x - f->y - r.shifted + 2 * turn[k];
    r.at = vi_set(0);
    start[k] = pixel_from_ring(s, &r);
  }
  for (int k = 0; k < 8; k++) {
    int row = 2 - DX[k] - DY[k];
    vi64 at = vi_shr(twice[row] + (DX[k] - DY[k]), 1) - turn[row];
    at += vi_negative(at) & turn[row];
    at -= turn[row] & ~vi_less(at, turn[row]);
    out[k] = start[row] + at;
  }
}

LANE_INLINE void neighbours_loop(kugel_order order, sphere_size s, int64_t n, const int64_t *p, int64_t *out)
{
  for (int64_t i = 0; i < n; i += VLEN, out += 8 * VLEN) {
    face_place f = face_from(&s, order, vi_load_part(p + i, n - i));
    vi64 found[8], edge = (f.x == 0) | (f.y == 0) | (f.x == s.n - 1) | (f.y == s.n - 1);
    int64_t have = n - i < VLEN ? n - i : VLEN;
    f.x = vi_select(edge, vi_set(1), f.x);
    f.y = vi_select(edge, vi_set(1), f.y);
    if (order == NESTED)
      nested_around(&s, &f, found);
    else
      ring_around(&s, &f, found);
    for (int64_t k = 0; k < have; k++)
      for (int d = 0; d < 8; d++)
        out[8 * k + d] = found[d][k];
    if (v_any(edge))
      for (int64_t k = 0; k < have; k++)
        if (edge[k])
          kugel__neighbours_of(s.n, order, p[i + k], out + 8 * k);
  }
}

static void neighbours(int64_t nside, kugel_order order, int64_t n, const int64_t *p, int64_t *out)
{
  if (nside < 3) // no pixel is inside its face
    for (int64_t i = 0; i < n; i++)
      kugel__neighbours_of(nside, order, p[i], out + 8 * i);
  else
    BY_ORDER(order, neighbours_loop, size_of(nside), n, p, out);
}

/* ---- interpolation ---- */

// The ring at or above theta, from 0 at the north pole; off by one where theta is a ring's but for rounding.
LANE_INLINE vi64 ring_above(const sphere_size *s, vf64 theta)
{
  const double edge = 0.72972765622696634; // asin 2/3
  double nd = (double)s->n;
  vf64 x = M_PI / 2 - theta;
  vi64 belt = v_abs(x) <= edge, south = x < 0;
  vf64 from_pole = v_select(south, M_PI - theta, theta);
  vf64 sine = v_sin(v_select(belt, x, 0.5 * from_pole)), rings = nd * 2.449489742783178 * sine;
  vf64 ring = v_select(belt, nd * (2 - 1.5 * sine), v_select(south, 4 * nd - rings, rings));
  return v_int(v_floor(v_max(v_min(ring, v_set(4 * nd - 1)), v_set(0))));
}

LANE_INLINE vf64 theta_of(const sphere_size *s, vi64 ring)
{
  ring_place r = {.ring = ring};
  set_ring(s, &r);
  return ring_theta(s, ring, v_double(r.quarter), r.north, r.south);
}

// The two pixels of a ring on either side of a direction, and the second one's weight.
LANE_INLINE vf64 two_in_ring(kugel_order order, const sphere_size *s, vi64 ring, vf64 quarters, vi64 *pixels)
{
  ring_place r = {.ring = ring};
  set_ring(s, &r);
  vi64 turn = 4 * r.quarter;
  vf64 at = quarters * v_double(r.quarter) - 0.5 * v_double(r.shifted), low = v_floor(at);
  vi64 left = v_int(low), right;
  left += vi_negative(left) & turn;
  left -= turn & ~vi_less(left, turn);
  right = left + 1;
  right -= turn & ~vi_less(right, turn);
  for (int k = 0; k < 2; k++) {
    r.at = k ? right : left;
    if (order == NESTED) {
      face_place f = face_from_ring(s, &r);
      pixels[k] = nest_from_face(s, &f);
    } else
      pixels[k] = pixel_from_ring(s, &r);
  }
  return at - low;
}

// Linear in theta between two rings, and in phi along each. Returns the lanes about the poles.
LANE_INLINE vi64 interpolate(kugel_order order, const sphere_size *s, vf64 theta, vf64 phi, vi64 *p, vf64 *w)
{
  int64_t last = 4 * s->n - 1;
  vi64 above = ring_above(s, theta);
  vf64 top = theta_of(s, above), bottom = theta_of(s, above + 1);
  vi64 under = (theta < top) & (above > 0), over = (theta >= bottom) & (above < last);
  if (v_any(under | over)) {
    above += under - over;
    top = theta_of(s, above);
    bottom = theta_of(s, above + 1);
  }
  vf64 share = (theta - top) / (bottom - top), quarters = quarters_of(phi);
  vi64 pole = (above <= 0) | (above >= last);
  for (int k = 0; k < 2; k++) {
    vf64 right = two_in_ring(order, s, vi_select(pole, vi_set(1), above + k), quarters, p + 2 * k);
    vf64 part = k ? share : 1 - share;
    w[2 * k + 1] = part * right;
    w[2 * k] = part - part * right;
  }
  return pole;
}

LANE_INLINE bool interpolation_loop(kugel_order order, sphere_size s, int64_t n, const double *theta,
                                    const double *phi, int64_t *p, double *weight)
{
  vi64 bad = vi_set(0), pixels[4];
  vf64 weights[4];
  for (int64_t i = 0; i < n; i += VLEN, p += 4 * VLEN, weight += 4 * VLEN) {
    vf64 t = v_load_part(theta + i, n - i), f = v_load_part(phi + i, n - i);
    vi64 wrong = ~((t >= 0) & (t <= M_PI) & (v_abs(f) <= DBL_MAX)), far = ~(v_abs(f) <= 0x1p40);
    bad |= wrong;
    vi64 plain = interpolate(order, &s, v_keep(~wrong, t), v_keep(~far, f), pixels, weights);
    plain = ~wrong & (plain | far);
    int64_t have = n - i < VLEN ? n - i : VLEN;
    for (int64_t k = 0; k < have; k++)
      for (int c = 0; c < 4; c++) {
        p[4 * k + c] = pixels[c][k];
        weight[4 * k + c] = weights[c][k];
      }
    if (v_any(plain))
      for (int64_t k = 0; k < have; k++)
        if (plain[k])
          kugel__interpolation_at(s.n, order, theta[i + k], phi[i + k], p + 4 * k, weight + 4 * k);
  }
  return !v_any(bad);
}

static bool interpolation(int64_t nside, kugel_order order, int64_t n, const double *theta, const double *phi,
                          int64_t *p, double *weight)
{
  return BY_ORDER(order, interpolation_loop, size_of(nside), n, theta, phi, p, weight);
}

/* ---- boundaries ---- */

static void face_points(int64_t n, const double *x, const double *y, const double *ring, const double *lon,
                        double *vec)
{
  for (int64_t i = 0; i < n; i += VLEN) {
    int64_t left = n - i;
    vf64 px = v_load_part(x + i, left), py = v_load_part(y + i, left);
    vf64 height = v_load_part(ring + i, left) - px - py; // rings over nside, 0 to 4
    vi64 north = height<1, south = height> 3, cap = north | south;
    vf64 near = v_select(south, 4 - height, v_select(north, height, v_set(1))), t = near * near * (1.0 / 3);
    vf64 z = v_select(cap, v_flip(south, 1 - t), (2 - height) * (2.0 / 3));
    vf64 sine = v_sqrt(v_select(cap, t * (2 - t), (1 - z) * (1 + z)));
    vf64 across = v_keep(near > 1e-15, (px - py) / v_max(near, v_set(1e-15)));
    vf64 quarters = 0.5 * (v_load_part(lon + i, left) + across), whole = v_floor(quarters + 0.5);
    vf64 angle = (quarters - whole) * (M_PI / 2), c = v_cos(angle), s = v_sin(angle);
    vi64 turns = v_int(whole), odd = -(turns & 1), flip_c = -((turns + 1) & 2), flip_s = -(turns & 2);
    vf64 vx = v_flip(flip_c, v_select(odd, s, c)), vy = v_flip(flip_s, v_select(odd, c, s));
    v_join3_part(vec + 3 * i, vx * sine, vy * sine, z, left);
  }
}

extern const kugel__near_ops ISA_NAME(kugel__near_ops);
const kugel__near_ops ISA_NAME(kugel__near_ops) = {neighbours, interpolation, face_points};
