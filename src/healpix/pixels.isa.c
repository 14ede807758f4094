/* SPDX-License-Identifier: BSD-3-Clause */
/* From pixel numbers: other numbers, and centres. Formulas are those of pix.h. */
#include "healpix/ops.h"
#include "healpix/pixlanes.h"

static bool in_range(int64_t n, const int64_t *p, int64_t end)
{
  vi64 bad = vi_set(0);
  for (int64_t i = 0; i < n; i += VLEN) {
    vi64 v = vi_load_part(p + i, n - i);
    bad |= v | (vi64)((uint64_t)(end - 1) - (vu64)v); // the sign of either
  }
  return !v_any(vi_negative(bad));
}

/* ---- numbers ---- */

LANE_INLINE void xyf_loop(kugel_order order, sphere_size s, int64_t n, const int64_t *p, int64_t *x,
                          int64_t *y, int64_t *face)
{
  for (int64_t i = 0; i < n; i += VLEN) {
    face_place f = face_from(&s, order, vi_load_part(p + i, n - i));
    vi_store_part(x + i, f.x, n - i);
    vi_store_part(y + i, f.y, n - i);
    vi_store_part(face + i, f.face, n - i);
  }
}

static void pix2xyf(int64_t nside, kugel_order order, int64_t n, const int64_t *p, int64_t *x, int64_t *y,
                    int64_t *face)
{
  BY_ORDER(order, xyf_loop, size_of(nside), n, p, x, y, face);
}

LANE_INLINE void pixel_loop(kugel_order order, sphere_size s, int64_t n, const int64_t *x, const int64_t *y,
                            const int64_t *face, int64_t *p)
{
  for (int64_t i = 0; i < n; i += VLEN) {
    face_place f = {vi_load_part(x + i, n - i), vi_load_part(y + i, n - i), vi_load_part(face + i, n - i)};
    vi_store_part(p + i, pixel_from(&s, order, &f), n - i);
  }
}

static void xyf2pix(int64_t nside, kugel_order order, int64_t n, const int64_t *x, const int64_t *y,
                    const int64_t *face, int64_t *p)
{
  BY_ORDER(order, pixel_loop, size_of(nside), n, x, y, face, p);
}

LANE_INLINE void ring_loop(kugel_order order, sphere_size s, int64_t n, const int64_t *p, int64_t *ring)
{
  for (int64_t i = 0; i < n; i += VLEN)
    vi_store_part(ring + i, ring_from(&s, order, vi_load_part(p + i, n - i)).ring, n - i);
}

static void pix2ring(int64_t nside, kugel_order order, int64_t n, const int64_t *p, int64_t *ring)
{
  BY_ORDER(order, ring_loop, size_of(nside), n, p, ring);
}

LANE_INLINE void convert_loop(kugel_order from, sphere_size s, int64_t n, const int64_t *in, int64_t *out)
{
  for (int64_t i = 0; i < n; i += VLEN) {
    face_place f = face_from(&s, from, vi_load_part(in + i, n - i));
    vi_store_part(out + i, pixel_from(&s, from == RING ? NESTED : RING, &f), n - i);
  }
}

static void convert(int64_t nside, kugel_order from, int64_t n, const int64_t *in, int64_t *out)
{
  BY_ORDER(from, convert_loop, size_of(nside), n, in, out);
}

/* ---- centres ---- */

LANE_INLINE void angle_loop(kugel_order order, sphere_size s, int64_t n, const int64_t *p, double *theta,
                            double *phi)
{
  for (int64_t i = 0; i < n; i += VLEN) {
    ring_place r = ring_from(&s, order, vi_load_part(p + i, n - i));
    vf64 q = v_double(r.quarter), at = v_double(2 * r.at + r.shifted) * 0.5;
    v_store_part(theta + i, ring_theta(&s, r.ring, q, r.north, r.south), n - i);
    v_store_part(phi + i, at * (M_PI / 2) / q, n - i);
  }
}

static void pix2ang(int64_t nside, kugel_order order, int64_t n, const int64_t *p, double *theta, double *phi)
{
  BY_ORDER(order, angle_loop, size_of(nside), n, p, theta, phi);
}

// Cos and sin of phi, folded to an octant by whole numbers.
LANE_INLINE void longitude(const ring_place *r, vf64 q, vf64 *c, vf64 *s)
{
  vi64 twice = 2 * r->at + r->shifted,
       half_turn = ~vi_less(twice, 4 * r->quarter); // 2 quarter is a right angle
  twice -= half_turn & (4 * r->quarter);
  vi64 second = ~vi_less(twice, 2 * r->quarter);
  twice -= second & (2 * r->quarter);
  vi64 fold = vi_less(r->quarter, twice);
  twice = vi_select(fold, 2 * r->quarter - twice, twice);
  vf64 angle = v_double(twice) * (M_PI / 4) / q, ca = v_cos(angle), sa = v_sin(angle);
  vi64 swap = fold ^ second;
  *c = v_flip(half_turn ^ second, v_select(swap, sa, ca));
  *s = v_flip(half_turn, v_select(swap, ca, sa));
}

LANE_INLINE void vector_loop(kugel_order order, sphere_size s, int64_t n, const int64_t *p, double *vec)
{
  double nd = (double)s.n;
  for (int64_t i = 0; i < n; i += VLEN) {
    ring_place r = ring_from(&s, order, vi_load_part(p + i, n - i));
    vi64 cap = r.north | r.south;
    vf64 q = v_double(r.quarter);
    vf64 t = v_select(cap, q * q, v_double(4 * s.n - 2 * r.ring)) /
             v_select(cap, v_set(3 * nd * nd), v_set(3 * nd)); // 1 - |z|, or z
    vf64 x, y, z = v_select(cap, v_flip(r.south, 1 - t), t);
    vf64 sine = v_sqrt(v_select(cap, t * (2 - t), (1 - t) * (1 + t)));
    longitude(&r, q, &x, &y);
    v_join3_part(vec + 3 * i, x * sine, y * sine, z, n - i);
  }
}

static void pix2vec(int64_t nside, kugel_order order, int64_t n, const int64_t *p, double *vec)
{
  BY_ORDER(order, vector_loop, size_of(nside), n, p, vec);
}

extern const kugel__pix_ops ISA_NAME(kugel__pix_ops);
const kugel__pix_ops ISA_NAME(kugel__pix_ops) = {in_range, pix2ang,  pix2vec, pix2xyf,
                                                 xyf2pix,  pix2ring, convert};
